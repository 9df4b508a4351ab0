package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write golden files anew")

// small is what comes of a document that has one of everything.
func small(t *testing.T) map[string][]byte {
	t.Helper()
	doc, err := os.ReadFile("testdata/small.json")
	if err != nil {
		t.Fatal(err)
	}
	files, err := generate(doc)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestGolden(t *testing.T) {
	files := small(t)
	var got bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text := files[name]
		if strings.HasSuffix(name, ".ts") { // what is always the same is not repeated
			_, text, _ = bytes.Cut(text, []byte("\n\n"))
			text, _, _ = bytes.Cut(text, []byte("/** What may be said with every request."))
			_, methods, _ := bytes.Cut(files[name], []byte("globalThis);\n  }\n"))
			methods, _, _ = bytes.Cut(methods, []byte("  /** Makes a call from beginning"))
			text = append(append([]byte(nil), text...), methods...)
		}
		if strings.HasSuffix(name, ".json") {
			continue
		}
		fmt.Fprintf(&got, "-- %s --\n%s", name, text)
	}
	const golden = "testdata/small.txtar"
	text := got.Bytes()
	if *update {
		if err := os.WriteFile(golden, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, want) {
		t.Errorf("what is written has changed; if that is meant: go test -C lab ./api-gen -update\n%s", text)
	}
}

func TestSameEveryTime(t *testing.T) {
	first := small(t)
	for range 20 {
		for name, text := range small(t) {
			if !bytes.Equal(text, first[name]) {
				t.Fatalf("%s differs from one time to the next", name)
			}
		}
	}
}

func TestWriteAndCheck(t *testing.T) {
	root := t.TempDir()
	files := small(t)
	err := compare(root, files)
	for _, want := range []string{"client/types_gen.go", "examples/typescript/helve.ts", "docs/openapi.json", "run: make api"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("of an empty folder it says %v, without %s", err, want)
		}
	}
	stray := filepath.Join(root, "client", "types_old_gen.go")
	own := filepath.Join(root, "client", "client.go")
	if err := os.MkdirAll(filepath.Dir(stray), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{stray, own} {
		if err := os.WriteFile(path, []byte("package client\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	if err := write(root, files, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "removed client/types_old_gen.go") {
		t.Errorf("it said %q", out.String())
	}
	if _, err := os.Stat(own); err != nil {
		t.Error("a file that was written by hand is gone")
	}
	if err := compare(root, files); err != nil {
		t.Error(err)
	}
	out.Reset()
	if err := write(root, files, &out); err != nil || out.Len() > 0 {
		t.Errorf("the second time it said %q, %v", out.String(), err)
	}
	if err := os.WriteFile(filepath.Join(root, "docs", "openapi.json"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := compare(root, files); err == nil || !strings.Contains(err.Error(), "not up to date: docs/openapi.json\n") {
		t.Errorf("it says %v", err)
	}
}

// TestCurrent holds the files of this repository to the server.
func TestCurrent(t *testing.T) {
	if err := run([]string{"--check", "--root", "../.."}, os.Stdout); err != nil {
		t.Error(err)
	}
}

func TestBadDocuments(t *testing.T) {
	for name, c := range map[string]struct{ doc, want string }{
		"no JSON":         {`{`, "the document"},
		"odd type":        {`{"components":{"schemas":{"A":{"type":7}}}}`, "a type is a name or a list of names"},
		"odd operation":   {`{"paths":{"/v1/a":{"get":7}}}`, "get /v1/a"},
		"no name":         {`{"paths":{"/v1/a":{"get":{}}}}`, "no operationId"},
		"dangling":        {`{"paths":{"/v1/a":{"get":{"operationId":"a","responses":{"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/No"}}}}}}}}}`, "leads nowhere"},
		"one name twice":  {`{"paths":{"/v1/a":{"get":{"operationId":"a"}},"/v1/b":{"get":{"operationId":"A"}}}}`, "would both be called A()"},
		"a name of ours":  {`{"paths":{"/v1/a":{"get":{"operationId":"close"}}}}`, "would both be called Close()"},
		"different forms": {`{"paths":{"/v1/a":{"get":{"operationId":"a","responses":{"200":{"content":{"application/json":{"schema":{"type":"string"}}}},"202":{"content":{"application/json":{"schema":{"type":"integer"}}}}}}}}}`, "several shapes"},
		"nameless event":  {`{"paths":{"/v1/a":{"get":{"operationId":"a","responses":{"200":{"content":{"text/event-stream":{"schema":{"oneOf":[{"properties":{"type":{},"properties":{}}}]}}}}}}}}}`, "no type"},
		"no events":       {`{"paths":{"/v1/a":{"get":{"operationId":"a","responses":{"200":{"content":{"text/event-stream":{}}}}}}}}`, "does not say what it tells"},
		"lost event":      {`{"paths":{"/v1/a":{"get":{"operationId":"a","responses":{"200":{"content":{"text/event-stream":{"schema":{"oneOf":[{"properties":{"type":{"const":"x"},"properties":{"$ref":"#/components/schemas/No"}}}]}}}}}}}}}`, "leads nowhere"},
		"too much":        {`{"paths":{"/v1/{a}/{b}/{c}/{d}":{"get":{"operationId":"a","parameters":[{"name":"a","in":"path"},{"name":"b","in":"path"},{"name":"c","in":"path"},{"name":"d","in":"path"}]}}}}`, "four parameters"},
	} {
		if _, err := generate([]byte(c.doc)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	for _, args := range [][]string{{"what"}, {"--no"}} {
		if err := run(args, io.Discard); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
}

func TestNames(t *testing.T) {
	for in, want := range map[string][2]string{
		"listSessions":  {"ListSessions", "listSessions"},
		"list-sessions": {"ListSessions", "listSessions"},
		"sessionID":     {"SessionID", "sessionID"},
		"id":            {"ID", "id"},
		"url":           {"URL", "url"},
		"getOpenAPI":    {"GetOpenAPI", "getOpenAPI"},
		"MCPStatus":     {"MCPStatus", "mcpStatus"},
		"odd name":      {"OddName", "oddName"},
		"":              {"", ""},
	} {
		if got := [2]string{goName(in), tsName(in)}; got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
