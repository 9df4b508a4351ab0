package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/helve-dev/helve/internal/text"

	"github.com/google/go-cmp/cmp"
)

// running runs a program for real.
func running(ctx context.Context, argv []string, stdin []byte) ([]byte, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return out, fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	return out, err
}

func shell(t *testing.T, script string) SearchOptions {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	return SearchOptions{Provider: "command", Command: []string{sh, "-c", script}, Run: running, Key: testKey}
}

func TestCommandInput(t *testing.T) {
	for _, tt := range []struct {
		q    SearchQuery
		want string
	}{
		{SearchQuery{Text: "a 'b' \"c\"\n<d>"}, `{"query":"a 'b' \"c\"\n<d>","kind":"web","numResults":8,"tokens":0,"maxCharacters":10000}` + "\n"},
		{SearchQuery{Text: "q", Code: true}, `{"query":"q","kind":"code","numResults":8,"tokens":5000,"maxCharacters":20000}` + "\n"},
		{SearchQuery{Text: "q", Code: true, Tokens: 1000, Count: 3, MaxChars: 70}, `{"query":"q","kind":"code","numResults":3,"tokens":1000,"maxCharacters":70}` + "\n"},
		{SearchQuery{Text: "q", Tokens: 1000, MaxChars: 500, Count: 1000}, `{"query":"q","kind":"web","numResults":100,"tokens":0,"maxCharacters":500}` + "\n"},
	} {
		kept := filepath.Join(t.TempDir(), "in")
		if _, err := mustNew(t, shell(t, "cat > '"+kept+"'")).Search(t.Context(), tt.q); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(kept)
		if diff := cmp.Diff(tt.want, string(got)); diff != "" || err != nil {
			t.Error(err, diff)
		}
	}
}

func TestCommandOutput(t *testing.T) {
	const list = `[{"title":"T","url":"https://t.example/","snippet":"s","date":"2026-10-01"},{"title":"U","content":"c"}]`
	const shown = "1. T\n   https://t.example/\n   2026-10-01\n   s\n\n2. U\n   c"
	for name, tt := range map[string][2]string{
		"results":         {`{"results":` + list + `}`, shown},
		"array":           {"\n " + list + "\n", shown},
		"none":            {`{"results":[]}`, ""},
		"empty array":     {"[ ]", ""},
		"nothing":         {"", ""},
		"blank":           {" \n", ""},
		"text":            {"[1] Title\r\n    https://x.example\x1b\n", "[1] Title\n    https://x.example\\x1b"},
		"other object":    {`{"answer":42}`, `{"answer":42}`},
		"other results":   {`{"results":"many"}`, `{"results":"many"}`},
		"other array":     {`["a","b"]`, `["a","b"]`},
		"unknown fields":  {`[{"name":"x"}]`, `[{"name":"x"}]`},
		"some are odd":    {`[7,{"title":"T"},null]`, "1. T"},
		"a link":          {"[Title](https://x.example)", "[Title](https://x.example)"},
		"a box":           {"[ ] to do", "[ ] to do"},
		"not UTF-8":       {"a\xffb", "a\ufffdb"},
		"shows the key":   {"the key is " + testKey + "!", "the key is [redacted]!"},
		"lists the key":   {`[{"title":"sk-5ecret+/\"&<0815"}]`, "1. [redacted]"},
		"too long a text": {strings.Repeat("word ", 4), "word word wo\n\n(Bounded to 12 characters. The end is left out.)"},
	} {
		t.Run(name, func(t *testing.T) {
			printed := filepath.Join(t.TempDir(), "out")
			if err := os.WriteFile(printed, []byte(tt[0]), 0o600); err != nil {
				t.Fatal(err)
			}
			q := SearchQuery{Text: "q"}
			if name == "too long a text" {
				q.MaxChars = 12
			}
			got, err := mustNew(t, shell(t, "cat '"+printed+"'")).Search(t.Context(), q)
			if diff := cmp.Diff(tt[1], got); diff != "" || err != nil {
				t.Error(err, diff)
			}
		})
	}
}

func TestCommandPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	const script = `
import json, sys
q = json.load(sys.stdin)
print(json.dumps({"results": [{"title": f"{q['kind']} {q['query']} {i}", "url": f"https://x.example/{i}"} for i in range(q["numResults"] + 5)]}))
`
	e := mustNew(t, SearchOptions{Provider: "command", Command: []string{python, "-c", script}, Run: running})
	got, err := e.Search(t.Context(), SearchQuery{Text: "é\U0001f600", Count: 2, Code: true})
	want := "1. code é😀 0\n   https://x.example/0\n\n2. code é😀 1\n   https://x.example/1"
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

