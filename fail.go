package helve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"helve/permission"
	"helve/tool"
)

// A panicked is a panic as an error. Its text is plain: the rest is for the
// log.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string {
	return fmt.Sprintf("the tool broke while it ran (%v): this is a fault of the tool and not of the call", p.value)
}

// refusal is the error of a hook: unless it says otherwise, the hook denied
// the call.
func refusal(err error) error {
	if _, ok := errors.AsType[*tool.Error](err); ok {
		return err
	}
	if _, ok := errors.AsType[*panicked](err); ok {
		return err
	}
	return &tool.Error{Kind: tool.Denied, Code: "refused", Err: err}
}

// asError gives err a kind and a code, as every error of a call has.
func asError(err error) *tool.Error {
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return e
	}
	e := &tool.Error{Kind: tool.Failed, Code: "failed", Err: err}
	switch {
	case errors.Is(err, permission.ErrDenied):
		e.Kind, e.Code = tool.Denied, "denied"
		if d, ok := errors.AsType[*permission.DeniedError](err); ok && d.Decision.Rule != nil {
			e.Hint = fmt.Sprintf("Decided by the rule %s of %s.", permission.Ruleset{*d.Decision.Rule}, d.Decision.Source)
		}
	case errors.Is(err, permission.ErrRejected):
		e.Kind, e.Code = tool.Rejected, "rejected"
	case errors.Is(err, permission.ErrUnattended):
		e.Kind, e.Code = tool.Unattended, "unattended"
	case errors.Is(err, context.DeadlineExceeded):
		e.Kind, e.Code = tool.Canceled, "timeout"
	case errors.Is(err, context.Canceled), errors.Is(err, permission.ErrClosed):
		e.Kind, e.Code = tool.Canceled, "canceled"
	default:
		if _, ok := errors.AsType[*panicked](err); ok {
			e.Kind, e.Code = tool.Internal, "panic"
		}
	}
	return e
}

// asJSON encodes v. Bytes are taken for JSON text, and text that is not JSON
// becomes a string, so that it can stand in a larger document.
func asJSON(v any) json.RawMessage {
	if raw, ok := v.([]byte); ok {
		if json.Valid(raw) {
			return raw
		}
		v = string(raw)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return b
}
