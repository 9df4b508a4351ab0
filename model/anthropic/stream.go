package anthropic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/model/internal/wire"
)

// maxReport limits how many bytes of an error's text are read.
const maxReport = 64 << 10

// The API's events, with only the fields that are read.
type (
	streamEvent struct {
		Type    string    `json:"type"`
		Index   int       `json:"index"`
		Message *response `json:"message"`
		Block   *piece    `json:"content_block"`
		Delta   struct {
			piece
			ending
			Partial string `json:"partial_json"`
		} `json:"delta"`
		Usage usage `json:"usage"`
	}
	response struct {
		ending
		Content wire.Few[piece] `json:"content"`
		Usage   usage           `json:"usage"`
	}
	ending struct {
		StopReason  string `json:"stop_reason"`
		StopDetails *struct {
			Explanation string `json:"explanation"`
		} `json:"stop_details"`
	}
	piece struct {
		Type      string          `json:"type"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		Data      string          `json:"data"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
	}
	usage struct {
		Input      int `json:"input_tokens"`
		Output     int `json:"output_tokens"`
		CacheRead  int `json:"cache_read_input_tokens"`
		CacheWrite int `json:"cache_creation_input_tokens"`
		Details    struct {
			Thinking int `json:"thinking_tokens"`
		} `json:"output_tokens_details"`
	}
	apiError struct {
		Error struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error"`
		RequestID string `json:"request_id"`
	}
)

// open is a block that has started and not ended.
type open struct {
	kind      string
	call      model.Call
	input     []byte
	signature []byte
}

// A decoder converts the API's events.
type decoder struct {
	names  names
	wire   *wire.Client // removes secrets from texts
	tally  wire.Tally
	blocks map[int]*open

	out    []model.Event // to be yielded
	said   bool          // something was received
	calls  bool          // a call was among it
	reason string        // the stop reason; empty until it is known
	detail string
	usage  model.Usage
	done   bool
}

// flush yields what is ready. It returns false if the consumer has stopped.
func (d *decoder) flush(yield func(model.Event, error) bool) bool {
	for _, e := range d.out {
		if !yield(e, nil) {
			return false
		}
	}
	d.out = d.out[:0]
	return true
}

func (d *decoder) emit(e model.Event) {
	d.said = true
	d.out = append(d.out, e)
}

// take handles an event and ignores unknown ones.
func (d *decoder) take(event wire.Event) error {
	if err := d.tally.Piece(); err != nil {
		return err
	}
	kind := event.Name
	if kind == "" || kind == "message" || kind == "json" {
		if string(bytes.TrimSpace(event.Data)) == "[DONE]" {
			return nil // some servers end the stream this way too
		}
		var head struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(event.Data, &head); err != nil {
			return d.senseless(err)
		}
		kind = head.Type
	}
	switch kind {
	case "message":
		return d.decodeWhole(event.Data)
	case "error":
		return d.streamError(event.Data)
	case "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta":
		var f streamEvent
		if err := json.Unmarshal(event.Data, &f); err != nil {
			return d.senseless(err)
		}
		f.Type = kind
		return d.frame(f)
	case "message_stop":
		return d.endAnswer()
	}
	return nil
}

func (d *decoder) frame(f streamEvent) error {
	switch f.Type {
	case "message_start":
		if f.Message != nil {
			d.count(f.Message.Usage)
		}
	case "content_block_start":
		if f.Block != nil {
			d.stop(f.Index)
			return d.start(f.Index, *f.Block)
		}
	case "content_block_delta":
		return d.delta(f.Index, f.Delta.piece, f.Delta.Partial)
	case "content_block_stop":
		d.stop(f.Index)
	case "message_delta":
		d.count(f.Usage)
		d.setEnding(f.Delta.ending)
	}
	return nil
}

// decodeWhole decodes an answer that came in one piece.
func (d *decoder) decodeWhole(data []byte) error {
	var a response
	if err := json.Unmarshal(data, &a); err != nil {
		return d.senseless(err)
	}
	for i, p := range a.Content {
		if err := d.start(i, p); err != nil {
			return err
		}
		d.stop(i)
	}
	d.count(a.Usage)
	d.setEnding(a.ending)
	return d.endAnswer()
}

func (d *decoder) start(index int, p piece) error {
	if err := d.tally.Block(p.Type, p.Text, p.Thinking, p.Signature, p.Data, p.ID, p.Name, string(p.Input)); err != nil {
		return err
	}
	b := &open{kind: p.Type, signature: []byte(p.Signature)}
	d.blocks[index] = b
	switch p.Type {
	case "text":
		d.addText(model.TextDelta, p.Text)
	case "thinking":
		d.addText(model.ReasoningDelta, p.Thinking)
	case "redacted_thinking":
		b.signature = []byte(p.Data)
	case "tool_use":
		if err := d.tally.Call(); err != nil {
			return err
		}
		b.call = model.Call{ID: p.ID, Name: d.names.tools.back(p.Name), Input: p.Input}
		d.emit(model.Event{Kind: model.CallStart, Call: &model.Call{ID: b.call.ID, Name: b.call.Name}})
	}
	return nil
}

func (d *decoder) addText(kind model.EventKind, text string) {
	if text != "" {
		d.emit(model.Event{Kind: kind, Text: text})
	}
}

