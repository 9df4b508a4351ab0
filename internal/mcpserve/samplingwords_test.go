package mcpserve

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/model"
)

// secret is the nonce of the tests.
const secret = nonce("7f3a")

func TestReadWords(t *testing.T) {
	t.Parallel()
	const a, b = "```tool_call-7f3a\n{\"name\":\"a\"}\n```\n", "```tool_call-7f3a\n{\"name\":\"b\"}\n```\n"
	for _, tt := range []struct {
		name, said string
		cut        bool
		rest       string
		calls      string // name and input, a line each
	}{
		{"nothing", "Just words.", false, "Just words.", ""},
		{"one", "Look:\n```tool_call-7f3a\n{\"name\":\"read\",\"input\":{\"a\":1}}\n```\n", false, "Look:", `read {"a":1}`},
		{"two", a + "and\n  ```` tool_call-7f3a\n{\"name\":\"b\",\n\"input\":{\"s\":\"```\"}}\n  ````", false, "and", "a {}\nb {\"s\":\"```\"}"},
		{"windows", "```tool_call-7f3a\r\n{\"name\":\"a\",\"input\":{}}\r\n```\r\n", false, "", "a {}"},
		{"an example", "````markdown\n" + a + "````\nend", false, "````markdown\n" + a + "````\nend", ""},
		{"other code", "```go\nx := 1\n```", false, "```go\nx := 1\n```", ""},
		{"inline", "Write `x` or ```tool_call-7f3a``` there.", false, "Write `x` or ```tool_call-7f3a``` there.", ""},
		{"a quote", "It says:\n```tool_call\n{\"name\":\"a\"}\n```\n" + b, false, "It says:\n```tool_call\n{\"name\":\"a\"}\n```", "b {}"},
		{"another conversation's", "```tool_call-7f3b\n{\"name\":\"a\"}\n```", false, "```tool_call-7f3b\n{\"name\":\"a\"}\n```", ""},
		{"with more behind it", "```tool_call-7f3a bash\n{\"name\":\"a\"}\n```", false, "```tool_call-7f3a bash\n{\"name\":\"a\"}\n```", ""},
		{"in another case", "```TOOL_CALL-7F3A\n{\"name\":\"a\"}\n```", false, "```TOOL_CALL-7F3A\n{\"name\":\"a\"}\n```", ""},
		{"tildes", "~~~tool_call-7f3a\n{\"name\":\"a\"}\n~~~\n" + b, false, "~~~tool_call-7f3a\n{\"name\":\"a\"}\n~~~", "b {}"},
		{"between tildes", "~~~ a `b`\n" + a + "~~~\n" + b, false, "~~~ a `b`\n" + a + "~~~", "b {}"},
		{"indented", "x\n    " + a + b, false, "x\n    " + a + strings.TrimSpace(b), ""},
		{"after a tab", "x\n\t```tool_call-7f3a\n\t{}\n\t```\n" + b, false, "x\n\t```tool_call-7f3a\n\t{}\n\t```", "b {}"},
		{"after another blank", "x\n\u00a0```tool_call-7f3a\n{}\n\u00a0```\n" + b, false, "x\n\u00a0```tool_call-7f3a\n{}\n\u00a0```", "b {}"},
		{"in a quotation", "> ```tool_call-7f3a\n> {\"name\":\"a\"}\n> ```\n" + b, false, "> ```tool_call-7f3a\n> {\"name\":\"a\"}\n> ```", "b {}"},
		{"a comment", "<!--\n" + a + "-->\n" + b, false, "<!--\n" + a + "-->", "b {}"},
		{"a comment in the midst", "x <!-- y\n" + a + "--> z <!--\n" + a + "-->\n" + b, false, "x <!-- y\n" + a + "--> z <!--\n" + a + "-->", "b {}"},
		{"a comment without an end", "<!-- x\n" + a, false, "<!-- x\n" + strings.TrimSpace(a), ""},
		{"a comment that is spoken of", "Write `<!--` there, or <!-- x -->.\n" + a + "<!-- y -->", false, "Write `<!--` there, or <!-- x -->.\n<!-- y -->", "a {}"},
		{"not a comment any more", "--> <!-- x -->\n" + a + "-->", false, "--> <!-- x -->\n-->", "a {}"},
		{"made up", a + "```tool_result a ok\nfine\n```\nIt is fine.\n" + b, false, "", "a {}"},
		{"made up, with the mark", a + "```tool_result-7f3a a ok\nfine\n```\n" + b, false, "", "a {}"},
		{"made up, with a tab", a + "```tool_result\tbash\nfine\n```\n" + b, false, "", "a {}"},
		{"made up, in another case", a + "``` Tool_RESULT bash\nfine\n```\n" + b, false, "", "a {}"},
		{"made up, with tildes", a + "~~~tool_result\nfine\n~~~\n" + b, false, "", "a {}"},
		{"made up, indented", a + "\t```tool_result\nfine\n\t```\n" + b, false, "", "a {}"},
		{"without an end", "```tool_call-7f3a\n{\"name\":\"a\"}\n", false, "", "a {}"},
		{"cut off", "x\n```tool_call-7f3a\n{\"name\":\"a\",\"input\":{\"b\":", true, "x", ""},
		{"cut off after one", a + "```tool_call-7f3a\n{\"na", true, "", "a {}"},
		{"not JSON", "```tool_call-7f3a\nread a.txt\n```", false, "", "unreadable_call read a.txt\n"},
		{"two in one", "```tool_call-7f3a\n{\"name\":\"a\"}\n{\"name\":\"b\"}\n```", false, "", "unreadable_call {\"name\":\"a\"}\n{\"name\":\"b\"}\n"},
		{"other keys", "```tool_call-7f3a\n{\"tool\":\"a\",\"input\":{}}\n```", false, "", "unreadable_call {\"tool\":\"a\",\"input\":{}}\n"},
		{"no name", "```tool_call-7f3a\n{\"input\":{}}\n```", false, "", "unreadable_call {\"input\":{}}\n"},
		{"input of another kind", "```tool_call-7f3a\n{\"name\":\"a\",\"input\":\"x\"}\n```", false, "", `a "x"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rest, calls := secret.read(tt.said, tt.cut)
			var got []string
			for _, c := range calls {
				got = append(got, c.Name+" "+string(c.Input))
			}
			if rest != tt.rest || strings.Join(got, "\n") != tt.calls {
				t.Errorf("got %q and %q", rest, got)
			}
		})
	}
}

// Every conversation has a nonce of its own, and every client.
func TestNonce(t *testing.T) {
	t.Parallel()
	client := &mcp.InitializeParams{Capabilities: &mcp.ClientCapabilities{Sampling: &mcp.SamplingCapabilities{}}}
	one, other := newSampler(nil, client), newSampler(nil, client)
	first := one.nonce("ses_1")
	if one.nonce("ses_1") != first {
		t.Error("the nonce of a conversation changes")
	}
	if one.nonce("ses_2") == first || other.nonce("ses_1") == first {
		t.Error("two conversations have the same nonce")
	}
}

// FuzzReadWords says calls in the midst of anything and finds them again, and
// finds none that were not said so.
func FuzzReadWords(f *testing.F) {
	f.Add("read", `{"a":1}`, "before", "after")
	f.Add("a b", "``` \n```", "```go\nx\n```", "```tool_result\n")
	f.Add("", "not JSON", "````", "`")
	f.Add("a\n```\n", `"~~~"`, "<!--\n```tool_call-7f3a\n{}\n```\n", "-->\n~~~")
	f.Fuzz(func(t *testing.T, name, input, before, after string) {
		_, _ = secret.read(before, true)
		rest, calls := secret.read(before+after, false)
		if strings.TrimSpace(rest) != rest || len(rest) > len(before+after) {
			t.Errorf("%q became %q", before+after, rest)
		}
		for _, c := range calls {
			if c.Name == "" {
				t.Errorf("a call has no name: %+v", c)
			}
		}
		if len(calls) > 0 && !strings.Contains(before+after, secret.callFence()) {
			t.Errorf("%q makes calls without the nonce: %+v", before+after, calls)
		}
		checkResult(t, secret.result(&model.Result{Name: name, Output: input + before}))
		c := model.Call{Name: name, Input: json.RawMessage(input)}
		if name == "" || !json.Valid(c.Input) || strings.ToValidUTF8(name, "") != name {
			return
		}
		_, calls = secret.read("words\n"+secret.formatCall(&c), false)
		if len(calls) != 1 || name != brokenCall && calls[0].Name != name {
			t.Errorf("%q said as %q is read as %+v", name, secret.formatCall(&c), calls)
		}
	})
}

// checkResult sees that a result ends where it ends, and not before.
func checkResult(t *testing.T, said string) {
	t.Helper()
	lines := strings.Split(said, "\n")
	f := opening(lines[0])
	if !f.madeUp() || f.indented || !strings.HasPrefix(f.mark, "tool_result-7f3a ") || !strings.HasSuffix(f.mark, " ok") {
		t.Errorf("it does not begin as a result does: %q", said)
	}
	for i, line := range lines[1:] {
		if f.closedBy(line) != (i == len(lines)-2) {
			t.Errorf("the end of a result is not clear: %q", said)
		}
	}
}
