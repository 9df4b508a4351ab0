package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/helve-dev/helve/internal/disk"
)

// maxFile limits one config file.
const maxFile = 4 << 20

var (
	errNotRegular = errors.New("not a regular file")
	errTooBig     = errors.New("too large")
)

// emptyFolder says that there is an empty folder in place of a file. It counts as no file: the
// sandbox puts such folders where files are missing that nobody may create, and a kill may leave
// them there.
type emptyFolder struct{}

func (emptyFolder) Error() string { return "an empty folder, not a regular file" }

func (emptyFolder) Is(target error) bool { return target == fs.ErrNotExist }

// readRegular reads a regular file of at most limit bytes. It never blocks: a pipe with the name of
// a config file must not stop the program.
func readRegular(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if null, err := os.Stat(os.DevNull); err == nil && os.SameFile(info, null) {
		return nil, nil // as people link a file there to switch it off
	}
	if disk.OfKernel(path) {
		return nil, errors.New("it leads to a file of the system, which may never end")
	}
	if info.IsDir() && empty(path) {
		return nil, emptyFolder{}
	}
	data, err := disk.ReadSmall(path, limit)
	switch {
	case errors.Is(err, disk.ErrNotRegular):
		return nil, errNotRegular
	case errors.Is(err, disk.ErrTooLarge):
		return nil, fmt.Errorf("%w: more than %d MiB", errTooBig, limit>>20)
	}
	return data, err
}

// empty reports whether a folder is empty. An unreadable one is not.
func empty(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	return err == io.EOF
}

// absent reports whether an error means there is no such file.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// plainError removes the operation and the path from an error.
func plainError(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// maxSubstituted limits what {env:} and {file:} insert during one load, since a small text can name
// a large file many times.
const maxSubstituted = 16 << 20

// references resolves {env:NAME} and {file:path} in strings.
type references struct {
	files map[string]referenced
	bytes int64 // of all those files
	spent int   // bytes put in so far
}

type referenced struct {
	text string
	err  error
}

func hasReference(s string) bool {
	return strings.Contains(s, "{env:") || strings.Contains(s, "{file:")
}

// eachReference calls f for every string of a tree, keys too, that holds a reference.
func eachReference(n *node, f func(s string)) {
	visit := func(s string) {
		if hasReference(s) {
			f(s)
		}
	}
	switch n.kind {
	case 's':
		visit(n.text)
	case 'o':
		for _, m := range n.members {
			visit(m.key)
			eachReference(m.val, f)
		}
	case 'a':
		for _, e := range n.elems {
			eachReference(e, f)
		}
	}
}

// nextReference splits s at its first {name:…}; ok is false when there is none.
func nextReference(s, name string) (before, arg, after string, ok bool) {
	open := "{" + name + ":"
	for from := 0; ; {
		i := strings.Index(s[from:], open)
		if i < 0 {
			return s, "", "", false
		}
		i += from
		arg, after, ok = strings.Cut(s[i+len(open):], "}")
		if !ok {
			return s, "", "", false
		}
		if arg != "" {
			return s[:i], arg, after, true
		}
		from = i + len(open)
	}
}

// expandReferences first inserts the environment, so that a path may contain a variable, and then
// the files, whose contents are not expanded.
func (l *loader) expandReferences(s string, in *input) (string, error) {
	s, err := l.replace(s, "env", func(arg string) (string, error) { return l.opt.Env(arg), nil })
	if err != nil {
		return "", err
	}
	return l.replace(s, "file", func(arg string) (string, error) {
		r := l.referenced(arg, in)
		return r.text, r.err
	})
}

func (l *loader) replace(s, name string, value func(string) (string, error)) (string, error) {
	var out strings.Builder
	for {
		before, arg, after, ok := nextReference(s, name)
		if !ok {
			out.WriteString(s)
			return out.String(), nil
		}
		v, err := value(arg)
		if err != nil {
			return "", err
		}
		if l.refs.spent += len(v); l.refs.spent > maxSubstituted {
			return "", fmt.Errorf("the references of all files together are larger than %d MiB", maxSubstituted>>20)
		}
		out.WriteString(before)
		out.WriteString(v)
		s = after
	}
}

// referenced reads the file a reference names, once.
func (l *loader) referenced(arg string, in *input) referenced {
	path := l.referredPath(arg, in)
	if r, ok := l.refs.files[path]; ok {
		return r
	}
	var r referenced
	data, err := readRegular(path, min(maxFile, maxFolder-l.refs.bytes))
	switch {
	case err == nil:
		l.refs.bytes += int64(len(data))
		r.text = strings.TrimSpace(strings.ToValidUTF8(string(data), "\ufffd"))
	case absent(err):
		r.err = fmt.Errorf(`bad file reference: "{file:%s}" %s does not exist`, arg, path)
	default:
		r.err = fmt.Errorf(`bad file reference: "{file:%s}" %s: %s`, arg, path, plainError(err))
	}
	if l.refs.files == nil {
		l.refs.files = map[string]referenced{}
	}
	l.refs.files[path] = r
	return r
}

func (l *loader) referredPath(arg string, in *input) string {
	if rest, ok := strings.CutPrefix(arg, "~/"); ok {
		return filepath.Join(l.opt.Home, rest)
	}
	return absFrom(in.dir, arg)
}

// hashInput returns the hash of a text and, if it needs trust, of every file that it refers to or
// runs: a change of any of them is a change of what the user trusted.
func (l *loader) hashInput(raw []byte, root *node, in *input) (string, error) {
	h := sha256.New()
	h.Write(raw)
	if root != nil && in.guarded {
		half, _ := shortHash(raw)
		in.files = []TrustFile{{Path: filepath.Base(in.path), Size: int64(len(raw)), Hash: half}}
		done := map[string]bool{}
		eachReference(root, func(s string) {
			s, err := l.replace(s, "env", func(arg string) (string, error) { return l.opt.Env(arg), nil })
			for err == nil {
				_, arg, after, ok := nextReference(s, "file")
				if !ok {
					break
				}
				if path := l.referredPath(arg, in); !done[path] {
					done[path] = true
					hashPart(h, arg)
					hashPart(h, l.referenced(arg, in).text)
				}
				s = after
			}
		})
		if err := l.cover(h, root, in); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// hashPart adds a string to a hash so that different lists of strings never look alike.
func hashPart(h hash.Hash, s string) {
	io.WriteString(h, strconv.Itoa(len(s))+":")
	io.WriteString(h, s)
}
