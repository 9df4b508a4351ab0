package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/config"
	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/skill"
	"github.com/helve-dev/helve/tool"
)

// skillPlaces returns where to look for skills: as OpenCode does, in the folders of other agents
// and of the config, including untrusted ones, and in those that the config names.
func (a *app) skillPlaces(s *setup) *skill.Options {
	set := func(name string) bool { return a.truth("OPENCODE_"+name) || a.truth("HELVE_"+name) }
	out := &skill.Options{
		Home: s.opt.Home, Paths: s.cfg.SkillPaths, Trusted: s.trusts,
		ClaudeOff: set("DISABLE_CLAUDE_CODE") || set("DISABLE_CLAUDE_CODE_SKILLS"),
		OthersOff: set("DISABLE_EXTERNAL_SKILLS"),
	}
	for _, f := range s.there() {
		out.Folders = append(out.Folders, skill.Folder{Path: f.Path, Guarded: f.Guarded})
	}
	return out
}

// there are the config folders but those that do not exist yet.
func (s *setup) there() []config.Folder {
	return slices.DeleteFunc(slices.Clone(s.cfg.Folders), func(f config.Folder) bool { return f.Missing })
}

// trusts reports whether a path is, or is in, a config folder or a folder of
// skills that the user trusts as it is now.
func (s *setup) trusts(path string) bool {
	for dir := path; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if config.IsSharedSkills(dir) {
			return config.TrustedFolder(s.opt, dir)
		}
	}
	for _, f := range s.cfg.Folders {
		if disk.Within(f.Path, path) {
			return config.TrustedFolder(s.opt, f.Path)
		}
	}
	return false
}

// hasSkills reports whether a folder is a place for skills, or has one.
func hasSkills(folder string) bool {
	return config.IsSharedSkills(folder) || slices.ContainsFunc([]string{"skill", "skills"}, func(name string) bool {
		info, err := os.Stat(filepath.Join(folder, name))
		return err == nil && info.IsDir()
	})
}

// skillsFlags are the options of helve skills.
type skillsFlags struct {
	agent  string
	asJSON bool
}

// A shownSkill is a skill as --json prints it.
type shownSkill struct {
	skill.File
	State  string `json:"state"`
	Tokens int    `json:"tokens"` // about what its line in the list costs a model
}

// A skillReport is what --json prints.
type skillReport struct {
	Agent    string          `json:"agent"`
	Skills   []shownSkill    `json:"skills"` // those that can be loaded, by name
	NotTaken []shownSkill    `json:"notTaken"`
	Problems []skill.Problem `json:"problems"`
	Tokens   int             `json:"tokens"` // of the whole list
}

func (a *app) skillsCommand() *cobra.Command {
	var f skillsFlags
	c := &cobra.Command{
		Use:   "skills [NAME]",
		Short: "List the skills, and why others are not taken",
		Long: `Skills lists every SKILL.md that is found here: first those that a model can
load, with about what each costs in the list that the model is shown, then those
that are not taken, and why. With a name it shows what there is of that name.

A skill is "ready"; it "asks" if the rules say so; it is "denied" by them;
"unlisted" if it lacks a description, and "left out" if the list is full, but
can be loaded by name then. Those of a project that you do not trust are marked.`,
		Example: `  helve skills
  helve skills deploy
  helve skills --json --agent plan
  helve call skill name=deploy`,
		Args: atMost(1),
		RunE: func(_ *cobra.Command, args []string) error {
			report, err := a.findSkills(&f)
			if err != nil {
				return err
			}
			if len(args) > 0 {
				return a.oneSkill(report, args[0], f.asJSON)
			}
			if f.asJSON {
				return a.printJSON(report)
			}
			return a.listSkills(report)
		},
	}
	c.Flags().StringVar(&f.agent, "agent", "", "as this agent sees them")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	a.completeFlags(c)
	return c
}

