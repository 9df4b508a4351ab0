package tool

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// MarshalJSON returns the issue in OpenCode's form.
func (i Issue) MarshalJSON() ([]byte, error) {
	if i.raw != nil {
		return i.raw, nil
	}
	return finding{code: i.Code, head: `"code":` + quoteJSON(i.Code), message: i.Message}.raw(i.Path), nil
}

// Text returns the issues as OpenCode prints them: a JSON list indented by two spaces.
func Text(issues []Issue) string {
	flat := []byte{'['}
	for i, issue := range issues {
		if i > 0 {
			flat = append(flat, ',')
		}
		raw, _ := issue.MarshalJSON() // it never fails
		flat = append(flat, raw...)
	}
	flat = append(flat, ']')
	var out bytes.Buffer
	if err := json.Indent(&out, flat, "", "  "); err != nil {
		return string(flat)
	}
	return out.String()
}

// A finding is an issue before its path is known.
type finding struct {
	code     string // helve's code
	head     string // the members of OpenCode's object that come before path
	message  string
	expected string
	received string
}

func (f finding) raw(path []any) []byte {
	b := append([]byte{'{'}, f.head...)
	b = append(b, `,"path":[`...)
	for i, step := range path {
		if i > 0 {
			b = append(b, ',')
		}
		switch step := step.(type) {
		case string:
			b = appendQuoted(b, step)
		case int:
			b = strconv.AppendInt(b, int64(step), 10)
		}
	}
	b = append(b, `],"message":`...)
	b = appendQuoted(b, f.message)
	return append(b, '}')
}

func (f finding) issueAt(path []any) Issue {
	return Issue{
		Path: path, Code: f.code, Message: f.message, Expected: f.expected, Received: f.received,
		raw: f.raw(path),
	}
}

// wrongType is the finding for a value of the wrong type, or a missing value.
func wrongType(expected string, got kind) finding {
	f := finding{
		code:     "type",
		head:     `"expected":` + quoteJSON(expected) + `,"code":"invalid_type"`,
		message:  "Invalid input: expected " + expected + ", received " + got.String(),
		expected: expected,
		received: got.String(),
	}
	if got == absent {
		f.code = "missing"
	}
	return f
}

// notANumber is the finding for a string that should hold a number.
func notANumber() finding {
	return finding{
		code:     "type",
		head:     `"expected":"number","code":"invalid_type","received":"NaN"`,
		message:  "Invalid input: expected number, received NaN",
		expected: "number",
		received: "NaN",
	}
}

func notWhole() finding {
	return finding{
		code:     "type",
		head:     `"expected":"int","format":"safeint","code":"invalid_type"`,
		message:  "Invalid input: expected int, received number",
		expected: "int",
		received: "number",
	}
}

// notAnOption is the finding for a value that an enum does not list, or a missing value.
func notAnOption(options []value, got kind) finding {
	var list, words strings.Builder
	sameKind := false
	for i, o := range options {
		if i > 0 {
			list.WriteByte(',')
			words.WriteByte('|')
		}
		j := string(o.appendJSON(nil))
		list.WriteString(j)
		words.WriteString(j)
		sameKind = sameKind || o.kind == got
	}
	f := finding{
		code:     "enum",
		head:     `"code":"invalid_value","values":[` + list.String() + `]`,
		message:  "Invalid option: expected one of " + words.String(),
		expected: words.String(),
		received: got.String(),
	}
	if len(options) == 1 {
		f.message = "Invalid input: expected " + words.String()
	}
	switch {
	case got == absent:
		f.code = "missing"
	case !sameKind:
		f.code = "type"
	}
	return f
}

// An edge is a limit that a value exceeds.
type edge struct {
	origin  string // number, string or array
	limit   string
	above   bool // the value is too big, not too small
	open    bool // the limit is exclusive
	message string
}

func (e edge) finding() finding {
	code, word, key, sign := "too_small", "Too small", "minimum", ">"
	if e.above {
		code, word, key, sign = "too_big", "Too big", "maximum", "<"
	}
	if !e.open {
		sign += "="
	}
	want := "to be " + sign + e.limit
	switch e.origin {
	case "string":
		want = "to have " + sign + e.limit + " characters"
	case "array":
		want = "to have " + sign + e.limit + " items"
	}
	f := finding{
		code: "range",
		head: `"origin":"` + e.origin + `","code":"` + code + `","` + key + `":` + e.limit +
			`,"inclusive":` + strconv.FormatBool(!e.open),
		message:  word + ": expected " + e.origin + " " + want,
		expected: e.origin + " " + want,
		received: e.origin,
	}
	if e.message != "" {
		f.message = e.message
	}
	return f
}

func noMatch(pattern string) finding {
	return finding{
		code:     "type",
		head:     `"origin":"string","code":"invalid_format","format":"regex","pattern":` + quoteJSON("/"+pattern+"/"),
		message:  "Invalid string: must match pattern /" + pattern + "/",
		expected: "string that matches " + pattern,
		received: "string",
	}
}

// maxUnionText limits the printed issues of a union, which grow with every level.
const maxUnionText = 4096

// noBranch is the finding for a value that fits no branch of a union, with the issues of each
// branch.
func noBranch(expected string, got kind, branches [][]Issue) finding {
	list := make([]string, 0, len(branches))
	for _, issues := range branches {
		raws := make([]string, 0, len(issues))
		for _, i := range issues {
			raws = append(raws, string(i.raw))
		}
		list = append(list, "["+strings.Join(raws, ",")+"]")
	}
	errs := strings.Join(list, ",")
	if len(errs) > maxUnionText {
		errs = ""
	}
	return finding{
		code:     "type",
		head:     `"code":"invalid_union","errors":[` + errs + `]`,
		message:  "Invalid input",
		expected: expected,
		received: got.String(),
	}
}

// custom is a finding for which OpenCode has no form of its own.
func custom(code, message string) finding {
	return finding{code: code, head: `"code":"custom"`, message: message}
}
