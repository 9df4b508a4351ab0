//go:build unix && !race

package custom_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// runBun runs the steps in Bun, which finds zod and a package of tool() in the config folder.
func (p *planted) runBun(t *testing.T, bun string) []corpusAnswer {
	t.Helper()
	modules := filepath.Join(p.config, "node_modules")
	plugin := filepath.Join(modules, "@opencode-ai", "plugin")
	writeCorpusFile(t, filepath.Join(plugin, "package.json"), []byte(`{"name":"@opencode-ai/plugin","type":"module","exports":{".":"./index.js","./tool":"./index.js"}}`))
	writeCorpusFile(t, filepath.Join(plugin, "index.js"), []byte("import { z } from \"zod\";\nexport const tool = (definition) => definition;\ntool.schema = z;\n"))
	if err := os.Symlink(filepath.Join(filepath.Dir(filepath.Dir(bun)), "zod"), filepath.Join(modules, "zod")); err != nil {
		t.Fatal(err)
	}
	driver, err := os.ReadFile(corpusFile("bun.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	program, task, out := filepath.Join(modules, "bun.mjs"), filepath.Join(p.base, "task.json"), filepath.Join(p.base, "out.json")
	writeCorpusFile(t, program, driver)
	text, err := json.Marshal(map[string]any{
		"config": p.config, "file": p.name, "steps": p.steps, "project": p.project, "out": out,
		"client": readCorpus[map[string]json.RawMessage](t, corpusFile("client.json")),
	})
	if err != nil {
		t.Fatal(err)
	}
	writeCorpusFile(t, task, text)
	command := exec.CommandContext(t.Context(), bun, "run", "--no-install", program, task)
	command.Dir = p.project
	if said, err := command.CombinedOutput(); err != nil {
		t.Fatalf("bun: %v\n%s", err, said)
	}
	answers := readCorpus[[]corpusAnswer](t, out)
	if len(answers) != len(p.steps)+1 {
		t.Fatalf("%d answers for %d steps", len(answers), len(p.steps))
	}
	return answers
}

// corpusServer answers on the loopback what the files fetch.
func corpusServer(t *testing.T) string {
	t.Helper()
	over := make(chan struct{})
	mux := http.NewServeMux()
	for path, status := range map[string]int{"/ok": 200, "/made": 201, "/missing": 404, "/teapot": 418, "/broken": 500} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.WriteHeader(status)
			fmt.Fprintf(w, "status %d", status)
		})
	}
	mux.HandleFunc("/items", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Total", "2")
		fmt.Fprintf(w, `{"items":[{"id":1,"name":"widget"},{"id":2,"name":"gädget"}],"query":%q}`, r.URL.Query().Get("q"))
	})
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{"method": r.Method, "body": string(body), "type": r.Header.Get("Content-Type"), "auth": r.Header.Get("Authorization")})
	})
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<html><head><title>Widgets &amp; more</title></head><body><a href="/ok">ok</a> <a href='/missing'>gone</a></body></html>`)
	})
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/ok", http.StatusFound) })
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-over:
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		close(over)
		server.Close()
	})
	return server.URL
}
