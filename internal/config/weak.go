package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/helve-dev/helve/permission"
)

// mostLooked limits how many rules of one list are compared with each other.
const mostLooked = 1000

// weak reports rules that cannot mean what they say. They take effect all the same, so only [Check]
// reports them.
func (c *Config) weak(defaults permission.Ruleset) {
	c.weakRules("permission", c.Rules)
	for _, rules := range c.Ceilings {
		c.weakRules("permission", rules)
	}
	for _, a := range c.Agents {
		for _, rules := range slices.Concat([]permission.Ruleset{a.Permission}, a.Ceilings) {
			c.weakRules("agent."+a.Name+".permission", rules)
		}
	}
	if len(c.Rules) > mostLooked {
		return
	}
	lost := map[permission.Rule][]string{}
	for _, d := range defaults {
		if d.Permission != "read" || d.Action != permission.Ask {
			continue
		}
		if r, ok := c.loosens(d); ok {
			lost[r] = append(lost[r], d.Pattern)
		}
	}
	for _, r := range c.Rules {
		if patterns := lost[r]; patterns != nil {
			delete(lost, r)
			c.addRuleProblem(r, note, "permission."+r.Permission, fmt.Sprintf("%s also allows to read %s, which is asked about by default; to keep that, write %s after it",
				ruleWords(r), list(patterns, `%q`, " and "), list(patterns, `%q: "ask"`, ", ")))
		}
	}
}

// weakRules reports rules that match nothing, or less than was intended.
func (c *Config) weakRules(key string, rules permission.Ruleset) {
	if len(rules) > mostLooked {
		return
	}
	for _, s := range rules.Shadows() {
		r, by := s.Rule, s.By
		if r.From.File != by.From.File {
			continue // a file may loosen what another one says
		}
		c.addRuleProblem(r, Warning, key+"."+r.Permission, fmt.Sprintf("%s has no effect: the last match wins, and the later %s (line %d) is about all of it; put that one first",
			ruleWords(r), ruleWords(by), by.From.Line))
	}
	for _, r := range rules {
		c.odd(key, r)
	}
	for _, r := range rules.Bare() {
		verb := "denies only the bare command"
		if r.Action == permission.Ask {
			verb = "asks about the bare command only"
		}
		c.addRuleProblem(r, Warning, key+"."+r.Permission, fmt.Sprintf("%s %s; did you mean %q?", ruleWords(r), verb, r.Pattern+" *"))
	}
}

// odd reports a pattern that no command line can match.
func (c *Config) odd(key string, r permission.Rule) {
	unseen := func(char rune) bool { return char != ' ' && (unicode.IsSpace(char) || !unicode.IsPrint(char)) }
	if strings.ContainsFunc(r.Pattern, unseen) {
		c.addRuleProblem(r, Warning, key+"."+r.Permission, fmt.Sprintf(`"%s": the pattern %q holds a character that cannot be seen, and stands for nothing without it`, shorten(r.Permission), r.Pattern))
	}
	before, claude := strings.CutSuffix(r.Pattern, ":*")
	if !claude || r.Permission != "bash" || r.Action == permission.Allow {
		return
	}
	how := Warning
	if strings.Contains(before, " ") { // it may be a script, as in npm run test:*
		how = note
	}
	c.addRuleProblem(r, how, key+"."+r.Permission, fmt.Sprintf("%s is about %s with a colon; if it is meant as in Claude Code, write %q", ruleWords(r), before, before+" *"))
}

// loosens returns the rule that overrides a default one, unless a later one is as strict.
func (c *Config) loosens(d permission.Rule) (permission.Rule, bool) {
	for _, r := range slices.Backward(c.Rules) {
		switch {
		case len(permission.Ruleset{d, r}.Shadows()) > 0:
			return r, true
		case r.Action != permission.Allow && r.Matches(d.Permission, d.Pattern):
			return r, false
		}
	}
	return permission.Rule{}, false
}

// list joins words, each in the format.
func list(words []string, format, between string) (out string) {
	for i, w := range words {
		if i > 0 {
			out += between
		}
		out += fmt.Sprintf(format, w)
	}
	return out
}

// ruleWords returns a rule as a person would write it.
func ruleWords(r permission.Rule) string {
	if r.Pattern == "*" {
		return fmt.Sprintf(`"%s": "%s"`, shorten(r.Permission), r.Action)
	}
	return fmt.Sprintf(`"%s": {"%s": "%s"}`, shorten(r.Permission), shorten(r.Pattern), r.Action)
}

// addRuleProblem adds what is to be said about a rule.
func (c *Config) addRuleProblem(r permission.Rule, how Severity, key, message string) {
	const most = 2 * maxProblems
	if len(c.Problems) < most {
		c.Problems = append(c.Problems, Problem{File: r.From.File, Line: r.From.Line, Key: key, Message: message, Severity: how})
	}
}
