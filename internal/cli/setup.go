package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/internal/catalog"
	"github.com/helve-dev/helve/internal/config"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/store"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/scripts"
)

// homeDir returns the user's folder, or "" if unknown.
func (a *app) homeDir() string {
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if dir := a.Getenv(name); dir != "" {
			return dir
		}
	}
	return ""
}

// dataDir is where records are kept.
func (a *app) dataDir() (string, error) {
	for _, dir := range []string{a.dataFlag, a.Getenv("HELVE_DATA_DIR")} {
		if dir != "" {
			return a.abs(dir), nil
		}
	}
	if base := a.Getenv("XDG_DATA_HOME"); filepath.IsAbs(base) { // others are to be ignored
		return filepath.Join(base, "helve"), nil
	}
	if home := a.homeDir(); home != "" {
		return filepath.Join(home, ".local", "share", "helve"), nil
	}
	return "", errors.New("no folder for records is known: set HOME or HELVE_DATA_DIR, or give --data-dir")
}

// configOptions returns where to look for config files.
func (a *app) configOptions() (config.Options, error) {
	data, err := a.dataDir()
	if err != nil {
		return config.Options{}, err
	}
	dir := a.workDir()
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return config.Options{}, usagef("the folder %s does not exist", dir)
	case err != nil:
		return config.Options{}, usagef("the folder %s can not be looked at: %w", dir, err)
	case !info.IsDir():
		return config.Options{}, usagef("%s is not a folder", dir)
	}
	return config.Options{
		Dir: dir, Home: a.homeDir(), Env: a.Getenv,
		Worktree: files.FindWorktree(dir), TrustFile: filepath.Join(data, "trust.json"),
		LanguageServers: knownLanguages(),
	}, nil
}

// A setup is what the environment and the config files come to.
type setup struct {
	cfg  *config.Config
	opt  config.Options
	data string
	// The problem with the configured default agent, nil for none.
	choice *config.Problem
}

// load reads the config files.
func (a *app) load() (*setup, error) {
	opt, err := a.configOptions()
	if err != nil {
		return nil, err
	}
	s := &setup{opt: opt, data: filepath.Dir(opt.TrustFile)}
	s.opt.Defaults = s.defaults("")
	if s.cfg, err = config.Load(s.opt); err != nil {
		return nil, err
	}
	// The default agent, and with it the rules that its examples are checked against, come from the
	// config.
	if name := s.cfg.DefaultAgent; name != "" {
		if own := s.defaults(name); !slices.Equal(own, s.opt.Defaults) {
			s.opt.Defaults = own
			if s.cfg, err = config.Load(s.opt); err != nil {
				return nil, err
			}
		}
	}
	s.choose()
	return s, nil
}

// choose checks the configured default agent. One that only a plugin may define is replaced by
// helve's own, since plugins of OpenCode add agents and here they do not; a misspelled name is an
// error. If the config disables every agent for people, in favor of those of its plugins, build
// stays.
func (s *setup) choose() {
	name, o := s.cfg.DefaultAgent, s.agentOptions()
	err := o.Validate()
	if err == nil {
		return
	}
	from := s.cfg.Origins["default_agent"]
	s.choice = &config.Problem{File: from.File, Line: from.Line, Key: "default_agent", Message: err.Error(), Severity: config.Error}
	own := slices.ContainsFunc(s.cfg.Agents, func(c config.Agent) bool { return c.Name == name })
	names := make([]string, 0, 8)
	for _, a := range agent.Specs(o) {
		names = append(names, a.Name)
	}
	_, near := text.Nearest(name, names)
	if len(s.cfg.Plugins) == 0 || name != "" && (own || slices.Contains(names, name) || near) {
		return
	}
	s.cfg.DefaultAgent = ""
	if s.agentOptions().Validate() != nil {
		// People have build, whatever the config says, with the rules that it gives it.
		for i := range s.cfg.Agents {
			if a := &s.cfg.Agents[i]; a.Name == "build" {
				s.choice.File, s.choice.Line = cmp.Or(s.choice.File, a.From.File), cmp.Or(s.choice.Line, a.From.Line)
				a.Disable, a.Mode, a.Hidden = false, "primary", nil
			}
		}
	}
	s.choice.Severity = config.Warning
	s.choice.Message += ": helve takes no agents from plugins, so " + s.agents()[0].Name + " works where none is named"
	s.cfg.Problems = append(s.cfg.Problems, *s.choice)
}

