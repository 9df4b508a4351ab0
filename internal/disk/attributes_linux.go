//go:build !disk_simple

package disk

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// accessList is the attribute that an access list is kept in.
const accessList = "system.posix_acl_access"

// copyAttributes copies the extended attributes of a file to another, including its access list,
// and removes an access list inherited from the folder. Attributes that vouch for the contents are
// not copied, because writing to the old file would have cleared them too.
func copyAttributes(from, to int) error {
	names, err := attributes(from)
	if err != nil {
		return err
	}
	has := false
	for _, name := range names {
		has = has || name == accessList
		if err := copyAttribute(from, to, name); err != nil {
			return fmt.Errorf("attribute %s: %w", name, err)
		}
	}
	if has {
		return nil
	}
	err = retryInterrupted(func() error { return unix.Fremovexattr(to, accessList) })
	if err != nil && err != unix.ENODATA && err != unix.EOPNOTSUPP {
		return fmt.Errorf("attribute %s: %w", accessList, err)
	}
	return nil
}

func copyAttribute(from, to int, name string) error {
	switch name {
	case "security.capability", "security.ima", "security.evm":
		return nil
	}
	value, err := grow(func(buf []byte) (int, error) { return unix.Fgetxattr(from, name, buf) })
	if err == unix.ENODATA { // gone since it was listed
		return nil
	}
	if err == nil {
		err = retryInterrupted(func() error { return unix.Fsetxattr(to, name, value, 0) })
	}
	acl := strings.HasPrefix(name, "system.") && strings.Contains(name, "acl")
	switch {
	case err == nil || acl:
		return err
	case err == unix.EOPNOTSUPP:
		return nil
	case strings.HasPrefix(name, "user."):
		return err
	case err == unix.EPERM || err == unix.EACCES:
		return nil // labels of the system, which sees to them itself
	}
	return err
}

// attributes lists the names of a file's attributes.
func attributes(fd int) ([]string, error) {
	list, err := grow(func(buf []byte) (int, error) { return unix.Flistxattr(fd, buf) })
	if err == unix.EOPNOTSUPP || err == unix.ENOSYS {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("attributes: %w", err)
	}
	return strings.FieldsFunc(string(list), func(r rune) bool { return r == 0 }), nil
}

// grow calls get with more and more room, until it is enough.
func grow(get func([]byte) (int, error)) ([]byte, error) {
	for size := 256; ; size *= 4 {
		buf := make([]byte, size)
		var n int
		err := retryInterrupted(func() (err error) { n, err = get(buf); return err })
		if err == unix.ERANGE && size < 1<<20 {
			continue
		}
		if err != nil {
			return nil, err
		}
		return buf[:n], nil
	}
}
