package builtin

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/helve-dev/helve/internal/charset"
	"github.com/helve-dev/helve/internal/diff"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/lspclient"
	"github.com/helve-dev/helve/tool"
)

// A refactoring is a change that a server proposes, applied in the same steps as a patch.
type refactoring struct {
	patchPlan
	view  *lspclient.View
	begun time.Time // what changed since, the server may not know
	steps []fileStep
	at    map[string]int // by the real name that it has now: which of files a file is
}

// A fileStep is one operation on a file.
type fileStep struct {
	lspclient.FileEdit
	path, to files.Path
}

// resolve collects the requests for names outside the workspace, to be asked together with the
// change.
func (r *refactoring) resolve(ctx context.Context, edits []lspclient.FileEdit) (paths []files.Path, err error) {
	for _, edit := range edits {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		s := fileStep{FileEdit: edit}
		if s.path, err = r.editor.files.Resolve(ctx, r.asks, r.c.Dir, edit.Path); err != nil {
			return nil, badName(err)
		}
		paths = append(paths, s.path)
		if edit.Kind == lspclient.EditRename {
			if s.to, err = r.editor.files.Resolve(ctx, r.asks, r.c.Dir, edit.To); err != nil {
				return nil, badName(err)
			}
			paths = append(paths, s.to)
			// Under its new name the file could be read where it could not before.
			if !r.editor.files.MayRead(r.c, s.path) {
				if err := r.editor.files.AskContents(ctx, r.asks, s.path); err != nil {
					return nil, err
				}
			}
		}
		r.steps = append(r.steps, s)
	}
	return paths, r.denied(r.c, r.asks, paths...)
}

// take performs one step in memory.
func (r *refactoring) take(claim *files.Claim, s fileStep) error {
	l, err := r.fileState(claim, s.path)
	if err != nil {
		return cannotChange(s.path, err)
	}
	switch s.Kind {
	case lspclient.EditCreate:
		return r.createFile(l, s)
	case lspclient.EditDelete:
		return r.remove(l, s)
	case lspclient.EditRename:
		dest, err := r.fileState(claim, s.to)
		if err != nil {
			return cannotChange(s.to, err)
		}
		return r.moveFile(l, dest, s)
	}
	return r.revise(l, s)
}

// invalidEdit is the error for a step that does not fit the current files.
func (r *refactoring) invalidEdit(code, what string, path files.Path) error {
	return tool.Fail(code, "%s proposes to change %s, but %s. Nothing was changed; make the change by other means.", r.view.Server(), path, what)
}

// revise edits the text of a file.
func (r *refactoring) revise(l *fileState, s fileStep) error {
	if !l.exists {
		return r.invalidEdit("not-found", "there is no such file", s.path)
	}
	file, err := r.text(l, s.path)
	if err != nil {
		return err
	}
	if err := r.checkUnchanged(l, s, file); err != nil {
		return err
	}
	before := file.Raw()
	after, err := s.Apply(before)
	if err != nil {
		return r.invalidEdit("bad-edit", plainError{err}.Error(), s.path)
	}
	if len(after) > files.MaxEdit {
		return tool.Fail("too-large", "%s proposes to make %s larger than %d MiB. Make the change by other means.", r.view.Server(), s.path, files.MaxEdit>>20)
	}
	data, err := file.Splice(diff.Edits(file.String(), charset.Normalise(after)))
	if err != nil {
		return notEncodable(s.path, err)
	}
	if string(data) == string(l.data) {
		return nil
	}
	now, err := charset.DecodeAs(data, file.Encoding())
	if err != nil {
		return notEncodable(s.path, err)
	}
	l.data, l.encoding = data, file.Encoding().String()
	r.record(patched{kind: "update", path: s.path, dest: s.path, before: before, after: now.Raw()})
	return nil
}

