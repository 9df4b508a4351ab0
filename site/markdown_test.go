package site_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// module is the folder that the Markdown files are in.
const module = ".."

// documents are the Markdown files that people read, by their paths from the
// module's folder.
func documents(t *testing.T) (files []string) {
	t.Helper()
	for _, root := range []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "AGENTS.md", "docs", "examples"} {
		err := filepath.WalkDir(filepath.Join(module, root), func(file string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && d.Name() == "node_modules" {
				return fs.SkipDir
			}
			if !d.IsDir() && strings.HasSuffix(file, ".md") {
				rel, err := filepath.Rel(module, file)
				files = append(files, filepath.ToSlash(rel))
				return err
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(files) < 30 {
		t.Fatalf("only %d files were found", len(files))
	}
	return files
}

// prose is a Markdown file line by line, with the lines of code blocks empty.
func prose(t *testing.T, file string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(module, filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	fence := ""
	for i, line := range lines {
		mark := regexp.MustCompile("^ *(```+|~~~+)").FindString(line)
		mark = strings.TrimLeft(mark, " ")
		switch {
		case fence != "":
			if mark != "" && strings.HasPrefix(mark, fence) && strings.TrimSpace(line) == mark {
				fence = ""
			}
			lines[i] = ""
		case mark != "":
			fence = mark
			lines[i] = ""
		}
	}
	if fence != "" {
		t.Errorf("%s: a code block has no end", file)
	}
	return lines
}

// anchors are the names of a file's headings, as places that show Markdown
// make them.
func anchors(t *testing.T, file string) (names []string) {
	t.Helper()
	link := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	for _, line := range prose(t, file) {
		text := strings.TrimLeft(line, "#")
		if n := len(line) - len(text); n == 0 || n > 6 || !strings.HasPrefix(text, " ") {
			continue
		}
		name := anchor(link.ReplaceAllString(text, "$1"))
		unique := name
		for n := 1; slices.Contains(names, unique); n++ {
			unique = fmt.Sprintf("%s-%d", name, n)
		}
		names = append(names, unique)
	}
	return names
}

func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(heading))
}

// Every link from one of our files to another leads to something that is
// there, and to a heading that it has.
func TestMarkdownLinks(t *testing.T) {
	code := regexp.MustCompile("`[^`]*`")
	link := regexp.MustCompile(`\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)`)
	scheme := regexp.MustCompile(`^[a-z][a-z+.-]*:`)
	seen := 0
	for _, file := range documents(t) {
		for i, line := range prose(t, file) {
			for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(line, ""), -1) {
				if scheme.MatchString(m[1]) {
					continue
				}
				seen++
				if fault := follow(t, file, m[1]); fault != "" {
					t.Errorf("%s:%d: %s: %s", file, i+1, m[1], fault)
				}
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d links were found", seen)
	}
}

// follow says what is wrong with a link; "" for nothing.
func follow(t *testing.T, file, link string) string {
	t.Helper()
	to, fragment, _ := strings.Cut(link, "#")
	target := file
	if to != "" {
		target = path.Join(path.Dir(file), to)
	}
	if strings.HasPrefix(target, "../") || path.IsAbs(to) {
		return "it leads out of the repository"
	}
	info, err := os.Stat(filepath.Join(module, filepath.FromSlash(target)))
	if err != nil {
		return target + " does not exist"
	}
	if fragment == "" {
		return ""
	}
	if m := regexp.MustCompile(`^L(\d+)$`).FindStringSubmatch(fragment); m != nil && !info.IsDir() {
		return lineThere(t, target, m[1])
	}
	if info.IsDir() || !strings.HasSuffix(target, ".md") {
		return "only headings of Markdown files have names"
	}
	if !slices.Contains(anchors(t, target), fragment) {
		return target + " has no such heading"
	}
	return ""
}

// lineThere says what is wrong with a link to a line of a source file.
func lineThere(t *testing.T, file, line string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(module, filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	if n, err := strconv.Atoi(line); err != nil || n < 1 || n > len(lines) || strings.TrimSpace(lines[n-1]) == "" {
		return file + " has nothing in such a line"
	}
	return ""
}

// Every document begins with its title, and has one.
func TestTitles(t *testing.T) {
	for _, file := range documents(t) {
		lines := prose(t, file)
		if !strings.HasPrefix(lines[0], "# ") {
			t.Errorf("%s: the first line is no title", file)
		}
		for i, line := range lines[1:] {
			if strings.HasPrefix(line, "# ") {
				t.Errorf("%s:%d: a second title", file, i+2)
			}
		}
	}
}

func TestAnchor(t *testing.T) {
	for heading, want := range map[string]string{
		" The wall":                             "the-wall",
		" A door for programs: `helve --jsonl`": "a-door-for-programs-helve---jsonl",
		" What is asked, and why?":              "what-is-asked-and-why",
		" `bash.*`, `wall.*`":                   "bash-wall",
		" 0011 Web pages: our own reader":       "0011-web-pages-our-own-reader",
		" Überall snake_case & more":            "überall-snake_case--more",
	} {
		if got := anchor(heading); got != want {
			t.Errorf("%q has the name %q, want %q", heading, got, want)
		}
	}
}
