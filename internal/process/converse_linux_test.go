package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestConverse(t *testing.T) {
	t.Setenv("SOME_API_KEY", "very-secret-value")
	secret := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(secret, []byte("very-secret-value"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := room(t, nil)
	long := bytes.Repeat([]byte("question "), 100_000)
	for _, c := range []struct {
		name, code string
		talk       Dialog
		want       Reply
		err        error
	}{
		{name: "all is read", code: "wc -c", talk: Dialog{Question: long, Limit: 100}, want: Reply{Out: fmt.Appendln(nil, len(long))}},
		{name: "nothing is read", code: "echo early", talk: Dialog{Question: long, Limit: 100}, want: Reply{Out: []byte("early\n")}},
		{name: "nothing is said", code: ":", talk: Dialog{Limit: 100}},
		{name: "nothing is kept", code: "head -c 1000000 /dev/zero"},
		{name: "a code", code: "echo out; echo why >&2; exit 3", talk: Dialog{Limit: 100}, want: Reply{Out: []byte("out\n"), Said: "why", Code: 3}},
		{name: "a signal", code: "kill -USR1 $$", talk: Dialog{Limit: 100}, want: Reply{Code: -1, Signal: "SIGUSR1"}},
		{name: "what is left behind", code: "sleep 600 & echo gone on", talk: Dialog{Limit: 100}, want: Reply{Out: []byte("gone on\n")}},
		{name: "what left its session", code: "setsid sh -c 'trap \"\" TERM; sleep 600' & echo gone", talk: Dialog{Limit: 100}, want: Reply{Out: []byte("gone\n")}},
		{name: "just enough", code: "printf 12345", talk: Dialog{Limit: 5}, want: Reply{Out: []byte("12345")}},
		{name: "one too many", code: "printf 123456", talk: Dialog{Limit: 5}, want: Reply{Out: []byte("12345")}, err: ErrTooMuch},
		{name: "endless", code: "exec cat /dev/zero", talk: Dialog{Limit: 4}, want: Reply{Out: make([]byte, 4)}, err: ErrTooMuch},
		{name: "late", code: "exec sleep 600", talk: Dialog{Limit: 5, Time: time.Millisecond}, err: ErrLate},
		{name: "late and deaf", code: "trap '' TERM; while :; do sleep 1; done", talk: Dialog{Time: 50 * time.Millisecond}, err: ErrLate},
		{name: "secrets", code: "cat " + secret + "; cat " + secret + " >&2", talk: Dialog{Limit: 100}, want: Reply{Out: []byte("[redacted:SOME_API_KEY]"), Said: "[redacted:SOME_API_KEY]"}},
		{name: "bytes that are no text", code: `printf '\377\376' >&2`, want: Reply{Said: "\ufffd"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := r.Converse(t.Context(), sh(c.code), c.talk)
			if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
				t.Errorf("got the error %v, want %v", err, c.err)
			}
			if !bytes.Equal(got.Out, c.want.Out) || got.Said != c.want.Said ||
				err == nil && (got.Code != c.want.Code || got.Signal != c.want.Signal) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
	if _, err := r.Converse(t.Context(), Program{Path: "no-such-program"}, Dialog{}); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("a program that is not there: %v", err)
	}
}

// A program is asked to end before it is ended, and can put things in order.
func TestConverseIsCancelled(t *testing.T) {
	r := room(t, nil)
	why := errors.New("no longer wanted")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	code := `trap 'echo tidied >&2; exit 7' TERM; echo ready >&2; while :; do sleep 0.01; done`
	reply, err := r.Converse(ctx, sh(code), Dialog{Limit: 100, grace: time.Minute, Line: func(line []byte) bool {
		if string(line) == "ready" {
			cancel(why)
		}
		return string(line) == "ready"
	}})
	if !errors.Is(err, why) || !strings.HasSuffix(reply.Said, "tidied") || reply.Code != 7 {
		t.Errorf("got %+v, %v", reply, err)
	}
}

// Lines are seen whole, as they come; what was taken is not told again.
func TestConverseLines(t *testing.T) {
	r := room(t, nil)
	var seen []string
	code := `echo one >&2; printf 'two\r\n' >&2; head -c 200000 /dev/zero | tr '\0' x >&2; echo >&2; echo three >&2; printf last >&2`
	reply, err := r.Converse(t.Context(), sh(code), Dialog{Line: func(line []byte) bool {
		seen = append(seen, string(line))
		return string(line) != "three"
	}})
	if err != nil || !slices.Equal(seen, []string{"one", "two", "three", "last"}) {
		t.Errorf("saw %.60q, %v", seen, err)
	}
	if len(reply.Said) > headSaid+tailSaid+100 || !strings.HasPrefix(reply.Said, "xxx") || !strings.HasSuffix(reply.Said, "three") ||
		!strings.Contains(reply.Said, "bytes are left out here") {
		t.Errorf("kept %d bytes: %.60q", len(reply.Said), reply.Said)
	}
}

// A pipe that nobody lets go of is read to the end of what is in it, also by a
// reader that comes late.
func TestPipeEnd(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if _, err := w.WriteString("still here"); err != nil {
		t.Fatal(err)
	}
	if err := r.SetReadDeadline(time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	reply, over := Dialog{Limit: 100}.take(&pipeEnd{file: r})
	if string(reply.Out) != "still here" || over {
		t.Errorf("got %q, %v", reply.Out, over)
	}
}

func TestEnds(t *testing.T) {
	var e ends
	for i := range 100_000 {
		e.add(fmt.Appendln(nil, i))
	}
	got := e.text()
	if !strings.HasPrefix(got, "0\n1\n2\n") || !strings.HasSuffix(got, "99998\n99999") || len(got) > headSaid+tailSaid+100 {
		t.Errorf("%d bytes: %.20q", len(got), got)
	}
	if cap(e.tail) > 8*tailSaid {
		t.Errorf("it holds %d bytes", cap(e.tail))
	}
}
