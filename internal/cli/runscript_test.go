package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/helve-dev/helve/internal/modeltest"
)

// TestRunScripts runs the scripts that need a model. In them, model FILE starts
// a server that answers as the file says, and sets MODEL to its address.
func TestRunScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "run"), UpdateScripts: *update, RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"model": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) != 1 {
					ts.Fatalf("usage: model file")
				}
				var file struct {
					Scripts []struct {
						Match   string
						Replies []modeltest.Reply
					}
				}
				ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &file))
				server := modeltest.Start(t)
				for _, s := range file.Scripts {
					server.Script(s.Match, s.Replies...)
				}
				ts.Setenv("MODEL", server.URL())
			},
		},
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("HELVE_DATA_DIR", filepath.Join(env.WorkDir, "data"))
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else every command takes a second under the race detector
			return os.MkdirAll(home, 0o700)
		},
	})
}
