package builtin

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/helve-dev/helve/internal/charset"
	"github.com/helve-dev/helve/internal/diff"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

//go:embed apply_patch.md
var applyPatchDoc string

// maxHunks limits how many files one patch may change.
const maxHunks = 5000

type applyPatchInput struct {
	PatchText string `json:"patchText" jsonschema:"the whole patch"`
}

// applyPatch changes several files at once, all of them or none.
func applyPatch(e editor) tool.Tool {
	spec := tool.Spec{Name: "apply_patch", Description: applyPatchDoc, Permission: "edit", Destructive: true,
		Offer: func(a tool.Audience) (string, bool) { return applyPatchDoc, a.Model == "" || patches(a.Model) }}
	return tool.New(spec, func(ctx context.Context, c *tool.Call, in applyPatchInput) (*tool.Result, error) {
		p, err := parsePatch(in.PatchText)
		if err != nil {
			return nil, err
		}
		if len(p.Hunks) > maxHunks {
			return nil, verificationFailed("too-large", "the patch has %d files, and %d are the most. Send it in parts.", len(p.Hunks), maxHunks)
		}
		return asking(ctx, c, func(asks *permission.Batch) (*tool.Result, error) {
			s := patchPlan{editor: e, asks: asks, c: c, now: map[string]*fileState{}}
			paths, err := s.resolve(ctx, p)
			if err != nil {
				return nil, err
			}
			claim, err := e.files.Claim(ctx, paths...)
			if err != nil {
				return nil, cannotChange(paths[0], err)
			}
			defer claim.Release()
			for _, h := range s.hunks {
				if ctx.Err() != nil {
					return nil, context.Cause(ctx)
				}
				if err := s.verify(claim, h); err != nil {
					return nil, err
				}
			}
			s.draw()
			return s.apply(ctx, claim)
		})
	})
}

func parsePatch(text string) (diff.Patch, error) {
	if text == "" {
		return diff.Patch{}, tool.Fail("patch-empty", "patchText is required")
	}
	p, err := diff.Parse(text)
	bad, ok := errors.AsType[*diff.SyntaxError](err)
	switch {
	case ok && bad.Code == "patch-empty":
		return p, tool.Fail(bad.Code, "patch rejected: empty patch")
	case ok:
		return p, tool.Fail(bad.Code, "apply_patch verification failed: Error: %w", bad)
	}
	return p, err
}

// A patchPlan holds the files of a patch while it is verified. Nothing is written before all of it
// has been.
type patchPlan struct {
	editor
	c     *tool.Call
	hunks []hunkTarget
	asks  *permission.Batch
	now   map[string]*fileState // by real name
	order []*fileState
	files []patched
	first string // what the result says first; "" for the words of a patch
}

// A hunkTarget is a hunk with the files it changes.
type hunkTarget struct {
	diff.Hunk
	path, to files.Path
}

// A fileState is a file with its old and its new content.
type fileState struct {
	held     *files.Held
	exists   bool
	data     []byte
	encoding string
	mode     fs.FileMode // of a file that was moved here
}

// resolve collects the requests for names outside the workspace, to be asked together with the
// change.
func (s *patchPlan) resolve(ctx context.Context, p diff.Patch) ([]files.Path, error) {
	var paths []files.Path
	for _, h := range p.Hunks {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		sh := hunkTarget{Hunk: h}
		var err error
		if sh.path, err = s.editor.files.Resolve(ctx, s.asks, s.c.Dir, h.Path); err != nil {
			return nil, badName(err)
		}
		paths = append(paths, sh.path)
		if h.MoveTo != "" {
			if sh.to, err = s.editor.files.Resolve(ctx, s.asks, s.c.Dir, h.MoveTo); err != nil {
				return nil, badName(err)
			}
			if sh.to.Real() == sh.path.Real() {
				return nil, verificationFailed("duplicate-target", "%s is moved onto itself", sh.path)
			}
			paths = append(paths, sh.to)
			// Under its new name the file could be read where it could not before.
			if !s.editor.files.MayRead(s.c, sh.path) {
				if err := s.editor.files.AskContents(ctx, s.asks, sh.path); err != nil {
					return nil, err
				}
			}
		}
		s.hunks = append(s.hunks, sh)
	}
	return paths, s.denied(s.c, s.asks, paths...)
}

func verificationFailed(code, format string, args ...any) *tool.Error {
	return tool.Fail(code, "apply_patch verification failed: "+format, args...)
}

// fileState returns the state of a file after the hunks so far.
func (s *patchPlan) fileState(claim *files.Claim, p files.Path) (*fileState, error) {
	if l := s.now[p.Real()]; l != nil {
		return l, nil
	}
	held, err := claim.Get(p)
	if err != nil {
		return nil, err
	}
	l := &fileState{held: held, exists: held.Exists(), data: held.Data}
	s.now[p.Real()] = l
	s.order = append(s.order, l)
	return l, nil
}

