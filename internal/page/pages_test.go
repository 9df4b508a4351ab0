package page_test

import (
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/helve-dev/helve/internal/page"
)

var update = flag.Bool("update", false, "write the golden parts of testdata/pages anew")

// A fixture is a page of an archive in testdata/pages. There, NAME.html is the
// page and NAME.md the whole of it as Markdown; NAME.main.md and NAME.txt, its
// main part and its text, may be left out. In any of them
//
//	$[repeat N]TEXT$[end]  stands for N times TEXT
//	$[hex 0d0a]            stands for these bytes
//
// A line "unordered NAME: WHY" before the first page says that browsers show
// the words of a page in another order than the page has them.
type fixture struct {
	name      string
	html      string
	unordered bool
	want      map[string]string // md, main.md, txt; without the last newline
}

// fixtures reads an archive.
func fixtures(t *testing.T, file string) []*fixture {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []*fixture
	for _, f := range archive.Files {
		name, kind, _ := strings.Cut(f.Name, ".")
		text := expand(t, string(f.Data))
		if kind == "html" {
			all = append(all, &fixture{name: name, html: text, want: map[string]string{}})
			continue
		}
		if len(all) == 0 || all[len(all)-1].name != name {
			t.Fatalf("%s does not follow its page", f.Name)
		}
		all[len(all)-1].want[kind] = strings.TrimSuffix(text, "\n")
	}
	for line := range strings.Lines(string(archive.Comment)) {
		if rest, ok := strings.CutPrefix(line, "unordered "); ok {
			name, why, _ := strings.Cut(rest, ":")
			found := false
			for _, f := range all {
				found = found || f.name == name
				f.unordered = f.unordered || f.name == name
			}
			if !found || strings.TrimSpace(why) == "" {
				t.Fatalf("%s: no such page, or no reason: %s", file, line)
			}
		}
	}
	return all
}

// expand replaces the marks of a fixture.
func expand(t *testing.T, text string) string {
	t.Helper()
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "$[")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		mark, rest, _ := strings.Cut(rest, "]")
		word, value, _ := strings.Cut(mark, " ")
		switch word {
		case "repeat":
			times, err := strconv.Atoi(value)
			if err != nil {
				t.Fatal(err)
			}
			unit, after, ended := strings.Cut(rest, "$[end]")
			if !ended {
				t.Fatalf("$[%s] has no end", mark)
			}
			out.WriteString(strings.Repeat(expand(t, unit), times))
			rest = after
		case "hex":
			b, err := hex.DecodeString(value)
			if err != nil {
				t.Fatal(err)
			}
			out.Write(b)
		default:
			t.Fatalf("no such mark: $[%s]", mark)
		}
		text = rest
	}
}

// A reading is everything that a page is turned into.
type reading struct {
	decoded         string
	title           string
	whole, main     string
	partial, cutAll bool
	text            string
}

func read(t *testing.T, body string) reading {
	t.Helper()
	ctx := t.Context()
	var r reading
	r.decoded, _ = page.Decode([]byte(body), "")
	doc, err := page.Parse(ctx, r.decoded)
	if err != nil {
		t.Fatal(err)
	}
	r.title = doc.Title()
	if r.whole, r.cutAll, err = doc.Markdown(ctx, true); err != nil {
		t.Fatal(err)
	}
	if r.main, r.partial, err = doc.Markdown(ctx, false); err != nil {
		t.Fatal(err)
	}
	if r.text, err = doc.Text(ctx); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r reading) kinds() map[string]string {
	return map[string]string{"md": r.whole, "main.md": r.main, "txt": r.text}
}

func TestPages(t *testing.T) {
	files, err := filepath.Glob("testdata/pages/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no pages", err)
	}
	count := 0
	for _, file := range files {
		all := fixtures(t, file)
		count += len(all)
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			made := map[string]reading{}
			for _, f := range all {
				t.Run(f.name, func(t *testing.T) {
					r := read(t, f.html)
					made[f.name] = r
					if !*update {
						compare(t, f, r)
					}
					obey(t, f, r)
				})
			}
			if *update {
				rewrite(t, file, made)
			}
		})
	}
	if count < 200 {
		t.Errorf("only %d pages were found", count)
	}
}

func compare(t *testing.T, f *fixture, r reading) {
	t.Helper()
	if _, there := f.want["md"]; !there {
		t.Error("has no .md")
	}
	got := r.kinds()
	for kind, want := range f.want {
		text, known := got[kind]
		if !known {
			t.Errorf("what is .%s?", kind)
		}
		if text != want {
			t.Errorf(".%s: want -, got +:\n%s", kind, cmp.Diff(want, text))
		}
	}
}

