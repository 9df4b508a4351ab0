package lspclient

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestGlob(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		yes, no string // paths, apart by spaces
	}{
		{"a.go", "a.go", "b.go a.gox xa.go x/a.go"},
		{"*.go", "a.go .go ä.go", "x/a.go /a.go a.gox"},
		{"?.go", "a.go ä.go", ".go ab.go /.go"},
		{"**/*.go", "a.go x/a.go x/y/.go /x/a.go", "a.gox x/a.go/b"},
		{"**", "a a/b /a", ""},
		{"**/", "a/ a/b/", "a a/b"},
		{"a/**", "a a/b a/b/c a/", "ab b/a xa/b"},
		{"/a/**", "/a /a/b", "a /ab"},
		{"a/**/b", "a/b a/x/b a/x/y/b", "ab a/xb xa/b a/b/c axb"},
		{"a/**/**/b", "a/b a/x/b", "ab"},
		{"**/a/**/b/**/c", "a/b/c x/a/x/b/x/c a/b/b/c", "a/c b/a/c a/b/xc"},
		{"**.go", "a.go x/a.go", "a.g"},
		{"a**b", "ab axb ax/yb", "a b"},
		{"a**/b", "a/b ax/b a/x/b", "ab a/xb"},
		{"x/***", "x x/a x/a/b", "xa"},
		{"**/*.{go,mod,sum}", "a.go x/go.mod x/y/go.sum", "a.rs go.work"},
		{"**/{go.mod,*.go}", "go.mod x/go.mod x/a.go", "xgo.mod"},
		{"{**/*.go,x/**}", "a.go b/a.go x x/y/z", "y/z"},
		{"{**/,}a", "a x/a", "xa"},
		{"{a,}b", "ab b", "a"},
		{"{a,b{c,d}}e", "ae bce bde", "be ce abe"},
		{"x{/**,}", "x x/a", "xa"},
		{"x{a/**,b}c", "xbc", "xac xa"},
		{"{}", "", "a"},
		{"a,b}", "a,b}", "a b"},
		{"[a-c]x", "ax cx", "dx /x x -x"},
		{"[!a-c]x", "dx ]x", "ax /x x"},
		{"[^a]", "b ^", "a /"},
		{"[]a]", "] a", "b"},
		{"[!]a]", "b !", "] a"},
		{"[a-]", "a -", "b"},
		{"[-a]", "a -", "b"},
		{"[+--]", "+ , -", ". /"},
		{"[.-0]", ". 0", "/"},
		{"[ä-ü]", "ö", "a"},
		{"[*?{]", "* ? {", "a"},
		{"[id].tsx", "i.tsx d.tsx", "[id].tsx"},
		{`a\*`, `a\ a\b`, `a* a/b`},
		{"a]", "a]", "a"},
	} {
		g, err := parseGlob(tt.pattern)
		if err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
			continue
		}
		for _, path := range strings.Fields(tt.yes) {
			if !g.match(path) || !g.mayEnd(path) {
				t.Errorf("%s is not one for %s (by its end: %v)", tt.pattern, path, g.mayEnd(path))
			}
		}
		for _, path := range strings.Fields(tt.no) {
			if g.match(path) {
				t.Errorf("%s is one for %s", tt.pattern, path)
			}
		}
	}
}

func TestGlobMistakes(t *testing.T) {
	for pattern, want := range map[string]string{
		"a[b":                      "a [ has no ]",
		"[]":                       "a [ has no ]",
		"{a,b":                     "a { has no }",
		"{a,[}":                    "a [ has no ]",
		"[z-a]":                    "the wrong way round",
		strings.Repeat("{", 1000):  "too deep",
		strings.Repeat("x", 5000):  "too long",
		strings.Repeat("*/", 1500): "too long",
	} {
		if _, err := parseGlob(pattern); err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 500 {
			t.Errorf("%.20s: %v", pattern, err)
		}
	}
}

// However a pattern is made, its work is bounded: by the product of the
// lengths, where going back would take longer than there is time.
func TestGlobLong(t *testing.T) {
	path := strings.Repeat("a", 1000) + "b"
	for _, pattern := range []string{
		strings.Repeat("*a", 1000) + "c*", strings.Repeat("**/", 500) + "c*", strings.Repeat("{a,aa,*}", 300) + "c*",
		strings.Repeat("{", 60) + "a" + strings.Repeat(",**a}", 60) + "c*", "[" + strings.Repeat("x-z", 1300) + "]*",
	} {
		g, err := parseGlob(pattern)
		if err != nil {
			t.Fatalf("%.20s: %v", pattern, err)
		}
		if g.match(path) {
			t.Errorf("%.20s is one for %.20s", pattern, path)
		}
	}
}

