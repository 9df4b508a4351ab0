package terminal

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/record"
)

func deltaOf(part, words string) event.Event {
	return event.Event{Properties: event.PartDelta{Part: part, Field: "text", Delta: words}}
}

// What the model says is written as it is, once, whichever way it is told; what
// others say is not.
func TestSplit(t *testing.T) {
	var words, rest bytes.Buffer
	v := NewSplit(NewTranscript(TranscriptOptions{Out: &rest}), &words, false)
	info := func(id, session, role string, summary bool) event.Event {
		return event.Event{Properties: event.MessageUpdated{Info: message.Info{ID: id, Session: session, Role: role, Summary: summary}}}
	}
	part := func(id, msg string, kind message.PartType, said string) event.Event {
		return event.Event{Properties: event.PartUpdated{Part: message.Part{ID: id, Message: msg, Type: kind, Text: said}}}
	}
	delta := func(id, msg, said string) event.Event {
		return event.Event{Properties: event.PartDelta{Part: id, Message: msg, Field: "text", Delta: said}}
	}
	for _, e := range []event.Event{
		{Properties: event.SessionCreated{Info: record.Session{ID: "ses_1"}}},
		info("u", "ses_1", message.User, false), part("u1", "u", message.Text, "the prompt"),
		info("m", "ses_1", message.Assistant, false),
		part("r", "m", message.Reasoning, ""), delta("r", "m", "hmm"),
		part("t1", "m", message.Text, ""), delta("t1", "m", "a\x1b[0m"), delta("t1", "m", "b"), part("t1", "m", message.Text, "a\x1b[0mb and more"),
		info("c", "ses_2", message.Assistant, false), part("c1", "c", message.Text, "a child"),
		info("s", "ses_1", message.Assistant, true), part("s1", "s", message.Text, "a summary"),
		info("n", "ses_1", message.Assistant, false), part("t2", "n", message.Text, "next\n"), part("t3", "n", message.Text, "last"), part("t3", "n", message.Text, "last"),
	} {
		v.Event(e)
	}
	v.Close()
	if got, want := words.String(), "a\x1b[0mb and more\nnext\nlast\n"; got != want {
		t.Errorf("written was %q, not %q", got, want)
	}
}

// Words that cannot be taken back are told apart from the answer.
func TestSplitBrokenOff(t *testing.T) {
	var words, rest bytes.Buffer
	v := NewSplit(NewTranscript(TranscriptOptions{Out: &rest}), &words, false)
	begun := func(id string) event.Event {
		return event.Event{Properties: event.PartUpdated{Part: message.Part{ID: id, Message: "m", Type: message.Text}}}
	}
	gone := func(id string) event.Event { return event.Event{Properties: event.PartRemoved{Message: "m", Part: id}} }
	for _, e := range []event.Event{
		{Properties: event.SessionCreated{Info: record.Session{ID: "ses_1"}}},
		{Properties: event.MessageUpdated{Info: message.Info{ID: "m", Session: "ses_1", Role: message.Assistant}}},
		begun("t0"), gone("t0"), // nothing was said yet
		begun("t1"), deltaOf("t1", "The answ"), begun("t2"), deltaOf("t2", "er is"), gone("t1"), gone("t2"),
		begun("t3"), deltaOf("t3", "The answer is 42."),
	} {
		v.Event(e)
	}
	v.Close()
	if diff := cmp.Diff("The answ\ner is\nThe answer is 42.\n", words.String()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(brokeOff+"\n", rest.String()); diff != "" {
		t.Error(diff)
	}
}
