package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/model/internal/wire"
)

// A decoder converts the chunks of an answer to events.
type decoder struct {
	names names
	ids   map[string]bool // of calls in the conversation and in this answer
	who   string          // the provider, for messages
	wire  *wire.Client    // removes secrets from texts
	tally wire.Tally

	thinking bool // the last event was reasoning
	refused  bool
	calls    []*callBuilder
	byIndex  map[int]*callBuilder // the last one with that index
	byID     map[string]*callBuilder
	finish   string // the server's reason for the end
	over     bool   // nothing more will come
	usage    model.Usage
}

func newDecoder(req model.Request, n names, w *wire.Client, who string) *decoder {
	return &decoder{
		names: n, ids: idsOf(req), who: who, wire: w, tally: wire.Tally{Who: who},
		byIndex: map[int]*callBuilder{}, byID: map[string]*callBuilder{},
	}
}

// take handles one event of the stream.
func (d *decoder) take(e wire.Event) ([]model.Event, error) {
	if err := d.tally.Piece(); err != nil {
		return nil, err
	}
	data := bytes.TrimSpace(e.Data)
	if string(data) == "[DONE]" {
		d.over = true
		return nil, nil
	}
	if len(data) == 0 || e.Name == "ping" {
		return nil, nil
	}
	c, err := d.parse(e.Name, data)
	if err != nil {
		return nil, err
	}
	d.count(c)
	d.over = e.Name == "json"
	var out []model.Event
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue // only one choice was requested
		}
		said := choice.Delta
		if said == nil {
			said = choice.Message
		}
		if said != nil {
			more, err := d.readDelta(said)
			out = append(out, more...)
			if err != nil {
				return out, err
			}
		}
		if choice.Finish != "" {
			d.finish = string(choice.Finish)
		}
	}
	return out, nil
}

// parse decodes a chunk of an answer.
func (d *decoder) parse(name string, data []byte) (*chunk, error) {
	var list wire.Few[json.RawMessage] // some servers wrap an error in an array
	if data[0] == '[' && json.Unmarshal(data, &list) == nil && len(list) > 0 {
		data = list[0]
	}
	c := &chunk{}
	switch err := json.Unmarshal(data, c); {
	case errors.Is(err, wire.ErrTooMany):
		return nil, d.tally.TooMuch(fmt.Sprintf("a piece that is too large (%v)", err))
	case err != nil && name != "error":
		return nil, &model.Error{Kind: model.Broken, Err: err,
			Message: fmt.Sprintf("%s has sent a piece of an answer that can not be read (%s): send the request again", d.who, d.wire.Brief(err.Error()))}
	}
	if err := d.failure(name, data, c); err != nil {
		return nil, err
	}
	if name == "json" && len(c.Choices) == 0 {
		return nil, &model.Error{Kind: model.Invalid,
			Message: fmt.Sprintf("%s has sent JSON that is not an answer of a model: check the base URL", d.who)}
	}
	return c, nil
}

// failure returns the error that a server sends in the middle of an answer.
func (d *decoder) failure(name string, data []byte, c *chunk) error {
	report := c.Error
	for _, choice := range c.Choices {
		if !present(report) {
			report = choice.Error
		}
	}
	if !present(report) && (name == "error" || c.Object == "error" || c.Choices == nil && (c.Message != "" || present(c.Detail))) {
		report = data
	}
	if !present(report) {
		return nil
	}
	return d.midstream(report)
}

func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

func (d *decoder) count(c *chunk) {
	u := c.Usage
	if u == nil && c.Groq != nil {
		u = c.Groq.Usage
	}
	for _, choice := range c.Choices {
		if u == nil {
			u = choice.Usage
		}
	}
	if u == nil {
		return
	}
	cached := max(u.PromptIs.Cached, u.CacheHit, u.Cached)
	// Some servers do not count reasoning as part of the completion.
	output := max(u.Completion, u.Total-u.Prompt)
	d.usage = model.Usage{
		Input:     tokens(u.Prompt - cached - u.PromptIs.Written),
		Output:    tokens(output),
		Reasoning: tokens(u.CompletionIs.Reasoning), CacheRead: tokens(cached), CacheWrite: tokens(u.PromptIs.Written),
	}
}

func tokens(n float64) int { return int(max(0, min(n, 1<<40))) }

// readDelta handles what a choice adds to the answer.
func (d *decoder) readDelta(said *delta) (out []model.Event, err error) {
	thought := said.Content.thought
	switch {
	case said.Thought != "":
		thought += string(said.Thought)
	case said.Reasoning != "":
		thought += string(said.Reasoning)
	}
	if err := d.tally.Piece(thought, said.Content.text, string(said.Refusal)); err != nil {
		return nil, err
	}
	if thought != "" {
		d.thinking = true
		out = append(out, model.Event{Kind: model.ReasoningDelta, Text: thought})
	}
	if said.Refusal != "" {
		d.refused = true
	}
	for _, text := range []string{said.Content.text, string(said.Refusal)} {
		if text != "" {
			out = append(out, d.thought()...)
			out = append(out, model.Event{Kind: model.TextDelta, Text: text})
		}
	}
	deltas := said.Calls
	if said.Function != nil {
		first := 0
		deltas = append(deltas, callDelta{Index: &first, Function: *said.Function})
	}
	for _, piece := range deltas {
		out = append(out, d.thought()...)
		more, err := d.piece(piece)
		if out = append(out, more...); err != nil {
			return out, err
		}
	}
	return out, nil
}

