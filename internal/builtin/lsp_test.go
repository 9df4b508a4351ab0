package builtin_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/internal/lspclient/lsptest"
	"github.com/helve-dev/helve/lsp"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
	"github.com/helve-dev/helve/tooltest"
)

// polyglot gives every script language servers: one for .foo, and one for
// .lost whose program is not there.
func polyglot(e *tooltest.Env) error {
	e.Options.LSP = &lsp.Options{Own: []lsp.Server{
		{Name: "fake", Command: lsptest.Command(), Extensions: []string{".foo"}},
		{Name: "lost", Command: []string{filepath.Join(e.Dir, "no-such-program")}, Extensions: []string{".lost"}},
	}}
	return nil
}

// lsp makes a call of the tool about the beginning of a.foo, unless args say
// otherwise.
func (d *desk) lsp(operation string, args map[string]any) (*tool.Result, error) {
	d.t.Helper()
	all := map[string]any{"operation": operation, "filePath": "a.foo", "line": 1, "character": 1}
	for key, value := range args {
		all[key] = value
	}
	return d.call("lsp", all)
}

// wantOutput checks that a call has said something.
func wantOutput(t *testing.T, res *tool.Result, err error, parts ...string) {
	t.Helper()
	if err != nil {
		t.Errorf("%v", err)
		return
	}
	for _, part := range parts {
		if !strings.Contains(res.Output, part) {
			t.Errorf("the output does not hold %q:\n%s", part, res.Output)
		}
	}
}

func TestLanguageServersThatAreOff(t *testing.T) {
	d := newDesk(t, permission.Allow, func(o *helve.Options) { o.Flags = map[string]bool{"lsp": true} })
	d.put("a.foo", "word\n")
	_, err := d.lsp("hover", nil)
	wantFail(t, err, "no-server", "No LSP server available for this file type.")
	if e, ok := err.(*tool.Error); !ok || !strings.Contains(e.Hint, `"lsp": true`) {
		t.Errorf("it does not say how to switch them on: %v", err)
	}

	d = newDesk(t, permission.Allow)
	_, err = d.lsp("hover", nil)
	if e, ok := err.(*tool.Error); !ok || !strings.Contains(e.Hint, `"experimental": {"lsp_tool": true}`) || !strings.Contains(e.Hint, "HELVE_EXPERIMENTAL_LSP_TOOL=1") {
		t.Errorf("it does not say how to switch the tool on: %v", err)
	}
}

// A server that can not be started anew is told with why, and where to look.
func TestRestartThatFails(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	d := newDesk(t, permission.Allow, speaks("dead", "--die", "start"), speaks("once", "--die", "start", "--once", mark))
	d.put("a.foo", "word\n")
	_, err := d.lsp("restart", nil)
	wantFail(t, err, "server-unavailable", "fatal at start")
	wantFail(t, err, "server-unavailable", " 'helve lsp log dead' shows more.")
	if strings.Contains(err.Error(), "Look for the text") {
		t.Errorf("it says %v", err)
	}
}

// Where a server that has just begun knows no symbols, it is given the time to
// read the file; and what it may not know yet is not told as if there were
// none.
func TestSymbolsOfAServerThatHasJustBegun(t *testing.T) {
	const none = "No results found for workspaceSymbol"
	const early = "new has only just begun and may still be indexing."
	d := newDesk(t, permission.Allow, canned(t, "new", `{"capabilities":{"workspaceSymbolProvider":true},"workspace/symbol":[]}`))
	d.put("a.foo", "word\n")
	res, err := d.lsp("workspaceSymbol", nil)
	wantOutput(t, res, err, none, early)
	res, err = d.lsp("workspaceSymbol", nil)
	wantOutput(t, res, err, none)
	if strings.Contains(res.Output, early) {
		t.Errorf("the second time it says %s", res.Output)
	}

	log := filepath.Join(t.TempDir(), "log")
	d = newDesk(t, permission.Allow, speaks("fake", "--log", log, "--late-symbols", "--delay", "textDocument/publishDiagnostics=300"), patient)
	d.put("a.foo", "word\n")
	res, err = d.lsp("workspaceSymbol", nil)
	wantOutput(t, res, err, "sym5")
	if got := received(t, log, "workspace/symbol"); len(got) != 2 {
		t.Errorf("it was asked %d times", len(got))
	}
}

// received are the parameters of the messages of a method that a server has
// got.
func received(t *testing.T, log, method string) (params []string) {
	t.Helper()
	all, err := lsptest.Received(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if m.Method == method {
			params = append(params, string(m.Params))
		}
	}
	return params
}

