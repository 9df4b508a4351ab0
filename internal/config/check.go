package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/permission"
)

// checker validates the tree of one file. It reports problems and removes what is invalid; the tree
// belongs to the file, so it is changed in place.
type checker struct {
	l    *loader
	path []string
}

func (c *checker) key() string { return strings.Join(c.path, ".") }

// reportError reports a mistake. If it is in a policy, what it is about is denied.
func (c *checker) reportError(n *node, s *shape, msg string) {
	p := c.l.addProblem(n.in, n.at, Problem{Key: c.key(), Message: msg, Severity: Error})
	if s.policy {
		c.l.closed(p, c.path)
	}
}

// value reports whether n is valid and may stay.
func (c *checker) value(n *node, s *shape) bool {
	if !c.shaped(n, s) {
		return false
	}
	if s.good == nil {
		return true
	}
	said := s.good(n)
	if said != "" {
		c.reportError(n, s, fmt.Sprintf("%q %s", c.key(), said))
	}
	return said == ""
}

// quotedKey returns the current key as a message names it.
func (c *checker) quotedKey() string {
	if key := c.key(); key != "" {
		return strconv.Quote(key)
	}
	return "the file as a whole"
}

// shaped reports whether n has the kind, words and keys of its shape.
func (c *checker) shaped(n *node, s *shape) bool {
	if n.kind == unresolved {
		c.reportError(n, s, n.text)
		return false
	}
	if s.kinds != "" && strings.IndexByte(s.kinds, n.kind) < 0 {
		got := kindWord(n.kind)
		if n.kind == 'b' {
			got = n.text
		}
		want := s.want()
		if s.like != "" {
			want += " such as " + s.like
		}
		if n.kind == 'a' && len(n.elems) == 0 && !s.helve { // as some programs write an object with nothing in it
			c.l.addProblem(n.in, n.at, Problem{Key: c.key(), Message: fmt.Sprintf("%s is an empty list; want %s", c.quotedKey(), want), Severity: Warning})
			return false
		}
		if c.ruleless(n, s) {
			s = anyShape()
		}
		c.reportError(n, s, fmt.Sprintf("%s is %s; want %s", c.quotedKey(), got, want))
		return false
	}
	if s.rules {
		return c.policy(n, s)
	}
	switch n.kind {
	case 's':
		if len(s.words) > 0 && !slices.Contains(s.words, n.text) {
			c.reportError(n, s, fmt.Sprintf("%q is %q; want %s", c.key(), shorten(n.text), s.want()))
			return false
		}
	case 'n':
		if v, err := strconv.ParseInt(n.text, 10, 64); s.above && (err != nil || v <= 0) {
			c.reportError(n, s, fmt.Sprintf("%q is %s; want %s", c.key(), shorten(n.text), s.want()))
			return false
		}
	case 'a':
		return c.list(n, s)
	case 'o':
		return c.checkObject(n, s)
	}
	return true
}

// ruleless reports whether a value of a wrong kind in place of rules or agents cannot contain any
// rule: null and, in place of all agents or a whole file, anything without an object in it.
func (c *checker) ruleless(n *node, s *shape) bool {
	switch {
	case s.helve || strings.IndexByte(s.kinds, 'o') < 0:
		return false
	case n.kind == '0':
		return true
	}
	return len(c.path) < 2 && !s.rules && !s.tools && !isAction(n) && n.find1(func(v *node) bool { return v.kind == 'o' }) == nil
}

func (c *checker) list(n *node, s *shape) bool {
	if s.each == nil {
		return c.checkResolved(n)
	}
	kept := make([]*node, 0, len(n.elems))
	for i, e := range n.elems {
		needed := s.alone && (requires(e) || s.policy && e.find1(func(v *node) bool { return v.kind == unresolved }) != nil) // as it is written, for the check takes mistakes out
		c.path = append(c.path, strconv.Itoa(i))
		switch {
		case c.value(e, s.each):
			kept = append(kept, e)
		case needed:
			// A required hook that cannot be used makes the policy invalid.
			p := &Problem{File: e.in.path, Key: c.key(), Severity: Error, Message: fmt.Sprintf("%q is required and can not be used", c.key())}
			p.Line, p.Col = e.in.positionAt(e.at)
			c.l.void(p)
		}
		c.path = c.path[:len(c.path)-1]
	}
	if s.alone {
		n.elems = kept
	}
	return len(kept) == len(n.elems)
}

