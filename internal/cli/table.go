package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"helve"
	"helve/internal/shell"
	"helve/permission"
	"helve/tool"
)

// A row is one line of a table of decisions.
type row struct {
	ID       string      `json:"id"`
	Platform string      `json:"platform"`
	Home     string      `json:"home"`
	Cwd      string      `json:"cwd"`
	Mode     string      `json:"mode"` // headless: nobody can answer; auto: asks are approved
	Rules    *[]triple   `json:"rules"`
	Context  *rowContext `json:"context"`

	Config     json.RawMessage `json:"config"`
	ConfigText string          `json:"config_text"`

	Permission string   `json:"permission"`
	Pattern    *string  `json:"pattern"`
	Command    *string  `json:"command"`
	Tools      []string `json:"tools"`
	Exact      bool     `json:"exact"`

	Expect   string    `json:"expect"`
	Accept   []string  `json:"accept"`
	Patterns *[]string `json:"expect_patterns"`
	Visible  *[]string `json:"expect_visible"`
	Reason   string    `json:"reason"`
}

// A triple is a rule: permission, pattern, action.
type triple [3]string

// A rowContext is the other ways to say what is in force.
type rowContext struct {
	Rules          []triple        `json:"rules"`
	Global         json.RawMessage `json:"global"`
	Project        json.RawMessage `json:"project"` // a policy, or with asked_in_project a name
	ProjectTrusted bool            `json:"project_trusted"`
	Parent         json.RawMessage `json:"parent_session"`
	Subagent       json.RawMessage `json:"subagent"`
	Saved          []triple        `json:"saved"`
	SavedIn        string          `json:"saved_in_session"`
	AskedIn        string          `json:"asked_in_session"`
	AskedInProject string          `json:"asked_in_project"`
	MCPTool        string          `json:"mcp_tool"`
	HashApproved   string          `json:"schema_hash_approved"`
	HashNow        string          `json:"schema_hash_now"`
}

// errSkip is a line that can not be judged here.
var errSkip = errors.New("skipped")

// errRefused is a configuration that is refused, which a line may expect.
var errRefused = errors.New("refused")

func (a *app) permissionTestCommand() *cobra.Command {
	var agent string
	c := &cobra.Command{
		Use:   "test TABLE.jsonl …",
		Short: "Judge tables of decisions; exit 1 if one comes out differently",
		Long: `Test reads tables of decisions, one JSON object a line, and says which come
out differently. A line gives a "permission" and a "pattern", or a "command",
and what to "expect": allow, ask, deny or error; "accept" lists answers that
will do too. The rules are those in the line ("rules", a list of permission,
pattern, action; or "config"), or else those in force here. Lines for another
"platform", and lines that say nothing it knows, are skipped and named.

It ends with a line such as "12 passed, 0 failed".`,
		Example: `  helve permission test decisions.jsonl
  echo '{"permission":"read","pattern":".env","expect":"ask"}' | helve permission test -`,
		Args: atLeast(1, "a table"),
		RunE: func(_ *cobra.Command, args []string) error {
			t := &table{app: a, agent: agent}
			for _, name := range args {
				if err := t.file(name); err != nil {
					return err
				}
			}
			return t.sum()
		},
	}
	c.Flags().StringVar(&agent, "agent", "", "judge under the rules of this agent, where a line brings none")
	a.completeFlags(c)
	return c
}

// A table judges lines and counts.
type table struct {
	app                     *app
	agent                   string
	inForce                 *permission.Policy // read when a line needs it
	passed, failed, skipped int
}

func (t *table) file(name string) error {
	in := t.app.Stdin
	if name != "-" {
		f, err := os.Open(t.app.abs(name))
		if err != nil {
			return fmt.Errorf("reading the table: %w", err)
		}
		defer f.Close()
		in = f
	}
	r := newLineReader(in, maxLine)
	for {
		line, err := r.next()
		switch {
		case err == io.EOF:
			return nil
		case err == errLongLine:
			t.mismatch(fmt.Sprintf("%s:%d", name, r.n), err.Error(), "")
		case err != nil:
			return fmt.Errorf("reading the table: %w", err)
		case !blank(line):
			t.line(fmt.Sprintf("%s:%d", name, r.n), line)
		}
	}
}

