package mcpserve

//lint:file-ignore SA1019 sampling is part of the versions that are spoken here

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"helve/model"
)

// Fences of what is said in words to a model that is given no tools as such.
const (
	callFence   = "tool_call"
	resultFence = "tool_result"
	brokenCall  = "unreadable_call" // the name of what was meant to be a call
)

// toolWords tells a model in words which tools there are and how they are
// called; "" where there are none.
func toolWords(tools []model.Tool) string {
	if len(tools) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("# Calling tools\n\n" +
		"You can call the tools below. A call is a fenced block that holds one JSON object and nothing else:\n\n" +
		"```" + callFence + "\n{\"name\": \"the name of a tool\", \"input\": {\"its\": \"arguments\"}}\n```\n\n" +
		"Write one block for each call; calls of one answer are made together. End your answer after the last block: " +
		"the results come in the next message, in blocks marked " + resultFence + ". Never write such a block yourself. " +
		"An answer without a call is your last one.\n")
	for _, t := range tools {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\nIts input, as JSON Schema: %s\n", t.Name, strings.TrimSpace(t.Description), oneLine(t.Schema))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func oneLine(schema json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, schema) != nil {
		return `{"type":"object"}`
	}
	return b.String()
}

// wordMessages are messages in words, each with one content: that is all that
// an older client takes.
func wordMessages(messages []model.Message) (out []*mcp.SamplingMessageV2) {
	say := func(role model.Role, c mcp.Content) {
		if last := len(out) - 1; last >= 0 && out[last].Role == mcp.Role(role) {
			before, ok := out[last].Content[0].(*mcp.TextContent)
			now, same := c.(*mcp.TextContent)
			if ok && same {
				before.Text += "\n\n" + now.Text
				return
			}
		}
		out = append(out, &mcp.SamplingMessageV2{Role: mcp.Role(role), Content: []mcp.Content{c}})
	}
	for _, m := range messages {
		for _, p := range m.Parts {
			switch {
			case p.Result != nil:
				say(m.Role, &mcp.TextContent{Text: wordResult(p.Result)})
				for _, f := range p.Result.Files {
					say(m.Role, sampledFile(f))
				}
			case p.Call != nil:
				say(m.Role, &mcp.TextContent{Text: wordCall(p.Call)})
			case p.File != nil:
				say(m.Role, sampledFile(*p.File))
			case p.Text != "":
				say(m.Role, &mcp.TextContent{Text: p.Text})
			}
		}
	}
	return out
}

func wordResult(r *model.Result) string {
	end := "ok"
	if r.Failed {
		end = "failed"
	}
	return fenced(resultFence+" "+r.Name+" "+end, r.Output)
}

// wordCall is a call as the model wrote it, or would have.
func wordCall(c *model.Call) string {
	if c.Name == brokenCall { // it was no call, and is shown as it was
		return fenced(callFence, string(c.Input))
	}
	said := wordedCall{c.Name, c.Input}
	if !json.Valid(c.Input) {
		said.Input = encoded(string(c.Input))
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // the model reads it, no browser does
	if err := enc.Encode(said); err != nil {
		return fenced(callFence, c.Name)
	}
	return fenced(callFence, b.String())
}

// A wordedCall is what stands in the block of a call.
type wordedCall struct {
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// fenced puts a text between fences that do not occur in it, so that nothing in
// it can pass for their end.
func fenced(mark, said string) string {
	longest, run := 2, 0
	for _, r := range said {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	return fence + mark + "\n" + strings.TrimSuffix(said, "\n") + "\n" + fence
}

// readWords takes the calls out of what a model said. A block that is no good
// call becomes a call of a tool that there is not, so that the model is told.
// Blocks within other blocks are examples, and what follows a result that the
// model has made up is made up too. With cut, a block without an end is not
// looked at.
func readWords(said string, cut bool) (rest string, calls []model.Call) {
	var b strings.Builder
	lines := strings.SplitAfter(said, "\n")
	for i := 0; i < len(lines); i++ {
		n, mark := opening(lines[i])
		if n == 0 {
			b.WriteString(lines[i])
			continue
		}
		if word, _, _ := strings.Cut(mark, " "); word == resultFence {
			break
		}
		end := i + 1
		for end < len(lines) && !closes(lines[end], n) {
			end++
		}
		body, closed := strings.Join(lines[i+1:end], ""), end < len(lines)
		switch {
		case mark != callFence:
			b.WriteString(strings.Join(lines[i:min(end+1, len(lines))], ""))
		case closed || !cut:
			calls = append(calls, readCall(body))
		}
		i = end
	}
	return strings.TrimSpace(b.String()), calls
}

// opening reads the line that opens a block: how long its fence is, 0 where it
// is none, and how it is marked.
func opening(line string) (n int, mark string) {
	line = strings.TrimSpace(line)
	after := strings.TrimLeft(line, "`")
	n, mark = len(line)-len(after), strings.TrimSpace(after)
	if n < 3 || strings.Contains(mark, "`") {
		return 0, ""
	}
	return n, mark
}

// closes reports whether a line closes a block with a fence of n.
func closes(line string, n int) bool {
	line = strings.TrimSpace(line)
	return len(line) >= n && strings.Trim(line, "`") == ""
}

// readCall reads the body of a block.
func readCall(body string) model.Call {
	broken := model.Call{Name: brokenCall, Input: json.RawMessage(body)}
	var c wordedCall
	dec := json.NewDecoder(strings.NewReader(body))
	dec.DisallowUnknownFields()
	if dec.Decode(&c) != nil || c.Name == "" {
		return broken
	}
	if _, err := dec.Token(); err != io.EOF {
		return broken
	}
	if c.Input == nil {
		c.Input = json.RawMessage("{}")
	}
	return model.Call{Name: c.Name, Input: c.Input}
}
