package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/helve-dev/helve/permission"
)

// A location is where a config file or folder may be.
type location struct {
	path    string
	kind    Kind
	guarded bool   // it comes with the project
	named   string // the variable that names it, so that it has to be there
	awaited bool   // a folder that is told of also while it is not there
}

// loadFile loads one file, if it exists.
func (l *loader) loadFile(p location) {
	if l.seen[p.path] {
		return
	}
	data, err := readRegular(p.path, maxFile)
	if err != nil && (absent(err) || errors.Is(err, syscall.ELOOP)) && p.named == "" {
		if info, err := os.Lstat(p.path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			l.addProblem(&input{path: p.path}, 0, Problem{Message: "is a link that leads nowhere; no settings are read from it", Severity: Warning})
		}
		return
	}
	l.seen[p.path] = true
	if info, is := os.Stat(p.path); is == nil && info.IsDir() && p.named == "" {
		l.addProblem(&input{path: p.path}, 0, Problem{Message: "is a folder; no settings are read from it, so rename it", Severity: Warning})
		return
	}
	in := &input{
		path: p.path, dir: filepath.Dir(p.path), kind: p.kind, guarded: p.guarded,
		helve: helveFile(p.path) || strings.HasPrefix(p.named, "HELVE_"),
	}
	if err != nil {
		// It is not known what it would have forbidden.
		l.unreadable(in, p, err)
		return
	}
	in.data = data
	l.text(in)
}

func (l *loader) unreadable(in *input, p location, err error) {
	msg := "cannot be read: " + plainError(err)
	if p.named != "" {
		msg += " (named by " + p.named + ")"
	}
	l.void(l.addProblem(in, 0, Problem{Message: msg, Severity: Error}))
	l.cfg.Sources = append(l.cfg.Sources, Source{Path: p.path, Kind: p.kind, Guarded: p.guarded})
}

// text loads a config text.
func (l *loader) text(in *input) {
	raw := in.data
	root, doubles, err := parse(in)
	hash := ""
	if !in.guarded || l.needsHash(in.path) {
		var failed error
		if hash, failed = l.hashInput(raw, root, in); failed != nil {
			l.addProblem(in, 0, Problem{Message: "cannot be trusted: " + failed.Error(), Severity: Error})
		}
	}
	l.addSource(in, hash)
	if err != nil {
		l.syntax(in, err)
		return
	}
	if in.empty {
		l.addProblem(in, 0, Problem{Message: "the file is empty; write {} for no settings, or remove it", Severity: Warning})
	}
	l.doubles(in, doubles)
	l.layer(in, root)
}

// permissionText loads a text that contains only a policy.
func (l *loader) permissionText(in *input) {
	n, doubles, err := parse(in)
	l.addSource(in, "")
	if in.empty {
		err = &syntaxError{0, "it is empty; write {} for no rules, or unset it"}
	}
	if err != nil {
		l.syntax(in, err)
		return
	}
	root := &node{kind: 'o', in: in, members: []member{{"permission", n, in, n.at}}}
	for i := range doubles {
		doubles[i].path = append([]string{"permission"}, doubles[i].path...)
	}
	l.doubles(in, doubles)
	l.layer(in, root)
}

func (l *loader) syntax(in *input, err error) {
	var se *syntaxError
	if errors.As(err, &se) {
		l.void(l.addProblem(in, se.at, Problem{Message: se.msg, Severity: Error}))
	}
}

// addSource records an input and finds out whether it is trusted.
func (l *loader) addSource(in *input, hash string) {
	s := Source{Path: in.path, Kind: in.kind, Guarded: in.guarded, Trusted: !in.guarded, Hash: hash}
	if in.guarded {
		s.Trusted, s.Changed = l.trusted(in.path, hash)
		s.Files = l.compared(in.path, in.files)
	}
	in.trusted = s.Trusted
	l.cfg.Sources = append(l.cfg.Sources, s)
}

// decides reports whether a top-level key can refuse something: permissions, hooks, plugins and the
// sandbox.
func decides(key string) bool {
	switch key {
	case "permission", "tools", "agent", "mode", "permission_examples", "hooks", "custom", "wall":
		return true
	}
	return false
}

