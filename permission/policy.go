package permission

import (
	"cmp"
	"slices"
	"strings"
)

// A Policy holds the rules for a call.
type Policy struct {
	// Rules decide; the last match wins.
	Rules Ruleset
	// Ceilings limit the answer: where the last match in a ceiling is stricter than the answer of
	// Rules, it replaces that answer. A ceiling without a match has no effect, so a ceiling can
	// only restrict.
	Ceilings []Ruleset
}

// Under returns p with the rules of parent as a further ceiling: what parent denies or asks about,
// the result does too.
func (p Policy) Under(parent Policy) Policy {
	ceilings := slices.Concat(p.Ceilings, parent.Ceilings)
	return Policy{Rules: p.Rules, Ceilings: append(ceilings, parent.Rules)}
}

// Of returns p for a tool that asks for a permission of another name: restricting rules under the
// tool's own name become a ceiling. So "write": "deny" stops the tool write, which asks for edit;
// an allow under the tool's name loosens nothing.
func (p Policy) Of(tool, permission string) Policy {
	if tool == permission || tool == "" || permission == "" {
		return p
	}
	ceilings := slices.Clip(p.Ceilings)
	for _, rs := range slices.Concat([]Ruleset{p.Rules}, p.Ceilings) {
		var own Ruleset
		for _, r := range rs {
			if r.Permission == tool {
				r.Permission, r.Under = permission, tool
				own = append(own, r)
			}
		}
		if own != nil {
			ceilings = append(ceilings, own)
		}
	}
	return Policy{Rules: p.Rules, Ceilings: ceilings}
}

// Denials returns the rules with every ask changed to an allow. As a ceiling they pass on only what
// was denied.
func (rs Ruleset) Denials() Ruleset {
	out := slices.Clone(rs)
	for i := range out {
		if out[i].Action != Deny {
			out[i].Action = Allow
		}
	}
	return out
}

// Hides reports whether the rules or a ceiling hide a tool that asks for permission from the model.
func (p Policy) Hides(permission string) bool {
	return p.Rules.Hides(permission) ||
		slices.ContainsFunc(p.Ceilings, func(c Ruleset) bool { return c.Hides(permission) })
}

// Hider returns the rule that hides a tool that asks for permission, with its source, or false if
// none does.
func (p Policy) Hider(permission string) (string, bool) {
	for _, rs := range slices.Concat([]Ruleset{p.Rules}, p.Ceilings) {
		if rs.Hides(permission) {
			about := rs.About(permission)
			last := about[len(about)-1]
			return last.Written().displayAt(last.From.String()), true
		}
	}
	return "", false
}

// Evaluate returns the last rule of the rulesets, taken as one list, that matches. If none does, it
// returns a rule that asks.
func Evaluate(permission, pattern string, rulesets ...Ruleset) Rule {
	for i := len(rulesets) - 1; i >= 0; i-- {
		if r := rulesets[i].read(thing{permission: permission, names: []string{pattern}}).rule; r != nil {
			return *r
		}
	}
	return Rule{Permission: permission, Pattern: "*", Action: Ask}
}

// A thing is what rules are matched against: its names, other spellings that only restricting rules
// match, and the words of which an allowing rule must contain one.
type thing struct {
	permission    string
	names         []string
	spellings     []string
	guards        []string
	uncertainties []Uncertainty
	address       bool
}

// matchesRule reports whether a rule matches one of the thing's names.
func (t thing) matchesRule(r Rule) bool {
	return slices.ContainsFunc(t.names, func(name string) bool {
		switch {
		case !t.address:
			return Match(name, r.Pattern)
		case r.Action == Allow:
			return matchAddress(name, r.Pattern)
		}
		return slices.ContainsFunc(readPattern(r.Pattern), func(p string) bool { return Match(name, p) })
	})
}

// namesGuard reports whether a pattern contains one of the guard words as a whole path element.
func (t thing) namesGuard(pattern string) bool {
	if len(t.guards) == 0 {
		return true
	}
	if t.address {
		return namesHost(pattern, t.guards)
	}
	parts := strings.FieldsFunc(strings.ToLower(pattern), func(r rune) bool { return strings.ContainsRune(`/\*?`, r) })
	return slices.ContainsFunc(parts, func(part string) bool { return slices.Contains(t.guards, part) })
}

// A Decision is the answer for one pattern of a request, with its reason.
type Decision struct {
	Permission string    `json:"permission"`
	Pattern    string    `json:"pattern"` // what was asked about
	Action     Action    `json:"action"`
	Rule       *Rule     `json:"rule,omitempty"`     // the rule that decided, as written; nil when none matched
	Source     string    `json:"source,omitempty"`   // where that rule stands
	Ceiling    bool      `json:"ceiling,omitempty"`  // the rule belongs to a ceiling
	Approval   *Approval `json:"approval,omitempty"` // the approval that turned an ask into an allow
	Changed    bool      `json:"changed,omitempty"`  // the tool is not the one that was approved
	Guarded    bool      `json:"guarded,omitempty"`  // only a rule that names it can allow it
	Address    bool      `json:"address,omitempty"`  // it is a URL
	Opaque     string    `json:"opaque,omitempty"`   // why its effect is not known, where that is asked about
	Feared     bool      `json:"feared,omitempty"`   // its effect is not known, and a rule denies what it might be

	// asks are the rules that an approval has to satisfy; a nil element stands for the default ask
	// where no rule matched.
	asks []*Rule
}

