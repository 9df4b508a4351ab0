package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/helve-dev/helve/internal/lspclient"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/lsp"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// rename renames a symbol, wherever it is used.
func (q *lspCall) rename(ctx context.Context) (*tool.Result, error) {
	q.languages.Doubt() // edits for an older text would land in the wrong places
	views, err := q.open(ctx, "textDocument/rename")
	if err != nil {
		return nil, err
	}
	v := views[0]
	at := map[string]any{"textDocument": map[string]any{"uri": v.URI()}, "position": v.At(q.in.Line, q.in.Character)}
	// A server that cannot be asked this way will say all it has to say to the request itself.
	if raw, err := v.Call(ctx, "textDocument/prepareRename", at); err == nil && string(bytes.TrimSpace(raw)) == "null" {
		return nil, tool.Fail("not-renamable", "There is nothing at %s:%d:%d that could be renamed. Give the place of a name, where line and character count from 1.", q.path, q.in.Line, q.in.Character)
	}
	begun, old := time.Now(), q.nameHere(v)
	at["newName"] = q.in.NewName
	raw, err := q.renamed(ctx, v, at)
	if err != nil {
		return nil, err
	}
	done := "Renamed to " + shortTitle(q.in.NewName)
	if old != "" {
		done = fmt.Sprintf("Renamed %s to %s", shortTitle(old), shortTitle(q.in.NewName))
	}
	return q.adopt(ctx, v, raw, begun, done)
}

// adopt applies the change that a server proposes: as one change of all files, asked about once,
// with its diffs. edit is in the form of the protocol; changes since begun may be unknown to the
// server; done begins the result's text.
func (q *lspCall) adopt(ctx context.Context, view *lspclient.View, edit json.RawMessage, begun time.Time, done string) (*tool.Result, error) {
	steps, err := view.Edits(edit)
	if err != nil {
		return nil, tool.Fail("bad-edit", "%s proposes a change that can not be made: %w. Make it by other means.", view.Server(), plainError{err})
	}
	if len(steps) > maxHunks {
		return nil, tool.Fail("too-large", "%s proposes to change %d files, and %d are the most. Make the change by other means.", view.Server(), len(steps), maxHunks)
	}
	return asking(ctx, q.c, func(asks *permission.Batch) (*tool.Result, error) {
		r := refactoring{patchPlan: patchPlan{editor: q.editor, asks: asks, c: q.c, now: map[string]*fileState{}}, view: view, begun: begun, at: map[string]int{}}
		paths, err := r.resolve(ctx, steps)
		if err != nil {
			return nil, err
		}
		if len(paths) == 0 {
			return q.answersResult([]json.RawMessage{}, nil), nil
		}
		claim, err := q.editor.files.Claim(ctx, paths...)
		if err != nil {
			return nil, cannotChange(paths[0], err)
		}
		defer claim.Release()
		for _, s := range r.steps {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if err := r.take(claim, s); err != nil {
				return nil, err
			}
		}
		if r.dropUnchanged(); len(r.files) == 0 {
			return q.answersResult([]json.RawMessage{}, nil), nil
		}
		r.draw()
		r.first = fmt.Sprintf("%s: %s changed.", done, count(len(r.files), "file"))
		res, err := r.apply(ctx, claim)
		if err != nil {
			return nil, err
		}
		res.Title = q.callTitle()
		return res, nil
	})
}

// An action is a code action that a server offers at a position.
type action struct {
	view *lspclient.View
	raw  json.RawMessage
	wireAction
}

// A wireAction is an action in the form of the protocol. For a bare command, command is a string.
type wireAction struct {
	Title     string `json:"title"`
	Kind      string `json:"kind"`
	Preferred bool   `json:"isPreferred"`
	Disabled  *struct {
		Reason string `json:"reason"`
	} `json:"disabled"`
	Edit    json.RawMessage `json:"edit"`
	Data    json.RawMessage `json:"data"`
	Command json.RawMessage `json:"command"`
}

func (a wireAction) edits() bool { return isGiven(a.Edit) }

// commands reports whether the action only runs a command of the server.
func (a wireAction) commands() bool {
	return !a.edits() && !isGiven(a.Data) && isGiven(a.Command)
}

