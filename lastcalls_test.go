package helve

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/record"
)

// TestLastCalls reads sets as "id session/call files [undone|undoes]", newest
// first.
func TestLastCalls(t *testing.T) {
	for _, test := range []struct {
		name string
		sets []string
		last int // of session s, where it is negative
		want string
	}{
		{"nothing", nil, 1, ""},
		{"one", []string{"2 s/b f", "1 s/a f"}, 1, "2"},
		{"all of a call", []string{"4 s/b h", "3 s/b g", "2 s/b f", "1 s/a f"}, 1, "4 3 2"},
		{"two calls", []string{"4 s/c h", "3 s/b g", "2 s/b f", "1 s/a f"}, 2, "4 3 2"},
		{"more than there are", []string{"2 s/b f", "1 s/a f"}, 5, "2 1"},
		{"only what follows each other", []string{"3 s/b h", "2 s/a g", "1 s/b f"}, 1, "3"},
		{"the same call of another session", []string{"2 s/b g", "1 r/b f"}, 1, "2"},
		{"no call", []string{"2 s/ g", "1 s/ f"}, 1, "2"},
		{"taken back", []string{"5 s/ g undoes", "4 s/b g undone", "3 s/b f", "2 s/b e", "1 s/a e"}, 1, "3 2"},
		{"events", []string{"4 /event_2 log", "3 s/b g", "2 /event_1 log", "1 s/b f"}, 1, "3 1"},
		{"nothing but events", []string{"2 /event_2 log", "1 /event_1 log"}, 1, ""},
		{"an event before", []string{"2 s/b f", "1 /event_1 f"}, 2, "2"},
		{"an event over it", []string{"3 /event_2 f", "2 s/b f", "1 s/a f"}, 1, "3 2"},
		{"an event over an event", []string{"4 /event_3 log", "3 /event_2 g", "2 /event_1 f,g", "1 s/b f"}, 1, "3 2 1"},
		{"an event that was taken back", []string{"3 s/ f undoes", "2 /event_1 f undone", "1 s/b f"}, 1, "1"},
		{"a session", []string{"5 r/c g", "4 /event_1 f", "3 s/b f", "2 r/c g", "1 s/b e"}, -1, "4 3 1"},
		{"an event over an older call", []string{"3 s/b g", "2 /event_1 f", "1 s/a f"}, 1, "3"},
	} {
		var got []string
		req := record.UndoRequest{Last: test.last}
		if test.last < 0 {
			req = record.UndoRequest{Last: -test.last, Session: "s"}
		}
		for _, s := range lastCalls(slices.Values(setsOf(t, test.sets)), req) {
			got = append(got, s.ID)
		}
		if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

func setsOf(t *testing.T, lines []string) (sets []files.ChangeSet) {
	t.Helper()
	for _, l := range lines {
		var s files.ChangeSet
		var call, paths, state string
		if n, err := fmt.Sscan(l, &s.ID, &call, &paths, &state); n < 3 {
			t.Fatal(err)
		}
		s.Session, s.Call, _ = strings.Cut(call, "/")
		for f := range strings.SplitSeq(paths, ",") {
			s.Changes = append(s.Changes, files.KeptChange{Path: "/p/" + f})
		}
		switch state {
		case "undone":
			s.UndoneBy = "x"
		case "undoes":
			s.Undoes = []string{"y"}
		}
		sets = append(sets, s)
	}
	return sets
}
