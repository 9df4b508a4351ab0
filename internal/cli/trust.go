package cli

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tailscale/hujson"

	"github.com/helve-dev/helve/internal/config"
	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/permission"
)

// trustFlags are the options of helve trust.
type trustFlags struct{ yes, list, revoke, asJSON bool }

func (a *app) trustCommand() *cobra.Command {
	var f trustFlags
	c := &cobra.Command{
		Use:   "trust [FILE …]",
		Short: "Trust the config that comes with a project",
		Long: `What a project's own config says may make rules stricter at once. What would
loosen them, or run code, is not in force until you have trusted the file as it
is now. When it changes, it has to be trusted again.

Trust shows what that would put into force, and asks. Without a file it is
everything that comes with the project.`,
		Example: `  helve trust
  helve trust --yes helve.json
  helve trust --list
  helve trust --revoke`,
		RunE: func(_ *cobra.Command, args []string) error {
			opt, err := a.configOptions()
			if err != nil {
				return err
			}
			for i := range args {
				args[i] = a.abs(args[i])
			}
			switch {
			case f.revoke && f.list, f.yes && (f.list || f.revoke):
				return usagef("--list, --revoke and --yes do not go together")
			case f.asJSON && !f.list:
				return usagef("--json goes with --list")
			case f.list:
				return a.trustList(opt, f.asJSON)
			case f.revoke:
				return a.trustRevoke(opt, args)
			}
			if err := a.byHand("helve trust"); err != nil {
				return err
			}
			return a.trust(opt, args, f.yes)
		},
	}
	fs := c.Flags()
	fs.BoolVar(&f.yes, "yes", false, "do not ask")
	fs.BoolVar(&f.list, "list", false, "list what comes with the project, and whether it is trusted")
	fs.BoolVar(&f.revoke, "revoke", false, "take trust back")
	fs.BoolVar(&f.asJSON, "json", false, "with --list: print JSON")
	return c
}

func trustWord(s config.Source) string {
	switch {
	case s.Trusted:
		return "trusted"
	case s.Changed:
		return "changed"
	}
	return "not trusted"
}

func (a *app) trustList(opt config.Options, asJSON bool) error {
	all, err := config.TrustStatus(opt)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(append([]config.Source{}, all...))
	}
	tw := columns(a.Stdout)
	for _, s := range all {
		fmt.Fprintf(tw, "%s\t%s\t%.12s\n", trustWord(s), safe(s.Path), s.Hash)
	}
	return tw.Flush()
}

func (a *app) trustRevoke(opt config.Options, files []string) error {
	gone, err := config.Untrust(opt, files...)
	if err != nil {
		return err
	}
	for _, path := range gone {
		fmt.Fprintf(a.Stdout, "no longer trusted: %s\n", safe(path))
	}
	if len(gone) == 0 {
		fmt.Fprintln(a.Stdout, "Nothing of this was trusted.")
	}
	return nil
}

// trust shows what is to be trusted, asks, and records exactly what was shown.
func (a *app) trust(opt config.Options, files []string, yes bool) error {
	shown, err := a.showTrust(opt, files)
	if err != nil {
		return err
	}
	if len(shown) == 0 && len(files) == 0 {
		fmt.Fprintln(a.Stdout, "There is nothing to trust: everything that comes with the project is trusted, or there is nothing.")
		return nil
	}
	if !yes {
		if err := a.confirm("Trust this? [y/N] "); err != nil {
			return err
		}
	}
	var sources []config.Source
	for _, path := range slices.Sorted(maps.Keys(shown)) {
		sources = append(sources, config.Source{Path: path, Hash: shown[path]})
	}
	if err := config.Trust(opt, sources...); err != nil {
		return err
	}
	for _, s := range sources {
		fmt.Fprintf(a.Stdout, "trusted: %s\n", safe(s.Path))
	}
	if all, err := a.servers(); err == nil {
		if r, found := here(all, a.workDir()); found {
			a.printNote(fmt.Sprintf("the server at %s goes on as it began: start it again for this to hold there", r.URL))
		}
	}
	return nil
}

