package site_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/html"

	"github.com/helve-dev/helve/internal/browsertest"
	"github.com/helve-dev/helve/tooltest"
)

// A stage is what the tests share: the site, built once, and a browser.
type stage struct {
	dir  string // of this run alone
	site func() (string, error)
	show *browsertest.Browser
}

var shared = newStage()

var errNoHugo = errors.New("there is no hugo (package hugo): the documentation is not built as a site")

func newStage() *stage {
	s := new(stage)
	s.site = sync.OnceValues(s.build)
	s.show = browsertest.New()
	return s
}

// TestMain ends the browser after the tests, and then looks for what they left
// behind.
func TestMain(m *testing.M) {
	os.Exit(tooltest.Leaks(func() int {
		dir, err := os.MkdirTemp("", "helve-site-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		shared.dir, shared.show.Dir = dir, dir
		code := m.Run()
		shared.show.End()
		if err := os.RemoveAll(dir); err != nil {
			fmt.Fprintln(os.Stderr, "the folder of the tests can not be removed:", err)
		}
		return code
	}))
}

// build makes the site as make does, in a folder of its own.
func (s *stage) build() (string, error) {
	hugo, err := exec.LookPath("hugo")
	if err != nil {
		return "", errNoHugo
	}
	dir := filepath.Join(s.dir, "site with a space") // as a folder of a person may have
	cmd := exec.Command(hugo, "--source", ".", "--destination", dir, "--noBuildLock")
	cmd.Env = append(os.Environ(), "HUGO_RESOURCEDIR="+filepath.Join(s.dir, "resources"), "HUGO_CACHEDIR="+filepath.Join(s.dir, "cache"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("hugo: %w\n%s", err, out)
	}
	return dir, nil
}

// built is the folder of the site. The test is skipped where there is no Hugo.
func built(t *testing.T) string {
	t.Helper()
	dir, err := shared.site()
	if errors.Is(err, errNoHugo) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// A leaf is a page of the site, read.
type leaf struct {
	nodes   []*html.Node // all elements
	anchors map[string]bool
}

// leaves are all pages, by their paths from the site's folder.
func leaves(t *testing.T, dir string) map[string]*leaf {
	t.Helper()
	all := map[string]*leaf{}
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".html") {
			return err
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		top, err := html.Parse(bytes.NewReader(raw))
		if err != nil {
			return err
		}
		l := &leaf{anchors: map[string]bool{}}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		for n := range top.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			l.nodes = append(l.nodes, n)
			if id := attr(n, "id"); id != "" {
				if l.anchors[id] {
					t.Errorf("%s: two elements are called %s", name, id)
				}
				l.anchors[id] = true
			}
		}
		all[name] = l
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// Every document that the menu or a link can name is a page, whose title is
// its own.
func TestPages(t *testing.T) {
	dir := built(t)
	all := leaves(t, dir)
	for _, file := range documents(t) {
		place := strings.ToLower(strings.TrimSuffix(file, ".md")) + ".html"
		switch {
		case file == "README.md":
			place = "index.html"
		case file == "AGENTS.md", strings.HasPrefix(file, "examples/"):
			continue // for who works on helve; beside the code
		}
		l := all[place]
		if l == nil {
			t.Errorf("%s is not in the site: there is no %s", file, place)
			continue
		}
		title := strings.ReplaceAll(strings.TrimPrefix(prose(t, file)[0], "# "), "`", "")
		if got := textOf(l, "h1"); got != title {
			t.Errorf("%s: the heading is %q, want %q", place, got, title)
		}
		if got := strings.TrimSuffix(textOf(l, "title"), " · helve"); got != title {
			t.Errorf("%s: the title is %q, want %q", place, got, title)
		}
		if want := len(anchors(t, file)); headings(l) < want {
			t.Errorf("%s has %d headings, and the file %d", place, headings(l), want)
		}
	}
}

func textOf(l *leaf, tag string) string {
	var b strings.Builder
	for _, n := range l.nodes {
		if n.Data != tag {
			continue
		}
		for d := range n.Descendants() {
			if d.Type == html.TextNode {
				b.WriteString(d.Data)
			}
		}
	}
	return strings.TrimSpace(b.String())
}

// headings counts those of the text.
func headings(l *leaf) (n int) {
	for _, node := range l.nodes {
		if regexp.MustCompile(`^h[1-6]$`).MatchString(node.Data) && attr(node, "id") != "" {
			n++
		}
	}
	return n
}

// Every link within the site leads to a file and a place that are there, by a
// path that also holds on a disk; nothing is loaded from elsewhere, and nothing
// stands in a page that its policy forbids.
func TestLinks(t *testing.T) {
	dir := built(t)
	all := leaves(t, dir)
	seen := 0
	for name, l := range all {
		if got := policy(l); got != "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'" {
			t.Errorf("%s: the policy is %q", name, got)
		}
		for _, n := range l.nodes {
			if n.DataAtom == 0 {
				t.Errorf("%s: <%s> is no element: in Markdown, write it as code", name, n.Data)
			}
			for _, a := range n.Attr {
				switch {
				case a.Key == "style" || strings.HasPrefix(a.Key, "on"):
					t.Errorf("%s: <%s> has %s=%q, which the policy forbids", name, n.Data, a.Key, a.Val)
				case a.Key == "href" || a.Key == "src" || a.Key == "srcset" || a.Key == "action":
					seen++
					if fault := leads(all, dir, name, n.Data, a.Val); fault != "" {
						t.Errorf("%s: <%s %s=%q>: %s", name, n.Data, a.Key, a.Val, fault)
					}
				}
			}
			if (n.Data == "script" || n.Data == "style") && n.FirstChild != nil {
				t.Errorf("%s: <%s> has content, which the policy forbids", name, n.Data)
			}
		}
	}
	if len(all) < 40 || seen < 1000 {
		t.Errorf("only %d links in %d pages were found", seen, len(all))
	}
}

// policy is what the page says that it may load.
func policy(l *leaf) string {
	for _, n := range l.nodes {
		if n.Data == "meta" && attr(n, "http-equiv") == "Content-Security-Policy" {
			return attr(n, "content")
		}
	}
	return ""
}

// leads says what is wrong with a link of the site; "" for nothing.
func leads(all map[string]*leaf, dir, from, tag, link string) string {
	u, err := url.Parse(link)
	switch {
	case err != nil:
		return err.Error()
	case u.Scheme == "https" && tag == "a":
		return "" // a person may go there
	case u.Scheme != "" || u.Host != "" || strings.HasPrefix(link, "/"):
		return "it leads out of the site"
	}
	target := from
	if u.Path != "" {
		target = path.Join(path.Dir(from), u.Path)
	}
	info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(target)))
	if err != nil || info.IsDir() {
		return "there is no such file"
	}
	if u.Fragment != "" && (all[target] == nil || !all[target].anchors[u.Fragment]) {
		return target + " has no such place"
	}
	return ""
}

// Style sheets and pictures load nothing from other places either.
func TestFiles(t *testing.T) {
	dir := built(t)
	elsewhere := regexp.MustCompile(`(?i)(url\(|@import|src=|href=)\s*["']?(https?:)?//`)
	looked := 0
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(file) != ".css" && path.Ext(file) != ".svg" {
			return err
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		looked++
		if m := elsewhere.Find(data); m != nil {
			t.Errorf("%s loads something from elsewhere: %s", d.Name(), m)
		}
		return nil
	})
	if err != nil || looked < 4 {
		t.Errorf("%d files: %v", looked, err)
	}
}

