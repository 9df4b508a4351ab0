package main

import (
	"fmt"
	"io"
	"strings"
)

// preface opens the report of all parts, which is a page of the documentation.
const preface = `# Conformance

What programs of other people say about helve's MCP server and client. This page is written by ` + "`make mcp-proof`" + `
(` + "`lab/mcp-proof`" + `), which fetches them from npm, runs them on this machine with proxies that lead nowhere, and fails where
something is worse than here.

- The suite for servers talks to helve's server with the tools that the suite expects in a runtime of its own; the resources, prompts
  and completions come through from another server, which that runtime is connected to. The suite for clients talks to a runtime with
  the suite's server in it.
- What does not pass is listed in ` + "`lab/mcp-proof/baseline.yml`" + `, with why. A scenario with a warning counts as not passing.
- The suite checks less than its names say in two places: ` + "`tools-call-elicitation`" + ` only wants a form to be shown (it is that of a permission
  request, and the suite's answer does not fit it, which rejects the call), and ` + "`auth/basic-cimd`" + ` passes because the config names the
  address that the suite expects as the client's id: helve has no such page of its own.
- Real clients run without a person, with a model that plays a script: read a file, edit it, run a command, and try one that a
  rule denies.

`

// A section is one part of the proof: a text for people, and what of it is not
// as it should be.
type section struct {
	title string
	text  string
	bad   []string
}

// cell makes a text fit for a table.
func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "<", "&lt;").Replace(text)
}

func tick(ok bool) string {
	if ok {
		return "yes"
	}
	return "**no**"
}

// failed makes the section of a part that could not be run.
func failedSection(title string, err error) section {
	return section{title: title, text: "It could not be run: " + cell(err.Error()) + "\n", bad: []string{title + ": " + err.Error()}}
}

func conformSection(title string, all []scenario) section {
	s := section{title: title}
	var b strings.Builder
	passed, checks := 0, 0
	for _, c := range all {
		checks += c.Passed
		if c.ok() {
			passed++
		}
	}
	fmt.Fprintf(&b, "%d of %d scenarios pass, with %d checks.\n\n", passed, len(all), checks)
	b.WriteString("| scenario | passes | checks | why not |\n|---|---|---|---|\n")
	for _, c := range all {
		why := c.Expected
		switch {
		case c.ok() && !c.surprising():
			why = clip(c.Why, 300)
		case c.surprising() && c.ok():
			why = "it is in the baseline, and passes"
		case c.surprising():
			why = "**unexpected:** " + clip(c.Why, 300)
		}
		if c.surprising() {
			s.bad = append(s.bad, fmt.Sprintf("%s, %s: %s", title, c.Name, why))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %d of %d | %s |\n", c.Name, tick(c.ok()), c.Passed, c.Passed+c.Failed+c.Warned, cell(why))
	}
	s.text = b.String()
	return s
}

func serverSection(rows []trialRow) section {
	s := section{title: "Real servers"}
	var b strings.Builder
	b.WriteString("| server | tool | shows | works | |\n|---|---|---|---|---|\n")
	for _, r := range rows {
		works, note := tick(r.Why == ""), r.Why
		if r.Skipped {
			works, note = "–", "offered only to clients with an ability that helve does not have"
		}
		if r.Why != "" {
			s.bad = append(s.bad, fmt.Sprintf("%s, %s (%s): %s", r.Server, r.Tool, r.Kind, r.Why))
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s |\n", r.Server, r.Tool, r.Kind, works, cell(clip(note, 300)))
	}
	s.text = b.String()
	return s
}

func clientSection(rows []clientRow) section {
	s := section{title: "Real clients"}
	var b strings.Builder
	b.WriteString("| client | version | tools seen | lists | read | edit | bash | denied one refused |\n|---|---|---|---|---|---|---|---|\n")
	for i := range rows {
		r := &rows[i]
		fmt.Fprintf(&b, "| %s | %s | %d |", r.Name, r.Version, r.Offered)
		for _, name := range []string{"lists", "read", "edit", "bash", "denied"} {
			ok := false
			for _, c := range r.Checks {
				ok = ok || c.Name == name && c.Pass
			}
			fmt.Fprintf(&b, " %s |", tick(ok))
		}
		b.WriteString("\n")
		if r.Why != "" {
			s.bad = append(s.bad, r.Name+": "+r.Why)
		}
		for _, c := range r.Checks {
			if !c.Pass {
				s.bad = append(s.bad, fmt.Sprintf("%s, %s: %s", r.Name, c.Name, c.Why))
			}
		}
	}
	s.text = b.String()
	return s
}

// report writes the sections, and what is not as it should be.
func report(out io.Writer, all []section) error {
	var bad []string
	for _, s := range all {
		fmt.Fprintf(out, "## %s\n\n%s\n", s.title, s.text)
		bad = append(bad, s.bad...)
	}
	if len(bad) == 0 {
		return nil
	}
	fmt.Fprintf(out, "## Not as it should be\n\n")
	for _, b := range bad {
		fmt.Fprintf(out, "- %s\n", cell(clip(b, 500)))
	}
	return fmt.Errorf("%d things are not as they should be", len(bad))
}
