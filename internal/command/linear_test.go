package command_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/helve-dev/helve/permission"
)

// hostile are texts of about a size that are hard to read.
func hostile(size int) map[string]string {
	return map[string]string{
		"commands":      strings.Repeat("a;", size/2),
		"code":          "sh -c '" + strings.Repeat("a;", size/2) + "'",
		"unknown":       "cat " + strings.Repeat("$a ", size/3),
		"files":         "rm " + strings.Repeat("a/b ", size/4),
		"patterns":      "cat " + strings.Repeat("a* ", size/3),
		"braces":        "cat " + strings.Repeat("{a,b} ", size/6),
		"wrappers":      strings.Repeat("env ", size/4) + "rm y",
		"shells":        strings.Repeat("bash -c ", size/8) + "x",
		"substitutions": "echo " + strings.Repeat("$(a) ", size/5),
		"nested":        strings.Repeat("$(", size/3) + strings.Repeat(")", size/3),
		"redirections":  "a " + strings.Repeat("> b ", size/4),
		"assignments":   strings.Repeat("A=1 ", size/4) + "rm y",
		"folders":       strings.Repeat("cd a;", size/5) + "cat b",
		"either":        strings.Repeat("a || cd b;", size/10) + "cat b",
		"quotes":        "a " + strings.Repeat("'b'\\''", size/6),
		"loops":         strings.Repeat("for f in a; do cat $f;", size/40) + strings.Repeat("done;", size/40),
		"broken":        strings.Repeat("a && ) ", size/7),
		"options":       "git " + strings.Repeat("-C a ", size/5) + "push",
		"documents":     strings.Repeat("cat <<E\nx\nE\n", size/11),
		"one document":  "bash <<E\n" + strings.Repeat("rm $x\n", size/6) + "E",
		"payloads":      "find . " + strings.Repeat("-exec a {} \\; ", size/14),
		"arguments":     "find . " + strings.Repeat("-printf -exec ", size/14),
		"names":         "find . " + strings.Repeat("-name -exec ", size/12),
		"names of env":  "find . " + strings.Repeat("-name -exec env ", size/16),
		"computed":      "find . " + strings.Repeat("-exec $x ", size/9),
		"finds":         "find . " + strings.Repeat("-exec find $x ", size/14),
		"traps":         strings.Repeat("trap 'a b' EXIT;", size/16),
		"links":         strings.Repeat("ln -s a b;cp c a;", size/17),
		"trees":         "git " + strings.Repeat("--work-tree=sub ", size/16) + "log",
		"left out":      "zip -r y " + strings.Repeat("a ", size/4) + "-x " + strings.Repeat("'*a' ", size/10),
		"made":          strings.Repeat("mkdir a;cp ab a;", size/16),
		"linked":        "ln -s " + strings.Repeat("a ", size/2) + "sub",
		"staged":        "git add " + strings.Repeat("sub . ", size/6),
		"shortened":     "sort " + strings.Repeat("--x ", size/4),
		"pipes":         strings.Repeat("echo a | ", size/9) + "sh",
	}
}

// What a decision takes grows with the text, and not with its square.
func TestLinear(t *testing.T) {
	s := newStage(t, "a", "ab")
	rules := rulesOf(load(t)[0].Rules)
	cost := func(text string) float64 {
		k := &knowing{court{policy: permission.Policy{Rules: rules}, verdict: verdict{action: permission.Allow}}}
		s.line(text) // so that nothing is made for the first time
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		line := s.line(text)
		if err := line.Ask(t.Context(), k); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	large := hostile(16 << 10)
	for name, small := range hostile(4 << 10) {
		a, b := cost(small), cost(large[name])
		t.Logf("%s: %.0f KB, then %.0f KB", name, a/1024, b/1024)
		if b > 8*a {
			t.Errorf("%s: a text of four times the size takes %.1f times the memory", name, b/a)
		}
	}
}
