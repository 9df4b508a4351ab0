package config

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// A land is a home with a project in it, and what is told about both.
type land struct {
	home, project string
	told          strings.Builder
}

// newLand writes files, by names below the home. Where "proj/.git" is among
// them, proj is a worktree.
func newLand(t *testing.T, files ...string) *land {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := &land{home: home, project: filepath.Join(home, "proj")}
	for _, name := range append(files, "proj/.here") {
		l.write(t, name, name)
	}
	return l
}

func (l *land) write(t *testing.T, name, said string) {
	t.Helper()
	name = filepath.Join(l.home, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(said), 0o644); err != nil {
		t.Fatal(err)
	}
}

// link makes a link; both names are below the home.
func (l *land) link(t *testing.T, name, to string) {
	t.Helper()
	if err := os.Symlink(filepath.Join(l.home, to), filepath.Join(l.home, name)); err != nil {
		t.Skip(err)
	}
}

// find finds the instructions for work in a folder below the home. The worktree
// is the project where that is one, or else the whole disk.
func (l *land) find(dir string, o InstructionOptions, named ...string) Instructions {
	o.Dir, o.Worktree, o.Home = filepath.Join(l.home, dir), l.project, l.home
	if _, err := os.Stat(filepath.Join(l.project, ".git")); err != nil {
		o.Worktree = filepath.VolumeName(l.home) + string(filepath.Separator)
	}
	for i, own := range o.Own {
		o.Own[i] = filepath.Join(l.home, own)
	}
	for i := range o.Named {
		o.Named[i].Dir = filepath.Join(l.home, o.Named[i].Dir)
	}
	for _, name := range named {
		o.Named = append(o.Named, NamedInstruction{Name: name})
	}
	o.Note = func(note string) { l.told.WriteString(note + "\n") }
	return FindInstructions(o)
}

