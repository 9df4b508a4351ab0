//go:build unix

package scripthost

import (
	"bytes"
	"encoding/json"
	"github.com/helve-dev/helve/internal/plugins"
	"github.com/helve-dev/helve/internal/script"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// table reads a file of the tables that internal/script holds against Bun.
func table(t *testing.T, name ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{"..", "script", "testdata", "bun2"}, name...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Scripts that start programs get the answers that Bun gives them, with every
// request asked about.
func TestProgramsAsBun(t *testing.T) {
	if raceDetector {
		t.Skip("ten times slower under the race detector; the other tests have what races there may be")
	}
	excused := map[string]bool{} // it differs by the modules alone
	section := ""
	for line := range strings.Lines(table(t, "differs.txt")) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "== "); ok {
			section = name
		} else if line != "" && line[0] != '#' {
			excused[section+": "+line] = true
		}
	}
	for _, name := range []string{"shell", "process"} {
		t.Run(name, func(t *testing.T) {
			r := programRoom(t, `{"*": "allow"}`, func(o *plugins.Services) {
				o.Variables = func() map[string]string {
					return map[string]string{"PATH": os.Getenv("PATH"), "HOME": os.Getenv("HOME")}
				}
			})
			r.write("a.txt", "file a\n")
			v, err := script.NewVM(script.VMOptions{Host: r.world})
			if err != nil {
				t.Fatal(err)
			}
			defer v.Close()
			source := `globalThis.perform = ({ run, table, dir }) => {
				const load = (text) => { const m = { exports: {} }; new Function("module", "exports", "require", text)(m, m.exports, __helve.require); return m.exports; };
				return load(run).perform(load(table), dir, "", [[dir, "<dir>"]]);
			};`
			for _, code := range []string{script.Prelude(), source} {
				if err := v.Load(r.ctx, "load.js", script.Code{Source: code}); err != nil {
					t.Fatal(err)
				}
			}
			arg, err := json.Marshal(map[string]string{"run": table(t, "run.js"), "table": table(t, name+".js"), "dir": r.dir})
			if err != nil {
				t.Fatal(err)
			}
			told, err := v.Call(r.ctx, "perform", script.Data{JSON: arg})
			if err != nil {
				t.Fatal(err)
			}
			var want, got map[string]json.RawMessage
			if err := json.Unmarshal([]byte(table(t, "answers", name+".json")), &want); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(told.JSON, &got); err != nil {
				t.Fatal(err)
			}
			for _, line := range slices.Sorted(maps.Keys(want)) {
				if !excused[name+": "+line] && !bytes.Equal(compact(want[line]), compact(got[line])) {
					t.Errorf("%s\nbun:  %s\nours: %s", line, compact(want[line]), compact(got[line]))
				}
			}
		})
	}
}

func compact(text json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return nil
	}
	return b.Bytes()
}
