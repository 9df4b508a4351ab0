package command_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/helve-dev/helve/internal/command"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/permission"
)

type askFunc func(permission.Request) error

func (f askFunc) Ask(_ context.Context, reqs ...permission.Request) error {
	for _, req := range reqs {
		if err := f(req); err != nil {
			return err
		}
	}
	return nil
}

// A decision never fails on a text, and it is never looser than the last rule
// that matches the text of a command.
func FuzzJudge(f *testing.F) {
	for i, v := range load(f) {
		if command := generated(f, v.Command); len(command) < 500 && i%7 == 0 {
			f.Add(command)
		}
	}
	rules := rulesOf([][3]string{
		{"bash", "*", "allow"}, {"bash", "rm *", "deny"}, {"bash", "git push *", "ask"}, {"bash", "git push --dry-run", "allow"},
		{"read", "*", "allow"}, {"read", "*.env", "deny"}, {"edit", "*", "allow"}, {"external_directory", "*", "deny"},
	})
	s := newStage(f, ".env", "a.go", "sub/b")
	f.Fuzz(func(t *testing.T, line string) {
		got := s.decide(t, rules, line)
		if got.action == permission.Deny && got.decisions == nil {
			return // it can not be run at all
		}
		for _, u := range command.Parse(s.here(line)).Units {
			plain := permission.Evaluate("bash", u.Text, rules)
			if u.Kind != command.Command || u.Words[0].Value == "cd" {
				continue
			}
			at := slices.IndexFunc(got.decisions, func(d permission.Decision) bool {
				return d.Permission == "bash" && d.Pattern == u.Text
			})
			if at < 0 {
				t.Fatalf("%q: nobody is asked about %q", line, u.Text)
			}
			if looser(got.decisions[at].Action, plain.Action) {
				t.Fatalf("%q: %q is %s, and by its text alone %s", line, u.Text, got.decisions[at].Action, plain.Action)
			}
		}
	})
}

// quantiles reports the middle and the slowest of the times a decision takes.
func quantiles(b *testing.B, times []time.Duration) {
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkDecision takes the time of whole decisions: reading, looking at
// the disk, and the rules.
func BenchmarkDecision(b *testing.B) {
	part := "git log --oneline -5 | grep -v \"x y\" > out.txt; FOO=1 cat $X a.go 'b c' *.go; sh -c 'ls -la && npm test'; "
	for _, size := range []int{1 << 10, 64 << 10} {
		texts := map[string]string{
			"plain": strings.Repeat(part, size/len(part)+1)[:size/len(part)*len(part)],
			"words": "cat " + strings.Repeat("$a ", size/3),
			"files": "rm " + strings.Repeat("a/b ", size/4),
			"nests": strings.Repeat("$(", size/200) + strings.Repeat("env ", size/8) + strings.Repeat(")", size/200),
			"quote": "sh -c '" + strings.Repeat("a;", size/2) + "'",
		}
		for name, text := range texts {
			b.Run(fmt.Sprintf("%s/%dK", name, size>>10), func(b *testing.B) { benchmark(b, text) })
		}
	}
}

func benchmark(b *testing.B, text string) {
	s := newStage(b, ".env", "a.go", "c.go")
	rules := rulesOf(load(b)[0].Rules)
	var times []time.Duration
	files, place := &files.Workspace{Worktree: s.base + "/ws"}, command.Location{Dir: s.base + "/ws", Home: s.base}
	for b.Loop() {
		k := &knowing{court{policy: permission.Policy{Rules: rules}, verdict: verdict{action: permission.Allow}}}
		start := time.Now()
		if err := command.ReadLineIn(files, place, text).Ask(b.Context(), k); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(start))
	}
	quantiles(b, times)
}

// BenchmarkVectors takes the time of the decisions about every vector.
func BenchmarkVectors(b *testing.B) {
	all := load(b)
	s := newStage(b, ".env", "a.go")
	var times []time.Duration
	files, place := &files.Workspace{Worktree: s.base + "/ws"}, command.Location{Dir: s.base + "/ws", Home: s.base}
	for b.Loop() {
		for _, v := range all {
			text := s.here(generated(b, v.Command))
			if len(text) > 1<<10 {
				continue
			}
			k := &knowing{court{policy: permission.Policy{Rules: rulesOf(v.Rules)}, verdict: verdict{action: permission.Allow}}}
			start := time.Now()
			_ = command.ReadLineIn(files, place, text).Ask(b.Context(), k)
			times = append(times, time.Since(start))
		}
	}
	quantiles(b, times)
}
