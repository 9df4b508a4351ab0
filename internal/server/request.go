package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// maxID is how many bytes an id may have.
const maxID = 512

// A request is one line that a program wrote: exactly one of its parts is
// set.
type request struct {
	call   *callRequest
	reply  *replyRequest
	answer *answerRequest
	cancel *cancelRequest
}

type callRequest struct {
	echo json.RawMessage // the id as it was given; nil when none was
	tool.Call
}

type replyRequest struct {
	ID      string
	Reply   permission.Verdict
	Message string
	Scope   permission.Scope
}

type answerRequest struct {
	id      string
	answers [][]string
	dismiss bool
}

// A cancelRequest ends a call, or lets its command go on as a job.
type cancelRequest struct {
	id, session string
	background  bool
}

// decodeLine reads a line of the protocol. Where it is wrong, the id it
// carries is returned if there is one, so that the program knows what failed.
func decodeLine(line []byte) (req request, id json.RawMessage, err error) {
	line = bytes.TrimPrefix(line, []byte("\ufeff"))
	fields, err := text.DecodeObject(line)
	if err != nil {
		return request{}, nil, err
	}
	if raw, ok := fields["id"]; ok && !text.IsNull(raw) {
		if _, err := idText(raw); err != nil {
			return request{}, nil, err
		}
		if utf8.Valid(raw) {
			id = raw
		}
	}
	if !utf8.Valid(line) { // what it holds would come back as something else
		return request{}, id, errors.New("the line is not UTF-8 text")
	}
	parts := 0
	for _, key := range []string{"tool", "reply", "answer", "cancel", "background"} {
		if _, ok := fields[key]; ok {
			parts++
		}
	}
	if parts != 1 {
		if err := known(fields, "id", "tool", "args", "input", "raw_args", "session", "agent", "model", "provider", "message", "reply", "answer", "cancel", "background"); err != nil {
			return request{}, id, err
		}
		return request{}, id, errors.New(`a line needs exactly one of "tool", "reply", "answer", "cancel" and "background"`)
	}
	switch {
	case fields["tool"] != nil:
		req.call, err = decodeCall(fields)
	case fields["reply"] != nil:
		req.reply, err = decodeReply(fields)
	case fields["answer"] != nil:
		req.answer, err = decodeAnswer(fields)
	default:
		req.cancel, err = decodeCancel(fields)
	}
	if err != nil {
		return request{}, id, err
	}
	return req, id, nil
}

// known refuses keys that mean nothing, with the one that was probably meant.
func known(fields map[string]json.RawMessage, names ...string) error {
	for key := range fields {
		found := false
		for _, n := range names {
			found = found || n == key
		}
		if found {
			continue
		}
		if near, ok := text.Nearest(key, names); ok {
			return fmt.Errorf("unknown key %q; did you mean %q?", key, near)
		}
		return fmt.Errorf("unknown key %q; there are %s", key, strings.Join(names, ", "))
	}
	return nil
}

// idText reads an id: a string, or a number taken as it is written.
func idText(raw json.RawMessage) (string, error) {
	id := string(raw)
	if raw[0] == '"' {
		if err := json.Unmarshal(raw, &id); err != nil {
			return "", fmt.Errorf("reading the id: %w", err)
		}
	} else if raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return "", errors.New("an id is a string or a number")
	}
	if id == "" || len(id) > maxID {
		return "", fmt.Errorf("an id has 1 to %d bytes", maxID)
	}
	return id, nil
}

// str reads a member that is text; it is "" where it is missing or null.
func str(fields map[string]json.RawMessage, key string) (string, error) {
	raw, ok := fields[key]
	if !ok || text.IsNull(raw) {
		return "", nil
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", fmt.Errorf("%q has to be a string", key)
	}
	return s, nil
}

