package openai

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/model/internal/wire"
)

const (
	maxReport = 64 << 10 // limit for the bytes of a server's text that are read
	maxNested = 8        // limit for nested errors
)

// A report is an error from a server, in any of its forms.
type report struct {
	message, code, kind string
}

// read parses JSON: an object with error, an error itself, or a text. depth limits the levels,
// because each level is parsed again.
func read(raw []byte, depth int) report {
	if depth > maxNested {
		return report{message: string(raw[:min(len(raw), maxReport)])}
	}
	var list wire.Few[json.RawMessage]
	if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
		raw = list[0]
	}
	var outer struct {
		Error   json.RawMessage `json:"error"`
		Detail  json.RawMessage `json:"detail"`
		Message loose           `json:"message"`
		Msg     loose           `json:"msg"`
		Code    loose           `json:"code"`
		Type    loose           `json:"type"`
	}
	if json.Unmarshal(raw, &outer) != nil {
		var text loose
		if json.Unmarshal(raw, &text) != nil {
			text = loose(raw)
		}
		return report{message: string(text[:min(len(text), maxReport)])}
	}
	for _, inner := range []json.RawMessage{outer.Error, outer.Detail} {
		if present(inner) {
			return read(inner, depth+1)
		}
	}
	r := report{message: string(outer.Message), code: string(outer.Code), kind: string(outer.Type)}
	if r.message == "" {
		r.message = string(outer.Msg)
	}
	r.message = r.message[:min(len(r.message), maxReport)]
	return r
}

// errorKind returns the kind of the error; empty if it is not known.
func (r report) errorKind() model.ErrorKind {
	words := strings.ToLower(r.message)
	switch {
	case strings.Contains(words, "request too large"):
		return model.Overflow // even as a rate limit: this request alone is over it
	case r.code == "context_length_exceeded", r.kind == "exceed_context_size_error", wire.Overflows(r.message):
		return model.Overflow
	}
	for _, code := range []string{r.code, r.kind} {
		switch code {
		case "insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance":
			return model.Quota
		case "rate_limit_exceeded", "rate_limit_error", "rate_limit_reached_error":
			return model.RateLimit
		case "invalid_api_key", "authentication_error", "account_deactivated", "invalid_authentication_error":
			return model.Auth
		case "server_error", "engine_overloaded_error", "overloaded_error", "service_unavailable":
			return model.Overloaded
		}
	}
	return ""
}

// noModel reports whether the server does not know the model.
func (r report) noModel() bool {
	words := strings.ToLower(r.message)
	return r.code == "model_not_found" || strings.Contains(words, "not a valid model") ||
		strings.Contains(words, "model") && (strings.Contains(words, "not found") || strings.Contains(words, "does not exist"))
}

// classify returns the error for a response that is not 2xx, where its status alone does not
// decide.
func (c *client) classify(status int, body []byte, name string) *model.Error {
	r := read(body, 1)
	if kind := r.errorKind(); kind != "" && status < 500 || kind == model.Overflow {
		return &model.Error{Kind: kind}
	}
	if (status == 404 || status == 400) && r.noModel() {
		return &model.Error{Kind: model.Invalid, Message: fmt.Sprintf("%s does not have the model %q: check its name (it says: %s)", c.name, name, oneLine(r.message))}
	}
	return nil
}

// midstream returns the error that came after the answer had begun.
func (d *decoder) midstream(raw []byte) *model.Error {
	r := read(raw, 1)
	r.message = d.wire.Scrub(r.message) // before it is cut
	e := &model.Error{Kind: r.errorKind()}
	if status, err := strconv.Atoi(r.code); err == nil && status >= 400 && status < 600 {
		e.Status = status
		if e.Kind == "" {
			e.Kind = kindOfStatus(status)
		}
	}
	todo := "change what it complains about"
	switch e.Kind {
	case "":
		e.Kind = model.Broken
		todo = "send the request again"
	case model.RateLimit, model.Overloaded:
		todo = "try again later"
	case model.Overflow:
		todo = "make the conversation shorter"
	case model.Quota:
		todo = "add credit, or use another account"
	case model.Auth:
		todo = "check the key"
	}
	words := oneLine(r.message)
	if words == "" {
		words = "an error without words"
	}
	e.Message = fmt.Sprintf("%s ended its answer with an error (%s): %s", d.who, words, todo)
	return e
}

func kindOfStatus(status int) model.ErrorKind {
	switch {
	case status == 401 || status == 403:
		return model.Auth
	case status == 402:
		return model.Quota
	case status == 413:
		return model.Overflow
	case status == 429:
		return model.RateLimit
	case status >= 500 || status == 408:
		return model.Overloaded
	}
	return model.Invalid
}

// oneLine returns a text on one line, cut if it is long.
func oneLine(text string) string { return strings.TrimSuffix(wire.Plain(text), ".") }