func (c *checker) checkObject(n *node, s *shape) bool {
	if s.fields == nil && s.each == nil {
		return c.checkResolved(n)
	}
	ok := true
	n.filterMembers(func(m member) bool {
		c.path = append(c.path, m.key)
		defer func() { c.path = c.path[:len(c.path)-1] }()
		f := s.fields[m.key]
		if f == nil {
			f = s.each
		}
		switch {
		case s.fields["permission"] != nil && c.stray(m, f):
			return false
		case f == nil && s.open:
			return c.checkResolved(m.val)
		case !f.counts(m.in):
			ok = c.without(m, f, s) && ok
			return false
		}
		good, stays := c.setting(m.val, f)
		if good && s.tools {
			c.respelt(m)
		}
		ok = ok && good
		return stays
	})
	return ok || !s.whole
}

// checkResolved reports whether a value without a known shape may stay: not if it has an
// unresolvable reference.
func (c *checker) checkResolved(n *node) bool {
	bad := n.find1(func(v *node) bool { return v.kind == unresolved })
	if bad != nil {
		c.l.addProblem(bad.in, bad.at, Problem{Key: c.key(), Message: bad.text, Severity: Error})
	}
	return bad == nil
}

// setting reports whether n matches its shape, and whether it may stay.
func (c *checker) setting(n *node, s *shape) (good, stays bool) {
	good = c.value(n, s)
	switch {
	case good || !s.stops:
	case s.fields["enabled"] != nil:
		n.switched("enabled", "false")
	default:
		n.switched("disabled", "true")
	}
	return good, good || s.stops
}

// nearestKey returns the key that an unknown key of an object was probably meant to be, "" for
// none, and its shape. Of equally similar names it prefers one that restricts something. Once a
// file has too many problems it considers only those, since a file may have any number of keys.
func (c *checker) nearestKey(m member, s *shape) (string, *shape) {
	near := ""
	if m.in.count <= maxProblems {
		near = nearest(m.key, s.keyNames())
	}
	if guard := nearest(m.key, s.guarded()); guard != "" && (near == "" || text.Slips(m.key, guard, 2) <= text.Slips(m.key, near, 2)) {
		near = guard
	}
	if s.strict {
		return near, s
	}
	return near, s.fields[near]
}

// without reports a key that has no effect, because it is unknown or, with the shape f, does not
// count in this file. If the key that was meant restricts something, that is an error; without
// reports whether it is none. In an untrusted file nothing counts as restricting, and an unknown
// key in OpenCode's files is ignored unless it looks like helve's.
func (c *checker) without(m member, f, object *shape) bool {
	what, suggest := "is a setting of helve; it has an effect only in helve.json or helve.jsonc", ""
	if f == nil {
		what = "is not a setting"
		suggest, f = c.nearestKey(m, object)
	}
	p := Problem{Key: c.key(), Message: fmt.Sprintf("%q %s", c.key(), what), Suggest: suggest, Severity: Error}
	switch {
	case len(c.path) == 1 && m.val.kind == 'o' && (suggest == "tools" || suggest == "agent" || suggest == "mode"):
		if p.Message += "; only what it restricts is in force"; m.key == "agents" {
			p.Message = fmt.Sprintf("%q %s; of its rules only what restricts is in force", c.key(), what)
		}
		c.l.addProblem(m.in, m.at, p)
		c.l.salvage(under(salvageable(suggest, m.val), suggest))
		return false
	case f == nil || !f.guards, !m.in.trusted && !c.l.believe, f.helve && !m.in.helve && !f.looksLikeSection(m.val):
		c.unknown(m, what, suggest)
		return true
	}
	told := c.l.addProblem(m.in, m.at, p)
	if f.policy && m.in.trusted {
		c.l.closed(told, c.path)
	}
	return false
}

// salvageable returns what may be a policy in a value whose key is only similar to that of a
// section.
func salvageable(section string, n *node) *node {
	want := byte('o')
	if section == "tools" {
		want = 'b'
	}
	out := *n
	out.index, out.members = nil, slices.DeleteFunc(slices.Clone(n.members), func(m member) bool { return m.val.kind != want })
	return &out
}

