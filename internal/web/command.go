package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"unicode/utf8"

	"github.com/helve-dev/helve/internal/text"
)

// command asks a program of the user's.
type command struct {
	argv    []string
	run     func(ctx context.Context, argv []string, stdin []byte) ([]byte, error)
	section string
	secret  secret
}

// where names the program, without its arguments, which may hold a secret.
func (c *command) where() string { return "command " + text.VisibleLine(c.argv[0]) }

// input is what the program reads. All fields are always there; tokens is 0
// unless code is wanted.
type input struct {
	Query    string `json:"query"`
	Kind     string `json:"kind"`
	Count    int    `json:"numResults"`
	Tokens   int    `json:"tokens"`
	MaxChars int    `json:"maxCharacters"`
}

// output is a result that the program prints.
type output struct {
	Title   word `json:"title"`
	URL     word `json:"url"`
	Snippet word `json:"snippet"`
	Content word `json:"content"`
	Date    word `json:"date"`
}

func (c *command) search(ctx context.Context, q SearchQuery) (string, error) {
	in := input{Query: q.Text, Kind: "web", Count: q.Count, Tokens: q.Tokens, MaxChars: q.chars()}
	if q.Code {
		in.Kind = "code"
	}
	var stdin bytes.Buffer
	enc := json.NewEncoder(&stdin)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(in); err != nil {
		return "", err
	}
	out, err := c.run(ctx, c.argv, stdin.Bytes())
	if err != nil {
		return "", c.runError(err)
	}
	return c.read(out, q)
}

// runError words why a program failed.
func (c *command) runError(err error) error {
	why := ""
	switch {
	case errors.Is(err, exec.ErrNotFound):
		why = "no program of that name is in PATH"
	case errors.Is(err, fs.ErrNotExist):
		why = "it is not there"
	case errors.Is(err, fs.ErrPermission):
		why = "it may not be run"
	default:
		return &rawSearchError{code: "command", text: fmt.Sprintf("the command %s failed: %v", c.name(), err)}
	}
	return &rawSearchError{code: "command", text: fmt.Sprintf("the command %s can not be started: %s", c.argv[0], why), hint: c.look()}
}

func (c *command) name() string { return filepath.Base(c.argv[0]) }

// look says where the command is configured.
func (c *command) look() string { return fmt.Sprintf("See %s.command in the config.", c.section) }

// read takes what the program printed: a list of results as JSON, or any text
// as it is.
func (c *command) read(out []byte, q SearchQuery) (string, error) {
	printed := bytes.TrimPrefix(out, []byte("\ufeff"))
	out = bytes.TrimSpace(printed)
	cutOff := len(out) > maxReply
	if structured(out) {
		if cutOff {
			return "", &rawSearchError{code: "command", text: fmt.Sprintf("the command %s printed more than %d MiB", c.name(), maxReply>>20)}
		}
		if err := c.broken(printed); err != nil {
			return "", err
		}
	}
	if len(out) > 0 && !cutOff {
		if results, ok := parseResults(out); ok {
			return render(results, q, c.secret.hide), nil
		}
	}
	if cutOff {
		out = out[:maxReply]
	}
	return shortened(c.secret.hide(cleanText(string(out))), q.chars()), nil
}

// structured reports whether a text looks like JSON. A line such as "[1] Title" or
// "[Title](address)" does not.
func structured(out []byte) bool {
	switch {
	case len(out) == 0:
		return false
	case out[0] == '{':
		return true
	case out[0] != '[':
		return false
	}
	inner := bytes.TrimLeft(out[1:], " \t\r\n")
	return len(inner) == 0 || bytes.IndexByte([]byte("{[\"'"), inner[0]) >= 0
}

// broken says where printed is not valid JSON; nil if it is valid.
func (c *command) broken(printed []byte) error {
	var all json.RawMessage
	wrong, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(printed, &all))
	if !ok {
		return nil
	}
	before := printed[:max(wrong.Offset-1, 0)]
	if wrong.Error() == "unexpected end of JSON input" {
		before = bytes.TrimRight(printed, " \t\r\n")
	}
	row := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return &rawSearchError{
		code: "command", text: fmt.Sprintf("the command %s printed broken JSON: line %d, column %d: %v", c.name(), row, column, wrong),
		hint: c.look(),
	}
}

// parseResults reads results, or reports that the text is something else.
func parseResults(out []byte) ([]hit, bool) {
	if out[0] != '{' && out[0] != '[' || !json.Valid(out) {
		return nil, false
	}
	list := json.RawMessage(out)
	if out[0] == '{' {
		var named struct {
			Results json.RawMessage `json:"results"`
		}
		if json.Unmarshal(out, &named) != nil || len(named.Results) == 0 || named.Results[0] != '[' {
			return nil, false
		}
		list = named.Results
	}
	var results items[output]
	if json.Unmarshal(list, &results) != nil {
		return nil, false
	}
	var hits []hit
	for _, r := range results {
		said := r.Snippet
		if said == "" {
			said = r.Content
		}
		if r.Title+r.URL+said != "" {
			hits = append(hits, hit{string(r.Title), string(r.URL), day(r.Date), []string{string(said)}})
		}
	}
	none := len(bytes.TrimSpace(list[1:len(list)-1])) == 0
	return hits, len(hits) > 0 || none
}
