package server

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecodeLine(t *testing.T) {
	for _, tc := range []struct{ name, line, want string }{
		{"a call", `{"id":"a","tool":"read","args":{"x":1}}`, `call a read {"x":1}`},
		{"a number as id", `{"id":12,"tool":"read"}`, `call 12 read {}`},
		{"no id", `{"tool":"read","args":[1]}`, `call  read [1]`},
		{"null id", `{"id":null,"tool":"read","args":null}`, `call  read null`},
		{"arguments by their other name", `{"id":"a","tool":"read","input":{"x":1}}`, `call a read {"x":1}`},
		{"raw arguments", `{"id":"a","tool":"read","raw_args":"{\"x\":"}`, `call a read {"x":`},
		{"a byte order mark", "\ufeff" + `{"tool":"read"}`, `call  read {}`},
		{"a reply", `{"reply":{"id":"per_1","reply":"always","scope":"project"}}`, `reply per_1 always project`},
		{"an answer", `{"answer":{"id":"que_1","answers":[["a","b"],[]]}}`, `answer que_1 [[a b] []] false`},
		{"dismissed", `{"answer":{"id":"que_1","reject":true}}`, `answer que_1 [] true`},
		{"dismissed by null", `{"answer":{"id":"que_1","answers":null}}`, `answer que_1 [] true`},
		{"a cancel", `{"cancel":"a"}`, `cancel a `},
		{"a cancel of a number", `{"cancel":7,"session":"s"}`, `cancel 7 s`},

		{"not JSON", `{`, `error  not JSON: unexpected end of JSON input`},
		{"two values", `{} {}`, `error  not JSON: invalid character '{' after top-level value`},
		{"a list", `[]`, `error  not a JSON object`},
		{"nothing", `{}`, `error  a line needs exactly one of "tool", "reply", "answer", "cancel" and "background"`},
		{"two things", `{"id":"a","tool":"x","cancel":"a"}`, `error "a" a line needs exactly one of "tool", "reply", "answer", "cancel" and "background"`},
		{"a slip", `{"id":"a","tool":"x","arg":{}}`, `error "a" unknown key "arg"; did you mean "args"?`},
		{"a slip in the main key", `{"id":"a","tools":"x"}`, `error "a" unknown key "tools"; did you mean "tool"?`},
		{"twice", `{"tool":"x","tool":"y"}`, `error  the key "tool" stands twice`},
		{"both arguments", `{"id":3,"tool":"x","args":{},"raw_args":""}`, `error 3 "args" and "raw_args" can not both be given`},
		{"both names", `{"id":3,"tool":"x","input":{},"args":{}}`, `error 3 "args" and "input" can not both be given`},
		{"raw arguments and input", `{"id":3,"tool":"x","input":{},"raw_args":""}`, `error 3 "input" and "raw_args" can not both be given`},
		{"raw arguments that are no text", `{"tool":"x","raw_args":{}}`, `error  "raw_args" has to be a string`},
		{"an empty id", `{"id":"","tool":"x"}`, `error  an id has 1 to 512 bytes`},
		{"an id that is none", `{"id":{},"tool":"x"}`, `error  an id is a string or a number`},
		{"a tool that is none", `{"id":"a","tool":1}`, `error "a" "tool" has to be a string`},
		{"a wrong reply", `{"reply":{"id":"p","reply":"yes"}}`, `error  "reply": "yes" is not one of once, always, reject`},
		{"a wrong scope", `{"reply":{"id":"p","reply":"always","scope":"world"}}`, `error  "reply": "world" is not one of the scopes once, session, project, user`},
		{"a reply to a number", `{"reply":{"id":1,"reply":"once"}}`, `error  "reply": "id" has to be a string`},
		{"an id that is not UTF-8", "{\"id\":\"a\xff\",\"tool\":\"x\"}", `error  the line is not UTF-8 text`},
		{"a name that is not UTF-8", "{\"id\":\"a\",\"tool\":\"x\xff\"}", `error "a" the line is not UTF-8 text`},
		{"arguments that are not UTF-8", "{\"id\":\"a\",\"tool\":\"x\",\"args\":{\"b\":\"\xc3\"}}", `error "a" the line is not UTF-8 text`},
		{"a reply that is none", `{"reply":"once"}`, `error  "reply": not a JSON object`},
		{"no answers", `{"answer":{"id":"q"}}`, `error  "answer": "answers" has to be a list with a list of strings for each question; to dismiss them all, give "reject": true`},
		{"a cancel that is none", `{"cancel":true}`, `error  "cancel": an id is a string or a number`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, decoded([]byte(tc.line))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// decoded gives what a line was taken for in one line.
func decoded(line []byte) string {
	var b strings.Builder
	say := func(words ...any) {
		for i, w := range words {
			if i > 0 {
				b.WriteByte(' ')
			}
			switch w := w.(type) {
			case string:
				b.WriteString(w)
			case [][]string:
				b.WriteString("[")
				for i, l := range w {
					if i > 0 {
						b.WriteByte(' ')
					}
					b.WriteString("[" + strings.Join(l, " ") + "]")
				}
				b.WriteString("]")
			}
		}
	}
	req, id, err := decodeLine(line)
	switch {
	case err != nil:
		say("error", string(id), err.Error())
	case req.call != nil:
		say("call", req.call.ID, req.call.Tool, string(req.call.Input))
	case req.reply != nil:
		say("reply", req.reply.ID, string(req.reply.Reply), string(req.reply.Scope))
	case req.answer != nil:
		dismissed := "false"
		if req.answer.dismiss {
			dismissed = "true"
		}
		say("answer", req.answer.id, req.answer.answers, dismissed)
	case req.cancel != nil:
		say("cancel", req.cancel.id, req.cancel.session)
	}
	return b.String()
}

func FuzzDecodeLine(f *testing.F) {
	for _, s := range []string{
		`{"id":"a","tool":"read","args":{"x":1}}`, `{"reply":{"id":"p","reply":"once"}}`, `{"answer":{"id":"q","answers":[["a"]]}}`,
		`{"cancel":1}`, `{"id":-1e9,"tool":"x","raw_args":"{"}`, "\ufeff{}", `{"tool":"\ud800"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.IndexByte(line, '\n') >= 0 {
			return // never within a line
		}
		req, id, err := decodeLine(line)
		set := 0
		for _, is := range []bool{req.call != nil, req.reply != nil, req.answer != nil, req.cancel != nil} {
			if is {
				set++
			}
		}
		if err == nil && set != 1 || err != nil && set != 0 {
			t.Fatalf("%q gives %d requests and error %v", line, set, err)
		}
		if id != nil {
			if _, ierr := idText(id); ierr != nil || !json.Valid(id) {
				t.Fatalf("%q: the id %q can not be echoed", line, id)
			}
		}
		if req.call != nil && (req.call.Tool == "" || (req.call.echo == nil) != (req.call.ID == "")) {
			t.Fatalf("%q gives the call %+v", line, req.call)
		}
		answer := encodeLine(misread(id, 1, io.EOF))
		if !json.Valid(answer) || bytes.Count(answer, []byte("\n")) != 1 {
			t.Fatalf("%q is answered with %q", line, answer)
		}
	})
}
