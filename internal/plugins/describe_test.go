package plugins

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestFiles(t *testing.T) {
	p := newTestProject(t)
	var want []string
	for _, f := range []struct {
		name string
		mode os.FileMode
		is   bool
	}{
		{"tool/a.py", 0o755, true}, {"tools/b", 0o755, true}, {"tools/c.sh", 0o700, true}, {"tools/a.tool.json", 0o755, false},
		{"tools/x.ts", 0o755, false}, {"tools/x.JS", 0o755, false}, {"tools/x.d.ts", 0o755, false}, {"tools/x.mjs", 0o755, false},
		{"tools/notes.md", 0o755, false}, {"tools/.hidden", 0o755, false}, {"tools/c.sh~", 0o755, false}, {"tools/plain.py", 0o644, false},
		{"tools/deeper/d", 0o755, false}, {"plugin/e", 0o755, false},
	} {
		name := p.file(t, f.name, "", f.mode)
		if f.is {
			want = append(want, name)
		}
	}
	if err := os.Symlink(want[0], filepath.Join(p.config, "tools", "z-link")); err != nil {
		t.Fatal(err)
	}
	want = append(want, filepath.Join(p.config, "tools", "z-link"))
	if diff := cmp.Diff(want, ProgramFiles(p.config)); diff != "" {
		t.Error(diff)
	}
	if got := ProgramFiles(filepath.Join(p.dir, "none")); got != nil {
		t.Errorf("got %q", got)
	}
}

func TestSleeping(t *testing.T) {
	p := newTestProject(t)
	var want []string
	for _, f := range []struct {
		name, code string
		mode       os.FileMode
		is         bool
	}{
		{"tool/loc.py", "print()", 0o644, true}, {"tool/loc.test.json", "[]", 0o644, false}, {"tools/a.SH", "", 0o600, true}, {"tools/b", "#!/bin/sh\n", 0o644, true},
		{"tools/described", "\x7fELF", 0o644, true}, {"tools/described.tool.json", "{}", 0o644, false},
		{"tools/awake.py", "", 0o755, false}, {"tools/data.csv", "#,!", 0o644, false}, {"tools/notes.txt", "#!/bin/sh\n", 0o644, false},
		{"tools/x.ts", "#!/usr/bin/env bun\n", 0o644, false}, {"tools/.hidden.py", "", 0o644, false}, {"tools/_shared.py", "", 0o644, false},
		{"tools/deeper/d.py", "", 0o644, false}, {"plugin/e.py", "", 0o644, false},
	} {
		name := p.file(t, f.name, f.code, f.mode)
		if f.is {
			want = append(want, name)
		}
	}
	if diff := cmp.Diff(want, NotExecutable(p.config)); diff != "" {
		t.Error(diff)
	}
	if got := NotExecutable(filepath.Join(p.dir, "none")); got != nil {
		t.Errorf("got %q", got)
	}
}

