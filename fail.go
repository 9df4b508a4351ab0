package helve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// A toolPanic is a panic as an error. Its text is short; the stack goes to the log.
type toolPanic struct {
	value any
	stack []byte
}

func (p *toolPanic) Error() string {
	return fmt.Sprintf("the tool broke while it ran (%v): this is a fault of the tool and not of the call", p.value)
}

// refusal converts the error of a hook: unless it says otherwise, the hook denied the call.
func refusal(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	if _, ok := errors.AsType[*tool.Error](err); ok {
		return err
	}
	if _, ok := errors.AsType[*toolPanic](err); ok {
		return err
	}
	return &tool.Error{Kind: tool.Denied, Code: "refused", Err: err}
}

// asError gives err a kind and a code, as every error of a call has. It returns a copy, because a
// tool may keep the error it returned.
func asError(err error) *tool.Error {
	if known, ok := errors.AsType[*tool.Error](err); ok {
		e := tool.Error{}
		if known != nil {
			e = *known
		}
		e.Err = err // keep what wraps it
		if e.Kind == "" {
			e.Kind = tool.Failed
		}
		if e.Code == "" {
			e.Code = string(e.Kind)
		}
		return &e
	}
	e := &tool.Error{Kind: tool.Failed, Code: "failed", Err: err}
	switch {
	case errors.Is(err, permission.ErrDenied):
		e.Kind, e.Code = tool.Denied, "denied"
		if d, ok := errors.AsType[*permission.DeniedError](err); ok && d.Decision.Rule != nil {
			e.Hint = d.By()
			if d.Decision.Permission == "external_directory" {
				e.Code = "external" // it lies outside, which is more than a rule about the file
			}
		}
	case errors.Is(err, permission.ErrRejected):
		e.Kind, e.Code = tool.Rejected, "rejected"
	case errors.Is(err, permission.ErrUnattended):
		e.Kind, e.Code = tool.Unattended, "unattended"
		if _, ok := errors.AsType[*permission.ExpiredError](err); ok {
			e.Code = "expired"
		}
	case errors.Is(err, permission.ErrClosed):
		e.Kind, e.Code = tool.Canceled, "closed"
	case errors.Is(err, context.DeadlineExceeded): // the tool's own: see canceled for the caller's
		e.Code = "timeout"
	default:
		if _, ok := errors.AsType[*toolPanic](err); ok {
			e.Kind, e.Code = tool.Internal, "panic"
		}
	}
	return e
}

// canceled makes e the error of a cancelled call, if ctx says that the call was cancelled.
func canceled(ctx context.Context, e *tool.Error) {
	why := ctx.Err()
	if why == nil || e.Kind != tool.Failed {
		return
	}
	if !errors.Is(e.Err, why) && !errors.Is(e.Err, context.Cause(ctx)) {
		return
	}
	e.Kind, e.Code = tool.Canceled, "canceled"
	e.Err = &canceledCall{cause: e.Err}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, permission.ErrClosed):
		e.Code, e.Err = "closed", &canceledCall{why: ": " + cause.Error(), cause: e.Err}
	case errors.Is(why, context.DeadlineExceeded):
		e.Code, e.Err = "timeout", &canceledCall{why: ": it took longer than it was given", cause: e.Err}
	case cause != why:
		e.Err = &canceledCall{why: ": " + cause.Error(), cause: e.Err}
	}
}

// A canceledCall is the error of a cancelled call, in OpenCode's words.
type canceledCall struct {
	why   string
	cause error
}

func (a *canceledCall) Error() string { return "Tool execution aborted" + a.why }
func (a *canceledCall) Unwrap() error { return a.cause }

// safeError returns err if its text can be made without a panic and is not longer than most, and
// else a safe replacement.
func safeError(err error, most int) error {
	var words string
	if _, broke := guard(func() (*tool.Result, error) { words = err.Error(); return nil, nil }); broke != nil {
		return broke
	}
	if short, cut := text.Cut(words, most); cut {
		return &longError{words: fmt.Sprintf("%s… (%d bytes in all)", short, len(words)), err: err}
	}
	return err
}

// A longError is an error whose text was too long.
type longError struct {
	words string
	err   error
}

func (c *longError) Error() string { return c.words }
func (c *longError) Unwrap() error { return c.err }

// asJSON encodes v so that it can be part of a larger document. Bytes count as JSON text: no bytes
// become an empty object, and text that is not JSON becomes a string.
func asJSON(v any) json.RawMessage {
	if raw, ok := v.([]byte); ok {
		if len(bytes.TrimSpace(raw)) == 0 {
			return json.RawMessage("{}")
		}
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

// plainCopy copies a map that holds only plain values, as most do, with numbers as in JSON. ok is
// false for any other map.
func plainCopy(m map[string]any) (out map[string]any, size int, ok bool) {
	out = make(map[string]any, len(m))
	for key, v := range m {
		size += len(key) + 16
		switch v := v.(type) {
		case string:
			size += len(v)
			out[key] = v
		case nil, bool:
			out[key] = v
		case float64:
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, 0, false // these do not encode
			}
			out[key] = v
		case int:
			out[key] = float64(v)
		case int64:
			out[key] = float64(v)
		default:
			return nil, 0, false
		}
	}
	return out, size, true
}

// copied returns a copy of m by way of JSON, which the owner of m cannot change, and its size in
// bytes. If a value does not encode, it returns an error and no copy.
func copied(m map[string]any) (out map[string]any, size int, err error) {
	if out, size, ok := plainCopy(m); ok {
		return out, size, nil
	}
	_, err = guard(func() (*tool.Result, error) {
		raw, err := json.Marshal(m)
		if err != nil {
			return nil, err
		}
		size = len(raw)
		return nil, json.Unmarshal(raw, &out)
	})
	return out, size, err
}
