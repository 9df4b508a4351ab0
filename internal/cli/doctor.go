package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/catalog"
	"github.com/helve-dev/helve/internal/config"
	"github.com/helve-dev/helve/internal/store"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/lsp"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/plugin"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

// A finding is one line of helve doctor.
type finding struct {
	State string `json:"state"` // ok, note, warn or fail
	About string `json:"about"`
	Says  string `json:"says"`
}

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Look for what is wrong with this installation; exit 1 if something is",
		Long: `Doctor checks what helve stands on: what this system lacks, the data folder, every page of the store,
the config files, the model that would answer, language servers, the shell, the wall and what it was measured
to hold, and whether somebody can be asked. Each line is ok, note, warn or fail; a note is
something that you may want otherwise.`,
		Example: `  helve doctor
  helve doctor --json`,
		Args: atMost(0),
		RunE: func(c *cobra.Command, _ []string) error {
			all := a.examine(c.Context())
			failed := false
			st := a.style(a.Stdout)
			for _, f := range all {
				failed = failed || f.State == "fail"
				if !asJSON {
					paint := map[string]func(string) string{"ok": st.Green, "note": st.Bold, "warn": st.Yellow, "fail": st.Red}[f.State]
					fmt.Fprintf(a.Stdout, "%s %-10s %s\n", paint(fmt.Sprintf("%-4s", f.State)), f.About, safe(f.Says))
				}
			}
			if asJSON {
				if err := a.printJSON(all); err != nil {
					return err
				}
			}
			if failed {
				return &silent{exitFailed}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (a *app) examine(ctx context.Context) []finding {
	all := []finding{{"ok", "program", fmt.Sprintf("helve %s, %s, %s/%s", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)}}
	all = append(all, examineSystem(runtime.GOOS)...)
	data, err := a.dataDir()
	if err != nil {
		return append(all, finding{"fail", "data", err.Error()})
	}
	all = append(all, examineFolder(data))
	all = append(all, a.examineStore(ctx, data)...)
	all = append(all, a.examineConfig()...)
	all = append(all, a.examineShell(ctx)...)
	if a.attended() {
		return append(all, finding{"ok", "terminal", "somebody can be asked for permission"})
	}
	return append(all, finding{"ok", "terminal", "nobody can be asked here: what has to be asked for fails with exit code 4"})
}

// examineFolder tries to write in the data folder.
func examineFolder(data string) finding {
	if err := os.MkdirAll(data, 0o700); err != nil {
		return finding{"fail", "data", err.Error()}
	}
	f, err := os.CreateTemp(data, ".doctor-*")
	if err != nil {
		return finding{"fail", "data", err.Error()}
	}
	_ = f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return finding{"fail", "data", err.Error()}
	}
	return finding{"ok", "data", data + " can be written to"}
}

func (a *app) examineStore(ctx context.Context, data string) []finding {
	if !hasStore(data) {
		return []finding{{"ok", "store", "nothing is recorded yet"}}
	}
	var notices []finding
	s, err := store.Open(store.Options{Dir: data, OnNotice: func(text string) {
		notices = append(notices, finding{"warn", "store", text})
	}})
	if err != nil {
		return append(notices, finding{"fail", "store", err.Error()})
	}
	defer s.Close()
	if err := s.Check(ctx, true); err != nil {
		return append(notices, finding{"fail", "store", err.Error()})
	}
	size := int64(0)
	if info, err := os.Stat(s.Path()); err == nil {
		size = info.Size()
	}
	out := append(notices, finding{"ok", "store", fmt.Sprintf("%s is sound (%d bytes)", filepath.Base(s.Path()), size)})
	const most = 10000
	sessions, err := s.Sessions(ctx, most)
	if err != nil {
		return append(out, finding{"fail", "store", err.Error()})
	}
	approvals, err := s.Approvals()
	if err != nil {
		return append(out, finding{"fail", "store", err.Error()})
	}
	cut, err := s.Calls(ctx, record.CallQuery{State: record.Interrupted, Brief: true, Limit: most})
	if err != nil {
		return append(out, finding{"fail", "store", err.Error()})
	}
	return append(out, finding{"ok", "records", strings.Join([]string{
		count(len(sessions), most, "session"), count(len(approvals), most, "approval"), count(len(cut), most, "interrupted call")}, ", ")})
}

// count gives a number that may have been cut off.
func count(n, most int, what string) string {
	if n >= most {
		return fmt.Sprintf("%d or more %ss", most, what)
	}
	return text.Count(n, what, what+"s")
}

func (a *app) examineConfig() []finding {
	s, err := a.load()
	if err != nil {
		return []finding{{"fail", "config", err.Error()}}
	}
	var out []finding
	if s.cfg.PolicyError != nil {
		out = append(out, finding{"fail", "config", s.cfg.PolicyError.Error()})
	}
	said := voiding(s.cfg)
	for i := range s.cfg.Problems {
		p := &s.cfg.Problems[i]
		state := "warn"
		if p.Severity == config.Error {
			state = "fail"
		}
		if !slices.Contains(said, *p) {
			out = append(out, finding{state, "config", p.Error()})
		}
	}
	if s.choice != nil && s.choice.Severity == config.Error {
		out = append(out, finding{"fail", "config", s.choice.Error()})
	}
	for _, w := range a.missed(s.cfg) {
		out = append(out, finding{"warn", "config", w.String() + seeTrust})
	}
	out = append(out, s.examineModels(a)...)
	if s.cfg.PolicyError != nil {
		return append(out, finding{"fail", "tools", "none can be used: every call is denied"})
	}
	agents := s.agents()
	out = append(out, finding{"ok", "config", text.Count(len(s.cfg.Sources), "source", "sources") + ", " + text.Count(len(s.cfg.Rules), "rule", "rules") + " of yours, " + text.Count(len(agents), "agent", "agents")})
	rt, err := helve.Open(a.options(s))
	if err != nil {
		return append(out, finding{"fail", "tools", err.Error()})
	}
	defer rt.Close()
	out = append(out, finding{"ok", "tools", fmt.Sprintf("%d are offered", len(rt.Tools(tool.Audience{Agent: agents[0].Name})))})
	out = append(out, examineFiles(rt.Plugins().Files(), s.cfg.Custom.Worker)...)
	r, err := a.languagesHere(s)
	if err != nil {
		return append(out, finding{"fail", "languages", err.Error()})
	}
	return append(out, examineLanguages(r)...)
}

// examineModels reports which model would answer a prompt, as far as that is known without a
// request.
func (s *setup) examineModels(a *app) []finding {
	r := s.modelReport(a)
	var out []finding
	for _, l := range r.Providers {
		if l.State == catalog.Broken {
			out = append(out, finding{"warn", "models", fmt.Sprintf("the provider %s can not be used: %s", l.ID, l.Error)})
		}
	}
	if agent, err := s.agent(""); err == nil && agent.Model != (model.Ref{}) {
		r.Default, r.From, r.Error = agent.Model.String(), "the agent "+agent.Name, ""
		if _, _, _, err := s.catalog(a).Find(agent.Model); err != nil {
			r.Error = err.Error()
		}
	}
	switch {
	case r.Default == "":
		return append(out, finding{"ok", "models", "none: " + r.Error})
	case r.Error != "":
		return append(out, finding{"fail", "models", fmt.Sprintf("%s (%s) can not be used: %s", r.Default, r.From, r.Error)})
	}
	key := "no key is needed"
	of := catalog.Parse(r.Default).Provider
	i := slices.IndexFunc(r.Providers, func(l catalog.Listing) bool { return l.ID == of || l.Also == of })
	if i >= 0 && r.Providers[i].Key != "" {
		key = "its key is in " + r.Providers[i].Key
	}
	return append(out, finding{"ok", "models", fmt.Sprintf("%s would answer (%s), %s; 'helve models' tells more", r.Default, r.From, key)})
}

// examineLanguages reports the state of the language servers.
func examineLanguages(r languageReport) []finding {
	here, running := 0, []string{}
	for _, f := range r.Servers {
		if f.Missing == "" {
			here++
		}
	}
	var out []finding
	for _, st := range r.Started {
		switch {
		case st.State == lsp.StateFailed || st.State == lsp.StateBroken:
			out = append(out, finding{"warn", "languages", fmt.Sprintf("%s is %s in %s: %s", st.ID, st.State, st.Root, troubleOf(st.ID, st.Error, r.own))})
		case st.State != lsp.StateStopped:
			running = append(running, st.ID)
		}
	}
	says := "language servers are off"
	if r.On {
		says = "language servers are on"
	}
	says += fmt.Sprintf(", %d could be started here, the project is ", here)
	if !r.Trusted {
		says += "not "
	}
	says += "trusted for them, "
	if len(running) == 0 {
		says += "none is running"
	} else {
		says += "running: " + joinNames(running)
	}
	return append(out, finding{"ok", "languages", says + "; 'helve lsp' tells more"})
}

// examineFiles reports what is known of the user's files without running any.
func examineFiles(files []plugin.File, worker string) []finding {
	if len(files) == 0 {
		return nil
	}
	var out []finding
	waiting := 0
	for _, f := range files {
		switch f.State {
		case "failed":
			out = append(out, finding{"warn", "own tools", fmt.Sprintf("%s: %s", f.Path, f.Problem)})
		case "not trusted":
			waiting++
		}
	}
	says := fmt.Sprintf("files with tools or plugins of yours: %d", len(files))
	if waiting > 0 {
		says += fmt.Sprintf(", %d not trusted", waiting)
	}
	out = append(out, finding{"ok", "own tools", says + "; 'helve plugins' loads them and tells more"})
	names := []string{"bun", "node"}
	switch worker {
	case "bun", "node":
		names = []string{worker}
	case "off":
		return append(out, finding{"ok", "own tools", "they run in the embedded engine; custom.worker is off, so what needs more is not run"})
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return append(out, finding{"ok", "own tools", "they run in the embedded engine, and what needs more in " + path})
		}
	}
	return append(out, finding{"ok", "own tools", "they run in the embedded engine; what needs more is not run, as there is no bun or node of the kind that custom.worker names"})
}

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long:  "Version prints what this program was built from.",
		Example: `  helve version
  helve version --json`,
		Args: atMost(0),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return a.printJSON(map[string]string{
					"version": version(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
				})
			}
			a.printVersion()
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (a *app) printVersion() {
	fmt.Fprintf(a.Stdout, "helve %s (%s, %s/%s)\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// version is the module's version, or the commit it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}
