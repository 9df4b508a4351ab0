package cli

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/helve-dev/helve/internal/agentconfig"
	"github.com/helve-dev/helve/internal/diff"
)

// installFlags are the options of helve mcp install.
type installFlags struct {
	scope, name                  string
	dryRun, print, remove, force bool
	compact                      bool
	agent                        string
}

func (a *app) mcpInstallCommand() *cobra.Command {
	var f installFlags
	c := &cobra.Command{
		Use:   "install CLIENT",
		Short: "Tell an agent to use helve's tools",
		Long: `Install writes an entry for 'helve mcp' into the config file of an agent, with
everything else in the file left as it is. With --dry-run it shows the change
and makes none.

The agents are ` + clientNames() + `.`,
		Example: `  helve mcp install claude-code --dry-run
  helve mcp install codex
  helve mcp install vscode --scope project
  helve mcp install gemini --remove`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("for which agent? There are %s", clientNames())
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return strings.Split(clientNames(), ", "), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.install(&f, args[0]) },
	}
	fs := c.Flags()
	fs.StringVar(&f.scope, "scope", agentconfig.User, "whose config: user or project")
	fs.StringVar(&f.name, "name", "helve", "what the server is called there")
	fs.StringVar(&f.agent, "agent", "", "the rules of this agent hold")
	fs.BoolVar(&f.compact, "compact", false, "do not list the tools of other MCP servers: offer to search them")
	fs.BoolVar(&f.dryRun, "dry-run", false, "show the change and make none")
	fs.BoolVar(&f.print, "print", false, "print the entry alone, to be put where you like")
	fs.BoolVar(&f.remove, "remove", false, "take the entry out")
	fs.BoolVar(&f.force, "force", false, "also over an entry of that name which is for another program")
	return c
}

func clientNames() string {
	var names []string
	for _, c := range agentconfig.Clients() {
		names = append(names, string(c))
	}
	return joinNames(names)
}

func (a *app) install(f *installFlags, client string) error {
	if !slices.Contains(agentconfig.Clients(), agentconfig.Client(client)) {
		return usagef("%q is not an agent that is known; there are %s. With --print you see what an entry looks like", client, clientNames())
	}
	if f.scope != agentconfig.User && f.scope != agentconfig.Project {
		return usagef("--scope is user or project, not %q", f.scope)
	}
	self, err := a.ownPath()
	if err != nil {
		return err
	}
	req := agentconfig.Request{
		Client: agentconfig.Client(client), Scope: f.scope, Name: f.name, Command: []string{self, "mcp"},
		Home: a.homeDir(), Dir: a.workDir(), Getenv: a.Getenv, GOOS: runtime.GOOS, Force: f.force,
	}
	if f.agent != "" {
		req.Command = append(req.Command, "--agent", f.agent)
	}
	if f.compact {
		req.Command = append(req.Command, "--compact")
	}
	if f.print {
		path, contents, err := agentconfig.Snippet(req)
		if err != nil {
			return err
		}
		a.printNote("in " + path + ":")
		fmt.Fprint(a.Stdout, contents)
		return nil
	}
	prepare := agentconfig.Prepare
	if f.remove {
		prepare = agentconfig.Remove
	}
	plan, err := prepare(req)
	if err != nil {
		return taken(err, "--force goes over it, --name gives another name")
	}
	if f.remove && plan.Same {
		a.printNote(fmt.Sprintf("there is no entry %q in %s", f.name, plan.Path))
		return nil
	}
	if err := a.byHand("helve mcp install"); err != nil && !f.dryRun {
		return err
	}
	if f.scope == agentconfig.Project && !f.remove {
		a.printNote("the entry holds the path of helve on this machine: others who use the file may have it elsewhere")
	}
	return a.carryOut(plan, f.dryRun)
}

// taken says what to do about a name that is in use.
func taken(err error, what string) error {
	if errors.Is(err, agentconfig.ErrTaken) {
		return fmt.Errorf("%w; %s", err, what)
	}
	return err
}

