//go:build !unix

package scripthost

import (
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// A dirHandle is a folder that holds files. Here it is only a name: between a check and an action
// another process can replace what it names, as with all files on this system.
type dirHandle struct{ name string }

func openFolder(real string) (dirHandle, error) {
	info, err := os.Stat(real)
	if err == nil && !info.IsDir() {
		err = syscall.ENOTDIR
	}
	return dirHandle{real}, err
}

func (d dirHandle) close() {}

func (d dirHandle) at(base string) string { return filepath.Join(d.name, base) }

func (d dirHandle) stat(base string) (facts, error) {
	info, err := os.Lstat(d.at(base))
	if err != nil {
		return facts{}, err
	}
	return simpleFacts(info), nil
}

func statOpen(f *os.File) (facts, error) {
	info, err := f.Stat()
	if err != nil {
		return facts{}, err
	}
	return simpleFacts(info), nil
}

func simpleFacts(info os.FileInfo) facts {
	mode := uint32(info.Mode().Perm())
	switch {
	case info.IsDir():
		mode |= kindDir
	case info.Mode()&os.ModeSymlink != 0:
		mode |= kindLink
	case info.Mode().IsRegular():
		mode |= kindFile
	default:
		mode |= kindChar
	}
	ms := float64(info.ModTime().UnixMicro()) / 1000
	return facts{
		Mode: mode, Nlink: 1, Size: info.Size(), Blksize: 4096, Blocks: (info.Size() + 511) / 512,
		Atime: ms, Mtime: ms, Ctime: ms, Birthtime: ms,
	}
}

func (d dirHandle) open(base string, flags int, mode uint32) (*os.File, error) {
	return os.OpenFile(d.at(base), flags, os.FileMode(mode))
}

func (d dirHandle) mkdir(base string, mode uint32) error {
	return os.Mkdir(d.at(base), os.FileMode(mode))
}
func (d dirHandle) rmdir(base string) error  { return os.Remove(d.at(base)) }
func (d dirHandle) unlink(base string) error { return os.Remove(d.at(base)) }

func (d dirHandle) symlink(target, base string) error { return os.Symlink(target, d.at(base)) }

func (d dirHandle) readlink(base string) (string, error) { return os.Readlink(d.at(base)) }

func (d dirHandle) rename(base string, to dirHandle, name string) error {
	return os.Rename(d.at(base), to.at(name))
}

func (d dirHandle) link(base string, to dirHandle, name string) error {
	return os.Link(d.at(base), to.at(name))
}

func (d dirHandle) chmod(base string, mode uint32) error {
	return os.Chmod(d.at(base), os.FileMode(mode))
}

func (d dirHandle) chown(base string, uid, gid int) error { return os.Lchown(d.at(base), uid, gid) }

func (d dirHandle) utimes(base string, atime, mtime time.Time) error {
	return os.Chtimes(d.at(base), atime, mtime)
}

func (d dirHandle) access(base string, mode uint32) error {
	info, err := os.Lstat(d.at(base))
	if err == nil && mode&2 != 0 && info.Mode().Perm()&0o200 == 0 {
		return syscall.EACCES
	}
	return err
}

func (d dirHandle) openBelow(base string) (dirHandle, error) { return openFolder(d.at(base)) }

func (d dirHandle) names() ([]os.DirEntry, error) { return os.ReadDir(d.name) }
