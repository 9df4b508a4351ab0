package examples_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/helve-dev/helve/internal/modeltest"
)

// How each example is run: by its own page, or by a test that knows more.
var examples = map[string]func(*testing.T, *workshop){
	"embed":           func(t *testing.T, w *workshop) { w.page(t, "embed"); w.stranger(t, "embed", "run", ".") },
	"agent":           agent,
	"tool":            func(t *testing.T, w *workshop) { w.page(t, "tool"); w.stranger(t, "tool", "test", "./...") },
	"tool-typescript": func(t *testing.T, w *workshop) { w.page(t, "tool-typescript") },
	"mcp-client":      func(t *testing.T, w *workshop) { w.page(t, "mcp-client"); w.stranger(t, "mcp-client", "build", ".") },
	"mcp-client-node": node,
	"jsonl":           jsonl,
	"stand-in":        func(t *testing.T, w *workshop) { w.page(t, "stand-in") },
	"ci":              job,
	"go-client":       server,
	"typescript":      nil, // client/typescript_test.go compiles and runs it
}

// Every example does what its page says, in a fresh copy of the repository.
func TestExamples(t *testing.T) {
	listed, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	w := open(t)
	if said, err := w.sh(t, ".", "go build -o helve ./cmd/helve"); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	w.env = append(w.env, "PATH="+w.root+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		t.Run(e.Name(), func(t *testing.T) {
			if !strings.Contains(string(listed), "]("+e.Name()+")") {
				t.Errorf("README.md does not list it")
			}
			if _, err := os.Stat(filepath.Join(e.Name(), "README.md")); err != nil {
				t.Errorf("it has no page: %v", err)
			}
			run, ok := examples[e.Name()]
			if !ok {
				t.Fatal("nothing runs it")
			}
			if run != nil {
				run(t, w)
			}
		})
	}
	t.Run("README.md", func(t *testing.T) { w.page(t, ".") })
}

// page follows the page of an example.
func (w *workshop) page(t *testing.T, example string) {
	t.Helper()
	name := filepath.Join(example, "README.md")
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	w.follow(t, name, steps(string(page), ""))
}

// stranger makes an example a module of its own, in another folder, and lets Go
// work on it.
func (w *workshop) stranger(t *testing.T, example, verb, what string) {
	t.Helper()
	if testing.Short() && example != "embed" {
		return // one stranger compiles everything; the others would do it again with their tests
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := clone(example, dir); err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile("../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := w.sh(t, ".", strings.Join([]string{
		"set -e", "cd '" + dir + "'", "go mod init stranger",
		"go mod edit -require github.com/helve-dev/helve@v0.0.0 -replace github.com/helve-dev/helve='" + w.root + "'",
		"go " + verb + " " + what,
	}, "\n"), "GOFLAGS=-mod=mod -trimpath -buildvcs=false")
	if err != nil {
		t.Errorf("as a module of its own: %v\n%s", err, said)
	}
}

// agent lets the agent work with a model that plays a script, and answers yes.
// It prints what its page says.
func agent(t *testing.T, w *workshop) {
	model := modeltest.Start(t)
	model.Script("Mend the typo in notes.txt.",
		modeltest.Reply{Text: "I will look at the file first.", Calls: []modeltest.Call{{Name: "read", Args: `{"filePath":"notes.txt"}`}}},
		modeltest.Reply{Calls: []modeltest.Call{{Name: "edit", Args: `{"filePath":"notes.txt","oldString":"teh","newString":"the"}`}}},
		modeltest.Reply{Text: `I changed "teh" to "the" in notes.txt.`})
	said, err := w.sh(t, ".", strings.Join([]string{
		"set -e", "go build -o '" + w.home + "/agent' ./examples/agent", "mkdir -p '" + w.home + "/notes/.git'", "cd '" + w.home + "/notes'", "echo teh cat > notes.txt",
		"echo y | ../agent 'Mend the typo in notes.txt.'", "cat notes.txt",
	}, "\n"), "ANTHROPIC_API_KEY=none", "ANTHROPIC_BASE_URL="+model.URL())
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	page, err := os.ReadFile("agent/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, want, _ := strings.Cut(string(page), "it prints:\n\n```\n")
	want, _, _ = strings.Cut(want, "```")
	if said != want+"the cat\n" {
		t.Errorf("the page says:\n%s\nbut this was printed:\n%s", want, said)
	}
}

func jsonl(t *testing.T, w *workshop) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3")
	}
	w.page(t, "jsonl")
}

// node runs the client in JavaScript with the SDK that HELVE_MCP_SDK names, a
// folder that npm has installed it in.
func node(t *testing.T, w *workshop) {
	sdk := os.Getenv("HELVE_MCP_SDK")
	if sdk == "" {
		t.Skip("HELVE_MCP_SDK names no folder with the SDK")
	}
	page, err := os.ReadFile("mcp-client-node/README.md")
	if err != nil {
		t.Fatal(err)
	}
	list := steps(string(page), "")
	install, rest, ok := strings.Cut(list[0].script, "\n")
	if !ok || !strings.HasPrefix(install, "npm install ") {
		t.Fatalf("the page begins with %q", install)
	}
	list[0].script = rest
	if err := os.Symlink(filepath.Join(sdk, "node_modules"), filepath.Join(w.root, "examples", "mcp-client-node", "node_modules")); err != nil {
		t.Fatal(err)
	}
	w.follow(t, "mcp-client-node/README.md", list)
}

