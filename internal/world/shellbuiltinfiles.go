package world

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// rm removes files, and folders with all below them.
func (b *builtin) rm(args []string) error {
	set := map[string]bool{}
	names, unknown, word := flags(args, oneOf(set, "f", "r", "R", "d", "v", "i", "I", "-",
		"--recursive", "--dir", "--verbose", "--interactive=never", "--preserve-root", "--no-preserve-root"))
	isRoot := func(name string) bool { return filepath.Dir(b.whole(name)) == b.whole(name) }
	switch {
	case strings.HasPrefix(unknown, "--"):
		return b.complain("rm: illegal option -- -\n")
	case unknown != "":
		return b.complain("rm: illegal option -- %s\n", word[1:])
	case set["i"] || set["I"]:
		return b.complain("rm: \"-i\" is not supported yet")
	case len(names) == 0:
		return b.complain("usage: rm [-f | -i] [-dIPRrvWx] file ...\n       unlink [--] file\n")
	}
	if i := slices.IndexFunc(names, isRoot); i >= 0 {
		return b.complain("rm: %q may not be removed\n", b.whole(names[i]))
	}
	r := removalOf(set)
	for _, name := range names {
		if err := b.removeOne(name, r); err != nil && !(r.force && missing(err)) {
			err = b.failed(name, err)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// A removal says how files are removed.
type removal struct{ deep, force, empty, tell bool }

func removalOf(set map[string]bool) removal {
	return removal{
		deep: set["r"] || set["R"] || set["--recursive"], force: set["f"],
		empty: set["d"] || set["--dir"], tell: set["v"] || set["--verbose"],
	}
}

func (b *builtin) removeOne(name string, r removal) error {
	at := b.at(trimmed(name))
	spot, st, err := b.toRemove(at)
	switch {
	case err != nil:
		return err
	case at != b.at(name) && !st.dir(): // a link is not followed
		return syscall.ENOTDIR
	case st.dir() && !r.deep && !r.empty:
		return syscall.EISDIR
	}
	gone := []string{name}
	if r.tell && r.deep && st.dir() {
		if gone, err = within(b, spot, name); err != nil {
			return err
		}
	}
	if err := b.removeAt(at, st, r.deep); err != nil {
		return err
	}
	if r.tell {
		fmt.Fprintln(b.out, strings.Join(gone, "\n"))
	}
	return nil
}

// toRemove finds what is to be removed. No folder is removed by what it is to
// those who are in it.
func (b *builtin) toRemove(at string) (spot, facts, error) {
	if base := filepath.Base(at); at != "" && (base == "." || base == "..") {
		return spot{}, facts{}, syscall.EINVAL
	}
	found, err := b.s.p.w.findItself(b.ctx, b.by, at)
	if err != nil {
		return spot{}, facts{}, err
	}
	st, err := found.look()
	return found, st, err
}

// removeAt removes a file, an empty folder, or one with all below it.
func (b *builtin) removeAt(at string, st facts, deep bool) error {
	w := b.s.p.w
	switch {
	case st.dir() && deep:
		return w.remove(b.ctx, b.by, pathArg{Path: at, Recursive: true})
	case st.dir():
		return w.rmdir(b.ctx, b.by, pathArg{Path: at})
	}
	return w.unlink(b.ctx, b.by, pathArg{Path: at})
}

// within names what a folder holds and then itself, in the order in which it
// can be removed.
func within(b *builtin, at spot, name string) (names []string, err error) {
	d, err := at.open()
	if err != nil {
		return nil, err
	}
	defer d.close()
	var enter func(d folder, base, name string) error
	enter = func(d folder, base, name string) error {
		in, err := d.below(base)
		if err != nil {
			return err
		}
		defer in.close()
		entries, err := in.names()
		if err != nil {
			return err
		}
		for _, e := range entries {
			below := trimmed(name) + "/" + e.Name()
			if !e.IsDir() {
				names = append(names, below)
			} else if err := enter(in, e.Name(), below); err != nil {
				return err
			}
		}
		if len(names) > maxListed {
			return syscall.EFBIG
		}
		names = append(names, name)
		return b.ctx.Err()
	}
	return names, enter(d, at.base, name)
}

// mkdir makes folders.
func (b *builtin) mkdir(args []string) error {
	set := map[string]bool{}
	names, unknown, _ := flags(args, oneOf(set, "p", "v", "--parents", "--vebose"))
	switch {
	case unknown == "m":
		return b.complain("mkdir: unsupported option, please open a GitHub issue -- -m \n")
	case unknown != "":
		return b.complain("mkdir: illegal option -- %s\n", illegal(unknown))
	case len(names) == 0:
		return b.complain("usage: mkdir [-pv] [-m mode] directory_name ...\n")
	}
	for _, name := range names {
		at := b.whole(name)
		deep := set["p"] || set["--parents"]
		first, err := b.s.p.w.mkdir(b.ctx, b.by, pathArg{Path: at, Recursive: deep})
		switch top, made := first.(string); {
		case err != nil:
			err = b.failed(at, err)
		case set["v"] && made:
			b.made(top, at)
		case set["v"] && !deep:
			b.made(at, at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// illegal is an unknown option as Bun names it: a letter not at all.
func illegal(flag string) string {
	if long, ok := strings.CutPrefix(flag, "--"); ok {
		return long
	}
	if flag == "-" {
		return flag
	}
	return ""
}

// made tells of the folders that were made, from the first on.
func (b *builtin) made(first, last string) {
	all := []string{last}
	for name := last; len(name) > len(first); all = append(all, name) {
		name = filepath.Dir(name)
	}
	slices.Reverse(all)
	fmt.Fprintln(b.out, strings.Join(all, "\n"))
}

// touch makes files that are not there, and gives the others the time of now.
func (b *builtin) touch(args []string) error {
	names, unknown, _ := flags(args, func(string) bool { return false })
	switch {
	case unknown == "a", unknown == "c", unknown == "h", unknown == "m", unknown == "r", unknown == "t", unknown == "d", unknown == "A":
		return b.complain("touch: unsupported option, please open a GitHub issue -- -%s\n", unknown)
	case unknown == "--no-create":
		return b.complain("touch: unsupported option, please open a GitHub issue -- %s\n", unknown)
	case unknown != "":
		return b.complain("touch: illegal option -- %s\n", illegal(unknown))
	case len(names) == 0:
		return b.complain("usage: touch [-A [-][[hh]mm]SS] [-achm] [-r file] [-t [[CC]YY]MMDDhhmm[.SS]]\n       [-d YYYY-MM-DDThh:mm:SS[.frac][tz]] file ...\n")
	}
	for _, name := range names {
		at := b.whole(name)
		if err := b.touchOne(at); err != nil {
			if err := b.failed(at, err); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *builtin) touchOne(at string) error {
	w := b.s.p.w
	now := float64(time.Now().UnixMicro()) / 1000
	change := func() error {
		return w.adjust(b.ctx, b.by, pathArg{Path: at}, func(d folder, base string) error {
			return d.utimes(base, moment(now), moment(now))
		})
	}
	err := change()
	if !missing(err) {
		return err
	}
	err = w.put(b.ctx, b.by, pathArg{Path: at, Flags: "wx"}, []byte{})
	if errors.Is(err, os.ErrExist) { // somebody was quicker
		return change()
	}
	return err
}

// mv gives files and folders other names.
func (b *builtin) mv(args []string) error {
	set := map[string]bool{}
	names, unknown, _ := flags(args, oneOf(set, "f", "i", "n", "h", "v"))
	switch {
	case unknown != "":
		return b.complain("mv: illegal option -- -\n")
	case len(names) < 2:
		return b.complain("usage: mv [-f | -i | -n] [-hv] source target\n       mv [-f | -i | -n] [-v] source ... directory\n")
	}
	sources, target := names[:len(names)-1], names[len(names)-1]
	into, err := b.isFolder(target)
	switch {
	case err == nil:
	case !missing(err) && !errors.Is(err, syscall.ENOTDIR), len(sources) > 1:
		return b.failed(target, err)
	}
	if len(sources) > 1 && !into {
		return b.complain("mv: %s is not a directory\n", target)
	}
	for i, source := range sources {
		err := b.moveOne(source, target, into, set["n"])
		if errors.Is(err, syscall.EXDEV) && i == 0 {
			return errMachine
		}
		if err != nil || b.code != 0 {
			return err
		}
	}
	return nil
}

// isFolder reports whether a name is that of a folder, links followed.
func (b *builtin) isFolder(name string) (bool, error) {
	at, err := b.s.p.w.findEither(b.ctx, b.by, b.at(name))
	if err != nil {
		return false, err
	}
	st, err := at.look()
	return err == nil && st.dir(), err
}

func (b *builtin) moveOne(source, target string, into, keep bool) error {
	told := source
	if into {
		target = strings.TrimSuffix(target, "/") + "/" + filepath.Base(source)
		told = target
	}
	if keep {
		if at, err := b.s.p.w.findItself(b.ctx, b.by, b.at(trimmed(target))); err == nil {
			if _, err := at.look(); err == nil {
				return nil
			}
		}
	}
	err := b.s.p.w.rename(b.ctx, b.by, pathArg{From: b.at(source), To: b.at(target)})
	if err == nil || errors.Is(err, syscall.EXDEV) {
		return err
	}
	if errors.Is(err, syscall.ENOTDIR) {
		told = target
	}
	if err := b.failed(told, err); err != nil {
		return err
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok && errno < 256 {
		b.code = int(errno)
	}
	return nil
}
