package cli_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// jsonlProcess is helve call --jsonl as a process of its own.
func jsonlProcess(t *testing.T, dir string, flags ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(command(t), append([]string{"call", "--jsonl"}, flags...)...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + dir, "HELVE_DATA_DIR=" + filepath.Join(dir, "data"), "GORACE=atexit_sleep_ms=0"}
	return cmd
}

func TestReaderGoesAway(t *testing.T) {
	t.Parallel()
	cmd := jsonlProcess(t, t.TempDir())
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
	cmd := jsonlProcess(t, t.TempDir(), "--events")
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