// ownPath returns the path of this program for others to start it.
func (a *app) ownPath() (string, error) {
	if a.Self != "" {
		return a.Self, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding this program: %w", err)
	}
	return self, nil
}

// carryOut shows what changes in a config file, and changes it.
func (a *app) carryOut(plan agentconfig.Plan, dryRun bool) error {
	if plan.Same {
		a.printNote(plan.Path + " is as it should be already")
		a.noteAll(plan.Notes)
		return nil
	}
	before := plan.Before
	if !plan.Exists {
		before = nil
	}
	change := diff.Unified(plan.Path, string(before), string(plan.After))
	if dryRun {
		fmt.Fprint(a.Stdout, safe(change))
		a.printNote("nothing was written; without --dry-run it is")
		return nil
	}
	if err := plan.Apply(); err != nil {
		if errors.Is(err, agentconfig.ErrChanged) {
			return fmt.Errorf("%s: %w; try again", plan.Path, err)
		}
		return err
	}
	if plan.Delete {
		a.printNote("removed " + plan.Path + ", which held nothing else")
	} else {
		a.printNote("wrote " + plan.Path)
	}
	a.noteAll(plan.Notes)
	return nil
}

func (a *app) noteAll(notes []string) {
	for _, note := range notes {
		a.printNote(note)
	}
}

// addFlags are the options of helve mcp add.
type addFlags struct {
	url           string
	env, headers  []string
	project       bool
	dryRun, force bool
	cwd           string
	wall, noRoots bool
}

func (a *app) mcpAddCommand() *cobra.Command {
	var f addFlags
	c := &cobra.Command{
		Use:   "add NAME (--url URL | -- COMMAND [ARGUMENT…])",
		Short: "Put an MCP server into the config",
		Long: `Add writes an MCP server into your own config, or with --project into that of
this folder: a command that is started, given after --, or an address.`,
		Example: `  helve mcp add docs -- npx -y some-server ./docs
  helve mcp add tracker --url https://tracker.example/mcp --header X-Team=7
  helve mcp add db --env 'TOKEN={env:DB_TOKEN}' --dry-run -- db-server`,
		Args: atLeast(1, "the name of the server"),
		RunE: func(_ *cobra.Command, args []string) error { return a.addServer(&f, args[0], args[1:]) },
	}
	fs := c.Flags()
	fs.StringVar(&f.url, "url", "", "the `address` of a remote server")
	fs.StringArrayVar(&f.env, "env", nil, "a variable for the program, as `NAME=VALUE`; may be repeated")
	fs.StringArrayVar(&f.headers, "header", nil, "a header of every request, as `NAME=VALUE`; may be repeated")
	fs.StringVar(&f.cwd, "cwd", "", "where the program starts")
	fs.BoolVar(&f.wall, "wall", false, "run the program behind the kernel wall")
	fs.BoolVar(&f.noRoots, "no-roots", false, "do not tell it which folder is worked in, which some servers take instead of the one they are given")
	fs.BoolVar(&f.project, "project", false, "in the config of this folder instead of your own")
	fs.BoolVar(&f.dryRun, "dry-run", false, "show the change and make none")
	fs.BoolVar(&f.force, "force", false, "also over a server of that name that is there")
	return c
}

// configEntry returns the server as an entry of the config.
func (f *addFlags) configEntry(command []string) (map[string]any, error) {
	value := map[string]any{}
	switch {
	case f.url != "" && len(command) > 0:
		return nil, usagef("give an address or a command, not both")
	case f.url != "" && (f.wall || f.cwd != "" || len(f.env) > 0):
		return nil, usagef("--env, --cwd and --wall are for a server that is a command")
	case f.url != "" && !webAddress(f.url):
		return nil, usagef("%q is not an address of http or https", f.url)
	case f.url != "":
		value["type"], value["url"] = "remote", f.url
	case len(command) == 0:
		return nil, usagef("what is it? Give --url, or the command after --")
	case len(f.headers) > 0:
		return nil, usagef("--header is for a server that has an address")
	default:
		value["type"], value["command"] = "local", command
	}
	if f.cwd != "" {
		value["cwd"] = f.cwd
	}
	if f.wall {
		value["wall"] = true
	}
	if f.noRoots {
		value["roots"] = false
	}
	return value, errors.Join(variables(value, "environment", f.env), variables(value, "headers", f.headers))
}

func webAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

func (a *app) addServer(f *addFlags, name string, command []string) error {
	value, err := f.configEntry(command)
	if err != nil {
		return err
	}
	file, err := a.ownConfig(f.project)
	if err != nil {
		return err
	}
	file.Force = f.force
	plan, err := agentconfig.SetServer(file, name, value)
	if err != nil {
		return taken(err, "--force goes over it")
	}
	if err := a.byHand("helve mcp add"); err != nil && !f.dryRun {
		return err
	}
	if err := a.carryOut(plan, f.dryRun); err != nil || f.dryRun {
		return err
	}
	if !f.project && f.cwd == "" && slices.ContainsFunc(command, isRelative) {
		a.printNote("it has a relative path, which starts in whatever folder helve is used in: --cwd fixes one, --project keeps it to this folder")
	}
	if f.project {
		a.printNote("'helve trust' lets it be started: a project's config is not believed by itself")
	} else {
		a.printNote("'helve mcp list' tries it")
	}
	return nil
}

// isRelative reports whether an argument is a path from the current folder.
func isRelative(arg string) bool {
	return arg == "." || strings.HasPrefix(arg, "./") || strings.HasPrefix(arg, "../")
}

// variables puts NAME=VALUE texts under a key.
func variables(value map[string]any, key string, texts []string) error {
	if len(texts) == 0 {
		return nil
	}
	out := map[string]string{}
	for _, t := range texts {
		name, v, ok := strings.Cut(t, "=")
		if !ok || name == "" {
			return usagef("%q is not NAME=VALUE", t)
		}
		out[name] = v
	}
	value[key] = out
	return nil
}

// ownConfig is the config file that servers are written into: the one that is
// there, of those that helve reads, or the one to make.
func (a *app) ownConfig(project bool) (agentconfig.File, error) {
	dir, file := a.workDir(), agentconfig.File{}
	if project {
		file.Within = dir
	}
	if !project {
		base := a.Getenv("XDG_CONFIG_HOME")
		if !filepath.IsAbs(base) {
			if a.homeDir() == "" {
				return file, errors.New("no folder for the config is known: set HOME, or give --project")
			}
			base = filepath.Join(a.homeDir(), ".config")
		}
		dir = filepath.Join(base, "helve")
	}
	for _, name := range []string{"helve.jsonc", "helve.json"} {
		file.Path = filepath.Join(dir, name)
		if _, err := os.Stat(file.Path); err == nil {
			break
		}
	}
	return file, nil
}

func (a *app) mcpRemoveCommand() *cobra.Command {
	var project, dryRun bool
	c := &cobra.Command{
		Use:     "remove NAME",
		Short:   "Take an MCP server out of the config",
		Long:    `Remove takes an MCP server out of your own helve.json, or with --project out of that of this folder.`,
		Example: `  helve mcp remove docs`,
		Args:    exactly(1, "which server? 'helve mcp list --offline' lists them"),
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := a.ownConfig(project)
			if err != nil {
				return err
			}
			plan, err := agentconfig.RemoveServer(file, args[0])
			if err != nil {
				return err
			}
			if err := a.byHand("helve mcp remove"); err != nil && !dryRun {
				return err
			}
			if plan.Same || bytes.Equal(plan.Before, plan.After) {
				return fmt.Errorf("there is no server called %q in %s; 'helve mcp list --offline' says where each comes from", args[0], file.Path)
			}
			return a.carryOut(plan, dryRun)
		},
	}
	c.Flags().BoolVar(&project, "project", false, "from the config of this folder instead of your own")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "show the change and make none")
	return c
}

// exactly lets a command be given so many arguments.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return usagef("%s", what)
		}
		return nil
	}
}
