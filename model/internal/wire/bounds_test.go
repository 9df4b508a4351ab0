package wire

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helve-dev/helve/model"
)

func TestTally(t *testing.T) {
	tally := &Tally{Who: "Acme"}
	if err := tally.Piece(strings.Repeat("x", maxAnswer-pieceWeight)); err != nil {
		t.Error(err)
	}
	e, ok := errors.AsType[*model.Error](tally.Piece())
	if !ok || e.Kind != model.Invalid || !strings.Contains(e.Message, "32 MiB") {
		t.Error(e)
	}
	tally = &Tally{Who: "Acme"}
	for range maxCalls {
		if err := tally.Call(); err != nil {
			t.Fatal(err)
		}
	}
	if err := tally.Call(); err == nil || !strings.Contains(err.Error(), "1000 calls") {
		t.Error(err)
	}
}

func TestFew(t *testing.T) {
	var got struct{ A, B, C Few[int] }
	err := json.Unmarshal([]byte(`{"A": [1, 2], "B": null, "C": []}`), &got)
	if err != nil || len(got.A) != 2 || got.A[1] != 2 || got.B != nil || got.C == nil {
		t.Errorf("%+v %v", got, err)
	}
	for _, bad := range []string{`{"A":{}}`, `{"A":["x"]}`, `{"A":7}`} {
		if err := json.Unmarshal([]byte(bad), &got); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
	if err := json.Unmarshal([]byte("[1"+strings.Repeat(",1", maxList)+"]"), &got.A); !errors.Is(err, ErrTooMany) {
		t.Error(err)
	}
}

// What would be the same when it is asked for again is not asked for again.
func TestAnswersNotTaken(t *testing.T) {
	for name, c := range map[string]struct{ kind, coding, body, words string }{
		"a long event":   {"text/event-stream", "", "data: " + strings.Repeat("x", maxEvent) + "\n\n", "ask for less"},
		"a long text":    {"application/json", "", "{" + strings.Repeat(" ", maxEvent), "ask for less"},
		"many comments":  {"text/event-stream", "", strings.Repeat(":"+strings.Repeat("x", 1<<12)+"\n\n", 2<<10), "ask for less"},
		"white space":    {"application/json", "", strings.Repeat(" \n", maxBlank), "white space"},
		"a packed one":   {"text/event-stream", "GZIP", "\x1f\x8b", "compressed answer (GZIP)"},
		"packed as what": {"text/event-stream", "\x01" + secret, "x", "compressed answer ([secret])"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				if c.coding != "" {
					w.Header().Set("Content-Encoding", strings.TrimPrefix(c.coding, "\x01"))
				}
				_, _ = io.WriteString(w, c.body)
			})
			e := failure(t, dial(t, Options{Endpoint: s.URL}), nil)
			if e.Kind != model.Invalid || e.Again() || !strings.Contains(e.Message, c.words) {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestPackedRefusal(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.WriteHeader(503)
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, "busy")
		_ = z.Close()
	})
	if e := failure(t, dial(t, Options{Endpoint: s.URL}), nil); e.Kind != model.Overloaded || !strings.Contains(e.Message, "fault (HTTP 503)") {
		t.Errorf("%+v", e)
	}
}

// talking is a server without a network that says the same every second.
type talking struct{ first, then string }

func (s talking) RoundTrip(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body)
	out, in := io.Pipe()
	stop := context.AfterFunc(r.Context(), func() { in.CloseWithError(context.Cause(r.Context())) })
	go func() {
		defer stop()
		_, err := io.WriteString(in, s.first)
		for err == nil {
			select {
			case <-time.After(time.Second):
				_, err = io.WriteString(in, s.then)
			case <-r.Context().Done():
				return
			}
		}
	}()
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: out, Request: r}, nil
}

// Comments are a sign of life, but not for ever.
func TestOnlyComments(t *testing.T) {
	for _, then := range []string{": ping\n\n", "\n", "event: x\n\n"} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			c := dial(t, Options{Endpoint: "https://acme.com", HTTP: &http.Client{Transport: talking{"data: a\n\n", then}}})
			got, err := post(t.Context(), c, nil)
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Kind != model.Broken || len(got) != 1 || !strings.Contains(e.Message, "signs of life") {
				t.Errorf("%v %v", got, err)
			}
			if d := time.Since(began); d < maxQuiet || d > maxQuiet+time.Minute {
				t.Error(d)
			}
			synctest.Wait()
		})
	}
}

