package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/config"
	"github.com/helve-dev/helve/internal/lspclient"
	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/lsp"
	"github.com/helve-dev/helve/plugin"
)

// languageServers reads the config key lsp: true or an object switch language servers on,
// everything else leaves them off. Unusable settings are left out, and reported in the second
// result.
func (a *app) languageServers(s *setup) (out *lsp.Options, notes []string) {
	own, on, notes := ownServers(s.cfg.LSP)
	if !on {
		return nil, notes
	}
	o := s.cfg.LanguageServers
	return &lsp.Options{
		Builtin: true, Own: own, Trusted: s.cfg.ProjectTrusted, Wait: milliseconds(o.WaitMS), Request: milliseconds(o.RequestMS),
		Start: milliseconds(o.StartMS), Idle: milliseconds(o.IdleMS), Memory: o.Memory,
	}, notes
}

// ownServers are the servers of the config in its order, and whether it
// switches servers on at all.
func ownServers(section json.RawMessage) (own []lsp.Server, on bool, notes []string) {
	if string(section) == "true" {
		return nil, true, nil
	}
	dec := json.NewDecoder(bytes.NewReader(section))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, false, nil
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return own, true, append(notes, fmt.Sprintf("lsp: %v", err))
		}
		var e struct {
			Command        []string          `json:"command"`
			Extensions     []string          `json:"extensions"`
			Disabled       bool              `json:"disabled"`
			Env            map[string]string `json:"env"`
			Initialization json.RawMessage   `json:"initialization"`
			Wall           bool              `json:"wall"`
		}
		if err := dec.Decode(&e); err != nil {
			notes = append(notes, fmt.Sprintf("lsp.%v is not used: %v", name, err))
			e.Disabled = true // with other settings than these it is not the one that was asked for
		}
		key, _ := name.(string)
		own = append(own, lsp.Server{
			Name: key, Command: e.Command, Extensions: e.Extensions, Environment: e.Env,
			Initialization: e.Initialization, Disabled: e.Disabled, Wall: e.Wall,
		})
	}
	return own, true, notes
}

// asksServers reports whether the tool lsp is offered.
func (a *app) asksServers(s *setup) bool {
	for _, name := range []string{"EXPERIMENTAL_LSP_TOOL", "EXPERIMENTAL"} {
		if a.truth("HELVE_"+name) || a.truth("OPENCODE_"+name) {
			return true
		}
	}
	return s.cfg.Experimental.LSPTool
}

// knownLanguages are the names of the language servers that need no config.
func knownLanguages() (names []string) {
	for _, s := range lspclient.Builtin() {
		names = append(names, s.Name)
	}
	return names
}

// speaks reports whether trusting a source of config lets language servers run
// code of the project: they are on, or are as soon as it is trusted.
func speaks(source config.Source, cfg *config.Config) bool {
	if _, on, _ := ownServers(cfg.LSP); on {
		return !config.IsSharedSkills(source.Path)
	}
	return slices.ContainsFunc(cfg.Withheld, func(w config.Withheld) bool {
		_, on, _ := ownServers(json.RawMessage(w.Value))
		return w.Key == "lsp" && w.File == source.Path && on
	})
}

func (a *app) lspCommand() *cobra.Command {
	var all, asJSON bool
	c := &cobra.Command{
		Use:   "lsp",
		Short: "List language servers, and check files with them",
		Long: `Language servers are programs that know a programming language: gopls for Go,
pyright for Python, and so on. When they are switched on, a tool that changes a
file tells what they find wrong with it. Lsp lists those that were started, by
any helve of yours that runs now, and those that could be started in this folder.

They are off until the config says "lsp": true. Nothing is ever downloaded: a
server is used if it is installed. Programs that lie in a project, and servers
that run code of it, are used after 'helve trust' only. 'helve lsp --all' also
lists the servers that can not be started here, and what each lacks.`,
		Example: `  helve lsp
  helve lsp --all
  helve lsp --json
  helve lsp check main.go
  helve lsp log gopls`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q for \"helve lsp\"", args[0])
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error { return a.listLanguages(all, asJSON) },
	}
	c.Flags().BoolVar(&all, "all", false, "also list the servers that can not be started, and why")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON, of all servers")
	c.AddCommand(a.lspCheckCommand(), a.lspLogCommand())
	return c
}

