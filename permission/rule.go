package permission

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// An Action is what a rule does with what it matches.
type Action string

// The three actions, from the loosest to the strictest.
const (
	Allow Action = "allow"
	Ask   Action = "ask"
	Deny  Action = "deny"
)

// Valid reports whether a is one of the three actions.
func (a Action) Valid() bool { return a == Allow || a == Ask || a == Deny }

// Stricter returns the stricter of a and b.
func (a Action) Stricter(b Action) Action {
	if rank(b) > rank(a) {
		return b
	}
	return a
}

func rank(a Action) int {
	switch a {
	case Allow:
		return 0
	case Ask:
		return 1
	}
	return 2
}

// A Source is where a rule was written. The zero Source stands for a rule made by a program.
type Source struct {
	File string `json:"file,omitempty"` // the config file, or a name such as "defaults"
	Line int    `json:"line,omitempty"` // counted from 1; 0 when there is none
}

// String returns the source as file:line.
func (s Source) String() string {
	switch {
	case s.File == "":
		return "unnamed rules"
	case s.Line == 0:
		return s.File
	}
	return fmt.Sprintf("%s:%d", s.File, s.Line)
}

// native reports whether a rule is built into helve rather than written by a person.
func (s Source) native() bool {
	return s.File == "default rules" || strings.HasPrefix(s.File, "agent ")
}

// A Rule says what happens when Permission is asked for something that
// matches Pattern. Both are wildcard patterns; see [Match].
type Rule struct {
	Permission string `json:"permission"`
	Pattern    string `json:"pattern"`
	Action     Action `json:"action"`

	// From is where the rule was written. It does not affect matching.
	From Source `json:"-"`

	// Under is the tool name that the rule was written under, if it applies to what that tool asks
	// for under another permission; see [Policy.Of].
	Under string `json:"-"`
}

// Written returns the rule as it stands in its file.
func (r Rule) Written() Rule {
	if r.Under != "" {
		r.Permission = r.Under
	}
	return r
}

// Matches reports whether the rule matches pattern under permission.
func (r Rule) Matches(permission, pattern string) bool {
	return Match(permission, r.Permission) && Match(pattern, r.Pattern)
}

// A Ruleset is a list of rules in which the last match wins.
type Ruleset []Rule

// String returns the rules as the JSON that error texts show.
func (rs Ruleset) String() string {
	if len(rs) == 0 {
		return "[]"
	}
	return encoded(rs)
}

// encoded returns strings, or lists of them, as JSON that people can read: <, > and & unescaped,
// invisible characters escaped.
func encoded(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // strings only: cannot fail
		return ""
	}
	var out strings.Builder
	for _, r := range strings.TrimSuffix(b.String(), "\n") {
		switch {
		case unicode.IsPrint(r):
			out.WriteRune(r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// About returns the rules whose permission pattern matches permission, in order.
func (rs Ruleset) About(permission string) Ruleset {
	var out Ruleset
	for _, r := range rs {
		if Match(permission, r.Permission) {
			out = append(out, r)
		}
	}
	return out
}

// Hides reports whether a tool that asks for permission is hidden from the model, because the last
// rule about that permission denies everything.
func (rs Ruleset) Hides(permission string) bool {
	for i := len(rs) - 1; i >= 0; i-- {
		if Match(permission, rs[i].Permission) {
			return rs[i].Pattern == "*" && rs[i].Action == Deny
		}
	}
	return false
}
