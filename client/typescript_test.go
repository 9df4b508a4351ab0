package client_test

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/helve-dev/helve/internal/modeltest"
)

// node runs a TypeScript file, as one file of JavaScript, against a house.
func (h *house) node(t *testing.T, file string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node, so the TypeScript client is not run")
	}
	entry := must[string](t)(filepath.Abs(file))
	built := api.Build(api.BuildOptions{EntryPoints: []string{entry}, Bundle: true, Format: api.FormatESModule,
		Platform: api.PlatformNode, Target: api.ES2022})
	for _, m := range built.Errors {
		t.Error(m.Text)
	}
	if len(built.OutputFiles) != 1 {
		t.Fatalf("esbuild made %d files", len(built.OutputFiles))
	}
	program := filepath.Join(t.TempDir(), "program.mjs")
	if err := os.WriteFile(program, built.OutputFiles[0].Contents, 0o600); err != nil {
		t.Fatal(err)
	}
	return h.program(t, path, append([]string{program}, args...)...)
}

// program is a command that knows where the house is.
func (h *house) program(t *testing.T, path string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(soon(t), path, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "HELVE_URL="+h.URL(), "HELVE_TOKEN="+token, "NO_COLOR=1")
	return cmd
}

// examples checks what both examples print, with leave and without it.
func examples(t *testing.T, start func(h *house, args ...string) *exec.Cmd) {
	h := build(t, rules(t, "bash", "*", "ask"))
	said, err := start(h, "--allow", "echo one; echo two").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for _, want := range []string{"helve 1.2.3 in " + h.dir + "\n", "asked: bash ", ": allowed once\n", "one\ntwo\n", "done: ", ", exit 0\n"} {
		holds(t, string(said), want)
	}
	if n := strings.Count(string(said), "one\n"); n != 1 {
		t.Errorf("the output was shown %d times: %s", n, said)
	}
	said, err = start(h, "echo one").CombinedOutput()
	if err == nil {
		t.Error("without leave it went well")
	}
	for _, want := range []string{": rejected\n", "failed: rejected: ", "Run the example with --allow"} {
		holds(t, string(said), want)
	}
}

func TestExampleInGo(t *testing.T) {
	program := filepath.Join(t.TempDir(), "example")
	if said, err := exec.CommandContext(soon(t), "go", "build", "-o", program, "../examples/go-client").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	examples(t, func(h *house, args ...string) *exec.Cmd { return h.program(t, program, args...) })
}

func TestExampleInTypeScript(t *testing.T) {
	examples(t, func(h *house, args ...string) *exec.Cmd {
		return h.node(t, "../examples/typescript/example.ts", args...)
	})
}

// TestEventsInTypeScript cuts the connection of a client in Node.
func TestEventsInTypeScript(t *testing.T) {
	h, script := thinking(t)
	script.Script("find out",
		modeltest.Reply{Calls: []modeltest.Call{{ID: "c1", Name: "bash", Args: `{"command":"echo found","description":"look"}`}}},
		modeltest.Reply{Text: "it is found"})
	cmd := h.node(t, "testdata/events.mts")
	var failed bytes.Buffer
	cmd.Stderr = &failed
	out := bufio.NewReader(must[io.ReadCloser](t)(cmd.StdoutPipe()))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := out.ReadString('\n'); line != "ready\n" {
		t.Fatalf("it said %q, %v: %s", line, err, &failed)
	}
	h.read(t, "ses_1")
	h.cuts.cut()
	h.read(t, "ses_2")
	h.read(t, "ses_end")
	var said bytes.Buffer
	if _, err := said.ReadFrom(out); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s%s", err, &said, &failed)
	}
	lines := strings.Split(said.String(), "\n")
	if !strings.HasPrefix(lines[0], "reload ") || !strings.Contains(lines[0], "lost ") || strings.Count(lines[0], "reload") != 1 || strings.Count(lines[0], "call.finished") != 3 {
		t.Errorf("the events were %q", lines[0])
	}
	if got := strings.Join(lines[1:], "\n"); got != "ended: enough\ncall: no more\nasked: bash\nfound: true\nproblem: 404 not-found\ncalls: 1\n" {
		t.Errorf("it said %q", got)
	}
	if record := h.ended(t, "ses_stop", "call_stop"); record.Error == nil || record.Error.Kind != "canceled" {
		t.Errorf("the call that was aborted: %+v", record)
	}
}

// TestTypeScriptFits has the compiler look at the client and the examples.
func TestTypeScriptFits(t *testing.T) {
	tsc := os.Getenv("HELVE_TSC")
	if tsc == "" {
		t.Skip("HELVE_TSC does not name a TypeScript compiler, so types are not checked; .ci/typescript brings one")
	}
	config := must[[]byte](t)(os.ReadFile("../examples/typescript/tsconfig.json"))
	ours := must[string](t)(filepath.Abs("testdata/events.mts"))
	folder := must[string](t)(filepath.Abs("../examples/typescript"))
	whole := strings.ReplaceAll(string(config), `"files": ["helve.ts", "example.ts"]`,
		`"files": ["`+folder+`/helve.ts", "`+folder+`/example.ts", "`+ours+`"]`)
	whole = strings.Replace(whole, `"outDir": "dist"`, `"noEmit": true`, 1)
	project := filepath.Join(t.TempDir(), "tsconfig.json")
	if err := os.WriteFile(project, []byte(whole), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.CommandContext(soon(t), tsc, "-p", project).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, said)
	}
}