func TestRead(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)
	for _, c := range []struct {
		name, said string
		want       []ProgramTool
		fails      string
	}{
		{
			name: "one", said: fmt.Sprintf(`{"description": "Adds.", "parameters": %s, "timeout": 1500, "name": "other", "more": 1}`, schema),
			want: []ProgramTool{{ID: "x", Description: "Adds.", Schema: schema, Timeout: 1500 * time.Millisecond, File: "/t/x.py", Hash: "h"}},
		},
		{
			name: "no parameters", said: ` {"description": "Adds."}` + "\n",
			want: []ProgramTool{{ID: "x", Description: "Adds.", Schema: json.RawMessage(`{"type":"object","properties":{}}`), Timeout: callTime, File: "/t/x.py", Hash: "h"}},
		},
		{
			name: "several, one of them bad",
			said: fmt.Sprintf(`{"timeout": 1000, "tools": [{"description": "A.", "parameters": %[1]s}, {"name": "b", "description": "B.", "parameters": %[1]s, "timeout": 7}, {"name": "c"}]}`, schema),
			want: []ProgramTool{
				{ID: "x", Description: "A.", Schema: schema, Timeout: time.Second, File: "/t/x.py", Hash: "h"},
				{ID: "x_b", Name: "b", Description: "B.", Schema: schema, Timeout: 7 * time.Millisecond, File: "/t/x.py", Hash: "h"},
			},
			fails: `tools[2]: it has no "description", which tells a model what the tool does`,
		},
		{name: "twice", said: `{"tools": [{"name": "b", "description": "B."}, {"name": "b", "description": "C."}]}`, want: []ProgramTool{
			{ID: "x_b", Name: "b", Description: "B.", Schema: json.RawMessage(`{"type":"object","properties":{}}`), Timeout: callTime, File: "/t/x.py", Hash: "h"},
		}, fails: "tools[1]: there is another tool x_b"},
		{name: "hidden characters", said: `{"description": "A\u202eB"}`, want: []ProgramTool{
			{ID: "x", Description: `A\u{202e}B`, Schema: json.RawMessage(`{"type":"object","properties":{}}`), Timeout: callTime, File: "/t/x.py", Hash: "h"},
		}},
		{name: "slips", said: `{"description": "A.", "timout": 5, "Parameters": {}, "more": 1}`, want: []ProgramTool{
			{ID: "x", Description: "A.", Schema: json.RawMessage(`{"type":"object","properties":{}}`), Timeout: callTime, File: "/t/x.py", Hash: "h"},
		}, fails: `it has the key "Parameters", which means nothing here; "parameters" may be meant` + "\n" + `it has the key "timout", which means nothing here; "timeout" may be meant`},
		{name: "the words of others", said: `{"tools": [{"name": "b", "description": "B.", "inputSchema": {}}]}`, want: []ProgramTool{
			{ID: "x_b", Name: "b", Description: "B.", Schema: json.RawMessage(`{"type":"object","properties":{}}`), Timeout: callTime, File: "/t/x.py", Hash: "h"},
		}, fails: `tools[0]: it has the key "inputSchema", which means nothing here; "parameters" may be meant`},
		{name: "a key twice", said: `{"description": "A.", "descr\u0069ption": "B."}`, fails: `it has the key "description" twice`},
		{name: "none", said: `{"tools": []}`, fails: "it describes 0 tools, and 1 to 128 are what one program may have"},
		{name: "very many", said: `{"tools": [` + strings.Repeat(`{},`, 9_999) + `{}]}`, fails: "it describes 10000 tools, and 1 to 128 are what one program may have"},
		{name: "tools in tools", said: `{"tools": [{"tools": []}]}`, fails: `tools[0]: it has "tools" within "tools"`},
		{name: "no name a model can call", said: `{"tools": [{"name": "ä b", "description": "B."}]}`, fails: `tools[0]: the name "x_ä b" has other characters than letters, digits, _ and -`},
		{name: "no JSON", said: `usage: x [-h]`, fails: "it is no JSON object, but begins with usage: x [-h]"},
		{name: "half", said: `{"description"`, fails: "it is no JSON: unexpected end of JSON input"},
		{name: "more than one", said: `{"description": "A."} {}`, fails: "it is no JSON: invalid character '{' after top-level value"},
		{name: "no UTF-8", said: "{\"description\": \"\xff\"}", fails: "it is not UTF-8, and a JSON object is wanted"},
		{name: "nothing", said: " \n", fails: "it is empty, and a JSON object is wanted"},
		{name: "no description", said: `{"description": " "}`, fails: `it has no "description", which tells a model what the tool does`},
		{name: "another case", said: `{"Description": "A."}`, fails: `it has no "description", which tells a model what the tool does`},
		{name: "a long description", said: `{"description": "` + strings.Repeat("x", 20_000) + `"}`, fails: `its "description" has 20000 bytes, and 16384 are the most`},
		{name: "a description that is none", said: `{"description": ["A."]}`, fails: `its "description" is a list, and a text is wanted`},
		{name: "parameters that are none", said: `{"description": "A.", "parameters": "n"}`, fails: `its "parameters" are not an object, and so no JSON Schema of arguments`},
		{name: "a bad schema", said: `{"description": "A.", "parameters": {"type": 5}}`, fails: `its "parameters" are no JSON Schema: `},
		{name: "a schema of something else", said: `{"description": "A.", "parameters": {"type": "string"}}`, fails: "the schema is not that of an object"},
		{name: "a schema that leads out", said: `{"description": "A.", "parameters": {"properties": {"a": {"$ref": "https://example.com/s"}}}}`, fails: "the schema"},
		{name: "a deep schema", said: `{"description": "A.", "parameters": ` + strings.Repeat(`{"not":`, 300) + "{}" + strings.Repeat("}", 300) + "}", fails: `its "parameters" are nested more than 256 deep`},
		{name: "a large schema", said: `{"description": "A.", "parameters": {"title": "` + strings.Repeat("x", 300_000) + `"}}`, fails: `its "parameters" have 300013 bytes, and 262144 are the most`},
		{name: "a timeout that is none", said: `{"description": "A.", "timeout": "5s"}`, fails: `its "timeout" is a text, and a number is wanted`},
		{name: "a timeout before now", said: `{"description": "A.", "timeout": -1}`, fails: `its "timeout" is not from 1 to 86400000 milliseconds`},
		{name: "a timeout after all", said: `{"description": "A.", "timeout": 1e300}`, fails: `its "timeout" is not from 1 to 86400000 milliseconds`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := read([]byte(c.said), "/t/x.py", "h")
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if c.fails == "" && err != nil || c.fails != "" && (err == nil || !strings.HasPrefix(err.Error(), c.fails)) {
				t.Errorf("got the error %v", err)
			}
		})
	}
}

