package command_test

import (
	"os"
	"strings"
	"testing"
)

// A word that git checkout is handed is a file if it is no revision, also where
// the file is missing: git puts it back.
func TestRevisions(t *testing.T) {
	s := newStage(t, "a.go", ".git/refs/heads/main", ".git/refs/heads/feature/x", ".git/refs/remotes/origin/far", ".git/refs/tags/v1.0")
	if err := os.WriteFile(s.base+"/ws/.git/packed-refs", []byte("0123 refs/heads/packed\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		command string
		edits   string
	}{
		{"git checkout prot.txt", "edit prot.txt"},
		{"git checkout a.go", "edit a.go"},
		{"git checkout HEAD~2 prot.txt", "edit prot.txt"},
		{"git checkout main prot.txt", "edit prot.txt"},
		{"git restore prot.txt", "edit prot.txt"},
		{"git checkout-index -f prot.txt", "edit prot.txt"},
		{"git checkout main", ""},
		{"git checkout feature/x", ""},
		{"git checkout far", ""},
		{"git checkout origin/far", ""},
		{"git checkout v1.0", ""},
		{"git checkout packed", ""},
		{"git checkout 0badc0de", ""},
		{"git checkout -", ""},
		{"git checkout -b new main", ""},
		{"git restore --staged prot.txt", ""},
	} {
		got := ""
		for _, line := range s.listing(t, c.command) {
			if strings.HasPrefix(line, "edit ") {
				got = line
			}
		}
		if got != c.edits {
			t.Errorf("%s: %q, want %q", c.command, got, c.edits)
		}
	}
}
