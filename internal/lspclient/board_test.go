package lspclient

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"
	"github.com/helve-dev/helve/lsp"
)

// listing is what lies in a folder.
func listing(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func TestBoard(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "board")
	if got := ReadBoard(dir); got != nil {
		t.Errorf("%v without a folder", got)
	}
	one, two := newBoard(dir), newBoard(dir)
	one.publish(nil)
	if names := listing(t, dir); names != nil {
		t.Errorf("%v, and nothing to show", names)
	}
	since := time.Date(2030, 1, 2, 3, 4, 5, 6, time.UTC)
	go1 := lsp.Status{ID: "gopls", Root: "/a", State: lsp.StateReady, PID: 12, Memory: 1 << 30, Since: since, Files: 3, Program: "gopls"}
	go2 := lsp.Status{ID: "gopls", Root: "/b", State: lsp.StateBroken, Error: "gone \"so\"", Restarts: 3}
	ts := lsp.Status{ID: "typescript", Root: "/a", State: lsp.StateStarting}
	one.publish([]lsp.Status{ts, go2})
	two.publish([]lsp.Status{go1})
	mine := func(list ...lsp.Status) []lsp.Status {
		for i := range list {
			list[i].Owner = os.Getpid()
		}
		return list
	}
	if d := cmp.Diff(mine(go1, go2, ts), ReadBoard(dir)); d != "" {
		t.Error(d)
	}
	if runtime.GOOS != "windows" {
		for _, name := range append(listing(t, dir), "") {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: %v %v", name, info, err)
			}
		}
	}
	one.publish(nil)
	if d := cmp.Diff(mine(go1), ReadBoard(dir)); d != "" {
		t.Error(d)
	}
	one.close()
	one.close()
	one.publish([]lsp.Status{ts}) // too late
	two.close()
	if names := listing(t, dir); names != nil {
		t.Errorf("%v is left", names)
	}
}

// What a process leaves that has died is not shown, and removed.
func TestBoardOfTheDead(t *testing.T) {
	dir := t.TempDir()
	dead, alive := newBoard(dir), newBoard(dir)
	dead.publish([]lsp.Status{{ID: "dead"}})
	alive.publish([]lsp.Status{{ID: "alive"}})
	defer alive.close()
	if err := dead.lock.Close(); err != nil { // as the system does at the end
		t.Fatal(err)
	}
	for name, data := range map[string]string{"77-x.json": `[{"id":"no lock"}]`, "77-y.new": "[", "README": "not ours"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	other := flock.New(dead.path + boardLock) // somebody else reads at the same time
	if ok, err := other.TryRLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if got := ReadBoard(dir); len(got) != 1 || got[0].ID != "alive" {
		t.Errorf("%+v", got)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	ReadBoard(dir) // what is open cannot be removed everywhere
	base := filepath.Base(alive.path)
	if d := cmp.Diff([]string{base + ".json", base + ".lock", "README"}, listing(t, dir)); d != "" {
		t.Error(d)
	}
}

// A board that cannot be read or written costs nothing else.
func TestBoardTrouble(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBoard(file)
	b.publish([]lsp.Status{{ID: "x"}})
	b.close()
	none := newBoard("")
	none.publish([]lsp.Status{{ID: "x"}})
	none.close()
	if got := append(ReadBoard(file), ReadBoard("")...); got != nil {
		t.Errorf("%v", got)
	}

	dir := t.TempDir()
	broken, good := newBoard(dir), newBoard(dir)
	defer broken.close()
	defer good.close()
	broken.publish([]lsp.Status{{ID: "x"}})
	good.publish([]lsp.Status{{ID: "y"}})
	if err := os.WriteFile(broken.path+boardShown, []byte(`[{"id":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := ReadBoard(dir); len(got) != 1 || got[0].ID != "y" {
		t.Errorf("%+v", got)
	}
}

// Whoever reads sees all of a state or none of it, and readers do not disturb
// each other or those who show.
func TestBoardAtOnce(t *testing.T) {
	dir := t.TempDir()
	var writers, readers sync.WaitGroup
	stop := make(chan struct{})
	steady := newBoard(dir)
	steady.publish([]lsp.Status{{ID: "steady"}})
	writers.Go(func() {
		for i := range 200 {
			steady.publish([]lsp.Status{{ID: "steady", Restarts: -1 - i}})
		}
	})
	for range 3 {
		readers.Go(func() {
			for {
				counts := map[int]int{}
				seen := 0
				for _, s := range ReadBoard(dir) {
					if s.ID == "steady" {
						seen++
						continue
					}
					counts[s.Restarts]++
				}
				if seen != 1 {
					t.Errorf("what is always shown was seen %d times", seen)
				}
				for restarts, n := range counts {
					if n%2 != 0 {
						t.Errorf("%d entries of state %d", n, restarts)
					}
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for w := range 4 {
		writers.Go(func() {
			b := newBoard(dir)
			for i := range 25 {
				n := w*100 + i
				b.publish([]lsp.Status{{ID: "a", Restarts: n}, {ID: "b", Restarts: n}})
				if b.shown == nil && runtime.GOOS != "windows" { // where an open file is not replaced
					t.Error("a state was not shown")
				}
			}
			b.close()
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	steady.close()
	ReadBoard(dir) // where an open file could not be removed
	if names := listing(t, dir); names != nil {
		t.Errorf("%v is left", names)
	}
}
