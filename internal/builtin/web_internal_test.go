package builtin

import (
	"context"
	"errors"
	"github.com/helve-dev/helve/internal/web"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The time that a person takes does not count.
func TestStopwatchPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStopwatch(t.Context(), 10*time.Second)
		defer w.stop()
		child, cancel := context.WithCancel(w)
		defer cancel()
		time.Sleep(6 * time.Second)
		w.stopTimer()
		time.Sleep(time.Hour)
		synctest.Wait()
		if w.Err() != nil || child.Err() != nil {
			t.Fatalf("it runs on while it is paused: %v", w.Err())
		}
		w.resume()
		if end, ok := w.Deadline(); !ok || time.Until(end) != 4*time.Second {
			t.Errorf("it says that %v are left", time.Until(end))
		}
		time.Sleep(4*time.Second - 1)
		synctest.Wait()
		if child.Err() != nil {
			t.Error("it ends too early")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if !errors.Is(child.Err(), context.DeadlineExceeded) || !errors.Is(context.Cause(child), context.DeadlineExceeded) {
			t.Errorf("it ends as %v, %v", child.Err(), context.Cause(child))
		}
	})
}

// It ends with its parent, for the parent's reason, and when it is stopped.
func TestStopwatchEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		errWhy := errors.New("why")
		parent, cancel := context.WithCancelCause(t.Context())
		w := newStopwatch(parent, time.Minute)
		defer w.stop()
		child, end := context.WithCancel(w)
		defer end()
		cancel(errWhy)
		<-child.Done()
		if w.Err() != context.Canceled || context.Cause(child) != errWhy {
			t.Errorf("it ends as %v, %v", w.Err(), context.Cause(child))
		}
		w.stopTimer()
		w.resume() // which wakes nothing
		done := newStopwatch(t.Context(), time.Minute)
		done.stop()
		<-done.Done()
		if done.Err() != context.Canceled {
			t.Errorf("it was stopped and says %v", done.Err())
		}
	})
}

// What has to be said about a page is not cut off with its end.
func TestNoted(t *testing.T) {
	notes := []string{"Redirected to " + shortened("https://a.example/"+strings.Repeat("p", 60_000))}
	if len(notes[0]) > 400 {
		t.Errorf("a note of %d bytes", len(notes[0]))
	}
	if got := noted(strings.Repeat("x\n", 24_950), notes); !strings.HasPrefix(got, "(Redirected") {
		t.Error("the note is behind what is cut")
	}
	two := noted(strings.Repeat("x", 60_000), []string{"one", "two"})
	if !strings.HasPrefix(two, "(one) (two) xxx") {
		t.Errorf("got %.40q", two)
	}
	if got := noted("short", notes); !strings.HasPrefix(got, "short\n\n(Redirected") {
		t.Errorf("got %.40q", got)
	}
}

// What nobody sees does not go from Markdown, where it keeps apart what would
// mean something together.
func TestHiddenInMarkdown(t *testing.T) {
	for src, want := range map[string]string{
		"<p>&#x2060;# Evil":                      `\u{2060}# Evil`,
		"<pre>x\n``&#x2063;`\n# Evil</pre>":      "```\nx\n``\\u{2063}`\n# Evil\n```",
		"<p>a&#x2028;# E":                        `a\u{2028}# E`,
		"<img src=x alt='k&#x2029;&#x2029;# E'>": `![k\u{2029}\u{2029}# E](x)`,
		"<p>Donau&shy;dampf\u00ad \u2764\ufe0f":  "Donaudampf \u2764",
		"<p>\u200b# Evil":                        `\# Evil`,
		"<p>a\u2028# E":                          "a # E",
		"<p>&#x206a;&#x180b;x\U000e0149":         `\u{206a}\u{180b}x`,
	} {
		f := fetch{in: webfetchInput{Format: "markdown"}, turns: make(chan struct{}, 1)}
		if got, _, err := f.html(t.Context(), src); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", src, got, err, want)
		}
	}
	f := fetch{in: webfetchInput{Format: "markdown"}, turns: make(chan struct{}, 1)}
	if _, _, err := f.html(t.Context(), "<meta http-equiv=refresh content='0;url=http://x/y)\n\n(Only this'>"); err != nil || strings.Contains(f.refresh, "\n") {
		t.Errorf("%q, %v", f.refresh, err)
	}
}

func TestPatience(t *testing.T) {
	seconds := func(s float64) *float64 { return &s }
	for _, c := range []struct {
		room  Web
		asked *float64
		want  time.Duration
	}{
		{Web{}, nil, 30 * time.Second},
		{Web{}, seconds(0.5), 500 * time.Millisecond},
		{Web{}, seconds(500), 120 * time.Second},
		{Web{}, seconds(1e300), 120 * time.Second},
		{Web{Timeout: time.Minute, MaxTimeout: time.Second}, nil, time.Second},
		{Web{Timeout: time.Minute}, nil, time.Minute},
		{Web{}, seconds(0), 0},
		{Web{}, seconds(-1), 0},
	} {
		f := fetch{web: c.room, in: webfetchInput{Timeout: c.asked}}
		if got, err := f.patience(); got != c.want || (err != nil) != (c.want == 0) {
			t.Errorf("%+v: %s, %v, want %s", c, got, err, c.want)
		}
	}
}

// A character that a cut went through is left out, so that the rest is still
// known for UTF-8.
func TestHalfACharacter(t *testing.T) {
	for body, want := range map[string]string{
		"caf\xc3": "caf", "caf\xc3\xa9": "café", "x\xf0\x9f\x98": "x", "x": "x", "": "",
	} {
		if got := pageText(&web.Page{Body: []byte("é" + body), Cut: true}); got != "é"+want {
			t.Errorf("%q: %q", body, got)
		}
	}
}

func TestKindOf(t *testing.T) {
	const png, pdf = "\x89PNG\r\n\x1a\n\x00\x00", "%PDF-1.7\n%\xe2\xe3"
	for _, c := range []struct{ mime, body, want string }{
		{"text/html", "<p>x", "html"},
		{"application/xhtml+xml", "<p/>", "html"},
		{"text/html", png, "image"},
		{"text/html", "", "text"},
		{"", "", "text"},
		{"", "<!DOCTYPE html><p>x", "html"},
		{"", "plain", "text"},
		{"", png, "image"},
		{"application/octet-stream", pdf, "pdf"},
		{"application/octet-stream", "text", "text"},
		{"application/octet-stream", "<html>", "text"},
		{"application/octet-stream", "\x00\x01\x02\x03", "binary"},
		{"application/zip", "PK\x03\x04\x00\x00\x00\x00", "binary"},
		{"image/png", "what is it", "image"},
		{"image/svg+xml", "<svg/>", "text"},
		{"image/vnd.fastbidsheet", "text", "text"},
		{"application/pdf", "broken", "pdf"},
		{"text/plain", "%PDF-1.7 is how they begin", "text"},
		{"text/plain", "GIF89a", "text"},
		{"text/plain", "\x1b[1mbold\x1b[0m", "text"},
		{"text/plain", "\x7fELF\x00\x00\x00\x00\x00", "binary"},
		{"application/ld+json", "{}", "text"},
		{"application/x-sh", "echo", "text"},
		{"audio/mpeg", "ID3\x03\x00\x00\x00\x00", "binary"},
		{"model/obj", "v 1 2 3", "text"},
	} {
		if got := pageKind(&web.Page{Type: c.mime, Body: []byte(c.body)}); got != c.want {
			t.Errorf("%q of the type %q is taken for %s, want %s", c.body, c.mime, got, c.want)
		}
	}
}
