package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// TestFigures makes figures of a small report: each of helve's ways beside each
// of ripgrep's, goals and memory, under ids that are taken.
func TestFigures(t *testing.T) {
	s := &settings{rg: [2]string{"/13", "/15"}, versions: map[string]string{"/13": "ripgrep 13.0.0", "/15": "ripgrep 15.0.0 (rev x)"}}
	of := func(name string, ms time.Duration) *series {
		return &series{Name: name, Wall: ms * time.Millisecond, CPU: 2 * ms * time.Millisecond}
	}
	r := &report{
		Tree: &tree{Name: "small"}, Memory: map[string][2]int64{"index": {3 << 20, 9 << 20}},
		Races: []*race{{Query: query{Name: "any case", Op: opGrep}, Series: []*series{of("rg 15 era", 8), of("rg 13 era", 9), of("rg new", 4), of("call", 1)}}},
	}
	sheet := figures(s, []*report{r}, []verdict{
		{Tree: "small", Contender: "call", Class: classRare, Wall: 3, CPU: 2, WorstByWall: "rare", WorstByCPU: "include"},
		{Tree: "small", Contender: "first", Class: "all, against the new flow", Wall: 1, CPU: 1},
		{Tree: "huge", Contender: "tree", Class: "memory, MB of heap at the most", CPU: 1},
	})
	path := filepath.Join(t.TempDir(), "figures")
	if err := sheet.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	list, err := proof.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]proof.Figure{}
	for _, f := range list {
		got[f.ID] = f
	}
	const era, fresh = "ripgrep 15.0.0, all lines, newest first", "ripgrep 15.0.0, ended at the limit"
	for _, want := range []proof.Figure{
		{ID: "search.small.any-case.call.wall", Value: 1, Unit: "ms", Peer: era, PeerValue: 8},
		{ID: "search.small.any-case.call.cpu", Value: 2, Unit: "ms", Peer: era, PeerValue: 16},
		{ID: "search.small.any-case.call.rg13.wall", Value: 1, Unit: "ms", Peer: "ripgrep 13.0.0, all lines, newest first", PeerValue: 9},
		{ID: "search.small.any-case.call.new.wall", Value: 1, Unit: "ms", Peer: fresh, PeerValue: 4},
		{ID: "search.memory.small.index", Value: 3, Unit: "MiB"},
		{ID: "search.goal.small.call.rare-or-no-match.wall", Value: 3, Unit: "times", Note: "The worst query is rare."},
		{ID: "search.goal.small.call.rare-or-no-match.cpu", Value: 2, Unit: "times", Note: "The worst query is include."},
	} {
		if got[want.ID] != want {
			t.Errorf("%+v, want %+v", got[want.ID], want)
		}
	}
	if _, ok := got["search.goal.small.first.new.wall"]; !ok || len(list) != 11 {
		t.Errorf("%d figures: %+v", len(list), list)
	}
}
