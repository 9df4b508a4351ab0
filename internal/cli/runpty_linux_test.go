package cli_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helve-dev/helve/internal/modeltest"
)

// taskBench is a bench for a person at a terminal, with a model that wants to
// see a file that has to be asked for. They have a home of their own, so the
// model is one of the folder, which is trusted.
func taskBench(t *testing.T) (b *bench, places []string) {
	t.Helper()
	b = newBench(t, "anthropic", `{}`)
	b.server.Script("look", modeltest.Reply{Text: "I look\x1b[2J.", Calls: []modeltest.Call{{Name: "read", Args: `{"filePath":".env"}`}}}, modeltest.Reply{Text: "It is done."})
	b.write(filepath.Join(b.dir, ".env"), "SECRET=1\n")
	b.write(filepath.Join(b.dir, "helve.json"), fmt.Sprintf(`{"model": "local/m", "provider": {"local": {
		"npm": "@ai-sdk/anthropic", "options": {"baseURL": %q, "apiKey": "none"}, "models": {"m": {"limit": {"context": 100000, "output": 4000}}}}}}`, b.server.URL()))
	places = []string{"--dir", b.dir, "--data-dir", filepath.Join(b.home, "data")}
	if out, errs, code := b.run(append([]string{"trust", "--yes"}, places...)...); code != 0 {
		t.Fatalf("exit code %d: %s%s", code, out, errs)
	}
	return b, places
}

func sitAtTask(t *testing.T, args ...string) *console {
	t.Helper()
	_, places := taskBench(t)
	return sitDown(t, slices.Concat([]string{"run"}, places, []string{"look"}, args)...)
}

func TestTerminalRun(t *testing.T) {
	t.Parallel()
	c := sitAtTask(t)
	c.sees(`I look\x1b[2J.`)
	c.sees("Permission needed: read (tool read, agent build)")
	c.sees("[f]eedback: ")
	c.types("o\r")
	c.sees("It is done.")
	if code := c.leaves(); code != 0 || strings.Contains(c.seen, "\x1b[2J") {
		t.Errorf("exit code %d:\n%q", code, c.seen)
	}
}

func TestTerminalRunRejected(t *testing.T) {
	t.Parallel()
	c := sitAtTask(t)
	c.sees("[f]eedback: ")
	c.types("r\r")
	if code := c.leaves(); code != 3 || !strings.Contains(c.seen, "you said no") {
		t.Errorf("exit code %d:\n%s", code, c.seen)
	}
}

func TestTerminalRunInterrupted(t *testing.T) {
	t.Parallel()
	c := sitAtTask(t)
	c.sees("[f]eedback: ")
	c.types("\x03") // Ctrl-C
	if code := c.leaves(); code != 130 || !strings.Contains(c.seen, "helve sessions resume ses_") {
		t.Errorf("exit code %d:\n%s", code, c.seen)
	}
}

func TestTerminalRunNoInput(t *testing.T) {
	t.Parallel()
	c := sitAtTask(t, "--no-input", "--strict")
	if code := c.leaves(); code != 4 || !strings.Contains(c.seen, "1 call was refused because there was nobody to ask") {
		t.Errorf("exit code %d:\n%s", code, c.seen)
	}
}

// What broke off goes on at once.
func TestTerminalResumeBroken(t *testing.T) {
	t.Parallel()
	b, places := taskBench(t)
	if out, errs, code := b.run(append([]string{"run", "--max-steps", "1", "look"}, places...)...); code != 6 {
		t.Fatalf("exit code %d: %s%s", code, out, errs)
	}
	c := sitDown(t, append([]string{"sessions", "resume", "--last"}, places...)...)
	c.sees("It is done.")
	c.sees("build> ")
	c.types("\x04")
	if code := c.leaves(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, c.seen)
	}
}

// Without a prompt, a session is gone on with by talking.
func TestTerminalResume(t *testing.T) {
	t.Parallel()
	b, places := taskBench(t)
	if out, errs, code := b.run(append([]string{"run", "look"}, places...)...); code != 0 {
		t.Fatalf("exit code %d: %s%s", code, out, errs)
	}
	c := sitDown(t, append([]string{"sessions", "resume", "--last"}, places...)...)
	c.sees("It is done.")
	c.sees("Ctrl-D leaves")
	c.sees("Nothing had broken off")
	c.sees("build> ")
	c.types("\x04")
	if code := c.leaves(); code != 0 || !strings.Contains(c.seen, "helve sessions resume ses_") {
		t.Errorf("exit code %d:\n%s", code, c.seen)
	}
}

// Asked nothing, the command says what runs here and how to open it.
func TestTerminalWhatRuns(t *testing.T) {
	t.Parallel()
	s := serve(t, "--addr", "127.0.0.1:0")
	c := sitDown(t, "--dir", s.Directory, "--data-dir", filepath.Dir(s.TokenFile))
	c.sees("A server runs for this folder: " + s.URL)
	c.sees("helve open")
	if code := c.leaves(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, c.seen)
	}
	c = sitDown(t)
	c.sees("No server runs for this folder.")
	c.sees("helve serve --open")
	if code := c.leaves(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, c.seen)
	}
}
