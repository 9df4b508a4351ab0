package permission

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// The errors of a request, for [errors.Is].
var (
	ErrDenied     = errors.New("denied by a rule")
	ErrRejected   = errors.New("rejected by a person")
	ErrUnattended = errors.New("nobody to ask")
	ErrNotFound   = errors.New("no such request is waiting")
	ErrBadReply   = errors.New("this is no answer to the request")
	ErrClosed     = errors.New("the runtime is closing")
)

// A DeniedError says that a rule denies a request.
type DeniedError struct {
	Decision Decision
	Rules    Ruleset // the rules about the permission, in order
}

// Error returns the text for the model.
func (e *DeniedError) Error() string {
	return "The user has specified a rule which prevents you from using this specific tool call." +
		" Here are some of the relevant rules " + e.Rules.String()
}

// Reason returns the error for a person: what is denied, which rule denies it, where that rule
// stands, and what to do.
func (e *DeniedError) Reason() string {
	d := e.Decision
	said := fmt.Sprintf("%s %s is denied", d.Permission, short(d))
	if d.Rule == nil {
		return said + ", and no rule can allow it."
	}
	kind := "rule"
	if d.Ceiling {
		kind = "limit"
	}
	said += fmt.Sprintf(" by the %s %s.", kind, d.Rule.displayAt(d.Source))
	switch {
	case d.Ceiling:
		return said + " No rule that allows loosens a limit: change it there."
	case filepath.IsAbs(d.Rule.From.File):
		return said + " Change that rule to allow it, or write one that allows it after it."
	}
	return said + " A rule of yours that allows it wins over that."
}

// By names the rule that decided.
func (e *DeniedError) By() string {
	return "Decided by the rule " + e.Decision.Rule.displayAt(e.Decision.Source) + "."
}

// display returns a rule as people read it, with invisible characters escaped.
func (r Rule) display() string {
	seen := func(s string) string {
		if e := encoded(s); e != `"`+s+`"` {
			return e
		}
		return s
	}
	return fmt.Sprintf("%s %s = %s", seen(r.Permission), seen(r.Pattern), r.Action)
}

// displayAt returns a rule as people read it, with its source.
func (r Rule) displayAt(source string) string { return r.display() + ", " + source }

// Is makes errors.Is(err, ErrDenied) true.
func (e *DeniedError) Is(target error) bool { return target == ErrDenied }

// A RejectedError says that a person rejected a request, or that a program declined it without
// saying whether a person did.
type RejectedError struct {
	Message  string           // the person's feedback, if any
	Declined *UnattendedError // what a program declined; nil where a person answered
}

// Error returns the text for the model.
func (e *RejectedError) Error() string {
	const said = "The user rejected permission to use this specific tool call"
	switch {
	case e.Declined != nil:
		wanted, advice := e.Declined.parts()
		return "Permission was declined, by the user or by a program that did not ask the user: " + strings.Join(wanted, ", and ") + "." + advice
	case e.Message == "":
		return said + "."
	}
	return said + " with the following feedback: " + e.Message
}

// Reason returns the error for a person.
func (e *RejectedError) Reason() string {
	switch {
	case e.Declined != nil:
		return e.Error()
	case e.Message == "":
		return "The permission was refused when it was asked for."
	}
	return "The permission was refused when it was asked for: " + e.Message
}

// Is makes errors.Is(err, ErrRejected) true.
func (e *RejectedError) Is(target error) bool { return target == ErrRejected }

// mostAsked limits how many things an error names.
const mostAsked = 10

// An ExpiredError says that nobody answered a request in time.
type ExpiredError struct {
	Why    string
	Wanted *UnattendedError // what was asked for; may be nil
}

// Error returns the text for the model: the reason, and the rule that would allow it.
func (e *ExpiredError) Error() string {
	if e.Wanted == nil {
		return e.Why
	}
	_, advice := e.Wanted.parts()
	return e.Why + advice
}

// Is makes errors.Is(err, ErrUnattended) true.
func (e *ExpiredError) Is(target error) bool { return target == ErrUnattended }

// An UnattendedError says that a request has to be asked about, but nobody can answer.
type UnattendedError struct {
	Permission string
	Asked      []Decision // what would have been asked
	File       string     // the config file for the user's rules; "" where it is not known
}

