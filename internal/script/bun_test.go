package script_test

import (
	"bytes"
	"encoding/json"
	"github.com/helve-dev/helve/internal/script"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Tables of expressions are evaluated in our engine and held against what Bun made of them, kept in
// testdata/bun/answers. To write those anew: HELVE_BUN=…/bun HELVE_BUN_UPDATE=1 go test -run Bun
// ./internal/script
//
// What may differ is in testdata/bun/differs.txt, as for zod: a section for each table, and a
// reason for the lines that follow it.

func bunFile(name ...string) string {
	return filepath.Join(append([]string{"testdata", "bun"}, name...)...)
}

// newEngine makes an engine with the prelude in it.
func newEngine(t *testing.T, host script.Host) *script.VM {
	t.Helper()
	v, err := script.NewVM(script.VMOptions{Host: host, Turn: time.Minute}) // for a machine with much to do
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := v.Load(t.Context(), "prelude.js", script.Code{Source: script.Prelude()}); err != nil {
		t.Fatalf("prelude: %v", err)
	}
	return v
}

// tables are the names of the tables the modules of this file are proved with.
func tables(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(bunFile("*.js"))
	if err != nil {
		t.Fatal(err)
	}
	found = slices.DeleteFunc(found, func(f string) bool { return filepath.Base(f) == "run.js" })
	for i, f := range found {
		found[i] = strings.TrimSuffix(filepath.Base(f), ".js")
	}
	return found
}

// oursToTable evaluates the table of a file in our engine.
func oursToTable(t *testing.T, host script.Host, file string) zodAnswers {
	t.Helper()
	v := newEngine(t, host)
	source := readZodFile(t, bunFile("run.js")) + "\nglobalThis.table = ({ text, dir }) => answers(text, dir, __helve.require);"
	if err := v.Load(t.Context(), "run.js", script.Code{Source: source}); err != nil {
		t.Fatal(err)
	}
	arg, err := json.Marshal(map[string]string{"text": readZodFile(t, file), "dir": emptyFolder(t)})
	if err != nil {
		t.Fatal(err)
	}
	told, err := v.Call(t.Context(), "table", script.Data{JSON: arg})
	if err != nil {
		t.Fatal(err)
	}
	return parseZodAnswers(t, told.JSON)
}

// emptyFolder is one without symbolic links in its path.
func emptyFolder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func compareBun(t *testing.T, name string, want, got zodAnswers) {
	t.Helper()
	excused := differing(t, bunFile("differs.txt"))[name]
	for _, line := range slices.Sorted(maps.Keys(want)) {
		same := jsonEqual(want[line], got[line])
		_, may := excused[line]
		switch {
		case same && may:
			t.Errorf("no longer differs, take it out of differs.txt: %s", line)
		case !same && !may:
			t.Errorf("%s\nbun:  %s\nours: %s", line, compact(want[line]), compact(got[line]))
		}
	}
	for line := range excused {
		if _, ok := want[line]; !ok {
			t.Errorf("differs.txt names a line that is not in the table: %s", line)
		}
	}
	for line := range got {
		if _, ok := want[line]; !ok {
			t.Errorf("only ours has an answer: %s: %s", line, compact(got[line]))
		}
	}
}

func compact(text json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		return "nothing"
	}
	return b.String()
}

// jsonEqual compares with the order of keys, as scripts see it.
func jsonEqual(a, b json.RawMessage) bool { return a != nil && b != nil && compact(a) == compact(b) }

func needBun(t *testing.T) string {
	t.Helper()
	bun := os.Getenv("HELVE_BUN")
	if bun == "" {
		t.Skip("HELVE_BUN does not name Bun 1.4.4")
	}
	return bun
}

func TestBunTables(t *testing.T) {
	if raceDetector {
		t.Skip("a hundred times slower under the race detector")
	}
	for _, name := range tables(t) {
		t.Run(name, func(t *testing.T) {
			golden := parseZodAnswers(t, []byte(readZodFile(t, bunFile("answers", name+".json"))))
			compareBun(t, name, golden, oursToTable(t, newWorld(t), bunFile(name+".js")))
		})
	}
}

// TestBunItself holds the kept answers against Bun's.
func TestBunItself(t *testing.T) {
	bun := needBun(t)
	for _, name := range tables(t) {
		t.Run(name, func(t *testing.T) {
			out := runBun(t, bun, bunFile("run.js"), bunFile(name+".js"), emptyFolder(t))
			kept := bunFile("answers", name+".json")
			if os.Getenv("HELVE_BUN_UPDATE") != "" {
				if err := os.WriteFile(kept, append(out, '\n'), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			golden, fresh := parseZodAnswers(t, []byte(readZodFile(t, kept))), parseZodAnswers(t, out)
			for line := range fresh {
				if !jsonEqual(golden[line], fresh[line]) {
					t.Errorf("%s\nkept: %s\nbun:  %s", line, compact(golden[line]), compact(fresh[line]))
				}
			}
			if len(golden) != len(fresh) {
				t.Errorf("%d answers are kept, Bun gives %d", len(golden), len(fresh))
			}
		})
	}
}

// TestBunRandom holds our answers to expressions made at random against Bun's.
func TestBunRandom(t *testing.T) {
	bun := needBun(t)
	if raceDetector {
		t.Skip("a hundred times slower under the race detector")
	}
	for _, seed := range []string{"11", "12", "13"} {
		t.Run(seed, func(t *testing.T) {
			table := filepath.Join(t.TempDir(), "random.js")
			if err := os.WriteFile(table, runBun(t, bun, bunFile("random", "make.js"), seed), 0o600); err != nil {
				t.Fatal(err)
			}
			theirs := parseZodAnswers(t, runBun(t, bun, bunFile("run.js"), table, emptyFolder(t)))
			compareBun(t, "random", theirs, oursToTable(t, newWorld(t), table))
		})
	}
}

func runBun(t *testing.T, bun string, args ...string) []byte {
	t.Helper()
	command := exec.CommandContext(t.Context(), bun, args...)
	command.Env = append(os.Environ(), "TZ=UTC", "LANG=en_US.UTF-8")
	var complaints bytes.Buffer
	command.Stderr = &complaints
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, complaints.String())
	}
	return out
}

// differing reads a file of excuses, see zodDiffers.
func differing(t *testing.T, file string) map[string]map[string]string {
	t.Helper()
	sections := map[string]map[string]string{}
	var section map[string]string
	var reason string
	for line := range strings.Lines(readZodFile(t, file)) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "== "); ok {
			section, reason = map[string]string{}, ""
			sections[name] = section
		} else if said, ok := strings.CutPrefix(line, "# "); ok {
			reason = said
		} else if line != "" {
			if section == nil || reason == "" {
				t.Fatalf("%s: no section or reason for %s", file, line)
			}
			section[line] = reason
		}
	}
	return sections
}
