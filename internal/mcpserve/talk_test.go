package mcpserve

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/helve-dev/helve/permission"
)

// A wire is a client that writes and reads lines, and so can be as wrong as it
// likes.
type wire struct {
	t   testing.TB
	in  *io.PipeWriter
	out *bufio.Reader
	end chan error
}

// raw connects such a client.
func (h *house) raw(t testing.TB) *wire {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	w := &wire{t: t, in: fromClient, out: bufio.NewReader(toClient), end: make(chan error, 1)}
	go func() {
		w.end <- h.ServeStdio(context.Background(), toServer, fromServer)
		_ = fromServer.Close()
	}()
	t.Cleanup(func() {
		_ = w.in.Close()
		_, _ = io.Copy(io.Discard, toClient)
	})
	return w
}

func (w *wire) send(line string) {
	w.t.Helper()
	if _, err := io.WriteString(w.in, line+"\n"); err != nil {
		w.t.Fatal(err)
	}
}

func (w *wire) read() string {
	w.t.Helper()
	line, err := w.out.ReadString('\n')
	if err != nil {
		w.t.Fatalf("reading what the server says: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

// greet does the handshake.
func (w *wire) greet(capabilities string) {
	w.t.Helper()
	w.send(`{"jsonrpc":"2.0","id":"hi","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` + capabilities + `,"clientInfo":{"name":"raw","version":"0"}}}`)
	w.read()
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// fits reports where got differs from want. Of an object only the keys that
// want has are looked at; "*" is anything, and "*x*" a text that holds x.
func fits(want, got any, path string) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return path + ": no object"
		}
		for key, v := range w {
			if s, isText := v.(string); isText && s == "-" {
				if _, there := g[key]; there {
					return path + "." + key + ": should not be there"
				}
				continue
			}
			if diff := fits(v, g[key], path+"."+key); diff != "" {
				return diff
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Sprintf("%s: %v is no list of %d", path, got, len(w))
		}
		for i := range w {
			if diff := fits(w[i], g[i], fmt.Sprintf("%s.%d", path, i)); diff != "" {
				return diff
			}
		}
		return ""
	case string:
		if w == "*" && got != nil {
			return ""
		}
		if inner, ok := strings.CutPrefix(w, "*"); ok && strings.HasSuffix(inner, "*") {
			if g, ok := got.(string); ok && strings.Contains(g, strings.TrimSuffix(inner, "*")) {
				return ""
			}
		}
	}
	if want != got {
		return fmt.Sprintf("%s: got %v, want %v", path, got, want)
	}
	return ""
}

// TestTalks plays the conversations in testdata/talk: "> " is what the client
// writes, "< " what the server answers.
func TestTalks(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/talk/*.txtar")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d conversations: %v", len(files), err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			play(t, name)
		})
	}
}

func play(t *testing.T, name string) {
	arch, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	h := build(t, permission.Ruleset{ask("bash", "*"), {Permission: "edit", Pattern: "locked/*", Action: permission.Deny}}, nil, nil)
	talk := ""
	for _, f := range arch.Files {
		if f.Name == "talk" {
			talk = string(f.Data)
			continue
		}
		h.write(t, f.Name, string(f.Data))
	}
	dir, err := json.Marshal(h.dir)
	if err != nil {
		t.Fatal(err)
	}
	talk = strings.ReplaceAll(talk, "$DIR", strings.Trim(string(dir), `"`))
	w := h.raw(t)
	for line := range strings.Lines(talk) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "> "):
			w.send(line[2:])
		case strings.HasPrefix(line, "< "):
			var want, got any
			if err := json.Unmarshal([]byte(line[2:]), &want); err != nil {
				t.Fatalf("%v in %s", err, line)
			}
			answer := w.read()
			if err := json.Unmarshal([]byte(answer), &got); err != nil {
				t.Fatalf("the server writes what is no JSON: %s", answer)
			}
			if diff := fits(want, got, ""); diff != "" {
				t.Fatalf("%s\nin %s\nfor %s", diff, answer, line)
			}
		case line != "" && !strings.HasPrefix(line, "#"):
			t.Fatalf("what is %q?", line)
		}
	}
	_ = w.in.Close()
	if rest, _ := io.ReadAll(w.out); len(rest) > 0 {
		t.Errorf("the server said more: %s", rest)
	}
	if err := <-w.end; err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(h.dir); err != nil {
		t.Error(err)
	}
}
