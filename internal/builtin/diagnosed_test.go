package builtin_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// patient gives servers all the time that they need.
func patient(o *helve.Options) { o.LSP.Wait = time.Minute }

// tells checks what a call says about what servers have found, with the
// project's folder left out.
func (d *desk) tells(res *tool.Result, err error, want string) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
	got := strings.ReplaceAll(res.Output, d.dir+string(filepath.Separator), "")
	if i := strings.Index(got, "LSP errors"); i >= 0 {
		got = got[i:]
	} else {
		got = ""
	}
	if diff := cmp.Diff(want, got); diff != "" {
		d.t.Errorf("it says otherwise (-want +got):\n%s", diff)
	}
}

// found is what a result holds for programs: the messages by file.
func (d *desk) found(res *tool.Result) map[string][]string {
	d.t.Helper()
	raw, err := json.Marshal(res.Metadata["diagnostics"])
	if err != nil {
		d.t.Fatal(err)
	}
	var all map[string][]struct {
		Message string `json:"message"`
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		d.t.Fatalf("%v: %s", err, raw)
	}
	out := map[string][]string{}
	for path, list := range all {
		name, err := filepath.Rel(d.dir, path)
		if err != nil {
			d.t.Fatal(err)
		}
		out[filepath.ToSlash(name)] = []string{}
		for _, one := range list {
			out[filepath.ToSlash(name)] = append(out[filepath.ToSlash(name)], one.Message)
		}
	}
	return out
}

func (d *desk) wantFound(res *tool.Result, want map[string][]string) {
	d.t.Helper()
	if diff := cmp.Diff(want, d.found(res)); diff != "" {
		d.t.Errorf("programs are told otherwise (-want +got):\n%s", diff)
	}
}

const ownHeading = "LSP errors detected in this file, please fix:\n"

// What was there before is only marked where something new stands beside it,
// and comes after that.
func TestOldAndNewErrors(t *testing.T) {
	d := newDesk(t, permission.Allow, speaks("fake"), patient)
	d.put("a.foo", "ERROR one\nfine\nERROR two\nlast\n")
	res, err := d.lsp("diagnostics", nil) // now they are known
	wantOutput(t, res, err, "ERROR [1:1] error found: ERROR one\nERROR [3:1] error found: ERROR two\n")
	d.mustRead("a.foo")

	res, err = d.edit("a.foo", "fine", "good")
	d.tells(res, err, ownHeading+"<diagnostics file=\"a.foo\">\nERROR [1:1] error found: ERROR one\nERROR [3:1] error found: ERROR two\n</diagnostics>")

	res, err = d.edit("a.foo", "last", "ERROR new\nWARN new\nERROR newer")
	d.tells(res, err, ownHeading+"<diagnostics file=\"a.foo\">\nERROR [4:1] error found: ERROR new\nERROR [6:1] error found: ERROR newer\n"+
		"ERROR [1:1] error found: ERROR one (there before this change)\nERROR [3:1] error found: ERROR two (there before this change)\n</diagnostics>")
	d.wantFound(res, map[string][]string{"a.foo": { // in the order of the server
		"error found: ERROR one", "error found: ERROR two", "error found: ERROR new", "warn found: WARN new", "error found: ERROR newer"}})

	res, err = d.call("multiedit", map[string]any{"filePath": "a.foo", "edits": []any{
		map[string]any{"oldString": "ERROR one", "newString": "fine"}, map[string]any{"oldString": "good", "newString": "ERROR good"},
	}})
	d.tells(res, err, ownHeading+"<diagnostics file=\"a.foo\">\nERROR [2:1] error found: ERROR good\n"+
		"ERROR [3:1] error found: ERROR two (there before this change)\nERROR [4:1] error found: ERROR new (there before this change)\n"+
		"ERROR [6:1] error found: ERROR newer (there before this change)\n</diagnostics>")
}

