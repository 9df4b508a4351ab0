package cli

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExamineSystem(t *testing.T) {
	if got := examineSystem("linux"); len(got) != 0 {
		t.Errorf("Linux lacks %v", got)
	}
	for _, c := range []struct {
		goos string
		says []string
	}{
		{"darwin", []string{"the wall: There is no wall", "processes: There is no keeper", "upper and lower case: The usual disk"}},
		{"windows", []string{"the wall: There is no wall", "opening files: By name", "the shell: Commands need the bash of Git"}},
		{"plan9", []string{"helve is not made for plan9"}},
	} {
		got := examineSystem(c.goos)
		for _, want := range c.says {
			if !slices.ContainsFunc(got, func(f finding) bool { return strings.HasPrefix(f.Says, want) }) {
				t.Errorf("%s: nothing begins with %q", c.goos, want)
			}
		}
		for _, f := range got {
			if f.State != "warn" || f.About != "system" {
				t.Errorf("%s: %+v", c.goos, f)
			}
		}
		text, err := json.Marshal(got)
		if err != nil || !strings.Contains(string(text), `"state":"warn","about":"system","says":`) {
			t.Errorf("%s: %s, %v", c.goos, text, err)
		}
	}
}

func TestGroundsAreSentences(t *testing.T) {
	seen := map[string]bool{}
	for _, g := range grounds() {
		if seen[g.about] {
			t.Errorf("%s is told of twice", g.about)
		}
		seen[g.about] = true
		if g.linux == "" || g.macOS == "" && g.windows == "" {
			t.Errorf("%s: no difference", g.about)
		}
		for _, text := range []string{g.linux, g.macOS, g.windows} {
			if text != "" && (!strings.HasSuffix(text, ".") || strings.ContainsAny(text, "|\n")) {
				t.Errorf("%s: %q is no sentence for a table", g.about, text)
			}
		}
	}
}

// The table of docs/platforms.md is that of doctor; -update writes it anew.
func TestPlatformsPage(t *testing.T) {
	const begin, end = "<!-- table of helve doctor -->\n", "<!-- end of the table -->\n"
	name := filepath.Join("..", "..", "docs", "platforms.md")
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(page), begin)
	_, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no place for the table", name)
	}
	want := head + begin + platformTable() + end + tail
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(page)); diff != "" {
		t.Errorf("the table is not current; run with -update:\n%s", diff)
	}
}

func platformTable() string {
	var b strings.Builder
	b.WriteString("| | Linux | macOS | Windows |\n|---|---|---|---|\n")
	or := func(text string) string {
		if text == "" {
			return "as on Linux"
		}
		return text
	}
	for _, g := range grounds() {
		b.WriteString("| **" + g.about + "** | " + g.linux + " | " + or(g.macOS) + " | " + or(g.windows) + " |\n")
	}
	return b.String()
}
