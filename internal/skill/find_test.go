package skill

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/helve-dev/helve/skill"
)

// A yard is a folder with a project, a home and files in them.
type yard struct {
	t    testing.TB
	root string
}

func newYard(t testing.TB, files map[string]string) yard {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	y := yard{t, root}
	for name, text := range files {
		y.write(name, text)
	}
	return y
}

func (y yard) at(name string) string { return filepath.Join(y.root, filepath.FromSlash(name)) }

// write writes a file that is not young.
func (y yard) write(name, text string) {
	y.t.Helper()
	y.check(os.MkdirAll(filepath.Dir(y.at(name)), 0o755))
	y.check(os.WriteFile(y.at(name), []byte(text), 0o644))
	y.age(name)
}

// age makes a file and the folders above it look old.
func (y yard) age(name string) {
	y.t.Helper()
	old := time.Now().Add(-time.Hour)
	for path := y.at(name); path != y.root; path = filepath.Dir(path) {
		y.check(os.Chtimes(path, old, old))
	}
}

func (y yard) link(name, to string) {
	y.t.Helper()
	y.check(os.MkdirAll(filepath.Dir(y.at(name)), 0o755))
	if err := os.Symlink(to, y.at(name)); err != nil {
		y.t.Skip("no links here: ", err)
	}
}

func (y yard) check(err error) {
	y.t.Helper()
	if err != nil {
		y.t.Fatal(err)
	}
}

// options are those of a project with a folder in it, trusted.
func (y yard) options() Options {
	return Options{
		Dir: y.at("proj/sub"), Worktree: y.at("proj"),
		Options: skill.Options{
			Home:    y.at("home"),
			Folders: []skill.Folder{{Path: y.at("home/.config/opencode")}, {Path: y.at("proj/.opencode"), Guarded: true}},
			Trusted: func(string) bool { return true },
		},
	}
}

func text(name string) string {
	return "---\nname: " + name + "\ndescription: about " + name + "\n---\ntext of " + name + "\n"
}

// told is a set in a few words: the skills with the places they come from,
// the candidates that are not taken with the codes, and the problems.
func (y yard) told(s *Set) (out []string) {
	short := func(path string) string {
		rel, err := filepath.Rel(y.root, path)
		y.check(err)
		return filepath.ToSlash(rel)
	}
	for _, k := range s.Skills {
		line := k.Name + " = " + short(k.Path)
		if k.Guarded {
			line += " guarded"
		}
		out = append(out, line)
	}
	for _, c := range s.Files {
		if c.Code != "" {
			out = append(out, c.Code+" "+short(c.Path))
		}
	}
	for _, p := range s.Problems {
		out = append(out, "! "+short(p.Path))
	}
	return out
}

func (y yard) wants(got *Set, want ...string) {
	y.t.Helper()
	if diff := cmp.Diff(want, y.told(got)); diff != "" {
		y.t.Errorf("-want +got:\n%s", diff)
	}
}