func (d *decoder) delta(index int, p piece, input string) error {
	if err := d.tally.Piece(p.Text, p.Thinking, p.Signature, input); err != nil {
		return err
	}
	b := d.blocks[index]
	if b == nil {
		b = &open{kind: "text"} // its start was missing
	}
	switch {
	case p.Type == "text_delta" && b.kind == "text":
		d.addText(model.TextDelta, p.Text)
	case p.Type == "thinking_delta" && b.kind == "thinking":
		d.addText(model.ReasoningDelta, p.Thinking)
	case p.Type == "signature_delta" && b.kind == "thinking":
		b.signature = append(b.signature, p.Signature...)
	case p.Type == "input_json_delta":
		b.input = append(b.input, input...)
	}
	return nil
}

func (d *decoder) stop(index int) {
	b := d.blocks[index]
	if b == nil {
		return
	}
	delete(d.blocks, index)
	seal := ""
	switch b.kind {
	case "thinking":
		if len(b.signature) > 0 {
			seal = sealSignature + string(b.signature)
		}
		d.emit(model.Event{Kind: model.ReasoningEnd, Seal: seal})
	case "redacted_thinking":
		d.emit(model.Event{Kind: model.ReasoningEnd, Seal: sealRedacted + string(b.signature)})
	case "tool_use":
		if len(bytes.TrimSpace(b.input)) > 0 {
			b.call.Input = b.input
		} else if len(b.call.Input) == 0 || string(b.call.Input) == "null" {
			b.call.Input = json.RawMessage("{}")
		}
		d.calls = true
		d.emit(model.Event{Kind: model.CallEnd, Call: &b.call})
	}
}

// count adds usage figures, which only grow.
func (d *decoder) count(u usage) {
	d.usage = model.Usage{
		Input: max(d.usage.Input, u.Input), Output: max(d.usage.Output, u.Output), Reasoning: max(d.usage.Reasoning, u.Details.Thinking),
		CacheRead: max(d.usage.CacheRead, u.CacheRead), CacheWrite: max(d.usage.CacheWrite, u.CacheWrite),
	}
}

func (d *decoder) setEnding(e ending) {
	if e.StopReason == "" {
		return
	}
	d.reason, d.detail = e.StopReason, e.StopReason
	if e.StopDetails != nil && e.StopDetails.Explanation != "" {
		d.detail += ": " + e.StopDetails.Explanation
	}
}

// endAnswer ends a complete answer.
func (d *decoder) endAnswer() error {
	for _, index := range slices.Sorted(maps.Keys(d.blocks)) {
		d.stop(index)
	}
	reason := model.Other
	switch d.reason {
	case "end_turn", "stop_sequence", "":
		reason = model.Stopped
		if d.calls {
			reason = model.Calls
		}
	case "tool_use":
		reason = model.Calls
	case "max_tokens":
		reason = model.Length
	case "model_context_window_exceeded":
		if !d.said {
			return &model.Error{Kind: model.Overflow, Message: "the conversation fills all that the model can read: make it shorter"}
		}
		reason = model.Length
	case "refusal":
		reason = model.Refused
	}
	d.emit(model.Event{Kind: model.Done, Reason: reason, Detail: d.wire.Brief(d.detail), Usage: d.usage})
	d.done = true
	return nil
}

// end handles the end of the stream, where the answer may be incomplete.
func (d *decoder) end() error {
	if d.reason != "" {
		return d.endAnswer()
	}
	return &model.Error{Kind: model.Broken, Message: "the answer of Anthropic ended before the model had finished: send the request again"}
}

func (d *decoder) senseless(err error) error {
	if errors.Is(err, wire.ErrTooMany) {
		return d.tally.TooMuch(fmt.Sprintf("a piece that is too large (%v)", err))
	}
	return &model.Error{Kind: model.Broken, Err: err,
		Message: fmt.Sprintf("Anthropic has sent what can not be read (%s): send the request again", d.wire.Brief(err.Error()))}
}

// streamError returns the error that came after the answer had begun.
func (d *decoder) streamError(data []byte) error {
	var f apiError
	if json.Unmarshal(data, &f) != nil {
		f.Error.Message = string(data)
	}
	f.Error.Message = f.Error.Message[:min(len(f.Error.Message), maxReport)]
	kind, todo := errorKind(f.Error.Type, f.Error.Message)
	words := wire.Plain(d.wire.Scrub(f.Error.Message)) // in this order, so that no part of a key stays
	if words == "" {
		words = "without a word"
	}
	return &model.Error{Kind: kind, RequestID: f.RequestID,
		Message: fmt.Sprintf("Anthropic broke off its answer with an error of type %q (%s): %s", d.wire.Brief(f.Error.Type), strings.TrimSuffix(words, "."), todo)}
}

// errorKind returns the kind of an error by its type, and what to do about it.
func errorKind(kind, words string) (model.ErrorKind, string) {
	if kind != "rate_limit_error" && wire.Overflows(words) {
		return model.Overflow, "make the conversation shorter"
	}
	switch kind {
	case "overloaded_error", "api_error", "timeout_error":
		return model.Overloaded, "try again later"
	case "rate_limit_error":
		return model.RateLimit, "try again later"
	case "authentication_error", "permission_error":
		return model.Auth, "check the key, and what it may be used for"
	case "billing_error":
		return model.Quota, "add credit, or use another account"
	case "request_too_large":
		return model.Overflow, "make the conversation shorter"
	case "invalid_request_error", "not_found_error":
		return model.Invalid, "change what it complains about"
	}
	return model.Broken, "send the request again"
}
