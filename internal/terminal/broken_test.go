package terminal

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/message"
)

// What broke off is erased, with all that belongs to it, where it can be.
func TestTranscriptBrokenOff(t *testing.T) {
	part := func(id string, kind message.PartType, said string) event.Event {
		return event.Event{Properties: event.PartUpdated{Part: message.Part{ID: id, Session: "ses_1", Message: "m", Type: kind, Text: said, Time: &message.Span{End: 1}}}}
	}
	gone := func(id string) event.Event { return event.Event{Properties: event.PartRemoved{Part: id}} }
	p := callPart("1", "read", `{}`, message.State{Status: message.Pending})
	p.ID, p.Session, p.Message = "c", "ses_1", "m"
	running := event.Event{Properties: event.PartUpdated{Part: p}}
	broken := brokeOff + "\n"
	for _, tc := range []struct {
		name   string
		height int
		events []event.Event
		want   string
	}{
		{"words", 24, []event.Event{part("t", message.Text, "one\ntwo"), gone("t"), part("u", message.Text, "all")}, "\none\ntwo\n\r\x1b[3A\x1b[J\nall\n"},
		{"thoughts and words", 24, []event.Event{part("r", message.Reasoning, "hm"), part("t", message.Text, "one"), running, gone("r"), gone("t"), gone("c"), part("u", message.Text, "all")},
			"\nhm\n\none\n\r\x1b[4A\x1b[J\nall\n"},
		{"the last of two", 24, []event.Event{part("t", message.Text, "one"), part("u", message.Text, "two"), gone("u"), part("v", message.Text, "three")},
			"\none\ntwo\n\r\x1b[1A\x1b[Jthree\n"},
		{"in the midst of a line", 24, []event.Event{part("t", message.Text, ""), deltaOf("t", "one tw"), gone("t")}, "\none tw\n\r\x1b[2A\x1b[J"},
		{"nothing to be seen", 24, []event.Event{part("t", message.Text, "\n\n"), gone("t")}, ""},
		{"more than the screen holds", 3, []event.Event{part("t", message.Text, "one\ntwo"), gone("t"), part("u", message.Text, "all")}, "\none\ntwo\n\n" + broken + "\nall\n"},
		{"no terminal", 0, []event.Event{part("t", message.Text, "one"), part("u", message.Text, "two"), gone("t"), gone("u")}, "\none\ntwo\n\n" + broken},
		{"wider than the screen", 24, []event.Event{part("t", message.Text, "```\n"+strings.Repeat("x", 50)+"\n```"), gone("t")},
			"\n```\n" + strings.Repeat("x", 50) + "\n```\n\n" + broken},
		{"something else was told since", 24, []event.Event{part("t", message.Text, "one"), {Properties: event.SessionCompacted{Session: "ses_1"}}, gone("t")},
			"\none\n\nThe conversation so far was summed up.\n\n" + broken},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out strings.Builder
			v := NewTranscript(TranscriptOptions{Out: &out, Session: "ses_1", Live: true, Reasoning: true, Width: 40, Height: tc.height, Prompted: true})
			v.Event(event.Event{Properties: event.MessageUpdated{Info: message.Info{ID: "m", Session: "ses_1", Role: message.Assistant}}})
			for _, e := range tc.events {
				v.Event(e)
			}
			v.Close()
			if len(v.calls) > 0 {
				t.Error("a call that is not to be is shown at work")
			}
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A person who wants no more of it does not have to wait for the end of a text.
func TestTranscriptHalts(t *testing.T) {
	said := strings.Repeat("wörd ", 20_000)
	for _, tc := range []struct{ slices, least, most int }{{1, sliceSize / 2, 2 * sliceSize}, {3, 2 * sliceSize, 4 * sliceSize}, {1000, len(said), 2 * len(said)}} {
		for _, live := range []bool{true, false} {
			var out strings.Builder
			asked := 0
			v := NewTranscript(TranscriptOptions{Out: &out, Session: "ses_1", Live: live, Halt: func() bool { asked++; return asked == tc.slices }})
			v.Event(event.Event{Properties: event.MessageUpdated{Info: message.Info{ID: "m", Session: "ses_1", Role: message.Assistant}}})
			v.Event(event.Event{Properties: event.PartUpdated{Part: message.Part{ID: "t", Message: "m", Type: message.Text, Text: said}}})
			v.Close()
			if n := out.Len(); n < tc.least || n > tc.most || strings.Contains(out.String(), `\x`) {
				t.Errorf("after %d slices (live: %t) %d bytes were told", tc.slices, live, n)
			}
		}
	}
}