// What is easily known of the end of a pattern spares most of the work.
func TestGlobEndings(t *testing.T) {
	for pattern, want := range map[string]string{
		"a.go": "a.go", "**/*.go": ".go", "**/go.mod": "go.mod", "/x": "/x", "*/x": "x", "**/*.{ts,js}": ".ts|.js",
		"**/{a,b}": "a|b", "x{a,b}": "xa|xb", "a/**": "", "[ab]c": "c", "{a,b}c": "c", "{a/**,b}/c": "c", "x}y": "y", "{*.a,b}": "?", "{a,{b,c}}": "?", "a}": "?", "{a}": "a",
		"}{a}": "?",
	} {
		got := "?"
		if ends := endings(pattern); ends != nil {
			got = strings.Join(ends, "|")
		}
		if got != want {
			t.Errorf("%s: %s, and not %s", pattern, got, want)
		}
	}
}

// A pattern means the same as the regular expression made with it.
func TestGlobAsRegexp(t *testing.T) {
	letters := rapid.SampledFrom([]string{"a", "b", ".", "ä", "+", ",", "]"})
	var segment func(depth int) *rapid.Generator[[2]string]
	segment = func(depth int) *rapid.Generator[[2]string] {
		return rapid.Custom(func(t *rapid.T) [2]string {
			var glob, re strings.Builder
			for range rapid.IntRange(1, 3).Draw(t, "parts") {
				switch kind := rapid.IntRange(0, 7).Draw(t, "kind"); {
				case kind == 0:
					glob.WriteString("*")
					re.WriteString("[^/]*")
				case kind == 1:
					glob.WriteString("?")
					re.WriteString("[^/]")
				case kind == 2:
					glob.WriteString("[a-]")
					re.WriteString("[a-]")
				case kind == 3:
					glob.WriteString("[!a.]")
					re.WriteString("[^a./]")
				case kind == 4 && depth > 0:
					var globs, res []string
					for range rapid.IntRange(1, 3).Draw(t, "alternatives") {
						inner := segment(depth-1).Draw(t, "inner")
						if strings.ContainsRune(inner[0], ',') {
							continue
						}
						globs, res = append(globs, inner[0]), append(res, inner[1])
					}
					glob.WriteString("{" + strings.Join(globs, ",") + "}")
					re.WriteString("(?:" + strings.Join(res, "|") + ")")
				default:
					l := letters.Draw(t, "letter")
					glob.WriteString(l)
					re.WriteString(regexp.QuoteMeta(l))
				}
			}
			return [2]string{glob.String(), re.String()}
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		glob, re := "", "^"
		if rapid.Bool().Draw(t, "anywhere") {
			glob, re = "**/", re+"(?:.*/)?"
		}
		for i := range rapid.IntRange(1, 3).Draw(t, "segments") {
			if i > 0 {
				glob, re = glob+"/", re+"/"
				if rapid.Bool().Draw(t, "deeper") {
					glob, re = glob+"**/", re+"(?:.*/)?"
				}
			}
			s := segment(2).Draw(t, "segment")
			if strings.Contains(s[0], "**") {
				s = [2]string{"x*", "x[^/]*"}
			}
			glob, re = glob+s[0], re+s[1]
		}
		if rapid.Bool().Draw(t, "all below") {
			glob, re = glob+"/**", re+"(?:/.*)?"
		}
		g, err := parseGlob(glob)
		if err != nil {
			t.Fatalf("%s: %v", glob, err)
		}
		oracle := regexp.MustCompile(re + "$")
		for range 20 {
			path := rapid.StringOfN(rapid.SampledFrom([]rune("ab.ä/+x")), 0, 8, -1).Draw(t, "path")
			if got, want := g.match(path), oracle.MatchString(path); got != want {
				t.Fatalf("%s for %q: %v, and %s says %v", glob, path, got, re, want)
			}
			if g.match(path) && !g.mayEnd(path) {
				t.Fatalf("%s is one for %q, but does not end so", glob, path)
			}
		}
	})
}

func FuzzGlob(f *testing.F) {
	for _, seed := range [][2]string{
		{"**/*.{go,mod}", "x/go.mod"}, {"[!a-z]?", "1x"}, {"\xff", "\xff"}, {"{a,{b,c}}/**", "b/c"},
		{strings.Repeat("*a", 20), strings.Repeat("a", 50)}, {strings.Repeat("**/", 20), strings.Repeat("a/", 20)},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, path string) {
		if len(path) > 200 || len(pattern) > 200 {
			return // TestGlobLong has such
		}
		g, err := parseGlob(pattern)
		if err != nil {
			if !strings.ContainsAny(pattern, "[{") {
				t.Fatalf("%q: %v", pattern, err)
			}
			return
		}
		got := g.match(path)
		if got && !g.mayEnd(path) {
			t.Errorf("%q is one for %q, but does not end so", pattern, path)
		}
		if !strings.ContainsAny(pattern, "*?[{") {
			if got != (pattern == path) || !g.match(pattern) {
				t.Errorf("%q has nothing special: for %q %v", pattern, path, got)
			}
		}
		if deeper, err := parseGlob("**/" + pattern); err == nil && got && !deeper.match(path) {
			t.Errorf("%q is one for %q, but not anywhere", pattern, path)
		}
		if !strings.ContainsAny(pattern, ",}") {
			if twice, err := parseGlob("{" + pattern + "," + pattern + "}"); err == nil && twice.match(path) != got {
				t.Errorf("%q is one for %q: %v, but twice the same is not", pattern, path, got)
			}
		}
	})
}