// A server that does not answer is not waited for without an end, and does
// not keep back what another one says.
func TestLanguageServerThatDoesNotAnswer(t *testing.T) {
	soon := func(o *helve.Options) { o.LSP.Request = 300 * time.Millisecond }
	d := newDesk(t, permission.Allow, speaks("mute", "--never", "textDocument/hover"), soon)
	d.put("a.foo", "word\n")
	_, err := d.lsp("hover", nil)
	wantFail(t, err, "timeout", "The language server mute has not answered textDocument/hover within")
	wantFail(t, err, "timeout", "Look for the text instead.")

	both := newDesk(t, permission.Allow, speaks("mute", "--never", "textDocument/references"), speaks("fake"), func(o *helve.Options) { o.LSP.Request = 3 * time.Second })
	both.put("a.foo", "word\n")
	res, err := both.lsp("findReferences", nil)
	wantOutput(t, res, err, `"uri"`, "(The language server mute has not answered", "Its results are left out.)")
}

func TestLanguageServerThatCanNotBeAsked(t *testing.T) {
	d := newDesk(t, permission.Allow, speaks("dead", "--die", "start"))
	d.put("a.foo", "word\n")
	_, err := d.lsp("hover", nil)
	wantFail(t, err, "server-unavailable", "dead")
	wantFail(t, err, "server-unavailable", "Look for the text instead.")

	// A server that helve knows is not asked for what it does not claim to do.
	d = newDesk(t, permission.Allow, canned(t, "gopls", `{"capabilities":{"hoverProvider":true},"textDocument/hover":null}`))
	d.put("a.foo", "word\n")
	_, err = d.lsp("findReferences", nil)
	wantFail(t, err, "unsupported", "gopls can not do findReferences. Look for the text instead.")
	res, err := d.lsp("hover", nil)
	wantOutput(t, res, err, "[\n  null\n]")
	_, err = d.lsp("rename", map[string]any{"newName": "x"})
	wantFail(t, err, "unsupported", "rename")
	_, err = d.call("lsp", map[string]any{"operation": "workspaceSymbol"})
	wantFail(t, err, "unsupported", "workspaceSymbol")

	d = newDesk(t, permission.Allow, canned(t, "angry", `{"capabilities":{"hoverProvider":true},"textDocument/hover":{"$error":"I am busy"}}`))
	d.put("a.foo", "word\n")
	_, err = d.lsp("hover", nil)
	wantFail(t, err, "server-failed", "The language server angry: I am busy. Look for the text instead.")
	for _, operation := range []string{"findReferences", "workspaceSymbol", "incomingCalls", "rename", "codeAction"} { // it has never heard of them
		res, err := d.lsp(operation, map[string]any{"newName": "x"})
		wantOutput(t, res, err, "")
		if err == nil && !strings.HasPrefix(res.Output, "No results found for "+operation) && operation != "codeAction" {
			t.Errorf("%s: %s", operation, res.Output)
		}
	}
}

func TestLanguageServerIsStartedForSymbols(t *testing.T) {
	d := newDesk(t, permission.Allow, speaks("fake"))
	d.put("a.foo", "word\n")
	_, err := d.call("lsp", map[string]any{"operation": "workspaceSymbol"})
	wantFail(t, err, "no-server", "Give a source file of the project as filePath")
	res, err := d.call("lsp", map[string]any{"operation": "workspaceSymbol", "filePath": "a.foo"})
	wantOutput(t, res, err, "sym5")
	res, err = d.call("lsp", map[string]any{"operation": "restart"})
	wantOutput(t, res, err, "Restarted: fake.")
}

// Of very many symbols some are shown: more of them where a name was given.
func TestFewSymbols(t *testing.T) {
	one := `{"name":"n","kind":12,"location":{"uri":"ROOT/a.foo","range":{}}}`
	lesser := `{"name":"lesser","kind":7,"location":{"uri":"ROOT/a.foo","range":{}}}`
	list := "[" + lesser + strings.Repeat(","+one, 60) + "]"
	d := newDesk(t, permission.Allow, canned(t, "rich", `{"capabilities":{"workspaceSymbolProvider":true},"workspace/symbol":`+list+`}`))
	d.put("a.foo", "word\n")
	for query, want := range map[string]int{"": 10, "n": 50} {
		res, err := d.call("lsp", map[string]any{"operation": "workspaceSymbol", "filePath": "a.foo", "query": query})
		wantOutput(t, res, err)
		if got := strings.Count(res.Output, `"name": "n"`); got != want || strings.Contains(res.Output, "lesser") {
			t.Errorf("query %q: %d symbols are shown and not %d:\n%s", query, got, want, res.Output)
		}
	}
}