// defaults are the rules that an agent has before anything is configured.
func (s *setup) defaults(name string) permission.Ruleset {
	o := agent.SpecOptions{DataDir: s.data, Worktree: s.opt.Worktree}
	if name != "" {
		o.Own = []agent.SpecChange{{Name: name}}
	}
	for _, a := range agent.Specs(o) {
		if name == "" || a.Name == name {
			return a.Policy.Rules
		}
	}
	return nil
}

// seeTrust is appended to a notice about what is disabled.
const seeTrust = " (see 'helve trust')"

// warn prints the problems of the config files, except those that the command reports itself, and
// what is not in force. The worst come first, and of many only a few are printed.
func (a *app) warn(cfg *config.Config, said ...config.Problem) {
	const most = 8
	told := 0
	for _, severity := range []config.Severity{config.Error, config.Warning} {
		for i := range cfg.Problems {
			if p := &cfg.Problems[i]; p.Severity == severity && !slices.Contains(said, *p) {
				if told++; told <= most {
					a.printNote(string(severity) + ": " + p.Error())
				}
			}
		}
	}
	if told > most {
		a.printNote(text.Count(told-most, "more problem", "more problems") + " in the config: 'helve config check' lists them all")
	}
	missed := a.missed(cfg)
	for i, w := range missed {
		if i == most {
			a.printNote(text.Count(len(missed)-most, "more setting is", "more settings are") + " not in force: 'helve trust' shows all of them")
			break
		}
		a.printNote(w.String() + seeTrust)
	}
}

// agents returns the built-in agents with their configuration.
func (s *setup) agents() []agent.Spec { return agent.Specs(s.agentOptions()) }

// checkReady returns an error if a call names an unknown or disabled agent.
func (s *setup) checkReady(agent string) error {
	if agent != "" {
		_, err := s.agent(agent)
		return err
	}
	if err := s.agentOptions().Validate(); err != nil {
		return usagef("%w: name another with default_agent in the config, or give --agent", err)
	}
	return nil
}

func (s *setup) agentOptions() agent.SpecOptions {
	o := agent.SpecOptions{
		DataDir: s.data, Worktree: s.opt.Worktree,
		User: s.cfg.Rules, Ceilings: s.cfg.Ceilings, Default: s.cfg.DefaultAgent,
	}
	known := func(name string) bool {
		return slices.ContainsFunc(agent.Specs(agent.SpecOptions{}), func(a agent.Spec) bool { return a.Name == name })
	}
	for _, c := range s.cfg.Agents {
		if c.Untrusted && !known(c.Name) {
			continue // its limits hold where it exists, and here it does not
		}
		o.Own = append(o.Own, agent.SpecChange{
			Name: c.Name, Description: c.Description, Mode: c.Mode, Hidden: c.Hidden,
			Disable: c.Disable || c.Broken && !known(c.Name), // one that is built in has its ceilings
			Rules:   c.Permission, Ceilings: c.Ceilings,
			Prompt: c.Prompt, Model: catalog.Parse(c.Model), Steps: c.Steps, Temperature: c.Temperature, TopP: c.TopP,
			Color: c.Color, Options: optionsOf(c.Options),
		})
	}
	return o
}

