package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// markdown writes the table of a tree.
func (r *report) markdown(w io.Writer) {
	fmt.Fprintf(w, "\n## %s\n\n%d files, %d folders, %.1f MB, %d files ignored; %d rounds. Median wall time in ms; in brackets how many times ahead of %s, wall / CPU.\n",
		r.Tree.Name, r.Tree.Files, r.Tree.Folders, float64(r.Tree.Bytes)/1e6, r.Tree.Ignored, r.Rounds, r.Era)
	if len(r.Races) == 0 {
		return
	}
	head, rule := "| query | lines |", "|---|---|"
	for _, s := range r.Races[0].Series {
		name := s.Name
		if s.Name == r.Era {
			name += " (CPU)"
		}
		head, rule = head+" "+name+" |", rule+"---|"
	}
	fmt.Fprintf(w, "\n%s\n%s\n", head, rule)
	for _, race := range r.Races {
		fmt.Fprintf(w, "| %s | %d |", race.Query.title(), race.Lines)
		for _, s := range race.Series {
			fmt.Fprintf(w, " %s |", r.cell(s))
		}
		fmt.Fprintln(w)
	}
	for _, race := range r.Races {
		for _, s := range race.Series {
			if s.Differs {
				fmt.Fprintf(w, "\n**%s, %s: not the same lines as %s** (%d in %d files)\n", race.Query.Name, s.Name, r.Era, s.Answer.Lines, s.Answer.Files)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Memory)) {
		m := r.Memory[name]
		fmt.Fprintf(w, "\nMemory of a process, %s: heap %.1f MB, resident %.1f MB\n", name, float64(m[0])/1e6, float64(m[1])/1e6)
	}
}

func (r *report) cell(s *series) string {
	switch {
	case s.Name == r.Era:
		return fmt.Sprintf("%s (%s)", ms(s.Wall), ms(s.CPU))
	case strings.HasPrefix(s.Name, "rg"):
		return ms(s.Wall)
	default:
		return fmt.Sprintf("%s (%s / %s)", ms(s.Wall), times(s.EraWall), times(s.EraCPU))
	}
}

func ms(d time.Duration) string { return times(float64(d) / 1e6) }

// times is a number with two digits that count.
func times(x float64) string {
	switch {
	case x >= 10:
		return fmt.Sprintf("%.0f", x)
	case x >= 1:
		return fmt.Sprintf("%.1f", x)
	case x >= 0.1:
		return fmt.Sprintf("%.2f", x)
	default:
		return fmt.Sprintf("%.3f", x)
	}
}