func TestCommandFails(t *testing.T) {
	_, err := mustNew(t, shell(t, `printf 'no such index \033 %s' 'sk-5ecret+/"&<0815' >&2; exit 3`)).Search(t.Context(), SearchQuery{Text: "q"})
	if e := failure(t, err); e.Code != "command" || e.Message != `Search error: the command sh failed: exit status 3: no such index \x1b [redacted]` {
		t.Errorf("%s %q", e.Code, e.Message)
	}
	_, err = mustNew(t, shell(t, "printf '[{'; head -c 3000000 /dev/zero | tr '\\0' x")).Search(t.Context(), SearchQuery{Text: "q"})
	if e := failure(t, err); e.Code != "command" || e.Message != "Search error: the command sh printed more than 2 MiB" {
		t.Errorf("%s %q", e.Code, e.Message)
	}
	got, err := mustNew(t, shell(t, "head -c 3000000 /dev/zero | tr '\\0' x")).Search(t.Context(), SearchQuery{Text: "q"})
	if want := strings.Repeat("x", 10_000) + "\n\n(Bounded to 10000 characters. The end is left out.)"; got != want || err != nil {
		t.Errorf("a long text became %d bytes, %v", len(got), err)
	}
}

// A program that cannot be started is told in one sentence.
func TestCommandIsNotThere(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are looked for by their extensions")
	}
	file := filepath.Join(t.TempDir(), "none")
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for program, why := range map[string]string{
		"helve-no-such-program": "no program of that name is in PATH", file: "it is not there", plain: "it may not be run",
	} {
		o := SearchOptions{Provider: "command", Command: []string{program}, Section: "codesearch", Run: func(ctx context.Context, argv []string, stdin []byte) ([]byte, error) {
			out, err := running(ctx, argv, stdin)
			if err != nil {
				err = fmt.Errorf("starting %s: start %s: %w", argv[0], argv[0], err)
			}
			return out, err
		}}
		_, err := mustNew(t, o).Search(t.Context(), SearchQuery{Text: "q", Code: true})
		want := "Code search error: the command " + program + " can not be started: " + why + "\nSee codesearch.command in the config."
		if e := failure(t, err); e.Code != "command" || e.Message != want {
			t.Errorf("%s %q", e.Code, e.Message)
		}
	}
}

// JSON that is broken is a mistake of the program, and no answer.
func TestCommandPrintsBrokenJSON(t *testing.T) {
	for printed, want := range map[string]string{
		`{"results":[`:                "line 1, column 13: unexpected end of JSON input",
		"\ufeff\n {\n  \"é\": x}\n":   "line 3, column 8: invalid character 'x' looking for beginning of value",
		`[{"title":"T"},]`:            "line 1, column 16: invalid character ']' looking for beginning of value",
		`{'results': []}`:             `line 1, column 2: invalid character '\'' looking for beginning of object key string`,
		"[\n":                         "line 1, column 2: unexpected end of JSON input",
		"[{\"title\":\"T\"}]\nmore\n": "line 2, column 1: invalid character 'm' after top-level value",
	} {
		got, err := (&command{argv: []string{"/bin/finds"}, section: "websearch"}).read([]byte(printed), SearchQuery{}.withDefaults())
		var f *rawSearchError
		if !errors.As(err, &f) || got != "" || f.code != "command" || f.text != "the command finds printed broken JSON: "+want || f.hint != "See websearch.command in the config." {
			t.Errorf("%q: %q, %+v", printed, got, f)
		}
	}
}

func TestCommandEnds(t *testing.T) {
	o := shell(t, "exec sleep 1000")
	o.Timeout = 50 * time.Millisecond
	_, err := mustNew(t, o).Search(t.Context(), SearchQuery{Text: "q"})
	if e := failure(t, err); e.Message != "Search request timed out after 0.05 seconds; websearch.timeout_ms in the config allows more" || e.Code != "timeout" {
		t.Errorf("%s %q", e.Code, e.Message)
	}
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	o.Timeout = 0
	o.Run = func(ctx context.Context, argv []string, stdin []byte) ([]byte, error) {
		cancel(reason)
		return running(ctx, argv, stdin)
	}
	if _, err := mustNew(t, o).Search(ctx, SearchQuery{Text: "q"}); err != reason {
		t.Errorf("a cancelled search: %v", err)
	}
}

// Whatever a program prints, what is shown of it is bounded and harmless.
func FuzzPrinted(f *testing.F) {
	f.Add([]byte(`{"results":[{"title":"T","url":"https://t.example/","snippet":"s"}]}`), 100)
	f.Add([]byte(`[{"title":"T","content":"a\u001bb"},7]`), 10)
	f.Add([]byte("[1] any text\r\n\x1b[31m"), 5)
	f.Fuzz(func(t *testing.T, out []byte, most int) {
		q := SearchQuery{MaxChars: most % 5000}.withDefaults()
		got, err := (&command{argv: []string{"x"}}).read(out, q)
		body, _, _ := strings.Cut(got, "\n\n(Bounded to ")
		var broken *rawSearchError
		if errors.As(err, &broken) && got == "" && !json.Valid(out) {
			return
		}
		if err != nil || text.HasHidden(got) || utf8.RuneCountInString(body) > q.chars() {
			t.Fatalf("%q is shown as %q, %v", out, got, err)
		}
	})
}
