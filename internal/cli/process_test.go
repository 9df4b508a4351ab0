package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

var kills = flag.Int("kills", 10, "how often TestKill kills the command")

// process is helve call --jsonl as a process of its own.
func process(t *testing.T, dir string, flags ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(command(t), append([]string{"call", "--jsonl"}, flags...)...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + dir, "HELVE_DATA_DIR=" + filepath.Join(dir, "data"), "GORACE=atexit_sleep_ms=0"}
	return cmd
}

func TestReaderGoesAway(t *testing.T) {
	t.Parallel()
	cmd := process(t, t.TempDir())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	r.Close()
	fmt.Fprintln(in, `{"id":"1","tool":"todoread"}`) // the input stays open
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 1 || stderr.Len() > 0 {
		t.Errorf("exit code %d, standard error %q", code, stderr.String())
	}
}

func TestTerminate(t *testing.T) {
	t.Parallel()
	cmd := process(t, t.TempDir(), "--events")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(in, `{"id":"1","tool":"question","args":`+question+`}`)
	sc := bufio.NewScanner(out)
	last := ""
	for sc.Scan() {
		last = sc.Text()
		if strings.Contains(last, `"question.asked"`) {
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 || !strings.Contains(last, `"kind":"canceled"`) {
		t.Errorf("exit code %d, last line %s", code, last)
	}
}

// TestKill kills the command under load, after a random number of answers.
// Every call that was answered has to be in the store, once, and as answered.
func TestKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	answered := map[string]string{}
	for round := range *kills {
		killOnce(t, dir, round, answered)
	}
	cmd := exec.Command(command(t), "calls", "--json", "--limit", "1000000")
	cmd.Dir, cmd.Env = dir, process(t, dir).Env
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var calls []struct{ ID, State string }
	if err := json.Unmarshal(out, &calls); err != nil {
		t.Fatal(err)
	}
	recorded := map[string]string{}
	for _, c := range calls {
		if recorded[c.ID] != "" {
			t.Errorf("call %s is recorded twice", c.ID)
		}
		recorded[c.ID] = c.State
		if c.State == "running" {
			t.Errorf("call %s is said to run, and nobody runs it", c.ID)
		}
	}
	for id, state := range answered {
		if recorded[id] != state {
			t.Errorf("call %s was answered with %s and is recorded as %q", id, state, recorded[id])
		}
	}
	t.Logf("%d kills, %d answered calls, %d recorded ones", *kills, len(answered), len(recorded))
}

func killOnce(t *testing.T, dir string, round int, answered map[string]string) {
	t.Helper()
	cmd := process(t, dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		for i := 0; ; i++ {
			tool := []string{`"read","args":{"filePath":"a.txt"}`, `"todoread"`, `"read","args":{"filePath":"none"}`}[i%3]
			if _, err := fmt.Fprintf(in, `{"id":"%d-%d","tool":%s}`+"\n", round, i, tool); err != nil {
				return
			}
		}
	}()
	r := bufio.NewReader(out)
	for left := 1 + rand.IntN(300); ; left-- {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			break // half a line is no answer
		}
		if err != nil {
			t.Fatal(err)
		}
		var m struct{ ID, Status string }
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if answered[m.ID] != "" {
			t.Errorf("call %s was answered twice", m.ID)
		}
		answered[m.ID] = m.Status
		if left == 0 {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait()
	<-fed
}
