package main_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/helve-dev/helve/internal/store"
	"github.com/helve-dev/helve/record"
)

// build compiles the command once for the tests that run it as a process.
func build(tb testing.TB) string {
	tb.Helper()
	bin := filepath.Join(tb.TempDir(), "helve")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bin, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("building: %v\n%s", err, out)
	}
	return bin
}

// A world is an empty home with a workspace, for one command.
type world struct{ home, dir, data string }

func newWorld(tb testing.TB) world {
	tb.Helper()
	home := tb.TempDir()
	w := world{home: home, dir: filepath.Join(home, "work"), data: filepath.Join(home, "data")}
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "a.txt"), []byte("alpha\nbeta\n"), 0o644); err != nil {
		tb.Fatal(err)
	}
	return w
}

func (w world) command(bin string, args ...string) *exec.Cmd {
	cmd := exec.Command(bin, args...)
	cmd.Dir = w.dir
	cmd.Env = []string{"HOME=" + w.home, "HELVE_DATA_DIR=" + w.data, "PATH=" + os.Getenv("PATH")}
	return cmd
}

// Killed at random moments under load, three at a time on one store, the
// command has lost nothing that it acknowledged: every answered call is in the
// store, once, as it was answered, and the others have ended or are interrupted.
func TestKilled(t *testing.T) {
	kills := 200
	if testing.Short() {
		kills = 20
	}
	if n, err := strconv.Atoi(os.Getenv("HELVE_KILLS")); err == nil {
		kills = n
	}
	bin, w := build(t), newWorld(t)
	acknowledged := map[string]string{}
	var running sync.WaitGroup
	var mu sync.Mutex
	rounds := make(chan int)
	for range 3 {
		running.Go(func() {
			for round := range rounds {
				answered := runAndKill(t, w.command(bin, "call", "--jsonl"), round)
				mu.Lock()
				maps.Copy(acknowledged, answered)
				mu.Unlock()
			}
		})
	}
	for round := range kills {
		rounds <- round
	}
	close(rounds)
	running.Wait()
	s, err := store.Open(store.Options{Dir: w.data})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, n := range s.Notices() {
		t.Errorf("the store was found damaged: %s", n)
	}
	seen := map[string]string{}
	interrupted := 0
	for before := ""; ; {
		calls, err := s.Calls(t.Context(), record.CallQuery{Before: before, Limit: 1000, Brief: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range calls {
			if was, ok := seen[c.ID]; ok {
				t.Errorf("call %s is there twice: %s and %s", c.ID, was, c.State)
			}
			seen[c.ID] = string(c.State)
			switch c.State {
			case record.Interrupted:
				interrupted++
			case record.Running:
				t.Errorf("call %s still runs", c.ID)
			}
			before = c.Cursor
		}
		if len(calls) < 1000 {
			break
		}
	}
	lost := 0
	for id, status := range acknowledged {
		if seen[id] != status {
			lost++
			t.Errorf("call %s was answered %s, and the store says %q", id, status, seen[id])
		}
	}
	if len(acknowledged) < kills/2 {
		t.Errorf("only %d calls were answered in %d runs: there was no load", len(acknowledged), kills)
	}
	t.Logf("%d kills, %d calls answered, %d of them lost, %d recorded, %d interrupted", kills, len(acknowledged), lost, len(seen), interrupted)
}

// runAndKill feeds the command calls as fast as it takes them, kills it a
// random while after its first answer, in one round of four after its start,
// and returns every answer that came out whole.
func runAndKill(t *testing.T, cmd *exec.Cmd, round int) (answered map[string]string) {
	t.Helper()
	stdin, noIn := cmd.StdinPipe()
	stdout, noOut := cmd.StdoutPipe()
	if err := errors.Join(noIn, noOut, cmd.Start()); err != nil {
		t.Error(err)
		return nil
	}
	answered = map[string]string{}
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		for i := 0; ; i++ {
			args := `{"filePath":"a.txt"}`
			if i%5 == 4 {
				args = `{"filePath":"missing.txt"}`
			}
			if _, err := fmt.Fprintf(stdin, "{\"id\":\"r%d-%d\",\"tool\":\"read\",\"args\":%s}\n", round, i, args); err != nil {
				return // it is dead
			}
		}
	}()
	var kill *time.Timer
	killSoon := func() {
		if kill == nil {
			kill = time.AfterFunc(time.Duration(rand.IntN(150)+5)*time.Millisecond, func() { _ = cmd.Process.Kill() })
		}
	}
	if round%4 == 0 {
		killSoon()
	}
	r := bufio.NewReader(stdout)
	for {
		line, err := r.ReadBytes('\n')
		killSoon()
		if err == io.EOF || err != nil {
			break // what is left is no whole line, and so no answer
		}
		var answer struct{ ID, Status string }
		if err := json.Unmarshal(line, &answer); err != nil {
			t.Errorf("not an answer: %s", line)
			continue
		}
		answered[answer.ID] = answer.Status
	}
	_ = cmd.Wait() // it was killed
	<-fed
	return answered
}
