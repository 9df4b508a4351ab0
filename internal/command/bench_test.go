package command

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// hostile are texts that might take more than linear time, each of about a
// size.
func hostile(size int) map[string]string {
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	return map[string]string{
		"list":          fill("a;"),
		"pipe":          fill("a|"),
		"parens":        fill("("),
		"substitutions": fill("$("),
		"arithmetic":    "((" + fill("1+") + "1))",
		"deep arithm":   fill("$(( $("),
		"quotes":        fill(`"a"'b'`),
		"documents":     fill("cat <<E\nx\nE\n"),
		"at the edge":   fill(strings.Repeat("$(", 400) + "a" + strings.Repeat(")", 400) + "\n"),
		"edge, wide":    strings.Repeat("$(", 450) + fill("a ") + strings.Repeat(")", 450),
		"syntax error":  fill("a 'b' ") + ")",
		"redirects":     "a " + fill(">b "),
		"backticks":     fill("`a` "),
		"doc on a line": fill("a <<E;") + "\n" + strings.Repeat("E\n", 100),
		"wrappers":      fill("env ") + "rm y",
		"evals":         fill("eval ") + "rm y",
		"shells":        fill("sh -c 'a' ;"),
		"shell of much": "sh -c '" + fill("a;") + "'",
		"unknown words": "a " + fill("$x "),
		"globs":         "a " + fill("[*") + "]",
		"braces":        "a " + fill("{a,")[:size/2] + fill("}")[:size/2],
		"finds":         "find " + fill("-exec a {} ; "),
		"wrapped words": "sudo nice timeout 5 " + fill("a "),
		"moves":         fill("cd a;"),
		"pushes":        fill("pushd a;"),
		"pushes, list":  fill("pushd a && ") + "a",
		"moves, list":   fill("cd a && ") + "a",
		"comments":      fill("a # \\\n"),
		"dollars":       fill("\"$\\\n\" "),
		"hidden":        fill("'b[$(a)]' ") + "; ((x))",
		"brace lists":   "a " + fill("{-a,-b} "),
		"brace product": "a " + fill("{a,b}"),
		"known options": "x=-a; find " + fill("$x "),
		"runner":        "npx " + fill("-a "),
		"docs in docs":  strings.Repeat("cat <<E\n$(", 100) + fill("a;") + strings.Repeat("\n)\nE\n", 100),
		"guesses":       "x=" + strings.Repeat("a", 60) + ";" + fill("$x "),
		"coprocs":       fill("coproc $("),
		"sed":           "sed '" + fill("s/a/b/;") + "'",
		"awk":           "awk '" + fill("{print $1}") + "'",
		"options":       "git " + fill("-C $x ") + "push",
		"assignments":   fill("A=1 ") + "b",
		"trap in trap":  fill("trap -- "),
		"handed":        "set -- " + strings.Repeat("a ", 32) + ";" + fill("rg \"$@\";"),
		"values":        fill("a=-x;rg $a;"),
		"functions":     fill("f(){ rg $1 $(f);};"),
		"set":           fill("read a;rg $a;"),
		"parallel":      "parallel " + fill("a{} ") + " ::: b",
	}
}

// BenchmarkParse gives the usual and the slowest times of reading a command.
func BenchmarkParse(b *testing.B) {
	part := `cd sub && FOO=1 git -C x log --oneline "$(git rev-parse HEAD)" | head -5 > out.txt; sh -c 'ls -la && npm test'; `
	texts := map[string]string{
		"one command": `git -C x log --oneline "$(git rev-parse HEAD)" | head -5`,
		"1 KB":        strings.Repeat(part, 1024/len(part)),
		"64 KB":       strings.Repeat(part, (64<<10)/len(part)),
	}
	for name, s := range hostile(64 << 10) {
		texts["64 KB, "+name] = s
	}
	for name, s := range texts {
		b.Run(name, func(b *testing.B) {
			var times []time.Duration
			for b.Loop() {
				start := time.Now()
				Parse(s)
				times = append(times, time.Since(start))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-µs")
		})
	}
}

// TestLinear reads hostile texts, and four times as much: that may take four
// times the memory, and not much more.
func TestLinear(t *testing.T) {
	small, big := hostile(2<<10), hostile(8<<10)
	for name := range small {
		one := testing.AllocsPerRun(1, func() { Parse(small[name]) })
		four := testing.AllocsPerRun(1, func() { Parse(big[name]) })
		if four > 6*one+1000 {
			t.Errorf("%s: %.0f allocations, and %.0f for four times the text", name, one, four)
		}
		spelled := func(s string) (n int) {
			for _, u := range Parse(s).Units {
				n += len(strings.Join(u.Spellings, "")) + 64
			}
			return n
		}
		if a, b := spelled(small[name]), spelled(big[name]); b > 6*a+1000 {
			t.Errorf("%s: %d bytes of units, and %d for four times the text", name, a, b)
		}
	}
}