// describer is a script that describes itself and counts how often.
const describer = `#!/bin/sh
echo x >> "$HELVE_DIRECTORY/asked"
echo "{\"description\": \"$1 for $HELVE_TOOL\"}"
`

// asked is how often a describer was asked.
func (p *testProject) asked(t *testing.T) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, "asked"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(data), "x")
}

// A program is asked once what it is, and again when it has changed.
func TestDescribeOnce(t *testing.T) {
	p := newTestProject(t)
	file := p.script(t, "count.sh", describer)
	var hashes []string
	describe := func(want string) {
		t.Helper()
		all, err := p.Describe(t.Context(), file)
		if err != nil || len(all) != 1 || all[0].Description != want || all[0].File != file {
			t.Fatalf("got %+v, %v", all, err)
		}
		hashes = append(hashes, all[0].Hash)
	}
	describe("describe for count")
	describe("describe for count")
	if n := p.asked(t); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
	p.script(t, "count.sh", describer+"# changed\n")
	describe("describe for count")
	if n := p.asked(t); n != 2 {
		t.Errorf("it was asked %d times", n)
	}
	p.file(t, "tools/count.tool.json", `{"description": "less near"}`, 0o644)
	describe("less near")
	p.file(t, "tools/count.sh.tool.json", `{"description": "nearest"}`, 0o644)
	describe("nearest")
	if n := p.asked(t); n != 2 {
		t.Errorf("it was asked %d times, though what it is stands beside it", n)
	}
	if hashes[0] != hashes[1] || hashes[1] == hashes[2] || hashes[2] == hashes[3] || hashes[3] == hashes[4] {
		t.Errorf("the hashes are %q", hashes)
	}
	p.file(t, "tools/count.sh.tool.json", `{"description": 5}`, 0o644)
	if _, err := p.Describe(t.Context(), file); err == nil || err.Error() != file+`: count.sh.tool.json: its "description" is a number, and a text is wanted` {
		t.Errorf("got %v", err)
	}
}

// A slip that does no harm is told each time, and the program is asked once.
func TestDescribeSlip(t *testing.T) {
	p := newTestProject(t)
	file := p.script(t, "slip.sh", "#!/bin/sh\necho x >> \"$HELVE_DIRECTORY/asked\"\necho '{\"description\": \"A.\", \"timout\": 5}'\n")
	for range 2 {
		all, err := p.Describe(t.Context(), file)
		if len(all) != 1 || err == nil || err.Error() != file+`: describe: it has the key "timout", which means nothing here; "timeout" may be meant` {
			t.Errorf("got %+v, %v", all, err)
		}
	}
	if n := p.asked(t); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
}

