package auth

import (
	"encoding/base64"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// clock is one that tests set.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newClock() *clock { return &clock{time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func TestCodeOnce(t *testing.T) {
	c := newClock()
	codes := NewCodes(c.now)
	text, expires := codes.Make()
	if raw, err := base64.RawURLEncoding.DecodeString(text); err != nil || len(raw) != 32 {
		t.Errorf("code %q: %v", text, err)
	}
	if !expires.Equal(c.at.Add(10 * time.Minute)) {
		t.Errorf("good until %s", expires)
	}
	for _, wrong := range []string{"", text[1:], text + "=", text + "x", strings.ToLower(text) + "x", strings.Repeat("A", 43), strings.Repeat("x", 1<<20)} {
		if codes.Take(wrong) {
			t.Errorf("%.50q is taken", wrong)
		}
	}
	if !codes.Take(text) {
		t.Error("the right one is not taken")
	}
	if codes.Take(text) {
		t.Error("it is taken twice")
	}
	if other, _ := codes.Make(); other == text {
		t.Error("the same again")
	}
}

func TestCodeTime(t *testing.T) {
	for after, want := range map[time.Duration]bool{
		0: true, codeTime - 1: true, codeTime: false, codeTime + 1: false, 1000 * time.Hour: false,
	} {
		c := newClock()
		codes := NewCodes(c.now)
		text, _ := codes.Make()
		c.at = c.at.Add(after)
		if got := codes.Take(text); got != want {
			t.Errorf("after %s: %v", after, got)
		}
		if len(codes.open) != 0 {
			t.Errorf("after %s: %d are kept", after, len(codes.open))
		}
	}
}

// The oldest falls out, and one that was used makes room.
func TestCodesMost(t *testing.T) {
	c := newClock()
	codes := NewCodes(c.now)
	var all []string
	for range maxCodes + 3 {
		text, _ := codes.Make()
		all = append(all, text)
		c.at = c.at.Add(time.Second)
	}
	for i, text := range all[:3] {
		if codes.Take(text) {
			t.Errorf("code %d is still good", i)
		}
	}
	if !codes.Take(all[10]) {
		t.Error("code 10 is not good")
	}
	codes.Make()
	for i, text := range all[3:] {
		if got := codes.Take(text); got != (i+3 != 10) {
			t.Errorf("code %d: %v", i+3, got)
		}
	}
	if len(codes.open) != 1 {
		t.Errorf("%d are left", len(codes.open))
	}
}

// Of many who take the same code at once, one gets it.
func TestCodeRace(t *testing.T) {
	codes := NewCodes(nil)
	for range 50 {
		text, _ := codes.Make()
		var got atomic.Int64
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				if codes.Take(text) {
					got.Add(1)
				}
				codes.Flooded()
			})
		}
		group.Go(func() { codes.Make() })
		group.Wait()
		if got.Load() != 1 {
			t.Fatalf("taken %d times", got.Load())
		}
	}
}

func TestCodesFlooded(t *testing.T) {
	c := newClock()
	codes := NewCodes(c.now)
	for i := range wrongBurst {
		if codes.Flooded() {
			t.Fatalf("flooded by %d", i)
		}
		codes.Take("wrong")
	}
	for range 1000 {
		codes.Take("wrong")
	}
	if !codes.Flooded() {
		t.Error("not flooded")
	}
	if text, _ := codes.Make(); !codes.Take(text) {
		t.Error("the right one is kept out")
	}
	if !codes.Flooded() {
		t.Error("a right one makes up for wrong ones")
	}
	c.at = c.at.Add(time.Second)
	for range wrongRate {
		if codes.Flooded() {
			t.Error("still flooded a second later")
		}
		codes.Take("wrong")
	}
	if !codes.Flooded() {
		t.Error("not flooded again")
	}
}

// Only hashes are kept.
func FuzzCode(f *testing.F) {
	for _, s := range []string{"", "A", strings.Repeat("A", 43), strings.Repeat("A", 44), "\x00", "é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		codes := NewCodes(newClock().now)
		good, _ := codes.Make()
		if codes.Take(text) || codes.Take(good+text) != (text == "") {
			t.Errorf("%q is taken", text)
		}
	})
}