// mostGolden is how long a part may get that is written by -update. Longer
// ones are for people, who use $[repeat].
const mostGolden = 8 << 10

// rewrite puts what came out into the archive. Parts that say the same already
// stay as they are written.
func rewrite(t *testing.T, file string, made map[string]reading) {
	t.Helper()
	old, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]txtar.File{}
	for _, f := range old.Files {
		there[f.Name] = f
	}
	fresh := &txtar.Archive{Comment: old.Comment}
	for _, f := range old.Files {
		name, isPage := strings.CutSuffix(f.Name, ".html")
		if !isPage {
			continue
		}
		fresh.Files = append(fresh.Files, f)
		got := made[name].kinds()
		for _, kind := range []string{"md", "main.md", "txt"} {
			part, has := there[name+"."+kind]
			if !has && kind != "md" {
				continue
			}
			if has && strings.TrimSuffix(expand(t, string(part.Data)), "\n") == got[kind] {
				fresh.Files = append(fresh.Files, part)
				continue
			}
			if len(got[kind]) > mostGolden {
				t.Errorf("%s.%s is %d bytes long: write it by hand", name, kind, len(got[kind]))
				continue
			}
			fresh.Files = append(fresh.Files, txtar.File{Name: name + "." + kind, Data: []byte(got[kind] + "\n")})
		}
	}
	if err := os.WriteFile(file, txtar.Format(fresh), 0o644); err != nil {
		t.Fatal(err)
	}
}

// obey checks what holds for every page: none of its text is lost, the main
// part is a part of the whole, nothing that steers a terminal comes out, and
// the same page is the same twice.
func obey(t *testing.T, f *fixture, r reading) {
	t.Helper()
	if again := read(t, f.html); again != r {
		t.Error("a second reading differs from the first")
	}
	if r.cutAll {
		t.Error("the whole page is said to be partial")
	}
	if !r.partial && r.main != r.whole {
		t.Error("the main part differs from the whole page and is not said to be partial")
	}
	if err := inOrder(shown(r.decoded, nobodys), r.whole, f.unordered); err != nil {
		t.Errorf("Markdown: %v", err)
	}
	if err := inOrder(shown(r.decoded, standIns), r.text, f.unordered); err != nil {
		t.Errorf("text: %v", err)
	}
	if err := inOrder([]string{r.main}, r.whole, false); err != nil {
		t.Errorf("main part: not of the page: %v", err)
	}
	for kind, text := range r.kinds() {
		for i, c := range text {
			if unicode.IsControl(c) && c != '\n' && c != '\t' {
				t.Errorf(".%s has %U at byte %d", kind, c, i)
			}
		}
		if strings.Contains(text, "\n\n\n") && !strings.Contains(r.decoded, "\n\n\n") && !strings.Contains(r.decoded, "<pre") {
			t.Errorf(".%s has two blank lines in a row", kind)
		}
		if strings.Trim(text, " \t\n") != text && !strings.Contains(r.decoded, "<pre") {
			t.Errorf(".%s begins or ends with a blank", kind)
		}
	}
}

