package builtin_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

// edits are changes of one document as a server proposes them.
func edits(uri string, list ...string) string {
	return `{"textDocument":{"uri":"` + uri + `","version":null},"edits":[` + strings.Join(list, ",") + `]}`
}

// replacing puts a text in the place of some characters of a line.
func replacing(line, from, to, text string) string {
	at := func(character string) string { return `{"line":` + line + `,"character":` + character + `}` }
	return `{"range":{"start":` + at(from) + `,"end":` + at(to) + `},"newText":"` + text + `"}`
}

// renames is a server whose answer to every rename is a workspace edit.
func renames(changes ...string) string {
	return `{"capabilities":{"renameProvider":true},"textDocument/rename":{"documentChanges":[` + strings.Join(changes, ",") + `]}}`
}

// A proposalCase is files, what a server proposes to do with them, and what
// has to become of them. With a code it fails, and the files stay.
type proposalCase struct {
	name       string
	files      map[string]string
	results    string
	want       map[string]string
	code, part string // of the error, or a part of what is said
}

func proposalCases() []proposalCase {
	hi := map[string]string{"a.foo": "hi\n"}
	both := map[string]string{"a.foo": "hi\n", "b.foo": "ho\n"}
	yo := edits("ROOT/a.foo", replacing("0", "0", "2", "yo"))
	return []proposalCase{
		{"a file is made and filled", hi, renames(yo, `{"kind":"create","uri":"ROOT/sub/n.foo"}`, edits("ROOT/sub/n.foo", replacing("0", "0", "0", `new\n`))),
			map[string]string{"a.foo": "yo\n", "sub/n.foo": "new\n"}, "", "Renamed hi to x: 2 files changed.\nM a.foo\nA sub/n.foo"},
		{"a file is moved and changed", hi, renames(yo, `{"kind":"rename","oldUri":"ROOT/a.foo","newUri":"ROOT/m.foo"}`, edits("ROOT/m.foo", replacing("0", "2", "2", "!"))),
			map[string]string{"m.foo": "yo!\n"}, "", "1 file changed.\nM m.foo"},
		{"a file is deleted", both, renames(yo, `{"kind":"delete","uri":"ROOT/b.foo"}`),
			map[string]string{"a.foo": "yo\n"}, "", "M a.foo\nD b.foo"},
		{"made and deleted is nothing", hi, renames(`{"kind":"create","uri":"ROOT/n.foo"}`, `{"kind":"delete","uri":"ROOT/n.foo"}`),
			hi, "", "No results found for rename"},
		{"what is missing may be missing", hi, renames(yo, `{"kind":"delete","uri":"ROOT/b.foo","options":{"ignoreIfNotExists":true}}`),
			map[string]string{"a.foo": "yo\n"}, "", "1 file changed"},
		{"what is there may be there", both, renames(yo, `{"kind":"create","uri":"ROOT/b.foo","options":{"ignoreIfExists":true}}`),
			map[string]string{"a.foo": "yo\n", "b.foo": "ho\n"}, "", "1 file changed"},
		{"what is there is replaced if that is meant", both, renames(`{"kind":"rename","oldUri":"ROOT/a.foo","newUri":"ROOT/b.foo","options":{"overwrite":true}}`),
			map[string]string{"b.foo": "hi\n"}, "", "M b.foo"},
		{"and emptied", both, renames(`{"kind":"create","uri":"ROOT/b.foo","options":{"overwrite":true}}`, edits("ROOT/b.foo", replacing("0", "0", "0", "new"))),
			map[string]string{"a.foo": "hi\n", "b.foo": "new"}, "", "M b.foo"},
		{"nothing", hi, `{"capabilities":{"renameProvider":true},"textDocument/rename":null}`, hi, "", "No results found for rename"},
		{"nothing new", hi, renames(edits("ROOT/a.foo", replacing("0", "0", "2", "hi"))), hi, "", "No results found for rename"},
		{"the old form", hi, `{"capabilities":{"renameProvider":true},"textDocument/rename":{"changes":{"ROOT/a.foo":[` + replacing("0", "0", "2", "yo") + `]}}}`,
			map[string]string{"a.foo": "yo\n"}, "", "M a.foo"},
		{"bytes that were not asked for stay", map[string]string{"a.foo": "hi\n", "b.foo": "\ufeffone\r\ntwo\rthree\n"},
			renames(edits("ROOT/b.foo", replacing("0", "3", "3", `\n1.5`), replacing("2", "0", "5", "3"))),
			map[string]string{"a.foo": "hi\n", "b.foo": "\ufeffone\r\n1.5\r\ntwo\r3\n"}, "", "M b.foo"},
	}
}

