package helve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/builtin"
	"github.com/helve-dev/helve/internal/command"
	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

// Shell says how command lines are run. The zero value runs them in the
// system's bash, without a wall, and two minutes long at the most.
type Shell struct {
	// Path names the shell; the system's bash when empty. It has to be one
	// that reads command lines as bash does.
	Path string
	// Timeout is how long a command may take that does not say, two minutes
	// when 0, and MaxTimeout how long any may, a day when 0.
	Timeout, MaxTimeout time.Duration

	// PassEnv names variables that commands get beside the ordinary ones, with
	// * for any text. One that sounds like a secret has to be named in full.
	// SetEnv are variables that every command gets.
	PassEnv []string
	SetEnv  map[string]string

	// Helper is a program whose main calls [RunHelper] first, such as the
	// helve command or, with that call, the program itself. It keeps commands
	// apart from the program, ends what they left when the program dies, and
	// stands behind the wall. Without one there is no wall, and a process that
	// hides well may outlive a killed program.
	Helper string

	Wall Wall

	// Jobs is how many commands may go on in the background at once, 16 when
	// 0. JobBytes is how much of the output of one is kept, 64 MiB when 0, and
	// JobsBytes how much of all, 1 GiB when 0.
	Jobs                int
	JobBytes, JobsBytes int64

	// Ephemeral says that the runtime makes a call and ends: nothing can go on
	// in the background.
	Ephemeral bool

	// Detach are patterns of commands, as rules have them ("nohup *"). A line
	// with such a command may leave programs running after the runtime has ended.
	// It does not hold behind the wall, nor for agents that may change nothing.
	Detach []string

	// NoCheckpoint lets commands that delete or overwrite files do so without
	// keeping what was there.
	NoCheckpoint bool
}

// Wall says what the kernel keeps commands from, whatever program they are.
type Wall struct {
	// Level is "off", which is also meant by ""; "write", behind which only
	// the worktree can be written to; or "strict", behind which in addition
	// little else can be read and there is no network. Agents that may change
	// nothing run behind "write" at least, with the worktree read-only, where
	// the machine can do that.
	Level string
	// Optional lets commands run without the wall where the machine has none.
	// Otherwise they do not run there at all.
	Optional bool
	// Writable and Readable are further folders that commands may write to,
	// and read from behind "strict".
	Writable, Readable []string
	// Hidden are further files that commands behind any wall can not read.
	Hidden []string
}

// RunHelper makes this program the helper of a runtime if that is what it was
// started for, and does not return then. It is to be called first in main by a
// program that names itself in [Shell.Helper].
func RunHelper() {
	if code, ok := process.HelperMain(os.Args[1:]); ok {
		os.Exit(code)
	}
}

// A shellHost is where the tools that run commands work.
type shellHost struct {
	*process.Executor
	r *Runtime
}

// openShell makes the room for commands. Nothing is started before the
// first of them.
func (r *Runtime) openShell() error {
	opt := r.opt.Shell
	wall := process.SandboxOptions{
		Level: opt.Wall.Level, Optional: opt.Wall.Optional, Roots: r.roots(), Protected: r.files.Protected(r.dir, slices.Concat(r.roots(), opt.Wall.Writable)...),
		Hidden: slices.Concat(r.records(), opt.Wall.Hidden), Writable: opt.Wall.Writable, Readable: slices.Concat(opt.Wall.Readable, []string{r.outputs}, r.customReadable()),
	}
	room, err := process.NewExecutor(process.ExecutorOptions{
		Dir: r.dir, Shell: opt.Path, Timeout: opt.Timeout, MaxTimeout: opt.MaxTimeout,
		Env: process.Environment{Pass: opt.PassEnv, Set: opt.SetEnv}, Helper: opt.Helper, Wall: wall, Ephemeral: opt.Ephemeral,
		Lines: r.opt.Limits.Lines, Bytes: r.opt.Limits.Bytes, Quota: r.opt.Limits.Quota / 4, Spill: r.keepOutput, Private: r.ownFolder,
		Jobs: process.JobsOptions{
			Dir: r.ownFolder("jobs"), Max: opt.Jobs, PerJob: opt.JobBytes, Total: opt.JobsBytes, Keep: r.opt.Limits.Retention,
			OnChange: func(info process.JobInfo) {
				r.invalidateFiles()
				r.events.publish(event.JobChanged{Job: jobOf(info)})
			},
		},
		Detach: opt.detaches(),
		NewID:  r.newID, Logger: r.log,
	})
	if err != nil {
		return fmt.Errorf("setting up the shell: %w", err)
	}
	r.shell = &shellHost{Executor: room, r: r}
	return nil
}

// records are the files and folders of the runtime that no command has to
// read: earlier contents of files, which may be ones that may not be read, and
// what was called.
func (r *Runtime) records() []string {
	out := []string{r.ownFolder("history"), r.ownFolder("jobs")}
	if r.opt.DataDir != "" {
		for _, name := range []string{"helve.db", "helve.db-wal", "helve.db-shm", "trust.json", "mcp-auth.json", "mcp-token", "serve-token", "servers", "mcp-logs"} {
			out = append(out, r.ownFolder(name))
		}
	}
	return out
}

// roots are the folders that belong to the project.
func (r *Runtime) roots() []string {
	if r.worktree == "" || r.worktree == string(filepath.Separator) {
		return []string{r.dir}
	}
	if disk.Within(r.worktree, r.dir) {
		return []string{r.worktree}
	}
	return []string{r.worktree, r.dir}
}