// Writing a file tells of other files, too: of five at the most, and never
// with a mark. Programs are told of all.
func TestErrorsInOtherFiles(t *testing.T) {
	d := newDesk(t, permission.Allow, speaks("fake"), patient)
	text := ""
	for i := range 7 {
		text += fmt.Sprintf("BREAK b%d.foo\n", i)
	}
	res, err := d.write("a.foo", "ERROR own\n"+text)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(res.Output, ownHeading) || strings.Count(res.Output, "LSP errors detected in other files:\n<diagnostics file=\"") != 5 ||
		strings.Count(res.Output, "ERROR [1:1] broken by a.foo") != 5 {
		t.Errorf("it says\n%s", res.Output)
	}
	if got := slices.Sorted(maps.Keys(d.found(res))); len(got) != 8 {
		t.Errorf("programs are told of %v", got)
	}
	d.mustRead("a.foo")
	res, err = d.write("a.foo", "ERROR own\nERROR new\n"+text)
	wantOutput(t, res, err, "ERROR own (there before this change)", "LSP errors detected in other files:\n")
	if strings.Count(res.Output, "there before") != 1 {
		t.Errorf("another file has marks:\n%s", res.Output)
	}
	res, err = d.write("c.foo", "BREAK b0.foo\n")
	wantOutput(t, res, err, "ERROR [1:1] broken by c.foo\nERROR [1:1] broken by a.foo\n</diagnostics>")

	// Other tools tell of their own file, and programs of all.
	res, err = d.edit("a.foo", "ERROR new\n", "")
	if err != nil || strings.Contains(res.Output, "other files") || len(d.found(res)) != 9 {
		t.Errorf("edit: %v, %s, %v", err, res.Output, d.found(res))
	}
	res, err = d.call("multiedit", map[string]any{"filePath": "a.foo", "edits": []any{map[string]any{"oldString": "own", "newString": "mine"}}})
	if err != nil || strings.Contains(res.Output, "other files") || len(d.found(res)) != 9 {
		t.Errorf("multiedit: %v, %s, %v", err, res.Output, d.found(res))
	}
	res, err = d.patch("*** Begin Patch\n*** Add File: note.txt\n+hi\n*** End Patch")
	if err != nil || strings.Contains(res.Output, "LSP") || len(d.found(res)) != 9 {
		t.Errorf("apply_patch: %v, %s, %v", err, res.Output, d.found(res))
	}
	res, err = d.patch("*** Begin Patch\n*** Delete File: note.txt\n*** End Patch")
	if err != nil || len(d.found(res)) != 9 {
		t.Errorf("apply_patch that only deletes: %v, %v", err, d.found(res))
	}
}

// What may not be read is not told to programs either.
func TestErrorsInSecretFiles(t *testing.T) {
	d := newDesk(t, permission.Ask, speaks("fake"), patient, agentsWithSecrets)
	for agent, want := range map[string]int{"some": 2, "all": 3} {
		d.mustRead(d.put("a.foo", "fine\n"))
		input := asInput(t, map[string]any{"filePath": "a.foo", "content": "BREAK b.foo\nBREAK secret.foo\n"})
		res, err := d.rt.Call(t.Context(), tool.Call{Session: "s", Agent: agent, Tool: "write", Input: input})
		if err != nil {
			t.Fatal(err)
		}
		if got := d.found(res); len(got) != want || strings.Contains(res.Output, "secret.foo") != (want == 3) {
			t.Errorf("%s is told of %v:\n%s", agent, got, res.Output)
		}
	}
}

// A patch tells of each of its files.
func TestErrorsOfAPatch(t *testing.T) {
	d := newDesk(t, permission.Allow, speaks("fake"), patient)
	d.put("b.foo", "ERROR old\nline\n")
	res, err := d.lsp("diagnostics", map[string]any{"filePath": "b.foo"})
	wantOutput(t, res, err, "ERROR old")
	d.mustRead("b.foo")
	res, err = d.patch("*** Begin Patch\n*** Add File: a.foo\n+ERROR a\n*** Add File: c.foo\n+fine\n*** Update File: b.foo\n@@\n ERROR old\n-line\n+ERROR b\n*** End Patch")
	d.tells(res, err, "LSP errors detected in a.foo, please fix:\n<diagnostics file=\"a.foo\">\nERROR [1:1] error found: ERROR a\n</diagnostics>\n\n"+
		"LSP errors detected in b.foo, please fix:\n<diagnostics file=\"b.foo\">\nERROR [2:1] error found: ERROR b\nERROR [1:1] error found: ERROR old (there before this change)\n</diagnostics>")
	d.wantFound(res, map[string][]string{"a.foo": {"error found: ERROR a"}, "b.foo": {"error found: ERROR old", "error found: ERROR b"}, "c.foo": {}})
}

// Only errors are told, and twenty of them at the most.
func TestWhichErrorsAreTold(t *testing.T) {
	d := newDesk(t, permission.Allow, speaks("fake"), patient)
	res, err := d.write("a.foo", "VAGUE\nWARN\nINFO\nHINT\n")
	d.tells(res, err, "")
	d.wantFound(res, map[string][]string{"a.foo": {"vague found: VAGUE", "warn found: WARN", "info found: INFO", "hint found: HINT"}})

	res, err = d.write("b.foo", strings.Repeat("ERROR\n", 23))
	wantOutput(t, res, err, "ERROR [20:1] error found: ERROR\n... and 3 more\n</diagnostics>")
	if strings.Contains(res.Output, "ERROR [21:1]") || len(d.found(res)["b.foo"]) != 23 {
		t.Errorf("it says\n%s", res.Output)
	}
}

// A server that has failed is not one that is still at work.
func TestServersThatCanNotCheck(t *testing.T) {
	t.Parallel()
	d := newDesk(t, permission.Allow, speaks("crash", "--die", "start"), speaks("slow", "--never", "textDocument/publishDiagnostics"),
		func(o *helve.Options) { o.LSP.Wait = 4 * time.Second })
	res, err := d.write("a.foo", "fine\n")
	wantOutput(t, res, err, "crash could not check this file: ", "'helve lsp log crash' shows more.",
		"Diagnostics are pending; the change was made. What is found is told with a later change.\nslow: ")
	if strings.Contains(res.Output, "\ncrash: ") || encoded(res.Metadata["pending"]) != `["slow"]` {
		t.Errorf("it says %s, pending %s", res.Output, encoded(res.Metadata["pending"]))
	}
}
