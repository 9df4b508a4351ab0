package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// shownText is how much of a text that is not JSON the error repeats.
const shownText = 2000

// Check validates the arguments of c, as the model wrote them, against the schema. If they fit,
// c.Input becomes the checked value in canonical form: defaults filled in, coercions made, unknown
// keys of closed objects dropped. The tool then sees exactly what was checked. If they do not fit,
// c stays unchanged and the error is an [Error] that lists every issue.
//
// With repair, invalid arguments are corrected where that needs no guess and loses nothing, and
// only if it makes them fit. Check returns the repairs and, with or without repair, the keys that
// it dropped.
func (t Tool) Check(c *Call, repair bool) ([]Repair, error) {
	s := string(c.Input)
	var w walker
	out, err := t.strict(&w, s)
	if err == nil {
		c.Input = out
		return w.dropped, nil
	}
	if repair && len(s) <= maxText {
		if out, repairs, ok := t.mended(s); ok {
			c.Input = out
			return repairs, nil
		}
	}
	return nil, err
}

// CheckExact is [Tool.Check] without any leniency: a key that Check would drop is an issue.
func (t Tool) CheckExact(c *Call) error {
	w := walker{strict: !t.d.spec.AsGiven} // drops no keys
	out, err := t.strict(&w, string(c.Input))
	if err == nil {
		c.Input = out
	}
	return err
}

// strict returns the canonical form of s, which must fit unchanged.
func (t Tool) strict(w *walker, s string) ([]byte, error) {
	empty := strings.Trim(s, " \t\r\n") == ""
	if empty {
		s = "{}"
	}
	p := parser{s: s}
	v, bad := p.parse()
	if bad != nil {
		return nil, t.malformed(s, bad)
	}
	if p.twice != nil {
		return nil, t.doubled(s, p.twice)
	}
	if at, ok := halfPair(s); ok {
		return nil, t.halved(s, at)
	}
	if v.kind != object {
		w.fault(v, func() finding {
			f := wrongType("object", v.kind)
			f.code = "invalid-json"
			return f
		})
		return nil, t.refusal(w)
	}
	out, ok := t.walked(w, v)
	if ok {
		return out, nil
	}
	err := t.refusal(w)
	if empty {
		err.Code = "invalid-json"
	}
	return nil, err
}

// walked validates v against the whole schema and returns its canonical form.
func (t Tool) walked(w *walker, v value) ([]byte, bool) {
	if !t.d.spec.AsGiven {
		return t.fitted(w, v)
	}
	given := v.appendJSON(make([]byte, 0, v.canonicalSize()))
	_, ok := t.fitted(w, v)
	w.dropped = nil // the tool gets every key
	return given, ok
}

// fitted is walked for tools that take the value with the schema's defaults and coercions.
func (t Tool) fitted(w *walker, v value) ([]byte, bool) {
	v = w.walk(t.d.root(), v)
	if w.count > 0 {
		return nil, false
	}
	out := v.appendJSON(make([]byte, 0, v.canonicalSize()))
	if t.d.gate == nil {
		return out, true
	}
	if w.steps > maxGate {
		return out, true // the library's checks may take time quadratic in the size
	}
	gate := t.d.gate()
	if gate == nil {
		return out, true
	}
	var instance any
	err := json.Unmarshal(out, &instance)
	if err == nil {
		err = gate.Validate(instance)
	}
	if err != nil {
		w.fault(v, func() finding { return custom("type", "Invalid input: "+cutText(err.Error(), 500)) })
		return nil, false
	}
	return out, true
}

// refusal returns the error for arguments that do not fit the schema.
func (t Tool) refusal(w *walker) *Error {
	said := ""
	if t.d.spec.Explain != nil {
		said = t.d.spec.Explain(w.issues)
	} else {
		said = "The " + t.d.spec.Name + " tool was called with invalid arguments: " + Text(w.issues) +
			".\nPlease rewrite the input so it satisfies the expected schema."
	}
	hints := append(w.notes, w.advice...)
	if w.count > len(w.issues) {
		hints = append(hints, fmt.Sprintf("only the first %d of %d issues are listed", len(w.issues), w.count))
	}
	return &Error{
		Tool: t.d.spec.Name, Kind: InvalidInput, Code: w.issues[0].Code,
		Err: errors.New(said), Hint: strings.Join(hints, "\n"), Issues: w.issues,
	}
}

// malformed returns the error for a text that is not JSON.
func (t Tool) malformed(s string, bad *syntaxError) *Error {
	why := bad.why + " at " + positionText(s, bad)
	hint := "Send the arguments again as one JSON object."
	if bad.ends {
		hint = "The text was cut off. Send the whole object again, and if it is long, less of it at a time."
	}
	return t.unread(s, custom("invalid-json", why).issueAt(nil), hint)
}

// doubled returns the error for an object with a duplicate key.
func (t Tool) doubled(s string, d *doubled) *Error {
	key, _ := d.path[len(d.path)-1].(string)
	why := fmt.Sprintf("the key %s stands twice in one object, the second time at %s",
		shortQuote(key), positionText(s, &syntaxError{at: d.at}))
	return t.unread(s, custom("duplicate-key", why).issueAt(d.path), "Send each key once.")
}

// halved returns the error for half a surrogate pair, which stands for no character: the tool would
// not see what was sent.
func (t Tool) halved(s string, at int) *Error {
	why := "half a surrogate pair at " + positionText(s, &syntaxError{at: at}) + " is no character and can not be written as UTF-8"
	return t.unread(s, custom("encoding", why).issueAt(nil), "Send the character itself, or both halves.")
}

func (t Tool) unread(s string, issue Issue, hint string) *Error {
	shown := strings.ToValidUTF8(cutText(s, shownText), "\ufffd")
	if len(s) > shownText {
		shown += fmt.Sprintf("… (%d bytes in all)", len(s))
	}
	said := "Invalid input for tool " + t.d.spec.Name + ": JSON parsing failed: Text: " + shown +
		".\nError message: " + issue.Message
	return &Error{
		Tool: t.d.spec.Name, Kind: InvalidInput, Code: issue.Code,
		Err: errors.New(said), Hint: hint, Issues: []Issue{issue}, Garbled: true,
	}
}

// positionText returns where a fault is: the byte, counted from 1, and the line if there are
// several.
func positionText(s string, bad *syntaxError) string {
	at := bad.at
	if !bad.ends {
		at++
	}
	before := s[:min(bad.at, len(s))]
	line := strings.Count(before, "\n")
	if line == 0 {
		return fmt.Sprintf("byte %d", at)
	}
	column := len(before) - strings.LastIndexByte(before, '\n')
	return fmt.Sprintf("byte %d (line %d, column %d)", at, line+1, column)
}