func (t *table) mismatch(id, what, reason string) {
	t.failed++
	if reason != "" {
		what += " (" + reason + ")"
	}
	fmt.Fprintf(t.app.Stdout, "FAIL %s: %s\n", safe(id), safe(what))
}

func (t *table) sum() error {
	fmt.Fprintf(t.app.Stdout, "%d passed, %d failed", t.passed, t.failed)
	if t.skipped > 0 {
		fmt.Fprintf(t.app.Stdout, ", %d skipped", t.skipped)
	}
	fmt.Fprintln(t.app.Stdout)
	if t.failed > 0 {
		return &silent{exitFailed}
	}
	return nil
}

// line judges one line.
func (t *table) line(where string, data []byte) {
	v, err := parseRow(data)
	if v.ID != "" {
		where = v.ID
	}
	if err != nil {
		t.mismatch(where, err.Error(), "")
		return
	}
	what, err := t.judge(v)
	switch {
	case errors.Is(err, errSkip):
		t.skipped++
		fmt.Fprintf(t.app.Stdout, "SKIP %s: %s\n", safe(where), safe(what))
	case err != nil:
		t.mismatch(where, err.Error(), v.Reason)
	case what != "":
		t.mismatch(where, what, v.Reason)
	default:
		t.passed++
	}
}

// parseRow reads a line, with long texts written out.
func parseRow(data []byte) (row, error) {
	var v row
	if !bytes.Contains(data, []byte(`"$`)) {
		err := json.Unmarshal(data, &v)
		return v, wrapRow(err)
	}
	var x any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&x); err != nil {
		return v, wrapRow(err)
	}
	// Only texts are written out here: the order of keys is kept for configs.
	var keep struct {
		Config  json.RawMessage `json:"config"`
		Context json.RawMessage `json:"context"`
	}
	if err := json.Unmarshal(data, &keep); err != nil {
		return v, wrapRow(err)
	}
	x, err := expand(x)
	if err != nil {
		return v, err
	}
	if m, ok := x.(map[string]any); ok {
		if keep.Config != nil {
			m["config"] = keep.Config
		}
		if keep.Context != nil {
			m["context"] = keep.Context
		}
	}
	b, err := json.Marshal(x)
	if err == nil {
		err = json.Unmarshal(b, &v)
	}
	return v, wrapRow(err)
}

func wrapRow(err error) error {
	if err != nil {
		return fmt.Errorf("reading the line: %w", err)
	}
	return nil
}

// maxExpanded bounds the text that a line may write out to.
const maxExpanded = 64 << 20