// Results have the positions that programs expect, however the server counts,
// and are asked for as it does.
func TestPositionsOfBytes(t *testing.T) {
	d := newDesk(t, permission.Allow, speaks("bytes", "--utf8"))
	d.put("a.foo", "é😀 word\n")
	res, err := d.lsp("findReferences", map[string]any{"character": 6})
	wantOutput(t, res, err)
	if got := encoded(at(t, res.Metadata, "result", 0, "range")); got != `{"end":{"character":8,"line":0},"start":{"character":4,"line":0}}` {
		t.Errorf("the range is %s", got)
	}
	res, err = d.lsp("rename", map[string]any{"character": 6, "newName": "wörter"})
	wantOutput(t, res, err, "Renamed word to wörter: 1 file changed.\nM a.foo")
	d.wantFiles(map[string]string{"a.foo": "é😀 wörter\n"})
}

// agents are one who may read everything, one who may not read secrets, and
// one who is asked about all that is read.
func agentsWithSecrets(o *helve.Options) {
	allow := permission.Rule{Permission: "*", Pattern: "*", Action: permission.Allow}
	rules := func(more ...permission.Rule) permission.Policy {
		return permission.Policy{Rules: append(permission.Ruleset{allow}, more...)}
	}
	o.Agents = []agent.Spec{
		{Name: "all", Policy: rules()},
		{Name: "some", Policy: rules(permission.Rule{Permission: "read", Pattern: "*secret*", Action: permission.Deny})},
		{Name: "asking", Policy: rules(permission.Rule{Permission: "*", Pattern: "*", Action: permission.Ask})},
		{Name: "reading", Policy: rules(permission.Rule{Permission: "read", Pattern: "*", Action: permission.Ask})},
	}
}

// What lies in files that may not be read is not told.
func TestSecretsOfLanguageServers(t *testing.T) {
	place := func(name string) string { return `{"uri":"` + name + `","range":{}}` }
	results := `{"capabilities":{"referencesProvider":true,"workspaceSymbolProvider":true,"callHierarchyProvider":true,"definitionProvider":true},
		"textDocument/references":[` + place("ROOT/a.foo") + `,` + place("ROOT/secret.foo") + `,` + place("ROOT/s%65cret.foo") + `,` + place("ROOT/b.foo") + `,` + place("file:nonsense") + `,` + place("jdt://x") + `],
		"textDocument/definition":[{"targetUri":"ROOT/secret.foo","targetRange":{}}],
		"workspace/symbol":[{"name":"s","kind":12,"location":` + place("ROOT/secret.foo") + `}],
		"textDocument/prepareCallHierarchy":` + place("ROOT/a.foo") + `,
		"callHierarchy/incomingCalls":[{"from":` + place("ROOT/secret.foo") + `,"fromRanges":[]}]}`
	d := newDesk(t, permission.Ask, canned(t, "open", results), agentsWithSecrets)
	for _, name := range []string{"a.foo", "b.foo", "secret.foo"} {
		d.put(name, "word\n")
	}
	ask := func(agent, operation string) *tool.Result {
		t.Helper()
		res, err := d.rt.Call(t.Context(), tool.Call{Agent: agent, Tool: "lsp",
			Input: asInput(t, map[string]any{"operation": operation, "filePath": "a.foo", "line": 1, "character": 1})})
		if err != nil {
			t.Fatalf("%s, %s: %v", agent, operation, err)
		}
		return res
	}
	counted := func(agent, operation string, shown, hidden int) {
		t.Helper()
		res := ask(agent, operation)
		list, _ := at(t, res.Metadata, "result").([]any)
		if n, _ := res.Metadata["hidden"].(int); len(list) != shown || n != hidden {
			t.Errorf("%s, %s: %d are shown and %d hidden; want %d and %d:\n%s", agent, operation, len(list), n, shown, hidden, res.Output)
		}
		if agent == "some" && strings.Contains(res.Output, "cret.foo") {
			t.Errorf("%s tells of the secret:\n%s", operation, res.Output)
		}
	}
	counted("all", "findReferences", 5, 1) // what is not understood is not known to be harmless
	counted("some", "findReferences", 3, 3)
	counted("some", "goToDefinition", 0, 1)
	counted("some", "workspaceSymbol", 0, 1)
	counted("some", "incomingCalls", 0, 1)
	counted("asking", "findReferences", 5, 1)  // a person has seen the question
	counted("reading", "findReferences", 2, 4) // nobody was asked about other files
	if out := ask("some", "goToDefinition").Output; out != "No results found for goToDefinition\n\n(1 result in files that may not be read was left out)" {
		t.Errorf("it says %q", out)
	}
}