func isGiven(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// codeAction lists the code actions at a position, or applies one.
func (q *lspCall) codeAction(ctx context.Context) (*tool.Result, error) {
	q.languages.Doubt() // edits for an older text would land in the wrong places
	views, err := q.open(ctx, "textDocument/codeAction")
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	offer, err := q.actions(ctx, views)
	switch {
	case err != nil:
		return nil, q.unserved(ctx, err)
	case len(offer.list) == 0 && len(offer.pending) == 0:
		res := q.answersResult([]json.RawMessage{}, offer.notes)
		res.Metadata = map[string]any{"actions": []any{}}
		return res, nil
	case len(offer.list) == 0 || q.in.Action == "":
		return q.offered(offer), nil
	}
	a, err := offer.chosen(q.in.Action)
	if err != nil {
		return nil, err
	}
	if !a.edits() {
		if err := q.resolveAction(ctx, a); err != nil {
			return nil, err
		}
	}
	res, err := q.adopt(ctx, a.view, a.Edit, begun, "Done: "+shortTitle(a.Title))
	if err == nil && isGiven(a.Command) {
		res.Output = said(res.Output, []string{"The server would run a command after this, which was not done."})
	}
	return res, err
}

// fixDelay is how long servers may take to offer a fix for what they report: some report a problem
// at once and the fix a second later.
const fixDelay = 1500 * time.Millisecond

// An offer holds the code actions at a position, in the order of their numbers.
type offer struct {
	list    []*action
	notes   []string
	pending []string // servers that do not know yet what is wrong there
}

// actions returns the offered actions. If there is a problem and no fix, it asks once more.
func (q *lspCall) actions(ctx context.Context, views []*lspclient.View) (o offer, err error) {
	for again := range 2 {
		var wrong []json.RawMessage
		wrong, o.pending = q.wrongHere(ctx, views)
		if o.list, o.notes, err = q.offers(ctx, views, wrong); err != nil || again > 0 || len(wrong) == 0 ||
			slices.ContainsFunc(o.list, func(a *action) bool { return strings.HasPrefix(a.Kind, "quickfix") }) {
			break
		}
		select {
		case <-time.After(fixDelay):
		case <-ctx.Done():
			return offer{}, context.Cause(ctx)
		}
	}
	slices.SortStableFunc(o.list, func(a, b *action) int { return a.rank() - b.rank() })
	return o, err
}

// wrongHere returns the diagnostics at the position of the call, and the servers that have not
// checked the file yet.
func (q *lspCall) wrongHere(ctx context.Context, views []*lspclient.View) (wrong []json.RawMessage, pending []string) {
	report := q.checked(ctx)
	for _, r := range report.Files {
		wrong = append(wrong, touching(r.Diagnostics, lsp.Position{Line: q.in.Line - 1, Character: q.in.Character - 1})...)
	}
	working, _ := atWork(report.Pending)
	asked := serverNames(views)
	return wrong, slices.DeleteFunc(serversOf(working), func(name string) bool { return !slices.Contains(asked, name) })
}

// offers asks the servers one after the other, so that the actions have an order.
func (q *lspCall) offers(ctx context.Context, views []*lspclient.View, wrong []json.RawMessage) (list []*action, notes []string, failed error) {
	for _, v := range views {
		at := v.At(q.in.Line, q.in.Character)
		native := make([]json.RawMessage, len(wrong))
		for i, d := range wrong {
			native[i] = v.Native(d)
		}
		raw, err := v.Call(ctx, "textDocument/codeAction", map[string]any{
			"textDocument": map[string]any{"uri": v.URI()}, "range": lsp.Range{Start: at, End: at},
			"context": map[string]any{"diagnostics": native, "triggerKind": 1},
		})
		if err != nil {
			failed, notes = err, append(notes, "("+sentenced{err}.Error()+" What it offers is left out.)")
			continue
		}
		for _, one := range entries(raw) {
			a := &action{view: v, raw: one}
			if json.Unmarshal(one, &a.wireAction) == nil && a.Title != "" {
				list = append(list, a)
			}
		}
	}
	if len(notes) < len(views) {
		failed = nil
	}
	return list, notes, failed
}

// touching returns the diagnostics at a position or, if there are none, those on its line.
func touching(list []lsp.Diagnostic, at lsp.Position) (out []json.RawMessage) {
	var line []json.RawMessage
	for _, d := range list {
		from, to := d.Range.Start, d.Range.End
		if at.Line < from.Line || at.Line > to.Line {
			continue
		}
		line = append(line, d.Raw)
		if (at.Line > from.Line || at.Character >= from.Character) && (at.Line < to.Line || at.Character <= to.Character) {
			out = append(out, d.Raw)
		}
	}
	if len(out) == 0 {
		return line
	}
	return out
}

// shortTitle returns a server's title on one line.
func shortTitle(title string) string {
	head, cut := text.Cut(text.VisibleLine(title), 200)
	if cut {
		head += "…"
	}
	return head
}

// rank orders actions: applicable ones, then commands of the server, then those it says are not
// possible.
func (a *action) rank() int {
	switch {
	case a.Disabled != nil:
		return 2
	case a.commands():
		return 1
	}
	return 0
}

// actionMetadata is the action for programs.
func (a *action) actionMetadata(number int) map[string]any {
	out := map[string]any{"number": number, "title": a.Title, "server": a.view.Server()}
	if a.Kind != "" {
		out["kind"] = a.Kind
	}
	if a.Preferred {
		out["preferred"] = true
	}
	switch a.rank() {
	case 1:
		out["command"] = true
	case 2:
		out["disabled"] = a.Disabled.Reason
	}
	return out
}

// offered lists actions by number. Actions that cannot be applied are often many, and are listed
// briefly.
func (q *lspCall) offered(o offer) *tool.Result {
	var usable, commands, rest []string
	told := []map[string]any{}
	for i, a := range o.list {
		told = append(told, a.actionMetadata(i+1))
		switch a.rank() {
		case 1:
			commands = append(commands, shortTitle(a.Title))
		case 2:
			rest = append(rest, a.Title)
		default:
			usable = append(usable, fmt.Sprintf("%d. %s", i+1, shortTitle(a.Title))+a.about())
		}
	}
	var parts []string
	switch {
	case len(usable) > 0:
		parts = []string{strings.Join(usable, "\n"), "To make one, call again with its title or number as action."}
	case len(o.pending) == 0:
		parts = []string{"There is nothing that can be done here."}
	default:
		parts = o.unchecked()
	}
	if len(commands) > 0 {
		parts = append(parts, "Left out are commands of the server, which can not be run here: "+strings.Join(commands, "; "))
	}
	if len(rest) > 0 {
		parts = append(parts, fmt.Sprintf("Left out is also what the server says is not possible here (%d).", len(rest)))
	}
	metadata := map[string]any{"actions": told}
	if len(o.pending) > 0 {
		metadata["pending"] = o.pending
	}
	if len(usable) > 0 {
		parts = append(parts, o.unchecked()...)
	}
	return &tool.Result{Title: q.callTitle(), Output: strings.Join(append(parts, o.notes...), "\n\n"), Metadata: metadata}
}

// unchecked returns the servers that may offer more once they have checked the file.
func (o offer) unchecked() []string {
	if len(o.pending) == 0 {
		return nil
	}
	verb := "has"
	if len(o.pending) > 1 {
		verb = "have"
	}
	return []string{fmt.Sprintf("%s %s not checked this text yet; ask again.", strings.Join(o.pending, ", "), verb)}
}

// about returns remarks about an action.
func (a *action) about() string {
	var words []string
	if a.Kind != "" {
		words = append(words, shortTitle(a.Kind))
	}
	if a.Preferred {
		words = append(words, "preferred")
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, "; ") + ")"
}

// chosen returns the wanted action. If several have the same title, the number decides.
func (o offer) chosen(wanted string) (*action, error) {
	wanted = strings.TrimSpace(wanted)
	called := slices.DeleteFunc(slices.Clone(o.list), func(a *action) bool { return !strings.EqualFold(strings.TrimSpace(a.Title), wanted) })
	if n, err := strconv.Atoi(wanted); err == nil && len(called) == 0 && n >= 1 && n <= len(o.list) {
		called = o.list[n-1 : n]
	}
	if len(called) > 0 && called[0].rank() == 0 { // they come first, and the others cannot be meant
		called = slices.DeleteFunc(slices.Clone(called), func(a *action) bool { return a.rank() != 0 })
	}
	switch {
	case len(called) == 0:
		return nil, tool.Fail("unknown-action", "There is no action %q at this place. %s", shortTitle(wanted), o.choice())
	case len(called) > 1 && called[0].rank() == 0:
		return nil, tool.Fail("ambiguous", "%d actions are called %q. Give the number of one:\n%s", len(called), shortTitle(wanted), o.numbered(called))
	case called[0].Disabled != nil:
		return nil, tool.Fail("disabled", "%s is not possible here: %w Choose another action.", shortTitle(called[0].Title), sentenced{errors.New(called[0].Disabled.Reason)})
	case called[0].commands():
		return nil, tool.Fail("command", "%q is a command that %s runs by itself, and it could change files that no rule was asked about. Make the change by other means.",
			shortTitle(called[0].Title), called[0].view.Server())
	}
	return called[0], nil
}

// numbered lists actions with their numbers.
func (o offer) numbered(some []*action) string {
	var lines []string
	for i, a := range o.list {
		if slices.Contains(some, a) {
			lines = append(lines, fmt.Sprintf("%d. %s", i+1, shortTitle(a.Title)))
		}
	}
	return strings.Join(lines, "\n")
}

// choice lists what can be chosen.
func (o offer) choice() string {
	usable := slices.DeleteFunc(slices.Clone(o.list), func(a *action) bool { return a.rank() != 0 })
	if len(usable) == 0 {
		return strings.Join(append([]string{"There is none that can be made."}, o.unchecked()...), " ")
	}
	return strings.Join(append([]string{"There are:\n" + o.numbered(usable)}, o.unchecked()...), "\n")
}

// resolveAction asks the server what an action would change.
func (q *lspCall) resolveAction(ctx context.Context, a *action) error {
	raw, err := a.view.Call(ctx, "codeAction/resolve", a.raw)
	if err != nil {
		return q.unserved(ctx, err)
	}
	var full wireAction
	if err := json.Unmarshal(raw, &full); err != nil {
		return tool.Fail("bad-edit", "%s has not said what %q would change: %w. Make the change by other means.", a.view.Server(), shortTitle(a.Title), plainError{err})
	}
	if !full.edits() {
		return tool.Fail("no-edit", "%s has not said what %q would change, as servers do where it turns out not to be possible. Choose another action, or make the change by other means.", a.view.Server(), shortTitle(a.Title))
	}
	a.Edit, a.Command = full.Edit, full.Command
	return nil
}