func (s *patchPlan) verify(claim *files.Claim, h hunkTarget) error {
	l, err := s.fileState(claim, h.path)
	switch h.Kind {
	case diff.Add:
		if err != nil {
			return cannotChange(h.path, err)
		}
		return s.add(l, h)
	case diff.Delete:
		return s.remove(l, h, err)
	}
	return s.update(claim, l, h, err)
}

func (s *patchPlan) add(l *fileState, h hunkTarget) error {
	content := h.Content
	if content != "" {
		content += "\n" // every line of a new file ends
	}
	before, data := "", []byte(content)
	if l.exists {
		d, err := s.rewrite(s.c, &files.Held{Path: h.path, State: l.held.State, Data: l.data}, content)
		if err != nil {
			return err
		}
		before, data, content = d.before, d.change.Data, d.after
	}
	l.exists, l.data = true, data
	s.addPatched("add", h, before, content)
	return nil
}

func (s *patchPlan) remove(l *fileState, h hunkTarget, err error) error {
	switch fail := cannotRead(h.path, err); {
	case s.editor.files.IsLink(h.path):
		return verificationFailed("symlink", "%s is a symbolic link, and a patch deletes files only. Remove the link by other means.", h.path)
	case fail != nil && fail.Code == "is-a-directory":
		return verificationFailed(fail.Code, "Error: EISDIR: illegal operation on a directory, read")
	case fail != nil:
		return verificationFailed(fail.Code, "Error: %w", fail)
	case !l.exists:
		return verificationFailed("not-found", "Error: ENOENT: no such file or directory, open '%s'", h.path)
	}
	before, ok := decoded(l.data)
	if !ok {
		before = string(l.data)
	}
	l.exists, l.data = false, nil
	s.addPatched("delete", h, before, "")
	return nil
}

func cannotRead(path files.Path, err error) *tool.Error {
	if err == nil {
		return nil
	}
	fail, _ := errors.AsType[*tool.Error](cannotChange(path, err))
	if fail == nil {
		fail = tool.Fail("failed", "%w", err)
	}
	return fail
}

func (s *patchPlan) update(claim *files.Claim, l *fileState, h hunkTarget, err error) error {
	if fail := cannotRead(h.path, err); fail != nil {
		return verificationFailed(fail.Code, "Failed to read file to update: %s", h.path)
	}
	if !l.exists {
		return verificationFailed("not-found", "Failed to read file to update: %s", h.path)
	}
	if h.MoveTo != "" && s.editor.files.IsLink(h.path) {
		return verificationFailed("symlink", "%s is a symbolic link, and a patch moves files only. Move the link by other means.", h.path)
	}
	file, err := s.text(l, h.path)
	if err != nil {
		return err
	}
	edits, err := diff.PatchEdits(file.String(), h.path.String(), h.Chunks)
	if err != nil {
		// Only callers who may read the file are shown the actual lines.
		miss, ok := errors.AsType[*diff.MatchError](err)
		if !ok {
			return verificationFailed("failed", "Error: %w", err)
		}
		fail := verificationFailed(miss.Code(), "Error: %w", miss)
		if s.editor.files.MayRead(s.c, h.path) {
			fail.Hint = miss.Help()
		}
		return fail
	}
	data, err := file.Splice(edits)
	if err != nil {
		return notEncodable(h.path, err)
	}
	after, err := charset.DecodeAs(data, file.Encoding())
	if err != nil {
		return notEncodable(h.path, err)
	}
	if h.MoveTo == "" {
		if string(data) == string(l.data) {
			return verificationFailed("patch-empty-hunk", "Error: line %d: the update of %s changes nothing", h.Line, h.path)
		}
		l.data, l.encoding = data, file.Encoding().String()
		s.addPatched("update", h, file.Raw(), after.Raw())
		return nil
	}
	dest, err := s.fileState(claim, h.to)
	if err != nil {
		return cannotChange(h.to, err)
	}
	over := ""
	if dest.exists {
		over, _ = decoded(dest.data)
	}
	dest.exists, dest.data, dest.encoding = true, data, file.Encoding().String()
	if dest.mode = l.mode; dest.mode == 0 {
		dest.mode = l.held.State.Mode.Perm()
	}
	l.exists, l.data = false, nil
	s.addPatched("move", h, file.Raw(), after.Raw())
	s.files[len(s.files)-1].over = over
	return nil
}

// text returns the text of a file after the hunks so far, in its encoding.
func (s *patchPlan) text(l *fileState, path files.Path) (*charset.Text, error) {
	if enc, ok := charset.Named(l.encoding); ok && l.encoding != "" {
		file, err := charset.DecodeAs(l.data, enc)
		return file, notText(path, err)
	}
	return s.decode(s.c, &files.Held{Path: path, State: l.held.State, Data: l.data})
}

