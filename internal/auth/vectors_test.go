package auth

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// vector is a line of testdata/server.jsonl.
type vector struct {
	ID      string
	Request struct {
		Method, Path, Host, Auth, Upgrade, Session string
		Origin, Bind, Token, TLS                   *string
		ConsoleText                                *string `json:"console_text"`
	}
	Expect any
	Reason string
}

// elsewhere are the lines that ask for more than a guard.
func elsewhere() map[string]string {
	return map[string]string{
		"web-168": "the file route decides on paths; the gate does not know them",
		"web-181": "the policy of the console comes with the console",
		"web-183": "text of the console comes with the console",
	}
}

func vectors(t *testing.T) []vector {
	t.Helper()
	f, err := os.Open("testdata/gate/server.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []vector
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	if len(all) < 20 {
		t.Fatalf("only %d lines", len(all))
	}
	return all
}

func TestVectors(t *testing.T) {
	skip := elsewhere()
	for _, v := range vectors(t) {
		if skip[v.ID] != "" {
			delete(skip, v.ID)
			continue
		}
		t.Run(v.ID, func(t *testing.T) {
			got := ""
			if v.Request.Bind != nil {
				got = startOf(v)
			} else {
				got = statusOf(t, v)
			}
			if want := fmt.Sprint(v.Expect); got != want {
				t.Errorf("got %s, want %s: %s", got, want, v.Reason)
			}
		})
	}
	for id := range skip {
		t.Errorf("%s is left out, but not there", id)
	}
}

func statusOf(t *testing.T, v vector) string {
	q := v.Request
	var header []string
	switch q.Auth {
	case "token":
		header = append(header, bearer)
	case "wrong":
		header = append(header, "Authorization: Bearer "+strings.Repeat("x", len(goodToken)))
	case "":
	default:
		t.Fatalf("auth %q is not known", q.Auth)
	}
	if q.Origin != nil {
		header = append(header, "Origin: "+*q.Origin)
	}
	if q.Session != "" {
		header = append(header, "Mcp-Session-Id: "+q.Session)
	}
	if q.Upgrade != "" {
		header = append(header, "Connection: Upgrade", "Upgrade: "+q.Upgrade)
	}
	h := new(reach)
	resp, _ := one(t, newGate(t, GuardOptions{}), h, request(q.Method+" "+q.Path, q.Host, header...))
	if (resp.StatusCode == 200) != (h.count() == 1) {
		t.Errorf("status %d, but the handler was reached %d times", resp.StatusCode, h.count())
	}
	for name := range resp.Header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("answer has %s", name)
		}
	}
	return fmt.Sprint(resp.StatusCode)
}

// startOf says what a bind line comes to. The address is one the person asked
// for, so the word is given; TestPlan has the cases without.
func startOf(v vector) string {
	b := Bind{Addr: *v.Request.Bind, Beyond: true, TLS: v.Request.TLS != nil}
	if v.Request.Token != nil {
		b.Token = goodToken
	}
	switch p, err := b.Plan(); {
	case err != nil:
		return "refuse"
	case p.Warning != "":
		return "start-with-warning"
	case p.Generate:
		return "start-with-generated-token"
	default:
		return "start"
	}
}