// agent returns the agent of a name, the default one for "".
func (s *setup) agent(name string) (agent.Spec, error) {
	var names []string
	for _, a := range s.agents() {
		if name == "" || a.Name == name {
			return a, nil
		}
		if !a.Hidden {
			names = append(names, a.Name)
		}
	}
	return agent.Spec{}, usagef("there is no agent called %q; there are %s", name, strings.Join(names, ", "))
}

// options turns the config into the options of a runtime.
func (a *app) options(s *setup) helve.Options {
	out := s.cfg.ToolOutput
	opt := helve.Options{
		Dir: s.opt.Dir, Worktree: s.opt.Worktree, DataDir: s.data, Durable: s.cfg.Durable,
		Agents: s.agents(), Client: a.firstEnv("HELVE_CLIENT", "OPENCODE_CLIENT"),
		Flags: map[string]bool{
			"batch":    s.cfg.Experimental.BatchTool,
			"question": a.truth("HELVE_ENABLE_QUESTION_TOOL") || a.truth("OPENCODE_ENABLE_QUESTION_TOOL"),
			"exa":      a.searches(),
			"lsp":      a.asksServers(s),
		},
		Matching:   s.cfg.Edit.Matching,
		Unread:     s.cfg.Edit.Unread || a.truth("HELVE_DISABLE_FILETIME_CHECK") || a.truth("OPENCODE_DISABLE_FILETIME_CHECK"),
		Formatters: a.formatters(s.cfg.Formatter),
		Search: helve.Search{
			Order: s.cfg.Search.Order, Limit: s.cfg.Search.Limit, Memory: s.cfg.Search.Memory,
			Budget:    milliseconds(s.cfg.Search.BudgetMS),
			Stateless: true, // most commands make one call and end
		},
		Shell:   a.shell(s),
		Web:     a.network(s),
		Skills:  a.skillPlaces(s),
		Plugins: s.plugins(), Scripts: scripts.Engine(),
		Loop:      s.loopOptions(a),
		Protected: append(s.configDirs(), s.guards()...),
		Limits: helve.Limits{
			History: s.cfg.HistoryBytes,
			Lines:   out.MaxLines, Bytes: out.MaxBytes, Quota: out.QuotaBytes,
			Retention: time.Duration(out.RetentionDays) * 24 * time.Hour,
		},
		Logger: a.logger(),
	}
	// A key in the environment is not used unless a model was chosen: calling a tool must not spend
	// it.
	if s.cfg.Model != "" || a.Getenv("HELVE_MODEL") != "" {
		if found, err := s.models(a); err == nil {
			opt.Models = found
		}
	}
	languages, wrong := a.languageServers(s)
	opt.LSP = languages
	servers, notes := s.mcp()
	notes = append(wrong, notes...)
	depth, _ := strconv.Atoi(a.Getenv(depthName)) // 0 if unset
	if note := deepen(&servers, depth); note != "" {
		notes = append(notes, note)
	}
	for _, note := range notes {
		a.printNote(note)
	}
	if self, err := a.ownPath(); err == nil {
		// An agent whose config helve also reads may have this very program as a server.
		servers.Servers = slices.DeleteFunc(servers.Servers, func(s mcp.Server) bool { return itself(s.Command, self) })
	}
	opt.MCP = servers
	opt.PolicyError, opt.RulesFile = s.broken(), s.userFile()
	return opt
}

// logger returns the log of notices for the user.
func (a *app) logger() *slog.Logger {
	return slog.New(&logHandler{to: a.Stderr, mu: &sync.Mutex{}})
}

