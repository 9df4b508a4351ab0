package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/permission"
)

// A row is one line of a table of decisions.
type row struct {
	ID       string      `json:"id"`
	Platform string      `json:"platform"`
	Home     string      `json:"home"`
	Cwd      string      `json:"cwd"`
	Mode     string      `json:"mode"` // headless: no one can answer; auto: asks are approved
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

// UnmarshalJSON takes a list of three strings and nothing else.
func (t *triple) UnmarshalJSON(data []byte) error {
	var all []string
	if err := json.Unmarshal(data, &all); err != nil || len(all) != len(t) {
		return errors.New("a rule is a list of three strings: permission, pattern, action")
	}
	copy(t[:], all)
	return nil
}

// A rowContext holds the other ways to specify the policy.
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

// rowKeys lists the keys of a line that describe a request.
func rowKeys() []string {
	return []string{
		"id", "permission", "pattern", "command", "expect", "accept", "rules", "config", "config_text", "context",
		"platform", "home", "cwd", "mode", "tools", "expect_patterns", "expect_visible", "exact", "reason",
	}
}

// noteKeys lists the keys that tables have for people and for other programs.
func noteKeys() []string {
	return []string{
		"cat", "tier", "ruleset", "reference", "unit", "fs", "wall", "needs", "opencode_note", "max_ms", "max_mb",
		"must", "code", "workspace", "note", "comment",
	}
}

func contextKeys() []string {
	return []string{
		"rules", "global", "project", "project_trusted", "parent_session", "subagent", "saved", "saved_in_session",
		"asked_in_session", "asked_in_project", "mcp_tool", "schema_hash_approved", "schema_hash_now",
	}
}

// parseRow reads a line, with long texts written out. Of a line that is wrong
// it returns the id, if it has one.
func parseRow(data []byte) (row, error) {
	fields, err := text.DecodeObject(data)
	if err != nil {
		return row{}, err
	}
	var v row
	if raw, ok := fields["id"]; ok {
		if err := json.Unmarshal(raw, &v.ID); err != nil {
			return row{}, wantError("id")
		}
	}
	if err := knownKeys(fields, rowKeys(), noteKeys()); err != nil {
		return v, err
	}
	if raw, ok := fields["context"]; ok && !text.IsNull(raw) {
		inner, err := text.DecodeObject(raw)
		if err == nil {
			err = knownKeys(inner, contextKeys(), nil)
		}
		if err != nil {
			return v, fmt.Errorf("\"context\": %w", err)
		}
	}
	if bytes.Contains(data, []byte(`"$`)) {
		if err := writeOut(fields); err != nil {
			return v, err
		}
	}
	for _, key := range noteKeys() { // they may hold anything
		delete(fields, key)
	}
	whole, err := json.Marshal(fields)
	if err == nil {
		err = json.Unmarshal(whole, &v)
	}
	if err != nil {
		return v, plainRow(err)
	}
	return v, v.validate()
}

// knownKeys refuses a key that means nothing: it may be a slip in one that
// does.
func knownKeys(fields map[string]json.RawMessage, names, others []string) error {
	slip := ""
	for key := range fields {
		if !slices.Contains(names, key) && !slices.Contains(others, key) && (slip == "" || key < slip) {
			slip = key
		}
	}
	if _, ok := fields[slip]; !ok {
		return nil
	}
	if near, ok := text.Nearest(slip, names); ok {
		return fmt.Errorf("unknown key %q: did you mean %q?", slip, near)
	}
	return fmt.Errorf("unknown key %q: there are %s", slip, strings.Join(names, ", "))
}

// plainRow words an invalid value of a key.
func plainRow(err error) error {
	if te, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return wantError(te.Field)
	}
	return err
}

// wantError says what the value of a key must be.
func wantError(field string) error {
	want := "a string"
	top, inner, _ := strings.Cut(field, ".")
	switch {
	case strings.HasPrefix(inner, "project_trusted"), top == "exact":
		want = "true or false"
	case top == "rules", strings.HasPrefix(inner, "rules"), strings.HasPrefix(inner, "saved") && !strings.HasPrefix(inner, "saved_in"):
		want = "a list of rules, each a list of three strings: permission, pattern, action"
	case top == "accept", top == "tools", top == "expect_patterns", top == "expect_visible":
		want = "a list of strings"
	case field == "context":
		want = "an object"
	}
	return fmt.Errorf("%q has to be %s", field, want)
}

// validate says what a line lacks.
func (v row) validate() error {
	for _, word := range append([]string{v.Expect}, v.Accept...) {
		switch word {
		case string(permission.Allow), string(permission.Ask), string(permission.Deny), "error", "":
		default:
			return fmt.Errorf("%q is no answer to expect: want allow, ask, deny or error", word)
		}
	}
	switch {
	case v.Expect == "" && v.Patterns == nil && v.Visible == nil:
		return errors.New(`what is to come out? give "expect": allow, ask, deny or error`)
	case v.Patterns != nil && v.Command == nil:
		return errors.New(`"expect_patterns" needs a "command"`)
	case v.Mode != "" && v.Mode != "headless" && v.Mode != "auto":
		return fmt.Errorf("%q is no mode: want headless or auto", v.Mode)
	}
	return nil
}

// writeOut writes long texts out. A config stays as it is: the order of its
// keys counts.
func writeOut(fields map[string]json.RawMessage) error {
	for key, raw := range fields {
		if key == "config" || key == "context" || !bytes.Contains(raw, []byte(`"$`)) {
			continue
		}
		var x any
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		err := dec.Decode(&x)
		if err == nil {
			x, err = expandMacros(x)
		}
		if err == nil {
			fields[key], err = text.EncodeLine(x)
		}
		if err != nil {
			return fmt.Errorf("%q: %w", key, err)
		}
	}
	return nil
}

// maxExpanded bounds the text that a line may write out to.
const maxExpanded = 64 << 20

// expandMacros writes {"$repeat":"x","times":3} and {"$concat":["a","b"]} out.
func expandMacros(x any) (any, error) {
	var err error
	switch v := x.(type) {
	case []any:
		for i := range v {
			if v[i], err = expandMacros(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		if s, ok := v["$repeat"].(string); ok {
			n, _ := v["times"].(json.Number)
			times, err := n.Int64()
			if err != nil || times < 0 || int64(len(s))*times > maxExpanded {
				return nil, errors.New("$repeat needs a number of times that is not too large")
			}
			return strings.Repeat(s, int(times)), nil
		}
		if parts, ok := v["$concat"].([]any); ok {
			return concat(parts)
		}
		for k := range v {
			if v[k], err = expandMacros(v[k]); err != nil {
				return nil, err
			}
		}
	}
	return x, nil
}

func concat(parts []any) (any, error) {
	var b strings.Builder
	for _, p := range parts {
		e, err := expandMacros(p)
		if err != nil {
			return nil, err
		}
		s, ok := e.(string)
		if !ok || b.Len()+len(s) > maxExpanded {
			return nil, errors.New("$concat takes strings that are not too long")
		}
		b.WriteString(s)
	}
	return b.String(), nil
}
