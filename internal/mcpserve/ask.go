package mcpserve

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/permission"
)

// A response is what a client made of a permission request: the person's answer, or why there is
// none.
type response struct {
	permission.Reply
	lost     string // there was no yes or no, for this reason
	declined bool   // by a person, or by a client that asks none: these look alike
}

// askPermission shows a permission request to the person of its session.
func (h *sharedRuntime) askPermission(req permission.Request) {
	reply := func(se *session, r response) {
		if r.lost != "" {
			_ = h.rt.Requests().Expire(req.ID, r.lost) // it may be answered already
			return
		}
		if r.declined {
			_ = h.rt.Requests().Decline(req.ID) // it may be answered already
			return
		}
		err := h.rt.Requests().Reply(req.ID, r.Reply)
		if err != nil && r.Verdict == permission.ReplyAlways && !errors.Is(err, permission.ErrNotFound) {
			// It was allowed but cannot be remembered: so it counts only this once.
			se.s.log.Warn("an approval could not be kept", "request", req.ID, "error", err)
			err = h.rt.Requests().Reply(req.ID, permission.Reply{Verdict: permission.ReplyOnce})
		}
		if err != nil && !errors.Is(err, permission.ErrNotFound) && se != nil {
			se.s.log.Error("a permission request could not be answered", "request", req.ID, "error", err)
		}
	}
	decline := func() { _ = h.rt.Requests().Decline(req.ID) } // it may be answered already
	h.put(req.ID, req.Session, req.Call, decline, func(ctx context.Context, se *session) (settle func(), clear bool) {
		r, clear := se.elicitReply(ctx, newSheet(req, h.caller(req)))
		return func() { reply(se, r) }, clear
	})
}

// elicitReply asks with a form. Anything but a clear answer allows nothing; clear is false if the
// person said neither yes nor no.
func (se *session) elicitReply(ctx context.Context, asks sheet) (r response, clear bool) {
	no := permission.Reply{Verdict: permission.ReplyReject}
	res, err := se.ss.Elicit(ctx, &mcp.ElicitParams{Mode: "form", Message: asks.text, RequestedSchema: decisionForm(se.version, asks.verdicts())})
	if err != nil {
		if ctx.Err() == nil {
			se.s.log.Warn("a permission request could not be put to the person", "client", se.client, "error", err)
		}
		return response{lost: noAnswer + "the client could not put the question to the user, or did not give a valid answer. " + noDoing}, false
	}
	feedback, _ := res.Content["feedback"].(string)
	no.Message = strings.TrimSpace(feedback)
	if no.Message == "" && !asks.whole {
		no.Message = "it is too long to be shown to the user: do it in smaller steps"
	}
	decision, _ := res.Content["decision"].(string)
	verdict := permission.Verdict(decision)
	switch {
	case res.Action != "accept":
		return response{Reply: no, declined: no.Message == ""}, res.Action == "decline"
	case !slices.Contains(asks.verdicts(), verdict):
		return response{lost: noAnswer + "the client's form has no valid decision. " + noDoing}, false
	}
	switch verdict {
	case permission.ReplyOnce:
		return response{Reply: permission.Reply{Verdict: permission.ReplyOnce}}, true
	case permission.ReplyAlways:
		return response{Reply: permission.Reply{Verdict: permission.ReplyAlways, Scope: permission.Session}}, true
	}
	return response{Reply: no}, true
}

// Texts for a model, around the reason why a request was not answered.
const (
	noAnswer = "Permission was neither given nor refused: "
	noDoing  = "Nothing was done. Tell the user, and go on without this."
)

// A choice is one thing to pick in a form.
type choice struct{ value, title string }

// decisionForm returns the form of a permission request with these answers.
func decisionForm(version string, verdicts []permission.Verdict) any {
	all := []choice{
		{string(permission.ReplyOnce), "Allow once"},
		{string(permission.ReplyAlways), "Allow always, in this session"},
		{string(permission.ReplyReject), "Reject"},
	}
	decision := pickOne(version, slices.DeleteFunc(all, func(c choice) bool {
		return !slices.Contains(verdicts, permission.Verdict(c.value))
	}))
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
