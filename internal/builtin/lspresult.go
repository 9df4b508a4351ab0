package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/helve-dev/helve/internal/lspclient"
	"github.com/helve-dev/helve/tool"
)

// How many symbols of the project one server may name.
const (
	symbolsOfAll   = 10 // without a query
	symbolsOfQuery = 50
)

// method returns the request that an operation makes first.
func (in lspInput) method() string {
	switch in.Operation {
	case opDefinition:
		return "textDocument/definition"
	case opReferences:
		return "textDocument/references"
	case opHover:
		return "textDocument/hover"
	case opDocumentSymbol:
		return "textDocument/documentSymbol"
	case opWorkspaceSymbol:
		return "workspace/symbol"
	case opImplementation:
		return "textDocument/implementation"
	}
	return "textDocument/prepareCallHierarchy"
}

// lookUp asks all servers in parallel, and shows their answers one after the other.
func (q *lspCall) lookUp(ctx context.Context) (*tool.Result, error) {
	views, err := q.views(ctx)
	if err != nil {
		return nil, err
	}
	answers := make([]serverAnswer, len(views))
	var wg sync.WaitGroup
	for i, v := range views {
		wg.Go(func() { answers[i] = q.question(ctx, v) })
	}
	wg.Wait()
	list := []json.RawMessage{}
	var notes []string
	failed, failures := error(nil), 0
	for i, a := range answers {
		if a.err != nil {
			failed = a.err
			failures++
			notes = append(notes, "("+sentenced{a.err}.Error()+" Its results are left out.)")
			continue
		}
		if q.in.Operation == opHover && !q.overt(ctx, views[i], a.list) {
			q.hidden++
			continue
		}
		list = append(list, q.visible(views[i], a.list)...)
		if a.early {
			notes = append(notes, fmt.Sprintf("(%s has only just begun and may still be indexing. Ask again in a moment.)", views[i].Server()))
		}
	}
	if failures == len(views) {
		return nil, q.unserved(ctx, failed)
	}
	return q.answersResult(list, notes), nil
}

// views returns the servers to ask: those for the file or, for the symbols of the project, all that
// run.
func (q *lspCall) views(ctx context.Context) ([]*lspclient.View, error) {
	if q.in.Operation != opWorkspaceSymbol {
		return q.open(ctx, q.in.method())
	}
	views := q.languages.Running()
	if q.in.FilePath != "" {
		q.knew = serverNames(slices.DeleteFunc(views, func(v *lspclient.View) bool { return !q.openIn(v) }))
		if _, err := q.languages.Open(ctx, q.path.String()); err != nil {
			return nil, q.unserved(ctx, err)
		}
		views = q.languages.Running()
	}
	if len(views) == 0 {
		return nil, tool.Fail("no-server", "No language server runs yet. Give a source file of the project as filePath, and its server is started; or look for the text instead.")
	}
	return q.able(views, q.in.method())
}

// openIn reports whether the file of the call is open in a server.
func (q *lspCall) openIn(v *lspclient.View) bool {
	_, open := v.Text(q.path.String())
	return open && q.in.FilePath != ""
}

// A serverAnswer is the answer of one server.
type serverAnswer struct {
	list  []json.RawMessage
	early bool // it may not have looked at everything yet
	err   error
}

// symbols asks a server for the symbols of the project. A server that knows none may only have to
// read the file first.
func (q *lspCall) symbols(ctx context.Context, v *lspclient.View) (a serverAnswer) {
	for again := range 2 {
		raw, err := v.Call(ctx, q.in.method(), q.params(v))
		if err != nil {
			return serverAnswer{err: err}
		}
		a.list = entries(v.Plain(raw))
		if len(a.list) > 0 || !q.openIn(v) {
			return a
		}
		if again == 0 {
			q.checked(ctx)
		}
	}
	a.early = !slices.Contains(q.knew, v.Server())
	return a
}

// question asks one server.
func (q *lspCall) question(ctx context.Context, v *lspclient.View) serverAnswer {
	if q.in.Operation == opWorkspaceSymbol {
		return q.symbols(ctx, v)
	}
	raw, err := v.Call(ctx, q.in.method(), q.params(v))
	if err != nil {
		return serverAnswer{err: err}
	}
	switch q.in.Operation {
	case opHover: // that there is nothing is an answer, too
		if len(raw) == 0 {
			raw = json.RawMessage("null")
		}
		return serverAnswer{list: []json.RawMessage{v.Plain(raw)}}
	case opIncomingCalls, opOutgoingCalls:
		items := entries(raw)
		if len(items) == 0 {
			return serverAnswer{}
		}
		raw, err = v.Call(ctx, "callHierarchy/"+q.in.Operation, map[string]any{"item": items[0]})
		if err != nil {
			return serverAnswer{err: err}
		}
	}
	return serverAnswer{list: entries(v.Plain(raw))}
}

