package cli

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/message"
)

func deltaOf(seq int, part, words string) event.Event {
	return event.Event{Seq: uint64(seq), Type: "message.part.delta", Properties: event.PartDelta{Part: part, Field: "text", Delta: words}}
}

// Words that wait behind each other become one event. Nothing else does, and no
// word is lost.
func TestQueueMerges(t *testing.T) {
	var q queue
	for i, e := range []event.Event{
		deltaOf(1, "a", "one "), deltaOf(2, "a", "two "), deltaOf(3, "b", "x"), deltaOf(4, "a", "three "), deltaOf(5, "a", "four"),
		{Seq: 6, Properties: event.PartUpdated{Part: message.Part{ID: "a", Text: "one two three four"}}},
		{Seq: 7, Properties: event.SessionIdle{}}, {Seq: 8, Properties: event.SessionIdle{}}, deltaOf(9, "c", "y"),
		deltaOf(10, "d", strings.Repeat("z", mostMerged)), deltaOf(11, "d", "z"), deltaOf(12, "d", "z"),
	} {
		q.add(e)
		if i == 1 {
			_ = q.waiting[0].event() // was offered, and not taken
		}
	}
	var got []string
	for len(q.waiting) > 0 {
		e := q.waiting[0].event()
		line := fmt.Sprintf("%d %T", e.Seq, e.Properties)
		if p, ok := e.Properties.(event.PartDelta); ok {
			line = fmt.Sprintf("%d %s %s", e.Seq, p.Part, p.Delta)
		}
		got = append(got, line)
		q.removeFirst()
	}
	want := []string{"2 a one two ", "3 b x", "5 a three four", "6 event.PartUpdated", "7 event.SessionIdle", "8 event.SessionIdle", "9 c y",
		"10 d " + strings.Repeat("z", mostMerged), "12 d zz"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if q.size != 0 {
		t.Errorf("%d bytes wait in an empty queue", q.size)
	}
}

// A view that is slow makes the runtime wait, and not the memory grow.
func TestEagerlyBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many, size = 600, 1 << 20
		words := strings.Repeat("x", size)
		taken := 0
		events := eagerly(func(yield func(event.Event) bool) {
			for i := range many {
				taken++
				yield(event.Event{Seq: uint64(i), Properties: event.PartUpdated{Part: message.Part{Text: words}}})
			}
		})
		synctest.Wait()
		if taken > mostWaiting/size+2 {
			t.Errorf("%d events are kept", taken)
		}
		n := uint64(0)
		for e := range events {
			if e.Seq != n {
				t.Fatalf("event %d came as number %d", e.Seq, n)
			}
			n++
		}
		if n != many {
			t.Errorf("%d events came", n)
		}
	})
}
