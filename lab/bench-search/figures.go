package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// figures are what was measured as data. The ids:
//
//	search.TREE.QUERY.CONTENDER.wall, .cpu          ms, beside ripgrep in the flow of the era
//	search.TREE.QUERY.CONTENDER.rg13.wall, .rg13.cpu  the same with the older one, where there are two
//	search.TREE.QUERY.CONTENDER.new.wall, .new.cpu  ms, beside ripgrep in the new flow
//	search.goal.TREE.CONTENDER.CLASS.wall, .cpu     times ahead, the worst query of the class
//	search.memory.TREE.CONTENDER                    MiB of heap
//
// Blanks in a name are dashes: "any-case", "rare-or-no-match", and the class of
// all queries against the new flow is "new". Trees are small, medium and huge;
// contenders process, call, first, tree and index.
func figures(s *settings, reports []*report, verdicts []verdict) *proof.Sheet {
	sheet := &proof.Sheet{}
	for _, r := range reports {
		for _, race := range r.Races {
			race.figures(s, sheet, r.Tree.Name)
		}
		for _, name := range slices.Sorted(maps.Keys(r.Memory)) {
			sheet.Add(proof.Figure{ID: id("search.memory", r.Tree.Name, name), Unit: "MiB", Value: proof.MiB(r.Memory[name][0])})
		}
	}
	for _, v := range verdicts {
		class := v.Class
		switch {
		case strings.HasPrefix(class, "memory"):
			continue // it is above, in bytes
		case strings.HasPrefix(class, "all"):
			class = "new"
		}
		sheet.Add(proof.Figure{ID: id("search.goal", v.Tree, v.Contender, class, "wall"), Unit: "times", Value: v.Wall, Note: "The worst query is " + v.WorstByWall + "."})
		sheet.Add(proof.Figure{ID: id("search.goal", v.Tree, v.Contender, class, "cpu"), Unit: "times", Value: v.CPU, Note: "The worst query is " + v.WorstByCPU + "."})
	}
	return sheet
}

// figures are those of one query: each of helve's ways beside both flows.
func (r *race) figures(s *settings, sheet *proof.Sheet, tree string) {
	peers := map[string]*series{}
	for _, one := range r.Series {
		if ofRipgrep(one.Name) {
			peers[one.Name] = one
		}
	}
	for _, one := range r.Series {
		if ofRipgrep(one.Name) {
			continue
		}
		for _, p := range []struct {
			of   *series
			more string
		}{{r.Series[0], ""}, {peers["rg 13 era"], "rg13."}, {peers["rg new"], "new."}} {
			if p.of == nil || p.of == r.Series[0] && p.more != "" {
				continue
			}
			name := id("search", tree, r.Query.Name, one.Name) + "." + p.more
			sheet.Add(proof.Figure{ID: name + "wall", Unit: "ms", Value: proof.Millis(one.Wall), Peer: s.peerName(p.of.Name), PeerValue: proof.Millis(p.of.Wall)})
			sheet.Add(proof.Figure{ID: name + "cpu", Unit: "ms", Value: proof.Millis(one.CPU), Peer: s.peerName(p.of.Name), PeerValue: proof.Millis(p.of.CPU)})
		}
	}
}

func ofRipgrep(contender string) bool { return strings.HasPrefix(contender, "rg") }

// id makes an id of words that may hold blanks.
func id(words ...string) string {
	return strings.ReplaceAll(strings.ToLower(strings.Join(words, ".")), " ", "-")
}

// peerName is what people call one of ripgrep's contenders, with its version.
func (s *settings) peerName(contender string) string {
	path, flow := s.rg[1], "all lines, newest first"
	if contender == "rg 13 era" || path == "" {
		path = s.rg[0]
	}
	if contender == "rg new" {
		flow = "ended at the limit"
	}
	version := "ripgrep"
	if words := strings.Fields(s.versions[path]); len(words) > 1 {
		version += " " + words[1]
	}
	return version + ", " + flow
}