func proposalRefusals() []proposalCase {
	both := map[string]string{"a.foo": "hi\n", "b.foo": "ho\n"}
	yo := edits("ROOT/a.foo", replacing("0", "0", "2", "yo"))
	refused := func(name, code, part string, changes ...string) proposalCase {
		return proposalCase{name, both, renames(append([]string{yo}, changes...)...), both, code, part}
	}
	return []proposalCase{
		refused("made twice", "exists", "exists already", `{"kind":"create","uri":"ROOT/b.foo"}`),
		refused("moved onto another", "exists", "already where it is moved to", `{"kind":"rename","oldUri":"ROOT/a.foo","newUri":"ROOT/b.foo"}`),
		refused("moved onto itself", "duplicate-target", "onto itself", `{"kind":"rename","oldUri":"ROOT/b.foo","newUri":"ROOT/x/../b.foo"}`),
		refused("moved and missing", "not-found", "no such file", `{"kind":"rename","oldUri":"ROOT/c.foo","newUri":"ROOT/d.foo"}`),
		refused("deleted and missing", "not-found", "no such file", `{"kind":"delete","uri":"ROOT/c.foo"}`),
		refused("changed and missing", "not-found", "no such file", edits("ROOT/c.foo", replacing("0", "0", "0", "x"))),
		refused("two at one place", "bad-edit", "overlap", edits("ROOT/b.foo", replacing("0", "0", "2", "x"), replacing("0", "1", "2", "y"))),
		refused("a snippet", "bad-edit", "snippet", edits("ROOT/b.foo", `{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"newText":"$0","insertTextFormat":2}`)),
		refused("something else", "bad-edit", "not a known kind", `{"kind":"paint","uri":"ROOT/b.foo"}`),
		refused("no file", "bad-edit", "does not name a file", edits("untitled:b", replacing("0", "0", "0", "x"))),
		{"a folder", map[string]string{"a.foo": "hi\n", "sub/b.foo": "ho\n"}, renames(yo, `{"kind":"delete","uri":"ROOT/sub","options":{"recursive":true}}`),
			nil, "is-a-directory", "EISDIR"},
		{"another encoding", map[string]string{"a.foo": "hi\n", "b.foo": "caf\xe9 \xe0 la carte, tr\xe8s bien\n"}, renames(yo, edits("ROOT/b.foo", replacing("0", "0", "0", "x"))),
			map[string]string{"a.foo": "yo\n", "b.foo": "xcaf\xe9 \xe0 la carte, tr\xe8s bien\n"}, "", ""},
		{"no text", map[string]string{"a.foo": "hi\n", "b.foo": "\x00\x01\x02\xff"}, renames(yo, edits("ROOT/b.foo", replacing("0", "0", "0", "x"))),
			nil, "binary", "Cannot edit binary file"},
		{"the server says no", both, `{"capabilities":{"renameProvider":{"prepareProvider":true}},"textDocument/prepareRename":null,"textDocument/rename":{}}`,
			nil, "not-renamable", "nothing at"},
		{"or says why", both, `{"capabilities":{"renameProvider":true},"textDocument/rename":{"$error":"it is a keyword"}}`,
			nil, "server-failed", "it is a keyword."},
	}
}

// TestProposals are changes of all kinds that servers propose: all of one is
// made, or nothing.
func TestProposals(t *testing.T) {
	for _, c := range append(proposalCases(), proposalRefusals()...) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, permission.Allow, canned(t, "canned", c.results))
			for name, text := range c.files {
				d.put(name, text)
			}
			res, err := d.lsp("rename", map[string]any{"newName": "x"})
			if c.want == nil {
				c.want = c.files
			}
			d.wantFiles(c.want)
			if c.code != "" {
				wantFail(t, err, c.code, c.part)
				return
			}
			wantOutput(t, res, err, c.part)
		})
	}
}

