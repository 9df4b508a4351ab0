package script_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestDriverAsBun runs the archives marked so in Bun, with the files as they are, the real zod and
// a driver of a few lines, and wants the answers of ours. HELVE_BUN is Bun's binary, below a
// node_modules with zod in it.
func TestDriverAsBun(t *testing.T) {
	bun := os.Getenv("HELVE_BUN")
	if bun == "" {
		t.Skip("HELVE_BUN does not say where Bun is")
	}
	zod := filepath.Join(filepath.Dir(filepath.Dir(bun)), "zod")
	if _, err := os.Stat(zod); err != nil {
		t.Skip("zod is not installed beside Bun")
	}
	archives, err := filepath.Glob("testdata/driver/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, name := range archives {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		steps, marked := readSteps(t, string(a.Comment))
		if !marked {
			continue
		}
		compared++
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			root, want := plantConfig(t, a)
			plantPackages(t, root, zod)
			var b strings.Builder
			for i, answer := range bunAnswers(t, bun, root, steps) {
				b.WriteString("> " + steps[i].line + "\n" + answer.String())
			}
			got := strings.ReplaceAll(b.String(), root, "$ROOT")
			want = regexp.MustCompile(`(?m)^ +at \$ROOT.*\n`).ReplaceAllString(want, "")
			if diff := cmp.Diff(got, want); diff != "" {
				t.Errorf("(-bun +ours)\n%s", diff)
			}
		})
	}
	if compared < 15 {
		t.Errorf("only %d archives are compared", compared)
	}
}

// plantPackages gives a folder what tools import.
func plantPackages(t *testing.T, root, zod string) {
	t.Helper()
	plugin := filepath.Join(root, "node_modules", "@opencode-ai", "plugin")
	if err := os.MkdirAll(plugin, 0o755); err != nil {
		t.Fatal(err)
	}
	const source = `import z from "zod";
export const tool = (definition) => definition;
tool.schema = z;
export const Tool = { define: (id, made) => ({ id, init: async (c) => (typeof made === "function" ? made(c) : made) }) };
`
	for name, text := range map[string]string{
		"package.json": `{"name":"@opencode-ai/plugin","type":"module","exports":{".":"./index.js","./tool":"./index.js"}}`,
		"index.js":     source,
	} {
		if err := os.WriteFile(filepath.Join(plugin, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(zod, filepath.Join(root, "node_modules", "zod")); err != nil {
		t.Fatal(err)
	}
}

func bunAnswers(t *testing.T, bun, root string, steps []step) []answer {
	t.Helper()
	type bunStep struct {
		Action string `json:"action"`
		Arg    any    `json:"arg"`
	}
	var list []bunStep
	for _, s := range steps {
		one := bunStep{Action: s.action}
		switch s.action {
		case "execute":
			one.Arg = s.call
		case "hook":
			one.Arg = map[string]any{"name": s.name, "input": s.input, "output": s.output}
		}
		list = append(list, one)
	}
	task, err := json.Marshal(map[string]any{"root": root, "files": configFiles(t, root), "steps": list})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, "task.json")
	if err := os.WriteFile(file, task, 0o644); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(root, "bun.mjs")
	text, err := os.ReadFile("testdata/driver/bun.mjs")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, text, 0o644); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), bun, "run", "--no-install", program, file)
	command.Dir = root
	var complaints bytes.Buffer
	command.Stderr = &complaints
	out, err := command.Output()
	if err != nil {
		t.Fatalf("bun: %v\n%s", err, complaints.String())
	}
	var answers []answer
	if err := json.Unmarshal(out, &answers); err != nil {
		t.Fatalf("bun said %s: %v", out, err)
	}
	if len(answers) != len(steps) {
		t.Fatalf("%d answers for %d steps", len(answers), len(steps))
	}
	return answers
}
