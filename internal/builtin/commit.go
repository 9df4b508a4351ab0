package builtin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/helve-dev/helve/internal/charset"
	"github.com/helve-dev/helve/internal/diff"
	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/lspclient"
	"github.com/helve-dev/helve/internal/replace"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// Formatters format files after a change.
type Formatters interface {
	// For reports whether there is a formatter for a file.
	For(file string) bool
	// Run formats a file in place and returns the formatters that failed.
	Run(ctx context.Context, file string) []FormatFailure
}

// A FormatFailure is a formatter that failed.
type FormatFailure struct {
	Name string
	Err  error
}

// An editor makes every change of a file in the same steps: claim the file, check that it was read,
// compute the change, ask for permission with the diff, write, format, and record the new content
// as seen.
type editor struct {
	files    *files.Workspace
	format   Formatters // nil for none
	matching replace.Profile

	languages *lspclient.Set // nil for none
}

// claimFile resolves a name and claims the file. Permission requests are collected and asked
// together with the change.
func (e editor) claimFile(ctx context.Context, c *tool.Call, asks *permission.Batch, name string) (*files.Held, *files.Claim, error) {
	path, err := e.files.Resolve(ctx, asks, c.Dir, name)
	if err != nil {
		return nil, nil, badName(err)
	}
	if err := e.denied(c, asks, path); err != nil {
		return nil, nil, err
	}
	claim, err := e.files.Claim(ctx, path)
	if err != nil {
		return nil, nil, cannotChange(path, err)
	}
	held, err := claim.Get(path)
	if err != nil {
		claim.Release()
		return &files.Held{Path: path}, nil, cannotChange(path, err)
	}
	return held, claim, nil
}

// denied returns the error if a rule denies a change of the files, or what was collected so far.
// Nothing is read then.
func (e editor) denied(c *tool.Call, asks *permission.Batch, paths ...files.Path) error {
	reqs := asks.Open()
	if passes, _ := c.Filter("edit"); passes != nil {
		reqs = append(reqs[:len(reqs):len(reqs)], e.files.EditRequest(paths...))
	}
	if len(reqs) == 0 {
		return nil
	}
	return c.Denied(reqs...)
}

// check compares a file with what the session has read of it.
func (e editor) check(c *tool.Call, held *files.Held) error {
	err := e.files.Check(c.Session, held)
	if stale, ok := errors.AsType[*files.StaleError](err); ok {
		return tool.Fail("changed-on-disk", "%w", stale)
	}
	if unread, ok := errors.AsType[*files.UnreadError](err); ok {
		fail := tool.Fail("not-read", "%w", unread)
		fail.Hint = "A session has to read a file before it may change it. Calls share what was read when they share a session."
		if _, err := charset.Detect(held.Data, true); errors.Is(err, charset.ErrBinary) {
			fail.Hint = "It is no text, which reading would not help: remove it first if it is to be written anew."
		}
		return fail
	}
	return err
}

// decode returns a file as text, in the encoding in which it was shown.
func (e editor) decode(c *tool.Call, held *files.Held) (*charset.Text, error) {
	var file *charset.Text
	var err error
	if s, ok := e.files.ReadMark(c.Session, held.Path); ok && s.Hash == held.Hash() && s.Encoding != "" {
		if enc, known := charset.Named(s.Encoding); known {
			file, err = charset.DecodeAs(held.Data, enc)
			return file, notText(held.Path, err)
		}
	}
	file, err = charset.Decode(held.Data)
	return file, notText(held.Path, err)
}

func notText(path files.Path, err error) error {
	switch {
	case errors.Is(err, charset.ErrBinary):
		return tool.Fail("binary", "Cannot edit binary file: %s", path)
	case err != nil:
		return tool.Fail("encoding", "Cannot edit %s: its encoding is not known, and guessing it could damage the file. Convert it to UTF-8 first, or remove it and write it anew.", path)
	}
	return nil
}

// notEncodable is the error for new text that the file's encoding cannot represent.
func notEncodable(path files.Path, err error) error {
	if bad, ok := errors.AsType[*charset.Unencodable](err); ok {
		return tool.Fail("encoding", "Cannot write %s: %w. Leave that character out, or convert the file to UTF-8 first.", path, bad)
	}
	return tool.Fail("encoding", "Cannot write %s: %w", path, err)
}