// The index of the search names every heading of every page, with places that
// are there.
func TestIndex(t *testing.T) {
	dir := built(t)
	all := leaves(t, dir)
	data, err := os.ReadFile(filepath.Join(dir, "search-index.js"))
	if err != nil {
		t.Fatal(err)
	}
	data = bytes.TrimSuffix(bytes.TrimSpace(bytes.TrimPrefix(data, []byte("window.helveIndex = "))), []byte(";"))
	var pages []struct {
		Href, Title string
		Sections    []struct{ Anchor, Heading, Text string }
	}
	if err := json.Unmarshal(data, &pages); err != nil {
		t.Fatal(err)
	}
	if len(pages) != len(all) {
		t.Errorf("%d pages are in the index, and %d in the site", len(pages), len(all))
	}
	for _, page := range pages {
		l := all[page.Href]
		if l == nil {
			t.Errorf("%s is in the index and not in the site", page.Href)
			continue
		}
		listed := 0
		for _, s := range page.Sections {
			listed++
			if !l.anchors[s.Anchor] {
				t.Errorf("%s has no place %s, which is in the index", page.Href, s.Anchor)
			}
			if strings.TrimSpace(s.Heading) == "" || strings.ContainsAny(s.Text, "␞␟") || strings.Contains(s.Text, "&quot;") || strings.Contains(s.Text, "</") && strings.Contains(s.Text, "<p>") {
				t.Errorf("%s#%s is not text: %q, %.200q", page.Href, s.Anchor, s.Heading, s.Text)
			}
		}
		if listed != headings(l) {
			t.Errorf("%s has %d headings, and %d are in the index", page.Href, headings(l), listed)
		}
	}
}