// A proposal does not reach where its caller may not.
func TestProposalsOutside(t *testing.T) {
	d := newDesk(t, permission.Ask, canned(t, "canned", renames(
		edits("ROOT/a.foo", replacing("0", "0", "2", "yo")), edits("OUT/b.foo", replacing("0", "0", "2", "yo")))))
	d.put("a.foo", "hi\n")
	write(t, filepath.Join(d.out, "b.foo"), []byte("ho\n"))
	d.person.replies = []json.RawMessage{[]byte(`"once"`), []byte(`"reject"`)} // read and lsp; external_directory and edit
	if _, err := d.lsp("rename", map[string]any{"newName": "x"}); tool.KindOf(err) != tool.Rejected {
		t.Errorf("it ended with %v", err)
	}
	if got := d.outside(); len(got) != 1 || got[0] != filepath.Join(d.out, "*") || len(d.asked("edit")) != 1 {
		t.Errorf("it asked for %v and %v", got, d.asked("edit"))
	}
	d.wantFiles(map[string]string{"a.foo": "hi\n"})

	res, err := d.lsp("rename", map[string]any{"newName": "x"})
	wantOutput(t, res, err, "2 files changed")
	asked := d.asked("edit")
	if len(asked) != 2 || !strings.Contains(encoded(asked[1]), "-hi") || !strings.Contains(encoded(asked[1]), "-ho") {
		t.Errorf("it asked %s", encoded(asked))
	}
}

