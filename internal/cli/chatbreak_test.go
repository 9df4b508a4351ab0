package cli_test

import (
	"strings"
	"testing"

	"helve/internal/modeltest"
)

// Whatever the model says, the person can stop it and leave.
func TestChatHostile(t *testing.T) {
	t.Parallel()
	b := chatBench(t, `{}`)
	hostile := strings.Repeat("[", 400_000) + strings.Repeat("*a ", 200_000)
	b.server.Script("say much", modeltest.Reply{Text: hostile}, modeltest.Reply{Text: hostile, Chunk: 1000, Pace: 5})
	r := enterRoom(t, b, "say", "much")
	r.sees("build · local/scripted")
	r.says("say much")
	r.sees("[[[[[")
	r.types("", "C-c", "C-c")
	if code := r.leaves(); code != "0" {
		t.Errorf("exit code %s", code)
	}
}

// An answer that broke off is not taken for one.
func TestBrokenOff(t *testing.T) {
	t.Parallel()
	b := chatBench(t, `{}`)
	b.server.Script("go on", modeltest.Reply{Text: "Broken words, and whole ones.", Chunk: 7, Fault: &modeltest.Fault{DropAfter: 4}})
	b.server.Script("once more", modeltest.Reply{Text: "Broken words, and whole ones.", Chunk: 7, Fault: &modeltest.Fault{DropAfter: 4}})
	out, errs, code := b.run("run", "go", "on")
	if first, last, ok := strings.Cut(out, "\n"); !ok || code != 0 || first == "" || !strings.HasPrefix("Broken words", first) || last != "Broken words, and whole ones.\n" {
		t.Errorf("exit code %d: %q\n%s", code, out, errs)
	}
	if !strings.Contains(errs, "The answer broke off and is asked for again.") {
		t.Error(errs)
	}
	r := enterRoom(t, b, "once", "more")
	r.sees("Broken words, and whole ones.")
	if n := strings.Count(r.screen(), "Broken"); n != 1 {
		t.Errorf("what broke off is still there:\n%s", r.screen())
	}
	r.sees("> ")
	r.types("", "C-d")
	if code := r.leaves(); code != "0" {
		t.Errorf("exit code %s", code)
	}
}
