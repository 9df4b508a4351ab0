package scripthost

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/script"
	"github.com/helve-dev/helve/permission"
)

// An entryPath is a name for which permission was given: the folder that contains it, free of
// links, and its last part there.
type entryPath struct {
	path files.Path
	dir  string // real
	base string
	// ours reports that it is in the scripts' own folder.
	ours bool
	// itself says that base is not followed if it is a link.
	itself bool
	// slash says that it must be a folder.
	slash bool
	// meta is shown to people with a change there.
	meta map[string]any
}

// A door is a work that needs no permission for the scripts' own folder.
type door struct {
	*work
	temp *temporary
}

// Ask asks for permission to leave the workspace, unless it is for that folder.
func (d door) Ask(ctx context.Context, reqs ...permission.Request) error {
	open := slices.DeleteFunc(slices.Clone(reqs), func(req permission.Request) bool {
		return req.Permission == "external_directory" && len(req.Patterns) == 1 && d.temp.contains(filepath.Dir(req.Patterns[0]))
	})
	if len(open) == 0 {
		return nil
	}
	return d.work.Ask(ctx, open...)
}

// silent allows what has been asked about already.
type silent struct{}

func (silent) Ask(context.Context, ...permission.Request) error { return nil }

func (w *Host) door(by *work) door { return door{by, &w.temp} }

// home is the folder that a work is seen from.
func (w *Host) home(by *work) string {
	if by.call.Dir != "" {
		return by.call.Dir
	}
	return w.opt.Dir
}

// find finds out what a name means, links followed, and asks before it leads
// outside.
func (w *Host) find(ctx context.Context, by *work, name string) (entryPath, error) {
	return w.resolved(ctx, by, name, w.opt.Files.Resolve)
}

// findEither is find for what may be a folder.
func (w *Host) findEither(ctx context.Context, by *work, name string) (entryPath, error) {
	return w.resolved(ctx, by, name, w.opt.Files.ResolveEither)
}

// findFolder is find for a folder.
func (w *Host) findFolder(ctx context.Context, by *work, name string) (entryPath, error) {
	return w.resolved(ctx, by, name, w.opt.Files.ResolveFolder)
}

type resolver func(ctx context.Context, a files.Asker, dir, name string) (files.Path, error)

func (w *Host) resolved(ctx context.Context, by *work, name string, resolve resolver) (entryPath, error) {
	if name == "" {
		return entryPath{}, syscall.ENOENT
	}
	p, err := resolve(ctx, w.door(by), w.home(by), name)
	if err != nil {
		return entryPath{}, err
	}
	at := entryPath{path: p, dir: filepath.Dir(p.Real()), base: filepath.Base(p.Real()), slash: os.IsPathSeparator(name[len(name)-1])}
	if at.dir == p.Real() { // the root
		at.base = "."
	}
	at.ours = w.temp.contains(p.String()) && w.temp.contains(p.Real())
	return at, nil
}

// findItself is find without following a link at the end of the name: permission is needed only for
// the way to it.
func (w *Host) findItself(ctx context.Context, by *work, name string) (entryPath, error) {
	if name == "" {
		return entryPath{}, syscall.ENOENT
	}
	parent, base := filepath.Split(name)
	if base == "" || base == "." || base == ".." {
		return w.findEither(ctx, by, name)
	}
	in, err := w.opt.Files.ResolveFolder(ctx, w.door(by), w.home(by), parent)
	if err != nil {
		return entryPath{}, err
	}
	// The target of the link is not touched, but rules about changing it apply to the link too.
	p, err := w.opt.Files.Resolve(ctx, silent{}, w.home(by), name)
	if err != nil {
		return entryPath{}, err
	}
	ours := w.temp.contains(filepath.Join(in.String(), base)) && w.temp.contains(filepath.Join(in.Real(), base))
	return entryPath{path: p, dir: in.Real(), base: base, ours: ours, itself: true}, nil
}

// open opens the folder that contains the entry.
func (s entryPath) open() (dirHandle, error) { return openFolder(s.dir) }

// look returns the attributes of the entry.
func (s entryPath) look() (facts, error) {
	d, err := s.open()
	if err != nil {
		return facts{}, err
	}
	defer d.close()
	return s.lookIn(d)
}

func (s entryPath) lookIn(d dirHandle) (facts, error) {
	st, err := d.stat(s.base)
	switch {
	case err != nil:
		return facts{}, err
	case st.link() && !s.itself:
		return facts{}, syscall.ELOOP
	case s.slash && !st.isDir():
		return facts{}, syscall.ENOTDIR
	}
	return st, nil
}

// isMissing reports whether an error means that a file does not exist.
func isMissing(err error) bool { return errors.Is(err, os.ErrNotExist) }

// askEdit requests permission to change the entries.
func (w *Host) askEdit(ctx context.Context, by *work, metadata map[string]any, spots ...entryPath) error {
	var paths []files.Path
	for _, s := range spots {
		if !s.ours {
			paths = append(paths, s.path)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	if metadata == nil {
		metadata = map[string]any{}
	}
	metadata["filepath"] = paths[0].String()
	return w.opt.Files.AskEdit(ctx, by, metadata, paths...)
}

// inProject reports whether a change of the entry belongs to the project. For a link that is not
// followed, its folder counts.
func (w *Host) inProject(s entryPath) bool {
	p := s.path
	if s.itself {
		p = w.opt.Files.Beside(p, filepath.Dir(p.String()))
	}
	return !s.ours && w.opt.Files.Inside(p)
}

// report reports a change that was not made through the workspace.
func (w *Host) report(by *work, s entryPath, event string) {
	if s.ours || w.opt.Files.OnChange == nil {
		return
	}
	name := s.path.String()
	w.opt.Files.OnChange(files.Changed{Session: by.call.Session, Call: by.call.ID, File: name, Event: event})
}

// special refuses pipes, sockets and devices.
func special(name string) error {
	return &script.Failure{
		Name: "Error", Code: "EINVAL", Errno: -22, Syscall: "open", Path: name,
		Message: "EINVAL: " + strings.TrimSpace(name) + " is a pipe, socket or device, and scripts may open files only. Use a file instead.",
	}
}
