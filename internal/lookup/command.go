package lookup

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
)

// command asks a program of the user's.
type command struct {
	argv   []string
	run    func(ctx context.Context, argv []string, stdin []byte) ([]byte, error)
	secret secret
}

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

func (c *command) search(ctx context.Context, q Query) (string, error) {
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
		return "", &fault{code: "command", text: fmt.Sprintf("the command %s failed: %v", filepath.Base(c.argv[0]), err)}
	}
	return c.read(out, q)
}

// read takes what the program printed: a list of results as JSON, or any text
// as it is.
func (c *command) read(out []byte, q Query) (string, error) {
	out = bytes.TrimSpace(bytes.TrimPrefix(out, []byte("\ufeff")))
	cutOff := len(out) > maxReply
	if len(out) > 0 && (out[0] == '{' || out[0] == '[') {
		if cutOff {
			return "", &fault{code: "command", text: fmt.Sprintf("the command %s printed more than %d MiB", filepath.Base(c.argv[0]), maxReply>>20)}
		}
		if results, ok := listed(out); ok {
			return render(results, q, c.secret.hide), nil
		}
	}
	if cutOff {
		out = out[:maxReply]
	}
	return shortened(c.secret.hide(clean(string(out))), q.chars()), nil
}

// listed reads results, or reports that the JSON is something else.
func listed(out []byte) ([]hit, bool) {
	if !json.Valid(out) {
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
