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

	"helve/internal/lsp"
	"helve/internal/text"
	"helve/tool"
)

// rename gives a symbol another name, wherever it is used.
func (q *consultation) rename() (*tool.Result, error) {
	views, err := q.open("textDocument/rename")
	if err != nil {
		return nil, err
	}
	v := views[0]
	at := map[string]any{"textDocument": map[string]any{"uri": v.URI()}, "position": v.At(q.in.Line, q.in.Character)}
	// A server that can not be asked this way will say all it has to say to the request itself.
	if raw, err := v.Call(q.ctx, "textDocument/prepareRename", at); err == nil && string(bytes.TrimSpace(raw)) == "null" {
		return nil, tool.Fail("not-renamable", "There is nothing at %s:%d:%d that could be renamed. Give the place of a name, where line and character count from 1.", q.path, q.in.Line, q.in.Character)
	}
	begun := time.Now()
	at["newName"] = q.in.NewName
	raw, err := q.renamed(v, at)
	if err != nil {
		return nil, err
	}
	return q.adopt(proposal{view: v, edit: raw, begun: begun, done: "Renamed to " + shortTitle(q.in.NewName)})
}

// A proposal is a change of files that a server would make.
type proposal struct {
	view  *lsp.View
	edit  json.RawMessage // in the form of the protocol
	begun time.Time       // what changed since, the server may not know
	done  string          // what is to be said when it is made
}

// adopt makes the change that a server proposes: as one change of all files,
// asked about once, with its differences to see.
func (q *consultation) adopt(p proposal) (*tool.Result, error) {
	steps, err := p.view.Edits(p.edit)
	if err != nil {
		return nil, tool.Fail("bad-edit", "%s proposes a change that can not be made: %w. Make it by other means.", p.view.Server(), plainError{err})
	}
	if len(steps) > maxHunks {
		return nil, tool.Fail("too-large", "%s proposes to change %d files, and %d are the most. Make the change by other means.", p.view.Server(), len(steps), maxHunks)
	}
	r := refactoring{sheaf: sheaf{editor: q.editor, ctx: q.ctx, c: q.c, now: map[string]*leaf{}}, proposal: p}
	paths, err := r.resolve(steps)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return q.found([]json.RawMessage{}, nil), nil
	}
	claim, err := q.editor.files.Claim(q.ctx, paths...)
	if err != nil {
		return nil, cannotChange(paths[0], err)
	}
	defer claim.Release()
	for _, s := range r.steps {
		if q.ctx.Err() != nil {
			return nil, context.Cause(q.ctx)
		}
		if err := r.take(claim, s); err != nil {
			return nil, err
		}
	}
	if len(r.files) == 0 {
		return q.found([]json.RawMessage{}, nil), nil
	}
	r.draw()
	r.first = fmt.Sprintf("%s: %s changed.", p.done, count(len(r.files), "file"))
	res, err := r.land(claim)
	if err != nil {
		return nil, err
	}
	res.Title = q.title()
	return res, nil
}

// An action is something that a server offers to do at a place.
type action struct {
	view *lsp.View
	raw  json.RawMessage
	wireAction
}

// A wireAction is an action as the protocol has it. Of a bare command the
// command is a string.
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

// commands reports whether all that the action would do is to run a command of
// the server.
func (a wireAction) commands() bool {
	return !a.edits() && !isGiven(a.Data) && isGiven(a.Command)
}

