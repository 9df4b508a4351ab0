package helve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/builtin"
	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/loop"
	"github.com/helve-dev/helve/internal/lspclient"
	"github.com/helve-dev/helve/internal/plugins"
	"github.com/helve-dev/helve/internal/replace"
	"github.com/helve-dev/helve/internal/search"
	"github.com/helve-dev/helve/internal/store"
	"github.com/helve-dev/helve/internal/web"
	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// notifyGrace is how long Close waits for the hook commands for events.
const notifyGrace = 2 * time.Second

// closeGrace is how long Close waits for tools that do not end.
const closeGrace = 2 * time.Second

// A Runtime holds tools and runs calls of them. Create one with [Open].
type Runtime struct {
	opt                    Options
	dir, worktree, project string
	outputs                string // the folder of long outputs
	now                    func() time.Time
	newID                  func(prefix string) string
	log                    *slog.Logger
	agents                 []agent.Spec

	registry    *registry
	engine      *permission.Engine
	questions   *questions
	events      *eventLog
	loops       *loopDetector
	store       *lazyStore
	files       *files.Workspace
	search      *search.Engine
	shell       *shellHost
	pool        mcp.Pool
	custom      plugins.Set       // tools and plugins of users; nil for none
	skills      *skillHost        // nil for none
	programs    *plugins.Programs // hooks that are programs
	notifier    *hookNotifier     // passes events to hook commands; nil if there are none
	web         *web.Client
	languages   *lspclient.Set // nil for none
	configShown atomic.Bool    // plugins have seen the configuration
	sources     []*sourceState // providers of tools that are started on demand
	hooks       []Hook         // in order
	session     func() string  // the session of calls that name none
	lent        lentModels     // models brought by clients
	loop        *loop.Runner   // runs prompts
	active      activeSessions // sessions being worked on

	running  runningCalls // calls with a record in progress
	calls    sync.Map     // cancel functions of calls from their arrival on, by session and id
	turns    sync.Map     // cancel functions of turns, by session
	workers  *workerPool  // runs tools and hooks
	ctx      context.Context
	cancel   context.CancelFunc
	closing  sync.RWMutex
	closed   bool
	underway sync.WaitGroup // running calls
}

