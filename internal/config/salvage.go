package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/helve-dev/helve/permission"
)

// restrict adds rules that can only restrict, for one agent or, with "", for all.
func (l *loader) restrict(agent string, rules permission.Ruleset) {
	switch {
	case len(rules) == 0:
	case agent == "":
		l.cfg.Ceilings = append(l.cfg.Ceilings, rules)
	default:
		l.agentCeilings = append(l.agentCeilings, agentCeiling{agent, rules, rules[0].From})
	}
}

// closed denies what a mistake in a policy is about, since nobody knows what was to be forbidden:
// one permission, one agent or, if it concerns neither, everything.
func (l *loader) closed(p *Problem, path []string) {
	agent, name := "", ""
	if len(path) > 1 && (path[0] == "agent" || path[0] == "mode") {
		agent, path = path[1], path[2:]
	}
	if len(path) > 1 && path[0] == "permission" {
		name = path[1]
	}
	if len(path) > 1 && path[0] == "tools" {
		name = toolPermission(path[1])
	}
	switch {
	case name == "" && agent == "":
		l.void(p)
		return
	case name == "":
		l.broken[agent], name = true, "*"
	}
	from := permission.Source{File: p.File, Line: p.Line}
	l.restrict(agent, permission.Ruleset{{Permission: name, Pattern: "*", Action: permission.Deny, From: from}})
}

// salvage applies the restrictions, but not the permissions, of parts of a config file that are
// otherwise ignored.
func (l *loader) salvage(root *node) {
	for _, section := range []string{"agent", "mode"} {
		if agents := root.get(section); agents != nil {
			policyOnly(agents)
		}
	}
	c := checker{l: l}
	if !c.value(root, fileShape()) {
		return
	}
	normalise(root)
	toolRules(root)
	l.eachPolicy(root, func(agent, _ string, rules permission.Ruleset) {
		if slices.ContainsFunc(rules, func(r permission.Rule) bool { return r.Action != permission.Allow }) {
			l.restrict(agent, rules)
		}
	})
}

// eachPolicy calls f for the rules of a file, and for those of its agents, with
// the key that they stand under.
func (l *loader) eachPolicy(root *node, f func(agent, key string, rules permission.Ruleset)) {
	read := func(agent, key string, policy *node) {
		if policy == nil {
			return
		}
		if rules, _, err := policy.policyRules(l.opt.Home); err == nil && len(rules) > 0 {
			f(agent, key, rules)
		}
	}
	read("", "permission", root.get("permission"))
	for _, section := range []string{"agent", "mode"} {
		agents := root.get(section)
		if agents == nil {
			continue
		}
		for _, a := range agents.members {
			read(a.key, section+"."+a.key+".permission", a.val.get("permission"))
		}
	}
}

// policyOnly removes everything from agents that is not, or is not meant to be, a policy.
func policyOnly(agents *node) {
	known := agentShape().fields
	for _, a := range agents.members {
		a.val.filterMembers(func(m member) bool {
			return m.key == "permission" || m.key == "tools" || misplaced(m, known[m.key]) || known[m.key] == nil && nearest(m.key, []string{"permission"}) != ""
		})
	}
}

// under returns an object with one value at a path of keys.
func under(val *node, path ...string) *node {
	for _, key := range slices.Backward(path) {
		val = &node{kind: 'o', in: val.in, at: val.at, members: []member{{key, val, val.in, val.at}}}
	}
	return val
}

