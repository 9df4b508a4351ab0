package process

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// The listener hears at once, then ten times a second at most, and always the
// last state.
func TestListen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type call struct {
			at   time.Duration
			text string
		}
		start := time.Now()
		var calls []call
		c := NewCapture(CaptureOptions{Listen: func(o Output) { calls = append(calls, call{time.Since(start), o.Head}) }})
		c.eof, c.quiet, c.news = make(chan struct{}), make(chan struct{}), make(chan struct{}, 1)
		go c.notify()
		say := func(text string) {
			c.took([]byte(text))
			synctest.Wait()
		}
		say("a")
		time.Sleep(30 * time.Millisecond)
		say("b")
		say("c")
		time.Sleep(500 * time.Millisecond)
		say("d")
		say("e")
		close(c.eof)
		<-c.quiet
		want := []call{{0, "a"}, {100 * time.Millisecond, "abc"}, {530 * time.Millisecond, "abcd"}, {530 * time.Millisecond, "abcde"}}
		if len(calls) != len(want) {
			t.Fatalf("%v", calls)
		}
		for i := range want {
			if calls[i] != want[i] {
				t.Errorf("%v, want %v", calls[i], want[i])
			}
		}
	})
}

// A listener that hangs does not hold up the stream.
func TestSlowListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard atomic.Int64
		free := make(chan struct{})
		c := NewCapture(CaptureOptions{Listen: func(o Output) {
			heard.Store(o.Bytes)
			<-free
		}})
		c.eof, c.quiet, c.news = make(chan struct{}), make(chan struct{}), make(chan struct{}, 1)
		go c.notify()
		for range 100 {
			c.took([]byte("x"))
			synctest.Wait()
		}
		if heard.Load() != 1 || c.Output().Bytes != 100 {
			t.Errorf("heard of %d of %d", heard.Load(), c.Output().Bytes)
		}
		close(free)
		close(c.eof)
		<-c.quiet
		if heard.Load() != 100 {
			t.Errorf("heard of %d in the end", heard.Load())
		}
	})
}
