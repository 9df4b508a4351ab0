package judge_test

import (
	"testing"

	"helve/permission"
)

// noRemoval are rules that deny two commands and allow everything else.
func noRemoval() permission.Ruleset {
	return rulesOf([][3]string{{"*", "*", "allow"}, {"bash", "rm *", "deny"}, {"bash", "git push *", "deny"}})
}

// A mended is a way to run a command unseen that was found and closed: lines
// that bash runs rm or git push by, and lines like them that do not.
type mended struct {
	stopped, quiet []string
}

func (m mended) check(t *testing.T) {
	t.Helper()
	s := newStage(t, "a.txt", "b.txt", "x", "list", "a.c", "Makefile")
	for _, line := range m.stopped {
		if got := s.decide(t, noRemoval(), line); got.action == permission.Allow {
			t.Errorf("%q is let through", line)
		}
	}
	for _, line := range m.quiet {
		if got := s.decide(t, noRemoval(), line); got.action != permission.Allow {
			t.Errorf("%q is held up: %s", line, got.action)
		}
	}
}

// TestSpreadWords: a list in braces or a variable may be several words, and
// then what stands behind them is another.
func TestSpreadWords(t *testing.T) {
	mended{
		stopped: []string{
			"flock {q,rm} x", "xargs -n {1,rm} <<< x", "trap {'rm x',EXIT}", "sqlite3 {:memory:,'.shell rm x'}", "perf {stat,rm} x", "make {-f,-} <<< '$(shell rm x)'",
			"a='q rm'; flock $a x", "a='1 rm'; xargs -n $a <<< x", "a=\"1 rm\"; watch -n $a", "a='rm EXIT'; trap $a", "bash {-s,a} <<< 'rm x'", "a='-s q'; bash $a <<< 'rm x'",
		},
		quiet: []string{
			"mkdir -p a/{b,c}", "cp a.txt{,.bak}", "a='x y'; ls $a", "touch {1..3}.txt", "flock q ls {a,b}", "xargs -n 1 ls {a,b} < list", "make {all,test}", "a='-l -a'; ls $a",
			"a='x y'; git log $a", "git add {a,b}.txt", "diff {a,b}.txt", "a=1; xargs -n $a ls < list", "env A=1 ls {a,b}", "sqlite3 {a,b}.db",
		},
	}.check(t)
}
