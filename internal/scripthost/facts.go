package scripthost

import "io/fs"

// What a file is, in the bits of its mode.
const (
	kindMask   = 0o170000
	kindPipe   = 0o010000
	kindChar   = 0o020000
	kindDir    = 0o040000
	kindBlock  = 0o060000
	kindFile   = 0o100000
	kindLink   = 0o120000
	kindSocket = 0o140000
)

// facts are the attributes of a file, named as in Node.
type facts struct {
	Dev       uint64  `json:"dev"`
	Ino       uint64  `json:"ino"`
	Mode      uint32  `json:"mode"`
	Nlink     uint64  `json:"nlink"`
	UID       uint32  `json:"uid"`
	GID       uint32  `json:"gid"`
	Rdev      uint64  `json:"rdev"`
	Size      int64   `json:"size"`
	Blksize   int64   `json:"blksize"`
	Blocks    int64   `json:"blocks"`
	Atime     float64 `json:"atimeMs"`
	Mtime     float64 `json:"mtimeMs"`
	Ctime     float64 `json:"ctimeMs"`
	Birthtime float64 `json:"birthtimeMs"`
}

func (f facts) isDir() bool   { return f.Mode&kindMask == kindDir }
func (f facts) link() bool    { return f.Mode&kindMask == kindLink }
func (f facts) regular() bool { return f.Mode&kindMask == kindFile }
func (f facts) perm() uint32  { return f.Mode & 0o7777 }

// entryKind names what an entry of a folder is.
func entryKind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "dir"
	case mode.IsRegular():
		return "file"
	case mode&fs.ModeSymlink != 0:
		return "link"
	case mode&fs.ModeNamedPipe != 0:
		return "fifo"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeCharDevice != 0:
		return "char"
	}
	return "block"
}