// shown returns the texts that a browser shows of a page, as a real parser of
// HTML sees it. Pages that are too deep for it are taken token by token.
func shown(src string, unseen func(*html.Node) bool) []string {
	root, err := html.ParseWithOptions(strings.NewReader(src), html.ParseOptionEnableScripting(false))
	if err != nil {
		return tokens(src)
	}
	var texts []string
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.ElementNode && unseen(n) {
			return
		}
		if n.Type == html.TextNode {
			if p := n.Parent; p.DataAtom == atom.Iframe || p.DataAtom == atom.Noframes || p.DataAtom == atom.Noembed {
				texts = append(texts, shown(n.Data, unseen)...)
			} else if !drawn(n) {
				texts = append(texts, n.Data)
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(root)
	return texts
}

// drawn says that a text is part of a picture and not among its words.
func drawn(n *html.Node) bool {
	words := false
	for p := n.Parent; p != nil; p = p.Parent {
		switch p.Data {
		case "text", "title", "foreignObject":
			words = true
		case "svg":
			return !words
		}
	}
	return false
}

// nobodys are the elements that nobody sees.
func nobodys(n *html.Node) bool {
	switch n.Data {
	case "script", "style", "template", "noembed", "datalist":
		return true
	case "noframes":
		return n.Parent.Data != "frameset" && n.Parent.Data != "html"
	case "video", "audio":
		return hasSource(n) // a link stands for it
	}
	for _, a := range n.Attr {
		switch {
		case a.Key == "hidden":
			return true // though some of it may be kept
		case a.Key == "encoding" && a.Val != "application/x-tex":
			return n.Data == "annotation"
		case a.Key == "class" && beside(a.Val):
			return true
		}
	}
	if p := n.Parent; p != nil && p.Data == "semantics" && n.Data != "annotation" {
		return p.LastChild.Data == "annotation"
	}
	return n.Data == "button" && n.FirstChild != nil && strings.HasPrefix(n.FirstChild.Data, "Copy ")
}

// hasSource tells whether a sound or a film says where it is from.
func hasSource(n *html.Node) bool {
	for _, a := range n.Attr {
		if a.Key == "src" && a.Val != "" {
			return true
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Data == "source" && hasSource(c) {
			return true
		}
	}
	return false
}

// beside tells the classes of what stands beside code, and of what shows a
// formula a second time.
func beside(class string) bool {
	switch class {
	case "linenos", "lnt", "gutter", "copy", "icon copy-icon", "katex-html":
		return true
	}
	return false
}

// standIns are, beside these, the elements whose text stands in for something
// that is shown instead.
func standIns(n *html.Node) bool {
	switch n.Data {
	case "noscript", "iframe", "object", "embed", "video", "audio", "canvas":
		return true
	}
	return nobodys(n)
}

func tokens(src string) (texts []string) {
	z := html.NewTokenizer(strings.NewReader(src))
	for z.Next() != html.ErrorToken {
		if token := z.Token(); token.Type == html.TextToken {
			texts = append(texts, token.Data)
		}
	}
	return texts
}

// inOrder tells whether the words of texts are in made, one after the other,
// and so are all their characters, whatever backslashes came between.
func inOrder(texts []string, made string, anyOrder bool) error {
	rest := made
	for _, text := range texts {
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !inWord(r) }) {
			at := strings.Index(rest, word)
			if at < 0 {
				return fmt.Errorf("%q is lost or out of order, before %.60q", word, rest)
			}
			if !anyOrder {
				rest = rest[at+len(word):]
			}
		}
	}
	if anyOrder {
		return nil
	}
	left := []rune(made)
	for _, text := range texts {
		for _, r := range text {
			if unicode.IsSpace(r) || unicode.In(r, unicode.C) || r == unicode.ReplacementChar {
				continue
			}
			at := 0
			for at < len(left) && left[at] != r {
				at++
			}
			if at == len(left) {
				return fmt.Errorf("a %q of %.60q is lost", r, text)
			}
			left = left[at+1:]
		}
	}
	return nil
}

// inWord says that a character carries meaning in any markup.
func inWord(r rune) bool {
	return r != unicode.ReplacementChar && unicode.In(r, unicode.L, unicode.N, unicode.M, unicode.So)
}

func TestInOrder(t *testing.T) {
	for _, c := range []struct {
		texts    []string
		made     string
		anyOrder bool
		ok       bool
	}{
		{[]string{"one ", "two"}, "one **two**", false, true},
		{[]string{"one", "two"}, "two one", false, false},
		{[]string{"one", "two"}, "two one", true, true},
		{[]string{"one", "two"}, "one", true, false},
		{[]string{"a_b [c]"}, `a\_b \[c\]`, false, true},
		{[]string{"a (b)"}, "a (b", false, false},
		{[]string{"what?", "yes"}, "what yes", false, false},
		{[]string{"x\u00ad\u200by"}, "xy", false, true},
		{[]string{"🧪 中文"}, "🧪 中", false, false},
		{nil, "", false, true},
	} {
		if err := inOrder(c.texts, c.made, c.anyOrder); (err == nil) != c.ok {
			t.Errorf("%q in %q: %v", c.texts, c.made, err)
		}
	}
}

func TestShown(t *testing.T) {
	src := `<title>T</title><style>no</style><p hidden>no</p><p>a<script>no</script><svg><title>b</title><desc>no</desc></svg>` +
		`<template>no</template><noscript>c</noscript><iframe>d</iframe>`
	if got := strings.Join(shown(src, nobodys), ""); got != "Tabcd" {
		t.Errorf("shown are %q", got)
	}
	if got := strings.Join(shown(src, standIns), ""); got != "Tab" {
		t.Errorf("shown without stand-ins are %q", got)
	}
	deep := strings.Repeat("<div>", 10_000) + "x"
	if got := strings.Join(shown(deep, nobodys), ""); got != "x" {
		t.Errorf("shown of a deep page are %q", got)
	}
}
