package mcpserve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/model"
)

// The fences around calls and results in the text of a model that gets no tools through the
// protocol.
const (
	callFence   = "tool_call"
	resultFence = "tool_result"
	brokenCall  = "unreadable_call" // the name of what was meant to be a call
)

// A nonce is part of the fences of a conversation, so that a model that repeats what it has read,
// in a file for example, makes no call.
type nonce string

func (n nonce) callFence() string { return callFence + "-" + string(n) }

// toolWords describes the tools, and how to call them, to a model; "" if there are none.
func (n nonce) toolWords(tools []model.Tool) string {
	if len(tools) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("# Calling tools\n\n" +
		"You can call the tools below. A call is a fenced block that holds one JSON object and nothing else:\n\n" +
		"```" + n.callFence() + "\n{\"name\": \"the name of a tool\", \"input\": {\"its\": \"arguments\"}}\n```\n\n" +
		"The fence has to be marked exactly so, and may not be indented: a block with another mark is no call. " +
		"The mark belongs to this conversation; never write it anywhere else.\n\n" +
		"Write one block for each call; calls of one answer are made together. End your answer after the last block: " +
		"the results come in the next message, in blocks marked " + resultFence + "-" + string(n) + ". Never write such a block yourself. " +
		"An answer without a call is your last one.\n")
	for _, t := range tools {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\nIts input, as JSON Schema: %s\n", markName(t.Name), strings.TrimSpace(t.Description), compactJSON(t.Schema))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func compactJSON(schema json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, schema) != nil {
		return `{"type":"object"}`
	}
	return b.String()
}

// markName returns the name of a tool as it can appear in a fence.
func markName(name string) string { return strings.ReplaceAll(text.VisibleLine(name), "`", "'") }

// messages converts messages to text, each with one content, which is all that an older client
// accepts.
func (n nonce) messages(messages []model.Message) (out []*mcp.SamplingMessageV2) {
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
				say(m.Role, &mcp.TextContent{Text: n.result(p.Result)})
				for _, f := range p.Result.Files {
					say(m.Role, sampledFile(f))
				}
			case p.Call != nil:
				say(m.Role, &mcp.TextContent{Text: n.formatCall(p.Call)})
			case p.File != nil:
				say(m.Role, sampledFile(*p.File))
			case p.Text != "":
				say(m.Role, &mcp.TextContent{Text: p.Text})
			}
		}
	}
	return out
}

func (n nonce) result(r *model.Result) string {
	end := "ok"
	if r.Failed {
		end = "failed"
	}
	return fenced(resultFence+"-"+string(n)+" "+markName(r.Name)+" "+end, r.Output)
}

// formatCall is a call as the model wrote it, or would have.
func (n nonce) formatCall(c *model.Call) string {
	if c.Name == brokenCall { // it was no call, and is shown as it was
		return fenced(n.callFence(), string(c.Input))
	}
	said := wordedCall{c.Name, c.Input}
	if !json.Valid(c.Input) {
		said.Input = encoded(string(c.Input))
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // the model reads it, no browser does
	if err := enc.Encode(said); err != nil {
		return fenced(n.callFence(), c.Name)
	}
	return fenced(n.callFence(), b.String())
}

// A wordedCall is the JSON in the block of a call.
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

// read extracts the calls from a model's text. A malformed block becomes a call of a tool that does
// not exist, so that the model gets an error. Blocks within other blocks and within comments are
// examples, and whatever follows a result that the model made up is made up too. With cut, an
// unfinished block is ignored.
func (n nonce) read(said string, cut bool) (rest string, calls []model.Call) {
	var b strings.Builder
	lines := strings.SplitAfter(said, "\n")
	last := len(lines) - 1 // line that can end a comment
	for last >= 0 && !strings.Contains(lines[last], commentEnd) {
		last--
	}
	for i := 0; i < len(lines); i++ {
		f := opening(lines[i])
		if f.madeUp() {
			break
		}
		if f.length == 0 || f.indented {
			end := comment(lines, i, last)
			b.WriteString(strings.Join(lines[i:end+1], ""))
			i = end
			continue
		}
		end := i + 1
		for end < len(lines) && !f.closedBy(lines[end]) {
			end++
		}
		body, closed := strings.Join(lines[i+1:end], ""), end < len(lines)
		switch {
		case f.sign != '`' || f.mark != n.callFence():
			b.WriteString(strings.Join(lines[i:min(end+1, len(lines))], ""))
		case closed || !cut:
			calls = append(calls, readCall(body))
		}
		i = end
	}
	return strings.TrimSpace(b.String()), calls
}

// A fence is the line that opens a block.
type fence struct {
	sign     byte   // that it is made of
	length   int    // of these; 0 where the line opens nothing
	mark     string // what stands behind them
	indented bool   // so far that it is text
}

func opening(line string) (f fence) {
	line, f.indented = outdent(line)
	if line == "" || line[0] != '`' && line[0] != '~' {
		return f
	}
	f.sign = line[0]
	after := strings.TrimLeft(line, line[:1])
	f.mark = strings.TrimSpace(after)
	if n := len(line) - len(after); n >= 3 && (f.sign == '~' || !strings.Contains(f.mark, "`")) {
		f.length = n
	}
	return f
}

// outdent is a line without the blanks around it, and whether those before it
// make it a quote.
func outdent(line string) (bare string, indented bool) {
	bare = strings.TrimLeftFunc(line, unicode.IsSpace)
	before := line[:len(line)-len(bare)]
	return strings.TrimSpace(bare), len(before) > 3 || strings.Trim(before, " ") != ""
}

// closedBy reports whether a line closes the block.
func (f fence) closedBy(line string) bool {
	line, indented := outdent(line)
	return !indented && len(line) >= f.length && strings.Trim(line, string(f.sign)) == ""
}

// madeUp reports whether the block is marked as a result is, however the model
// writes that.
func (f fence) madeUp() bool {
	return f.length > 0 && strings.HasPrefix(strings.ToLower(f.mark), resultFence)
}

// The marks of a comment.
const (
	commentStart = "<!--"
	commentEnd   = "-->"
)

// comment is the line in which the comment ends that begins in line i, or i
// where none does. One without an end takes all lines.
func comment(lines []string, i, last int) int {
	begins := func(line string) int {
		at := strings.LastIndex(line, commentStart)
		if at < 0 || strings.Contains(line[at:], commentEnd) {
			return -1
		}
		return at
	}
	for at := begins(lines[i]); at >= 0; at = begins(lines[i]) {
		if i >= last {
			if strings.TrimSpace(lines[i][:at]) == "" {
				return len(lines) - 1
			}
			return i // it is spoken of
		}
		for i++; !strings.Contains(lines[i], commentEnd); i++ {
		}
	}
	return i
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