func TestPlaces(t *testing.T) {
	y := newYard(t, map[string]string{
		"proj/sub/.claude/skills/a/SKILL.md":         text("near"),
		"proj/.claude/skills/b/SKILL.md":             text("far"),
		"proj/.agents/skills/c/deep/down/SKILL.md":   text("agents"),
		".claude/skills/x/SKILL.md":                  text("above the project"),
		"home/.claude/skills/d/SKILL.md":             text("home"),
		"home/.agents/skills/SKILL.md":               text("at the top"),
		"home/.config/opencode/skill/e/SKILL.md":     text("global"),
		"home/.config/opencode/skills/f/SKILL.md":    text("plural"),
		"proj/.opencode/skill/.hidden/SKILL.md":      text("hidden"),
		"proj/.opencode/skill/x/node_modules/p/y/z":  "",
		"proj/.opencode/skill/node_modules/SKILL.md": text("installed"),
		"proj/sub/more/g/SKILL.md":                   text("relative"),
		"home/own/h/SKILL.md":                        text("tilde"),
		"else/SKILL.md":                              text("absolute"),
	})
	opt := y.options()
	opt.Paths = []string{"more", "~/own", y.at("else"), "missing"}
	y.wants(foundBy(opt),
		"absolute = else/SKILL.md", "agents = proj/.agents/skills/c/deep/down/SKILL.md", "at the top = home/.agents/skills/SKILL.md",
		"far = proj/.claude/skills/b/SKILL.md", "global = home/.config/opencode/skill/e/SKILL.md",
		"hidden = proj/.opencode/skill/.hidden/SKILL.md", "home = home/.claude/skills/d/SKILL.md",
		"near = proj/sub/.claude/skills/a/SKILL.md", "plural = home/.config/opencode/skills/f/SKILL.md",
		"relative = proj/sub/more/g/SKILL.md", "tilde = home/own/h/SKILL.md", "! proj/sub/missing")

	opt.Paths, opt.ClaudeOff = nil, true
	y.wants(foundBy(opt),
		"agents = proj/.agents/skills/c/deep/down/SKILL.md", "at the top = home/.agents/skills/SKILL.md",
		"global = home/.config/opencode/skill/e/SKILL.md", "hidden = proj/.opencode/skill/.hidden/SKILL.md",
		"plural = home/.config/opencode/skills/f/SKILL.md")
	opt.ClaudeOff, opt.OthersOff, opt.Folders = false, true, opt.Folders[:1]
	y.wants(foundBy(opt), "global = home/.config/opencode/skill/e/SKILL.md", "plural = home/.config/opencode/skills/f/SKILL.md")
	y.wants(foundBy(Options{Options: skill.Options{Home: y.at("home/own"), Paths: []string{"~"}}}), "tilde = home/own/h/SKILL.md")
	if s := foundBy(Options{Dir: y.at("nowhere"), Worktree: y.at("elsewhere")}); len(s.Skills)+len(s.Files)+len(s.Problems) > 0 {
		t.Errorf("got %+v", s)
	}
}

// TestOrder has the same name in every place: the last place counts.
func TestOrder(t *testing.T) {
	order := []string{
		"proj/sub/.claude/skills/a", "proj/sub/.agents/skills/a", "proj/.claude/skills/a", "proj/.agents/skills/a", "home/.claude/skills/a", "home/.agents/skills/a",
		"home/.config/opencode/skill/a", "home/.config/opencode/skills/a", "proj/.opencode/skill/a", "proj/.opencode/skills/a", "proj/.opencode/skills/b", "one/a", "two/a",
	}
	y := newYard(t, nil)
	y.check(os.MkdirAll(y.at("one"), 0o755))
	y.check(os.MkdirAll(y.at("two"), 0o755))
	opt := y.options()
	opt.Paths = []string{y.at("one"), y.at("two")}
	want := []string{"x = " + order[0] + "/SKILL.md"}
	for i, dir := range order {
		y.write(dir+"/SKILL.md", text("x"))
		want[0] = "x = " + dir + "/SKILL.md"
		y.wants(foundBy(opt), want...)
		if c := foundBy(opt).Files[max(i-1, 0)]; i > 0 && c.Why != "replaced by "+y.at(dir+"/SKILL.md") {
			t.Errorf("%s: %q", c.Path, c.Why)
		}
		want = append(want, "replaced "+dir+"/SKILL.md")
	}
	// a folder that is named twice is searched at its last place
	opt.Paths = append(opt.Paths, y.at("one"))
	if k, _ := foundBy(opt).Get("x"); k.Path != y.at("one/a/SKILL.md") {
		t.Errorf("got %s", k.Path)
	}
}