func decodeCall(fields map[string]json.RawMessage) (*callRequest, error) {
	err := known(fields, "id", "tool", "args", "input", "raw_args", "session", "agent", "model", "provider", "message")
	if err != nil {
		return nil, err
	}
	c := &callRequest{Call: tool.Call{Input: json.RawMessage("{}")}}
	if raw, ok := fields["id"]; ok && !text.IsNull(raw) {
		c.echo = raw
		if c.ID, err = idText(raw); err != nil {
			return nil, err
		}
	}
	for key, to := range map[string]*string{
		"tool": &c.Tool, "session": &c.Session, "agent": &c.Agent, "model": &c.Model, "provider": &c.Provider, "message": &c.Message,
	} {
		if *to, err = str(fields, key); err != nil {
			return nil, err
		}
	}
	if _, named := fields["tool"]; !named { // an empty name is for the runtime to judge
		return nil, errors.New(`"tool" has to be the name of one`)
	}
	given := ""
	for _, key := range []string{"args", "input", "raw_args"} {
		raw, ok := fields[key]
		switch {
		case !ok:
			continue
		case given != "":
			return nil, fmt.Errorf("%q and %q can not both be given", given, key)
		case key == "raw_args":
			body, err := str(fields, key)
			if err != nil || text.IsNull(raw) {
				return nil, errors.New(`"raw_args" has to be a string`)
			}
			raw = json.RawMessage(body)
		}
		given, c.Input = key, raw
	}
	return c, nil
}

func decodeReply(fields map[string]json.RawMessage) (*replyRequest, error) {
	if err := known(fields, "reply"); err != nil {
		return nil, err
	}
	body, err := text.DecodeObject(fields["reply"])
	if err != nil {
		return nil, fmt.Errorf("\"reply\": %w", err)
	}
	if err := known(body, "id", "reply", "message", "scope"); err != nil {
		return nil, fmt.Errorf("\"reply\": %w", err)
	}
	r := &replyRequest{}
	for key, to := range map[string]*string{
		"id": &r.ID, "reply": (*string)(&r.Reply), "message": &r.Message, "scope": (*string)(&r.Scope),
	} {
		if *to, err = str(body, key); err != nil {
			return nil, fmt.Errorf("\"reply\": %w", err)
		}
	}
	switch r.Reply {
	case permission.ReplyOnce, permission.ReplyAlways, permission.ReplyReject:
	default:
		return nil, fmt.Errorf("\"reply\": %q is not one of once, always, reject", r.Reply)
	}
	switch r.Scope {
	case "", permission.Once, permission.Session, permission.Project, permission.User:
		return r, nil
	}
	return nil, fmt.Errorf("\"reply\": %q is not one of the scopes once, session, project, user", r.Scope)
}

func decodeAnswer(fields map[string]json.RawMessage) (*answerRequest, error) {
	if err := known(fields, "answer"); err != nil {
		return nil, err
	}
	body, err := text.DecodeObject(fields["answer"])
	if err != nil {
		return nil, fmt.Errorf("\"answer\": %w", err)
	}
	if err := known(body, "id", "answers", "reject"); err != nil {
		return nil, fmt.Errorf("\"answer\": %w", err)
	}
	a := &answerRequest{}
	if a.id, err = str(body, "id"); err != nil {
		return nil, fmt.Errorf("\"answer\": %w", err)
	}
	answers, given := body["answers"]
	a.dismiss = string(body["reject"]) == "true" || given && text.IsNull(answers)
	if a.dismiss {
		return a, nil
	}
	if err := json.Unmarshal(answers, &a.answers); !given || err != nil {
		return nil, errors.New(`"answer": "answers" has to be a list with a list of strings for each question; to dismiss them all, give "reject": true`)
	}
	return a, nil
}

func decodeCancel(fields map[string]json.RawMessage) (*cancelRequest, error) {
	key := "cancel"
	if fields["background"] != nil {
		key = "background"
	}
	err := known(fields, key, "session")
	if err != nil {
		return nil, err
	}
	c := &cancelRequest{background: key == "background"}
	if c.session, err = str(fields, "session"); err != nil {
		return nil, err
	}
	if c.id, err = idText(fields[key]); err != nil {
		return nil, fmt.Errorf("%q: %w", key, err)
	}
	return c, nil
}