// params are those of the first request.
func (q *lspCall) params(v *lspclient.View) map[string]any {
	if q.in.Operation == opWorkspaceSymbol {
		return map[string]any{"query": q.in.Query}
	}
	out := map[string]any{"textDocument": map[string]any{"uri": v.URI()}}
	if q.in.Operation != opDocumentSymbol {
		out["position"] = v.At(q.in.Line, q.in.Character)
	}
	if q.in.Operation == opReferences {
		out["context"] = map[string]any{"includeDeclaration": true}
	}
	return out
}

// entries returns the elements of an answer: none, one, or several.
func entries(raw json.RawMessage) (list []json.RawMessage) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return nil
	}
	if raw[0] != '[' || json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	return slices.DeleteFunc(list, func(one json.RawMessage) bool { return string(one) == "null" })
}

// A mention is the location in a result, in all the forms that results have.
type mention struct {
	Kind      int      `json:"kind"`
	URI       string   `json:"uri"`
	TargetURI string   `json:"targetUri"`
	Location  *mention `json:"location"`
	From      *mention `json:"from"`
	To        *mention `json:"to"`
}

func (m *mention) uris() []string {
	if m == nil {
		return nil
	}
	own := slices.DeleteFunc([]string{m.URI, m.TargetURI}, func(uri string) bool { return uri == "" })
	return slices.Concat(own, m.Location.uris(), m.From.uris(), m.To.uris())
}

// visible leaves out what lies in files that may not be read and, of symbols of the project, those
// of minor kinds and those above the limit.
func (q *lspCall) visible(v *lspclient.View, list []json.RawMessage) (out []json.RawMessage) {
	limit := len(list)
	if q.in.Operation == opWorkspaceSymbol {
		limit = symbolsOfAll
		if q.in.Query != "" {
			limit = symbolsOfQuery
		}
	}
	for _, one := range list {
		var m mention
		_ = json.Unmarshal(one, &m) // what has another form mentions no file
		switch {
		case len(out) == limit:
			return out
		case q.in.Operation == opWorkspaceSymbol && !notable(m.Kind):
		case slices.ContainsFunc(m.uris(), func(uri string) bool { return !q.mayShow(v, uri) }):
			q.hidden++
		default:
			out = append(out, one)
		}
	}
	return out
}

// notable reports whether a symbol is of a kind that people look for: class,
// method, enum, interface, function, variable, constant, struct.
func notable(kind int) bool { return slices.Contains([]int{5, 6, 10, 11, 12, 13, 14, 23}, kind) }

// mayShow reports whether the caller may know what is in a file. For other files than the requested
// one, the rules decide as for a search: files that a rule names are hidden, and if a rule asks
// about everything, a person must have allowed this call.
func (q *lspCall) mayShow(v *lspclient.View, uri string) bool {
	name, isFile, err := v.File(uri)
	if err != nil || !isFile {
		return !isFile
	}
	known, ok := q.shown[name]
	if ok {
		return known
	}
	path := q.editor.files.Beside(q.path, name)
	may := q.in.FilePath != "" && path.Real() == q.path.Real() || q.editor.files.MayRead(q.c, path) ||
		!q.unasked && !q.editor.files.Withheld(q.c, path)
	if q.shown == nil {
		q.shown = map[string]bool{}
	}
	q.shown[name] = may
	return may
}

// answersResult returns the result of a question.
func (q *lspCall) answersResult(list []json.RawMessage, notes []string) *tool.Result {
	metadata := map[string]any{"result": list}
	for i, size := 0, 0; i < len(list); i++ {
		if size += len(list[i]); size > maxWhole {
			metadata["result"], metadata["more"] = list[:i], len(list)-i
			break
		}
	}
	if q.hidden > 0 {
		metadata["hidden"] = q.hidden
		verb := "were"
		if q.hidden == 1 {
			verb = "was"
		}
		notes = append(notes, fmt.Sprintf("(%s in files that may not be read %s left out)", count(q.hidden, "result"), verb))
	}
	out := "No results found for " + q.in.Operation
	if len(list) > 0 {
		out = indented(list)
	}
	return &tool.Result{Title: q.callTitle(), Output: said(out, notes), Metadata: metadata}
}

// indented returns a list as indented JSON, with keys in their original order.
func indented(list []json.RawMessage) string {
	parts := make([]string, len(list))
	for i, one := range list {
		parts[i] = string(one)
	}
	flat := "[" + strings.Join(parts, ",") + "]"
	var out bytes.Buffer
	if json.Indent(&out, []byte(flat), "", "  ") != nil {
		return flat
	}
	return out.String()
}
