package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What differs is written, what is not written any more is removed, and what was
// written by hand stays.
func TestWrite(t *testing.T) {
	root := t.TempDir()
	put := func(name, text string) {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	put("client/client.go", "by hand")
	put("client/old_gen.go", "old")
	files := map[string][]byte{"client/a_gen.go": []byte("a"), "docs/b.json": []byte("b")}
	want := []string{"client/old_gen.go", "client/a_gen.go", "docs/b.json"}
	if changed, err := write(root, files); err != nil || !slices.Equal(changed, want) {
		t.Errorf("wrote %q: %v", changed, err)
	}
	if changed, err := write(root, files); err != nil || len(changed) > 0 {
		t.Errorf("wrote %q again: %v", changed, err)
	}
	if list, err := os.ReadDir(filepath.Join(root, "client")); err != nil || len(list) != 2 {
		t.Errorf("there are %v: %v", list, err)
	}
}

// TestCurrent holds the files of this repository to the server.
func TestCurrent(t *testing.T) {
	doc, err := served()
	if err != nil {
		t.Fatal(err)
	}
	files, err := generate(doc)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if have, err := os.ReadFile(filepath.Join("..", "..", name)); err != nil || !bytes.Equal(have, want) {
			t.Errorf("%s is not up to date: run make api: %v", name, err)
		}
	}
}

func TestBadDocuments(t *testing.T) {
	for name, c := range map[string]struct{ doc, want string }{
		"no JSON":         {`{`, "the document"},
		"odd type":        {`{"components":{"schemas":{"A":{"type":7}}}}`, "the document"},
		"odd operation":   {`{"paths":{"/v1/a":{"get":7}}}`, "the document"},
		"no name":         {`{"paths":{"/v1/a":{"get":{}}}}`, "no operationId"},
		"dangling":        {`{"paths":{"/v1/a":{"get":{"operationId":"a","responses":{"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/No"}}}}}}}}}`, "leads nowhere"},
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