func TestGuarded(t *testing.T) {
	y := newYard(t, map[string]string{
		"proj/.claude/skills/a/SKILL.md":         text("mine"),
		"proj/.claude/skills/b/SKILL.md":         text("theirs"),
		"home/.config/opencode/skill/a/SKILL.md": text("mine"),
		"proj/.opencode/skill/a/SKILL.md":        text("mine"),
		"proj/.opencode/skill/b/SKILL.md":        text("theirs"),
		"proj/paths/a/SKILL.md":                  text("named"),
		"elsewhere/a/SKILL.md":                   text("user named"),
		"secret/SKILL.md":                        text("secret"),
		"proj/shared/SKILL.md":                   text("shared"),
	})
	y.link("proj/.claude/skills/out", y.at("secret"))
	y.link("proj/.claude/skills/file/SKILL.md", y.at("secret/SKILL.md"))
	y.link("proj/.claude/skills/in", "../../shared")
	y.link("proj/.agents", y.at("secret"))
	y.link("proj/sub/.agents", y.at("home/.config"))
	y.write("secret/skills/c/SKILL.md", text("whole folder"))
	opt := y.options()
	opt.Trusted = nil
	opt.Paths = []string{"../paths", y.at("elsewhere")}
	y.wants(foundBy(opt),
		"mine = home/.config/opencode/skill/a/SKILL.md", "named = proj/paths/a/SKILL.md guarded", "shared = proj/.claude/skills/in/SKILL.md guarded",
		"theirs = proj/.opencode/skill/b/SKILL.md guarded", "user named = elsewhere/a/SKILL.md",
		"replaced proj/.claude/skills/a/SKILL.md", "replaced proj/.claude/skills/b/SKILL.md", "leads-out proj/.claude/skills/file/SKILL.md",
		"withheld proj/.opencode/skill/a/SKILL.md", "! proj/.agents/skills", "! proj/.claude/skills/out")

	var asked []string
	opt.Trusted = func(path string) bool {
		asked = append(asked, path)
		return path != y.at("proj/.agents/skills")
	}
	y.wants(foundBy(opt),
		"mine = proj/.opencode/skill/a/SKILL.md", "named = proj/paths/a/SKILL.md", "secret = proj/.claude/skills/file/SKILL.md",
		"shared = proj/.claude/skills/in/SKILL.md", "theirs = proj/.opencode/skill/b/SKILL.md", "user named = elsewhere/a/SKILL.md", "whole folder = proj/.claude/skills/out/skills/c/SKILL.md",
		"replaced proj/.claude/skills/a/SKILL.md", "replaced proj/.claude/skills/b/SKILL.md", "same-file proj/.claude/skills/out/SKILL.md",
		"replaced home/.config/opencode/skill/a/SKILL.md", "! proj/.agents/skills")
	if want := []string{y.at("proj/.claude/skills"), y.at("proj/.agents/skills"), y.at("proj/.opencode"), y.at("proj/paths")}; !cmp.Equal(want, asked) {
		t.Errorf("trust of %q was asked about, and not of %q", asked, want)
	}
}

// TestSameFile has a project that is not trusted link to what the user has
// named in it: that stays the user's.
func TestSameFile(t *testing.T) {
	y := newYard(t, map[string]string{"proj/own/skill/a/SKILL.md": text("a")})
	y.link("proj/.claude/skills", "../own/skill")
	opt := y.options()
	opt.Trusted, opt.Folders = nil, []skill.Folder{{Path: y.at("proj/own")}}
	y.wants(foundBy(opt), "a = proj/own/skill/a/SKILL.md", "same-file proj/.claude/skills/a/SKILL.md")
}

// TestHomeInProject works in a folder above which there is no project: the
// home folder is one of those above, and its skills are the user's all the
// same.
func TestHomeInProject(t *testing.T) {
	y := newYard(t, map[string]string{
		"home/.claude/skills/a/SKILL.md": text("mine"), "home/work/.claude/skills/a/SKILL.md": text("mine"), ".claude/skills/b/SKILL.md": text("stranger"),
	})
	opt := Options{Dir: y.at("home/work"), Worktree: filepath.VolumeName(y.root) + string(filepath.Separator), Options: skill.Options{Home: y.at("home")}}
	set := foundBy(opt)
	if k, ok := set.Get("mine"); !ok || k.Guarded || k.Path != y.at("home/.claude/skills/a/SKILL.md") {
		t.Errorf("got %+v", k)
	}
	if k, ok := set.Get("stranger"); !ok || !k.Guarded {
		t.Errorf("got %+v", k)
	}
}

func TestReasons(t *testing.T) {
	y := newYard(t, map[string]string{
		"home/.claude/skills/bare/SKILL.md":     "# no front matter\n",
		"home/.claude/skills/lower/skill.md":    text("lower"),
		"home/.claude/skills/yaml/SKILL.md":     "---\nname: a\n  description: b\n---\n",
		"home/.claude/skills/large/SKILL.md":    text("large") + strings.Repeat("x", 2000),
		"home/.claude/skills/latin/SKILL.md":    "---\nname: caf\xe9\n---\n",
		"home/.claude/skills/good/SKILL.md":     "---\nname: good\n---\nx",
		"home/.claude/skills/folder/SKILL.md/x": "",
		"home/.agents":                          "a file",
	})
	y.link("home/.claude/skills/dangling/SKILL.md", "gone")
	y.link("home/.claude/skills/loop/SKILL.md", "SKILL.md")
	opt := y.options()
	opt.Limits.Bytes = 1000
	opt.Paths = []string{y.at("home/.agents")}
	set := foundBy(opt)
	y.wants(set, "good = home/.claude/skills/good/SKILL.md",
		"no-front-matter home/.claude/skills/bare/SKILL.md", "unreadable home/.claude/skills/dangling/SKILL.md",
		"too-large home/.claude/skills/large/SKILL.md", "not-utf8 home/.claude/skills/latin/SKILL.md",
		"unreadable home/.claude/skills/loop/SKILL.md", "misnamed home/.claude/skills/lower/skill.md", "bad-yaml home/.claude/skills/yaml/SKILL.md",
		"! home/.agents")
	for _, c := range set.Files {
		if (c.Code == "") != (c.Why == "") || c.From != "home" || c.Name == "good" && len(c.Notes) != 1 || c.Code == BadYAML && c.Line != 3 {
			t.Errorf("%+v", c)
		}
	}
}

