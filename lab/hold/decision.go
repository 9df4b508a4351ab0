package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/judge"
	"github.com/helve-dev/helve/internal/workspace"
	"github.com/helve-dev/helve/lab/internal/proof"
	"github.com/helve-dev/helve/permission"
)

// longest is the longest command line that the tool takes: no other reaches
// the rules.
const longest = 128<<10 - 1

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

// decide takes the time of one decision: reading the text, looking at the
// disk, and the rules.
func (c *court) decide(ctx context.Context, dir, text string) (time.Duration, error) {
	start := time.Now()
	err := judge.Read(&workspace.Files{Worktree: dir}, dir, text).Ask(ctx, c)
	took := time.Since(start)
	return took, errors.Join(err, ctx.Err())
}

// decision measures the time that decisions take.
func decision(ctx context.Context, d *desk) (err error) {
	p, err := d.place("{}")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	for i := range d.size(2000, 200) {
		if err := p.Write(fmt.Sprintf("pkg%d/file%d.go", i%20, i), "package x\n"); err != nil {
			return err
		}
	}
	c := &court{engine: permission.NewEngine(permission.EngineOptions{})}
	c.policy = helve.Agents(helve.AgentOptions{DataDir: p.data(), Worktree: p.Project, User: permission.Ruleset{
		{Permission: "bash", Pattern: "*", Action: permission.Ask}, {Permission: "bash", Pattern: "git *", Action: permission.Allow},
		{Permission: "bash", Pattern: "go test *", Action: permission.Allow}, {Permission: "bash", Pattern: "git push *", Action: permission.Ask},
		{Permission: "bash", Pattern: "rm *", Action: permission.Deny}, {Permission: "edit", Pattern: "*.lock", Action: permission.Deny},
	}})[0].Policy
	var ordinary []time.Duration
	texts := rand.New(rand.NewPCG(1, 2))
	for range d.size(20_000, 300) {
		took, err := c.decide(ctx, p.Project, ordinaryText(texts))
		if err != nil {
			return err
		}
		ordinary = append(ordinary, took)
	}
	d.times("decision.1k", ordinary, fmt.Sprintf("%d lines of ordinary commands, up to 1 KB, as texts of agents are", len(ordinary)))
	for _, k := range []siege{
		{"decision.hostile.1k", d.size(20, 1), 1 << 10},
		{"decision.hostile.64k", d.size(3, 1), d.size(64<<10, 8<<10)},
		{"decision.worst", 1, d.size(longest, 16<<10)},
	} {
		d.say("decision: hostile texts of %d bytes", k.size)
		if err := d.hostile(ctx, c, p.Project, k); err != nil {
			return err
		}
	}
	d.hold(c.asked > len(ordinary), "only %d questions were decided", c.asked)
	return nil
}

// A siege is hostile texts of one size, each decided so many times.
type siege struct {
	id          string
	times, size int
}

// hostile adds the time of the shape that takes longest. Of several tries of
// one shape the best counts: the others were disturbed.
func (d *desk) hostile(ctx context.Context, c *court, dir string, k siege) error {
	var worst time.Duration
	name, shapes := "", shapes(k.size)
	for shape, text := range shapes {
		best := time.Duration(1<<63 - 1)
		for range k.times {
			took, err := c.decide(ctx, dir, text)
			if err != nil {
				return fmt.Errorf("%s: %w", shape, err)
			}
			best = min(best, took)
		}
		if best > worst {
			worst, name = best, shape
		}
	}
	d.figure(k.id, proof.Millis(worst), "ms", fmt.Sprintf("the worst of %d hostile texts of %d bytes: %s", len(shapes), k.size, name))
	return nil
}

// ordinaryText is a line of a few commands such as agents write, up to 1 KB.
func ordinaryText(r *rand.Rand) string {
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	file := func() string { return fmt.Sprintf("pkg%d/file%d.go", r.IntN(20), r.IntN(2000)) }
	one := func() string {
		switch r.IntN(10) {
		case 0:
			return "git " + pick("status", "diff", "log --oneline -5", "diff HEAD~1 -- "+file(), "add "+file(), "push origin main")
		case 1:
			return "go test ./" + pick("...", "internal/...", "pkg1") + pick("", " -run 'TestX|TestY'", " -count=1 -race") + " 2>&1 | tail -40"
		case 2:
			return "grep -rn \"func New\" " + file() + " " + file()
		case 3:
			return "cat " + file() + " | head -n 20 > out.txt"
		case 4:
			return "sed -n '1,40p' " + file()
		case 5:
			return "for f in " + file() + " " + file() + "; do wc -l \"$f\"; done"
		case 6:
			return "npm run build && npm test -- --watch=false"
		case 7:
			return "sh -c 'ls -la && cat " + file() + "'"
		case 8:
			return "FOO=1 BAR=\"a b\" make -C pkg1 all"
		}
		return "rm -f " + file() + " && mkdir -p build/out && cp " + file() + " build/out/"
	}
	text := one()
	for most := r.IntN(1 << 10); len(text) < most; {
		next := text + pick("; ", " && ", " || ", "\n") + one()
		if len(next) > 1<<10 {
			break
		}
		text = next
	}
	return text
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