// names are those of the files that an agent is told of, from the home.
func (l *land) names(t *testing.T, said []string) (out []string) {
	t.Helper()
	for _, one := range said {
		first, _, _ := strings.Cut(one, "\n")
		name, err := filepath.Rel(l.home, strings.TrimPrefix(first, "Instructions from: "))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, filepath.ToSlash(name))
	}
	return out
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		name, dir string
		opt       InstructionOptions
		named     []string
		files     []string
		want      []string
		told      string
	}{
		{name: "none"},
		{name: "the user's and the project's", dir: "proj/in", opt: InstructionOptions{Own: []string{".config/helve", ".config/opencode", "none"}}, files: []string{"proj/.git", ".config/helve/AGENTS.md", ".config/opencode/AGENTS.md", "proj/AGENTS.md",
			"proj/in/AGENTS.md", "proj/in/CLAUDE.md", "AGENTS.md", ".claude/CLAUDE.md"},
			want: []string{".config/helve/AGENTS.md", ".config/opencode/AGENTS.md", "proj/AGENTS.md", "proj/in/AGENTS.md"}},
		{name: "Claude's", files: []string{"proj/.git", ".claude/CLAUDE.md", "proj/CLAUDE.md"}, want: []string{".claude/CLAUDE.md", "proj/CLAUDE.md"}},
		{name: "not Claude's", files: []string{"proj/.git", ".claude/CLAUDE.md", "proj/CLAUDE.md", "proj/CONTEXT.md"}, opt: InstructionOptions{NoClaude: true},
			want: []string{"proj/CONTEXT.md"}},
		{name: "config folders", files: []string{"proj/.git", "a/AGENTS.md", "b/AGENTS.md", "proj/AGENTS.md"}, opt: InstructionOptions{Own: []string{"a", "b"}},
			want: []string{"a/AGENTS.md", "b/AGENTS.md", "proj/AGENTS.md"}},
		{name: "nothing of the project", named: []string{"x.md"}, opt: InstructionOptions{NoProject: true, Own: []string{".config/helve"}},
			files: []string{"proj/.git", "proj/AGENTS.md", "proj/x.md", ".config/helve/AGENTS.md"}, want: []string{".config/helve/AGENTS.md"}},
		{name: "any folders", named: []string{"docs/**/*.md"},
			files: []string{"proj/.git", "proj/docs/r.md", "proj/docs/a/one.md", "proj/docs/a/b/two.md", "proj/docs/a/b/two.txt", "proj/docs/node_modules/x/y.md", "docs/z.md"},
			want:  []string{"proj/docs/r.md", "proj/docs/a/one.md", "proj/docs/a/b/two.md"}},
		{name: "choices", named: []string{"{a,b/c}.{md,txt}", "no{thing"}, files: []string{"proj/.git", "proj/a.md", "proj/b/c.txt", "proj/b.md"},
			want: []string{"proj/a.md", "proj/b/c.txt"}, told: `the instructions "no{thing" name no file`},
		{name: "every folder up to the worktree", dir: "proj/in/deep", named: []string{"rules/*.md"},
			files: []string{"proj/.git", "proj/rules/a.md", "proj/in/rules/b.md", "proj/in/deep/rules/c.md", "rules/d.md"},
			want:  []string{"proj/rules/a.md", "proj/in/rules/b.md", "proj/in/deep/rules/c.md"}},
		{name: "a name twice", named: []string{"in/in/AGENTS.md", "AGENTS.md", "**/AGENTS.md"}, files: []string{"proj/.git", "proj/AGENTS.md", "proj/in/in/AGENTS.md"},
			want: []string{"proj/AGENTS.md", "proj/in/in/AGENTS.md"}},
		{name: "of the home", named: []string{"~/n/**"}, files: []string{"proj/.git", "n/a.md", "n/m/.b"}, want: []string{"n/a.md", "n/m/.b"}},
		{name: "without a worktree", named: []string{"**/x.md", "y.md"}, files: []string{"proj/in/x.md", "x.md", "y.md"}, want: []string{"proj/in/x.md", "y.md"}},
		{name: "beside the config", opt: InstructionOptions{Named: []NamedInstruction{{Name: "*.md", Dir: "conf"}}}, files: []string{"proj/.git", "proj/a.md", "conf/b.md"}, want: []string{"proj/a.md", "conf/b.md"}},
		{name: "from the network", named: []string{"https://h/x.md"}, files: []string{"proj/.git"}, told: "keep a copy of https://h/x.md"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLand(t, c.files...)
			found := l.find(cmp.Or(c.dir, "proj"), c.opt, c.named...)
			if diff := gocmp.Diff(c.want, l.names(t, found.Texts())); diff != "" {
				t.Error(diff)
			}
			if told := l.told.String(); !strings.Contains(told, c.told) || c.told == "" && told != "" {
				t.Errorf("told: %s", told)
			}
		})
	}
}

// What a project links to may be a secret of the person who works on it.
func TestLinks(t *testing.T) {
	l := newLand(t, "proj/.git", "secret", "proj/real.md", "proj/.env", "own/AGENTS.md", "proj/docs/a.md", "proj/in/x", "proj/hidden/config")
	l.link(t, "proj/AGENTS.md", "secret")
	l.link(t, "proj/in/AGENTS.md", "proj/real.md")
	l.link(t, "proj/docs/b.md", "secret")
	l.link(t, "proj/docs/c.md", "proj/.env")
	l.link(t, "proj/docs/d.md", "proj/hidden/config") // as .git/config, which may hold a token
	l.link(t, "named.md", "secret")
	if err := os.MkdirAll(filepath.Join(l.home, ".config"), 0o755); err != nil {
		t.Fatal(err)
	}
	l.link(t, ".config/helve", "own")
	found := l.find("proj/in", InstructionOptions{Own: []string{".config/helve"}}, "docs/*.md", "~/named.md")
	want := []string{".config/helve/AGENTS.md", "proj/in/AGENTS.md", "proj/docs/a.md", "named.md"}
	if diff := gocmp.Diff(want, l.names(t, found.Texts())); diff != "" {
		t.Error(diff)
	}
	if told := l.told.String(); strings.Count(told, "\n") != 1 || !strings.Contains(told, `b.md" are not read`) {
		t.Errorf("told: %s", told)
	}
	// A file that becomes a link later is not read either.
	if err := os.Remove(filepath.Join(l.home, "proj/docs/a.md")); err != nil {
		t.Fatal(err)
	}
	l.link(t, "proj/docs/a.md", "secret")
	if got := l.names(t, found.Texts()); slices.Contains(got, "proj/docs/a.md") {
		t.Errorf("%q", got)
	}
}