// detaches is whether a command is one of Detach; nil where there are none.
func (s Shell) detaches() func(command string) bool {
	if len(s.Detach) == 0 {
		return nil
	}
	may := func(text string) bool {
		return slices.ContainsFunc(s.Detach, func(pattern string) bool { return permission.Match(text, pattern) })
	}
	return func(line string) bool {
		return may(line) || slices.ContainsFunc(command.Parse(line).Units, func(u command.Unit) bool {
			return may(u.Text) || slices.ContainsFunc(u.Spellings, may)
		})
	}
}

// Run runs a command under the rules of the agent that makes the call.
func (s *shellHost) Run(ctx context.Context, c *tool.Call, cmd process.ShellCommand) (*process.Outcome, error) {
	cmd.Session, cmd.Call = c.Session, c.ID
	if c.Show > 0 {
		cmd.Show = s.r.limits(c).Bytes
	}
	agent := s.r.agentOf(c)
	cmd.Hint = func(path string) string { return hintSaved + path + "\n" + s.r.hintFor(c, agent) }
	if agent != nil {
		cmd.ReadOnly, cmd.Locked = agent.ReadOnly || agent.Locked, agent.Locked
	}
	cmd.Set = s.r.shellVariables(ctx, c, cmd.Dir)
	passes, key := c.Filter("read")
	cmd.Sieve = process.PathFilter{Passes: passes, Key: key, Names: s.r.files.Names(c.Dir)}
	defer s.r.invalidateFiles()
	return s.Executor.Run(ctx, cmd)
}

var _ builtin.Shell = (*shellHost)(nil)

// Background lets a command that a call is waiting for go on as a job, and
// the call return. It reports whether there was one.
func (r Jobs) Background(session, call string) bool { return r.rt.shell.Detach(session, call) }

func jobOf(i process.JobInfo) record.Job {
	out := record.Job{
		ID: i.ID, Session: i.Session, Call: i.Call, Command: i.Command, Title: i.Title, Dir: i.Dir, State: string(i.State),
		Exited: i.Exited, Signal: i.Signal, Began: i.Began, Ended: i.Ended, Bytes: i.Bytes,
	}
	if i.Exited {
		out.Code = &i.Code
	}
	return out
}

// List returns the commands that run or ran in the background, of a session
// or, where it is "", of all, the oldest first.
func (r Jobs) List(session string) ([]record.Job, error) {
	out := []record.Job{}
	for _, info := range r.rt.shell.Jobs().List(session) {
		out = append(out, jobOf(info))
	}
	return out, nil
}

// ErrNoJob says that there is no job of an id.
var ErrNoJob = errors.New("there is no such job")

// Stop ends a job with all that it has started. Its error for a job that
// there is not is [ErrNoJob].
func (r Jobs) Stop(ctx context.Context, id string) (record.Job, error) {
	info, err := r.rt.shell.Jobs().Stop(ctx, id)
	if errors.Is(err, process.ErrNoJob) {
		err = fmt.Errorf("job %q: %w", id, ErrNoJob)
	}
	return jobOf(info), err
}

// maxJobOutput is how much of a job's output is given at once.
const maxJobOutput = 256 << 10

// Output returns what a job printed from an offset on; a negative one counts
// from the end. It gives what is there and does not wait.
func (r Jobs) Output(id string, offset int64) (record.JobOutput, error) {
	c, err := r.rt.shell.Jobs().Output(id, offset, maxJobOutput)
	if errors.Is(err, process.ErrNoJob) {
		err = fmt.Errorf("job %q: %w", id, ErrNoJob)
	}
	data := c.Data
	if !c.Done {
		data = data[:len(data)-unfinished(data)] // the rest of the character comes with the next piece
	}
	return record.JobOutput{
		Text: strings.ToValidUTF8(string(data), "\uFFFD"), Offset: c.Offset, Next: c.Offset + int64(len(data)), Skipped: c.Skipped, Done: c.Done,
	}, err
}

// unfinished is how many bytes at the end begin a character that goes on.
func unfinished(data []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(data); n++ {
		if b := data[len(data)-n]; utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRune(data[len(data)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// A WallState is what was measured behind the wall.
type WallState struct {
	Level    string        `json:"level"` // off, write or strict
	Complete bool          `json:"complete"`
	Promises []WallPromise `json:"promises,omitempty"`
	Reason   string        `json:"reason,omitempty"` // why it is not complete, and what to do
}

// A WallPromise is one thing that the wall keeps out, or lets through, and what
// happened when it was tried.
type WallPromise struct {
	Text     string `json:"text"`
	Verdict  string `json:"verdict"` // held, not held or not promised
	Measured string `json:"measured"`
}

// ProveWall tries to break the wall that commands run behind, and says what
// was measured.
func (r *Runtime) ProveWall(ctx context.Context) (WallState, error) {
	state, err := r.shell.Prove(ctx)
	out := WallState{Level: string(state.Level), Complete: err == nil && (state.Level == "off" || state.Complete()), Reason: state.Reason}
	for _, p := range state.Promises {
		out.Promises = append(out.Promises, WallPromise{Text: p.Text, Verdict: string(p.Verdict), Measured: p.Measured})
	}
	return out, err
}

// A ShellInfo says what commands run in.
type ShellInfo struct {
	Path    string        `json:"path"` // "" where there is none
	Why     string        `json:"why"`  // how it came to be chosen, or why there is none
	Timeout time.Duration `json:"timeout"`
	NoWall  string        `json:"noWall,omitempty"` // what this machine lacks for a wall
}

// ShellInfo says what commands run in, and why.
func (r *Runtime) ShellInfo() ShellInfo {
	shell, err := r.shell.Shell()
	info := ShellInfo{Path: shell.Path, Why: shell.Why, Timeout: r.shell.Facts().Timeout, NoWall: r.shell.Lacks()}
	if err != nil {
		info.Why = err.Error()
	}
	return info
}