// A file that changes while the server works is not written over.
func TestProposalsForAnotherText(t *testing.T) {
	d := newDesk(t, permission.Allow, speaks("fake"), func(o *helve.Options) {
		o.Agents = []agent.Spec{{Name: "a", Policy: permission.Policy{Rules: permission.Ruleset{
			{Permission: "*", Pattern: "*", Action: permission.Allow}, {Permission: "external_directory", Pattern: "*", Action: permission.Ask},
		}}}}
	})
	d.put("a.foo", "word\n")
	write(t, filepath.Join(d.out, "b.foo"), []byte("word\n"))
	if err := os.Symlink(filepath.Join(d.out, "b.foo"), filepath.Join(d.dir, "link.foo")); err != nil {
		t.Skip(err)
	}
	asks := 0
	done := make(chan struct{})
	go func() { // the question of the rename comes when the server has answered
		defer close(done)
		for e := range d.rt.Events(t.Context(), 0) {
			if q, ok := e.Properties.(event.PermissionAsked); ok {
				if asks++; asks == 2 {
					write(t, filepath.Join(d.dir, "a.foo"), []byte("a word\n"))
				}
				_ = d.rt.Requests().Reply(q.Request.ID, permission.Reply{Verdict: permission.ReplyOnce})
			}
			if end, ok := e.Properties.(event.CallFinished); ok && end.ID == "last" {
				return
			}
		}
	}()
	_, err := d.lsp("hover", map[string]any{"filePath": "link.foo"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.rt.Call(t.Context(), tool.Call{ID: "last", Tool: "lsp",
		Input: asInput(t, map[string]any{"operation": "rename", "filePath": "a.foo", "line": 1, "character": 1, "newName": "other"})})
	<-done
	wantFail(t, err, "changed-on-disk", "a.foo was changed by someone else")
	if got := d.get("a.foo") + d.get("link.foo"); got != "a word\nword\n" {
		t.Errorf("the files hold %q", got)
	}
}

// A refactoring is one change to take back, formatted like every other, and
// what it breaks is told.
func TestProposalsAreChanges(t *testing.T) {
	d := newDesk(t, permission.Allow, speaks("fake"), func(o *helve.Options) {
		o.DataDir = t.TempDir()
		script := filepath.Join(o.DataDir, "upper.sh")
		write(t, script, []byte(`tr a-z A-Z < "$1" > "$1.new" && mv "$1.new" "$1"`))
		o.Formatters = &helve.Formatters{Own: []helve.Formatter{{Name: "upper", Command: []string{"sh", script, "$FILE"}, Extensions: []string{".foo"}}}}
	})
	before := map[string]string{"a.foo": "word\n", "b.foo": "a word\n"}
	for name, text := range before {
		d.put(name, text)
	}
	res, err := d.lsp("rename", map[string]any{"newName": "error"})
	wantOutput(t, res, err, "Renamed word to error: 2 files changed.\nM a.foo\nM b.foo", "LSP errors detected in a.foo, please fix:", "ERROR [1:1] error found: ERROR")
	d.wantFiles(map[string]string{"a.foo": "ERROR\n", "b.foo": "A ERROR\n"})
	sets, err := d.rt.Records().Changes(t.Context(), record.ChangeQuery{})
	if err != nil || len(sets) != 1 || sets[0].Tool != "lsp" || len(sets[0].Files) != 2 {
		t.Fatalf("on record are %s, %v", encoded(sets), err)
	}
	if _, err := d.rt.Records().Undo(t.Context(), record.UndoRequest{Sets: []string{sets[0].ID}}); err != nil {
		t.Fatal(err)
	}
	d.wantFiles(before)
}

// actionResults is a server with actions of all kinds.
func actionResults() string {
	return `{"capabilities":{"codeActionProvider":true},"textDocument/codeAction":[
		{"title":"Mend","kind":"quickfix","isPreferred":true,"edit":{"documentChanges":[` + edits("ROOT/a.foo", replacing("0", "0", "2", "yo")) + `]},"command":{"title":"then","command":"x"}},
		{"title":"Twin","edit":{"documentChanges":[` + edits("ROOT/a.foo", replacing("0", "0", "2", "one")) + `]}},
		{"title":"Twin","edit":{"documentChanges":[` + edits("ROOT/a.foo", replacing("0", "0", "2", "two")) + `]}},
		{"title":"Later","disabled":{"reason":"nothing is selected"}},
		{"title":"Run","command":"x"},
		{"title":"Lazy","data":1},
		{"title":"Hollow","data":2,"kind":"refactor"},
		{"title":"7","command":{"title":"x","command":"x"}}],
		"codeAction/resolve":{"title":"Lazy","command":{"title":"x","command":"x"}}}`
}

func TestCodeActions(t *testing.T) {
	for action, c := range map[string]struct{ want, code, part string }{
		"": {"hi\n", "", "1. Mend (quickfix; preferred)\n2. Twin\n3. Twin\n4. Lazy\n5. Hollow (refactor)\n\nTo make one, call again with its title or number as action.\n\n" +
			"Left out are commands of the server, which can not be run here: Run; 7\n\nLeft out is also what the server says is not possible here (1)."},
		"mend":  {"yo\n", "", "The server would run a command after this, which was not done."},
		"1":     {"yo\n", "", "Done: Mend: 1 file changed."},
		"Twin":  {"hi\n", "ambiguous", "2 actions are called \"Twin\". Give the number of one:\n2. Twin\n3. Twin"},
		" 3 ":   {"two\n", "", "Done: Twin"},
		"8":     {"hi\n", "disabled", "nothing is selected."},
		"Run":   {"hi\n", "command", "no rule was asked about"},
		"Lazy":  {"hi\n", "no-edit", "canned has not said what"},
		"9":     {"hi\n", "unknown-action", "There are:\n1. Mend\n2. Twin\n3. Twin\n4. Lazy\n5. Hollow\ncanned has not"}, // only what can be chosen
		"7":     {"hi\n", "command", `"7" is a command`},                                                                 // a title comes before a number
		"Mend!": {"hi\n", "unknown-action", "1. Mend"},
	} {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, permission.Allow, canned(t, "canned", actionResults()))
			d.put("a.foo", "hi\n")
			res, err := d.lsp("codeAction", map[string]any{"action": action})
			d.wantFiles(map[string]string{"a.foo": c.want})
			if c.code != "" {
				wantFail(t, err, c.code, c.part)
				return
			}
			wantOutput(t, res, err, c.part)
		})
	}
}

// What is wrong at a place is told to a server in the units that it counts in.
func TestCodeActionsForBytes(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	d := newDesk(t, permission.Allow, speaks("bytes", "--utf8", "--log", log), patient)
	d.put("a.foo", "ERROR é😀\n")
	res, err := d.lsp("codeAction", nil)
	wantOutput(t, res, err, "1. Remove the line (quickfix)")
	got := received(t, log, "textDocument/codeAction")
	if len(got) != 1 || !strings.Contains(got[0], `"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":12}}`) {
		t.Errorf("it was asked %s", got)
	}
}