// A languageReport is what helve lsp --json prints.
type languageReport struct {
	On      bool         `json:"on"`
	Trusted bool         `json:"trusted"` // the project is
	Started []lsp.Status `json:"started"` // by any process that lives
	Servers []lsp.Found  `json:"servers"` // for this folder

	own []lsp.Server
}

func (a *app) listLanguages(all, asJSON bool) error {
	s, err := a.load()
	if err != nil {
		return err
	}
	a.warn(s.cfg)
	r, err := a.languagesHere(s)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(r)
	}
	out := &strings.Builder{}
	if !r.On {
		fmt.Fprintln(out, howToSwitchOn)
	}
	printStarted(out, r)
	printFound(out, r, all)
	_, err = io.WriteString(a.Stdout, strings.TrimPrefix(out.String(), "\n"))
	return err
}

// languagesHere returns the state of the language servers in the working folder. It starts none.
func (a *app) languagesHere(s *setup) (languageReport, error) {
	opt := a.languageOptions(s)
	r := languageReport{
		On: opt.LSP != nil, Trusted: s.cfg.ProjectTrusted, Servers: []lsp.Found{},
		Started: append([]lsp.Status{}, lspclient.ReadBoard(filepath.Join(s.data, "lsp"))...),
	}
	if opt.LSP == nil {
		opt.LSP = &lsp.Options{Builtin: true, Trusted: r.Trusted}
	}
	r.own = opt.LSP.Own
	rt, err := helve.Open(opt)
	if err != nil {
		return r, err
	}
	r.Servers = append(r.Servers, rt.LSP().Found()...)
	return r, rt.Close()
}

// languageOptions are those of a runtime that is there for its language
// servers.
func (a *app) languageOptions(s *setup) helve.Options {
	opt := a.options(s)
	opt.Unattended, opt.Unrecorded, opt.Plugins, opt.MCP.Servers = true, true, plugin.Options{}, nil
	return opt
}

// howToSwitchOn says how to switch language servers on.
const howToSwitchOn = `Language servers are off. To switch them on put {"lsp": true} into helve.json: your own
in ~/.config/helve, or one in this folder, and then 'helve trust'.`

func printStarted(out io.Writer, r languageReport) {
	if len(r.Started) == 0 {
		fmt.Fprintln(out, "\nNone is started now.")
		return
	}
	fmt.Fprintln(out, "\nStarted:")
	var rows [][]string
	var notes []string
	for _, st := range r.Started {
		rows = append(rows, []string{st.ID, st.State, factsOf(st), st.Root})
		notes = append(notes, troubleOf(st.ID, st.Error, r.own))
	}
	rowsOf(out, rows, notes)
}

// troubleOf adds to what went wrong with a server what one does about it.
func troubleOf(id, fault string, own []lsp.Server) string {
	if fault == "" {
		return ""
	}
	if fault = strings.TrimSpace(fault); !strings.HasSuffix(fault, ".") {
		fault += "."
	}
	if slices.ContainsFunc(own, func(o lsp.Server) bool { return o.Name == id && o.Wall }) {
		fault += " It runs behind the wall (\"wall\" in its settings), where not all programs and files can be seen."
	}
	if strings.Contains(fault, "helve lsp log") {
		return fault
	}
	return fault + fmt.Sprintf(" 'helve lsp log %s' has more.", id)
}

