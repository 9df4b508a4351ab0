package builtin_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/builtin"
)

// recordedHost is what stands for the server of the recordings. It was one on
// the machine itself; ours is a public one by its name, since what is inside
// is asked about here.
const recordedHost = "recorded.example"

// A site is a page of that server.
type site struct {
	Path    string            `json:"path"`
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Text    string            `json:"text"`
	Base64  string            `json:"base64"`
	Repeat  *struct {
		Text  string `json:"text"`
		Count int    `json:"count"`
	} `json:"repeat"`
	Chunked bool     `json:"chunked"`
	Gzip    bool     `json:"gzip"`
	Echo    []string `json:"echo_headers"`
	Agent   string   `json:"unless_user_agent"` // other agents get Otherwise
	Other   *site    `json:"otherwise"`
}

// connect gives the runtime of a recording a network with its pages.
func (r recording) connect(t *testing.T, rt *helve.Runtime) {
	t.Helper()
	if !slices.Contains(r.needs(), "webfetch") {
		return
	}
	w := newWire(t, func(w http.ResponseWriter, req *http.Request) {
		for _, s := range r.HTTP {
			if s.Path == req.URL.Path {
				s.serve(t, w, req)
				return
			}
		}
		http.NotFound(w, req)
	})
	w.closed["127.0.0.1:9"] = true
	for _, one := range webTools(builtin.Web{Client: w.client(nil)}) {
		if _, err := rt.Register(one); err != nil {
			t.Fatal(err)
		}
	}
}

func (s site) serve(t *testing.T, w http.ResponseWriter, req *http.Request) {
	if s.Agent != "" && req.UserAgent() != s.Agent {
		s.Other.serve(t, w, req)
		return
	}
	body := s.body(t, req)
	h := w.Header()
	h["Content-Type"] = nil // none is guessed
	for name, value := range s.Headers {
		h.Set(name, value)
	}
	if s.Gzip {
		h.Set("Content-Encoding", "gzip")
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, _ = z.Write(body)
		_ = z.Close()
		body = packed.Bytes()
	}
	if !s.Chunked && s.Status != http.StatusNoContent {
		h.Set("Content-Length", fmt.Sprint(len(body)))
	}
	w.WriteHeader(max(s.Status, http.StatusOK))
	if s.Chunked {
		_ = http.NewResponseController(w).Flush()
	}
	_, _ = io.Copy(w, bytes.NewReader(body)) // who reads may have had enough
}

func (s site) body(t *testing.T, req *http.Request) []byte {
	switch {
	case s.Base64 != "":
		body, err := base64.StdEncoding.DecodeString(s.Base64)
		if err != nil {
			t.Error(err)
		}
		return body
	case s.Repeat != nil:
		return []byte(strings.Repeat(s.Repeat.Text, s.Repeat.Count))
	case s.Echo != nil:
		var lines []string
		for _, name := range s.Echo {
			value, err := json.Marshal(req.Header.Get(name))
			if err != nil {
				t.Error(err)
			}
			lines = append(lines, fmt.Sprintf(" %q: %s", name, value))
		}
		return []byte("{\n" + strings.Join(lines, ",\n") + "\n}")
	}
	return []byte(s.Text)
}
