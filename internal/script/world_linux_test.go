package script_test

import (
	"io/fs"
	"syscall"
)

// facts are those of a file, by the names of Node.
func facts(info fs.FileInfo, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, syscall.EIO
	}
	ms := func(t syscall.Timespec) float64 { return float64(t.Sec)*1e3 + float64(t.Nsec)/1e6 }
	return map[string]any{
		"dev": s.Dev, "ino": s.Ino, "mode": s.Mode, "nlink": s.Nlink, "uid": s.Uid, "gid": s.Gid, "rdev": s.Rdev, "size": s.Size,
		"blksize": s.Blksize, "blocks": s.Blocks, "atimeMs": ms(s.Atim), "mtimeMs": ms(s.Mtim), "ctimeMs": ms(s.Ctim),
		"birthtimeMs": ms(s.Ctim),
	}, nil
}

func access(path string, mode uint32) error { return syscall.Access(path, mode) }
