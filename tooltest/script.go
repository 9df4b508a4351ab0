package tooltest

import (
	"fmt"
	"maps"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/tool"
)

// An Env is the environment of one script. A setup function may change it before the script starts.
type Env struct {
	Dir     string        // the workspace, with the script's files
	Tools   []tool.Tool   // registered in addition to the built-in tools
	Options helve.Options // of the runtime; Dir, Worktree and DataDir are set already
}

// Scripts runs every script (*.txtar) of a folder as a test of its own, with
// setup before each. A script is a txtar archive: commands first, then files,
// which are laid out in the workspace. Each script has a runtime of its own.
//
// Besides the commands of testscript, such as cmp, stdout, stderr and exists,
// a script has these:
//
//	call TOOL [JSON]     make a call; stdout is the output, with a line feed
//	! call TOOL [JSON]   the call must fail; stderr is the error
//	kind KIND [CODE]     what kind of failure the last call was
//	title TEXT           the title of the last result
//	metadata KEY [JSON]  the metadata of the last result has KEY, and this value
//	attached [MIME…]     the attachments of the last result
//	rule PERMISSION PATTERN ACTION
//	                     add a rule after those of every agent
//	answer once|always|reject [MESSAGE]
//	                     what to reply to the next permission request
//	answers JSON         what to answer to the next questions, as [["A"],["B"]]
//	dismiss              dismiss the next questions instead
//	asked [REQUEST…]     what permission was asked for since the last asked,
//	                     each as PERMISSION or as 'PERMISSION PATTERN…'
//	agent NAME           who makes the calls that follow
//	session NAME         the session of the calls that follow; "script" at first
//	flag NAME            switch a tool on that is off by default
//	age FILE SECONDS     make FILE look as if it had been changed that long ago
//
// The title, metadata, kind and asked commands may be negated with !, and
// metadata then without JSON says that there is no such key. A rule or flag
// after a call starts the runtime anew: what is kept on disk stays, and
// approvals for the session are forgotten.
//
// A script fails if it is asked what it has no answer to, or if an answer is
// left over.
func Scripts(t *testing.T, dir string, setup ...func(*Env) error) {
	t.Helper()
	testscript.Run(t, testscript.Params{
		Dir:  dir,
		Cmds: commands(),
		Setup: func(env *testscript.Env) error {
			data, err := os.MkdirTemp("", "tooltest")
			if err != nil {
				return err
			}
			env.Defer(func() { _ = os.RemoveAll(data) })
			e := &Env{Dir: env.WorkDir, Options: helve.Options{Dir: env.WorkDir, Worktree: env.WorkDir, DataDir: data}}
			for _, f := range setup {
				if err := f(e); err != nil {
					return fmt.Errorf("setting up: %w", err)
				}
			}
			e.Options.Flags = maps.Clone(e.Options.Flags)
			s := &script{bench: &bench{opt: e.Options, tools: e.Tools}, session: "script"}
			env.Values[scriptKey{}] = s
			env.Defer(func() {
				if err := s.close(); err != nil {
					t.Errorf("closing the runtime: %v", err)
				}
				if n := s.left(); n > 0 && !s.failed {
					t.Errorf("%s: %d answers are left that nothing asked for", env.WorkDir, n)
				}
			})
			return nil
		},
	})
}

type scriptKey struct{}

// A script is a running script.
type script struct {
	*bench
	agent, session string

	res    *tool.Result // of the last call, nil if it failed
	err    *tool.Error  // of the last call, nil if it did not fail
	failed bool         // a command has failed the script
}
