package builtin

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/lspclient"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/lsp"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

//go:embed lsp.md
var lspDoc string

// The operations of the tool.
const (
	opDefinition      = "goToDefinition"
	opReferences      = "findReferences"
	opHover           = "hover"
	opDocumentSymbol  = "documentSymbol"
	opWorkspaceSymbol = "workspaceSymbol"
	opImplementation  = "goToImplementation"
	opPrepareCalls    = "prepareCallHierarchy"
	opIncomingCalls   = "incomingCalls"
	opOutgoingCalls   = "outgoingCalls"
	opDiagnostics     = "diagnostics"
	opRename          = "rename"
	opCodeAction      = "codeAction"
	opRestart         = "restart"
)

type lspInput struct {
	Operation string `json:"operation" jsonschema:"what to do" enum:"goToDefinition,findReferences,hover,documentSymbol,workspaceSymbol,goToImplementation,prepareCallHierarchy,incomingCalls,outgoingCalls,diagnostics,rename,codeAction,restart"`
	FilePath  string `json:"filePath,omitempty" jsonschema:"the file; only workspaceSymbol and restart can do without"`
	Line      int    `json:"line,omitempty" jsonschema:"the line, from 1" min:"1"`
	Character int    `json:"character,omitempty" jsonschema:"the character in the line, from 1" min:"1"`
	Query     string `json:"query,omitempty" jsonschema:"for workspaceSymbol: the name or a part of it; without one some servers find nothing"`
	NewName   string `json:"newName,omitempty" jsonschema:"for rename: the new name"`
	Action    string `json:"action,omitempty" jsonschema:"for codeAction: the title or the number of the one to make"`
}

// language asks language servers, and changes files as they propose.
func language(e editor) tool.Tool {
	spec := tool.Spec{Name: "lsp", Description: lspDoc, Destructive: true, Offer: offerLanguage}
	return tool.New(spec, func(ctx context.Context, c *tool.Call, in lspInput) (*tool.Result, error) {
		return (&lspCall{editor: e, c: c, in: in}).run(ctx)
	})
}

func offerLanguage(a tool.Audience) (string, bool) {
	if a.Flags["lsp"] {
		return "", true
	}
	return `The tool lsp is off. "experimental": {"lsp_tool": true} in the config or HELVE_EXPERIMENTAL_LSP_TOOL=1 switches it on (in a program: the flag "lsp"). Until then, look for the text instead.`, false
}

// An lspCall is one call of the tool.
type lspCall struct {
	editor
	c  *tool.Call
	in lspInput

	path    files.Path // of the file, or else of the working directory
	unasked bool       // nobody was asked about this call
	knew    []string   // servers in which the file was open before
	shown   map[string]bool
	hidden  int // results that were left out
}

// run asks for the permissions of the operation and runs it.
func (q *lspCall) run(ctx context.Context) (*tool.Result, error) {
	if err := q.in.check(); err != nil {
		return nil, err
	}
	if err := q.askPermission(ctx); err != nil {
		return nil, err
	}
	switch {
	case q.in.FilePath != "" && (!q.editor.files.Exists(q.path) || q.editor.files.IsFolder(q.path)):
		return nil, q.fileNotFound()
	case q.languages == nil:
		return nil, noLanguage("Language servers are off; \"lsp\": true in the config switches them on (in a program: Options.LSP). Until then, look for the text instead.")
	}
	switch q.in.Operation {
	case opRestart:
		return q.restart(ctx)
	case opDiagnostics:
		return q.diagnostics(ctx)
	case opRename:
		return q.rename(ctx)
	case opCodeAction:
		return q.codeAction(ctx)
	}
	return q.lookUp(ctx)
}

// check validates what an operation requires and the schema cannot express.
func (in lspInput) check() error {
	lacks := map[string]bool{"filePath": in.FilePath == "", "line": in.Line == 0, "character": in.Character == 0, "newName": in.NewName == ""}
	needs := []string{"filePath", "line", "character"}
	switch in.Operation {
	case opWorkspaceSymbol, opRestart:
		needs = nil
	case opDocumentSymbol, opDiagnostics:
		needs = needs[:1]
	case opRename:
		needs = append(needs, "newName")
	}
	for _, name := range needs {
		if lacks[name] {
			fail := tool.Fail("missing", "%s needs %s, and %s is missing. Call it again with all of them.", in.Operation, strings.Join(needs, ", "), name)
			fail.Kind, fail.Issues = tool.InvalidInput, []tool.Issue{{Path: []any{name}, Code: "missing", Message: "needed by " + in.Operation}}
			return fail
		}
	}
	if in.Operation == opRename {
		// A name that is invalid in every language is refused. The server decides about anything else.
		wrong := ""
		switch {
		case strings.TrimSpace(in.NewName) == "":
			wrong = "is empty"
		case strings.ContainsFunc(in.NewName, unicode.IsSpace):
			wrong = "holds white space"
		case strings.ContainsFunc(in.NewName, unicode.IsControl):
			wrong = "holds control characters"
		default:
			return nil
		}
		fail := tool.Fail("bad-name", "newName %q %s. Give a single name as the language has them.", shortTitle(in.NewName), wrong)
		fail.Kind, fail.Issues = tool.InvalidInput, []tool.Issue{{Path: []any{"newName"}, Code: "bad-name", Message: wrong}}
		return fail
	}
	return nil
}