// stray reports whether a member is a policy in a form or place without effect: under another name,
// beside permission, or as another program writes it. Its restrictions are kept, so that nobody
// relies on a restriction that does not hold.
func (c *checker) stray(m member, f *shape) bool {
	p := Problem{Key: c.key(), Severity: Error}
	root := c.path[:len(c.path)-1] // of the file, or of the agent
	where := func(key ...string) []string { return slices.Concat(root, []string{"permission"}, key) }
	switch {
	case misplaced(m, f):
		p.Message = fmt.Sprintf(`%q holds rules, and no setting does; only what they restrict is in force; did you mean "permission": {%q: …}?`, c.key(), m.key)
		c.l.salvage(under(rulesIn(m, f), where(normalizeToolName(m.key))...))
	case f == nil && nearest(m.key, []string{"permission"}) != "":
		p.Message, p.Suggest = fmt.Sprintf("%q is not a setting", c.key()), "permission"
		switch {
		case m.val.kind == 'o' && len(m.val.members) > 0, isAction(m.val):
			p.Message += "; only what it restricts is in force"
			c.l.salvage(under(m.val, where()...))
		case m.val.kind == 'a' && c.newer(m.val):
			p.Message = fmt.Sprintf("%q is a list of rules, as later versions of OpenCode have them; only what it restricts is in force", c.key())
		default:
			p.Severity = Warning
		}
	case len(root) == 2 && m.key != "tools" && strings.EqualFold(m.key, "tools") && m.val.kind == 'o':
		p.Message, p.Suggest = fmt.Sprintf("%q is not a setting; only what it restricts is in force", c.key()), "tools"
		c.l.salvage(under(m.val, append(slices.Clone(root), "tools")...))
	case len(root) == 2 && m.key == "disallowedTools" && (m.val.kind == 'a' || m.val.kind == 's'):
		p.Message = fmt.Sprintf(`%q is a setting of Claude Code; only what it restricts is in force; want "permission": {"bash": "deny"}`, c.key())
		c.l.restrict(root[1], claudeRules(m.val, permission.Deny, c.l.opt.Home))
	case m.key == "tools" && slices.ContainsFunc(toolNames(m.val), func(name string) bool { return name == "*" || strings.EqualFold(name, "all") }):
		p.Message, p.Severity = fmt.Sprintf(`%q names every tool, and is left out; want an object such as {"write": false}`, c.key()), Warning
	case m.key == "tools" && (m.val.kind == 'a' || m.val.kind == 's') && (len(root) == 2 || len(toolNames(m.val)) > 0):
		agent, whom := "", ""
		if len(root) == 2 {
			agent, whom = root[1], " to this agent"
		}
		p.Message = fmt.Sprintf(`%q is a list; want an object such as {"write": false}; tools that it does not name are denied%s, and none is allowed by it`, c.key(), whom)
		c.l.restrict(agent, denyUnlisted(m.val))
	case f == nil && (len(root) == 2 || nearest(m.key, []string{"agent", "mode", "tools"}) == "") && len(policies(m)) > 0:
		p.Message = fmt.Sprintf(`%q holds rules, and no setting does; only what they restrict is in force; write them into "permission"`, c.key())
		for _, found := range policies(m) {
			c.l.salvage(under(found.clone(), root...))
		}
	default:
		return false
	}
	c.l.addProblem(m.in, m.at, p)
	return true
}

// rulesIn returns the rules in a member, without the settings of the shape.
func rulesIn(m member, s *shape) *node {
	if m.val.kind != 'o' {
		return m.val
	}
	rules := *m.val
	rules.index, rules.members = nil, slices.DeleteFunc(slices.Clone(m.val.members), func(r member) bool {
		return !isAction(r.val) || s != nil && s.fields[r.key] != nil
	})
	return &rules
}

// newer reports whether a list holds rules, as later versions of OpenCode ({"action": "edit",
// "resource": "*", "effect": "deny"}) or helve's own server ({"permission": "edit", "pattern": "*",
// "action": "deny"}) write them, and applies those that restrict.
func (c *checker) newer(list *node) bool {
	names := map[string]string{"shell": "bash", "subagent": "task"}
	var rules permission.Ruleset
	for _, e := range list.elems {
		action, resource, effect := e.get("action"), e.get("resource"), e.get("effect")
		if effect == nil {
			action, resource, effect = cmp.Or(e.get("permission"), e.get("tool")), e.get("pattern"), action
		}
		if action == nil || action.kind != 's' || effect == nil || !isAction(effect) {
			continue
		}
		name, pattern := action.text, "*"
		if to := names[name]; to != "" {
			name = to
		}
		if resource != nil {
			pattern = resource.text
		}
		if one, _, err := under(effect, name, pattern).policyRules(c.l.opt.Home); err == nil {
			rules = append(rules, one...)
		}
	}
	agent := ""
	if len(c.path) == 3 {
		agent = c.path[1]
	}
	c.l.restrict(agent, rules)
	return len(rules) > 0
}

// toolNames returns the names of tools in a list, or between commas.
func toolNames(n *node) []string {
	names := elemTexts(n)
	if n.kind == 's' {
		names = strings.Split(n.text, ",")
	}
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	return names
}

