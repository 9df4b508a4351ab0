package cli

import (
	"encoding/json"
	"flag"
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// whole is said of a file that does for its system what others do for Linux.
const whole = "nothing"

// variants are the files of the command that Linux does not have, each with the
// ground that tells what is less with it.
func variants() map[string]string {
	return map[string]string{
		"client/local_other.go":                  "finding a server",
		"internal/adopt/owner_other.go":          whole,
		"internal/builtin/sparse_other.go":       "holes in files",
		"internal/cli/flush_bsd.go":              whole,
		"internal/cli/flush_windows.go":          whole,
		"internal/disk/simple.go":                "changing files",
		"internal/disk/sys_darwin.go":            whole,
		"internal/disk/sys_unix.go":              "changing files",
		"internal/format/group_other.go":         "formatters",
		"internal/gate/peer_other.go":            "one-time links",
		"internal/gate/token_other.go":           "files of secrets",
		"internal/history/lock_windows.go":       "changing files",
		"internal/job/lock_windows.go":           whole,
		"internal/job/process_darwin.go":         whole,
		"internal/job/process_windows.go":        "jobs",
		"internal/lsp/memory_other.go":           "language servers",
		"internal/mcpclient/unread_other.go":     "MCP servers",
		"internal/proc/direct_darwin.go":         "processes",
		"internal/proc/direct_windows.go":        "signals",
		"internal/proc/drain_windows.go":         "jobs",
		"internal/proc/keeper_other.go":          "processes",
		"internal/run/inode_bsd.go":              whole,
		"internal/run/inode_other.go":            "the wall",
		"internal/run/owner_other.go":            "the wall",
		"internal/run/signal_other.go":           "signals",
		"internal/search/file_bsd.go":            whole, // slower only
		"internal/search/file_other.go":          "opening files",
		"internal/search/folder_bsd.go":          whole,
		"internal/search/folder_other.go":        "opening files",
		"internal/search/kept_other.go":          "searching",
		"internal/search/list_other.go":          whole,
		"internal/search/tree_other.go":          "searching",
		"internal/search/watch_other.go":         "searching",
		"internal/vm/seize_other.go":             "tools of your own",
		"internal/wall/inode_other.go":           "the wall",
		"internal/wall/other.go":                 "the wall",
		"internal/workspace/checkpoint_other.go": "undo of commands",
		"internal/workspace/links_windows.go":    "other names of a file",
		"internal/world/at_bsd.go":               whole,
		"internal/world/at_other.go":             "tools of your own",
		"internal/world/machine_other.go":        "tools of your own",
		"internal/world/signal_other.go":         "tools of your own",
		"internal/sqlite/file_other.go":          "tools of your own",
		"internal/world/temp_other.go":           whole, // each user has a folder of temporary files
	}
}

// A file that is compiled for another system and not for Linux is a place where
// something may be less. Whoever adds one has to say what.
func TestEveryVariantIsToldOf(t *testing.T) {
	told := variants()
	about := map[string]ground{}
	for _, g := range grounds() {
		about[g.about] = g
	}
	for _, path := range sourcesOfCommand(t) {
		name := filepath.ToSlash(path)
		linux, darwin, windows := compiled(t, path, "linux"), compiled(t, path, "darwin"), compiled(t, path, "windows")
		if linux || !darwin && !windows {
			continue
		}
		says, ok := told[name]
		delete(told, name)
		if !ok {
			t.Errorf("%s is not for Linux: say in grounds and here what the systems lack that have it", name)
		}
		g, ok := about[says]
		if says == whole {
			continue
		}
		if !ok {
			t.Errorf("%s: no ground is about %q", name, says)
		}
		// A file of several systems may be the whole of what one of them needs.
		if !(darwin && g.macOS != "" || windows && g.windows != "") {
			t.Errorf("%s: %q says nothing of the systems that have it", name, says)
		}
	}
	for name := range told {
		t.Errorf("%s is not there any more, or is for Linux too", name)
	}
}

// sourcesOfCommand are the Go files below the root that the command can be made of.
func sourcesOfCommand(t *testing.T) (paths []string) {
	t.Helper()
	root := os.DirFS(filepath.Join("..", ".."))
	skip := []string{".ci", ".git", "bin", "cmd", "docs", "examples", "testdata", "proof"}
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains(skip, d.Name()) {
			return fs.SkipDir
		}
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) < 100 {
		t.Fatalf("only %d files were found", len(paths))
	}
	return paths
}

func compiled(t *testing.T, path, goos string) bool {
	t.Helper()
	c := build.Default
	c.GOOS, c.GOARCH, c.CgoEnabled = goos, "amd64", false
	ok, err := c.MatchFile(filepath.Join("..", "..", filepath.Dir(path)), filepath.Base(path))
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

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
		if seen[g.about] || g.about == whole {
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
