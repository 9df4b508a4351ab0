package skill

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestChanges has one finder see every kind of change.
func TestChanges(t *testing.T) {
	y := newYard(t, map[string]string{"home/.claude/skills/a/SKILL.md": text("a"), "proj/sub/x": "", "store/s/SKILL.md": text("s"), "store2/s/SKILL.md": text("s2")})
	y.link("home/.claude/skills/linked", y.at("store"))
	y.age("home/.claude/skills")
	f := NewFinder(y.options())
	first := f.Find()
	y.wants(first, "a = home/.claude/skills/a/SKILL.md", "s = home/.claude/skills/linked/s/SKILL.md")
	if f.Find() != first {
		t.Error("nothing changed, and the set is another")
	}
	for _, step := range []struct {
		name string
		do   func()
		want []string
	}{
		{"a new skill", func() { y.write("home/.claude/skills/b/SKILL.md", text("b")) }, []string{"a", "b", "s"}},
		{"a new folder in a project", func() { y.write("proj/sub/.agents/skills/c/SKILL.md", text("c")) }, []string{"a", "b", "c", "s"}},
		{"another text", func() { y.write("home/.claude/skills/b/SKILL.md", text("longer")) }, []string{"a", "c", "longer", "s"}},
		{"broken", func() { y.write("home/.claude/skills/a/SKILL.md", "x") }, []string{"c", "longer", "s"}},
		{"behind a link", func() { y.write("store/s/SKILL.md", text("other")) }, []string{"c", "longer", "other"}},
		{"another link", func() {
			y.check(os.Remove(y.at("home/.claude/skills/linked")))
			y.link("home/.claude/skills/linked", y.at("store2"))
		}, []string{"c", "longer", "s2"}},
		{"gone", func() { y.check(os.RemoveAll(y.at("home/.claude/skills/b"))) }, []string{"c", "s2"}},
		{"all gone", func() { y.check(os.RemoveAll(y.at("home"))); y.check(os.RemoveAll(y.at("proj"))) }, nil},
	} {
		step.do()
		if got := skillNames(f.Find()); !slices.Equal(got, step.want) {
			t.Errorf("%s: got %q, want %q", step.name, got, step.want)
		}
	}
}

// TestYoung changes a file within one tick of the clock of its disk: time and
// size stay the same.
func TestYoung(t *testing.T) {
	y := newYard(t, map[string]string{"home/.claude/skills/a/SKILL.md": text("a")})
	now := time.Now()
	path := y.at("home/.claude/skills/a/SKILL.md")
	y.check(os.Chtimes(path, now, now))
	f := NewFinder(y.options())
	f.Find()
	y.check(os.WriteFile(path, []byte(text("b")), 0o644))
	y.check(os.Chtimes(path, now, now))
	if got := skillNames(f.Find()); !slices.Equal(got, []string{"b"}) {
		t.Errorf("got %q", got)
	}
}

// TestTrustChanges has the user give and take back trust while no file
// changes.
func TestTrustChanges(t *testing.T) {
	y := newYard(t, map[string]string{"proj/.claude/skills/a/SKILL.md": text("a"), "proj/sub/x": ""})
	y.age("proj/.claude/skills")
	trusted := false
	opt := y.options()
	opt.Trusted = func(string) bool { return trusted }
	f := NewFinder(opt)
	first := f.Find()
	y.wants(first, "a = proj/.claude/skills/a/SKILL.md guarded")
	if f.Find() != first {
		t.Error("nothing changed, and the set is another")
	}
	trusted = true
	y.wants(f.Find(), "a = proj/.claude/skills/a/SKILL.md")
	trusted = false
	y.wants(f.Find(), "a = proj/.claude/skills/a/SKILL.md guarded")
}

// large is a home with many skills, each with files.
func large(t testing.TB, n int) yard {
	files := map[string]string{}
	for i := range n {
		dir := fmt.Sprintf("home/.claude/skills/skill-%03d/", i)
		files[dir+"SKILL.md"] = text(fmt.Sprintf("skill-%03d", i)) + strings.Repeat("a line of the text\n", 250)
		files[dir+"scripts/run.sh"] = "echo\n"
		files[dir+"reference.md"] = "more\n"
	}
	return newYard(t, files)
}

func BenchmarkFind200(b *testing.B) {
	y := large(b, 200)
	for b.Loop() {
		if set := foundBy(y.options()); len(set.Skills) != 200 {
			b.Fatal(len(set.Skills))
		}
	}
}

func BenchmarkFind200Again(b *testing.B) {
	y := large(b, 200)
	f := NewFinder(y.options())
	first := f.Find()
	for b.Loop() {
		if f.Find() != first {
			b.Fatal("it searched anew")
		}
	}
}

// BenchmarkFind200Edited searches anew while one file is fresh.
func BenchmarkFind200Edited(b *testing.B) {
	y := large(b, 200)
	f := NewFinder(y.options())
	path := y.at("home/.claude/skills/skill-007/SKILL.md")
	for b.Loop() {
		now := time.Now()
		y.check(os.Chtimes(path, now, now))
		f.Find()
	}
}