// positioned reports whether a call names a position in a file.
func (in lspInput) positioned() bool { return in.FilePath != "" && in.Line > 0 && in.Character > 0 }

// callTitle returns the subject of the call.
func (q *lspCall) callTitle() string {
	switch {
	case q.in.positioned():
		return fmt.Sprintf("%s %s:%d:%d", q.in.Operation, q.path.Title(), q.in.Line, q.in.Character)
	case q.in.FilePath != "":
		return q.in.Operation + " " + q.path.Title()
	}
	return q.in.Operation
}

// askPermission asks for the file, which a server reads and reports on, and for the operation.
func (q *lspCall) askPermission(ctx context.Context) (err error) {
	asks := permission.NewBatch(q.c)
	if q.in.FilePath == "" {
		q.path, err = q.editor.files.ResolveFolder(ctx, asks, q.c.Dir, ".")
	} else if q.path, err = q.editor.files.Resolve(ctx, asks, q.c.Dir, q.in.FilePath); err == nil {
		err = q.editor.files.AskContents(ctx, asks, q.path)
	}
	if err != nil {
		return badName(err)
	}
	req := permission.Request{Permission: "lsp", Patterns: []string{"*"}, Always: []string{"*"}, Metadata: q.requestMetadata()}
	q.unasked = q.c.Allowed(req)
	_ = asks.Ask(ctx, req) // it only notes
	return asks.Submit(ctx)
}

// requestMetadata returns what the person who is asked is shown.
func (q *lspCall) requestMetadata() map[string]any {
	out := map[string]any{"operation": q.in.Operation}
	if q.in.FilePath == "" || q.in.Operation == opWorkspaceSymbol {
		return out
	}
	out["filePath"] = q.path.String()
	if q.in.positioned() && q.in.Operation != opDocumentSymbol && q.in.Operation != opDiagnostics && q.in.Operation != opRestart {
		out["line"], out["character"] = q.in.Line, q.in.Character
	}
	if q.in.Operation == opRename {
		out["newName"] = q.in.NewName
	}
	if q.in.Operation == opCodeAction && q.in.Action != "" {
		out["action"] = q.in.Action
	}
	return out
}

// fileNotFound is the error for a missing file, with similar names.
func (q *lspCall) fileNotFound() error {
	fail := tool.Fail("not-found", "File not found: %s", q.path)
	if q.editor.files.IsFolder(q.path) {
		fail.Hint = "It is a folder. Give a file of it."
	} else if near := near(q.c, q.editor.files, q.path); len(near) > 0 {
		fail.Hint = "Did you mean one of these?\n" + strings.Join(near, "\n")
	}
	return fail
}

// noLanguage is the error for a missing server, with what to do.
func noLanguage(hint string) error {
	fail := tool.Fail("no-server", "%w", lspclient.ErrNone)
	fail.Hint = hint
	return fail
}

const instead = "Look for the text instead."

// unserved is the error for a server that could not be asked or did not answer.
func (q *lspCall) unserved(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, lspclient.ErrNone) {
		return noLanguage("Configure a server for this type of file under \"lsp\" in the config, or look for the text instead.")
	}
	code := "server-failed"
	if _, ok := errors.AsType[*lspclient.Missing](err); ok {
		code = "server-missing"
	} else if _, ok := errors.AsType[*lspclient.Unavailable](err); ok {
		code = "server-unavailable"
	} else if _, ok := errors.AsType[*lspclient.Unanswered](err); ok {
		code = "timeout"
	}
	return tool.Fail(code, "%w %s", sentenced{err}, instead)
}

// sentenced ends an error's text with a full stop.
type sentenced struct{ error }

func (s sentenced) Error() string {
	said := strings.TrimSpace(text.Harmless(s.error.Error()))
	if said != "" && !strings.ContainsAny(said[len(said)-1:], ".!?") {
		said += "."
	}
	return said
}

func (s sentenced) Unwrap() error { return s.error }

// open returns the servers for the file that support a method, with the file open in them.
func (q *lspCall) open(ctx context.Context, method string) ([]*lspclient.View, error) {
	views, err := q.languages.Open(ctx, q.path.String())
	if err != nil {
		return nil, q.unserved(ctx, err)
	}
	if err := q.checkLine(views[0], method); err != nil {
		return nil, err
	}
	return q.able(views, method)
}