func isGiven(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// codeAction lists what servers offer to do at a place, or makes one of it.
func (q *consultation) codeAction() (*tool.Result, error) {
	views, err := q.open("textDocument/codeAction")
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	actions, notes, err := q.actions(views)
	switch {
	case err != nil:
		return nil, q.unserved(err)
	case len(actions) == 0:
		res := q.found([]json.RawMessage{}, notes)
		res.Metadata = map[string]any{"actions": []any{}}
		return res, nil
	case q.in.Action == "":
		return q.offered(actions, notes), nil
	}
	a, err := q.chosen(actions)
	if err != nil {
		return nil, err
	}
	if !a.edits() {
		if err := q.resolved(a); err != nil {
			return nil, err
		}
	}
	res, err := q.adopt(proposal{view: a.view, edit: a.Edit, begun: begun, done: "Done: " + shortTitle(a.Title)})
	if err == nil && isGiven(a.Command) {
		res.Output = said(res.Output, []string{"The server would run a command after this, which was not done."})
	}
	return res, err
}

// fixDelay is how long servers may take to find a cure for what they have
// found: some say at once what is wrong, and a second later what helps.
const fixDelay = 1500 * time.Millisecond

// actions are what the servers offer, in the order of their numbers. Where
// something is wrong and nothing helps, they are asked once more.
func (q *consultation) actions(views []*lsp.View) (list []*action, notes []string, err error) {
	for again := range 2 {
		wrong := q.wrongHere()
		if list, notes, err = q.offers(views, wrong); err != nil || again > 0 || len(wrong) == 0 ||
			slices.ContainsFunc(list, func(a *action) bool { return strings.HasPrefix(a.Kind, "quickfix") }) {
			break
		}
		select {
		case <-time.After(fixDelay):
		case <-q.ctx.Done():
			return nil, nil, context.Cause(q.ctx)
		}
	}
	slices.SortStableFunc(list, func(a, b *action) int { return a.rank() - b.rank() })
	return list, notes, err
}

// wrongHere is what is wrong at the place of the call.
func (q *consultation) wrongHere() []json.RawMessage {
	report := q.languages.Check(q.ctx, lsp.Question{Files: []string{q.path.String()}})
	out := []json.RawMessage{}
	for _, r := range report.Files {
		out = append(out, touching(r.Diagnostics, lsp.Position{Line: q.in.Line - 1, Character: q.in.Character - 1})...)
	}
	return out
}

// offers asks the servers one after the other, so that what they offer has an
// order.
func (q *consultation) offers(views []*lsp.View, wrong []json.RawMessage) (list []*action, notes []string, failed error) {
	for _, v := range views {
		at := v.At(q.in.Line, q.in.Character)
		raw, err := v.Call(q.ctx, "textDocument/codeAction", map[string]any{
			"textDocument": map[string]any{"uri": v.URI()}, "range": lsp.Range{Start: at, End: at},
			"context": map[string]any{"diagnostics": wrong, "triggerKind": 1},
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

// touching are the diagnostics at a place; where there are none, those in its
// line.
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

// shortTitle is what a server calls something, on one line.
func shortTitle(title string) string {
	head, cut := text.Cut(text.VisibleLine(title), 200)
	if cut {
		head += "…"
	}
	return head
}

// rank puts what can be done before what the server would have to do by
// itself, and that before what it says is not possible.
func (a *action) rank() int {
	switch {
	case a.Disabled != nil:
		return 2
	case a.commands():
		return 1
	}
	return 0
}

// told is the action for programs.
func (a *action) told(number int) map[string]any {
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

// offered lists actions by number. Of what can not be done there is often
// much, and it is told in short.
func (q *consultation) offered(actions []*action, notes []string) *tool.Result {
	var usable, commands, rest []string
	told := []map[string]any{}
	for i, a := range actions {
		told = append(told, a.told(i+1))
		switch a.rank() {
		case 1:
			commands = append(commands, shortTitle(a.Title))
		case 2:
			rest = append(rest, a.Title)
		default:
			usable = append(usable, fmt.Sprintf("%d. %s", i+1, shortTitle(a.Title))+a.about())
		}
	}
	parts := []string{"There is nothing that can be done here."}
	if len(usable) > 0 {
		parts = []string{strings.Join(usable, "\n"), "To make one, call again with its title or number as action."}
	}
	if len(commands) > 0 {
		parts = append(parts, "Left out are commands of the server, which can not be run here: "+strings.Join(commands, "; "))
	}
	if len(rest) > 0 {
		parts = append(parts, fmt.Sprintf("Left out is also what the server says is not possible here (%d).", len(rest)))
	}
	return &tool.Result{Title: q.title(), Output: strings.Join(append(parts, notes...), "\n\n"), Metadata: map[string]any{"actions": told}}
}

// about is what else there is to say about an action.
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

// chosen is the action that is meant. Of several that are called alike, the
// number says which.
func (q *consultation) chosen(actions []*action) (*action, error) {
	wanted := strings.TrimSpace(q.in.Action)
	called := slices.DeleteFunc(slices.Clone(actions), func(a *action) bool { return !strings.EqualFold(strings.TrimSpace(a.Title), wanted) })
	if n, err := strconv.Atoi(wanted); err == nil && len(called) == 0 && n >= 1 && n <= len(actions) {
		called = actions[n-1 : n]
	}
	titles := make([]string, len(actions))
	for i, a := range actions {
		titles[i] = fmt.Sprintf("%d. %s", i+1, shortTitle(a.Title))
	}
	switch {
	case len(called) == 0:
		return nil, tool.Fail("unknown-action", "There is no action %q at this place. There are:\n%s", shortTitle(wanted), strings.Join(titles, "\n"))
	case len(called) > 1:
		return nil, tool.Fail("ambiguous", "%d actions are called %q. Give the number of one:\n%s", len(called), shortTitle(wanted), strings.Join(titles, "\n"))
	case called[0].Disabled != nil:
		return nil, tool.Fail("disabled", "%s is not possible here: %w Choose another action.", shortTitle(called[0].Title), sentenced{errors.New(called[0].Disabled.Reason)})
	case called[0].commands():
		return nil, tool.Fail("command", "%q is a command that %s runs by itself, and it could change files that no rule was asked about. Make the change by other means.",
			shortTitle(called[0].Title), called[0].view.Server())
	}
	return called[0], nil
}

// resolved lets the server say what an action would change.
func (q *consultation) resolved(a *action) error {
	raw, err := a.view.Call(q.ctx, "codeAction/resolve", a.raw)
	if err != nil {
		return q.unserved(err)
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