// review is what the model says in the job of CI: it looks at the change, and
// tries what it may not.
const review = `{"scripts": [{"match": "Review the last commit", "replies": [
	{"calls": [{"name": "bash", "args": {"command": "git diff HEAD~1", "description": "Look at the change"}}]},
	{"calls": [
		{"name": "bash", "args": {"command": "git push", "description": "Push it"}},
		{"name": "write", "args": {"filePath": "main.go", "content": "broken"}}
	]},
	{"text": "It adds a function. Nothing breaks."}
]}]}`

// job runs the job of CI in a repository, with the rules as they are and with
// rules that were loosened.
func job(t *testing.T, w *workshop) {
	w.page(t, "ci")
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("script.json", review)
	prepare := `set -e
		go build -o '` + dir + `/stand-in' ./examples/stand-in
		cp -r examples/ci '` + dir + `/ci'
		mkdir '` + dir + `/shop' && cd '` + dir + `/shop'
		git init -q . && git config user.name ada && git config user.email ada@example.com
		echo 'package main' > main.go && git add . && git commit -q -m one
		echo 'func main() {}' >> main.go && git commit -q -a -m two`
	if said, err := w.sh(t, ".", prepare); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	run := `cd '` + dir + `/shop' && ../stand-in -script ../script.json sh ../ci/review.sh`
	said, err := w.sh(t, ".", run)
	if err != nil || !says("13 passed, 0 failed\nIt adds a function. Nothing breaks.", said) {
		t.Errorf("the job ended with %v and said:\n%s", err, said)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "shop", "main.go")); err != nil || string(text) != "package main\nfunc main() {}\n" {
		t.Errorf("main.go is %q now (%v)", text, err)
	}

	flow(t, w, dir)

	// A rule too many: the table says so, and no agent is started.
	rules, err := os.ReadFile(filepath.Join(dir, "ci", "helve.json"))
	if err != nil {
		t.Fatal(err)
	}
	write("ci/helve.json", strings.Replace(string(rules), `"git log *"`, `"git *": "allow", "git log *"`, 1))
	said, err = w.sh(t, ".", run)
	if err == nil || !strings.Contains(said, "no-push") || !strings.Contains(said, " failed") || strings.Contains(said, "Nothing breaks") {
		t.Errorf("with looser rules the job ended with %v and said:\n%s", err, said)
	}
}

// flow runs the commands of the workflow, as GitHub would, in a folder like the
// one that its other steps make.
func flow(t *testing.T, w *workshop, dir string) {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash")
	}
	text, err := os.ReadFile("ci/github-actions.yml")
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct{ Name, Uses, Run, Shell string }
		}
	}
	if err := yaml.Unmarshal(text, &workflow); err != nil {
		t.Fatal(err)
	}
	prepare := `set -e
		mkdir '` + dir + `/runner'
		cp -R '` + dir + `/shop' '` + dir + `/job' && cd '` + dir + `/job'
		mkdir .base && cp -R '` + dir + `/ci' .base/ci
		ln -s '` + w.root + `' .helve-source`
	if said, err := w.sh(t, ".", prepare); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	summary := filepath.Join(dir, "summary.md")
	ran := 0
	for _, s := range workflow.Jobs["review"].Steps {
		if s.Run == "" {
			continue
		}
		ran++
		flags := "-e"
		if s.Shell == "bash" {
			flags = "-eo pipefail"
		}
		said, err := w.sh(t, ".", `cd '`+dir+`/job' && exec ../stand-in -script ../script.json bash `+flags+` -c "$STEP"`,
			"STEP="+s.Run, "RUNNER_TEMP="+dir+"/runner", "GITHUB_STEP_SUMMARY="+summary, "PATH="+os.Getenv("PATH"))
		if err != nil {
			t.Fatalf("the step %q ended with %v and said:\n%s", s.Run, err, said)
		}
	}
	said, err := os.ReadFile(summary)
	if err != nil || !says("It adds a function. Nothing breaks.", string(said)) || ran != 2 {
		t.Errorf("after %d steps the summary is %q (%v)", ran, said, err)
	}
}

// server runs the client of the HTTP API beside a server.
func server(t *testing.T, w *workshop) {
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	dir := t.TempDir()
	if said, err := w.sh(t, ".", "go build -o '"+dir+"/go-client' ./examples/go-client"); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	work := filepath.Join(dir, "shop")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	serve := exec.CommandContext(ctx, filepath.Join(w.root, "helve"), "serve", "--addr", "127.0.0.1:0", "--json")
	serve.Dir, serve.Env = work, w.env
	ownGroup(serve)
	out, err := serve.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = endGroup(serve.Process)
		_ = serve.Wait()
	}()
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var ready struct{ URL string }
	if err != nil || json.Unmarshal(line, &ready) != nil {
		t.Fatalf("the server said %q (%v)", line, err)
	}
	said, err := w.sh(t, ".", "cd '"+work+"' && ../go-client 'echo hello'")
	if err != nil || !says("helve … in …shop\nhello\ndone: …, exit 0", said) {
		t.Errorf("the client ended with %v and said:\n%s", err, said)
	}
}