// A pendingChange is a change of one file that is not made yet, with its diff.
type pendingChange struct {
	change files.Change
	before string // as text, with its line endings
	after  string
	diff   string
	// visible says that the caller may see the content of the file.
	visible bool
	edited  bool // line endings are left out of the difference: an edit never changes them
	wide    bool // errors that it makes in other files are of interest, too

	found checkup // what language servers say about it, once it is made
}

// newPendingChange returns a change with the diff from before to after.
func newPendingChange(change files.Change, before, after string) pendingChange {
	return pendingChange{change: change, before: before, after: after, diff: shownDiff(change.Path, before, after)}
}

// became returns the change with the text that was finally written.
func (d pendingChange) became(after string) pendingChange {
	made := newPendingChange
	if d.edited {
		made = revised
	}
	out := made(d.change, d.before, after)
	out.visible, out.wide = d.visible, d.wide
	return out
}

// maxDiff limits how many bytes of a diff are shown.
const maxDiff = 256 << 10

// shownDiff returns a diff for people, cut if it is too long.
func shownDiff(path files.Path, before, after string) string {
	note := ""
	if before == "" || after == "" { // all of it is the difference
		if n := len(before) + len(after); n > maxDiff {
			note = fmt.Sprintf("... (the difference is cut: it is about %d bytes)\n", n)
			before, _ = text.Cut(before, maxDiff)
			after, _ = text.Cut(after, maxDiff)
		}
	}
	name := path.String()
	if strings.ContainsAny(name, "\r\n") { // it would look like lines of the difference
		name = text.VisibleLine(name)
	}
	shown := diff.Trim(diff.Unified(name, before, after))
	if note == "" && len(shown) > maxDiff {
		note = fmt.Sprintf("... (the difference is cut: it is %d bytes)\n", len(shown))
		shown, _ = text.Cut(shown, maxDiff)
		shown += "\n"
	}
	return shown + note
}

// revised returns the pending change of an edit.
func revised(change files.Change, before, after string) pendingChange {
	d := newPendingChange(change, charset.Normalise(before), charset.Normalise(after))
	d.before, d.after, d.edited = before, after, true
	return d
}

// apply asks for permission to change one file, makes the change, and returns it with the outcome:
// a formatter may have changed more.
func (e editor) apply(ctx context.Context, c *tool.Call, asks *permission.Batch, claim *files.Claim, d pendingChange) (pendingChange, []string, error) {
	path := d.change.Path
	_, seen := e.files.ReadMark(c.Session, path)
	d.visible = seen || e.files.MayRead(c, path)
	metadata := map[string]any{"filepath": path.String(), "diff": d.diff}
	if !d.visible && d.before != "" && e.files.Withheld(c, path) {
		added, removed := diff.Count(d.before, d.after)
		metadata["diff"], metadata["additions"], metadata["deletions"] = withheldDiff, added, removed
	}
	_ = e.files.AskEdit(ctx, asks, metadata, path) // it only notes
	if err := asks.Submit(ctx); err != nil {
		return d, nil, err
	}
	before := e.diagnosticsBaseline(ctx, d.change)
	landing, err := claim.Commit(ctx, byCall(c), []files.Change{d.change})
	if err != nil {
		return d, nil, cannotChange(path, err)
	}
	notes := e.formatted(ctx, landing, []pendingChange{d})
	now, err := landing.Settle()
	if err != nil {
		notes = append(notes, "The change was made, but: "+err.Error())
	}
	if len(now) == 1 && string(now[0].Data) != string(d.change.Data) {
		if after, err := charset.Decode(now[0].Data); err == nil {
			d = d.became(after.Raw())
		}
	}
	if len(now) == 1 && !now[0].Exists() && err == nil {
		notes = append(notes, "The file is not there any more: a formatter has removed it.")
	}
	claim.Release() // nobody waits for a language server
	d.found = e.diagnosed(ctx, c, before, path, []changedFile{{path, headingOwn, !d.visible}}, d.wide)
	return d, append(notes, hardLinkNotes(d.change)...), nil
}

