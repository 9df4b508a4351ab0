package mcpserve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"helve/internal/text"
	"helve/permission"
)

// What a form shows. A client shows it as it is, so it has to end somewhere.
const (
	maxAsked  = 50       // things that are asked about
	maxThing  = 4 << 10  // bytes of one of them
	maxDetail = 12 << 10 // bytes of a command or a diff
)

// askPermission puts a permission request to the person of its session.
func (h *hall) askPermission(req permission.Request) {
	reply := func(se *session, r permission.Reply) {
		err := h.rt.Reply(req.ID, r)
		if err != nil && r.Verdict == permission.ReplyAlways && !errors.Is(err, permission.ErrNotFound) {
			// It was allowed, and can not be remembered: so it holds this once.
			se.s.log.Warn("an approval could not be kept", "request", req.ID, "error", err)
			err = h.rt.Reply(req.ID, permission.Reply{Verdict: permission.ReplyOnce})
		}
		if err != nil && !errors.Is(err, permission.ErrNotFound) && se != nil {
			se.s.log.Error("a permission request could not be answered", "request", req.ID, "error", err)
		}
	}
	h.put(petition{
		id: req.ID, session: req.Session, call: req.Call,
		ask: func(ctx context.Context, se *session) func() {
			r := se.elicitReply(ctx, req)
			return func() { reply(se, r) }
		},
		nobody: func() { _ = h.rt.Reply(req.ID, permission.Reply{Verdict: permission.ReplyReject}) }, // it may be settled already
	})
}

// elicitReply asks with a form. Whatever is no clear answer is a no.
func (se *session) elicitReply(ctx context.Context, req permission.Request) permission.Reply {
	no := permission.Reply{Verdict: permission.ReplyReject}
	res, err := se.ss.Elicit(ctx, &mcp.ElicitParams{Mode: "form", Message: requestText(req), RequestedSchema: decisionForm(se.version)})
	if err != nil {
		if ctx.Err() == nil {
			se.s.log.Warn("a permission request could not be put to the person", "client", se.client, "error", err)
		}
		no.Message = "the client could not put the question to the user"
		return no
	}
	feedback, _ := res.Content["feedback"].(string)
	no.Message = strings.TrimSpace(feedback)
	if res.Action != "accept" {
		return no
	}
	switch decision, _ := res.Content["decision"].(string); permission.Verdict(decision) {
	case permission.ReplyOnce:
		return permission.Reply{Verdict: permission.ReplyOnce}
	case permission.ReplyAlways:
		return permission.Reply{Verdict: permission.ReplyAlways, Scope: permission.Session}
	}
	return no
}

// A choice is one thing to pick in a form.
type choice struct{ value, title string }

// decisionForm is the form of a permission request.
func decisionForm(version string) any {
	decision := pickOne(version, []choice{
		{string(permission.ReplyOnce), "Allow once"},
		{string(permission.ReplyAlways), "Allow always, in this session"},
		{string(permission.ReplyReject), "Reject"},
	})
	decision["title"] = "Decision"
	return form([]field{
		{"decision", decision},
		{"feedback", map[string]any{"type": "string", "title": "Feedback", "description": "What to do instead, if you reject it"}},
	}, "decision")
}

// A field is one property of a form.
type field struct {
	name   string
	schema map[string]any
}

// form is the schema of a form. Clients show the fields in the order in which
// they come, which a map does not keep.
func form(fields []field, required ...string) json.RawMessage {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	for i, f := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encoded(f.name))
		b.WriteByte(':')
		b.Write(encoded(f.schema))
	}
	b.WriteByte('}')
	if len(required) > 0 {
		b.WriteString(`,"required":`)
		b.Write(encoded(required))
	}
	b.WriteByte('}')
	return json.RawMessage(b.String())
}

// encoded is plain data as JSON.
func encoded(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil { // strings, and maps and lists of them
		return []byte("null")
	}
	return raw
}

// titledEnums is the first version of the protocol in which each value of a
// choice has its title beside it, and several may be picked.
const titledEnums = "2025-11-25"

