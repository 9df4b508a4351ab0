package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func sh(code string) Program { return Program{Path: "sh", Args: []string{"-c", code}} }

func TestAnswer(t *testing.T) {
	r := room(t, nil)
	long := bytes.Repeat([]byte("question "), 100_000)
	for _, c := range []struct {
		code, want, fails string
	}{
		{code: "cat | wc -c", want: fmt.Sprint(len(long)) + "\n"},
		{code: "echo early", want: "early\n"}, // and reads nothing
		{code: "sleep 600 & echo gone on", want: "gone on\n"},
		{code: "echo why >&2; exit 3", fails: "sh ended with code 3: why"},
		{code: "exit 3", fails: "sh ended with code 3"},
		{code: "head -c 100000 /dev/zero >&2; exit 1", fails: "sh ended with code 1: "},
		{code: "cat /dev/zero", fails: "sh printed more than 1000 bytes"},
	} {
		got, err := r.Answer(t.Context(), sh(c.code), long, 1000)
		if c.fails == "" {
			if err != nil || string(got) != c.want {
				t.Errorf("%s: %q, %v", c.code, got, err)
			}
		} else if err == nil || !strings.HasPrefix(err.Error(), c.fails) {
			t.Errorf("%s: %v, and not %s", c.code, err, c.fails)
		}
	}
	if _, err := r.Answer(t.Context(), Program{Path: "no-such-program"}, nil, 1); err == nil {
		t.Error("a program that is not there has run")
	}
}

func TestAnswerIsCancelled(t *testing.T) {
	r := room(t, nil)
	why := errors.New("no longer wanted")
	ctx, cancel := context.WithCancelCause(t.Context())
	go cancel(why)
	if _, err := r.Answer(ctx, sh("trap '' TERM; sleep 600"), nil, 1000); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}

// Somebody else holds the pipe of a program that has ended, where the executor can
// not find them.
func TestAnswerIsHeld(t *testing.T) {
	r := room(t, nil)
	name := filepath.Join(t.TempDir(), "pid")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	held := make(chan *os.File, 1)
	go func() {
		pid, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
		}
		said, err := os.OpenFile("/proc/"+strings.TrimSpace(string(pid))+"/fd/2", os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
		}
		held <- said
		if err := os.WriteFile(name, []byte("go on\n"), 0); err != nil {
			t.Error(err)
		}
	}()
	code := fmt.Sprintf("echo $$ >'%s'; read x <'%[1]s'; echo $x", name)
	if got, err := r.Answer(t.Context(), sh(code), nil, 1000); err != nil || string(got) != "go on\n" {
		t.Errorf("got %q, %v", got, err)
	}
	(<-held).Close()
}