// decoded returns data as text, if it is text.
func decoded(data []byte) (string, bool) {
	file, err := charset.Decode(data)
	if err != nil {
		return "", false
	}
	return file.Raw(), true
}

// apply asks once for everything, writes it, and returns the result.
func (s *patchPlan) apply(ctx context.Context, claim *files.Claim) (*tool.Result, error) {
	var names []string
	var asked []files.Path
	for _, f := range s.files {
		names, asked = append(names, f.path.Title()), append(asked, f.path)
		if f.kind == "move" {
			asked = append(asked, f.dest)
		}
	}
	files, diffs := s.filesMetadata(true)
	metadata := map[string]any{"filepath": strings.Join(names, ", "), "diff": diffs, "files": files}
	shown := !s.editor.files.MayEdit(s.c, asked...)             // to a person, who then lets it pass
	_ = s.editor.files.AskEdit(ctx, s.asks, metadata, asked...) // it only notes
	if err := s.asks.Submit(ctx); err != nil {
		return nil, err
	}
	changes, drafts := s.changes()
	before := s.diagnosticsBaseline(ctx, changes...)
	landing, err := claim.Commit(ctx, byCall(s.c), changes)
	if err != nil {
		return nil, cannotChange(s.culprit(err), err)
	}
	notes := s.formatted(ctx, landing, drafts)
	now, err := landing.Settle()
	if err != nil {
		notes = append(notes, "The changes were made, but: "+err.Error())
	}
	s.refresh(now)
	for _, ch := range changes {
		notes = append(notes, hardLinkNotes(ch)...)
	}
	claim.Release() // nobody waits for a language server
	found := s.diagnosed(ctx, s.c, before, s.files[0].path, s.written(), false)
	out := s.summary()
	files, diffs = s.filesMetadata(shown)
	return &tool.Result{
		Title: out, Output: said(out, append(notes, found.notes...)),
		Metadata: found.into(map[string]any{"diff": diffs, "files": files, "truncated": false}),
	}, nil
}

// written returns the files that exist after the patch, each once.
func (s *patchPlan) written() (out []changedFile) {
	seen := map[string]bool{}
	for _, f := range s.files {
		if f.kind == "delete" || seen[f.dest.Real()] || !s.now[f.dest.Real()].exists {
			continue
		}
		seen[f.dest.Real()] = true
		out = append(out, changedFile{f.dest, fmt.Sprintf("LSP errors detected in %s, please fix:", f.dest.Title()), f.hidden})
	}
	return out
}

// refresh takes over what formatters have changed. Of several hunks for one file, the last gets the
// changes.
func (s *patchPlan) refresh(now []*files.Held) {
	last := map[string]*patched{}
	for i := range s.files {
		last[s.files[i].dest.Real()] = &s.files[i]
	}
	for _, held := range now {
		l := s.now[held.Path.Real()]
		if !held.Exists() || string(held.Data) == string(l.data) {
			continue
		}
		after, ok := decoded(held.Data)
		if !ok {
			continue
		}
		if f := last[held.Path.Real()]; f != nil {
			f.shows(after)
		}
	}
}

func (s *patchPlan) changes() (changes []files.Change, drafts []pendingChange) {
	for _, l := range s.order {
		if !l.exists && !l.held.Exists() {
			continue // made and taken away again
		}
		ch := files.Change{Held: l.held, Data: l.data, Remove: !l.exists, Encoding: l.encoding, Mode: l.mode, SetMode: l.mode != 0}
		changes, drafts = append(changes, ch), append(drafts, pendingChange{change: ch})
	}
	return changes, drafts
}

// culprit returns the file that a write error is about.
func (s *patchPlan) culprit(err error) files.Path {
	at, ok := errors.AsType[*fs.PathError](err)
	for _, f := range s.files {
		for _, p := range []files.Path{f.dest, f.path} {
			if ok && at.Path == p.Real() {
				return p
			}
		}
	}
	return s.files[0].path
}

// oneLine returns a name on one line, so that it cannot be taken for several.
func oneLine(name string) string {
	if strings.ContainsAny(name, "\r\n") {
		return text.VisibleLine(name)
	}
	return name
}

func (s *patchPlan) summary() string {
	var out strings.Builder
	out.WriteString(cmp.Or(s.first, "Success. Updated the following files:"))
	for _, f := range s.files {
		mark := "M"
		switch f.kind {
		case "add":
			mark = "A"
		case "delete":
			mark = "D"
		}
		fmt.Fprintf(&out, "\n%s %s", mark, oneLine(f.dest.Title()))
	}
	return out.String()
}
