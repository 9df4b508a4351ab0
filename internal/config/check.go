package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"helve/internal/text"
	"helve/permission"
)

// checker goes through one file's tree. What is wrong it reports and leaves
// out; the tree belongs to the file, so it is changed in place.
type checker struct {
	l    *loader
	path []string
}

func (c *checker) key() string { return strings.Join(c.path, ".") }

// fail reports a mistake; inside a policy it makes the policy void.
func (c *checker) fail(n *node, s *shape, msg string) {
	p := c.l.report(n.in, n.at, Problem{Key: c.key(), Message: msg, Severity: Error})
	if s.policy {
		c.l.void(p)
	}
}

// value reports whether n may stay.
func (c *checker) value(n *node, s *shape) bool {
	if !c.shaped(n, s) {
		return false
	}
	if s.good == nil {
		return true
	}
	said := s.good(n)
	if said != "" {
		c.fail(n, s, fmt.Sprintf("%q %s", c.key(), said))
	}
	return said == ""
}

// named is the key that is looked at, as a message names it.
func (c *checker) named() string {
	if key := c.key(); key != "" {
		return strconv.Quote(key)
	}
	return "the file as a whole"
}

// shaped reports whether n is what its shape says in kinds, words and keys.
func (c *checker) shaped(n *node, s *shape) bool {
	if s.kinds != "" && strings.IndexByte(s.kinds, n.kind) < 0 {
		got := kindWord(n.kind)
		if n.kind == 'b' {
			got = n.text
		}
		want := s.want()
		if s.like != "" {
			want += " such as " + s.like
		}
		c.fail(n, s, fmt.Sprintf("%s is %s; want %s", c.named(), got, want))
		return false
	}
	if s.rules {
		return c.policy(n, s)
	}
	switch n.kind {
	case 's':
		if len(s.words) > 0 && !slices.Contains(s.words, n.text) {
			c.fail(n, s, fmt.Sprintf("%q is %q; want %s", c.key(), shorten(n.text), s.want()))
			return false
		}
	case 'n':
		if v, err := strconv.ParseInt(n.text, 10, 64); s.above && (err != nil || v <= 0) {
			c.fail(n, s, fmt.Sprintf("%q is %s; want %s", c.key(), shorten(n.text), s.want()))
			return false
		}
	case 'a':
		return c.list(n, s)
	case 'o':
		return c.object(n, s)
	}
	return true
}

func (c *checker) list(n *node, s *shape) bool {
	if s.each == nil {
		return true
	}
	kept := make([]*node, 0, len(n.elems))
	for i, e := range n.elems {
		needed := s.alone && requires(e) // as it is written, for the check takes mistakes out
		c.path = append(c.path, strconv.Itoa(i))
		switch {
		case c.value(e, s.each):
			kept = append(kept, e)
		case needed:
			c.unguarded(e)
		}
		c.path = c.path[:len(c.path)-1]
	}
	if s.alone {
		n.elems = kept
	}
	return len(kept) == len(n.elems)
}

func (c *checker) object(n *node, s *shape) bool {
	if s.fields == nil && s.each == nil {
		return true
	}
	ok := true
	n.keep(func(m member) bool {
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
			return true
		case !f.counts(m.in):
			ok = c.without(m, f, s) && ok
			return false
		}
		good, stays := c.setting(m.val, f)
		ok = ok && good
		return stays
	})
	return ok || !s.whole
}

// stray reports whether a member that stands where permission may is rules that
// somebody wrote under another name, or beside it. They are not in force, which
// is as bad as a mistake in them.
func (c *checker) stray(m member, f *shape) bool {
	p := Problem{Key: c.key(), Severity: Error}
	switch {
	case misplaced(m, f):
		p.Message = fmt.Sprintf(`%q holds rules, and no setting does; did you mean "permission": {%q: …}?`, c.key(), m.key)
	case f == nil && nearest(m.key, []string{"permission"}) != "":
		p.Message, p.Suggest = fmt.Sprintf("%q is not a setting", c.key()), "permission"
	default:
		return false
	}
	c.l.void(c.l.report(m.in, m.at, p))
	return true
}

