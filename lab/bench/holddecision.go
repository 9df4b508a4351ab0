package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/judge"
	"github.com/helve-dev/helve/internal/workspace"
	"github.com/helve-dev/helve/permission"
)

// A court decides what a call would be told, and asks nobody.
type court struct {
	engine *permission.Engine
	policy permission.Policy
	asked  int
}

func (c *court) Ask(_ context.Context, reqs ...permission.Request) error {
	for _, req := range reqs {
		decisions, err := c.engine.Decide(req, c.policy)
		c.asked += len(decisions)
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *court) Sieve(name string) (func(names ...string) bool, string) { return c.policy.Sieve(name) }

// holdDecision measures the time that a decision takes about the shape of a
// hostile text that takes longest: reading it, looking at the disk, and the
// rules. Of several tries of one shape the best counts: the others were
// disturbed. What ordinary commands take is a benchmark of internal/judge.
func holdDecision(ctx context.Context, b *bench) {
	w := b.world(allowed)
	for i := range b.size(2000, 200) {
		b.must(w.Write(fmt.Sprintf("pkg%d/file%d.go", i%20, i), "package x\n"))
	}
	c := &court{engine: permission.NewEngine(permission.EngineOptions{})}
	c.policy = helve.Agents(helve.AgentOptions{DataDir: dataDir(w), Worktree: w.Project, User: permission.Ruleset{
		{Permission: "bash", Pattern: "*", Action: permission.Ask}, {Permission: "bash", Pattern: "git *", Action: permission.Allow},
		{Permission: "bash", Pattern: "go test *", Action: permission.Allow}, {Permission: "bash", Pattern: "git push *", Action: permission.Ask},
		{Permission: "bash", Pattern: "rm *", Action: permission.Deny}, {Permission: "edit", Pattern: "*.lock", Action: permission.Deny},
	}})[0].Policy
	for _, k := range []struct {
		id          string
		times, size int
	}{
		{"hold.decision.hostile.64k", b.size(3, 1), b.size(64<<10, 8<<10)},
		{"hold.decision.worst", 1, b.size(128<<10-1, 16<<10)}, // no longer one reaches the rules
	} {
		b.say("hostile texts of %d bytes", k.size)
		worst, name, shapes := time.Duration(0), "", shapes(k.size)
		for shape, text := range shapes {
			best := time.Hour
			for range k.times {
				began := time.Now()
				err := judge.Read(&workspace.Files{Worktree: w.Project}, w.Project, text).Ask(ctx, c)
				best = min(best, time.Since(began))
				b.must(err)
			}
			if best > worst {
				worst, name = best, shape
			}
		}
		b.add(k.id, millis(worst), "ms", fmt.Sprintf("the worst of %d hostile texts of %d bytes: %s", len(shapes), k.size, name))
	}
	b.hold(c.asked > 0, "nothing was decided")
}

// shapes are texts of about a size that are hard to read, or to know what
// they would do.
func shapes(size int) map[string]string {
	some := func(text string) string { return strings.Repeat(text, size/len(text)) }
	deep := func(open, close string) string {
		n := size / (len(open) + len(close))
		return strings.Repeat(open, n) + strings.Repeat(close, n)
	}
	all := map[string]string{
		"commands": some("a;"), "code": "sh -c '" + some("a;") + "'", "unknown words": "cat " + some("$a "),
		"removals": "rm " + some("a/b "), "patterns": "cat " + some("a* "), "every folder": "cat " + some("*/* "),
		"real files": "rm " + some("pkg1/file1.go pkg2/*.go "), "braces": "cat " + some("{a,b} "),
		"wrappers": some("env ") + "rm y", "shells": some("bash -c ") + "x", "substitutions": "echo " + some("$(a) "),
		"nested": deep("$(", ")"), "nested groups": deep("{ ", ";}"), "nested arithmetic": deep("$((", "))"), "nested parameters": "echo " + deep("${a:-", "}"),
		"redirections": "a " + some("> b "), "assignments": some("A=1 ") + "rm y", "growing": "A=1;" + some("A=$A$A;") + "rm $A",
		"folders": some("cd a;") + "cat b", "either": some("a || cd b;") + "cat b", "quotes": "a " + some("'b'\\''"),
		"loops":    strings.Repeat("for f in a; do cat $f;", size/40) + strings.Repeat("done;", size/40),
		"branches": strings.Repeat("if a; then ", size/16) + "b" + strings.Repeat("; fi", size/16),
		"broken":   some("a && ) "), "options": "git " + some("-C a ") + "push", "documents": some("cat <<E\nx\nE\n"),
		"one document": "bash <<E\n" + some("rm $x\n") + "E", "payloads": "find . " + some("-exec a {} \\; "),
		"traps": some("trap 'a b' EXIT;"), "links": some("ln -s a b;cp c a;"), "pipes": some("echo a | ") + "sh",
		"functions": some("f() { f; };") + "f", "aliases": some("alias a=b;") + "a", "evals": some("eval \"a b\";"),
		"one word": "cat " + some("x"), "dots": "cat " + some("../"), "slashes": "cat " + some("/"), "stars": "cat " + some("*"),
		"searches": some("grep -r x .;"), "removed trees": some("rm -rf pkg1;"), "backslashes": "a " + some("\\"), "backticks": some("`a` "),
		"not characters": "a " + some("\xff\xfe"), "marks": "a " + some("a\u0301"), "blank": some(" ") + "a", "lines": some("\n") + "a", "comments": some("#\n") + "a",
	}
	r := rand.New(rand.NewPCG(uint64(size), 3))
	pieces := strings.Fields("; & | && || ( ) { } $( ${ ` ' \" \\ < > << <<< $ * ? [ ] ! # ~ = a rm sh cd env eval for do done if then fi case esac in")
	for i := range 16 { // and what nobody has thought of
		var b strings.Builder
		for b.Len() < size {
			b.WriteString(pieces[r.IntN(len(pieces))])
			if r.IntN(3) > 0 {
				b.WriteByte(" \n\t "[r.IntN(4)])
			}
		}
		all[fmt.Sprintf("chance %d", i)] = b.String()[:size]
	}
	return all
}