// Open returns a runtime with the built-in tools. The working directory must exist. Open opens no
// files: each is opened by the first call that needs it. It reads no config file: rules, tools and
// servers come from opt, whatever an opencode.json in the folder says.
func Open(opt Options) (*Runtime, error) {
	dir, err := workingFolder(opt.Dir)
	if err != nil {
		return nil, err
	}
	r := &Runtime{opt: opt, dir: dir, worktree: opt.Worktree, project: opt.Project, now: time.Now, log: opt.Logger}
	r.opt.Limits = opt.Limits.withDefaults()
	if r.opt.Client == "" {
		r.opt.Client = "cli"
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	if r.worktree == "" {
		r.worktree = files.FindWorktree(dir)
	}
	if r.project == "" {
		r.project = projectOf(r.worktree, dir)
	}
	r.newID = opt.NewID
	if r.newID == nil {
		r.newID = (&ids{now: r.now}).next
	}
	if err := r.resolveOptions(); err != nil {
		return nil, err
	}
	r.open()
	if err := r.registerBuiltins(); err != nil {
		_ = r.Close() // end what was started; the first error is the one to return
		return nil, err
	}
	return r, nil
}

// workingFolder returns the absolute path of an existing folder. Without this check, every call
// would fail with a different error.
func workingFolder(name string) (string, error) {
	dir, err := filepath.Abs(name)
	if err != nil {
		return "", fmt.Errorf("finding the working folder: %w", err)
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("the working folder %s is not there: make it, or name another (%w)", dir, fs.ErrNotExist)
	case err != nil:
		return "", fmt.Errorf("looking at the working folder: %w", err)
	case !info.IsDir():
		return "", fmt.Errorf("the working folder %s is a file: name the folder that it lies in, or another", dir)
	}
	return dir, nil
}

// resolveOptions decides where long outputs are kept, lets every agent read them there, and makes
// the paths of users' files absolute.
func (r *Runtime) resolveOptions() error {
	if r.opt.DataDir == "" {
		r.outputs = filepath.Join(os.TempDir(), "helve-output-"+strings.ToLower(rand.Text()))
	} else {
		data, err := filepath.Abs(r.opt.DataDir)
		if err != nil {
			return fmt.Errorf("finding the data folder: %w", err)
		}
		r.opt.DataDir, r.outputs = data, filepath.Join(data, "tool-output")
	}
	if r.opt.Loop.PlanTools {
		r.opt.Flags = maps.Clone(r.opt.Flags)
		if r.opt.Flags == nil {
			r.opt.Flags = map[string]bool{}
		}
		r.opt.Flags["plan"] = true
	}
	users := &r.opt.Plugins
	users.Folders, users.Entries = slices.Clone(users.Folders), slices.Clone(users.Entries)
	for i := range users.Folders {
		users.Folders[i].Path = r.absolute(users.Folders[i].Path)
	}
	for i := range users.Entries {
		users.Entries[i].Base = r.absolute(users.Entries[i].Base)
	}
	r.agents = slices.Clone(r.opt.Agents)
	if r.opt.Agents == nil {
		r.agents = agent.Specs(agent.SpecOptions{DataDir: r.opt.DataDir, Worktree: r.worktree, User: r.opt.Rules})
	}
	for i := range r.agents {
		p := &r.agents[i].Policy
		if p.Decide("external_directory", filepath.Join(r.outputs, "*")).Action == permission.Ask {
			p.Rules = slices.Clip(p.Rules)
			for _, pattern := range []string{r.outputs, filepath.Join(r.outputs, "*")} {
				p.Rules = append(p.Rules, permission.Rule{
					Permission: "external_directory", Pattern: pattern, Action: permission.Allow, From: permission.Source{File: "default rules"},
				})
			}
		}
	}
	r.protectRecords()
	return nil
}

// protectRecords denies every agent our own records and secrets if they lie in the project, as when
// the project is a whole home folder: whoever reads the token of a server can answer in place of
// its user. Elsewhere they are outside the project, which is asked about.
func (r *Runtime) protectRecords() {
	var shut permission.Ruleset
	for _, name := range slices.Concat(r.records(), r.opt.Shell.Wall.Hidden) {
		if !slices.ContainsFunc(r.roots(), func(root string) bool { return disk.Within(root, name) }) {
			continue
		}
		for _, what := range []string{"read", "edit", "list"} {
			for _, pattern := range []string{name, filepath.Join(name, "*")} {
				shut = append(shut, permission.Rule{Permission: what, Pattern: pattern, Action: permission.Deny, From: permission.Source{File: "helve's own records"}})
			}
		}
	}
	if shut == nil {
		return
	}
	for i := range r.agents {
		p := &r.agents[i].Policy
		p.Ceilings = append(slices.Clip(p.Ceilings), shut)
	}
}

// open creates the parts of the runtime.
func (r *Runtime) open() {
	r.session = sync.OnceValue(func() string { return r.newID("ses") })
	r.registry = newRegistry(r.log)
	r.events = newEventLog(r.now)
	r.store = &lazyStore{open: func() (*store.Store, error) {
		return store.Open(store.Options{Dir: r.opt.DataDir, Outputs: r.outputs, Sync: r.opt.Durable, Logger: r.log})
	}}
	r.engine = permission.NewEngine(permission.EngineOptions{
		Unattended: r.opt.Unattended, File: r.opt.RulesFile, Project: r.project, Approvals: r.store,
		NewID: func() string { return r.newID("per") },
		OnAsk: func(req permission.Request) { r.events.publish(event.PermissionAsked{Request: req}) },
		OnReply: func(req permission.Request, reply permission.Reply) {
			r.events.publish(event.PermissionReplied{Session: req.Session, Request: req.ID, Reply: reply.Verdict})
		},
	})
	r.questions = &questions{
		unattended: r.opt.Unattended, publish: r.events.publish,
		newID:   func() string { return r.newID("que") },
		waiting: map[string]*pendingQuestion{},
	}
	r.loops = &loopDetector{ask: r.engine.Ask, sessions: map[string][]pastCall{}}
	r.openFiles()
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.workers = &workerPool{done: r.ctx.Done(), jobs: make(chan func())}
	r.workers.run(func() { r.sweepHourly(r.ctx) })
	r.openLoop()
}

func (r *Runtime) registerBuiltins() error {
	matching := replace.Profile(r.opt.Matching)
	if matching != "" && matching != replace.Safe && matching != replace.Seed {
		return fmt.Errorf("matching %q is not one of %s, %s", matching, replace.Safe, replace.Seed)
	}
	searching, err := r.searching()
	if err != nil {
		return err
	}
	if err := r.openShell(); err != nil {
		return err
	}
	if err := r.openMCP(); err != nil {
		return err
	}
	if err := r.openLSP(); err != nil {
		return err
	}
	network := r.openWeb()
	if err := r.openCustom(); err != nil {
		return err
	}
	tools := builtin.All(builtin.Rooms{
		Files: r.files, Shell: r.shell, Checkpoint: !r.opt.Shell.NoCheckpoint, Search: searching, Matching: matching, Format: r.formatters(),
		Todos: todoHost{r}, People: r.questions, Calls: r, Resources: resourceHost{r.pool}, Web: network, Skills: r.openSkills(),
		Languages: r.languages, Delegates: subagents{r}, Plans: plans{r},
	})
	for _, t := range tools {
		if _, err := r.registry.add(t, true); err != nil {
			return err
		}
	}
	return nil
}

// Register adds a tool. Of two tools with the same name the later one counts; remove removes it
// again, which reveals the earlier one. An external tool cannot take the name of a built-in one.
func (r *Runtime) Register(t tool.Tool) (remove func(), err error) {
	take, err := r.registry.add(t, false)
	if err != nil {
		return nil, err
	}
	r.events.publish(event.ToolsChanged{})
	return sync.OnceFunc(func() {
		take()
		r.events.publish(event.ToolsChanged{})
	}), nil
}

// Tools returns the tools that are shown to a, in order. Empty fields of a are taken from the
// options; the default agent is used when a names none. An agent's rules hide the tools that they
// deny entirely. An unknown agent is shown nothing. The flag "compact" leaves out the tools of
// other programs.
func (r *Runtime) Tools(a tool.Audience) []tool.Spec {
	return r.shownTo(r.ctx, r.agent(a.Agent), a)
}

// shownTo returns the tools that an agent is shown, as plugins describe them.
func (r *Runtime) shownTo(ctx context.Context, who *agent.Spec, a tool.Audience) []tool.Spec {
	if who == nil {
		return []tool.Spec{}
	}
	a = r.complement(a)
	specs := listedSpecs(r.registry.offered(a, who), a)
	return r.redefine(ctx, specs)
}

func (r *Runtime) complement(a tool.Audience) tool.Audience {
	if a.Client == "" {
		a.Client = r.opt.Client
	}
	if a.Provider == "" && a.Model == "" {
		a.Provider, a.Model = r.opt.Provider, r.opt.Model
	}
	if a.Flags == nil {
		a.Flags = r.opt.Flags
	}
	return a
}

func (r *Runtime) audience(c *tool.Call) tool.Audience {
	return r.complement(tool.Audience{Client: c.Client, Provider: c.Provider, Model: c.Model, Agent: c.Agent})
}

// Agents returns the agents of the runtime, the default one first.
func (r *Runtime) Agents() []agent.Spec { return slices.Clone(r.agents) }

// agent returns the agent with a name, the default one for "", or nil if there is none.
func (r *Runtime) agent(name string) *agent.Spec {
	for i := range r.agents {
		if name == "" || r.agents[i].Name == name {
			return &r.agents[i]
		}
	}
	return nil
}

func (r *Runtime) agentNames() []string {
	var names []string
	for _, a := range r.agents {
		if !a.Hidden {
			names = append(names, a.Name)
		}
	}
	return names
}

// NewID generates an identifier for a call or a session ("call", "ses") whose id has to be known in
// advance.
func (r *Runtime) NewID(prefix string) string { return r.newID(prefix) }

// Events yields the events after the one numbered since, in order, until ctx ends or the runtime
// closes. With [event.Now] it starts with the events after the call of Events. A subscriber that is
// too slow is told how many events it missed. It never delays a call, and delays the end of a
// prompt only briefly.
func (r *Runtime) Events(ctx context.Context, since uint64) iter.Seq[event.Event] {
	return r.events.after(ctx, since)
}

// Pending returns the permission requests that wait for an answer, oldest first.
func (r Requests) Pending() []permission.Request { return r.rt.engine.Pending() }

// Reply answers a permission request, as [permission.Engine.Reply] does.
func (r Requests) Reply(id string, reply permission.Reply) error { return r.rt.engine.Reply(id, reply) }

// Asks returns the permission that a tool asks for, or "" if there is no such tool.
func (r Permissions) Asks(name string) string {
	e, ok := r.rt.registry.newest(name)
	if !ok {
		return ""
	}
	return e.spec.Permission
}

// Decide returns what would happen to a request of an agent, without asking. If the permission is
// the name of a tool, that tool's request is decided.
func (r Permissions) Decide(agent string, req permission.Request) ([]permission.Decision, error) {
	a := r.rt.agent(agent)
	if a == nil {
		return nil, fmt.Errorf("there is no agent called %q", agent)
	}
	policy := a.Policy
	if asks := r.rt.Permissions().Asks(req.Permission); asks != "" {
		policy, req.Permission = policy.Of(req.Permission, asks), asks
	}
	return r.rt.engine.Decide(req, policy)
}

// Approvals returns the approvals that hold for a session: its own, its project's and the user's.
func (r Permissions) Approvals(session string) ([]permission.Approval, error) {
	return r.rt.engine.Approvals(session)
}

// Revoke removes an approval and reports whether it existed.
func (r Permissions) Revoke(id string) (bool, error) { return r.rt.engine.Revoke(id) }

// EndSession rejects the waiting requests of a session, forgets its session approvals, and ends its
// jobs.
func (r *Runtime) EndSession(session string) error {
	r.questions.endSession(session)
	r.loops.removeSession(session)
	r.notifySessionDeleted(r.ctx, session)
	return errors.Join(r.engine.EndSession(session), r.shell.EndSession(r.ctx, session))
}

// Leave says that nobody can answer any more: waiting requests and questions fail, and so do later
// ones that would wait.
func (r *Runtime) Leave() {
	r.engine.Leave()
	r.questions.markUnattended()
}

// Close ends everything that the runtime has started. Running calls are cancelled and recorded as
// such, waiting requests fail, and no call can begin afterwards. A tool that does not end is
// abandoned after two seconds.
func (r *Runtime) Close() error {
	r.closing.Lock()
	again := r.closed
	r.closed = true
	r.closing.Unlock()
	if again {
		return nil
	}
	r.notifier.drain(notifyGrace)
	r.cancel()
	r.engine.Close()
	r.questions.close()
	r.underway.Wait() // each returns within a second
	done := make(chan struct{})
	go func() {
		r.workers.workers.Wait()
		close(done)
	}()
	timer := time.NewTimer(closeGrace)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		r.log.Warn("a tool did not end when the runtime closed")
	}
	if r.search != nil {
		r.search.Close()
	}
	var ended error
	for _, s := range r.sources {
		ended = errors.Join(ended, s.Close())
	}
	if r.languages != nil {
		ended = errors.Join(ended, r.languages.Close())
	}
	if r.shell != nil {
		ended = errors.Join(ended, r.shell.Close())
	}
	r.events.close()
	return errors.Join(ended, r.store.close(), r.removeTemporary())
}
