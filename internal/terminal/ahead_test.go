package terminal_test

import (
	"github.com/helve-dev/helve/internal/terminal"
	"testing"
	"testing/synctest"
)

// What is typed ahead begins the next line, and Enter does not send it.
func TestAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, 20)
		var ahead terminal.Ahead
		go func() { _, _ = d.in.Write([]byte("one\rtwo\t\x1b[A\x04x\x7f six\x17\x1b[200~a\nb\x1b[201~")) }()
		synctest.Wait()
		for _, k := range d.keys.Forget() {
			ahead.Add(k)
		}
		if got := ahead.Text(); got != "one\ntwo a\nb" {
			t.Errorf("%q", got)
		}
		seen, got := d.edit(t, terminal.Line{Prompt: "> ", Text: ahead.Take()}, "!", "\r")
		if got.text != "one\ntwo a\nb!" || got.err != nil || seen != "> one\ntwo a\nb!▏" {
			t.Errorf("%q, %v:\n%s", got.text, got.err, seen)
		}
		if ahead.Text() != "" {
			t.Errorf("left: %q", ahead.Text())
		}
	})
}
