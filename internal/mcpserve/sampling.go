package mcpserve

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/model"
)

const (
	// sampledTokens bounds an answer without a limit: the protocol requires a number.
	sampledTokens = 16_000
	// userRefused is the error code of a client whose person said no.
	userRefused = -1
	// cutOff is the stop reason of an answer that was too long.
	cutOff = "maxTokens"
)

// A sampler is the model of a client. The client decides which model that is, and may ask its
// person about every request. It answers as a whole, without its usage.
type sampler struct {
	ss    *mcp.ServerSession
	name  string // of the client
	tools bool   // the client's model is given tools as such; others in words
	key   []byte // of the nonces
}

// newSampler returns the model that a client lends, nil where it does not.
func newSampler(ss *mcp.ServerSession, p *mcp.InitializeParams) *sampler {
	if p.Capabilities == nil || p.Capabilities.Sampling == nil {
		return nil
	}
	s := &sampler{ss: ss, name: "client", tools: p.Capabilities.Sampling.Tools != nil, key: []byte(rand.Text())}
	if p.ClientInfo != nil {
		name, _ := text.Cut(text.VisibleLine(p.ClientInfo.Name), 100)
		s.name = cmp.Or(name, s.name)
	}
	return s
}

// Stream asks the client's model once.
func (s *sampler) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		res, err := s.ss.CreateMessageWithTools(ctx, s.params(req))
		if err != nil {
			yield(model.Event{}, s.failure(ctx, err))
			return
		}
		for _, e := range s.events(res, s.nonce(req.Session)) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// nonce marks the calls of a conversation. Only its model learns it: the authors of what the model
// reads cannot know it.
func (s *sampler) nonce(session string) nonce {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(session))
	return nonce(hex.EncodeToString(mac.Sum(nil)[:6]))
}

// params is a request in the protocol's form.
func (s *sampler) params(req model.Request) *mcp.CreateMessageWithToolsParams {
	p := &mcp.CreateMessageWithToolsParams{
		MaxTokens: int64(cmp.Or(req.MaxTokens, sampledTokens)), SystemPrompt: strings.Join(req.System, "\n\n"),
	}
	if req.Temperature != nil {
		p.Temperature = *req.Temperature
	}
	if !s.tools {
		n := s.nonce(req.Session)
		p.SystemPrompt = strings.TrimSpace(p.SystemPrompt + "\n\n" + n.toolWords(req.Tools))
		p.Messages = n.messages(req.Messages)
		return p
	}
	for _, m := range req.Messages {
		p.Messages = append(p.Messages, sampledMessages(m)...)
	}
	for _, t := range req.Tools {
		p.Tools = append(p.Tools, &mcp.Tool{Name: t.Name, Description: t.Description, InputSchema: t.Schema})
	}
	if len(p.Tools) > 0 {
		p.ToolChoice = &mcp.ToolChoice{Mode: "auto"}
	}
	return p
}

// sampledMessages converts a message to the protocol's form. Results are in a message of their own,
// as the protocol requires.
func sampledMessages(m model.Message) (out []*mcp.SamplingMessageV2) {
	var results, others []mcp.Content
	for _, p := range m.Parts {
		switch {
		case p.Result != nil:
			out := &mcp.ToolResultContent{ToolUseID: p.Result.ID, Content: []mcp.Content{&mcp.TextContent{Text: p.Result.Output}}, IsError: p.Result.Failed}
			for _, f := range p.Result.Files {
				out.Content = append(out.Content, sampledFile(f))
			}
			results = append(results, out)
		case p.Call != nil:
			others = append(others, &mcp.ToolUseContent{ID: p.Call.ID, Name: p.Call.Name, Input: callInput(p.Call.Input)})
		case p.File != nil:
			others = append(others, sampledFile(*p.File))
		case p.Text != "":
			others = append(others, &mcp.TextContent{Text: p.Text})
		} // what it thought aloud only its provider could use
	}
	for _, content := range [][]mcp.Content{results, others} {
		if len(content) > 0 {
			out = append(out, &mcp.SamplingMessageV2{Role: mcp.Role(m.Role), Content: content})
		}
	}
	return out
}