// looksLikeSection reports whether a value seems to belong to a section of helve's: it is an object
// with one of its keys, or a level of the sandbox.
func (s *shape) looksLikeSection(n *node) bool {
	level := s.fields["level"]
	return n.kind == 's' && level != nil && slices.Contains(level.words, n.text) || slices.ContainsFunc(n.members, func(m member) bool { return s.fields[m.key] != nil })
}

// unknown warns about a key and suggests another, if one was probably meant.
func (c *checker) unknown(m member, what, suggest string) {
	if m.in.count > maxProblems {
		return
	}
	c.l.addProblem(m.in, m.at, Problem{
		Key: c.key(), Message: fmt.Sprintf("%q %s", c.key(), what), Suggest: suggest, Severity: Warning,
	})
}

// policy reads the rules only to find mistakes; the final reading is after merging. A permission
// with a mistake is removed and denied.
func (c *checker) policy(n *node, s *shape) bool {
	if c.enclosed(n) {
		return false
	}
	if n.kind != 'o' {
		return c.permissions(n, "")
	}
	known := knownPermissions()
	n.filterMembers(func(m member) bool {
		c.path = append(c.path, m.key)
		defer func() { c.path = c.path[:len(c.path)-1] }()
		if c.claudeList(m) || !c.permissions(under(m.val, m.key), m.key) {
			return false
		}
		if !c.respelt(m) && m.in.count <= maxProblems && !strings.ContainsAny(m.key, "*?") && !slices.Contains(known, m.key) {
			if near := nearest(m.key, known); near != "" && text.Slips(m.key, near, 1) <= 1 {
				c.unknown(m, "is not a permission of a built-in tool", near)
			}
		}
		return true
	})
	return true
}

// permissions reports whether rules can be read.
func (c *checker) permissions(n *node, name string) bool {
	if bad := n.find1(func(v *node) bool { return v.kind == unresolved }); bad != nil {
		c.l.closed(c.l.addProblem(bad.in, bad.at, Problem{Key: c.key(), Message: bad.text, Severity: Error}), c.path)
		return false
	}
	if bad := n.find1((*node).garbled); bad != nil {
		p := Problem{Key: c.key(), Message: fmt.Sprintf("%q holds bytes that are not UTF-8; save the file as UTF-8", c.key()), Severity: Error}
		c.l.closed(c.l.addProblem(bad.in, bad.at, p), c.path)
		return false
	}
	_, e, err := n.policyRules(c.l.opt.Home)
	for i, ce := range configErrors(err) {
		in, at := e.originOf(ce.Offset)
		key := c.key() + strings.TrimPrefix(ce.Key, name)
		p := c.l.addProblem(in, at, Problem{Key: key, Message: fmt.Sprintf("%q: %s", key, ce.Msg), Severity: Error})
		if i == 0 {
			c.l.closed(p, c.path)
		}
	}
	return err == nil
}

// enclosed reports a variable that should hold only rules but has the key permission around them.
func (c *checker) enclosed(n *node) bool {
	i := n.find("permission")
	if len(c.path) != 1 || i < 0 || !slices.Contains(bothNames("PERMISSION"), n.members[i].in.path) {
		return false
	}
	m := n.members[i]
	c.l.void(c.l.addProblem(m.in, m.at, Problem{
		Key: "permission.permission", Severity: Error,
		Message: fmt.Sprintf(`%s holds the rules alone: leave the outer key "permission" out, as in {"bash": "ask"}`, m.in.path),
	}))
	return true
}

// configErrors splits the error of ParseConfig.
func configErrors(err error) []*permission.ConfigError {
	var many interface{ Unwrap() []error }
	var one *permission.ConfigError
	switch {
	case err == nil:
	case errors.As(err, &many):
		var all []*permission.ConfigError
		for _, e := range many.Unwrap() {
			all = append(all, configErrors(e)...)
		}
		return all
	case errors.As(err, &one):
		return []*permission.ConfigError{one}
	}
	return nil
}

func shorten(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:60], "") + "…"
	}
	return s
}
