package builtin_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/tool"
)

// A vector is a set of arguments and what has to become of it.
type vector struct {
	ID      string          `json:"id"`
	Tool    string          `json:"tool"`
	Tier    string          `json:"tier"`
	Args    json.RawMessage `json:"args"`
	Raw     *string         `json:"raw"`
	RawGen  json.RawMessage `json:"raw_gen"`
	Expect  string          `json:"expect"`
	Accepts []string        `json:"accept"`
	Code    string          `json:"code"`
	Hint    string          `json:"hint"`
	Perm    string          `json:"perm"`
	Reason  string          `json:"reason"`
}

// text returns the arguments as the model wrote them.
func (v vector) text(t *testing.T) string {
	t.Helper()
	switch {
	case v.Raw != nil:
		return *v.Raw
	case v.RawGen != nil:
		return generated(t, v.RawGen)
	}
	return spelled(t, v.Args)
}

// spelled builds the values of an object that are only described.
func spelled(t *testing.T, args json.RawMessage) string {
	t.Helper()
	var object map[string]json.RawMessage
	if !strings.Contains(string(args), `"$repeat"`) || json.Unmarshal(args, &object) != nil {
		return string(args)
	}
	for key, value := range object {
		if strings.HasPrefix(string(value), "{") {
			object[key], _ = json.Marshal(generated(t, value))
		}
	}
	out, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// generated builds a text from a string, {"$repeat","times"} or {"$concat"}.
func generated(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var g struct {
		Repeat string            `json:"$repeat"`
		Times  int               `json:"times"`
		Concat []json.RawMessage `json:"$concat"`
	}
	if err := json.Unmarshal(raw, &g); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, part := range g.Concat {
		b.WriteString(generated(t, part))
	}
	b.WriteString(strings.Repeat(g.Repeat, g.Times))
	return b.String()
}

func TestVectors(t *testing.T) {
	file, err := os.Open("testdata/vectors/tool-args.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.txt"), []byte("one\ntwo\nthree"))
	w := newWire(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mcp" {
			answerSearch(w, r)
			return
		}
		page("text/html", "<p>hello")(w, r)
	})
	network := helve.Web{Resolver: w, Dial: w.dial, TLS: w.serveTLS(t, "example.com"), Search: helve.Finder{Provider: "exa", Endpoint: "https://example.com"}}
	rt, err := helve.Open(helve.Options{Dir: dir, Worktree: dir, Flags: map[string]bool{"batch": true}, Shell: helve.Shell{Helper: self(t)}, Web: network})
	if err != nil {
		t.Fatal(err)
	}
	asked := &person{rt: rt}
	stop := asked.sit()
	defer stop()
	defer rt.Close()
	lines := bufio.NewScanner(file)
	count := 0
	for lines.Scan() {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		count++
		res, err := rt.Call(t.Context(), tool.Call{Tool: v.Tool, Input: json.RawMessage(v.text(t))})
		problem := v.judge(res, err)
		if v.Expect == "ask" {
			problem = asked.missing(v.Perm)
		}
		switch {
		case problem == "":
		case v.Tier == "should":
			t.Logf("%s (%s): %s: not yet, which is allowed", v.ID, v.Reason, problem)
		default:
			t.Errorf("%s (%s): %s", v.ID, v.Reason, problem)
		}
	}
	if err := lines.Err(); err != nil || count < 30 {
		t.Errorf("%d vectors were read: %v", count, err)
	}
}

// missing says what is wrong if a permission was not asked for.
func (p *person) missing(permission string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.asks {
		if a.(map[string]any)["permission"] == permission {
			return ""
		}
	}
	return "nobody was asked for " + permission
}

// judge says what is wrong with how a call ended.
func (v vector) judge(res *tool.Result, err error) string {
	got, code, said := "accept", "", ""
	if err != nil {
		e, ok := errors.AsType[*tool.Error](err)
		if !ok {
			return "not a tool error: " + err.Error()
		}
		got, code, said = "error", e.Code, e.Error()+"\n"+e.Hint
		if e.Kind == tool.InvalidInput {
			got = "reject"
		}
	} else if res == nil {
		return "neither a result nor an error"
	}
	allowed := v.Accepts
	if allowed == nil {
		allowed = []string{v.Expect}
	}
	switch {
	case !slices.Contains(allowed, got):
		return "is " + got + " (" + code + ") and not " + strings.Join(allowed, " or ")
	case got == v.Expect && v.Code != "" && code != v.Code:
		return "has the code " + code + " and not " + v.Code
	case got != "accept" && !strings.Contains(said, v.Hint):
		return "does not name " + v.Hint + ": " + said
	}
	return ""
}