// Caution returns why only a rule that names the pattern can allow it, or "" if any rule can.
func (d Decision) Caution() string {
	switch {
	case !d.Guarded:
		return ""
	case d.Address:
		return "it is on this machine or in a private network"
	}
	return "it changes what runs or is allowed later"
}

// Decide returns the policy's decision about pattern. forms are other names of the same thing.
func (p Policy) Decide(permission, pattern string, forms ...string) Decision {
	return p.decide(pattern, thing{permission: permission, names: append([]string{pattern}, forms...)})
}

// Judge is [Policy.Decide] for one pattern of a request, using everything that the request says
// about the pattern. Approvals do not count.
func (p Policy) Judge(req Request, pattern string) Decision {
	t := thing{
		permission:    req.Permission,
		names:         append([]string{pattern}, req.Forms[pattern]...),
		spellings:     req.Spellings[pattern],
		guards:        req.Guards[pattern],
		uncertainties: req.Uncertainties[pattern],
		address:       req.Addresses,
	}
	if t.address {
		for _, s := range append([]string{pattern}, t.spellings...) {
			t.spellings = append(t.spellings[:len(t.spellings):len(t.spellings)], shorthands(s)...)
		}
	}
	return p.decide(pattern, t)
}

func (p Policy) decide(pattern string, t thing) Decision {
	d := Decision{Permission: t.permission, Pattern: pattern, Action: Ask, Guarded: len(t.guards) > 0, Address: t.address}
	said := p.Rules.read(t)
	if said.rule != nil {
		d.decide(*said.rule, false)
	} else {
		d.asks = append(d.asks, nil)
	}
	if d.Guarded { // an approval of everything does not name it either
		named := pattern
		if t.address {
			named = origin(pattern)
		}
		d.asks = append(d.asks, &Rule{Permission: t.permission, Pattern: named, Action: Ask})
	}
	d.askIfUncertain(t, p.Rules, said, false)
	for _, ceiling := range p.Ceilings {
		said := ceiling.read(t)
		if r := said.rule; r != nil {
			if r.Action == Ask {
				d.asks = append(d.asks, r)
			}
			if rank(r.Action) > rank(d.Action) {
				d.decide(*r, true)
			}
		}
		d.askIfUncertain(t, ceiling, said, true)
	}
	return d
}

// askIfUncertain changes the decision to an ask where a restricting rule may apply, but it is not
// known whether it does. Only an approval of the exact text answers this ask.
func (d *Decision) askIfUncertain(t thing, rules Ruleset, said reading, limit bool) {
	why := ""
	if r := said.maybe; r != nil {
		written := r.Written()
		why = "it may be what the rule " + written.display() + " is about"
		if rank(r.Action) > rank(Ask) || d.Rule == nil || d.Action == Allow {
			d.Rule, d.Source, d.Ceiling = &written, r.From.String(), limit
		}
	}
	feared := said.maybe != nil && said.maybe.Action == Deny
	for _, uncertainty := range t.uncertainties {
		if !rules.leavesOpen(uncertainty, said, limit) {
			continue
		}
		if why == "" {
			why = uncertainty.Why
		}
		_, denies, _ := rules.restricts(cmp.Or(uncertainty.Permission, "bash"))
		feared = feared || denies
	}
	if why == "" || d.Action == Deny {
		return
	}
	d.Feared = d.Feared || feared
	if d.Action == Allow {
		d.Action = Ask
	}
	if d.Opaque == "" {
		d.Opaque = why
	}
	d.asks = append(d.asks, &Rule{Permission: t.permission, Pattern: d.Pattern, Action: Ask})
}

func (d *Decision) decide(r Rule, ceiling bool) {
	if r.Action == Ask && !ceiling {
		d.asks = append(d.asks, &r)
	}
	written := r.Written()
	d.Action, d.Rule, d.Ceiling, d.Source = r.Action, &written, ceiling, r.From.String()
}

// yields reports whether approval a answers the ask of d. It does if every rule that asks is at
// least as wide as the approval: an approval of "git *" leaves a configured ask about "git push *"
// in force.
func (d Decision) yields(a Approval) bool {
	if d.Action != Ask {
		return false
	}
	if a.Exact {
		return true
	}
	for _, r := range d.asks {
		if r != nil && !contains(r.Pattern, a.Pattern) {
			return false
		}
	}
	return true
}
