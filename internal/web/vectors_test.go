package web

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// A vector is a line of testdata/web.jsonl: what the web is, what is asked of
// it, and what has to happen if all that is public is allowed.
type vector struct {
	ID, Kind, Reason string
	URL              json.RawMessage
	Chain            []string
	DNS              map[string]json.RawMessage
	Expect, Code     string
	Accept           []string
	Loop             bool
	DialMustBe       string `json:"dial_must_be"`
	Body             struct {
		ContentLength int `json:"content_length"`
		Send          int
		Encoding      string
		Slow          int `json:"slow_bytes_per_s"`
	}
}

func TestVectors(t *testing.T) {
	f, err := os.Open("testdata/web.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	count := 0
	for ; lines.Scan(); count++ {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		t.Run(v.ID, func(t *testing.T) { v.run(t) })
	}
	if lines.Err() != nil || count < 70 {
		t.Fatalf("%d lines, %v", count, lines.Err())
	}
}

func (v *vector) run(t *testing.T) {
	w := newWorld(t, v.serve)
	ctx, o := t.Context(), w.options()
	for host, raw := range v.DNS {
		var one []string
		var many [][]string
		switch {
		case json.Unmarshal(raw, &one) == nil:
			w.name(host, one...)
		case json.Unmarshal(raw, &many) == nil:
			w.names[host] = many
		default: // it does not answer
			o.Resolver = lookup(stuckLookup)
		}
	}
	if v.Code == CodeTimeout {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 100*time.Millisecond)
		defer cancel()
	}
	outcome, err := v.fetch(ctx, t, New(o))
	if outcome != v.Expect && !slices.Contains(v.Accept, outcome) {
		t.Errorf("%s: %s (%v), want %s", v.Reason, outcome, err, v.Expect)
	}
	if outcome == "error" && v.Code != "" && codeOf(err) != v.Code {
		t.Errorf("%s: %v, want %s", v.Reason, err, v.Code)
	}
	reached := w.reached()
	if v.Code == CodeInvalidURL && len(w.asked)+len(reached) > 0 {
		t.Errorf("%s: %v were looked up and %v dialled", v.Reason, w.asked, reached)
	}
	if v.DialMustBe != "" && !slices.Equal(reached, []string{v.DialMustBe + ":80"}) {
		t.Errorf("%s: %v were dialled", v.Reason, reached)
	}
}

// fetch is the outcome in the words of the file.
func (v *vector) fetch(ctx context.Context, t *testing.T, c *Client) (string, error) {
	raw := "http://example.com/"
	switch {
	case v.Chain != nil:
		raw = v.Chain[0]
	case v.URL != nil:
		raw = expand(t, v.URL)
	}
	at, err := Read(raw)
	if err == nil {
		_, err = c.Get(ctx, Get{Address: at, Judge: outsideOnly})
	}
	switch code := codeOf(err); {
	case err == nil:
		return "allow", nil
	case errors.Is(err, errAsked):
		return "ask", err
	case code == CodeBlockedAddress, code == CodeRedirectRefused && v.Expect == "deny":
		return "deny", err
	}
	return "error", err
}

// expand reads a string, or how to make a long one.
func expand(t *testing.T, raw json.RawMessage) (s string) {
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var long struct {
		Concat []json.RawMessage `json:"$concat"`
		Repeat string            `json:"$repeat"`
		Times  int
	}
	if err := json.Unmarshal(raw, &long); err != nil {
		t.Fatal(err)
	}
	s = strings.Repeat(long.Repeat, long.Times)
	for _, part := range long.Concat {
		s += expand(t, part)
	}
	return s
}

// serve answers as the vector says.
func (v *vector) serve(rw http.ResponseWriter, r *http.Request) {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	for i, at := range v.Chain[:max(len(v.Chain)-1, 0)] {
		if scheme+"://"+r.Host+r.URL.Path == at {
			rw.Header()["Location"] = []string{v.Chain[i+1]}
			rw.WriteHeader(http.StatusFound)
			return
		}
	}
	switch {
	case v.Body.Send > 0:
		conn, _, err := http.NewResponseController(rw).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", v.Body.ContentLength)
		io.Copy(conn, io.LimitReader(zeros{}, int64(v.Body.Send)))
	case v.Body.Slow > 0:
		io.WriteString(rw, "x")
		http.NewResponseController(rw).Flush()
		<-r.Context().Done()
	case v.Body.Encoding == "gzip":
		rw.Header().Set("Content-Encoding", "gzip")
		rw.Write(gzipped(make([]byte, 6<<20)))
	case v.Body.Encoding != "":
		rw.Header().Set("Content-Encoding", v.Body.Encoding)
	}
}
