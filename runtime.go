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
	"github.com/helve-dev/helve/internal/custom"
	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/loop"
	"github.com/helve-dev/helve/internal/lspclient"
	"github.com/helve-dev/helve/internal/mcpclient"
	"github.com/helve-dev/helve/internal/replace"
	"github.com/helve-dev/helve/internal/search"
	"github.com/helve-dev/helve/internal/store"
	"github.com/helve-dev/helve/internal/web"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// notifyGrace is how long Close waits for commands that are told of events.
const notifyGrace = 2 * time.Second

// closeGrace is how long Close waits for tools that do not end.
const closeGrace = 2 * time.Second

// A Runtime holds tools and runs calls of them. Make one with [Open].
type Runtime struct {
	opt                    Options
	dir, worktree, project string
	outputs                string // where long outputs are kept
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
	pool        *mcpclient.Pool
	custom      *custom.Set      // what users bring; nil for nothing
	skills      *skillHost       // nil for none
	programs    *custom.Programs // hooks and tools that are programs
	notifier    *hookNotifier    // tells commands of events; nil where there are none
	web         *web.Client
	languages   *lspclient.Set // nil for none
	configShown atomic.Bool    // plugins have seen the configuration
	sources     []*sourceState // of tools that come when they are needed
	hooks       []Hook         // that see calls, in order
	session     func() string  // of calls that name none
	lent        lentModels     // models of clients
	loop        *loop.Runner   // works on prompts
	active      activeSessions // the sessions that it works on

	running  runningCalls // recorded calls under way
	calls    sync.Map     // what ends a call, by session and id, from its arrival on
	turns    sync.Map     // what ends the work on a session
	workers  *workerPool  // what runs tools and hooks
	ctx      context.Context
	cancel   context.CancelFunc
	closing  sync.RWMutex
	closed   bool
	underway sync.WaitGroup // calls under way
}

// Open returns a runtime with the built-in tools. It opens no file: what a
// call needs is opened by the first call that needs it. The working folder has
// to be there. No config file is read: rules, tools and servers are those of the
// options, whatever an opencode.json in the folder says.
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
		_ = r.Close() // what was begun ends; the first error is the one to tell
		return nil, err
	}
	return r, nil
}

// workingFolder is the whole name of a folder that is there. Where there is
// none, every call would fail, each with words about something else.
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

// resolveOptions decides where long outputs are kept, and lets every agent read them
// there.
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

// protectRecords keeps every agent from our own records and secrets where they lie
// in the project, as in that of a whole home folder: whoever reads the token of
// a server can answer for its person. Elsewhere they lie outside, which is
// asked about.
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

// open makes the rooms of the runtime.
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

// Register adds a tool. Of two tools of one name the later one counts;
// remove takes it away and reveals the earlier one. A tool from outside may
// not take the name of a built-in one.
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

// Tools returns the tools that are shown to a, in order. Empty fields of a
// are taken from the options, and the agent is the default one; its rules
// hide what they deny whole. To an agent that does not exist nothing is shown.
// The flag "compact" keeps the tools of other programs out of it.
func (r *Runtime) Tools(a tool.Audience) []tool.Spec {
	return r.shownTo(r.ctx, r.agent(a.Agent), a)
}

// shownTo are the tools that an agent is shown, as plugins describe them.
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

// Agents returns who may call, the default one first.
func (r *Runtime) Agents() []agent.Spec { return slices.Clone(r.agents) }

// agent returns the agent of that name, the default one for "", and nil where
// there is none.
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

// NewID makes an identifier as the runtime does, for a call or a session
// ("call", "ses") that is to be known by its name beforehand.
func (r *Runtime) NewID(prefix string) string { return r.newID(prefix) }

// Events yields what happens after the event numbered since, in order, until
// ctx ends or the runtime closes. With [event.Now] it begins with what happens
// after the call of Events. A subscriber that is too slow to follow is
// told how many events it missed; it never holds up a call, and the end of a
// prompt for a moment only.
func (r *Runtime) Events(ctx context.Context, since uint64) iter.Seq[event.Event] {
	return r.events.each(ctx, since)
}

// Pending returns the permission requests that wait for an answer, oldest
// first.
func (r Requests) Pending() []permission.Request { return r.rt.engine.Pending() }

// Reply answers a permission request.
func (r Requests) Reply(id string, reply permission.Reply) error { return r.rt.engine.Reply(id, reply) }

// Asks is the permission that a tool asks for; "" where there is no such tool.
func (r Permissions) Asks(name string) string {
	e, ok := r.rt.registry.newest(name)
	if !ok {
		return ""
	}
	return e.spec.Permission
}

// Decide says what would happen to a request of an agent, without asking. The
// permission may be the name of a tool: that tool's request is meant then.
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

// Approvals returns the approvals that hold for a session, its project and
// the user.
func (r Permissions) Approvals(session string) ([]permission.Approval, error) {
	return r.rt.engine.Approvals(session)
}

// Revoke takes an approval back. It reports whether there was one.
func (r Permissions) Revoke(id string) (bool, error) { return r.rt.engine.Revoke(id) }

// EndSession rejects what a session still waits for, forgets what was
// approved for it alone, and ends its jobs.
func (r *Runtime) EndSession(session string) error {
	r.questions.endSession(session)
	r.loops.removeSession(session)
	r.notifySessionDeleted(r.ctx, session)
	return errors.Join(r.engine.EndSession(session), r.shell.EndSession(r.ctx, session))
}

// Leave says that there is nobody left to answer: requests and questions that
// wait fail, and so do those that would have waited from now on.
func (r *Runtime) Leave() {
	r.engine.Leave()
	r.questions.markUnattended()
}

// Close ends everything the runtime has started. Calls under way are
// cancelled and recorded as such, what waits for a person fails, and no other
// call begins. A tool that does not end is left behind after two seconds.
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