// ofPolicy reports whether a path of keys is that of rules, or contains rules.
func ofPolicy(path []string) bool {
	if path[0] == "agent" || path[0] == "mode" {
		if len(path) < 3 {
			return true
		}
		path = path[2:]
	}
	return path[0] == "permission" || path[0] == "tools"
}

// doubles reports duplicate keys. The last one counts, but restrictions of either take effect. In
// helve's own sections a duplicate is an error, because one of them is a guess.
func (l *loader) doubles(in *input, all []double) {
	for i, d := range all {
		key := strings.Join(d.path, ".")
		if i == maxProblems {
			l.void(l.addProblem(in, d.at, Problem{Key: key, Message: "too many keys stand twice; keep one of each", Severity: Error}))
			return
		}
		p := Problem{Key: key, Message: fmt.Sprintf("%q stands twice; the last one counts; keep one", key), Severity: Warning}
		switch {
		case ofPolicy(d.path):
			p.Message = fmt.Sprintf("%q stands twice; the last one counts, within what the other restricts; keep one", key)
			l.addProblem(in, d.at, p)
			values := []*node{d.earlier}
			if d.last.kind == 's' { // of patterns the order counts too, and JSON keeps the place of the first
				values = append(values, d.last)
			}
			for _, val := range values {
				root := under(val.clone(), d.path...)
				if in.trusted && !in.literal {
					l.substitute(root)
				}
				l.salvage(root)
			}
		case decides(d.path[0]) && d.path[0] != "agent" && d.path[0] != "mode":
			p.Message, p.Severity = fmt.Sprintf("%q stands twice; keep one", key), Error
			if p := l.addProblem(in, d.at, p); in.helve {
				l.void(p)
			}
		default:
			l.addProblem(in, d.at, p)
		}
	}
}

// layer merges one file's settings over those below it.
func (l *loader) layer(in *input, root *node) {
	laterAgents(root)
	switch {
	case !in.trusted:
		l.withhold(root)
	case !in.literal:
		l.substitute(root)
	}
	c := checker{l: l}
	if !c.value(root, fileShape()) {
		return
	}
	normalise(root)
	if !in.trusted {
		l.restrictUntrusted(root)
	}
	for _, key := range []string{"plugin", "instructions"} {
		list, have := root.get(key), l.merged.get(key)
		if list == nil {
			continue
		}
		sum := &node{kind: 'a', in: list.in, at: list.at}
		if have != nil {
			sum.elems = append(sum.elems, have.elems...)
		}
		sum.extend(list, startsAt)
		m := root.members[root.find(key)]
		m.val = sum
		root.put(m)
	}
	l.addUp(root, "hooks")
	l.addUp(root, "custom")
	l.merged.merge(root)
	if examples := root.get("permission_examples"); examples != nil {
		l.examples(examples)
	}
}

// laterAgents moves the agents in a file from agents, the key of later versions of OpenCode, to
// where they count, without their rules, which are kept with other rules in the wrong place.
func laterAgents(root *node) {
	later := root.get("agents")
	if later == nil || later.kind != 'o' {
		return
	}
	names := map[string]string{"system": "prompt", "disabled": "disable"}
	for _, key := range []string{"model", "variant", "description", "mode", "hidden", "color", "steps", "prompt", "disable"} {
		names[key] = key
	}
	agents := &node{kind: 'o', in: later.in, at: later.at}
	for _, a := range later.members {
		if a.val.kind != 'o' {
			continue
		}
		one := &node{kind: 'o', in: a.val.in, at: a.val.at}
		for _, m := range a.val.clone().members {
			if m.key = names[m.key]; m.key != "" {
				one.put(m)
			}
		}
		a.val = one
		agents.put(a)
	}
	if own := root.get("agent"); own != nil && own.kind == 'o' {
		agents.merge(own)
	}
	root.put(member{"agent", agents, later.in, later.at})
}