// claudeName returns the name in rules of a tool of Claude Code, and the text in parentheses after
// it.
func claudeName(s string) (name, pattern string) {
	name, pattern, _ = strings.Cut(s, "(")
	if name = strings.ToLower(strings.TrimSpace(name)); slices.Contains(knownTools(), normalizeToolName(name)) {
		name = normalizeToolName(name)
	}
	name = toolPermission(name)
	if tool, ok := strings.CutPrefix(name, "mcp__"); ok {
		if !strings.Contains(tool, "__") {
			tool += "__*" // every tool of the server
		}
		name = strings.ReplaceAll(tool, "__", "_")
	}
	return name, strings.TrimSuffix(strings.TrimSpace(pattern), ")")
}

// denyUnlisted denies the tools that a list does not name. The names may be Claude Code's; one with
// a pattern counts as not listed.
func denyUnlisted(n *node) permission.Ruleset {
	rule := func(name string, action permission.Action) permission.Rule {
		return permission.Rule{Permission: name, Pattern: "*", Action: action, From: n.sourceRule()}
	}
	rules := permission.Ruleset{rule("*", permission.Deny), rule("external_directory", permission.Allow), rule("doom_loop", permission.Allow)}
	for _, item := range toolNames(n) {
		if name, pattern := claudeName(item); name != "" && pattern == "" {
			rules = append(rules, rule(name, permission.Allow))
		}
	}
	return rules
}

// claudeRules returns what a list of Claude Code restricts: for tools that take a command or a path
// the pattern, for others everything.
func claudeRules(n *node, action permission.Action, home string) (rules permission.Ruleset) {
	for _, item := range toolNames(n) {
		name, pattern := claudeName(item)
		switch name {
		case "":
			continue
		case "bash":
			if before, ok := strings.CutSuffix(pattern, ":*"); ok {
				pattern = before + "*"
			}
		case "read", "edit":
			pattern = strings.TrimPrefix(pattern, "./")
			if strings.HasPrefix(pattern, "//") {
				pattern = pattern[1:]
			}
		default:
			pattern = ""
		}
		effect := stringNode(string(action), n)
		if one, _, err := under(effect, name, cmp.Or(pattern, "*")).policyRules(home); err == nil {
			rules = append(rules, one...)
		}
	}
	return rules
}

// claudeList reports whether a member of a policy is a list of rules in Claude Code's form,
// {"deny": ["Bash(rm:*)"]}, and applies those that restrict.
func (c *checker) claudeList(m member) bool {
	action := permission.Action(m.key)
	if m.val.kind != 'a' || action != permission.Allow && action != permission.Ask && action != permission.Deny {
		return false
	}
	agent := ""
	if len(c.path) == 4 {
		agent = c.path[1]
	}
	c.l.addProblem(m.in, m.at, Problem{Key: c.key(), Severity: Error, Message: fmt.Sprintf(
		`%q is a list, as Claude Code has it; only what it restricts is in force; want {"bash": %q}`, c.key(), action)})
	if action != permission.Allow {
		c.l.restrict(agent, claudeRules(m.val, action, c.l.opt.Home))
	}
	return true
}

// respelt reports a misspelt tool name: in other case, with blanks, in Claude Code's form with a
// pattern, or several with commas. It applies the restrictions under it.
func (c *checker) respelt(m member) (told bool) {
	for _, item := range strings.FieldsFunc(m.key, func(r rune) bool { return r == ',' || r == '|' }) {
		name, pattern := claudeName(item)
		if name == m.key || name == toolPermission(m.key) || !slices.Contains(knownTools(), name) {
			continue
		}
		if !told {
			said, _, _ := strings.Cut(item, "(")
			if said = normalizeToolName(said); !slices.Contains(knownTools(), said) {
				said = name
			}
			c.unknown(m, "is not the name of a tool; only what it restricts is in force", said)
		}
		told = true
		if pattern != "" && m.val.kind == 's' {
			if restricts(m.val) {
				agent := ""
				if len(c.path) == 4 {
					agent = c.path[1]
				}
				c.l.restrict(agent, claudeRules(stringNode(item, m.val), permission.Action(m.val.text), c.l.opt.Home))
			}
			continue
		}
		path := slices.Clone(c.path)
		path[len(path)-1] = name
		c.l.salvage(under(m.val.clone(), path...))
	}
	return told
}

// toolPermission returns the permission of a tool in rules.
func toolPermission(tool string) string {
	switch tool {
	case "write", "edit", "patch", "multiedit", "notebookedit":
		return "edit"
	case "ls":
		return "list"
	}
	return tool
}