// showTrust shows what is to be trusted, and returns the contents it had by
// path.
func (a *app) showTrust(opt config.Options, files []string) (map[string]string, error) {
	all, err := config.TrustStatus(opt)
	if err != nil {
		return nil, err
	}
	cfg, err := config.Load(opt)
	if err != nil {
		return nil, err
	}
	shown := map[string]string{}
	for _, s := range all {
		if s.Trusted && len(files) == 0 || len(files) > 0 && !slices.Contains(files, s.Path) { // one that is named is trusted anew
			continue
		}
		shown[s.Path] = s.Hash
		a.showEffects(s, cfg)
	}
	for _, f := range files {
		if slices.ContainsFunc(all, func(s config.Source) bool { return s.Path == f }) {
			continue
		}
		if i := slices.IndexFunc(all, func(s config.Source) bool { return disk.Within(s.Path, f) }); i >= 0 {
			return nil, usagef("%s is trusted as a part of %s: name that", f, all[i].Path)
		}
		return nil, usagef("%s is not part of the config of this project", f)
	}
	return shown, nil
}

// showEffects prints what trusting a source would enable.
func (a *app) showEffects(s config.Source, cfg *config.Config) {
	st := a.style(a.Stdout)
	fmt.Fprintf(a.Stdout, "%s (%s)\n", st.Bold(safe(s.Path)), trustWord(s))
	below := func(file string) bool { return file == s.Path || disk.Within(s.Path, file) }
	effects, agents := 0, agentsOf(s)
	for _, w := range cfg.Withheld {
		if below(w.File) && w.Rules == 0 { // rules are shown one by one
			effects++
			line := w.Key
			if w.Value != "" {
				line += ": " + w.Value
			}
			fmt.Fprintf(a.Stdout, "  would put into force: %s\n", text.VisibleLine(line))
			for _, says := range agents[w.Key] {
				fmt.Fprintf(a.Stdout, "    %s\n", says)
			}
		}
	}
	a.showTrusted(s)
	if hasSkills(s.Path) {
		effects++
		fmt.Fprintln(a.Stdout, "  would let its skills take the place of yours of the same name")
	}
	if speaks(s, cfg) {
		effects++
		fmt.Fprintln(a.Stdout, "  would let language servers run programs and code of the project")
	}
	for _, l := range limits(cfg) {
		who := ""
		if l.Agent != "" {
			who = " for the agent " + l.Agent
		}
		for _, r := range l.Rules {
			if below(r.From.File) && r.Action != permission.Deny {
				effects++
				fmt.Fprintf(a.Stdout, "  would decide, and not only restrict%s: %s (line %d)\n",
					text.VisibleLine(who), text.VisibleLine(ruleText(r.Rule)), r.From.Line)
			}
		}
	}
	if effects == 0 {
		fmt.Fprintln(a.Stdout, "  would loosen nothing as it is now")
	}
}

// mostFiles is how many files of a source are shown.
const mostFiles = 40

// showTrusted lists the files that are trusted with a source: if the earlier trusted state is
// known, only the changed ones.
func (a *app) showTrusted(s config.Source) {
	files := s.Files
	if len(files) == 1 && files[0].Path == filepath.Base(s.Path) {
		return // the file itself
	}
	differs := func(f config.TrustFile) bool { return f.State != "" }
	if slices.ContainsFunc(files, differs) {
		files = slices.DeleteFunc(slices.Clone(files), func(f config.TrustFile) bool { return !differs(f) })
	}
	for i, f := range files {
		if i == mostFiles {
			fmt.Fprintf(a.Stdout, "  and %d more files\n", len(files)-i)
			break
		}
		says := fmt.Sprintf("%d bytes", f.Size)
		switch f.State {
		case "gone":
			says = "gone"
		case "new", "changed":
			says += ", " + f.State
		}
		fmt.Fprintf(a.Stdout, "  file: %s (%s)\n", text.VisibleLine(f.Path), says)
		for _, line := range agentFile(s.Path, f) {
			fmt.Fprintf(a.Stdout, "    %s\n", line)
		}
	}
	if same := len(s.Files) - len(files); same > 0 {
		fmt.Fprintf(a.Stdout, "  files as trusted before: %d\n", same)
	}
}

// Bounds on what is shown of an agent.
const (
	mostAgentFile = 1 << 20 // bytes of the file that it stands in
	mostAgentLine = 200     // bytes
	mostAgentHead = 20      // lines
)