// shell returns how commands are run. The command is its own helper.
func (a *app) shell(s *setup) helve.Shell {
	b, w := s.cfg.Bash, s.cfg.Wall
	out := helve.Shell{
		Path: b.Shell, Timeout: milliseconds(b.TimeoutMS), MaxTimeout: milliseconds(b.MaxTimeoutMS),
		PassEnv: b.PassEnv, SetEnv: b.SetEnv, Helper: a.Self, Jobs: b.Jobs, JobBytes: b.JobBytes, JobsBytes: b.JobsBytes, Detach: b.Detach,
		NoCheckpoint: b.Checkpoint != nil && !*b.Checkpoint, Ephemeral: true, // most commands make one call and end
		Wall: helve.Wall{
			Level: w.Level, Optional: w.Required != nil && !*w.Required, Writable: w.Writable, Readable: w.Readable,
		},
	}
	if out.Timeout == 0 {
		ms, err := strconv.Atoi(a.firstEnv("HELVE_BASH_TIMEOUT_MS", "OPENCODE_EXPERIMENTAL_BASH_DEFAULT_TIMEOUT_MS"))
		if err == nil && ms > 0 {
			out.Timeout = milliseconds(ms)
		}
	}
	return out
}

// configDirs are the files and folders that config is read from, also those
// that are not there yet.
func (s *setup) configDirs() []string {
	var dirs []string
	for _, source := range s.cfg.Sources {
		if filepath.IsAbs(source.Path) {
			dirs = append(dirs, source.Path)
		}
	}
	for _, name := range []string{"HELVE_CONFIG", "OPENCODE_CONFIG", "HELVE_CONFIG_DIR", "OPENCODE_CONFIG_DIR"} {
		if path := s.opt.Env(name); path != "" {
			if !filepath.IsAbs(path) {
				path = filepath.Join(s.opt.Dir, path)
			}
			dirs = append(dirs, path)
		}
	}
	for _, brand := range []string{"helve", "opencode"} {
		dirs = append(dirs, filepath.Join(string(filepath.Separator), "etc", brand))
		if s.opt.Home != "" {
			dirs = append(dirs, filepath.Join(s.opt.Home, "."+brand))
		}
		base := s.opt.Env("XDG_CONFIG_HOME")
		if !filepath.IsAbs(base) && s.opt.Home != "" {
			base = filepath.Join(s.opt.Home, ".config")
		}
		if filepath.IsAbs(base) {
			dirs = append(dirs, filepath.Join(base, brand))
		}
	}
	return dirs
}

// firstEnv returns the first variable that is set.
func (a *app) firstEnv(names ...string) string {
	for _, name := range names {
		if v := a.Getenv(name); v != "" {
			return v
		}
	}
	return ""
}

func (a *app) truth(name string) bool {
	v := strings.ToLower(a.Getenv(name))
	return v == "1" || v == "true"
}

// hasStore reports whether anything was ever recorded in a data folder.
func hasStore(data string) bool {
	_, err := os.Stat(filepath.Join(data, "helve.db"))
	return err == nil
}

// openStore opens the records for looking at them. Where nothing was ever
// recorded it returns nil, and makes no file.
func (a *app) openStore() (*store.Store, error) {
	data, err := a.dataDir()
	if err != nil || !hasStore(data) {
		return nil, err
	}
	return store.Open(store.Options{Dir: data, OnNotice: a.printNote})
}

// A logHandler prints notices for the user, a line each.
type logHandler struct {
	to    io.Writer
	mu    *sync.Mutex
	attrs []slog.Attr
}

// Enabled lets warnings and errors through.
func (h *logHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }

// Handle writes one line.
func (h *logHandler) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString("helve: " + r.Message)
	add := func(at slog.Attr) bool {
		if at.Key != "stack" {
			fmt.Fprintf(&b, " %s=%v", at.Key, at.Value)
		}
		return true
	}
	for _, at := range h.attrs {
		add(at)
	}
	r.Attrs(add)
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := fmt.Fprintln(h.to, safe(strings.ReplaceAll(b.String(), "\n", " ")))
	return err
}

// WithAttrs returns a handler that adds attrs to every line.
func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &logHandler{to: h.to, mu: h.mu, attrs: append(h.attrs[:len(h.attrs):len(h.attrs)], attrs...)}
}

// WithGroup returns the handler: nothing here uses groups.
func (h *logHandler) WithGroup(string) slog.Handler { return h }
