package scripthost

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// rm removes files, and folders with all below them.
func (b *builtin) rm(ctx context.Context, args []string) error {
	set := map[string]bool{}
	names, unknown, word := flags(args, oneOf(set, "f", "r", "R", "d", "v", "i", "I", "-",
		"--recursive", "--dir", "--verbose", "--interactive=never", "--preserve-root", "--no-preserve-root"))
	isRoot := func(name string) bool { return filepath.Dir(b.absolute(name)) == b.absolute(name) }
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
		return b.complain("rm: %q may not be removed\n", b.absolute(names[i]))
	}
	r := removalOf(set)
	for _, name := range names {
		if err := b.removeOne(ctx, name, r); err != nil && !(r.force && isMissing(err)) {
			err = b.fileError(ctx, name, err)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// A removal holds the options of rm.
type removal struct{ deep, force, empty, tell bool }

func removalOf(set map[string]bool) removal {
	return removal{
		deep: set["r"] || set["R"] || set["--recursive"], force: set["f"],
		empty: set["d"] || set["--dir"], tell: set["v"] || set["--verbose"],
	}
}

func (b *builtin) removeOne(ctx context.Context, name string, r removal) error {
	at := b.fromDir(bunshellTrimmed(name))
	found, st, err := b.toRemove(ctx, at)
	switch {
	case err != nil:
		return err
	case at != b.fromDir(name) && !st.dir(): // a link is not followed
		return syscall.ENOTDIR
	case st.dir() && !r.deep && !r.empty:
		return syscall.EISDIR
	}
	gone := []string{name}
	if r.tell && r.deep && st.dir() {
		if gone, err = treeNames(ctx, b, found, name); err != nil {
			return err
		}
	}
	if err := found.Remove(ctx, st, r.deep); err != nil {
		return err
	}
	if r.tell {
		fmt.Fprintln(b.out, strings.Join(gone, "\n"))
	}
	return nil
}

// toRemove finds what is to be removed. It refuses to remove the current folder or a parent of it.
func (b *builtin) toRemove(ctx context.Context, at string) (ShellEntry, FileFacts, error) {
	if base := filepath.Base(at); at != "" && (base == "." || base == "..") {
		return nil, FileFacts{}, syscall.EINVAL
	}
	found, err := b.files().Find(ctx, at, true)
	if err != nil {
		return nil, FileFacts{}, err
	}
	st, err := found.Look()
	return found, st, err
}

func (b *builtin) files() ShellFiles { return b.r.set.Files }

// treeNames lists the contents of a folder and then the folder, in the order in which they can be
// removed.
func treeNames(ctx context.Context, b *builtin, at ShellEntry, name string) (names []string, err error) {
	var list func(in ShellFolder, name string) error
	list = func(in ShellFolder, name string) error {
		defer in.Close()
		entries, err := in.Names()
		if err != nil {
			return err
		}
		for _, e := range entries {
			below := bunshellTrimmed(name) + "/" + e.Name()
			if !e.IsDir() {
				names = append(names, below)
				continue
			}
			next, err := in.Enter(e.Name())
			if err != nil {
				return err
			}
			if err := list(next, below); err != nil {
				return err
			}
		}
		if len(names) > mostListed {
			return syscall.EFBIG
		}
		names = append(names, name)
		return ctx.Err()
	}
	in, err := at.Enter()
	if err != nil {
		return nil, err
	}
	err = list(in, name)
	return names, err
}

// mkdir makes folders.
func (b *builtin) mkdir(ctx context.Context, args []string) error {
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
		at := b.absolute(name)
		deep := set["p"] || set["--parents"]
		first, err := b.files().Mkdir(ctx, at, deep)
		switch {
		case err != nil:
			err = b.fileError(ctx, at, err)
		case set["v"] && first != "":
			b.made(first, at)
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

// made prints the folders that were made, from the first on.
func (b *builtin) made(first, last string) {
	all := []string{last}
	for name := last; len(name) > len(first); all = append(all, name) {
		name = filepath.Dir(name)
	}
	slices.Reverse(all)
	fmt.Fprintln(b.out, strings.Join(all, "\n"))
}

// touch makes files that are not there, and gives the others the time of now.
func (b *builtin) touch(ctx context.Context, args []string) error {
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
		at := b.absolute(name)
		if err := b.files().Touch(ctx, at); err != nil {
			if err := b.fileError(ctx, at, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// mv gives files and folders other names.
func (b *builtin) mv(ctx context.Context, args []string) error {
	set := map[string]bool{}
	names, unknown, _ := flags(args, oneOf(set, "f", "i", "n", "h", "v"))
	switch {
	case unknown != "":
		return b.complain("mv: illegal option -- -\n")
	case len(names) < 2:
		return b.complain("usage: mv [-f | -i | -n] [-hv] source target\n       mv [-f | -i | -n] [-v] source ... directory\n")
	}
	sources, target := names[:len(names)-1], names[len(names)-1]
	into, err := b.isFolder(ctx, target)
	switch {
	case err == nil:
	case !isMissing(err) && !errors.Is(err, syscall.ENOTDIR), len(sources) > 1:
		return b.fileError(ctx, target, err)
	}
	if len(sources) > 1 && !into {
		return b.complain("mv: %s is not a directory\n", target)
	}
	for i, source := range sources {
		err := b.moveOne(ctx, source, target, into, set["n"])
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
func (b *builtin) isFolder(ctx context.Context, name string) (bool, error) {
	found, err := b.files().Find(ctx, b.fromDir(name), false)
	if err != nil {
		return false, err
	}
	st, err := found.Look()
	return err == nil && st.dir(), err
}

func (b *builtin) moveOne(ctx context.Context, source, target string, into, keep bool) error {
	told := source
	if into {
		target = strings.TrimSuffix(target, "/") + "/" + filepath.Base(source)
		told = target
	}
	if keep {
		if found, err := b.files().Find(ctx, b.fromDir(bunshellTrimmed(target)), true); err == nil {
			if _, err := found.Look(); err == nil {
				return nil
			}
		}
	}
	err := b.files().Move(ctx, b.fromDir(source), b.fromDir(target))
	if err == nil || errors.Is(err, syscall.EXDEV) {
		return err
	}
	if errors.Is(err, syscall.ENOTDIR) {
		told = target
	}
	if err := b.fileError(ctx, told, err); err != nil {
		return err
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok && errno < 256 {
		b.code = int(errno)
	}
	return nil
}

// bunshellTrimmed is a name without separators at its end.
func bunshellTrimmed(name string) string {
	for len(name) > 1 && os.IsPathSeparator(name[len(name)-1]) {
		name = name[:len(name)-1]
	}
	return name
}