// checkUnchanged compares the text of a file with the server's: edits for another text would land
// in the wrong places.
func (r *refactoring) checkUnchanged(l *fileState, s fileStep, file *charset.Text) error {
	if !l.held.Exists() || string(l.data) != string(l.held.Data) {
		return nil // this change has made it what it is
	}
	had, open := r.view.Text(s.Path)
	switch {
	case open && had == file.Raw():
		return nil
	case open, l.held.State.Modified().After(r.begun):
		return tool.Fail("changed-on-disk", "File %s was changed while %s worked on it, so nothing was changed. Ask again.", s.path, r.view.Server())
	case file.Encoding() != (charset.Encoding{}): // the server has read the file by itself, as UTF-8
		return tool.Fail("encoding", "%s is not UTF-8, and %s may have misread it, so nothing was changed. Ask about a place in that file first (hover will do), then ask again.", s.path, r.view.Server())
	}
	return nil
}

func (r *refactoring) createFile(l *fileState, s fileStep) error {
	switch {
	case l.exists && !s.Overwrite && s.IgnoreIfExists:
		return nil
	case l.exists && !s.Overwrite:
		return r.invalidEdit("exists", "it exists already", s.path)
	case l.exists:
		before, _ := decoded(l.data)
		l.data = nil
		r.record(patched{kind: "update", path: s.path, dest: s.path, before: before})
		return nil
	}
	l.exists, l.data = true, nil
	r.record(patched{kind: "add", path: s.path, dest: s.path})
	return nil
}

func (r *refactoring) remove(l *fileState, s fileStep) error {
	switch {
	case !l.exists && s.IgnoreIfNotExists:
		return nil
	case !l.exists:
		return r.invalidEdit("not-found", "there is no such file", s.path)
	case r.editor.files.IsLink(s.path):
		return r.invalidEdit("symlink", "it is a symbolic link, and only files are deleted", s.path)
	}
	r.record(patched{kind: "delete", path: s.path, dest: s.path, before: shownText(l.data)})
	l.exists, l.data = false, nil
	return nil
}

func (r *refactoring) moveFile(l, dest *fileState, s fileStep) error {
	switch {
	case !l.exists:
		return r.invalidEdit("not-found", "there is no such file", s.path)
	case r.editor.files.IsLink(s.path):
		return r.invalidEdit("symlink", "it is a symbolic link, and only files are moved", s.path)
	case l == dest:
		return r.invalidEdit("duplicate-target", "it is moved onto itself", s.path)
	case dest.exists && !s.Overwrite && s.IgnoreIfExists:
		return nil
	case dest.exists && !s.Overwrite:
		return r.invalidEdit("exists", "there is a file already where it is moved to", s.to)
	}
	p := patched{kind: "move", path: s.path, dest: s.to, before: shownText(l.data), after: shownText(l.data)}
	if dest.exists {
		p.over = shownText(dest.data)
	}
	dest.exists, dest.data, dest.encoding = true, l.data, l.encoding
	if dest.mode = l.mode; dest.mode == 0 && l.held.Exists() {
		dest.mode = l.held.State.Mode.Perm()
	}
	l.exists, l.data = false, nil
	r.record(p)
	return nil
}

// shownText returns data as people are shown it.
func shownText(data []byte) string {
	if s, ok := decoded(data); ok {
		return s
	}
	return strings.ToValidUTF8(string(data), "\ufffd")
}

// record adds a step's change of a file to the result. Several steps for one file are shown as one
// change.
func (r *refactoring) record(p patched) {
	i, known := r.at[p.path.Real()]
	if !known {
		i = len(r.files)
		r.files = append(r.files, p)
	}
	f := &r.files[i]
	switch {
	case !known:
	case p.kind == "delete" && f.kind == "add":
		f.kind = "" // made and taken away again
	case p.kind == "delete":
		f.kind, f.dest, f.after, f.over = "delete", f.path, "", ""
	case p.kind == "move" && f.kind == "add":
		f.path, f.dest, f.over = p.dest, p.dest, p.over
	case p.kind == "move":
		f.kind, f.dest, f.over = "move", p.dest, p.over
	default:
		f.after = p.after
	}
	delete(r.at, p.path.Real())
	if f.kind != "" && f.kind != "delete" {
		r.at[f.dest.Real()] = i
	}
}

// dropUnchanged removes the files that end up unchanged.
func (r *refactoring) dropUnchanged() {
	r.files = slices.DeleteFunc(r.files, func(p patched) bool { return p.kind == "" })
}