func TestNoRights(t *testing.T) {
	y := newYard(t, map[string]string{
		"home/.claude/skills/a/SKILL.md": text("a"), "home/.claude/skills/b/SKILL.md": text("b"), "home/.claude/skills/c/SKILL.md": text("c"),
	})
	y.check(os.Chmod(y.at("home/.claude/skills/a/SKILL.md"), 0))
	y.check(os.Chmod(y.at("home/.claude/skills/b"), 0))
	t.Cleanup(func() { _ = os.Chmod(y.at("home/.claude/skills/b"), 0o755) })
	if _, err := os.ReadDir(y.at("home/.claude/skills/b")); err == nil {
		t.Skip("nothing is kept from this user")
	}
	f := NewFinder(y.options())
	y.wants(f.Find(), "c = home/.claude/skills/c/SKILL.md", "unreadable home/.claude/skills/a/SKILL.md", "! home/.claude/skills/b")
	y.check(os.Chmod(y.at("home/.claude/skills/a/SKILL.md"), 0o644))
	y.check(os.Chmod(y.at("home/.claude/skills/b"), 0o755))
	y.wants(f.Find(), "a = home/.claude/skills/a/SKILL.md", "b = home/.claude/skills/b/SKILL.md", "c = home/.claude/skills/c/SKILL.md")
}

func TestLinks(t *testing.T) {
	y := newYard(t, map[string]string{"home/.claude/skills/a/SKILL.md": text("a"), "store/b/SKILL.md": text("b")})
	y.link("home/.claude/skills/a/self", ".")
	y.link("home/.claude/skills/a/up", "../..")
	y.link("home/.claude/skills/x", "y")
	y.link("home/.claude/skills/y", "x")
	y.link("home/.claude/skills/store", y.at("store"))
	y.link("store/b/back", y.at("home"))
	y.link("proj/.claude/skills", y.at("home/.claude/skills"))
	got := foundBy(y.options())
	if names := skillNames(got); !cmp.Equal(names, []string{"a", "b"}) {
		t.Errorf("got %q, and the problems %+v", names, got.Problems)
	}
	for _, c := range got.Files {
		if c.Code != "" && c.Code != SameFile {
			t.Errorf("%+v", c)
		}
	}
}

func skillNames(s *Set) (names []string) {
	for _, k := range s.Skills {
		names = append(names, k.Name)
	}
	return names
}

func TestLimits(t *testing.T) {
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("home/.claude/skills/s%02d/SKILL.md", i)] = text(fmt.Sprintf("s%02d", i))
	}
	files["home/.claude/skills/"+strings.Repeat("d/", 5)+"SKILL.md"] = text("deep")
	for name, c := range map[string]struct {
		limits   Limits
		most     int
		problems string
	}{
		"files":   {Limits{Files: 10}, 10, "more than 10 skills"},
		"folders": {Limits{Folders: 10}, 8, "more than 10 folders"},
		"depth":   {Limits{Depth: 3}, 30, "more than 3 folders deep"},
		"time":    {Limits{Time: 1}, 0, "took longer"},
		"none":    {Limits{}, 31, ""},
	} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t, files)
			opt := y.options()
			opt.Limits = c.limits
			f := NewFinder(opt)
			set := f.Find()
			if len(set.Skills) != c.most || c.problems == "" && len(set.Problems) > 0 {
				t.Errorf("%d skills, problems %+v", len(set.Skills), set.Problems)
			}
			if c.problems != "" && (len(set.Problems) != 1 || !strings.Contains(set.Problems[0].Message, c.problems)) {
				t.Errorf("got %+v, want %s", set.Problems, c.problems)
			}
			if f.Find() != set {
				t.Error("the second search began anew")
			}
		})
	}
}

