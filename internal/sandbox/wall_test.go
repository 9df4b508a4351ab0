package sandbox

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func mustDo(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func skipOnWindows(tb testing.TB) {
	tb.Helper()
	if runtime.GOOS == "windows" {
		tb.Skip("paths of the wall are those of Unix")
	}
}

func realDir(tb testing.TB, name string) string {
	tb.Helper()
	skipOnWindows(tb)
	dir, err := filepath.EvalSymlinks(tb.(interface{ TempDir() string }).TempDir())
	mustDo(tb, err)
	dir = filepath.Join(dir, name)
	mustDo(tb, os.MkdirAll(dir, 0o755))
	return dir
}

func TestCheck(t *testing.T) {
	dir := realDir(t, "a")
	mustDo(t, os.Mkdir(dir+"/b", 0o755))
	mustDo(t, os.Symlink("b", dir+"/link"))
	got, err := Profile{
		Level: Write, Roots: []string{dir + "/link", dir + "/./b/"}, Masks: []string{dir + "/x/../y", dir + "/link"},
		Protected: []string{dir + "/b/.git/hooks", dir + "/b/.git", dir + "/b/.github"}, Temp: dir, Keep: []int{5, 3, 5},
	}.Check()
	mustDo(t, err)
	want := Profile{
		Level: Write, Roots: []string{dir + "/b"}, Masks: []string{dir + "/link", dir + "/y"},
		Protected: []string{dir + "/b/.git", dir + "/b/.github"}, Temp: dir, Keep: []int{3, 5},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for name, p := range map[string]Profile{
		"no level":          {},
		"unknown level":     {Level: "none"},
		"relative":          {Level: Write, Roots: []string{"a"}},
		"relative mask":     {Level: Write, Masks: []string{"a"}},
		"NUL":               {Level: Write, Readable: []string{"/a\x00b"}},
		"missing root":      {Level: Write, Roots: []string{dir + "/none"}},
		"everything":        {Level: Write, Roots: []string{"/"}},
		"processes":         {Level: Write, Writable: []string{"/dev"}},
		"bare":              {Level: Write, Bare: true},
		"cache in the mask": {Level: Write, Cache: dir + "/b", Masks: []string{dir}},
		"temp protected":    {Level: Write, Temp: dir + "/b", Protected: []string{dir + "/b"}},
	} {
		if _, err := p.Check(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		path, dir string
		want      bool
	}{
		{"/a", "/a", true}, {"/a/b", "/a", true}, {"/ab", "/a", false}, {"/", "/a", false}, {"/a", "/", true}, {"/a-b/c", "/a", false},
	} {
		if got := isWithin(c.path, c.dir); got != c.want {
			t.Errorf("within(%q, %q) = %v", c.path, c.dir, got)
		}
	}
}

func TestWritable(t *testing.T) {
	p := Profile{Level: Write, Roots: []string{"/ws"}, Cache: "/ws/cache", Temp: "/t", ReadOnly: true}
	for path, want := range map[string]bool{
		"/ws": false, "/ws/a": false, "/ws/cache": true, "/ws/cache/a": true, "/t/x": true, "/other": false, "/": false,
	} {
		if got := p.writable(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	p.ReadOnly = false
	if !p.writable("/ws/a") || p.writable("/wsx") {
		t.Error("a root can not be written, or its neighbour can")
	}
}

// Encoding loses nothing, and equal profiles have equal keys.
func TestEncode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		paths := func(name string) []string {
			list := rapid.SliceOfN(rapid.StringMatching(`/[a-z"\\ ]{0,8}`), 0, 4).Draw(t, name)
			if len(list) == 0 {
				return nil
			}
			return list
		}
		p := Profile{
			Level: rapid.SampledFrom([]Level{Off, Write, Strict}).Draw(t, "level"), Roots: paths("roots"), ReadOnly: rapid.Bool().Draw(t, "ro"),
			Writable: paths("writable"), Readable: paths("readable"), Masks: paths("masks"), Protected: paths("protected"),
			Fallback: rapid.Bool().Draw(t, "fallback"),
		}
		got, err := Decode(p.Encode())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p, got); diff != "" {
			t.Fatal(diff)
		}
		if p.Key() != got.Key() {
			t.Fatal("another key")
		}
		other := p
		other.ReadOnly = !p.ReadOnly
		if other.Key() == p.Key() {
			t.Fatal("the same key for another profile")
		}
	})
}

// A mask lies over the file that was there. When an editor puts another in
// its place, a new sandbox is due, and the key says so.
func TestKeyFollowsFiles(t *testing.T) {
	dir := realDir(t, "a")
	env := dir + "/.env"
	p := Profile{Level: Write, Roots: []string{dir}, Masks: []string{env}}
	keys := []string{p.Key()}
	step := func(what string, err error) {
		mustDo(t, err)
		key := p.Key()
		if slices.Contains(keys, key) {
			t.Errorf("%s: the key stays", what)
		}
		if p.Key() != key {
			t.Errorf("%s: the key does not stay", what)
		}
		keys = append(keys, key)
	}
	step("made", os.WriteFile(env, []byte("a"), 0o600))
	before := p.Key()
	mustDo(t, os.WriteFile(env, []byte("b"), 0o600))
	if p.Key() != before {
		t.Error("the same file, written to, has another key")
	}
	mustDo(t, os.WriteFile(dir+"/new", nil, 0o600))
	step("replaced", os.Rename(dir+"/new", env))
	mustDo(t, os.Remove(env))
	mustDo(t, os.WriteFile(dir+"/target", nil, 0o600))
	step("a link", os.Symlink("target", env))
	step("a link to nothing", os.Remove(dir+"/target"))
}

func TestEnv(t *testing.T) {
	p := Profile{Level: Write, Temp: "/t", Cache: "/c"}
	env := p.Env()
	for _, want := range []string{"TMPDIR=/t", "XDG_CACHE_HOME=/c", "GOCACHE=" + filepath.Join("/c", "go-build"), "PIP_CACHE_DIR=" + filepath.Join("/c", "pip")} {
		want = strings.ReplaceAll(want, "=/c", "="+filepath.Clean("/c"))
		if !slices.Contains(env, want) {
			t.Errorf("%s is not in %v", want, env)
		}
	}
	if got := (Profile{Level: Write}).Env(); !slices.Contains(got, "TMPDIR=/tmp") {
		t.Errorf("without a folder for temporary files: %v", got)
	}
	if got := (Profile{Level: Write, Bare: true}).Env(); len(got) != 0 {
		t.Errorf("the /tmp of all is no folder to write in: %v", got)
	}
}

func TestState(t *testing.T) {
	s := State{Level: Write, Kind: "landlock", Promises: []Promise{{Name: "a", Verdict: Held}, {Name: "b", Verdict: NotPromised}, {Name: "c", Verdict: NotHeld}}}
	if s.Complete() || len(s.Broken()) != 1 || s.String() != "wall write (landlock): 1 of 2 promises hold" {
		t.Errorf("%s, %v", s, s.Broken())
	}
	s.Promises = s.Promises[:2]
	if !s.Complete() {
		t.Error("what is not promised need not hold")
	}
	if s := (State{Level: Off}); s.Complete() || s.String() != "wall off: none" {
		t.Errorf("%s", s)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(Profile{Level: Strict, Roots: []string{"/"}, Keep: []int{-1}}.Encode())
	f.Add(`{"level":"write","roots":["relative"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Decode(text)
		if err != nil {
			return
		}
		checked, err := p.Check()
		if err != nil {
			return
		}
		again, err := checked.Check()
		if err != nil {
			t.Fatalf("checked, and then refused: %v", err)
		}
		a, _ := json.Marshal(checked)
		b, _ := json.Marshal(again)
		if string(a) != string(b) {
			t.Fatalf("checking twice differs:\n%s\n%s", a, b)
		}
		for _, tr := range checked.trees() {
			if reserved(tr.path) || !filepath.IsAbs(tr.path) {
				t.Fatalf("%s may be written", tr.path)
			}
		}
	})
}
