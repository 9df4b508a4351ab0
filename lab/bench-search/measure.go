package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// An entrant is a contender that takes part.
type entrant struct {
	name   string
	worker *worker
	calls  bool // it makes calls in its own process, so quick ones that they are repeated
	warm   bool // what it keeps is complete
}

// A series is what one contender did with one query.
type series struct {
	Name    string
	Samples []sample // one a round
	// Medians over the rounds; the ratios are those within a round, how many
	// times the contender was quicker than the flow of the era and than the new one.
	Wall, CPU, First time.Duration
	EraWall, EraCPU  float64
	NewWall, NewCPU  float64
	Repeat           int // calls a sample
	Answer           answer
	Differs          bool // not the lines that the flow of the era shows
}

// A race is one query and all who ran it.
type race struct {
	Query  query
	Lines  int // that match in the tree
	Series []*series
}

// A report is what was measured on a tree.
type report struct {
	Tree   *tree
	Rounds int
	Era    string // what the ratios compare with
	Races  []*race
	Memory map[string][2]int64 // heap and resident bytes by contender
}

// measure runs all queries with all contenders on a tree.
func measure(s *settings, t *tree, log io.Writer) (*report, error) {
	data, err := os.MkdirTemp("", "bench-search-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(data)
	entrants, err := enterAll(s, t, data)
	defer func() {
		for _, e := range entrants {
			e.worker.close()
		}
	}()
	if err != nil {
		return nil, err
	}
	r := &report{Tree: t, Rounds: roundsOf(s, t), Era: entrants[0].name, Memory: map[string][2]int64{}}
	for _, q := range queries() {
		if !strings.Contains(q.Name, s.only) {
			continue
		}
		fmt.Fprintf(log, "%s: %s\n", t.Name, q.Name)
		race, err := runRace(entrants, q, r.Rounds)
		if err != nil {
			return nil, err
		}
		if race.Lines, err = countLines(s, q, t.dir); err != nil {
			return nil, err
		}
		r.Races = append(r.Races, race)
	}
	if !s.memory {
		return r, nil
	}
	for _, e := range entrants {
		if e.calls {
			m, err := e.worker.do(job{Rest: true, Memory: true})
			if err != nil {
				return nil, err
			}
			r.Memory[e.name] = [2]int64{m.Heap, m.RSS}
		}
	}
	return r, nil
}

func roundsOf(s *settings, t *tree) int {
	switch {
	case s.rounds > 0:
		return s.rounds
	case t.Files < 1000:
		return 21
	case t.Files < 50_000:
		return 9
	default:
		return 5
	}
}

// enterAll starts the contenders. The first is what the others are compared with.
func enterAll(s *settings, t *tree, data string) ([]*entrant, error) {
	newest := s.rg[1]
	if newest == "" {
		newest = s.rg[0]
	}
	var all []*entrant
	for _, c := range []struct{ name, kind, program string }{
		{"rg 15 era", kindEra, s.rg[1]}, {"rg 13 era", kindEra, s.rg[0]}, {"rg new", kindNew, newest}, {"process", kindProcess, s.helve},
		{"call", kindNone, "-"}, {"first", kindFirst, "-"}, {"tree", kindTree, "-"}, {"index", kindIndex, "-"},
	} {
		if c.program == "" || len(all) > 0 && !s.wants(c.name) {
			continue
		}
		w, err := startWorker(setup{Kind: c.kind, Dir: t.dir, Program: c.program, Commands: s.commands, Data: data, Drive: s.drive})
		if err != nil {
			return all, err
		}
		all = append(all, &entrant{name: c.name, worker: w, calls: c.program == "-"})
	}
	return all, nil
}

// runRace lets all run a query, in turn and each round in another order.
func runRace(entrants []*entrant, q query, rounds int) (*race, error) {
	r := &race{Query: q}
	for _, e := range entrants {
		n, err := e.prepare(q)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", e.name, q.Name, err)
		}
		r.Series = append(r.Series, &series{Name: e.name, Repeat: n})
	}
	for round := range rounds {
		for i := range entrants {
			at := (i + round) % len(entrants)
			sample, err := entrants[at].worker.do(job{Query: q, Repeat: r.Series[at].Repeat})
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", entrants[at].name, q.Name, err)
			}
			r.Series[at].Samples = append(r.Series[at].Samples, sample)
		}
	}
	era := r.Series[0]
	fresh := slices.IndexFunc(r.Series, func(s *series) bool { return s.Name == "rg new" })
	for _, s := range r.Series {
		s.sum(era)
		if fresh >= 0 {
			s.NewWall, s.NewCPU = ratios(r.Series[fresh].Samples, s.Samples)
		}
	}
	return r, nil
}

// prepare calls often enough that all that is kept is there, and says how many
// calls a sample needs so that the clock of CPU time can tell.
func (e *entrant) prepare(q query) (int, error) {
	s, err := e.worker.do(job{Query: q, Repeat: 1})
	if err != nil || !e.calls {
		return 1, err
	}
	for !e.warm && err == nil {
		if _, err = e.worker.do(job{Query: q, Repeat: 2}); err == nil {
			s, err = e.worker.do(job{Query: q, Repeat: 1, Rest: true})
		}
		e.warm = true
	}
	const enough = 5 * time.Millisecond
	return int(min(max(enough/max(s.Wall, time.Microsecond), 1), 500)), err
}

// sum takes the medians of a series.
func (s *series) sum(era *series) {
	var wall, cpu, first []time.Duration
	for _, x := range s.Samples {
		wall, cpu, first = append(wall, x.Wall), append(cpu, x.CPU), append(first, x.First)
	}
	s.Wall, s.CPU, s.First = proof.Median(wall), proof.Median(cpu), proof.Median(first)
	s.EraWall, s.EraCPU = ratios(era.Samples, s.Samples)
	s.Answer = s.Samples[len(s.Samples)-1].Answer
	base := era.Samples[len(era.Samples)-1].Answer
	s.Differs = s.Answer.Digest != 0 && base.Digest != 0 && s.Answer.Digest != base.Digest
}

// ratios are the medians of how many times quicker b was than a.
func ratios(a, b []sample) (wall, cpu float64) {
	var walls, cpus []float64
	for i := range b {
		walls = append(walls, float64(a[i].Wall)/float64(max(b[i].Wall, 1)))
		cpus = append(cpus, float64(a[i].CPU)/float64(max(b[i].CPU, time.Microsecond)))
	}
	return proof.Median(walls), proof.Median(cpus)
}

// countLines counts the lines that a query matches in the whole tree.
func countLines(s *settings, q query, dir string) (int, error) {
	if q.Op != opGrep {
		return 0, nil
	}
	rg := s.rg[1]
	if rg == "" {
		rg = s.rg[0]
	}
	args := []string{"--no-config", "--count", "--no-filename", "--hidden", "--regexp", q.Pattern}
	if q.Include != "" {
		args = append(args, "--glob", q.Include)
	}
	out, err := exec.Command(rg, append(args, dir)...).Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return 0, fmt.Errorf("counting the lines of %s: %w", q.Name, err)
	}
	total := 0
	for line := range bytes.FieldsSeq(out) {
		n, err := strconv.Atoi(string(line))
		if err != nil {
			return 0, fmt.Errorf("counting the lines of %s: %w", q.Name, err)
		}
		total += n
	}
	return total, nil
}
