package helve

import (
	"encoding/json"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/tool"
)

// eventSize returns the approximate memory use of an event, in bytes.
func eventSize(p event.Payload) int {
	n := 512
	switch p := p.(type) {
	case event.CallStarted:
		n += len(p.Call.Input)
	case event.CallRunning:
		n += len(p.Input)
	case event.CallProgress:
		n += len(p.Title) + valueSize(p.Metadata)
	case event.CallFinished:
		n += resultSize(p.Result)
	case event.PermissionAsked:
		n += valueSize(p.Metadata)
	case event.QuestionAsked:
		n += 4096
	case event.TodosChanged:
		n += 256 * len(p.Todos)
	case event.JobChanged:
		n += len(p.Command)
	case event.PartDelta:
		n += len(p.Delta)
	case event.PartUpdated:
		n += len(p.Part.Text) + len(p.Part.URL)
		if s := p.Part.State; s != nil {
			n += 3*(len(s.Input)+len(s.Output)) + len(s.Error) + valueSize(s.Metadata) + attachmentSize(s.Attachments)
		}
	case event.ScriptLogged:
		n += len(p.Text)
	case event.Notice:
		n += len(p.Body)
	}
	return n
}

func resultSize(res *tool.Result) int {
	if res == nil {
		return 0
	}
	n := len(res.Title) + len(res.Output) + valueSize(res.Metadata) + attachmentSize(res.Attachments)
	for _, in := range res.Inner {
		n += len(in.Input) + len(in.Error) + resultSize(in.Result)
	}
	return n
}

func attachmentSize(list []tool.Attachment) (n int) {
	for _, a := range list {
		n += len(a.URL)
	}
	return n
}

// valueSize returns the approximate memory use of a decoded JSON value.
func valueSize(v any) int {
	n := 48
	switch v := v.(type) {
	case nil, bool, float64, int:
	case string:
		n += len(v)
	case []any:
		for _, e := range v {
			n += valueSize(e)
		}
	case map[string]any:
		for k, e := range v {
			n += len(k) + valueSize(e)
		}
	default:
		raw, _ := json.Marshal(v)
		n += 3 * len(raw)
	}
	return n
}