// thought ends the current reasoning, if there is any.
func (d *decoder) thought() []model.Event {
	if !d.thinking {
		return nil
	}
	d.thinking = false
	return []model.Event{{Kind: model.ReasoningEnd}}
}

// piece adds a piece of a call.
func (d *decoder) piece(p callDelta) (out []model.Event, err error) {
	if err := d.tally.Piece(string(p.ID), string(p.Function.Name), string(p.Function.Arguments), string(p.Extra)); err != nil {
		return nil, err
	}
	c := d.find(p)
	if c == nil {
		if err := d.tally.Call(); err != nil {
			return nil, err
		}
		c = &callBuilder{index: -1, given: string(p.ID), id: d.newID(string(p.ID))}
		if p.Index != nil {
			c.index = *p.Index
		}
		d.calls = append(d.calls, c)
		d.byIndex[c.index], d.byID[c.given] = c, c
	}
	if c.name == "" && p.Function.Name != "" {
		c.name = d.names.original(string(p.Function.Name))
		out = append(out, model.Event{Kind: model.CallStart, Call: &model.Call{ID: c.id, Name: c.name}})
	}
	if present(p.Extra) {
		c.seal = string(p.Extra)
	}
	c.write(string(p.Function.Arguments))
	return out, nil
}

// find returns the call that a piece continues; nil if the piece begins one.
func (d *decoder) find(p callDelta) *callBuilder {
	var c *callBuilder
	switch {
	case p.Index != nil:
		c = d.byIndex[*p.Index]
	case p.ID != "":
		c = d.byID[string(p.ID)]
	case len(d.calls) > 0:
		c = d.calls[len(d.calls)-1]
	}
	if c != nil && d.startsCall(p, c) {
		return nil
	}
	return c
}

// startsCall reports whether a piece that seems to belong to a call begins another. Servers that
// send complete calls may give them all the same index, or none; others repeat the name in each
// piece.
func (d *decoder) startsCall(p callDelta, c *callBuilder) bool {
	switch {
	case p.Function.Name == "" || c.name == "":
		return false
	case p.ID != "":
		return c.given != "" && string(p.ID) != c.given
	case c.name != d.names.original(string(p.Function.Name)):
		return true
	case c.arguments.Len() == 0:
		return p.Index == nil
	}
	return p.Function.Arguments != "" && c.argumentsComplete()
}

// newID returns the id of a call: the server's, unless that is missing or already used.
func (d *decoder) newID(given string) string {
	id := given
	for n := len(d.ids) + 1; id == "" || d.ids[id]; n++ {
		id = "call_" + strconv.Itoa(n)
	}
	d.ids[id] = true
	return id
}

// end returns the last events of the answer.
func (d *decoder) end() ([]model.Event, error) {
	switch {
	case d.finish == "" && !d.over || d.finish == "error":
		return nil, &model.Error{Kind: model.Broken, Message: fmt.Sprintf("the answer of %s broke off: send the request again", d.who)}
	case d.finish == "insufficient_system_resource":
		return nil, &model.Error{Kind: model.Overloaded, Message: fmt.Sprintf("%s has no capacity left for the answer: try again later", d.who)}
	}
	out := d.thought()
	done := model.Event{Kind: model.Done, Usage: d.usage}
	done.Reason, done.Detail = d.reason()
	done.Detail = d.wire.Brief(done.Detail)
	for _, c := range d.calls {
		if done.Reason == model.Length && !c.valid() {
			continue // the rest of it was not said
		}
		if c.name == "" { // the runtime tells the model that there is no such tool
			out = append(out, model.Event{Kind: model.CallStart, Call: &model.Call{ID: c.id}})
		}
		input := c.arguments.String()
		if strings.TrimSpace(input) == "" {
			input = "{}"
		}
		out = append(out, model.Event{Kind: model.CallEnd, Call: &model.Call{ID: c.id, Name: c.name, Input: json.RawMessage(input), Seal: c.seal}})
	}
	return append(out, done), nil
}

func (d *decoder) reason() (model.Reason, string) {
	switch d.finish {
	case "length", "max_tokens", "model_length":
		return model.Length, ""
	case "content_filter", "safety", "refusal":
		return model.Refused, d.finish
	}
	switch {
	case d.refused:
		return model.Refused, "refusal"
	case len(d.calls) > 0:
		return model.Calls, ""
	}
	switch d.finish {
	case "", "stop", "eos", "end_turn", "tool_calls", "function_call":
		return model.Stopped, ""
	}
	return model.Other, d.finish
}
