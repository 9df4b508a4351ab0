package helve_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/lsp"
	"github.com/helve-dev/helve/tool"
)

// A realLanguage is a small project for a language server that others have
// made, with two files: one that is edited, and one that it depends on.
type realLanguage struct {
	server  string // as helve calls it
	program string
	brought string // how the program comes here
	project string // a txtar
	user    string // the file that is edited
	used    string // the file that it depends on
	name    string // what the first takes from the second
	place   [2]int // where in the user the name stands

	sound  string // a line of the user, with a number in it
	broken string // the same with a name in it that is nowhere, missing_N
	taking string // what the used one takes, and
	wants  string // what to put there so that the user does not fit any more

	added string // a file that is not there yet
	adds  string // what it holds
	using string // the same line of the user, using that file, with a number in it
	heads string // what a file begins with that holds nothing but such a line
}

func realLanguages() []realLanguage {
	return []realLanguage{{
		server: "gopls", program: "gopls", brought: "go builds it from .ci/gopls",
		user: "main.go", used: "sum/sum.go", name: "Add", place: [2]int{6, 22},
		sound: "var value = %d", broken: "var value = missing_%d", taking: "a, b int", wants: "a, b, c int",
		added: "sum/extra.go", adds: "package sum\n\n// Extra is more.\nfunc Extra(n int) int { return n }\n", using: "var value = sum.Extra(%d)", heads: "package main\n\n",
		project: `
-- go.mod --
module example.org/real

go 1.24
-- main.go --
package main

import "example.org/real/sum"

func main() {
	println(value + sum.Add(1, 2))
}

var value = 0
-- sum/sum.go --
package sum

// Add adds.
func Add(a, b int) int { return a + b }
`}, {
		server: "typescript", program: "typescript-language-server", brought: "npm brings it",
		user: "main.ts", used: "sum.ts", name: "add", place: [2]int{3, 28},
		sound: "const value = %d", broken: "const value = missing_%d", taking: "a: number, b: number", wants: "a: number, b: number, c: number",
		added: "extra.ts", adds: "export const extra = (n: number) => n\n", using: "import { extra } from \"./extra\"; const value = extra(%d)", heads: "export {}\n",
		project: `
-- package.json --
{"name": "real", "version": "1.0.0", "type": "module"}
-- package-lock.json --
{"name": "real", "version": "1.0.0", "lockfileVersion": 3, "packages": {}}
-- tsconfig.json --
{"compilerOptions": {"strict": true, "target": "es2022", "module": "es2022", "moduleResolution": "bundler", "types": []}}
-- main.ts --
import { add } from "./sum"

export const total = () => add(value, 2)

const value = 0
-- sum.ts --
/** Adds. */
export function add(a: number, b: number): number {
  return a + b
}
`}, {
		server: "pyright", program: "pyright-langserver", brought: "npm brings it",
		user: "main.py", used: "numbers_of_ours.py", name: "add", place: [2]int{5, 12},
		sound: "value = %d", broken: "value = missing_%d", taking: "a: int, b: int", wants: "a: int, b: int, c: int",
		added: "extra.py", adds: "def extra(n: int) -> int:\n    return n\n", using: "from extra import extra; value = extra(%d)",
		project: `
-- pyproject.toml --
[project]
name = "real"
version = "1.0.0"
-- main.py --
from numbers_of_ours import add


def total() -> int:
    return add(value, 2)


value = 0
-- numbers_of_ours.py --
def add(a: int, b: int) -> int:
    """Adds."""
    return a + b
`}, {
		server: "clangd", program: "clangd", brought: "the system's package brings it",
		user: "main.c", used: "sum.h", name: "add", place: [2]int{5, 28},
		sound: "int value = %d;", broken: "int value = missing_%d;", taking: "int a, int b", wants: "int a, int b, int c",
		added: "extra.h", adds: "#define EXTRA(n) n\n", using: "#include \"extra.h\"\nint value = EXTRA(%d);",
		project: `
-- compile_flags.txt --
-std=c11
-Wall
-- main.c --
#include "sum.h"

extern int value;

int total(void) { return add(value, 2); }

int value = 0;
-- sum.h --
#pragma once

// Adds.
static inline int add(int a, int b) { return a + b; }
`}}
}

// A realProject is such a project with a runtime in it.
type realProject struct {
	realLanguage
	t   testing.TB
	rt  *helve.Runtime
	dir string
}

