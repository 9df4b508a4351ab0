package files_test

import (
	"fmt"
	"github.com/helve-dev/helve/internal/files"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// forest makes a tree of n files of 2 KB, in folders of a hundred.
func forest(b *testing.B, dir string, n int) {
	b.Helper()
	line := strings.Repeat("some text of a program, line after line\n", 50)
	for i := range n {
		name := filepath.Join(dir, fmt.Sprint("d", i/10_000), fmt.Sprint("e", i/100%100), fmt.Sprint("f", i))
		if i%100 == 0 {
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				b.Fatal(err)
			}
		}
		if err := os.WriteFile(name, []byte(fmt.Sprintln(i, line)), 0o644); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCheckpoint is a first checkpoint: nothing is known of the files.
// HELVE_FOREST says how many files there are.
func BenchmarkCheckpoint(b *testing.B) {
	n, err := strconv.Atoi(os.Getenv("HELVE_FOREST"))
	if err != nil {
		n = 10_000
	}
	base := b.TempDir()
	ws := filepath.Join(base, "ws")
	forest(b, ws, n)
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"}, {"repack", "-adq"}, {"prune-packed", "-q"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = ws
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	for _, bb := range []struct {
		name   string
		danger files.Endangered
	}{
		{"one file", files.Endangered{Path: at("d0/e1/f100"), Write: true}},
		{"100 files", files.Endangered{Path: at("d0/e1"), Tree: true}},
		{"10000 files", files.Endangered{Path: at("d0"), Tree: true}},
		{"git reset --hard", files.Endangered{Path: at("."), Discard: files.Changes, Whole: true}},
		{"git clean", files.Endangered{Path: at("."), Discard: files.Untracked}},
		{"find -name", files.Endangered{Path: at("."), Tree: true, Name: "*.pyc"}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				paths := &files.Workspace{Worktree: ws}
				paths.History = files.NewHistory(files.HistoryOptions{Dir: filepath.Join(base, "history", bb.name, fmt.Sprint(b.N, i))})
				b.StartTimer()
				c, err := paths.Checkpoint(b.Context(), files.By{Dir: ws}, []files.Endangered{bb.danger}, files.CheckpointLimits{})
				if err != nil {
					b.Fatal(err)
				}
				if len(c.Left) > 0 {
					b.Fatal(c.Left)
				}
				b.StopTimer()
				if err := c.Drop(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}

// BenchmarkUndo brings 5000 files back that were removed.
func BenchmarkUndo(b *testing.B) {
	base := b.TempDir()
	ws := filepath.Join(base, "ws")
	forest(b, ws, 5000)
	paths := &files.Workspace{Worktree: ws, History: files.NewHistory(files.HistoryOptions{Dir: filepath.Join(base, "history")})}
	by := files.By{Dir: ws}
	for b.Loop() {
		b.StopTimer()
		c, err := paths.Checkpoint(b.Context(), by, []files.Endangered{{Path: at("d0"), Tree: true}}, files.CheckpointLimits{})
		if err != nil {
			b.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(ws, "d0")); err != nil {
			b.Fatal(err)
		}
		if err := c.Settle(); err != nil {
			b.Fatal(err)
		}
		var sets []files.ChangeSet
		for s, err := range paths.History.Sets(b.Context(), files.HistoryQuery{Limit: 1}) {
			if err != nil {
				b.Fatal(err)
			}
			sets = append(sets, s)
		}
		b.StartTimer()
		if _, _, err := paths.Undo(b.Context(), by, sets); err != nil {
			b.Fatal(err)
		}
	}
}
