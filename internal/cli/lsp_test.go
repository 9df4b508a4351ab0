package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/helve-dev/helve/internal/cli"
	"github.com/helve-dev/helve/internal/lspclient"
	"github.com/helve-dev/helve/internal/lspclient/lsptest"
	"github.com/helve-dev/helve/lsp"
)

// A tray is a folder with a language server for its files, and a home.
type tray struct{ dir, data, home, config string }

func newTray(t *testing.T, flags ...string) tray {
	t.Helper()
	command, err := json.Marshal(lsptest.Command(flags...))
	if err != nil {
		t.Fatal(err)
	}
	return tray{
		dir: t.TempDir(), data: t.TempDir(), home: t.TempDir(),
		config: `{"lsp": {"fake": {"command": ` + string(command) + `, "extensions": [".foo"]}}}`,
	}
}

func (r tray) env(in io.Reader, out io.Writer, args ...string) cli.Env {
	return cli.Env{
		Args: args, Stdin: in, Stdout: out, Stderr: io.Discard, Dir: r.dir,
		Getenv: func(name string) string {
			return map[string]string{"HOME": r.home, "HELVE_DATA_DIR": r.data, "HELVE_CONFIG_CONTENT": r.config}[name]
		},
	}
}

// lists is what helve lsp --json says was started.
func (r tray) lists(t *testing.T) []lsp.Status {
	t.Helper()
	var out bytes.Buffer
	if code := cli.Main(t.Context(), r.env(strings.NewReader(""), &out, "lsp", "--json")); code != 0 {
		t.Fatalf("helve lsp ended with %d", code)
	}
	var report struct{ Started []lsp.Status }
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	return report.Started
}

// What one process runs another one sees, as long as it lives.
func TestServersOfAnotherProcess(t *testing.T) {
	r := newTray(t)
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	code := make(chan int, 1)
	go func() {
		code <- cli.Main(ctx, r.env(inR, outW, "call", "--jsonl"))
		outW.Close()
	}()
	go io.WriteString(inW, `{"id": "1", "tool": "write", "args": {"filePath": "a.foo", "content": "fine\n"}}`+"\n")
	dec := json.NewDecoder(outR)
	for answered := false; !answered; {
		var line struct{ ID string }
		if err := dec.Decode(&line); err != nil {
			t.Fatal(err)
		}
		answered = line.ID == "1"
	}
	running := r.lists(t)
	for len(running) == 1 && running[0].State == "starting" && t.Context().Err() == nil { // it is told a little later
		running = r.lists(t)
	}
	if len(running) != 1 || running[0].ID != "fake" || running[0].State != "connected" || running[0].Root != r.dir || running[0].PID == 0 ||
		running[0].Owner != os.Getpid() {
		t.Errorf("got %+v", running)
	}
	var out bytes.Buffer
	cli.Main(t.Context(), r.env(strings.NewReader(""), &out, "lsp"))
	if got := out.String(); !strings.HasPrefix(got, "Started:\n  fake  connected  pid ") || !strings.Contains(got, ", since ") {
		t.Errorf("got %s", got)
	}
	out.Reset()
	cli.Main(t.Context(), r.env(strings.NewReader(""), &out, "doctor"))
	if got := out.String(); !strings.Contains(got, "language servers are on, ") || !strings.Contains(got, "running: fake; ") {
		t.Errorf("got %s", got)
	}
	inW.Close()
	if _, err := io.Copy(io.Discard, io.MultiReader(dec.Buffered(), outR)); err != nil {
		t.Error(err)
	}
	if got := <-code; got != 0 {
		t.Errorf("it ended with %d", got)
	}
	if running := r.lists(t); len(running) != 0 {
		t.Errorf("afterwards there are %+v", running)
	}
}

// Who gives up waiting is not told that all is well, and nothing stays behind.
func TestCheckCancelled(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	r := newTray(t, "--never", "textDocument/publishDiagnostics", "--log", log)
	if err := os.WriteFile(filepath.Join(r.dir, "a.foo"), []byte("ERROR\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	code := make(chan int, 1)
	go func() {
		code <- cli.Main(ctx, r.env(strings.NewReader(""), io.Discard, "lsp", "check", "a.foo"))
	}()
	await(t, log, "textDocument/didOpen")
	cancel()
	if got := <-code; got != 130 {
		t.Errorf("it ended with %d", got)
	}
}

// A message of several lines is shown as such; what a program itself prints as
// \n stays that.
func TestLogOfSeveralLines(t *testing.T) {
	r := newTray(t)
	dir := filepath.Join(r.data, "lsp-logs")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	log := `2026-01-02T03:04:05.000Z log: [error] one: two\nthree\n` + "\n" +
		`2026-01-02T03:04:05.001Z stderr: log: C:\new` + "\n" +
		`2026-01-02T03:04:05.002Z helve: over\nout` + "\n"
	want := "2026-01-02T03:04:05.000Z log: [error] one: two\n    three\n" +
		"2026-01-02T03:04:05.001Z stderr: log: C:\\new\n" +
		"2026-01-02T03:04:05.002Z helve: over\n    out\n"
	if err := os.WriteFile(filepath.Join(dir, "fake.log"), []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if code := cli.Main(t.Context(), r.env(strings.NewReader(""), &out, "lsp", "log", "fake")); code != 0 || out.String() != want {
		t.Errorf("it ended with %d and said\n%s", code, out.String())
	}
}

// A server that keeps failing is told by helve lsp and helve doctor, with where
// to read more.
func TestFailedServerIsTold(t *testing.T) {
	r := newTray(t, "--die", "start")
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- cli.Main(t.Context(), r.env(inR, outW, "call", "--jsonl"))
		outW.Close()
	}()
	go io.WriteString(inW, `{"id": "1", "tool": "write", "args": {"filePath": "a.foo", "content": "fine\n"}}`+"\n")
	dec := json.NewDecoder(outR)
	for answered := false; !answered; {
		var line struct{ ID string }
		if err := dec.Decode(&line); err != nil {
			t.Fatal(err)
		}
		answered = line.ID == "1"
	}
	for running := r.lists(t); len(running) == 1 && running[0].State == "starting" && t.Context().Err() == nil; {
		running = r.lists(t)
	}
	for _, command := range []string{"lsp", "doctor"} {
		var out bytes.Buffer
		cli.Main(t.Context(), r.env(strings.NewReader(""), &out, command))
		if got := out.String(); !strings.Contains(got, "'helve lsp log fake' has more.") {
			t.Errorf("helve %s says %s", command, got)
		}
	}
	inW.Close()
	if _, err := io.Copy(io.Discard, io.MultiReader(dec.Buffered(), outR)); err != nil {
		t.Error(err)
	}
	if got := <-code; got != 0 {
		t.Errorf("it ended with %d", got)
	}
}

// await waits until a file that another process writes holds a word.
func await(t *testing.T, path, word string) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if data, err := os.ReadFile(path); err == nil && strings.Contains(string(data), word) {
			return
		}
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatalf("%s never came", word)
		}
	}
}

// Whoever reads about language servers finds all that are known.
func TestServersAreTold(t *testing.T) {
	page, err := os.ReadFile("../../docs/language-servers.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range lspclient.Builtin() {
		if !strings.Contains(string(page), "`"+s.Name+"`") {
			t.Errorf("docs/language-servers.md does not name %s", s.Name)
		}
	}
}