// After the end there is time for what belongs to it, and no more.
func TestEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, Options{Endpoint: "https://acme.com", HTTP: &http.Client{Transport: talking{"data: a\n\n", "data: b\n\n"}}})
		began, n := time.Now(), 0
		var last error
		for e, err := range c.Post(t.Context(), nil, nil) {
			if last = err; n == 0 {
				time.Sleep(time.Hour) // who reads may take its time
				began = time.Now()
				e.Ends()
			}
			n++
		}
		if e, ok := errors.AsType[*model.Error](last); !ok || e.Kind != model.Broken || n < 4 || time.Since(began) > 2*maxLinger {
			t.Error(n, last, time.Since(began))
		}
		synctest.Wait()
	})
	Event{}.Ends() // of no stream
}

func TestScrubsWhatIsEscaped(t *testing.T) {
	const key = `sk-a/b+c"d'e\f=é😀 z`
	c, err := New(Options{Endpoint: "http://acme.com", Secrets: []string{key}})
	if err != nil {
		t.Fatal(err)
	}
	asJSON, _ := json.Marshal(key)
	twice, _ := json.Marshal(string(asJSON))
	var numbers, percent string
	for _, b := range []byte("sk-a/b+c") {
		numbers += `\u00` + strings.ToUpper(hex(b))
		percent += "%" + hex(b)
	}
	rest := `"d'e\f=é😀 z`
	for name, form := range map[string]string{
		"plain":          key,
		"JSON":           string(asJSON),
		"JSON in JSON":   string(twice),
		"JSON of PHP":    strings.ReplaceAll(string(asJSON), "/", `\/`),
		"JSON in ASCII":  strings.NewReplacer("é", `\u00e9`, "😀", `\ud83d\ude00`).Replace(string(asJSON)),
		"all numbers":    numbers + rest,
		"Python":         strings.NewReplacer(`\`, `\\`, `'`, `\'`, "é", `\xe9`).Replace(key),
		"in a query":     url.QueryEscape(key),
		"in a path":      url.PathEscape(key),
		"twice in a URL": url.QueryEscape(url.QueryEscape(key)),
		"all percent":    percent + url.PathEscape(rest),
	} {
		got := c.Scrub("<" + form + ">")
		if !strings.Contains(got, "[secret]") || strings.Contains(got, "sk") || strings.Contains(got, "z") {
			t.Errorf("%s: %q is left of %q", name, got, form)
		}
	}
	if got := c.Scrub("sk-a/b"); got != "sk-a/b" {
		t.Error(got)
	}
}

func hex(b byte) string { return string([]byte{"0123456789abcdef"[b>>4], "0123456789abcdef"[b&15]}) }

func TestRequestIDs(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Request-Id", strings.Repeat("é", 90)+secret+strings.Repeat("é", 500))
		w.WriteHeader(400)
	})
	e := failure(t, dial(t, Options{Endpoint: s.URL}), nil)
	if len(e.RequestID) > maxBrief || strings.Contains(e.RequestID, "sk-") || !strings.HasSuffix(e.RequestID, "…") {
		t.Errorf("%q", e.RequestID)
	}
	if got := dial(t, Options{Endpoint: s.URL}).Brief("a\r\n\x1b[31mb"); got != "a [31mb" {
		t.Errorf("%q", got)
	}
}

func TestClean(t *testing.T) {
	c := dial(t, Options{Endpoint: "http://acme.com"})
	known := errors.New("known")
	e := &model.Error{Message: "m", Err: known}
	if c.Clean(e); !errors.Is(e, known) {
		t.Error(e.Err)
	}
	e = &model.Error{Message: secret, RequestID: secret, Err: errors.New(strings.Repeat("x", 1<<20) + secret)}
	if c.Clean(e); e.Message != "[secret]" || e.RequestID != "[secret]" || len(e.Err.Error()) > 2*maxWords {
		t.Errorf("%+v", e)
	}
}