// realServers puts the folders of the servers that were brought in front of
// PATH, and keeps them off the network.
func realServers(t testing.TB) {
	t.Helper()
	if brought := os.Getenv("HELVE_LANGUAGE_SERVERS"); brought != "" {
		t.Setenv("PATH", brought+string(filepath.ListSeparator)+os.Getenv("PATH"))
	}
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOFLAGS", "-mod=readonly")
	t.Setenv("GOWORK", "off")
}

// eachReal runs a test with each of the servers that are here.
func eachReal(t *testing.T, test func(p realProject)) {
	realServers(t)
	for _, l := range realLanguages() {
		t.Run(l.server, func(t *testing.T) {
			if _, err := exec.LookPath(l.program); err != nil {
				t.Skipf("%s is neither in HELVE_LANGUAGE_SERVERS nor on the PATH (%s)", l.program, l.brought)
			}
			test(startReal(t, l))
		})
	}
}

func startReal(t *testing.T, l realLanguage) realProject {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	plantIn(t, dir, l.project)
	// The waits are long for machines that do much else: what is to come, comes.
	p := realProject{l, t, openReal(t, helve.Options{
		Dir: dir, Worktree: dir, DataDir: t.TempDir(),
		LSP: &lsp.Options{Builtin: true, Wait: 2 * time.Minute, Request: 2 * time.Minute, Start: 3 * time.Minute},
	}), dir}
	p.call("read", map[string]any{"filePath": l.user})
	return p
}

// plantIn writes the files of an archive into a folder.
func plantIn(t testing.TB, dir, archive string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := txtar.Write(txtar.Parse([]byte(archive)), dir); err != nil {
		t.Fatal(err)
	}
}

// openReal opens a runtime that runs programs as the command does.
func openReal(t testing.TB, opt helve.Options) *helve.Runtime {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	opt.Unattended, opt.Shell.Helper, opt.Flags = true, self, map[string]bool{"lsp": true}
	rt, err := helve.Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return rt
}

// call calls a tool and returns what it says.
func (p realProject) call(name string, args map[string]any) *tool.Result {
	p.t.Helper()
	input, err := json.Marshal(args)
	if err != nil {
		p.t.Fatal(err)
	}
	res, err := p.rt.Call(p.t.Context(), tool.Call{Tool: name, Session: "s", Input: input})
	if err != nil {
		p.t.Fatalf("%s %s: %v", name, input, err)
	}
	return res
}

// command runs a command line.
func (p realProject) command(line string) {
	p.t.Helper()
	p.call("bash", map[string]any{"command": line, "description": "changes files"})
}

func (p realProject) content(file string) string {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, file))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}

// swap replaces text in the user by an edit, and returns what is said of it.
func (p realProject) swap(old, new string) string {
	p.t.Helper()
	return p.call("edit", map[string]any{"filePath": p.user, "oldString": old, "newString": new}).Output
}

// errorsShown are the lines of a result that tell of an error.
func errorsShown(output string) (lines []string) {
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, "ERROR ") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// clean demands that a change has nothing wrong with it, and that all servers
// have said so.
func (p realProject) clean(what, output string) {
	p.t.Helper()
	if strings.Contains(output, "<diagnostics") || strings.Contains(output, "pending") {
		p.t.Fatalf("%s: the code is sound, and the result says\n%s", what, output)
	}
}

// wrong demands that a change shows one error, and which.
func (p realProject) wrong(what, output, part string) {
	p.t.Helper()
	shown := errorsShown(output)
	if len(shown) != 1 || !strings.Contains(shown[0], part) || strings.Contains(output, "pending") {
		p.t.Fatalf("%s: one error with %q was to be shown, and the result says\n%s", what, part, output)
	}
}

// family are a process and all that it has started.
func family(pid string) []string {
	all := []string{pid}
	lists, _ := filepath.Glob("/proc/" + pid + "/task/*/children")
	for _, list := range lists {
		children, _ := os.ReadFile(list)
		for child := range strings.FieldsSeq(string(children)) {
			all = append(all, family(child)...)
		}
	}
	return all
}

// processState is the letter for how a process is, "" for one that is gone.
func processState(pid string) string {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	state, _, _ := strings.Cut(rest, " ")
	return state
}

// lsp asks the tool about the name in the user.
func (p realProject) lsp(operation string, more map[string]any) *tool.Result {
	p.t.Helper()
	args := map[string]any{"operation": operation, "filePath": p.user, "line": p.place[0], "character": p.place[1]}
	maps.Copy(args, more)
	return p.call("lsp", args)
}