// A cache that lost what it held, or that cannot be used, costs a question.
func TestDescribeWithoutCache(t *testing.T) {
	p := newTestProject(t)
	file := p.script(t, "count.sh", describer)
	p.opt.Cache = filepath.Join(file, "nothing can be here")
	for range 2 {
		if all, err := p.Describe(t.Context(), file); err != nil || len(all) != 1 {
			t.Fatal(err)
		}
	}
	if n := p.asked(t); n != 2 {
		t.Errorf("it was asked %d times", n)
	}
}

func TestCacheIsPruned(t *testing.T) {
	r := NewPrograms(Services{Cache: t.TempDir()})
	for i := range maxKept + 20 {
		r.keep(fmt.Sprintf("%04d", i), []byte("{}"))
	}
	entries, err := os.ReadDir(r.opt.Cache)
	if err != nil || len(entries) != maxKept {
		t.Errorf("%d files are kept, %v", len(entries), err)
	}
	if _, ok := r.recall(fmt.Sprintf("%04d", maxKept+19)); !ok {
		t.Error("the newest is gone")
	}
}

// Each way to fail has words of its own.
func TestDescribeFails(t *testing.T) {
	p := newTestProject(t)
	for _, c := range []struct{ name, code, want string }{
		{"silent", "#!/bin/sh\n", "'describe' printed nothing; have it print its description, or write that to silent.tool.json"},
		{"fails", "#!/bin/sh\necho no such command: $1 >&2\nexit 4\n", "'describe' ended with code 4: no such command: describe; have it print"},
		{"usage", "#!/bin/sh\necho usage: x\n", "describe: it is no JSON object, but begins with usage: x"},
		{"endless", "#!/bin/sh\nexec yes\n", "'describe' printed more than 1048576 bytes; have it print"},
		{"dies", "#!/bin/sh\nkill -SEGV $$\n", "'describe' was ended by the signal SIGSEGV; have it print"},
		{"nolang", "#!/no/such/interpreter -x\n", "could not be started: what its first line names is not installed (/no/such/interpreter -x)."},
		{"envless", "#!/usr/bin/env no-such-language\nx\n", "could not be started: what its first line names is not installed (/usr/bin/env no-such-language). Install it or change that line."},
		{"envcrlf", "#!/usr/bin/env no-such-language\r\nx\r\n", "could not be started: its first line ends with a carriage return."},
		{"env126", "#!/usr/bin/env sh\necho 'env: what the sh wants' >&2\necho sh >&2\nexit 126\n", "'describe' ended with code 126: "},
		{"envless2", "#!/usr/bin/env sh\nenv no-such-command\n", "'describe' ended with code 127: env: "},
		{"crlf", "#!/bin/sh\r\necho\r\n", "could not be started: its first line ends with a carriage return."},
		{"noline", "echo hello\n", "could not be started: it is neither a program of this kind of machine nor"},
		{"escapes", "#!/bin/sh\nprintf '\\033[2J' >&2; exit 1\n", `'describe' ended with code 1: \x1b[2J;`},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := p.script(t, c.name, c.code)
			_, err := p.Describe(t.Context(), file)
			if err == nil || !strings.HasPrefix(err.Error(), file) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v", err)
			}
			if n := strings.Count(err.Error(), "/tools/"+c.name); n != 1 {
				t.Errorf("the file is named %d times: %v", n, err)
			}
		})
	}
	p.patience = 50 * time.Millisecond
	if _, err := p.Describe(t.Context(), p.script(t, "sleeps", "#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 1; done\n")); err == nil || !strings.Contains(err.Error(), "'describe' took longer than 50ms; have it print") {
		t.Errorf("got %v", err)
	}
	plain := p.file(t, "tools/plain.py", "", 0o644)
	if _, err := p.Describe(t.Context(), plain); err == nil || !strings.Contains(err.Error(), "chmod +x") {
		t.Errorf("got %v", err)
	}
}
