package main

import (
	"cmp"
	"fmt"
	"strings"
)

// goals is the table of the search: how many times ahead of ripgrep the worst
// query of a class is, in processor and in wall time.
func (pg *page) goals() string {
	var out strings.Builder
	out.WriteString("| tree, contender, class | CPU | goal | | wall | goal | | worst query |\n|---|---|---|---|---|---|---|---|\n")
	var rows []wanted
	for _, w := range pg.plan.Wanted {
		if w.Table != "search-goals" {
			continue
		}
		rows = append(rows, w)
		if name, ok := strings.CutSuffix(w.ID, ".cpu"); ok {
			cpu, wall := pg.goal(name+".cpu"), pg.goal(name+".wall")
			fmt.Fprintf(&out, "| %s | %s | %s | %s |\n", w.What, cpu, wall, pg.worst(name))
		}
	}
	return out.String() + pg.reasons(rows)
}

// goal is what was measured of a figure, its goal and how it stands to it.
func (pg *page) goal(id string) string {
	measured := notMeasured
	f := pg.find(id)
	if f != nil {
		measured = times(f.Value)
	}
	for _, w := range pg.plan.Wanted {
		if w.ID == id {
			target := "–"
			if w.Least != nil {
				target = number(*w.Least)
			}
			return measured + " | " + target + " | " + mark(w.verdict(f))
		}
	}
	return measured + " | – | "
}

// worst names the slowest queries of a class, by processor and by wall time.
func (pg *page) worst(name string) string {
	cut := func(id string) string {
		return strings.TrimSuffix(strings.TrimPrefix(pg.note(id), "The worst query is "), ".")
	}
	cpu, wall := cut(name+".cpu"), cut(name+".wall")
	if cpu == wall {
		return cpu
	}
	return cmp.Or(cpu, "–") + " / " + cmp.Or(wall, "–")
}
