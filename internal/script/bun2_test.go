//go:build unix

package script_test

import (
	"encoding/json"
	"github.com/helve-dev/helve/internal/script"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The tables of testdata/bun2 are programs rather than expressions: they run commands, read streams
// and fetch pages. As with those of testdata/bun, Bun's answers are kept, and differs.txt says what
// may differ and why. To write the answers anew: HELVE_BUN=…/bun HELVE_BUN_UPDATE=1 go test -run
// BunPrograms ./internal/script

func bun2File(name ...string) string {
	return filepath.Join(append([]string{"testdata", "bun2"}, name...)...)
}

func bun2Tables() []string {
	return []string{"shell", "process", "web", "tools", "more", "modules", "compat"}
}

// tableFolder is where a table works: a folder with one file.
func tableFolder(t *testing.T) string {
	t.Helper()
	dir := emptyFolder(t)
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("file a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func oursToProgram(t *testing.T, name string) zodAnswers {
	t.Helper()
	dir := tableFolder(t)
	w := withPrograms(t, newWorld(t))
	w.cwd = dir
	v := newEngine(t, w)
	source := `globalThis.perform = ({ run, table, dir, url }) => {
		const load = (text) => { const m = { exports: {} }; new Function("module", "exports", "require", text)(m, m.exports, __helve.require); return m.exports; };
		return load(run).perform(load(table), dir, url, [[dir, "<dir>"], [url, "<url>"]]);
	};`
	if err := v.Load(t.Context(), "perform.js", script.Code{Source: source}); err != nil {
		t.Fatal(err)
	}
	arg, err := json.Marshal(map[string]string{
		"run": readZodFile(t, bun2File("run.js")), "table": readZodFile(t, bun2File(name+".js")), "dir": dir, "url": webServer(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	told, err := v.Call(t.Context(), "perform", script.Data{JSON: arg})
	if err != nil {
		t.Fatal(err)
	}
	return parseZodAnswers(t, told.JSON)
}

func TestBunPrograms(t *testing.T) {
	if raceDetector {
		t.Skip("a hundred times slower under the race detector")
	}
	for _, name := range bun2Tables() {
		t.Run(name, func(t *testing.T) {
			want := parseZodAnswers(t, []byte(readZodFile(t, bun2File("answers", name+".json"))))
			got := oursToProgram(t, name)
			excused := differing(t, bun2File("differs.txt"))[name]
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
					t.Errorf("differs.txt names a case that is not in the table: %s", line)
				}
			}
			if len(got) != len(want) {
				t.Errorf("%d answers for %d cases", len(got), len(want))
			}
		})
	}
}

// TestBunProgramsItself holds the kept answers against Bun's.
func TestBunProgramsItself(t *testing.T) {
	bun := needBun(t)
	for _, name := range bun2Tables() {
		t.Run(name, func(t *testing.T) {
			dir, out := tableFolder(t), filepath.Join(t.TempDir(), "out.json")
			table, err := filepath.Abs(bun2File(name + ".js"))
			if err != nil {
				t.Fatal(err)
			}
			command := exec.CommandContext(t.Context(), bun, bun2File("bun.js"), table, dir, webServer(t))
			command.Env = append(os.Environ(), "TZ=UTC", "OUT="+out)
			if said, err := command.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, said)
			}
			fresh := readZodFile(t, out)
			kept := bun2File("answers", name+".json")
			if os.Getenv("HELVE_BUN_UPDATE") != "" {
				if err := os.WriteFile(kept, []byte(fresh), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			golden, now := parseZodAnswers(t, []byte(readZodFile(t, kept))), parseZodAnswers(t, []byte(fresh))
			for line := range now {
				if strings.HasSuffix(line, "maxBuffer") { // what Bun gives of an output that is too much depends on when it looks
					continue
				}
				if !jsonEqual(golden[line], now[line]) {
					t.Errorf("%s\nkept: %s\nbun:  %s", line, compact(golden[line]), compact(now[line]))
				}
			}
		})
	}
}
