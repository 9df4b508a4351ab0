package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/internal/web"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// nobody is the function of a tool that is never called.
func nobody(context.Context, *tool.Call) (*tool.Result, error) {
	return nil, errors.New("this tool does nothing")
}

// bringsNone reports whether a line is checked against the rules of this config.
func (v row) bringsNone() bool {
	return v.Config == nil && v.ConfigText == "" && v.Context == nil && v.Rules == nil
}

// policy returns the policy for a line: its own, or that of this config. errRefused is an invalid
// policy.
func (t decisionTable) policy(v row) (permission.Policy, error) {
	switch {
	case v.Config != nil:
		raw, err := rulesIn(v.Config)
		if err != nil {
			return permission.Policy{}, err
		}
		rules, err := v.parse(raw)
		return permission.Policy{Rules: rules}, err
	case v.ConfigText != "":
		var doc struct{ Permission json.RawMessage }
		if err := json.Unmarshal([]byte(v.ConfigText), &doc); err != nil {
			return permission.Policy{}, errRefused
		}
		rules, err := v.parse(doc.Permission)
		return permission.Policy{Rules: rules}, err
	case v.Context != nil:
		return v.contextPolicy()
	case v.Rules != nil:
		rules, err := rulesOf(*v.Rules)
		return permission.Policy{Rules: rules}, err
	}
	return t.Policy()
}

// rulesIn returns the rules in the config of a line, which is the value of
// the key permission, or an object with that key.
func rulesIn(raw json.RawMessage) (json.RawMessage, error) {
	if raw[0] != '{' {
		return raw, nil
	}
	fields, err := text.DecodeObject(raw)
	if err != nil {
		return raw, nil // refused where it is read
	}
	policy, whole := fields["permission"]
	if !whole {
		return raw, nil
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if key != "permission" && key != "$schema" {
			return nil, fmt.Errorf(`"config" has %q beside "permission": of a whole config only that one key is judged`, key)
		}
	}
	return policy, nil
}

func rulesOf(ts []triple) (permission.Ruleset, error) {
	rs := make(permission.Ruleset, len(ts))
	for i, t := range ts {
		rs[i] = permission.Rule{Permission: t[0], Pattern: t[1], Action: permission.Action(t[2])}
		if !rs[i].Action.Valid() {
			return nil, fmt.Errorf("%q is no action: want allow, ask or deny", t[2])
		}
	}
	return rs, nil
}

// parse reads the config form of rules; none where there is nothing.
func (v row) parse(raw json.RawMessage) (permission.Ruleset, error) {
	if raw == nil {
		return nil, nil
	}
	rules, err := permission.ParseConfig(raw, permission.ConfigOptions{Home: v.Home})
	if err != nil {
		return nil, errRefused
	}
	return rules, nil
}

// contextPolicy puts rules of several origins together as the runtime does.
func (v row) contextPolicy() (permission.Policy, error) {
	c := v.Context
	both := func(first, second json.RawMessage) (a, b permission.Ruleset, err error) {
		if a, err = v.parse(first); err == nil {
			b, err = v.parse(second)
		}
		return a, b, err
	}
	switch {
	case c.Subagent != nil:
		parent, child, err := both(c.Parent, c.Subagent)
		return permission.Policy{Rules: child}.Under(permission.Policy{Rules: parent}), err
	case c.AskedInProject == "" && c.Project != nil:
		global, project, err := both(c.Global, c.Project)
		if c.ProjectTrusted {
			return permission.Policy{Rules: append(global, project...)}, err
		}
		return permission.Policy{Rules: global, Ceilings: []permission.Ruleset{project}}, err
	}
	rules, err := rulesOf(c.Rules)
	return permission.Policy{Rules: rules}, err
}

// decide decides as a runtime with the saved approvals of the line would.
func decide(v row, policy permission.Policy) (permission.Decision, error) {
	keeper, err := v.saved()
	if err != nil {
		return permission.Decision{}, err
	}
	opt := permission.EngineOptions{Approvals: keeper}
	req := permission.Request{Permission: v.Permission, Patterns: []string{*v.Pattern}, Session: "asking"}
	if c := v.Context; c != nil {
		opt.Project, req.Fingerprint = c.AskedInProject, c.HashNow
		if c.AskedIn != "" {
			req.Session = c.AskedIn
		}
	}
	one := func(req permission.Request) (permission.Decision, error) {
		ds, err := permission.NewEngine(opt).Decide(req, policy)
		if err != nil {
			return permission.Decision{}, err
		}
		return ds[0], nil
	}
	if v.Permission != "webfetch" || !strings.Contains(*v.Pattern, ":") {
		return one(req)
	}
	at, err := web.Read(*v.Pattern)
	if err != nil {
		return permission.Decision{Action: "error"}, nil // a call would not get as far as the rules
	}
	d, _, err := decideAddress(at, req, one)
	return d, err
}

// kept is approvals that a line brings.
type kept []permission.Approval

// KeepApproval keeps nothing: a line is only looked at.
func (k kept) KeepApproval(permission.Approval) error { return nil }

// Approvals returns what the line brings.
func (k kept) Approvals() ([]permission.Approval, error) { return k, nil }

// ForgetApproval forgets nothing.
func (k kept) ForgetApproval(string) (bool, error) { return false, nil }

func (v row) saved() (kept, error) {
	var k kept
	c := v.Context
	if c == nil {
		return k, nil
	}
	project := ""
	if c.AskedInProject != "" {
		if err := json.Unmarshal(c.Project, &project); err != nil {
			return nil, errors.New(`with "asked_in_project", "project" has to be the name of one`)
		}
	}
	for _, s := range c.Saved {
		a := permission.Approval{Permission: s[0], Pattern: s[1], Scope: permission.User}
		switch {
		case project != "":
			a.Scope, a.Project = permission.Project, project
		case c.SavedIn != "" && c.SavedIn != c.AskedIn:
			a.Scope, a.Session = permission.Session, c.SavedIn
		}
		k = append(k, a)
	}
	if c.HashApproved != "" {
		k = append(k, permission.Approval{Permission: v.Permission, Pattern: "*", Scope: permission.User, Fingerprint: c.HashApproved})
	}
	return k, nil
}