// What a person is asked, as later versions of the reference word it.
func TestLanguageRequests(t *testing.T) {
	d := newDesk(t, permission.Ask, speaks("fake"))
	file := d.put("a.foo", "word\n")
	for _, in := range []map[string]any{
		{"operation": "hover", "filePath": "a.foo", "line": 1, "character": 2},
		{"operation": "documentSymbol", "filePath": "a.foo", "line": 1, "character": 2},
		{"operation": "workspaceSymbol", "filePath": "a.foo", "line": 1, "character": 2, "query": "x"},
		{"operation": "diagnostics", "filePath": "a.foo"},
		{"operation": "rename", "filePath": "a.foo", "line": 1, "character": 2, "newName": "other"},
		{"operation": "codeAction", "filePath": "a.foo", "line": 1, "character": 2},
		{"operation": "restart"},
	} {
		if _, err := d.call("lsp", in); err != nil {
			t.Errorf("%v: %v", in, err)
		}
	}
	want := []map[string]any{
		{"operation": "hover", "filePath": file, "line": 1, "character": 2},
		{"operation": "documentSymbol", "filePath": file},
		{"operation": "workspaceSymbol"},
		{"operation": "diagnostics", "filePath": file},
		{"operation": "rename", "filePath": file, "line": 1, "character": 2, "newName": "other"},
		{"operation": "codeAction", "filePath": file, "line": 1, "character": 2},
		{"operation": "restart"},
	}
	asked := d.asked("lsp")
	for i, a := range asked {
		if i < len(want) && encoded(a["metadata"]) != encoded(want[i]) || encoded(a["patterns"]) != `["*"]` || encoded(a["always"]) != `["*"]` {
			t.Errorf("request %d is %s", i, encoded(a))
		}
	}
	if len(asked) != len(want) || len(d.asked("read")) != 6 || len(d.asked("edit")) != 1 {
		t.Errorf("%d requests, %d to read, %d to edit", len(asked), len(d.asked("read")), len(d.asked("edit")))
	}
}

// A server that has not checked a file yet is told as that, and not as if all
// were well.
func TestPendingDiagnostics(t *testing.T) {
	soon := func(o *helve.Options) { o.LSP.Wait = 200 * time.Millisecond }
	d := newDesk(t, permission.Allow, speaks("slow", "--never", "textDocument/publishDiagnostics"), soon)
	d.put("a.foo", "ERROR\n")
	res, err := d.lsp("diagnostics", nil)
	wantOutput(t, res, err, "slow has not checked a.foo yet: ", "Ask again.")
	if strings.Contains(res.Output, "No problems") || encoded(res.Metadata["pending"]) != `["slow"]` {
		t.Errorf("it says %s, pending %s", res.Output, encoded(res.Metadata["pending"]))
	}
}

// A call that is given up ends soon, whatever the server does.
func TestLanguageCallGivenUp(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	d := newDesk(t, permission.Allow, speaks("mute", "--never", "textDocument/hover", "--log", log))
	d.put("a.foo", "word\n")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		look := time.NewTicker(10 * time.Millisecond)
		defer look.Stop()
		for range 1000 {
			<-look.C
			if seen, _ := os.ReadFile(log); strings.Contains(string(seen), "textDocument/hover") {
				return
			}
		}
	}()
	_, err := d.rt.Call(ctx, tool.Call{Tool: "lsp", Input: asInput(t, map[string]any{"operation": "hover", "filePath": "a.foo", "line": 1, "character": 1})})
	if tool.KindOf(err) != tool.Canceled {
		t.Errorf("it ended with %v", err)
	}
}

// A file outside of the project is asked about, and no server is started for
// it.
func TestLanguageOutside(t *testing.T) {
	d := newDesk(t, permission.Ask, speaks("fake"))
	file := filepath.Join(d.out, "a.foo")
	write(t, file, []byte("word\n"))
	_, err := d.lsp("hover", map[string]any{"filePath": file})
	wantFail(t, err, "no-server", "No LSP server available for this file type.")
	if got := d.outside(); len(got) != 1 || got[0] != filepath.Join(d.out, "*") || len(d.rt.LSP().Status()) != 0 {
		t.Errorf("it asked for %v, and there are %v", got, d.rt.LSP().Status())
	}
}

// Very many results are cut like any output, and what programs get is bounded.
func TestManyResults(t *testing.T) {
	one := `{"uri":"ROOT/a.foo","range":{"start":{"line":1,"character":1},"end":{"line":1,"character":2}}}`
	list := "[" + one + strings.Repeat(","+one, 4999) + "]"
	d := newDesk(t, permission.Allow, canned(t, "rich", `{"capabilities":{"referencesProvider":true},"textDocument/references":`+list+`}`),
		func(o *helve.Options) { o.DataDir = t.TempDir() })
	d.put("a.foo", "word\n")
	res, err := d.lsp("findReferences", nil)
	wantOutput(t, res, err, "Full output saved to: ")
	kept, _ := at(t, res.Metadata, "result").([]any)
	more, _ := res.Metadata["more"].(int)
	if len(kept)+more != 5000 || len(encoded(res.Metadata)) > 256<<10 || res.Metadata["truncated"] != true {
		t.Errorf("%d results and %d more, in %d bytes", len(kept), more, len(encoded(res.Metadata)))
	}
}
