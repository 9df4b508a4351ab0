package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	processes = 2
	callers   = 32 // of each process
)

// A clerk is a process of the command that takes calls, and who waits for
// their ends.
type clerk struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	ended chan struct{} // its output is at its end

	mu      sync.Mutex
	waiting map[string]chan answer
}

type answer struct {
	ID, Status string
	Error      struct{ Code, Message string }
}

func startClerk(t *testing.T, cmd *exec.Cmd) *clerk {
	t.Helper()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &clerk{cmd: cmd, stdin: stdin, ended: make(chan struct{}), waiting: map[string]chan answer{}}
	go c.hear(t, stdout)
	return c
}

// hear hands the ends of calls to who waits for them.
func (c *clerk) hear(t *testing.T, stdout io.Reader) {
	defer close(c.ended)
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var a answer
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Errorf("not an answer: %s", lines.Bytes())
			continue
		}
		c.mu.Lock()
		to := c.waiting[a.ID]
		delete(c.waiting, a.ID)
		c.mu.Unlock()
		if to == nil {
			t.Errorf("an answer that nobody waits for: %s", lines.Bytes())
			continue
		}
		to <- a
	}
	if err := lines.Err(); err != nil {
		t.Error(err)
	}
}

// call makes a call in a session and waits for its end.
func (c *clerk) call(id, session, tool string, args map[string]any) (answer, error) {
	to := make(chan answer, 1)
	line, err := json.Marshal(map[string]any{"id": id, "session": session, "tool": tool, "args": args})
	if err != nil {
		return answer{}, err
	}
	c.mu.Lock()
	c.waiting[id] = to
	_, err = c.stdin.Write(append(line, '\n'))
	c.mu.Unlock()
	if err != nil {
		return answer{}, err
	}
	select {
	case a := <-to:
		return a, nil
	case <-c.ended:
		return answer{}, fmt.Errorf("the process ended before the call %s", id)
	}
}

// replace reads the file and counts up the number in one line of it. Where
// others have changed the file in between it tries again. Each failure is the
// success of somebody else, so where everybody edits once it has to succeed in
// as many tries as there are callers.
func (c *clerk) replace(n, round, most int) (tries int, err error) {
	session := fmt.Sprintf("ses_%d", n)
	for tries = 1; tries <= most; tries++ {
		id := fmt.Sprintf("%d-%d-%d", n, round, tries)
		a, err := c.call(id+"-read", session, "read", map[string]any{"filePath": "shared.txt"})
		if err != nil {
			return tries, err
		}
		if a.Status != "completed" {
			return tries, fmt.Errorf("read: %+v", a)
		}
		a, err = c.call(id+"-edit", session, "edit", map[string]any{
			"filePath": "shared.txt", "oldString": fmt.Sprintf("line %d: %d\n", n, round), "newString": fmt.Sprintf("line %d: %d\n", n, round+1),
		})
		switch {
		case err != nil:
			return tries, err
		case a.Status == "completed":
			return tries, nil
		case a.Error.Code != "changed-on-disk":
			return tries, fmt.Errorf("edit: %+v", a)
		}
	}
	return tries, fmt.Errorf("line %d was never replaced", n)
}

// Callers of two processes edit one file at once, each in a session of its
// own. Every edit that was accepted is there in the end, and who reads the
// file meanwhile never sees half of one. They edit once each, or until the file
// was read HELVE_READS times.
func TestTogether(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("processes do not hold each other off there")
	}
	bin, w := build(t), newWorld(t)
	file := filepath.Join(w.dir, "shared.txt")
	var text strings.Builder
	for n := range processes * callers {
		fmt.Fprintf(&text, "line %d: 0\n", n)
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o640); err != nil {
		t.Fatal(err)
	}
	var clerks []*clerk
	for range processes {
		c := startClerk(t, w.command(bin, "call", "--jsonl"))
		late := time.AfterFunc(10*time.Minute, func() { _ = c.cmd.Process.Kill() }) // ends the test, if nothing else does
		defer late.Stop()
		clerks = append(clerks, c)
	}
	most := processes * callers
	wanted, _ := strconv.ParseInt(os.Getenv("HELVE_READS"), 10, 64) // none where it says nothing
	if wanted > 0 {
		most = math.MaxInt
	}
	var working sync.WaitGroup
	var reads, total atomic.Int64
	var accepted [processes * callers]int
	for n := range accepted {
		working.Go(func() {
			for accepted[n] == 0 || reads.Load() < wanted && !t.Failed() {
				tries, err := clerks[n%processes].replace(n, accepted[n], most)
				total.Add(int64(tries))
				if err != nil {
					t.Errorf("caller %d: %v", n, err)
					return
				}
				accepted[n]++
			}
		})
	}
	done := make(chan struct{})
	go func() { working.Wait(); close(done) }()
	watch(t, file, &reads, done)
	for _, c := range clerks {
		_ = c.stdin.Close() // the end of its work; what fails shows in Wait
		<-c.ended
		if err := c.cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	data, err := os.ReadFile(file)
	edits, missing := 0, 0
	for n, times := range accepted {
		if edits += times; !strings.Contains(string(data), fmt.Sprintf("line %d: %d\n", n, times)) {
			missing++
		}
	}
	if err != nil || missing > 0 || strings.Count(string(data), "\n") != len(accepted) {
		t.Errorf("the file is %s: %v", data, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o640 {
		t.Errorf("the mode is %v: %v", info.Mode(), err)
	}
	if left, err := os.ReadDir(w.dir); err != nil || len(left) != 2 { // the other one is of the world
		t.Errorf("in the folder are %v: %v", left, err)
	}
	t.Logf("%d tries for %d edits, %d callers whose edits are missing, %d reads meanwhile", total.Load(), edits, missing, reads.Load())
}

// watch reads the file again and again, until the others are done, and checks
// that it is whole: as many lines as ever, and no number lower than before.
func watch(t *testing.T, file string, reads *atomic.Int64, done <-chan struct{}) {
	t.Helper()
	pattern := regexp.MustCompile(`^line (\d+): (\d+)$`)
	was := map[int]int{}
	for ; ; reads.Add(1) {
		select {
		case <-done:
			return
		default:
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("read %d: %v", reads.Load(), err)
			<-done
			return
		}
		lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		whole := len(lines) == processes*callers && strings.HasSuffix(string(data), "\n")
		for i, line := range lines {
			m := pattern.FindStringSubmatch(line)
			if m == nil || m[1] != fmt.Sprint(i) {
				whole = false
				break
			}
			value, _ := strconv.Atoi(m[2]) // it is digits
			whole = whole && value >= was[i]
			was[i] = value
		}
		if !whole {
			t.Errorf("read %d shows %q", reads.Load(), data)
			<-done
			return
		}
		runtime.Gosched()
	}
}
