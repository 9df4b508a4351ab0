package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// The classes of queries. What is rare in one tree may be less so in another:
// a query stays in its class, so that figures can be compared.
const (
	classRare     = "rare or no match" // all files have to be looked at
	classFrequent = "frequent"         // in large trees, the limit is reached early
)

func (q query) class() string {
	switch {
	case q.Op != opGrep:
		return q.Op
	case q.Name == "rare" || q.Name == "accents" || q.Name == "no match" || q.Name == "include":
		return classRare
	default:
		return classFrequent
	}
}

// A goal is how many times ahead a contender is to be in a class of queries,
// for the trees small, medium and huge: CPU, then wall. 0 is no goal.
type goal struct {
	contender, class string
	fresh            bool // compared with the new flow
	cpu, wall        [3]float64
}

func goals() []goal {
	return []goal{
		{"process", classRare, false, [3]float64{1.25, 1.25, 1.4}, [3]float64{1.5, 1.5, 2}},
		{"process", classFrequent, false, [3]float64{1.4, 2, 2.7}, [3]float64{1.7, 2, 3}},
		{"call", classRare, false, [3]float64{6, 1.3, 1.4}, [3]float64{7, 1.7, 2.2}},
		{"call", classFrequent, false, [3]float64{6, 2, 2.5}, [3]float64{8, 2.2, 2.7}},
		{"call", opGlob, false, [3]float64{15, 2, 1.4}, [3]float64{20, 2.5, 1.8}},
		{"call", opList, false, [3]float64{15, 30, 25}, [3]float64{25, 35, 50}},
		{"tree", classRare, false, [3]float64{9, 1.6, 1.8}, [3]float64{13, 2.2, 3.5}},
		{"tree", classFrequent, false, [3]float64{9, 7, 65}, [3]float64{11, 9, 65}},
		{"tree", opGlob, false, [3]float64{300, 500, 3000}, [3]float64{400, 1000, 5000}},
		{"index", classRare, false, [3]float64{30, 90, 300}, [3]float64{50, 130, 400}},
		{"index", classFrequent, false, [3]float64{12, 30, 250}, [3]float64{16, 25, 300}},
		{"first", "", true, [3]float64{0, 1.2, 0.9}, [3]float64{0, 1.5, 1.2}},
		{"index", "", true, [3]float64{0, 0, 0}, [3]float64{0, 3, 4}},
	}
}

// A verdict is a goal on a tree, and what was measured: the worst of the class.
type verdict struct {
	Tree, Contender, Class  string
	CPUGoal, WallGoal       float64
	CPU, Wall               float64
	CPUMedian, WallMedian   float64
	WorstByCPU, WorstByWall string // queries
	Reached                 bool
}

// judge compares what was measured with the goals.
func judge(reports []*report) (list []verdict) {
	for _, g := range goals() {
		for _, r := range reports {
			at := slices.Index([]string{"small", "medium", "huge"}, r.Tree.Name)
			if at < 0 || g.cpu[at] == 0 && g.wall[at] == 0 {
				continue
			}
			v := verdict{Tree: r.Tree.Name, Contender: g.contender, Class: g.class, CPUGoal: g.cpu[at], WallGoal: g.wall[at]}
			if g.fresh {
				v.Class = "all, against the new flow"
			}
			if v.weigh(r.of(g), g.fresh) {
				list = append(list, v)
			}
		}
	}
	return append(list, judgeMemory(reports)...)
}

// An outcome is a series and the query it belongs to.
type outcome struct {
	query string
	*series
}

// of finds the series that a goal is about.
func (r *report) of(g goal) (list []outcome) {
	for _, race := range r.Races {
		if g.class != race.Query.class() && (g.class != "" || race.Query.Op != opGrep) {
			continue
		}
		for _, s := range race.Series {
			if s.Name == g.contender {
				list = append(list, outcome{race.Query.Name, s})
			}
		}
	}
	return list
}

// weigh fills in what was measured; false if nothing was.
func (v *verdict) weigh(list []outcome, fresh bool) bool {
	var walls, cpus []float64
	for _, o := range list {
		wall, cpu := o.EraWall, o.EraCPU
		if fresh {
			wall, cpu = o.NewWall, o.NewCPU
		}
		if len(walls) == 0 || wall < slices.Min(walls) {
			v.WorstByWall = o.query
		}
		if len(cpus) == 0 || cpu < slices.Min(cpus) {
			v.WorstByCPU = o.query
		}
		walls, cpus = append(walls, wall), append(cpus, cpu)
	}
	if len(walls) == 0 || walls[0] == 0 {
		return false
	}
	v.Wall, v.CPU = slices.Min(walls), slices.Min(cpus)
	v.WallMedian, v.CPUMedian = proof.Median(walls), proof.Median(cpus)
	v.Reached = v.Wall >= v.WallGoal && v.CPU >= v.CPUGoal
	return true
}

// judgeMemory holds what a process with the huge tree keeps against its goal,
// in millions of bytes of heap; the figures stand in the place of ratios.
func judgeMemory(reports []*report) (list []verdict) {
	for _, r := range reports {
		for name, most := range map[string]float64{"tree": 40, "index": 120} {
			m, ok := r.Memory[name]
			if !ok || r.Tree.Name != "huge" {
				continue
			}
			most *= max(1, float64(r.Tree.Files)/100_000)
			got := float64(m[0]) / 1e6
			list = append(list, verdict{Tree: r.Tree.Name, Contender: name, Class: "memory, MB of heap at the most", CPUGoal: most, CPU: got, Reached: got <= most})
		}
	}
	slices.SortFunc(list, func(a, b verdict) int { return strings.Compare(a.Contender, b.Contender) })
	return list
}

func goalTable(w io.Writer, list []verdict) {
	if len(list) == 0 {
		return
	}
	fmt.Fprint(w, "\n## Goals\n\nCPU / wall; measured is the worst query of the class, and the median of the class beside it.\n\n"+
		"| tree | contender | class | goal | measured | median | worst | |\n|---|---|---|---|---|---|---|---|\n")
	for _, v := range list {
		verdict := "ok"
		if !v.Reached {
			verdict = "**short**"
		}
		worst := v.WorstByCPU
		if v.WorstByWall != worst {
			worst += " / " + v.WorstByWall
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", v.Tree, v.Contender, v.Class,
			pair(v.CPUGoal, v.WallGoal), pair(v.CPU, v.Wall), pair(v.CPUMedian, v.WallMedian), worst, verdict)
	}
}

func pair(cpu, wall float64) string {
	show := func(x float64) string {
		if x == 0 {
			return "–"
		}
		return times(x)
	}
	return show(cpu) + " / " + show(wall)
}
