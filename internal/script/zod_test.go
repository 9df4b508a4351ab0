package script_test

import (
	"bytes"
	"cmp"
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

// Real zod's answers to the table are kept in answers.json, so that ours can be held against them
// where it is not installed. To write them anew: HELVE_ZOD=…/node_modules/zod HELVE_ZOD_UPDATE=1 go
// test -run Zod ./internal/script

// zodAnswers maps a line of the table to what a library made of it, as JSON text.
type zodAnswers map[string]json.RawMessage

func zodData(name string) string { return filepath.Join("testdata", "zod", name) }

func readZodFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func parseZodAnswers(t *testing.T, text []byte) zodAnswers {
	t.Helper()
	var all zodAnswers
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatalf("answers: %v", err)
	}
	if len(all) == 0 {
		t.Fatal("no answers")
	}
	return all
}

// zodDiffers reads which lines may differ, by section: a line "== name" begins one, "# …" gives the
// reason.
func zodDiffers(t *testing.T) map[string]map[string]string {
	t.Helper()
	sections := map[string]map[string]string{}
	var section map[string]string
	var reason string
	for line := range strings.Lines(readZodFile(t, zodData("differs.txt"))) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "== "); ok {
			section, reason = map[string]string{}, ""
			sections[name] = section
		} else if said, ok := strings.CutPrefix(line, "# "); ok {
			reason = said
		} else if line != "" {
			if section == nil || reason == "" {
				t.Fatalf("differs.txt: no section or reason for %s", line)
			}
			section[line] = reason
		}
	}
	return sections
}

// compareZod fails for every line that differs and is not excused, and for every excuse that is not
// needed.
func compareZod(t *testing.T, want, got zodAnswers, excused map[string]string) {
	t.Helper()
	for _, line := range slices.Sorted(maps.Keys(want)) {
		same := bytes.Equal(want[line], got[line])
		_, may := excused[line]
		switch {
		case same && may:
			t.Errorf("no longer differs, take it out of differs.txt: %s", line)
		case !same && !may:
			t.Errorf("%s\nzod:  %s\nours: %s", line, want[line], cmp.Or(string(got[line]), "nothing"))
		}
	}
	for line := range excused {
		if _, ok := want[line]; !ok {
			t.Errorf("differs.txt names a line that is not in the table: %s", line)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d answers for %d lines", len(got), len(want))
	}
}

func needNode(t *testing.T) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	return node
}

// runNode runs a script of testdata/zod and gives what it wrote.
func runNode(t *testing.T, node, script string, args ...string) []byte {
	t.Helper()
	command := exec.CommandContext(t.Context(), node, append([]string{zodData(script)}, args...)...)
	command.Env = append(os.Environ(), "TZ=UTC")
	var complaints bytes.Buffer
	command.Stderr = &complaints
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, complaints.String())
	}
	return out
}

func oursInNode(t *testing.T, node, table string) zodAnswers {
	t.Helper()
	path, err := filepath.Abs("zod.js")
	if err != nil {
		t.Fatal(err)
	}
	return parseZodAnswers(t, runNode(t, node, "run.js", path, table))
}

func TestZodInNode(t *testing.T) {
	node := needNode(t)
	golden := parseZodAnswers(t, []byte(readZodFile(t, zodData("answers.json"))))
	compareZod(t, golden, oursInNode(t, node, zodData("cases.txt")), zodDiffers(t)["zod"])
}

func TestZodInEngine(t *testing.T) {
	if raceDetector {
		t.Skip("one goroutine only, and a hundred times slower under the race detector")
	}
	engine, err := script.NewVM(script.VMOptions{Memory: 256 << 20, Turn: time.Minute, Host: newWorld(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	}()
	table, err := json.Marshal(readZodFile(t, zodData("cases.txt")))
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{
		"globalThis.zod = (function (module) {" + readZodFile(t, "zod.js") + "\nreturn module.exports; })({ exports: {} });",
		readZodFile(t, zodData("run.js")),
		"globalThis.tell = (table) => answers(zod, table);",
	} {
		if err := engine.Load(t.Context(), "zod", script.Code{Source: source}); err != nil {
			t.Fatal(err)
		}
	}
	told, err := engine.Call(t.Context(), "tell", script.Data{JSON: table})
	if err != nil {
		t.Fatal(err)
	}
	text := string(told.JSON)
	differs := zodDiffers(t)
	excused := maps.Clone(differs["zod"])
	maps.Copy(excused, differs["engine"])
	golden := parseZodAnswers(t, []byte(readZodFile(t, zodData("answers.json"))))
	compareZod(t, golden, parseZodAnswers(t, []byte(text)), excused)
}

// TestZodItself holds the kept answers, and ours to random schemas, against real zod.
func TestZodItself(t *testing.T) {
	node := needNode(t)
	library := os.Getenv("HELVE_ZOD")
	if library == "" {
		t.Skip("HELVE_ZOD does not name a folder with zod 4.1.8")
	}
	t.Run("table", func(t *testing.T) {
		answers := runNode(t, node, "run.js", library, zodData("cases.txt"))
		if os.Getenv("HELVE_ZOD_UPDATE") != "" {
			if err := os.WriteFile(zodData("answers.json"), answers, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		golden := parseZodAnswers(t, []byte(readZodFile(t, zodData("answers.json"))))
		compareZod(t, parseZodAnswers(t, answers), golden, nil)
	})
	for _, seed := range []string{"11", "13"} {
		t.Run("random "+seed, func(t *testing.T) {
			table := filepath.Join(t.TempDir(), "random.txt")
			if err := os.WriteFile(table, runNode(t, node, "random.js", seed, "300"), 0o600); err != nil {
				t.Fatal(err)
			}
			theirs := parseZodAnswers(t, runNode(t, node, "run.js", library, table))
			compareZod(t, theirs, oursInNode(t, node, table), nil)
		})
	}
}

// TestForeignZod has the schemas of other copies of zod described from their definitions, as those
// copies describe them.
func TestForeignZod(t *testing.T) {
	node := needNode(t)
	const mayDiffer = `(() => { const s = z.string().meta({ id: "Sid" }); return z.object({ a: s.optional(), b: s.describe("more"), c: s.nullable().default(null) }); })()`
	libraries := map[string]string{"a second copy of ours": "zod.js"}
	if library := os.Getenv("HELVE_ZOD"); library != "" {
		libraries["zod 4"] = library
		libraries["zod 4 in the package of zod 3"] = filepath.Join(filepath.Dir(library), "zod3", "v4")
		libraries["zod mini"] = filepath.Join(library, "mini")
	} else {
		t.Log("HELVE_ZOD does not name a folder with zod 4.1.8: real copies are left out")
	}
	for name, library := range libraries {
		t.Run(name, func(t *testing.T) {
			var told struct {
				Count  int
				Differ map[string]struct{ Want, Got json.RawMessage }
			}
			out := runNode(t, node, "foreign.js", "./zod.js", "./js/helve-schema.js", strings.Replace(library, "zod.js", "./zod.js", 1), zodData("cases.txt"))
			if err := json.Unmarshal(out, &told); err != nil {
				t.Fatal(err)
			}
			if told.Count < 150 {
				t.Errorf("only %d schemas were compared", told.Count)
			}
			for line, d := range told.Differ {
				if line != mayDiffer { // a copy that says more about a named schema is shown whole
					t.Errorf("%s\nzod:  %s\nours: %s", line, d.Want, d.Got)
				}
			}
		})
	}
}
