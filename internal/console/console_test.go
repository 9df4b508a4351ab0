package console_test

import (
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/console"
	"github.com/helve-dev/helve/tool"
)

func get(t *testing.T, method, target string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	console.Handler().ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Each path has its answer, and every answer the policy.
func TestServe(t *testing.T) {
	for _, tc := range []struct {
		method, target string
		status         int
		mime           string
		location       string
	}{
		{"GET", "/", 303, "", "/console/"},
		{"HEAD", "/", 303, "", "/console/"},
		{"GET", "/console", 303, "", "/console/"},
		{"GET", "/console?next=//evil.example", 303, "", "/console/"},
		{"GET", "/console/", 200, "text/html; charset=utf-8", ""},
		{"HEAD", "/console/", 200, "text/html; charset=utf-8", ""},
		{"GET", "/console/index.html", 200, "text/html; charset=utf-8", ""},
		{"GET", "/console/app.js", 200, "text/javascript; charset=utf-8", ""},
		{"GET", "/console/app.css", 200, "text/css; charset=utf-8", ""},
		{"GET", "/console/icon.svg", 200, "image/svg+xml", ""},
		{"GET", "/console/assets", 404, "application/problem+json", ""},
		{"GET", "/console/assets/", 404, "application/problem+json", ""},
		{"GET", "/console/app.js/", 404, "application/problem+json", ""},
		{"GET", "/console/%2e%2e/console.go", 404, "application/problem+json", ""},
		{"GET", "/console/nothing", 404, "application/problem+json", ""},
		{"GET", "/elsewhere", 404, "application/problem+json", ""},
		{"POST", "/console/", 405, "application/problem+json", ""},
		{"DELETE", "/console/app.js", 405, "application/problem+json", ""},
		{"PUT", "/", 405, "application/problem+json", ""},
	} {
		t.Run(tc.method+" "+tc.target, func(t *testing.T) {
			r := get(t, tc.method, tc.target)
			if r.StatusCode != tc.status || r.Header.Get("Content-Type") != tc.mime || r.Header.Get("Location") != tc.location {
				t.Errorf("got %d %q to %q", r.StatusCode, r.Header.Get("Content-Type"), r.Header.Get("Location"))
			}
			if r.Header.Get("Content-Security-Policy") != console.Policy || r.Header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("the policy is missing: %v", r.Header)
			}
			if text := body(t, r); tc.method == "HEAD" && text != "" || tc.status != 200 && (strings.Contains(text, "evil") || strings.Contains(text, "nothing")) {
				t.Errorf("body: %.200s", text)
			}
			if (tc.status == 405) != (r.Header.Get("Allow") == "GET, HEAD") {
				t.Errorf("Allow: %q", r.Header.Get("Allow"))
			}
		})
	}
}

// A file is named by what it holds, and not sent again while it is the same.
func TestETag(t *testing.T) {
	first := get(t, "GET", "/console/app.js")
	tag := first.Header.Get("ETag")
	if tag == "" || !strings.Contains(first.Header.Get("Cache-Control"), "no-cache") {
		t.Fatalf("headers: %v", first.Header)
	}
	again := get(t, "GET", "/console/app.js", "If-None-Match", tag)
	if again.StatusCode != 304 || body(t, again) != "" || again.Header.Get("Content-Security-Policy") != console.Policy {
		t.Errorf("the same file was answered with %d, %v", again.StatusCode, again.Header)
	}
	if other := get(t, "GET", "/console/app.css").Header.Get("ETag"); other == tag {
		t.Errorf("two files have the tag %s", tag)
	}
}

// sources gives the texts of the console by name.
func sources(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS("assets"), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path.Join("assets", name))
		all[name] = string(text)
		return err
	})
	if err != nil || len(all) < 10 {
		t.Fatalf("%d files, %v", len(all), err)
	}
	return all
}

// What the page names is there.
func TestWhole(t *testing.T) {
	all := sources(t)
	named := regexp.MustCompile(`(?m)(?:^\s*(?:import|export)\b[^'";]*?|\bimport\()'(\./[^']+)'|(?:src|href)="([^"#:]+)"`)
	for name, text := range all {
		if ext := path.Ext(name); ext != ".js" && ext != ".html" {
			continue
		}
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			target := path.Join(path.Dir(name), m[1]+m[2])
			if _, ok := all[target]; !ok {
				t.Errorf("%s names %s, which is not there", name, target)
			}
			if r := get(t, "GET", "/console/"+target); r.StatusCode != 200 {
				t.Errorf("%s names %s, which is answered with %d", name, target, r.StatusCode)
			}
		}
	}
}

// The policy forbids these; so that nobody finds out in a browser, the
// sources do without.
func TestNothingForbidden(t *testing.T) {
	for name, text := range sources(t) {
		for what, pattern := range map[string]string{
			"markup from text":  `\.(?:innerHTML|outerHTML|srcdoc)\b|insertAdjacentHTML|document\.write\b|DOMParser|createContextualFragment|setHTMLUnsafe`,
			"code from text":    `\beval\(|new Function\b|set(?:Timeout|Interval)\(\s*['"` + "`]",
			"another origin":    `(?:import|from|fetch\(|src=|url\()\s*['"(]?\s*(?:https?:)?//[a-z0-9]`,
			"an inline handler": `<[a-z][^>]*\son[a-z]+\s*=`,
			"an inline style":   `<[a-z][^>]*\sstyle\s*=|<style|setAttribute\(\s*['"]style`,
			"an inline script":  `<script(?:[^>]*)>[^<]`,
			"a path of ours":    `/(?:home|work|root)/[a-z]`,
		} {
			if at := regexp.MustCompile(pattern).FindStringIndex(text); at != nil {
				t.Errorf("%s has %s: %.60q", name, what, text[at[0]:])
			}
		}
	}
}

// Files stay short enough to be read.
func TestSizes(t *testing.T) {
	for name, text := range sources(t) {
		if lines := strings.Count(text, "\n"); lines > 400 {
			t.Errorf("%s has %d lines; 400 are the most", name, lines)
		}
		if !slices.Contains([]string{".js", ".css", ".html", ".svg"}, path.Ext(name)) {
			t.Errorf("%s is served to nobody", name)
		}
	}
}

// The console shows tools by the shape of what they take and give, so that
// those of any origin are shown alike: it knows none by its name.
func TestNoToolNames(t *testing.T) {
	rt, err := helve.Open(helve.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	names := map[string]bool{}
	flags := map[string]bool{"batch": true, "exa": true, "plan": true, "question": true}
	for _, model := range []string{"", "gpt-5"} {
		for _, spec := range rt.Tools(tool.Audience{Client: "cli", Model: model, Flags: flags}) {
			names[spec.Name], names[spec.Permission] = true, true
		}
	}
	delete(names, "")
	if len(names) < 10 || !names["bash"] || !names["edit"] {
		t.Fatalf("the tools are %v", names)
	}
	also := map[string]string{ // what a word is besides, by file and word
		"status.js lsp":        "a key of the config",
		"question.js question": "a class of the style",
	}
	quoted := regexp.MustCompile("['\"`]([a-z_]+)['\"`]")
	for file, text := range sources(t) {
		if path.Ext(file) != ".js" {
			continue
		}
		for _, m := range quoted.FindAllStringSubmatch(text, -1) {
			if names[m[1]] && also[file+" "+m[1]] == "" {
				t.Errorf("%s has the name of the tool %s: decide by the shape of what is there", file, m[1])
			}
		}
	}
}