func TestWatchers(t *testing.T) {
	root := filepath.Join(t.TempDir(), "my root")
	other := filepath.Join(filepath.Dir(root), "other")
	quoted := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	w, err := parseWatchers(json.RawMessage(`{"watchers": [
		{"globPattern": "**/*.go"},
		{"globPattern": "top.txt", "kind": 1},
		{"globPattern": `+quoted(filepath.ToSlash(root)+"/abs/*.c")+`, "kind": 2},
		{"globPattern": "**/my root/*.h", "kind": 4},
		{"globPattern": {"baseUri": `+quoted(uriOf(other))+`, "pattern": "**/*.x"}},
		{"globPattern": {"baseUri": {"uri": `+quoted(uriOf(root))+`, "name": "r"}, "pattern": "sub/*.y"}, "kind": 5},
		{"globPattern": "never", "kind": 0}
	]}`), root)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path  string
		kinds [4]bool // any, created, altered, deleted
	}{
		{root + "/a.go", [4]bool{true, true, true, true}},
		{root + "/x/a.go", [4]bool{true, true, true, true}},
		{other + "/a.go", [4]bool{true, true, true, true}},
		{root + "/a.rs", [4]bool{}},
		{root + "/top.txt", [4]bool{true, true, false, false}},
		{root + "/x/top.txt", [4]bool{}},
		{root + "/abs/a.c", [4]bool{true, false, true, false}},
		{root + "/a.c", [4]bool{}},
		{root + "/a.h", [4]bool{true, false, false, true}},
		{root + "/x/a.h", [4]bool{}},
		{other + "/a.x", [4]bool{true, true, true, true}},
		{root + "/a.x", [4]bool{}},
		{other + "s/a.x", [4]bool{}},
		{root + "/sub/a.y", [4]bool{true, true, false, true}},
		{root + "/a.y", [4]bool{}},
		{root + "/never", [4]bool{}},
		{root, [4]bool{}},
	} {
		for kind, want := range tt.kinds {
			if got := w.wants(filepath.FromSlash(tt.path), kind); got != want {
				t.Errorf("%s, kind %d: %v", tt.path, kind, got)
			}
		}
	}
}

func TestWatchersMistakes(t *testing.T) {
	for _, tt := range []struct {
		options string
		left    int
		err     string
	}{
		{`{}`, 0, ""},
		{`{"watchers": null}`, 0, ""},
		{``, 0, "watchers"},
		{`[]`, 0, "watchers"},
		{`{"watchers": [{"globPattern": "a"}, {"globPattern": "[a"}, {"globPattern": "{b"}, {"globPattern": "c"}]}`, 2, `"[a"`},
		{`{"watchers": [{}]}`, 0, "watcher"},
		{`{"watchers": [{"globPattern": 1}]}`, 0, "watcher"},
		{`{"watchers": [{"globPattern": {"pattern": "a"}}]}`, 0, "watcher"},
		{`{"watchers": [{"globPattern": {"baseUri": 7, "pattern": "a"}}]}`, 0, "watcher"},
		{`{"watchers": [{"globPattern": {"baseUri": "http://example.com/", "pattern": "a"}}]}`, 0, "watcher"},
		{`{"watchers": [` + strings.Repeat(`{"globPattern": "a"},`, maxWatchers) + `{"globPattern": "a"}]}`, maxWatchers, "the most"},
		{`{"watchers": [` + strings.Repeat(`{"globPattern": "`+strings.Repeat("a", 4000)+`"},`, 100) + `{"globPattern": "a"}]}`, maxAllSteps / 4001, "too long together"},
	} {
		w, err := parseWatchers(json.RawMessage(tt.options), t.TempDir())
		if len(w) != tt.left || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%.80s: %d watchers, %v", tt.options, len(w), err)
		}
	}
}

func BenchmarkWatchers(b *testing.B) {
	root := filepath.FromSlash("/home/someone/project")
	w, err := parseWatchers(json.RawMessage(`{"watchers": [{"globPattern": "**/*.{go,mod,sum,work}"}, {"globPattern": "**/{package,tsconfig}.json"}, {"globPattern": "**/*.rs"}]}`), root)
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"internal/builtin/testdata/picture.png", "internal/builtin/edit.go"} {
		path := filepath.Join(root, filepath.FromSlash(name))
		b.Run(filepath.Ext(name), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w.wants(path, Altered)
			}
		})
	}
}