// hardLinkNotes says that other hard links of a file keep the old content.
func hardLinkNotes(ch files.Change) []string {
	if ch.State.Links < 2 || ch.Remove {
		return nil
	}
	return []string{fmt.Sprintf("%s had %d names (hard links). This one was given the new contents; the others keep the old.", ch.Path.Title(), ch.State.Links)}
}

// formatted runs the formatters over what was written. It restores a byte order mark that a
// formatter removed.
func (e editor) formatted(ctx context.Context, landing *files.PendingChange, drafts []pendingChange) (notes []string) {
	if e.format == nil {
		return nil
	}
	for _, d := range drafts {
		file := d.change.Path.Real()
		if d.change.Remove || !e.format.For(file) {
			continue
		}
		failures := e.format.Run(ctx, file)
		for _, f := range failures {
			notes = append(notes, fmt.Sprintf("The formatter %s failed: %v", f.Name, f.Err))
		}
		if len(failures) == 0 {
			continue
		}
		if err := landing.Rewrite(context.WithoutCancel(ctx), d.change.Path); err != nil {
			notes = append(notes, "What it left could not be put right: "+err.Error())
		}
	}
	if err := landing.KeepMark(context.WithoutCancel(ctx)); err != nil {
		notes = append(notes, "The formatter dropped the byte order mark, and it could not be put back: "+err.Error())
	}
	return notes
}

func byCall(c *tool.Call) files.By {
	return files.By{Session: c.Session, Message: c.Message, Call: c.ID, Tool: c.Tool, Agent: c.Agent, Dir: c.Dir}
}

// metadata returns the change for programs. It hides the content from callers who may not read the
// file.
func (d pendingChange) metadata() map[string]any {
	out := map[string]any{"diff": hiddenDiff, "truncated": false}
	if d.visible {
		out["diff"], out["filediff"] = d.diff, d.filediff()
	}
	return d.found.into(out)
}

// hiddenDiff replaces the diff of a file that the caller may not read.
const hiddenDiff = "(the file may not be read, so the difference is not shown)\n"

// withheldDiff replaces the diff of a file whose content is not even shown to the person who is
// asked, because the prompt passes through programs that a rule keeps it from.
const withheldDiff = "(a rule denies reading this file, or asks about it by name, so what it holds is not shown)\n"

// maxWhole limits the bytes of whole files in the metadata beside the diff, because metadata is
// copied, recorded and sent.
const maxWhole = 128 << 10

func (d pendingChange) filediff() map[string]any {
	added, removed := diff.Count(d.before, d.after)
	out := map[string]any{"file": d.change.Path.String(), "additions": added, "deletions": removed}
	if len(d.before)+len(d.after) <= maxWhole {
		out["before"], out["after"] = d.before, d.after
	}
	return out
}

// said joins a result's sentence and its notes.
func said(first string, notes []string) string {
	return strings.Join(append([]string{first}, notes...), "\n\n")
}

// cannotChange is the error for a file that could not be read or written for a change.
func cannotChange(path files.Path, err error) error {
	switch {
	case errors.Is(err, disk.ErrChanged):
		return tool.Fail("changed-on-disk", "File %s was changed by someone else while it was being edited, so the change was not made (%w). Please read the file again before modifying it.", path, err)
	case errors.Is(err, disk.ErrTooLarge):
		return tool.Fail("too-large", "Cannot change %s: it is larger than %d MiB.", path, files.MaxEdit>>20)
	case errors.Is(err, syscall.EISDIR):
		return tool.Fail("is-a-directory", "EISDIR: illegal operation on a directory, open '%s'", path)
	case errors.Is(err, syscall.ENOTDIR):
		return tool.Fail("not-a-directory", "ENOTDIR: not a directory, open '%s'", path)
	case errors.Is(err, disk.ErrNotRegular):
		return tool.Fail("not-a-regular-file", "Cannot change %s: it is a device, pipe or socket and not a file.", path)
	case errors.Is(err, fs.ErrPermission):
		return tool.Fail("permission-denied", "Cannot change %s: the system does not let this user write it.", path)
	case errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, files.ErrBadName):
		return badName(err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return tool.Fail("write-failed", "Cannot change %s: %w. The change was not made.", path, err)
}