// substitute replaces {env:} and {file:}. A value with an unresolvable reference gets the kind
// [unresolved], which the check reports.
func (l *loader) substitute(n *node) {
	put := func(s *string, n *node, at int) {
		if !hasReference(*s) {
			return
		}
		v, err := l.expandReferences(*s, n.in)
		if err == nil && s == &n.text && n.in.bare[n.at] {
			err = n.become(v)
			v = n.text
		}
		if err != nil {
			*n = node{kind: unresolved, text: err.Error(), in: n.in, at: at}
			return
		}
		*s = v
	}
	if n.kind == 's' {
		put(&n.text, n, n.at)
		return // what a file holds is taken as it is
	}
	for _, e := range n.elems {
		l.substitute(e)
	}
	n.index = nil
	for i := range n.members {
		m := &n.members[i]
		put(&m.key, m.val, m.at)
		l.substitute(m.val)
	}
}

// normalise converts rules to one form so that they merge: the old tools switches become rules, and
// a single action for everything becomes an object.
func normalise(root *node) {
	asObject(root)
	for _, section := range []string{"agent", "mode"} {
		agents := root.get(section)
		if agents == nil {
			continue
		}
		for _, a := range agents.members {
			asObject(a.val)
			toolRules(a.val)
		}
	}
}

// asObject writes "permission": action as "permission": {"*": action}.
func asObject(n *node) {
	i := n.find("permission")
	if i < 0 || n.members[i].val.kind != 's' {
		return
	}
	v := n.members[i].val
	n.members[i].val = &node{kind: 'o', in: v.in, at: v.at, members: []member{{"*", v, v.in, v.at}}}
}

// toolRules converts a tools object to rules in the permission object.
func toolRules(n *node) {
	tools := n.get("tools")
	if tools == nil {
		return
	}
	rules := &node{kind: 'o', in: tools.in, at: tools.at, owned: true}
	for _, m := range tools.members {
		action := permission.Deny
		if m.val.text == "true" {
			action = permission.Allow
		}
		rules.put(member{toolPermission(m.key), stringNode(string(action), m.val), m.in, m.at})
	}
	own := member{"permission", rules, tools.in, tools.at}
	if explicit := n.get("permission"); explicit != nil {
		rules.merge(explicit)
	}
	n.filterMembers(func(m member) bool { return m.key != "tools" })
	n.put(own)
}

// maxExamples limits the examples of one file, since each is checked against every rule.
const maxExamples = 1000

// examples checks a file's examples of its rules against the default rules and those merged so far.
// Each is matched as plain text: command lines are not parsed, and files have no second name.
func (l *loader) examples(examples *node) {
	so := &node{kind: 'o', members: []member{}, owned: true}
	for _, key := range []string{"permission", "tools"} {
		if i := l.merged.find(key); i >= 0 {
			so.put(l.merged.members[i])
		}
	}
	toolRules(so)
	var rules permission.Ruleset
	if policy := so.get("permission"); policy != nil {
		var err error
		if rules, _, err = policy.policyRules(l.opt.Home); err != nil {
			return // reported where it was read
		}
	}
	count := 0
	for _, p := range examples.members {
		for _, ex := range p.val.members {
			if count++; count > maxExamples {
				l.void(l.addProblem(ex.in, ex.at, Problem{
					Key: "permission_examples", Message: fmt.Sprintf("more than %d examples in one file", maxExamples), Severity: Error,
				}))
				return
			}
			got := permission.Evaluate(p.key, ex.key, l.opt.Defaults, rules)
			if string(got.Action) == ex.val.text {
				continue
			}
			why := "no rule matches"
			if got.From.File != "" {
				why = fmt.Sprintf("the rule %q: %q at %s decides", got.Permission+" "+got.Pattern, got.Action, got.From)
			}
			l.void(l.addProblem(ex.in, ex.at, Problem{
				Key: "permission_examples." + p.key + "." + ex.key,
				Message: fmt.Sprintf("the example %s %q should be %q but is %q: %s",
					p.key, shorten(ex.key), ex.val.text, got.Action, why),
				Severity: Error,
			}))
		}
	}
}
