package permission_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/helve-dev/helve/permission"
)

// A vector is one line of testdata/rules.jsonl: rules in force, a question,
// and the one right answer.
type vector struct {
	ID         string          `json:"id"`
	Cat        string          `json:"cat"`
	Tier       string          `json:"tier"`
	Home       string          `json:"home"`
	Platform   string          `json:"platform"`
	Rules      [][3]string     `json:"rules"`
	Config     json.RawMessage `json:"config"`
	ConfigText string          `json:"config_text"`
	Context    *vectorContext  `json:"context"`
	Permission string          `json:"permission"`
	Pattern    long            `json:"pattern"`
	Command    string          `json:"command"`
	Tools      []string        `json:"tools"`
	Visible    []string        `json:"expect_visible"`
	Expect     string          `json:"expect"`
	Accept     []string        `json:"accept"`
	Reason     string          `json:"reason"`
}

type vectorContext struct {
	Rules          [][3]string     `json:"rules"`
	Global         json.RawMessage `json:"global"`
	Project        json.RawMessage `json:"project"`
	ProjectTrusted bool            `json:"project_trusted"`
	Parent         json.RawMessage `json:"parent_session"`
	Subagent       json.RawMessage `json:"subagent"`
	Saved          [][3]string     `json:"saved"`
	SavedIn        string          `json:"saved_in_session"`
	AskedIn        string          `json:"asked_in_session"`
	AskedInProject string          `json:"asked_in_project"`
	MCPTool        string          `json:"mcp_tool"`
	HashApproved   string          `json:"schema_hash_approved"`
	HashNow        string          `json:"schema_hash_now"`
}

// A long is a string that may be written as {"$repeat":"x","times":N}.
type long string

func (l *long) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		return json.Unmarshal(b, (*string)(l))
	}
	var r struct {
		Repeat string `json:"$repeat"`
		Times  int    `json:"times"`
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return err
	}
	*l = long(bytes.Repeat([]byte(r.Repeat), r.Times))
	return nil
}

func vectors(t *testing.T) []vector {
	t.Helper()
	data, err := os.ReadFile("testdata/rules.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var out []vector
	sc := bufio.NewScanner(bytes.NewReader(data))
	for sc.Scan() {
		var v vector
		if err := json.Unmarshal(sc.Bytes(), &v); err != nil {
			t.Fatalf("%s: %v", sc.Text(), err)
		}
		out = append(out, v)
	}
	if len(out) < 80 {
		t.Fatalf("only %d vectors were read", len(out))
	}
	return out
}

func triples(ts [][3]string) permission.Ruleset {
	var rs permission.Ruleset
	for _, t := range ts {
		rs = append(rs, permission.Rule{Permission: t[0], Pattern: t[1], Action: permission.Action(t[2])})
	}
	return rs
}

func TestVectors(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.ID, func(t *testing.T) {
			switch {
			case v.Platform != "" && v.Platform != runtime.GOOS:
				t.Skip("for " + v.Platform + "; see TestMatch for both case rules")
			case v.Cat == "suggest":
				t.Skip("commands are read by internal/command, which runs these lines")
			case v.Context != nil && v.Context.MCPTool != "":
				t.Skip("names are given out by the runtime; internal/cli runs this line")
			case v.Cat == "visible":
				checkVisible(t, v)
				return
			}
			got := decide(t, v)
			want := append([]string{v.Expect}, v.Accept...)
			if !slices.Contains(want, got) {
				t.Errorf("%s: got %s, want %s (%s)", v.Tier, got, v.Expect, v.Reason)
			}
		})
	}
}

func checkVisible(t *testing.T, v vector) {
	var got []string
	for _, tool := range v.Tools {
		if !triples(v.Rules).Hides(tool) {
			got = append(got, tool)
		}
	}
	if !slices.Equal(got, v.Visible) {
		t.Errorf("visible: got %v, want %v (%s)", got, v.Visible, v.Reason)
	}
}

func decide(t *testing.T, v vector) string {
	policy, ok := vectorPolicy(t, v)
	if !ok {
		return "error"
	}
	engine := permission.NewEngine(permission.EngineOptions{Approvals: savedApprovals(v), Project: askedProject(v)})
	req := permission.Request{Permission: v.Permission, Patterns: []string{string(v.Pattern)}, Session: "A"}
	if v.Context != nil {
		req.Fingerprint = v.Context.HashNow
		if v.Context.AskedIn != "" {
			req.Session = v.Context.AskedIn
		}
	}
	ds, err := engine.Decide(req, policy)
	if err != nil {
		t.Fatal(err)
	}
	return string(ds[0].Action)
}

func vectorPolicy(t *testing.T, v vector) (permission.Policy, bool) {
	parse := func(raw json.RawMessage) permission.Ruleset {
		if raw == nil {
			return nil
		}
		rs, err := permission.ParseConfig(raw, permission.ConfigOptions{Home: v.Home})
		if err != nil {
			t.Fatal(err)
		}
		return rs
	}
	if v.Config != nil {
		rs, err := permission.ParseConfig(v.Config, permission.ConfigOptions{Home: v.Home})
		return permission.Policy{Rules: rs}, err == nil
	}
	if v.ConfigText != "" {
		var doc struct{ Permission json.RawMessage }
		if err := json.Unmarshal([]byte(v.ConfigText), &doc); err != nil {
			return permission.Policy{}, false
		}
		rs, err := permission.ParseConfig(doc.Permission, permission.ConfigOptions{Home: v.Home})
		return permission.Policy{Rules: rs}, err == nil
	}
	if v.Context == nil {
		return permission.Policy{Rules: triples(v.Rules)}, true
	}
	c := v.Context
	switch {
	case c.Subagent != nil:
		parent := permission.Policy{Rules: parse(c.Parent)}
		return permission.Policy{Rules: parse(c.Subagent)}.Under(parent), true
	case c.AskedInProject != "": // here project is the name of one
		return permission.Policy{Rules: triples(c.Rules)}, true
	case c.Project != nil && c.ProjectTrusted:
		return permission.Policy{Rules: append(parse(c.Global), parse(c.Project)...)}, true
	case c.Project != nil:
		return permission.Policy{Rules: parse(c.Global), Ceilings: []permission.Ruleset{parse(c.Project)}}, true
	}
	return permission.Policy{Rules: triples(c.Rules)}, true
}

func askedProject(v vector) string {
	if v.Context != nil {
		return v.Context.AskedInProject
	}
	return ""
}

// memory keeps approvals as a store would.
type memory []permission.Approval

func (m *memory) KeepApproval(a permission.Approval) error {
	*m = append(*m, a)
	return nil
}
func (m *memory) Approvals() ([]permission.Approval, error) { return *m, nil }
func (m *memory) ForgetApproval(id string) (bool, error) {
	n := len(*m)
	*m = slices.DeleteFunc(*m, func(a permission.Approval) bool { return a.ID == id })
	return len(*m) < n, nil
}

func savedApprovals(v vector) permission.ApprovalStore {
	m := &memory{}
	if v.Context == nil {
		return m
	}
	c := v.Context
	for _, s := range c.Saved {
		a := permission.Approval{Permission: s[0], Pattern: s[1], Scope: permission.User}
		if c.SavedIn != "" {
			a.Scope, a.Session = permission.Session, c.SavedIn
		}
		if c.AskedInProject != "" {
			a.Scope, a.Project = permission.Project, "p1"
		}
		*m = append(*m, a)
	}
	if c.HashApproved != "" {
		*m = append(*m, permission.Approval{Permission: v.Permission, Pattern: "*", Scope: permission.User, Fingerprint: c.HashApproved})
	}
	return m
}
