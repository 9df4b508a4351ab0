package scripthost

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// shellFiles are the files that the shell's own commands work on. They are checked like the files
// that scripts open themselves.
type shellFiles struct {
	w  *Host
	by *work
}

// files returns the files that built-in commands work on; nil if a program may not change the
// project: the command then stays a program, which runs in the sandbox.
func (m shellMachine) files() ShellFiles {
	if m.base.ReadOnly || m.base.Walled {
		return nil
	}
	call := *m.by.call
	call.Host = asked{call.Host, m.by}
	return shellFiles{m.p.w, &work{call: &call, name: m.by.name}}
}

// asked is the host of a call without requests for what the check of the script has requested
// already.
type asked struct {
	tool.Host
	by *asker
}

// Ask makes the requests that were not made before. Permission to make a folder includes its
// parents, unless a rule treats them specially.
func (a asked) Ask(ctx context.Context, _ *tool.Call, reqs ...permission.Request) error {
	var open []permission.Request
	for _, req := range reqs {
		if req.Permission == "edit" && req.Metadata["action"] == "mkdir" {
			passes, _ := a.by.Filter("edit")
			req.Patterns = slices.DeleteFunc(slices.Clone(req.Patterns), func(pattern string) bool {
				names := append([]string{pattern}, req.Forms[pattern]...)
				return len(req.Guards[pattern]) == 0 && (passes == nil || passes(names...)) && a.by.grantedBelow(pattern)
			})
			if len(req.Patterns) == 0 {
				continue
			}
		}
		open = append(open, req)
	}
	return a.by.Ask(ctx, open...)
}

// grantedBelow reports whether something below a folder may be changed.
func (a *asker) grantedBelow(pattern string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for key := range a.granted {
		if key[0] == "edit" && strings.HasPrefix(key[1], pattern+"/") {
			return true
		}
	}
	return false
}

// Allowed is that of the call itself.
func (a asked) Allowed(_ *tool.Call, req permission.Request) bool {
	return a.Host.Allowed(a.by.call, req)
}

// Filter is that of the call itself.
func (a asked) Filter(_ *tool.Call, name string) (passes func(names ...string) bool, key string) {
	return a.Host.Filter(a.by.call, name)
}

// Find finds what a name means, or a link itself.
func (s shellFiles) Find(ctx context.Context, name string, itself bool) (ShellEntry, error) {
	find := s.w.findEither
	if itself {
		find = s.w.findItself
	}
	at, err := find(ctx, s.by, name)
	if err != nil {
		return nil, err
	}
	return shellEntry{entryPath: at, files: s, name: name}, nil
}

// Mkdir makes folders.
func (s shellFiles) Mkdir(ctx context.Context, name string, deep bool) (string, error) {
	made, err := s.w.mkdir(ctx, s.by, pathArg{Path: name, Recursive: deep})
	first, _ := made.(string) // nothing where there was none to be made
	return first, err
}

// Move gives something another name.
func (s shellFiles) Move(ctx context.Context, from, to string) error {
	return s.w.rename(ctx, s.by, pathArg{From: from, To: to})
}

// Touch makes a file, or gives it the time of now.
func (s shellFiles) Touch(ctx context.Context, name string) error {
	now := moment(float64(time.Now().UnixMicro()) / 1000)
	change := func() error {
		return s.w.adjust(ctx, s.by, pathArg{Path: name}, func(d dirHandle, base string) error { return d.utimes(base, now, now) })
	}
	err := change()
	if !isMissing(err) {
		return err
	}
	err = s.w.put(ctx, s.by, pathArg{Path: name, Flags: "wx"}, []byte{})
	if errors.Is(err, os.ErrExist) { // another process was faster
		return change()
	}
	return err
}

// A shellEntry is a name that a command of the shell has found.
type shellEntry struct {
	entryPath
	files shellFiles
	name  string
}

// Look returns the attributes of the entry.
func (e shellEntry) Look() (FileFacts, error) {
	st, err := e.look()
	return factsFor(st), err
}

// Enter opens the folder that is there.
func (e shellEntry) Enter() (ShellFolder, error) {
	d, err := e.open()
	if err != nil {
		return nil, err
	}
	defer d.close()
	return shellFolder{d}.Enter(e.base)
}

// Remove removes a file, an empty folder, or a folder with its contents.
func (e shellEntry) Remove(ctx context.Context, seen FileFacts, deep bool) error {
	w, by := e.files.w, e.files.by
	switch dir := seen.Mode&kindMask == kindDir; {
	case dir && deep:
		return w.remove(ctx, by, pathArg{Path: e.name, Recursive: true})
	case dir:
		return w.rmdir(ctx, by, pathArg{Path: e.name})
	}
	return w.unlink(ctx, by, pathArg{Path: e.name})
}

// A shellFolder is a folder for a command of the shell.
type shellFolder struct{ d dirHandle }

// Look returns the attributes of a name in the folder.
func (f shellFolder) Look(base string) (FileFacts, error) {
	st, err := f.d.stat(base)
	return factsFor(st), err
}

// Enter opens a subfolder.
func (f shellFolder) Enter(base string) (ShellFolder, error) {
	in, err := f.d.openBelow(base)
	if err != nil {
		return nil, err
	}
	return shellFolder{in}, nil
}

// Names lists what lies in the folder.
func (f shellFolder) Names() ([]fs.DirEntry, error) { return f.d.names() }

// Close closes the folder.
func (f shellFolder) Close() { f.d.close() }

func factsFor(st facts) FileFacts {
	return FileFacts{Mode: st.Mode, Nlink: st.Nlink, UID: st.UID, GID: st.GID, Size: st.Size, Milliseconds: st.Mtime}
}