// expand writes {"$repeat":"x","times":3} and {"$concat":["a","b"]} out.
func expand(x any) (any, error) {
	var err error
	switch v := x.(type) {
	case []any:
		for i := range v {
			if v[i], err = expand(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		if s, ok := v["$repeat"].(string); ok {
			n, _ := v["times"].(json.Number)
			times, err := n.Int64()
			if err != nil || times < 0 || int64(len(s))*times > maxExpanded {
				return nil, errors.New("reading the line: $repeat needs a number of times that is not too large")
			}
			return strings.Repeat(s, int(times)), nil
		}
		if parts, ok := v["$concat"].([]any); ok {
			return concat(parts)
		}
		for k := range v {
			if v[k], err = expand(v[k]); err != nil {
				return nil, err
			}
		}
	}
	return x, nil
}

func concat(parts []any) (any, error) {
	var b strings.Builder
	for _, p := range parts {
		e, err := expand(p)
		if err != nil {
			return nil, err
		}
		s, ok := e.(string)
		if !ok || b.Len()+len(s) > maxExpanded {
			return nil, errors.New("reading the line: $concat takes strings that are not too long")
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

// judge returns what came out differently, "" if nothing did. With errSkip it
// returns why the line was skipped.
func (t *table) judge(v row) (string, error) {
	switch {
	case v.elsewhere():
		return "for " + v.Platform, errSkip
	case v.Patterns != nil && v.Command != nil:
		return judgePatterns(v), nil
	case v.Expect == "" && v.Visible == nil:
		return `nothing to judge: no "expect", "expect_patterns" or "expect_visible"`, errSkip
	case v.Context != nil && v.Context.MCPTool != "":
		return judgeName(v)
	}
	policy, err := t.policy(v)
	got := "error"
	switch {
	case err == nil && v.Visible != nil:
		return judgeVisible(v, policy), nil
	case err == nil:
		got, err = t.decision(v, policy)
	case errors.Is(err, errRefused):
		err = nil
	}
	if err != nil {
		return got, err
	}
	if got != v.Expect && !slices.Contains(v.Accept, got) {
		return fmt.Sprintf("got %s, want %s", got, v.Expect), nil
	}
	return "", nil
}

// decision is what the policy says to the question of a line. With errSkip it
// returns why there is none.
func (t *table) decision(v row, policy permission.Policy) (string, error) {
	switch {
	case v.Command != nil:
		return modal(v, judge{policy: policy, dir: v.cwd(t.app)}.command(*v.Command), policy), nil
	case v.Permission != "" && v.Pattern != nil:
		got, err := decide(v, policy)
		if err != nil {
			return "", err
		}
		return modal(v, judged{Action: got}, policy), nil
	case v.Expect == "error": // only a refused config would have been right
		return "a good configuration", nil
	}
	return `nothing to judge: no "command", and no "permission" with a "pattern"`, errSkip
}

// elsewhere reports whether a line is for another platform than this.
func (v row) elsewhere() bool { return v.Platform != "" && v.Platform != runtime.GOOS }

func (v row) cwd(a *app) string {
	if v.Cwd != "" {
		return v.Cwd
	}
	return a.workDir()
}

// modal is what becomes of an ask where nobody is asked.
func modal(v row, j judged, policy permission.Policy) string {
	if j.Action != permission.Ask {
		return string(j.Action)
	}
	switch v.Mode {
	case "headless":
		return string(permission.Deny)
	case "auto":
		denies := func(r permission.Rule) bool { return r.Action == permission.Deny }
		if j.Opaque != "" && slices.ContainsFunc(policy.Rules, denies) {
			return string(permission.Deny)
		}
		return string(permission.Allow)
	}
	return string(permission.Ask)
}

func judgePatterns(v row) string {
	got := []string{}
	for _, s := range shell.Suggest(*v.Command) {
		if s.Exact != v.Exact {
			return fmt.Sprintf("%q is offered with exact %v", s.Pattern, s.Exact)
		}
		got = append(got, s.Pattern)
	}
	if !slices.Equal(got, *v.Patterns) {
		return fmt.Sprintf("got %q, want %q", got, *v.Patterns)
	}
	return ""
}

func judgeVisible(v row, policy permission.Policy) string {
	got := []string{}
	for _, name := range v.Tools {
		if !policy.Hides(name) {
			got = append(got, name)
		}
	}
	if !slices.Equal(got, *v.Visible) {
		return fmt.Sprintf("got %q, want %q", got, *v.Visible)
	}
	return ""
}

// judgeName asks a runtime whether a tool from outside may have a name.
func judgeName(v row) (string, error) {
	rt, err := helve.New(helve.Options{Unattended: true, Flags: map[string]bool{"batch": true}})
	if err != nil {
		return "", err
	}
	defer rt.Close()
	builtin := slices.ContainsFunc(rt.Tools(tool.Audience{}), func(s tool.Spec) bool { return s.Name == v.Context.MCPTool })
	if !builtin && v.Expect == "error" {
		return fmt.Sprintf("there is no built-in tool %q in this program", v.Context.MCPTool), errSkip
	}
	outside, err := tool.Dynamic(tool.Spec{Name: v.Context.MCPTool, External: true}, nobody)
	if err == nil {
		_, err = rt.Register(outside)
	}
	if (err != nil) != (v.Expect == "error") {
		return fmt.Sprintf("registering it gives %v, want %s", err, v.Expect), nil
	}
	return "", nil
}