// pickOne is the schema of a choice.
func pickOne(version string, choices []choice) map[string]any {
	if version >= titledEnums {
		return map[string]any{"type": "string", "oneOf": titled(choices)}
	}
	values, titles := make([]string, len(choices)), make([]string, len(choices))
	for i, c := range choices {
		values[i], titles[i] = c.value, c.title
	}
	return map[string]any{"type": "string", "enum": values, "enumNames": titles}
}

func titled(choices []choice) []map[string]any {
	out := make([]map[string]any, len(choices))
	for i, c := range choices {
		out[i] = map[string]any{"const": c.value, "title": c.title}
	}
	return out
}

// requestText is a permission request as a person reads it: what decides
// first, then the whole, then what an answer of "always" would keep. All of it
// is made visible, so that no request looks like something it is not.
func requestText(req permission.Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Permission needed: %s\n", text.VisibleLine(req.Permission))
	things := make([]string, 0, len(req.Patterns))
	for _, d := range req.Asked {
		line := thing(d.Pattern)
		if d.Opaque != "" {
			line += "\n    it is not known what it does: " + text.VisibleLine(d.Opaque)
		}
		if d.Guarded {
			line += "\n    it changes what runs or is allowed later"
		}
		things = append(things, line)
	}
	if len(req.Asked) == 0 { // what is asked about is all of it
		for _, p := range req.Patterns {
			things = append(things, thing(p))
		}
	}
	lines(&b, things)
	changed := req.Changed
	if changed == "" && slices.ContainsFunc(req.Asked, func(d permission.Decision) bool { return d.Changed }) {
		changed = "it has another shape than the one that was approved"
	}
	if changed != "" {
		b.WriteString("\nTHE TOOL HAS CHANGED since it was first used:\n")
		block(&b, changed)
	}
	keys := make([]string, 0, len(req.Metadata))
	for key := range req.Metadata {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		detail(&b, key, req.Metadata[key])
	}
	b.WriteString("\n\"Always\" would also allow, in this session:\n")
	kept := make([]string, 0, len(req.Store))
	for _, a := range req.Store {
		line := text.VisibleLine(a.Permission) + " " + thing(a.Pattern)
		if a.Exact {
			line += " (exactly this text)"
		}
		kept = append(kept, line)
	}
	lines(&b, kept)
	return strings.TrimSuffix(b.String(), "\n")
}

// lines writes one line for each, and says how many are left out.
func lines(b *strings.Builder, all []string) {
	for i, line := range all {
		if i == maxAsked {
			fmt.Fprintf(b, "  (and %d more)\n", len(all)-i)
			return
		}
		fmt.Fprintf(b, "  %s\n", line)
	}
}

// thing is what is asked about, on one line. One whose ends could not be seen
// stands between quotes, and so does one that looks as if it did.
func thing(pattern string) string {
	head, cut := text.Cut(pattern, maxThing)
	shown := text.VisibleLine(head)
	if shown == "" || strings.ContainsAny(shown[:1]+shown[len(shown)-1:], ` "`) {
		shown = `"` + shown + `"`
	}
	if cut {
		shown += fmt.Sprintf(" (cut here: it has %d bytes)", len(pattern))
	}
	return shown
}

// detail writes what a tool says about its request.
func detail(b *strings.Builder, key string, value any) {
	s, ok := value.(string)
	if !ok {
		raw, err := json.Marshal(value)
		if err != nil {
			return
		}
		s = string(raw)
	}
	if s == "" {
		return
	}
	if !strings.Contains(s, "\n") && len(s) <= maxThing {
		fmt.Fprintf(b, "\n%s: %s\n", text.VisibleLine(key), text.VisibleLine(s))
		return
	}
	fmt.Fprintf(b, "\n%s:\n", text.VisibleLine(key))
	block(b, s)
}

// block writes a longer text with a mark before each line, so that none of
// them passes for ours.
func block(b *strings.Builder, s string) {
	head, cut := text.Cut(s, maxDetail)
	for line := range strings.Lines(text.Visible(head)) {
		fmt.Fprintf(b, "| %s\n", strings.TrimSuffix(line, "\n"))
	}
	if cut {
		fmt.Fprintf(b, "(cut here: %d of %d bytes are shown)\n", len(head), len(s))
	}
}