// A server that does not know yet what is wrong may know later what helps.
func TestCodeActionsOfAnUncheckedText(t *testing.T) {
	t.Parallel()
	soon := func(o *helve.Options) { o.LSP.Wait = 200 * time.Millisecond }
	d := newDesk(t, permission.Allow, speaks("slow", "--never", "textDocument/publishDiagnostics"), soon)
	d.put("a.foo", "word\n")
	res, err := d.lsp("codeAction", nil)
	if err != nil || !strings.HasPrefix(res.Output, "slow has not checked this text yet; ask again.") || strings.Contains(res.Output, "nothing that can be done") {
		t.Errorf("%v: %v", err, res)
	}
	if encoded(res.Metadata["pending"]) != `["slow"]` {
		t.Errorf("pending is %s", encoded(res.Metadata["pending"]))
	}
	_, err = d.lsp("codeAction", map[string]any{"action": "Fly"})
	wantFail(t, err, "unknown-action", "There is none that can be made. slow has not checked this text yet; ask again.")

	d = newDesk(t, permission.Allow, canned(t, "mute", `{"capabilities":{"codeActionProvider":true},"textDocument/codeAction":[]}`))
	d.put("a.foo", "word\n")
	res, err = d.lsp("codeAction", nil)
	if err != nil || res.Output != "mute has not checked this text yet; ask again." {
		t.Errorf("%v: %v", err, res)
	}

	// One that only takes its time is waited for.
	d = newDesk(t, permission.Allow, speaks("late", "--delay", "textDocument/publishDiagnostics=3000"), func(o *helve.Options) { o.LSP.Wait = 2500 * time.Millisecond })
	d.put("a.foo", "ERROR\n")
	res, err = d.lsp("codeAction", nil)
	wantOutput(t, res, err, "1. Remove the line (quickfix)")
	if res.Metadata["pending"] != nil || strings.Contains(res.Output, "not checked") {
		t.Errorf("it was not waited for:\n%s", res.Output)
	}
}

// A rename that leaves out the definition is asked for again, and if that does
// not help it is not made.
func TestRenameWithoutTheDefinition(t *testing.T) {
	for near, asked := range map[string]int{"0": 1, "1": 2, "99": 3} {
		t.Run(near, func(t *testing.T) {
			t.Parallel()
			log := filepath.Join(t.TempDir(), "log")
			d := newDesk(t, permission.Allow, speaks("fake", "--near", near, "--log", log), patient)
			before := map[string]string{"a.foo": "word\n", "b.foo": "def word\n"}
			for name, text := range before {
				d.put(name, text)
			}
			res, err := d.lsp("documentSymbol", map[string]any{"filePath": "b.foo"}) // it has to know the definition
			wantOutput(t, res, err, "word")
			res, err = d.lsp("rename", map[string]any{"newName": "other"})
			if got := received(t, log, "textDocument/rename"); len(got) != asked {
				t.Errorf("it was asked %d times and not %d", len(got), asked)
			}
			if near == "99" {
				wantFail(t, err, "incomplete", "fake would rename without the definition in b.foo")
				d.wantFiles(before)
				return
			}
			wantOutput(t, res, err, "Renamed word to other: 2 files changed.")
			d.wantFiles(map[string]string{"a.foo": "other\n", "b.foo": "def other\n"})
		})
	}
}

// A definition that is called otherwise, or lies outside, may be left out.
func TestRenameThatNeedsNoDefinition(t *testing.T) {
	for name, place := range map[string]string{"another name": "ROOT/b.foo", "outside": "OUT/b.foo", "no file": "ROOT/gone.foo", "not a file": "jdt://b"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, permission.Allow, canned(t, "canned", `{"capabilities":{"renameProvider":true,"definitionProvider":true},
				"textDocument/definition":[{"uri":"`+place+`","range":{"start":{"line":0,"character":0},"end":{"line":0,"character":2}}}],
				"textDocument/rename":{"documentChanges":[`+edits("ROOT/a.foo", replacing("0", "0", "2", "yo"))+`]}}`))
			d.put("a.foo", "hi\n")
			d.put("b.foo", "ho\n")
			write(t, filepath.Join(d.out, "b.foo"), []byte("hi\n"))
			res, err := d.lsp("rename", map[string]any{"newName": "yo"})
			wantOutput(t, res, err, "Renamed hi to yo: 1 file changed.")
			d.wantFiles(map[string]string{"a.foo": "yo\n", "b.foo": "ho\n"})
		})
	}
}