// checkLine refuses a line that the file does not have, which servers would take for its end. To
// servers and editors, there is a line after the last line break.
func (q *lspCall) checkLine(v *lspclient.View, method string) error {
	text, _ := v.Text(q.path.String())
	text = strings.ReplaceAll(text, "\r\n", "\n")
	lines := strings.Count(text, "\n") + strings.Count(text, "\r") + 1
	if q.in.Line <= lines || method == "textDocument/documentSymbol" {
		return nil
	}
	if strings.HasSuffix(text, "\n") || strings.HasSuffix(text, "\r") {
		lines--
	}
	return tool.Fail("out-of-range", "%s has %s; line counts from 1. Give a line of it.", q.path.Title(), count(lines, "line"))
}

// able returns the servers that support a method.
func (q *lspCall) able(views []*lspclient.View, method string) ([]*lspclient.View, error) {
	able := slices.DeleteFunc(slices.Clone(views), func(v *lspclient.View) bool { return !v.Supports(method) })
	if len(able) > 0 {
		return able, nil
	}
	return nil, tool.Fail("unsupported", "%s can not do %s. %s", strings.Join(serverNames(views), ", "), q.in.Operation, instead)
}

// serverNames returns the names of servers, each once.
func serverNames(views []*lspclient.View) (names []string) {
	for _, v := range views {
		if !slices.Contains(names, v.Server()) {
			names = append(names, v.Server())
		}
	}
	return names
}

// diagnostics shows all diagnostics of a file as it is on disk.
func (q *lspCall) diagnostics(ctx context.Context) (*tool.Result, error) {
	views, err := q.languages.Open(ctx, q.path.String())
	if err != nil {
		return nil, q.unserved(ctx, err)
	}
	report := q.checked(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	working, failed := atWork(report.Pending)
	pending, silent := serversOf(working), serversOf(report.Pending)
	told := &otherFiles{left: toldBytes, metadata: map[string]any{}}
	var parts []string
	for _, r := range report.Files {
		r.Diagnostics = q.discreet(q.c, q.path, r.Diagnostics)
		told.add(r)
		if len(r.Diagnostics) > 0 {
			parts = append(parts, diagnosticsBlock(r.Path, r.Diagnostics))
			continue
		}
		fine := slices.DeleteFunc(serverNames(views), func(name string) bool { return slices.Contains(silent, name) })
		parts = append(parts, fmt.Sprintf("No problems found in %s (%s).", q.path.Title(), strings.Join(fine, ", ")))
	}
	for _, p := range working {
		parts = append(parts, fmt.Sprintf("%s has not checked %s yet: %s Ask again.", p.Server, q.path.Title(), sentenced{errors.New(p.Why)}))
	}
	for _, p := range failed {
		p.Why = cmp.Or(p.Why, "It has failed before.")
		parts = append(parts, couldNotCheck(p, q.path.Title()))
	}
	if len(parts) == 0 {
		return nil, tool.Fail("server-failed", "No language server could read %s. %s", q.path, instead)
	}
	parts = append(parts, q.elsewhere(q.c, q.path, report.Others, told)...)
	metadata := map[string]any{"diagnostics": told.metadata}
	if len(pending) > 0 {
		metadata["pending"] = pending
	}
	return &tool.Result{Title: q.callTitle(), Output: strings.Join(parts, "\n\n"), Metadata: metadata}, nil
}

// checked returns the diagnostics of the file. It waits a little longer than a change does, because
// the caller asks for nothing else.
func (q *lspCall) checked(ctx context.Context) lsp.Report {
	question := lspclient.Question{Files: []string{q.path.String()}}
	report := q.languages.Check(ctx, question)
	if working, _ := atWork(report.Pending); len(working) > 0 {
		report = q.languages.Check(ctx, question)
	}
	return report
}

// restart restarts servers.
func (q *lspCall) restart(ctx context.Context) (*tool.Result, error) {
	file := ""
	if q.in.FilePath != "" {
		file = q.path.String()
	}
	names, err := q.languages.Restart(ctx, file)
	if gone, ok := errors.AsType[*lspclient.Unavailable](err); ok && ctx.Err() == nil {
		return nil, tool.Fail("server-unavailable", "%w %s", sentenced{err}, seeLog(gone.Server))
	}
	if err != nil {
		return nil, q.unserved(ctx, err)
	}
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	out := "No language server runs, so none was restarted."
	if len(names) > 0 {
		out = "Restarted: " + strings.Join(names, ", ") + "."
	}
	return &tool.Result{Title: q.callTitle(), Output: out, Metadata: map[string]any{"servers": append([]string{}, names...)}}, nil
}
