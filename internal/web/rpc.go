package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// A message is a server's response to a tool call.
type message struct {
	Result *struct {
		Content items[struct {
			Text word `json:"text"`
		}] `json:"content"`
		IsError bool `json:"isError"`
	} `json:"result"`
	Error json.RawMessage `json:"error"`
}

// readReply returns the text of the first response in a reply that has one, or "" if none has. A
// reply is one JSON message, an array of them, or a stream of events that contain them; everything
// else in a stream is skipped. A failure that the server reports is an error, and so is a truncated
// reply without a response.
func readReply(body []byte, cut bool) (string, error) {
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	trimmed := bytes.TrimSpace(body)
	var r replies
	events := 0
	if len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') {
		events = 1
		if !r.take(trimmed) && !cut {
			return "", &rawSearchError{code: "reply", text: "the reply is not the JSON that was asked for"}
		}
	} else {
		events = r.stream(body)
	}
	switch {
	case r.done:
		return r.text, r.err
	case cut:
		return "", replyTooLong()
	case events == 0 && len(trimmed) > 0:
		return "", &rawSearchError{code: "reply", text: "the reply is neither JSON nor a stream of events: " + string(trimmed)}
	}
	return "", nil
}

// replies reads messages until one is a response.
type replies struct {
	done bool
	text string
	err  error
}

// stream reads server-sent events, and returns how many lines of it were of
// that kind.
func (r *replies) stream(body []byte) (known int) {
	var data [][]byte
	end := func() {
		if len(data) == 0 || r.done {
			return
		}
		if len(data) == 1 || !r.take(bytes.Join(data, []byte("\n"))) {
			// Some servers leave out the empty line between events.
			for _, d := range data {
				if !r.done {
					r.take(d)
				}
			}
		}
		data = data[:0]
	}
	for len(body) > 0 && !r.done {
		var row []byte
		row, body = firstLine(body)
		name, value, _ := bytes.Cut(row, []byte(":"))
		switch string(name) {
		case "":
			if len(row) == 0 {
				end()
			} else {
				known++ // a comment, sent to keep the connection alive
			}
		case "data":
			known++
			data = append(data, bytes.TrimPrefix(value, []byte(" ")))
		case "event", "id", "retry":
			known++
		}
	}
	end()
	return known
}

// firstLine returns the first line of a stream, and what follows it. Lines end
// with \n, \r\n or \r.
func firstLine(s []byte) (row, rest []byte) {
	i := bytes.IndexAny(s, "\r\n")
	if i < 0 {
		return s, nil
	}
	if s[i] == '\r' && i+1 < len(s) && s[i+1] == '\n' {
		return s[:i], s[i+2:]
	}
	return s[:i], s[i+1:]
}

// take reads one message or an array of them, and reports whether it is JSON.
func (r *replies) take(data []byte) bool {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || !json.Valid(data) {
		return false
	}
	all := items[json.RawMessage]{data}
	if data[0] == '[' {
		all = nil
		_ = all.UnmarshalJSON(data) // it never fails
	}
	for _, one := range all {
		var m message
		_ = json.Unmarshal(one, &m) // an odd field is as good as none
		if r.look(m); r.done {
			break
		}
	}
	return true
}

// look keeps a message that is a response.
func (r *replies) look(m message) {
	if len(m.Error) > 0 && string(m.Error) != "null" {
		r.setError(reported(m.Error))
		return
	}
	if m.Result == nil {
		return
	}
	var said string
	for _, c := range m.Result.Content {
		if strings.TrimSpace(string(c.Text)) != "" {
			said = string(c.Text)
			break
		}
	}
	switch {
	case m.Result.IsError:
		r.setError(said)
	case said != "":
		r.done, r.text = true, said
	}
}

// setError keeps a failure that the server reports.
func (r *replies) setError(said string) {
	if said == "" {
		said = "the server reports an error and does not say which"
	}
	r.done, r.err = true, &rawSearchError{code: "server", text: said}
}

// reported words the error in a message.
func reported(raw json.RawMessage) string {
	var e struct {
		Code    json.RawMessage `json:"code"`
		Message word            `json:"message"`
	}
	if json.Unmarshal(raw, &e) != nil {
		return string(raw) // not as the protocol has it, but it says something
	}
	if _, err := strconv.Atoi(string(e.Code)); err != nil || e.Message == "" {
		return string(e.Message)
	}
	return fmt.Sprintf("%s (code %s)", e.Message, e.Code)
}

// A word is a string in an untrusted reply: anything but a string is "".
type word string

// UnmarshalJSON never fails, so that one odd field does not cost the rest.
func (w *word) UnmarshalJSON(data []byte) error {
	var s string
	if len(data) > 0 && data[0] == '"' && json.Unmarshal(data, &s) == nil {
		*w = word(s)
	}
	return nil
}
