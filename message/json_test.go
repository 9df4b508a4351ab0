package message_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/tool"
)

// What goes out has the reference's form, and comes back as it was.
func TestForms(t *testing.T) {
	ref := model.Ref{Provider: "p", Model: "m"}
	for _, tc := range []struct {
		value any
		want  string
	}{
		{message.Info{ID: "msg_1", Session: "ses_1", Role: message.User, Agent: "build", Model: ref, Time: message.Times{Created: 1}},
			`{"id":"msg_1","sessionID":"ses_1","role":"user","time":{"created":1},"agent":"build","model":{"providerID":"p","modelID":"m"}}`},
		{message.Info{ID: "msg_2", Session: "ses_1", Role: message.Assistant, Agent: "build", Model: ref, Parent: "msg_1", Finish: "stop",
			Time: message.Times{Created: 1, Completed: 2}, Path: &message.Path{Cwd: "/a", Root: "/"}},
			`{"id":"msg_2","sessionID":"ses_1","role":"assistant","time":{"created":1,"completed":2},"parentID":"msg_1","modelID":"m","providerID":"p",` +
				`"mode":"build","agent":"build","path":{"cwd":"/a","root":"/"},"cost":0,"tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}},"finish":"stop"}`},
		{message.Part{ID: "prt_1", Session: "ses_1", Message: "msg_1", Type: message.Text},
			`{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":"text","text":""}`},
		{message.Part{ID: "prt_1", Session: "ses_1", Message: "msg_1", Type: message.Compaction},
			`{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":"compaction","auto":false}`},
		{message.State{Status: message.Pending, Input: json.RawMessage("{}")}, `{"status":"pending","input":{},"raw":""}`},
		{message.State{Status: message.Running, Input: json.RawMessage(`{"a":1}`), Time: &message.Span{Start: 5}},
			`{"status":"running","input":{"a":1},"time":{"start":5}}`},
		{message.State{Status: message.Completed, Input: json.RawMessage(`{}`), Metadata: map[string]any{}, Time: &message.Span{Start: 5, End: 6}},
			`{"status":"completed","input":{},"output":"","title":"","metadata":{},"time":{"start":5,"end":6}}`},
		{message.State{Status: message.Failed, Input: json.RawMessage(`{}`), Error: "no", Kind: tool.Denied, Time: &message.Span{Start: 5, End: 6}},
			`{"status":"error","input":{},"error":"no","kind":"denied","time":{"start":5,"end":6}}`},
	} {
		got, err := json.Marshal(tc.value)
		if err != nil || string(got) != tc.want {
			t.Errorf("got  %s, %v\nwant %s", got, err, tc.want)
		}
		back := reflect.New(reflect.TypeOf(tc.value))
		if err := json.Unmarshal(got, back.Interface()); err != nil || !reflect.DeepEqual(back.Elem().Interface(), tc.value) {
			t.Errorf("came back as %+v, %v", back.Elem().Interface(), err)
		}
	}
}