// byPermission groups what was asked by permission, in order.
func (e *UnattendedError) byPermission() (names []string, asked map[string][]Decision) {
	asked = map[string][]Decision{}
	for _, d := range e.Asked {
		name := cmp.Or(d.Permission, e.Permission)
		if asked[name] == nil {
			names = append(names, name)
		}
		asked[name] = append(asked[name], d)
	}
	if len(names) == 0 {
		names = append(names, e.Permission)
	}
	return names, asked
}

// Error returns what was asked, and the rule that would allow it.
func (e *UnattendedError) Error() string {
	wanted, advice := e.parts()
	has := " has"
	if len(wanted) > 1 {
		has = " have"
	}
	return "T" + strings.Join(wanted, ", and ")[1:] + has + " to be asked for, and there is nobody to ask." + advice
}

// parts returns what was asked, by permission, and the sentences that name the rule that would
// allow it.
func (e *UnattendedError) parts() (wanted []string, said string) {
	permissions, asked := e.byPermission()
	var names []string
	for _, permission := range permissions {
		var about []string
		for i, d := range asked[permission] {
			if len(about) == mostAsked {
				about = append(about, fmt.Sprintf("and %d more", len(asked[permission])-i))
				break
			}
			if name := short(d); !slices.Contains(about, name) {
				about = append(about, name)
			}
		}
		wanted, names = append(wanted, "the "+permission+" permission for "+strings.Join(about, ", ")), append(names, about...)
	}
	file, after := cmp.Or(e.File, "the configuration"), ""
	for _, d := range e.Asked {
		switch {
		case d.Opaque != "":
			said += fmt.Sprintf(" What %s does can not be told from its text: %s.", d.Pattern, d.Opaque)
		case d.Changed:
			return wanted, said + " The tool is not the one that was approved before: look at it, and approve it again where somebody can be asked."
		case d.Rule != nil && d.Ceiling:
			return wanted, said + d.firm()
		case d.Rule != nil:
			after = fmt.Sprintf(", after the rule that asks (%s)", d.Rule.displayAt(d.Source))
			if from := d.Rule.From.File; filepath.IsAbs(from) { // a rule in another file may come before that one
				file = from
			}
		}
	}
	if i := slices.IndexFunc(e.Asked, func(d Decision) bool { return d.Guarded }); i >= 0 {
		caution := e.Asked[i].Caution()
		said += " " + strings.ToUpper(caution[:1]) + caution[1:] + ", so that only a rule which names it allows it."
	}
	said += " To allow it, add this rule to " + file + after + ": " + e.Rule()
	if strings.ContainsAny(strings.Join(names, ""), "*?") {
		said += " (in a rule * and ? stand for any characters, so it allows more than this)"
	}
	return wanted, said
}

// firm returns the sentence that says that a ceiling asks, and what can be done about it.
func (d Decision) firm() string {
	said := fmt.Sprintf(" The rule %s, asks, which no rule ", d.Rule.displayAt(d.Source))
	if d.Rule.Under != "" {
		return said + "about " + d.Permission + " loosens: change it, or trust its file if you have not."
	}
	return said + "of the user loosens: trust that file, or change it."
}

// short returns the decision's pattern cut to a length for error texts, because others choose how
// long an address is.
func short(d Decision) string {
	const most = 300
	if !d.Address || len(d.Pattern) <= most {
		return d.Pattern
	}
	return d.Pattern[:most] + "…"
}

// Rule returns the configuration that would allow what was asked.
func (e *UnattendedError) Rule() string {
	permissions, asked := e.byPermission()
	rules := make([]string, len(permissions))
	for i, permission := range permissions {
		var allowed []string // each pattern once: a duplicate key makes a policy invalid
		for _, d := range asked[permission] {
			pattern := d.Pattern
			if d.Address {
				pattern = origin(pattern)
			}
			rule := encoded(pattern) + `: "allow"`
			if len(allowed) < mostAsked && !slices.Contains(allowed, rule) {
				allowed = append(allowed, rule)
			}
		}
		rules[i] = encoded(permission) + ": {" + strings.Join(allowed, ", ") + "}"
	}
	return `{"permission": {` + strings.Join(rules, ", ") + "}}"
}

// Is makes errors.Is(err, ErrUnattended) true.
func (e *UnattendedError) Is(target error) bool { return target == ErrUnattended }
