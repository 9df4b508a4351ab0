package helve

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/loop"
	"github.com/helve-dev/helve/message"
)

// What the feed keeps is bounded in bytes, metadata counted in, and it always
// keeps the newest event.
func TestFeedIsBounded(t *testing.T) {
	f := newEventLog(time.Now)
	big := strings.Repeat("x", 2*feedBytes)
	for range 100 {
		f.publish(event.CallProgress{Title: big[:1<<20]})
	}
	if f.bytes > feedBytes || len(f.events) == 0 {
		t.Errorf("%d events of %d bytes are kept", len(f.events), f.bytes)
	}
	f.publish(event.CallProgress{Title: big})
	if len(f.events) != 1 || f.events[0].Seq != 101 {
		t.Errorf("one event larger than all: %d are kept", len(f.events))
	}
	for range 2 * feedEvents {
		f.publish(event.ToolsChanged{})
	}
	if len(f.events) > feedEvents {
		t.Errorf("%d events are kept", len(f.events))
	}
}

// The metadata of a call counts also where a message tells of it.
func TestPartsWeighTheirMetadata(t *testing.T) {
	f := newEventLog(time.Now)
	k := messageStore{&Runtime{events: f}}
	p := message.Part{Type: message.Tool, State: &message.State{Metadata: map[string]any{"files": []string{strings.Repeat("x", 1<<20)}}}}
	for range 100 {
		k.Tell(loop.News{Part: &p})
	}
	if n := len(f.events); n == 0 || n<<20 > feedBytes {
		t.Errorf("%d parts of 1 MiB each are kept", n)
	}
}

// A subscriber that comes with a number from before a restart is not left
// waiting for that number.
func TestNumbersFromBeforeARestart(t *testing.T) {
	f := newEventLog(time.Now)
	f.publish(event.ToolsChanged{})
	for e := range f.after(t.Context(), 500) {
		if e.Seq != 1 {
			t.Errorf("got event %d", e.Seq)
		}
		break
	}
}

// A flush waits until subscribers are done with what was published, for one that
// stands still not for long, and not for one that has left.
func TestFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, goOn := newEventLog(time.Now), make(chan bool)
		go func() {
			for range f.after(t.Context(), 0) {
				if !<-goOn {
					return
				}
			}
		}()
		synctest.Wait()
		for range 3 {
			f.publish(event.ToolsChanged{})
		}
		flush := func() *bool {
			done := new(bool)
			go func() {
				f.flush()
				*done = true
			}()
			synctest.Wait()
			return done
		}
		done := flush()
		for i := range 3 {
			if *done {
				t.Errorf("it ends before event %d was heard", i)
			}
			goOn <- true
			synctest.Wait()
		}
		if !*done || !*flush() {
			t.Error("it waits although all was heard")
		}
		f.publish(event.ToolsChanged{})
		began := time.Now()
		f.flush()
		if waited := time.Since(began); waited != hearTime {
			t.Errorf("it waits %s for a subscriber that stands still", waited)
		}
		goOn <- false
		synctest.Wait()
		if f.publish(event.ToolsChanged{}); !*flush() {
			t.Error("it waits for a subscriber that has left")
		}
	})
}

// Ids sort by age, also within a millisecond and when the clock steps back.
func TestIDsNeverRunBackwards(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	g := &ids{now: func() time.Time { return now }}
	last := ""
	for i := range 20_000 {
		if i == 10_000 {
			now = now.Add(-time.Hour)
		}
		id := g.next("ses")
		if len(id) != len("ses_")+26 {
			t.Fatalf("%s is not 26 characters long", id)
		}
		if id[:16] <= last {
			t.Fatalf("%s comes after %s", id, last)
		}
		last = id[:16]
	}
}