// asHashed reads a file if its content has the given hash: what is shown is what is trusted.
func asHashed(path string, f config.TrustFile) ([]byte, bool) {
	if f.Size > mostAgentFile || f.State == "gone" {
		return nil, false
	}
	data, err := os.ReadFile(path)
	sum := sha256.Sum256(data)
	return data, err == nil && f.Hash != "" && strings.HasPrefix(hex.EncodeToString(sum[:]), f.Hash)
}

// agentsOf describes the agents of a config file in a few lines, by the key of each. References in
// it are shown unresolved.
func agentsOf(s config.Source) map[string][]string {
	i := slices.IndexFunc(s.Files, func(f config.TrustFile) bool { return f.Path == filepath.Base(s.Path) })
	if i < 0 {
		return nil
	}
	data, ok := asHashed(s.Path, s.Files[i])
	plain, err := hujson.Standardize(data)
	if !ok || err != nil {
		return nil
	}
	var file map[string]json.RawMessage
	if json.Unmarshal(plain, &file) != nil {
		return nil
	}
	out := map[string][]string{}
	for _, section := range []string{"agent", "mode"} {
		var agents map[string]map[string]json.RawMessage
		_ = json.Unmarshal(file[section], &agents) // what is no agent has nothing to show
		for name, agent := range agents {
			for _, key := range []string{"prompt", "model", "mode", "permission", "tools"} {
				if raw, ok := agent[key]; ok {
					out[section+"."+name] = append(out[section+"."+name], agentLine(key, raw))
				}
			}
		}
	}
	return out
}

// agentLine shows what an agent has under a key: of a text the first line, else
// the JSON.
func agentLine(key string, raw json.RawMessage) string {
	var value string
	if json.Unmarshal(raw, &value) != nil {
		var line bytes.Buffer
		_ = json.Compact(&line, raw) // it was read before
		value = line.String()
	}
	first, rest, _ := strings.Cut(strings.TrimSpace(value), "\n")
	first, cut := text.Cut(first, mostAgentLine)
	if cut || strings.TrimSpace(rest) != "" {
		first += " …"
	}
	return shownLine(key + ": " + first)
}

// agentFile shows the front matter of a file that describes an agent, and the first line of its
// prompt; nothing for other files.
func agentFile(folder string, f config.TrustFile) []string {
	kind, _, _ := strings.Cut(f.Path, "/")
	if !slices.Contains([]string{"agent", "agents", "mode", "modes"}, kind) || !strings.HasSuffix(f.Path, ".md") {
		return nil
	}
	data, ok := asHashed(filepath.Join(folder, filepath.FromSlash(f.Path)), f)
	if !ok {
		return nil
	}
	body := strings.ReplaceAll(string(data), "\r\n", "\n")
	var out []string
	if rest, ok := strings.CutPrefix(body, "---\n"); ok {
		head, after, _ := strings.Cut(rest, "\n---")
		_, body, _ = strings.Cut(after, "\n")
		for line := range strings.Lines(head) {
			if len(out) == mostAgentHead {
				out = append(out, "…")
				break
			}
			line, cut := text.Cut(strings.TrimRight(line, "\n"), mostAgentLine)
			if cut {
				line += " …"
			}
			out = append(out, shownLine(line))
		}
	}
	if raw, err := json.Marshal(body); err == nil && strings.TrimSpace(body) != "" {
		out = append(out, agentLine("prompt", raw))
	}
	return out
}

// ruleText gives a rule in one line.
func ruleText(r permission.Rule) string {
	return fmt.Sprintf("%s %s = %s", r.Permission, r.Pattern, r.Action)
}

// confirm asks a person at the terminal for a yes.
func (a *app) confirm(question string) error {
	if !a.attended() {
		return usagef("there is nobody to ask here: give --yes if you have looked at it")
	}
	forgetter(a.Stdin)() // what was typed before the question is no answer to it
	fmt.Fprint(a.Stderr, question)
	line, _ := bufio.NewReader(a.Stdin).ReadString('\n') // nothing read is no yes
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	a.printNote("nothing was changed")
	return &silent{exitFailed}
}