func (a *app) findSkills(f *skillsFlags) (*skillReport, error) {
	s, err := a.load()
	if err != nil {
		return nil, err
	}
	a.warn(s.cfg)
	agent, err := s.agent(f.agent)
	if err != nil {
		return nil, err
	}
	opt := a.options(s)
	opt.MCP.Servers = nil
	rt, err := helve.Open(opt)
	if err != nil {
		return nil, err
	}
	defer rt.Close()
	files, problems := rt.Skills(agent.Name)
	out := &skillReport{Agent: agent.Name, Skills: []shownSkill{}, NotTaken: []shownSkill{}, Problems: append(s.skillURLs(), problems...)}
	for _, file := range files {
		k := shownSkill{File: file, State: skillState(file), Tokens: text.Tokens(file.Entry)}
		if file.Code != "" {
			out.NotTaken = append(out.NotTaken, k)
			continue
		}
		out.Skills = append(out.Skills, k)
		out.Tokens += k.Tokens
	}
	slices.SortStableFunc(out.Skills, func(a, b shownSkill) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// skillURLs notes that skills are not fetched, if the config wants that.
func (s *setup) skillURLs() []skill.Problem {
	out := []skill.Problem{}
	var section struct{ URLs []string }
	if err := json.Unmarshal(s.cfg.Skills, &section); err != nil { // absent
		return out
	}
	for _, url := range section.URLs {
		out = append(out, skill.Problem{
			Path: url, Message: "is not fetched: skills are read from folders only; put a copy into one and name it in skills.paths",
		})
	}
	return out
}

// skillState describes the state of a skill in a word or two.
func skillState(f skill.File) string {
	state := "ready"
	switch {
	case f.Code != "":
		return f.Code
	case f.Action == permission.Deny:
		state = "denied"
	case f.Description == "":
		state = "unlisted"
	case f.Entry == "":
		state = "left out"
	case f.Action == permission.Ask:
		state = "asks"
	}
	if f.Guarded {
		state += ", not trusted"
	}
	return state
}

func (a *app) listSkills(r *skillReport) error {
	for _, k := range r.Skills {
		fmt.Fprintf(a.Stdout, "%-20s  %-21s  %3d tokens  %s\n", text.VisibleLine(k.Name), k.State, k.Tokens, text.VisibleLine(k.Path))
		about, cut := text.Cut(k.Description, 200)
		if cut {
			about += "…"
		}
		for _, line := range append([]string{about}, k.Notes...) {
			if line != "" {
				fmt.Fprintf(a.Stdout, "    %s\n", text.VisibleLine(line))
			}
		}
	}
	switch {
	case len(r.Skills) > 0:
		noun := "skills"
		if len(r.Skills) == 1 {
			noun = "skill"
		}
		fmt.Fprintf(a.Stdout, "\n%d %s, about %d tokens in the list that agent %s is shown\n", len(r.Skills), noun, r.Tokens, text.VisibleLine(r.Agent))
	default:
		fmt.Fprintln(a.Stdout, "There are no skills here. One is a folder with a file SKILL.md, such as .helve/skill/NAME/SKILL.md.")
	}
	if len(r.NotTaken) > 0 {
		fmt.Fprintf(a.Stdout, "\nNot taken:\n")
		for _, k := range r.NotTaken {
			fmt.Fprintf(a.Stdout, "  %s\n", notTaken(k))
		}
	}
	if len(r.Problems) > 0 {
		fmt.Fprintf(a.Stdout, "\nNot searched:\n")
		for _, p := range r.Problems {
			fmt.Fprintf(a.Stdout, "  %s: %s\n", text.VisibleLine(p.Path), text.VisibleLine(p.Message))
		}
	}
	return nil
}

// notTaken says in one line where a file is and why it is not used as a skill.
func notTaken(k shownSkill) string {
	at := k.Path
	if k.Line > 0 {
		at += fmt.Sprintf(":%d", k.Line)
	}
	why := k.Why
	if k.Name != "" {
		why = fmt.Sprintf("%s: %s", k.Name, why)
	}
	return text.VisibleLine(fmt.Sprintf("%s: %s (%s)", at, why, k.Code))
}

// oneSkill shows what there is of a name.
func (a *app) oneSkill(r *skillReport, name string, asJSON bool) error {
	fits := func(k shownSkill) bool {
		return k.Name == name || k.Name == "" && filepath.Base(filepath.Dir(k.Path)) == name
	}
	found := slices.Concat(r.Skills, r.NotTaken)
	names := make([]string, 0, len(r.Skills))
	for _, k := range r.Skills {
		names = append(names, k.Name)
	}
	found = slices.DeleteFunc(found, func(k shownSkill) bool { return !fits(k) })
	if len(found) == 0 {
		err := &tool.Error{Kind: tool.Failed, Code: "unknown-skill", Err: fmt.Errorf("there is no skill called %q here", name)}
		err.Hint = "'helve skills' lists what there is, and why others are not taken."
		if near, ok := text.Nearest(name, names); ok {
			err.Hint = fmt.Sprintf("Did you mean %q?", near)
		}
		return err
	}
	if asJSON {
		return a.printJSON(found)
	}
	for _, k := range found {
		if k.Code != "" {
			fmt.Fprintf(a.Stdout, "not taken: %s\n", notTaken(k))
			continue
		}
		tw := columns(a.Stdout)
		fmt.Fprintf(tw, "name\t%s\nstate\t%s\nfile\t%s\nfrom\t%s\n", text.VisibleLine(k.Name), k.State, text.VisibleLine(k.Path), k.From)
		fmt.Fprintf(tw, "description\t%s\nin the list\t%d tokens\n", text.VisibleLine(cmp.Or(k.Description, "none")), k.Tokens)
		for _, note := range k.Notes {
			fmt.Fprintf(tw, "note\t%s\n", text.VisibleLine(note))
		}
		if err := tw.Flush(); err != nil {
			return err
		}
	}
	return nil
}
