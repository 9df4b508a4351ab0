//go:build !linux

package script_test

import (
	"io/fs"
	"os"
)

// facts are those of a file, by the names of Node, as far as all systems have them.
func facts(info fs.FileInfo, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	kinds := map[string]uint32{"file": 0o100000, "dir": 0o40000, "link": 0o120000, "fifo": 0o10000, "socket": 0o140000, "char": 0o20000, "block": 0o60000}
	ms := float64(info.ModTime().UnixMicro()) / 1000
	return map[string]any{
		"dev": 0, "ino": 0, "mode": kinds[kind(info.Mode())] | uint32(info.Mode().Perm()), "nlink": 1, "uid": os.Getuid(), "gid": os.Getgid(),
		"rdev": 0, "size": info.Size(), "blksize": 4096, "blocks": (info.Size() + 511) / 512, "atimeMs": ms, "mtimeMs": ms, "ctimeMs": ms,
		"birthtimeMs": ms,
	}, nil
}

func access(path string, _ uint32) error {
	_, err := os.Stat(path)
	return err
}
