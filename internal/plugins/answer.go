package plugins

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"path"
	"strings"

	"github.com/helve-dev/helve/tool"
)

const (
	maxMetadata    = 256 << 10 // bytes of the metadata of a result
	maxAttachments = 16
)

// readAnswer parses what a program printed: an object with "output" or "error", or else text. said
// is the error that the program reports.
func readAnswer(out []byte) (res *tool.Result, said string, err error) {
	keys := answerKeys(out)
	if keys == nil {
		return &tool.Result{Output: strings.ToValidUTF8(string(out), "\ufffd"), Metadata: map[string]any{}}, "", nil
	}
	if said = complaintOf(keys["error"]); said != "" {
		return nil, said, nil
	}
	res, err = readResult(keys)
	return res, "", err
}

// answerKeys returns the keys of an answer in the expected form; nil for text, which includes JSON
// of another form.
func answerKeys(out []byte) map[string]json.RawMessage {
	out = bytes.TrimSpace(out)
	if len(out) == 0 || out[0] != '{' {
		return nil
	}
	var keys map[string]json.RawMessage
	if json.Unmarshal(out, &keys) != nil {
		return nil
	}
	if _, ok := keys["output"]; !ok && complaintOf(keys["error"]) == "" {
		return nil
	}
	return keys
}

// complaintOf is the text of an error that a program gives; "" if it gives none.
func complaintOf(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	var s string
	switch {
	case json.Unmarshal(raw, &s) == nil:
		return readable(s, maxComplaint)
	case raw[0] == '{' || raw[0] == '[':
		return readable(compact(raw), maxComplaint)
	}
	return "" // null, false, a number
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// readResult reads a result. An output that is not a text is given as JSON.
func readResult(keys map[string]json.RawMessage) (*tool.Result, error) {
	res := &tool.Result{Metadata: map[string]any{}}
	if raw := keys["output"]; len(raw) > 0 && !isNull(raw) && json.Unmarshal(raw, &res.Output) != nil {
		res.Output = strings.ToValidUTF8(compact(raw), "\ufffd")
	}
	if err := take(keys, "title", &res.Title); err != nil {
		return nil, err
	}
	res.Title = line(res.Title, maxQuote)
	metadata, err := readMetadata(keys)
	if err != nil {
		return nil, err
	}
	if metadata != nil {
		res.Metadata = metadata
	}
	if res.Attachments, err = readAttachments(keys); err != nil {
		return nil, err
	}
	return res, nil
}

// readMetadata parses metadata. A program may not declare its output truncated, because it would
// then not be truncated here.
func readMetadata(keys map[string]json.RawMessage) (map[string]any, error) {
	if n := len(keys["metadata"]); n > maxMetadata {
		return nil, fmt.Errorf(`its "metadata" has %d bytes, and %d are the most`, n, maxMetadata)
	}
	var metadata map[string]any
	if err := take(keys, "metadata", &metadata); err != nil {
		return nil, err
	}
	delete(metadata, "truncated")
	delete(metadata, "outputPath")
	return metadata, nil
}

func readAttachments(keys map[string]json.RawMessage) ([]tool.Attachment, error) {
	var list []json.RawMessage
	if err := take(keys, "attachments", &list); err != nil {
		return nil, err
	}
	if len(list) > maxAttachments {
		return nil, fmt.Errorf("it has %d attachments, and %d are the most", len(list), maxAttachments)
	}
	var all []tool.Attachment
	for i, raw := range list {
		a, err := readAttachment(raw)
		if err != nil {
			return nil, fmt.Errorf("attachments[%d]: %w", i, err)
		}
		all = append(all, a)
	}
	return all, nil
}

// readAttachment reads a file that goes to the model. Its content must be in the answer, because a
// model cannot open a URL.
func readAttachment(raw json.RawMessage) (tool.Attachment, error) {
	a := tool.Attachment{Type: "file"}
	keys, err := readObject(raw)
	if err != nil {
		return a, err
	}
	for key, into := range map[string]any{"mime": &a.Mime, "url": &a.URL, "filename": &a.Filename} {
		if err := take(keys, key, into); err != nil {
			return a, err
		}
	}
	head, data, ok := strings.Cut(strings.TrimPrefix(a.URL, "data:"), ",")
	kindOf, encoded := strings.CutSuffix(head, ";base64")
	if !ok || !encoded || !strings.HasPrefix(a.URL, "data:") {
		return a, errors.New(`its "url" is not of the form data:image/png;base64,…`)
	}
	if a.Mime == "" {
		a.Mime = kindOf
	}
	media, _, err := mime.ParseMediaType(a.Mime)
	if err != nil || !strings.Contains(media, "/") {
		return a, fmt.Errorf("%s is not a kind of file such as image/png", line(a.Mime, maxQuote))
	}
	if _, err := base64.StdEncoding.DecodeString(data); err != nil {
		return a, errors.New(`what its "url" holds is not base64`)
	}
	a.Mime, a.URL = media, "data:"+media+";base64,"+data
	if a.Filename != "" {
		a.Filename = line(path.Base(strings.ReplaceAll(a.Filename, `\`, "/")), maxQuote)
	}
	return a, nil
}
