//go:build unix

package scripthost

import (
	"unsafe"

	"golang.org/x/sys/unix"
	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// Holds reports whether the open file is the one with a device and inode number. The library opens
// by name, and a link may have been created on the way since the name was checked.
func (d *DB) Holds(dev, ino uint64) bool {
	word := int(unsafe.Sizeof(uintptr(0)))
	out := d.tls.Alloc(word)
	defer d.tls.Free(word)
	*pointer[uintptr](out) = 0
	main, err := libc.CString("main")
	if err != nil {
		return false
	}
	defer libc.Xfree(d.tls, main)
	if lib.Xsqlite3_file_control(d.tls, d.db, main, lib.SQLITE_FCNTL_FILE_POINTER, out) != lib.SQLITE_OK || *pointer[uintptr](out) == 0 {
		return false
	}
	file := pointer[lib.TunixFile](*pointer[uintptr](out))
	var open unix.Stat_t
	if file.FpMethod == 0 || unix.Fstat(int(file.Fh), &open) != nil {
		return false
	}
	return uint64(open.Dev) == dev && uint64(open.Ino) == ino
}