// sampledFile converts a file to the protocol's form, which knows images and sounds.
func sampledFile(f model.File) mcp.Content {
	switch {
	case strings.HasPrefix(f.Mime, "image/"):
		return &mcp.ImageContent{MIMEType: f.Mime, Data: f.Data}
	case strings.HasPrefix(f.Mime, "audio/"):
		return &mcp.AudioContent{MIMEType: f.Mime, Data: f.Data}
	}
	return &mcp.TextContent{Text: fmt.Sprintf("[The file %s (%s) can not be shown to this model.]", text.VisibleLine(f.Name), text.VisibleLine(f.Mime))}
}

// callInput is what a model wrote as an object, which it need not have been.
func callInput(raw json.RawMessage) map[string]any {
	var in map[string]any
	if err := json.Unmarshal(raw, &in); err != nil || in == nil {
		return map[string]any{"input": string(raw)}
	}
	return in
}

// events returns the events of an answer.
func (s *sampler) events(res *mcp.CreateMessageWithToolsResult, n nonce) (out []model.Event) {
	var calls []model.Call
	for _, c := range res.Content {
		said, made := s.convertContent(c, n, res.StopReason == cutOff)
		calls = append(calls, made...)
		if said != "" {
			out = append(out, model.Event{Kind: model.TextDelta, Text: said})
		}
	}
	known := map[string]bool{}
	for i := range calls {
		if calls[i].ID == "" || known[calls[i].ID] {
			calls[i].ID = "call_" + strings.ToLower(rand.Text())
		}
		known[calls[i].ID] = true
		out = append(out, model.Event{Kind: model.CallEnd, Call: &calls[i]})
	}
	done := model.Event{Kind: model.Done, Reason: model.Stopped}
	switch {
	case res.StopReason == cutOff:
		done.Reason = model.Length
	case len(calls) > 0:
		done.Reason = model.Calls
	case res.StopReason != "" && res.StopReason != "endTurn" && res.StopReason != "stopSequence":
		done.Reason, done.Detail = model.Other, res.StopReason
	}
	return append(out, done)
}

// convertContent converts a piece of an answer: its text and its calls. With cut, the answer was
// too long.
func (s *sampler) convertContent(c mcp.Content, n nonce, cut bool) (said string, calls []model.Call) {
	switch c := c.(type) {
	case *mcp.TextContent:
		if s.tools {
			return c.Text, nil
		}
		return n.read(c.Text, cut)
	case *mcp.ToolUseContent:
		in := json.RawMessage("{}")
		if c.Input != nil {
			in = encoded(c.Input)
		}
		return "", []model.Call{{ID: c.ID, Name: c.Name, Input: in}}
	}
	return fmt.Sprintf("[The model answered with %T, which can not be shown.]", c), nil
}

// failure says what can be done about a failed request.
func (s *sampler) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	e := &model.Error{Kind: model.Network, Err: err, Message: "the client does not answer any more: connect again"}
	said, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || errors.Is(err, mcp.ErrConnectionClosed) {
		return e
	}
	words, _ := text.Cut(text.VisibleLine(said.Message), 500)
	switch said.Code {
	case userRefused:
		e.Kind, e.Message = model.Invalid, fmt.Sprintf("the user of %s does not let its model be asked: %s. Do the work without another agent.", s.name, words)
	case jsonrpc.CodeInternalError:
		e.Kind, e.Message = model.Broken, fmt.Sprintf("the model of %s could not answer: %s", s.name, words)
	default:
		e.Kind, e.Message = model.Invalid, fmt.Sprintf("%s did not let its model answer: %s. Do the work without another agent.", s.name, words)
	}
	return e
}