// A pipe that nobody writes to keeps nobody waiting.
func TestPipe(t *testing.T) {
	mkfifo, err := exec.LookPath("mkfifo")
	if err != nil {
		t.Skip(err)
	}
	l := newLand(t, "proj/.git", "proj/AGENTS.md", "proj/docs/a.md")
	for _, name := range []string{"docs/b.md", "docs/c"} {
		if out, err := exec.CommandContext(t.Context(), mkfifo, filepath.Join(l.project, name)).CombinedOutput(); err != nil {
			t.Skipf("%v: %s", err, out)
		}
	}
	found := l.find("proj", InstructionOptions{}, "docs/*", "docs/c/*", "docs/c/**")
	if got := l.names(t, found.Texts()); !slices.Equal(got, []string{"proj/AGENTS.md", "proj/docs/a.md"}) {
		t.Errorf("%q", got)
	}
	if err := os.Rename(filepath.Join(l.project, "docs/b.md"), filepath.Join(l.project, "AGENTS.md")); err != nil {
		t.Fatal(err)
	}
	if got := l.names(t, found.Texts()); !slices.Equal(got, []string{"proj/docs/a.md"}) {
		t.Errorf("once it is a pipe: %q", got)
	}
}

// The limits of what a model is told, and of the search.
func TestLimits(t *testing.T) {
	l := newLand(t, "proj/.git")
	l.write(t, "proj/AGENTS.md", strings.Repeat("é", mostOfOne))
	for i := range 110 {
		l.write(t, fmt.Sprintf("proj/many/%03d.md", i), strings.Repeat("x", 2000))
	}
	said := l.find("proj", InstructionOptions{}, "many/*").Texts()
	total := 0
	for _, one := range said {
		total += len(one)
	}
	if len(said) != mostFiles || total > mostOfAll+mostFiles*(len(l.home)+100) {
		t.Errorf("%d texts of %d bytes", len(said), total)
	}
	if !strings.HasSuffix(said[0], "é\n(cut: read the file for the rest)") || !strings.HasPrefix(said[len(said)-1], "There are more instructions in ") {
		t.Errorf("%.80q … %q", said[0], said[len(said)-1])
	}
	if !strings.Contains(l.told.String(), "there are 111 files of instructions, of which the first 100 are read") {
		t.Errorf("told: %s", l.told.String())
	}
	k := newSeeker()
	k.seen = seekFiles
	if got := k.find(l.project, "many/*"); len(got) > 0 || !k.tired {
		t.Errorf("%d files found by one who has given up", len(got))
	}
}

func TestChoices(t *testing.T) {
	for in, want := range map[string]string{
		"a": "a", "{a,b}": "a b", "x{a,b{c,d}}y": "xay xbcy xbdy", "{a}": "a", "{a,}b": "ab b", "{a": "{a", "a}{b,c}": "a}b a}c", `\{a,b}`: `\{a,b}`, "{a,b}{c,d}": "ac ad bc bd",
	} {
		if got := strings.Join(choices(in), " "); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
	if got := len(choices(strings.Repeat("{a,b}", 1000))); got != seekChoices {
		t.Errorf("%d choices", got)
	}
}