// factsOf describes the state of a server in a few words.
func factsOf(st lsp.Status) string {
	var facts []string
	add := func(given bool, format string, value any) {
		if given {
			facts = append(facts, fmt.Sprintf(format, value))
		}
	}
	add(st.PID > 0, "pid %d", st.PID)
	add(st.Memory > 0, "%d MiB", (st.Memory+1<<20-1)>>20)
	add(st.Files > 0, "files: %d", st.Files)
	add(st.Restarts > 0, "restarts: %d", st.Restarts)
	add(!st.Since.IsZero(), "since %s", formatTime(st.Since.UnixMilli()))
	return joinNames(facts)
}

func printFound(out io.Writer, r languageReport, all bool) {
	var rows, missing [][]string
	var notes []string
	for _, f := range r.Servers {
		row := []string{f.ID, strings.Join(f.Extensions, " "), strings.Join(f.Command, " ")}
		if f.Missing == "" {
			rows = append(rows, row)
			continue
		}
		missing, notes = append(missing, row[:2]), append(notes, f.Missing)
	}
	if len(rows) > 0 {
		fmt.Fprintln(out, "\nCould be started here:")
		rowsOf(out, rows, nil)
	} else {
		fmt.Fprintln(out, "\nNone could be started here.")
	}
	switch {
	case len(missing) == 0:
	case all:
		fmt.Fprintln(out, "\nCan not be started here:")
		rowsOf(out, missing, notes)
	default:
		fmt.Fprintf(out, "\n%d more can not be started here; 'helve lsp --all' says what each lacks.\n", len(missing))
	}
}

// rowsOf prints rows in columns, with the note of each below it.
func rowsOf(out io.Writer, rows [][]string, notes []string) {
	var table strings.Builder
	tw := columns(&table)
	for _, row := range rows {
		for i, cell := range row {
			row[i], _ = text.Cut(text.VisibleLine(cell), 100)
		}
		fmt.Fprintf(tw, "  %s\n", strings.Join(row, "\t"))
	}
	_ = tw.Flush() // to memory
	lines := strings.Split(strings.TrimSuffix(table.String(), "\n"), "\n")
	for i, line := range lines {
		fmt.Fprintln(out, strings.TrimRight(line, " "))
		if i < len(notes) && notes[i] != "" {
			fmt.Fprintln(out, "      "+text.VisibleLine(notes[i]))
		}
	}
}

func (a *app) lspLogCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "log ID",
		Short: "Print what a language server has logged",
		Long: `Log prints what a language server has written to its standard error or sent as
log messages, in whichever process it ran, and what helve has noted about it,
such as why it was ended.`,
		Example: `  helve lsp log gopls`,
		Args:    exactly(1, "which server? 'helve lsp --all' lists them"),
		ValidArgsFunction: func(_ *cobra.Command, named []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(named) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return a.loggedServers(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			data, err := a.dataDir()
			if err != nil {
				return err
			}
			found, err := a.printLogs(filepath.Join(data, "lsp-logs"), args[0])
			if err != nil || found {
				return err
			}
			logs := "none has logged anything yet"
			if names := a.loggedServers(); len(names) > 0 {
				logs = "there are those of " + joinNames(names)
			}
			return fmt.Errorf("there is no log of a language server called %q: %s", args[0], logs)
		},
	}
}

// loggedServers are the servers that have logged something.
func (a *app) loggedServers() (names []string) {
	s, err := a.load()
	if err != nil {
		return nil
	}
	own, _, _ := ownServers(s.cfg.LSP)
	all := knownLanguages()
	for _, o := range own {
		all = append(all, o.Name)
	}
	dir := filepath.Join(s.data, "lsp-logs")
	for _, name := range all {
		wrote := func(path string) bool {
			_, err := os.Stat(path)
			return err == nil
		}
		if !slices.Contains(names, name) && slices.ContainsFunc(process.JournalFiles(dir, name), wrote) {
			names = append(names, name)
		}
	}
	return names
}