// TestCrowd has a stranger bring more than is searched: what is the user's is
// found all the same.
func TestCrowd(t *testing.T) {
	files := map[string]string{"home/.config/opencode/skill/a/SKILL.md": text("s03")}
	for i := range 30 {
		files[fmt.Sprintf("proj/.claude/skills/s%02d/SKILL.md", i)] = text(fmt.Sprintf("s%02d", i))
	}
	for _, limits := range []Limits{{Files: 10}, {Folders: 10}} {
		y := newYard(t, files)
		opt := y.options()
		opt.Limits, opt.Trusted = limits, nil
		set := foundBy(opt)
		if k, ok := set.Get("s03"); !ok || k.Guarded || len(set.Problems) != 1 || len(set.Skills) < 5 {
			t.Errorf("%+v: got %+v, %d skills, problems %+v", limits, k, len(set.Skills), set.Problems)
		}
	}
}

// TestTogether has several goroutines search while files change.
func TestTogether(t *testing.T) {
	y := newYard(t, map[string]string{"home/.claude/skills/a/SKILL.md": text("a")})
	f := NewFinder(y.options())
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				if _, ok := f.Find().Get("a"); !ok {
					t.Error("a was not found")
				}
			}
		})
	}
	for i := range 20 {
		y.write(fmt.Sprintf("home/.claude/skills/b%d/SKILL.md", i), text("b"))
	}
	wg.Wait()
	if got := skillNames(f.Find()); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("got %q", got)
	}
}

// TestDecideLaws holds the choice among candidates to what it promises.
func TestDecideLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var finds []find
		for i := range rapid.IntRange(0, 12).Draw(t, "finds") {
			f := find{File: skill.File{Path: fmt.Sprint(i), Guarded: rapid.Bool().Draw(t, "guarded")}}
			if f.Name = rapid.SampledFrom([]string{"a", "b", ""}).Draw(t, "name"); f.Name == "" {
				f.Code, f.Why = NoName, "no name"
			}
			finds = append(finds, f)
		}
		set := decide(slices.Clone(finds), 1)
		for _, name := range []string{"a", "b"} {
			want := "" // the last of the user's, or else the last
			for _, guarded := range []bool{true, false} {
				for _, f := range finds {
					if f.Name == name && f.Guarded == guarded {
						want = f.Path
					}
				}
			}
			if k, ok := set.Get(name); ok != (want != "") || k.Path != want {
				t.Fatalf("%s is %q, and should be %q", name, k.Path, want)
			}
		}
		for i, c := range set.Files {
			k, _ := set.Get(c.Name)
			if c.Path != finds[i].Path || (c.Code == "") != (k.Path == c.Path) || (c.Code == "") != (c.Why == "") {
				t.Fatalf("%+v, and the skill is %+v", c, k)
			}
		}
	})
}

// TestDeep has a tree that is deeper than a path can be long, and one with
// more problems than anybody wants to read.
func TestDeep(t *testing.T) {
	y := newYard(t, map[string]string{"home/.claude/skills/a/SKILL.md": text("a")})
	at, err := os.OpenRoot(y.at("home/.claude/skills"))
	y.check(err)
	for range 300 {
		y.check(at.Mkdir("a-long-name-of-a-folder", 0o755))
		next, err := at.OpenRoot("a-long-name-of-a-folder")
		y.check(err)
		y.check(at.Close())
		at = next
	}
	y.check(at.Close())
	opt := y.options()
	opt.Limits.Depth = 10_000
	set := foundBy(opt)
	if len(set.Skills) != 1 {
		t.Errorf("got %+v", set)
	}
	for i := range maxEntries + 1 {
		y.check(os.WriteFile(y.at(fmt.Sprint("home/.claude/skills/a/file", i)), nil, 0o644))
	}
	if p := foundBy(opt).Problems; !slices.ContainsFunc(p, func(p skill.Problem) bool { return strings.Contains(p.Message, "only 10000 of its entries") }) {
		t.Errorf("got %+v", p)
	}
	for i := range maxProblems + 20 {
		opt.Paths = append(opt.Paths, fmt.Sprint("missing", i))
	}
	if n := len(foundBy(opt).Problems); n != maxProblems+1 {
		t.Errorf("%d problems", n)
	}
}

// find is a single search.
func foundBy(opt Options) *Set { return NewFinder(opt).Find() }
