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

// Shell configures how commands run. The zero value runs them in the system's bash, without a
// sandbox, for at most two minutes.
type Shell struct {
	// Path is the shell; the system's bash when empty. It must parse command lines as bash does.
	Path string
	// Timeout is the default time limit of a command, two minutes when 0. MaxTimeout is the longest
	// that a command may ask for, a day when 0.
	Timeout, MaxTimeout time.Duration

	// PassEnv names variables that commands get in addition to the usual ones, with * as a
	// wildcard. One whose name suggests a secret must be named in full. SetEnv are variables that
	// every command gets.
	PassEnv []string
	SetEnv  map[string]string

	// Helper is a program whose main calls [RunHelper] first, such as the helve command or the
	// embedding program itself. It isolates commands from the program, ends what they leave behind
	// when the program dies, and sets up the sandbox. Without a helper there is no sandbox, and
	// processes that detach themselves may outlive a killed program.
	Helper string

	Wall Wall

	// Jobs limits how many commands run in the background at once, 16 when 0. JobBytes limits the
	// kept output of one, 64 MiB when 0, and JobsBytes that of all, 1 GiB when 0.
	Jobs                int
	JobBytes, JobsBytes int64

	// Ephemeral says that the runtime makes one call and exits: no command can run in the
	// background.
	Ephemeral bool

	// Detach are patterns of commands, as in rules ("nohup *"). A line with such a command may
	// leave programs running after the runtime has ended. It has no effect in the sandbox, nor for
	// agents that may not change anything.
	Detach []string

	// NoCheckpoint lets commands delete or overwrite files without a copy of their contents being
	// kept.
	NoCheckpoint bool
}

// Wall configures the sandbox of commands, which the kernel enforces for any program.
type Wall struct {
	// Level is "off", the default; "write", which limits writing to the worktree; or "strict",
	// which also prevents most reading and any use of the network. Agents that may not change
	// anything run at "write" or stricter, with a read-only worktree, where the system supports it.
	Level string
	// Optional lets commands run without the sandbox where the system does not support it.
	// Otherwise they do not run there.
	Optional bool
	// Writable and Readable are further folders that commands may write to, and that they may read
	// at "strict".
	Writable, Readable []string
	// Hidden are further files that sandboxed commands cannot read.
	Hidden []string
}

// RunHelper runs the helper of a runtime, and does not return, if this process was started as one.
// A program that names itself in [Shell.Helper] calls it first in main.
func RunHelper() {
	if code, ok := process.HelperMain(os.Args[1:]); ok {
		os.Exit(code)
	}
}

// A shellHost runs commands for the tools.
type shellHost struct {
	*process.Executor
	r *Runtime
}

// openShell prepares for running commands. It starts nothing.
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

// records returns the runtime's files and folders that no command needs to read: earlier contents
// of files, some of which may not be readable, and the records of calls.
func (r *Runtime) records() []string {
	out := []string{r.ownFolder("history"), r.ownFolder("jobs")}
	if r.opt.DataDir != "" {
		for _, name := range []string{"helve.db", "helve.db-wal", "helve.db-shm", "trust.json", "mcp-auth.json", "mcp-token", "serve-token", "servers", "mcp-logs"} {
			out = append(out, r.ownFolder(name))
		}
	}
	return out
}

// roots returns the folders that belong to the project.
func (r *Runtime) roots() []string {
	if r.worktree == "" || r.worktree == string(filepath.Separator) {
		return []string{r.dir}
	}
	if disk.Within(r.worktree, r.dir) {
		return []string{r.worktree}
	}
	return []string{r.worktree, r.dir}
}

// detaches returns a function that reports whether a command matches Detach; nil if Detach is
// empty.
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

// Run runs a command under the rules of the calling agent.
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

// Background turns the command that a call is waiting for into a background job, so that the call
// returns. It reports whether there was one.
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

// List returns the background commands, running and ended, of a session, or of all sessions for "",
// the oldest first.
func (r Jobs) List(session string) ([]record.Job, error) {
	out := []record.Job{}
	for _, info := range r.rt.shell.Jobs().List(session) {
		out = append(out, jobOf(info))
	}
	return out, nil
}

// ErrNoJob says that there is no job with the given id.
var ErrNoJob = errors.New("there is no such job")

// Stop ends a job with all processes that it has started. It returns [ErrNoJob] if there is no such
// job.
func (r Jobs) Stop(ctx context.Context, id string) (record.Job, error) {
	info, err := r.rt.shell.Jobs().Stop(ctx, id)
	if errors.Is(err, process.ErrNoJob) {
		err = fmt.Errorf("job %q: %w", id, ErrNoJob)
	}
	return jobOf(info), err
}

// maxJobOutput limits how much of a job's output is returned at once.
const maxJobOutput = 256 << 10

// Output returns what a job has printed from an offset on; a negative one counts from the end. It
// does not wait for more.
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

// unfinished returns the number of bytes at the end that begin an incomplete character.
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

// A WallState is the measured state of the sandbox.
type WallState struct {
	Level    string        `json:"level"` // off, write or strict
	Complete bool          `json:"complete"`
	Promises []WallPromise `json:"promises,omitempty"`
	Reason   string        `json:"reason,omitempty"` // why it is incomplete, and what to do
}

// A WallPromise is one thing that the sandbox prevents or permits, and what happened when it was
// tried.
type WallPromise struct {
	Text     string `json:"text"`
	Verdict  string `json:"verdict"` // held, not held or not promised
	Measured string `json:"measured"`
}

// ProveWall tries to break out of the sandbox of commands and returns what it measured.
func (r *Runtime) ProveWall(ctx context.Context) (WallState, error) {
	state, err := r.shell.Prove(ctx)
	out := WallState{Level: string(state.Level), Complete: err == nil && (state.Level == "off" || state.Complete()), Reason: state.Reason}
	for _, p := range state.Promises {
		out.Promises = append(out.Promises, WallPromise{Text: p.Text, Verdict: string(p.Verdict), Measured: p.Measured})
	}
	return out, err
}

// A ShellInfo describes the shell that runs commands.
type ShellInfo struct {
	Path    string        `json:"path"` // "" where there is none
	Why     string        `json:"why"`  // why it was chosen, or why there is none
	Timeout time.Duration `json:"timeout"`
	NoWall  string        `json:"noWall,omitempty"` // what this system lacks for a sandbox
}

// ShellInfo returns which shell runs commands, and why.
func (r *Runtime) ShellInfo() ShellInfo {
	shell, err := r.shell.Shell()
	info := ShellInfo{Path: shell.Path, Why: shell.Why, Timeout: r.shell.Facts().Timeout, NoWall: r.shell.Lacks()}
	if err != nil {
		info.Why = err.Error()
	}
	return info
}