// setting reports whether n is as its shape says, and whether it may stay.
func (c *checker) setting(n *node, s *shape) (good, stays bool) {
	good = c.value(n, s)
	switch {
	case good || !s.stops:
	case s.fields["enabled"] != nil:
		n.switched("enabled", "false")
	default:
		n.disable()
	}
	return good, good || s.stops
}

// meant is the key that was probably meant by one that an object of the shape
// does not have, "" for none, and the shape of what is missed by that. Of names
// equally near it is one that guards. Once a file has too many problems only
// those are looked for, since a file may have any number of keys.
func (c *checker) meant(m member, s *shape) (string, *shape) {
	near := ""
	if m.in.count <= maxProblems {
		near = nearest(m.key, s.names())
	}
	if guard := nearest(m.key, s.guarded()); guard != "" && (near == "" || text.Slips(m.key, guard, 2) <= text.Slips(m.key, near, 2)) {
		near = guard
	}
	if s.strict {
		return near, s
	}
	return near, s.fields[near]
}

// without tells of a key of an object that has no effect, since there is no such
// setting, or one of the shape f that does not count in this file. That is a
// mistake where what is missed then guards something; it reports whether it is
// none. What a file that is not trusted says guards nothing anyhow.
func (c *checker) without(m member, f, object *shape) bool {
	what, suggest := "is a setting of helve; it has an effect only in helve.json or helve.jsonc", ""
	if f == nil {
		what = "is not a setting"
		suggest, f = c.meant(m, object)
	}
	if f == nil || !f.guards || !m.in.trusted && !c.l.believe {
		c.unknown(m, what, suggest)
		return true
	}
	p := c.l.report(m.in, m.at, Problem{Key: c.key(), Message: fmt.Sprintf("%q %s", c.key(), what), Suggest: suggest, Severity: Error})
	if f.policy && m.in.trusted {
		c.l.void(p)
	}
	return false
}

// unknown warns of a key and suggests another, if one was probably meant.
func (c *checker) unknown(m member, what, suggest string) {
	if m.in.count > maxProblems {
		return
	}
	c.l.report(m.in, m.at, Problem{
		Key: c.key(), Message: fmt.Sprintf("%q %s", c.key(), what), Suggest: suggest, Severity: Warning,
	})
}

// policy reads the rules for their mistakes only; they are read for good when
// everything is merged.
func (c *checker) policy(n *node, s *shape) bool {
	if c.enclosed(n) {
		return false
	}
	_, e, err := n.rules(c.l.opt.Home)
	for _, ce := range configErrors(err) {
		in, at := e.at(ce.Offset)
		key := c.key()
		if ce.Key != "" {
			key += "." + ce.Key
		}
		c.l.void(c.l.report(in, at, Problem{Key: key, Message: fmt.Sprintf("%q: %s", key, ce.Msg), Severity: Error}))
	}
	if err != nil || n.kind != 'o' {
		return err == nil
	}
	known := knownPermissions()
	for _, m := range n.members {
		if m.in.count > maxProblems {
			break
		}
		if strings.ContainsAny(m.key, "*?") || slices.Contains(known, m.key) {
			continue
		}
		if near := nearest(m.key, known); near != "" && text.Slips(m.key, near, 1) <= 1 {
			c.path = append(c.path, m.key)
			c.unknown(m, "is not a permission of a built-in tool", near)
			c.path = c.path[:len(c.path)-1]
		}
	}
	return true
}

// enclosed reports a variable that holds rules alone, and was given the key
// permission around them.
func (c *checker) enclosed(n *node) bool {
	i := n.find("permission")
	if len(c.path) != 1 || i < 0 || !slices.Contains(bothNames("PERMISSION"), n.members[i].in.path) {
		return false
	}
	m := n.members[i]
	c.l.void(c.l.report(m.in, m.at, Problem{
		Key: "permission.permission", Severity: Error,
		Message: fmt.Sprintf(`%s holds the rules alone: leave the outer key "permission" out, as in {"bash": "ask"}`, m.in.path),
	}))
	return true
}

// configErrors takes apart what ParseConfig returned.
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
