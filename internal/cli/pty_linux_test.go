package cli_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A console is helve on a terminal, and the person in front of it.
type console struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd
	seen   string
	done   context.CancelFunc
}

// sitDown runs helve on a new pseudo-terminal, in a folder with a few files.
func sitDown(t *testing.T, args ...string) *console {
	t.Helper()
	return sitDownAfter(t, "", args...)
}

// sitDownAfter is sitDown by a person who types before helve runs.
func sitDownAfter(t *testing.T, ahead string, args ...string) *console {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skipf("there are no pseudo-terminals here: %v", err)
	}
	master := os.NewFile(uintptr(fd), "/dev/ptmx")
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Skipf("the pseudo-terminal can not be unlocked: %v", err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Skipf("the pseudo-terminal has no number: %v", err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("the pseudo-terminal can not be opened: %v", err)
	}
	defer slave.Close()
	c := &console{t: t, master: master}
	if ahead != "" {
		c.types(ahead + "\r")
		c.sees(ahead + "\r\n") // the echo: the terminal has it
	}
	dir, home := t.TempDir(), t.TempDir()
	for name, body := range map[string]string{".env": "SECRET=1\n", "esc.txt": "a\x1b[2Jb\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, done := context.WithTimeout(t.Context(), time.Minute)
	cmd := exec.CommandContext(ctx, command(t), args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, slave, slave, slave
	cmd.Env = []string{"HOME=" + home, "HELVE_DATA_DIR=" + filepath.Join(home, "data"), "NO_COLOR=1", "TERM=xterm", "GORACE=atexit_sleep_ms=0"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		done()
		t.Fatal(err)
	}
	c.cmd, c.done = cmd, done
	return c
}

// sees waits until the screen shows a text.
func (c *console) sees(want string) {
	c.t.Helper()
	buf := make([]byte, 4096)
	for !strings.Contains(c.seen, want) {
		n, err := c.master.Read(buf)
		c.seen += string(buf[:n])
		if err != nil {
			c.t.Fatalf("the screen ends without %q:\n%s", want, c.seen)
		}
	}
}

func (c *console) types(keys string) {
	c.t.Helper()
	if _, err := c.master.WriteString(keys); err != nil {
		c.t.Fatal(err)
	}
}

// leaves reads the screen to its end and returns the exit code.
func (c *console) leaves() int {
	c.t.Helper()
	defer c.done()
	buf := make([]byte, 4096)
	for {
		n, err := c.master.Read(buf)
		c.seen += string(buf[:n])
		if err != nil { // the last process on it is gone
			break
		}
	}
	err := c.cmd.Wait()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		c.t.Fatal(err)
	}
	return c.cmd.ProcessState.ExitCode()
}

func TestTerminalAllow(t *testing.T) {
	t.Parallel()
	c := sitDown(t, "call", "read", "filePath=.env")
	c.sees("Permission needed: read (tool read, agent build)")
	c.sees("[f]eedback: ")
	c.types("what\r")
	c.sees("Please answer with one letter")
	c.types("o\r")
	c.sees("SECRET=1")
	if code := c.leaves(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, c.seen)
	}
}

func TestTerminalTypeAhead(t *testing.T) {
	t.Parallel()
	c := sitDownAfter(t, "o", "call", "read", "filePath=.env")
	c.sees("[f]eedback: ")
	c.types("r\r")
	if code := c.leaves(); code != 3 || strings.Contains(c.seen, "SECRET=1") {
		t.Errorf("what was typed before the prompt answered it: exit code %d:\n%s", code, c.seen)
	}
}

const twoQuestions = `{"questions":[
	{"question":"Which?","header":"h","options":[{"label":"red","description":""},{"label":"blue","description":""}]},
	{"question":"And then?","header":"h","options":[{"label":"one","description":""},{"label":"two","description":""}]}]}`

func TestTerminalTypeAheadOfQuestion(t *testing.T) {
	t.Parallel()
	c := sitDown(t, "call", "question", twoQuestions)
	c.sees("d: dismiss): ")
	c.seen = ""
	c.types("1\r2\r") // the second line comes before the second question
	c.sees("(2 of 2)")
	c.sees("d: dismiss): ")
	c.types("1\r")
	c.sees(`"Which?"="red"`)
	c.sees(`"And then?"="one"`)
	if code := c.leaves(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, c.seen)
	}
}

func TestTerminalTypeAheadOfTrust(t *testing.T) {
	t.Parallel()
	c := sitDownAfter(t, "y", "trust", "--dir", project(t))
	c.sees("[y/N] ")
	c.types("n\r")
	c.sees("nothing was changed")
	if code := c.leaves(); code != 1 {
		t.Errorf("exit code %d:\n%s", code, c.seen)
	}
}

func TestTerminalFeedback(t *testing.T) {
	t.Parallel()
	c := sitDown(t, "call", "read", "filePath=.env")
	c.sees("[f]eedback: ")
	c.types("f\r")
	c.sees("instead? ")
	c.types("leave it alone\r")
	c.sees("was refused when it was asked for: leave it alone")
	if code := c.leaves(); code != 3 {
		t.Errorf("exit code %d:\n%s", code, c.seen)
	}
}

func TestTerminalEndOfInput(t *testing.T) {
	t.Parallel()
	c := sitDown(t, "call", "read", "filePath=.env")
	c.sees("[f]eedback: ")
	c.types("\x04") // Ctrl-D
	if code := c.leaves(); code != 3 {
		t.Errorf("exit code %d:\n%s", code, c.seen)
	}
}

func TestTerminalInterrupt(t *testing.T) {
	t.Parallel()
	c := sitDown(t, "call", "read", "filePath=.env")
	c.sees("[f]eedback: ")
	c.types("\x03") // Ctrl-C
	if code := c.leaves(); code != 130 {
		t.Errorf("exit code %d:\n%s", code, c.seen)
	}
}

func TestTerminalQuestion(t *testing.T) {
	t.Parallel()
	c := sitDown(t, "call", "question", question)
	c.sees("1. red")
	c.sees("d: dismiss): ")
	c.types("1\r")
	c.sees(`"Which?"="red"`)
	if code := c.leaves(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, c.seen)
	}
}

func TestTerminalEscapes(t *testing.T) {
	t.Parallel()
	c := sitDown(t, "call", "read", "filePath=esc.txt")
	if code := c.leaves(); code != 0 || strings.Contains(c.seen, "a\x1b[2Jb") || !strings.Contains(c.seen, `a\x1b[2Jb`) {
		t.Errorf("exit code %d, screen %q", code, c.seen)
	}
}

func TestTerminalTeaches(t *testing.T) {
	t.Parallel()
	c := sitDown(t, "call", "read")
	if code := c.leaves(); code != 64 || !strings.Contains(c.seen, "helve call read filePath=FILEPATH") {
		t.Errorf("exit code %d:\n%s", code, c.seen)
	}
}

func TestTerminalNoInput(t *testing.T) {
	t.Parallel()
	c := sitDown(t, "call", "--no-input", "read", "filePath=.env")
	if code := c.leaves(); code != 4 {
		t.Errorf("exit code %d:\n%s", code, c.seen)
	}
}

func TestTerminalTrust(t *testing.T) {
	t.Parallel()
	c := sitDown(t, "trust")
	if code := c.leaves(); code != 0 || !strings.Contains(c.seen, "There is nothing to trust") {
		t.Errorf("exit code %d:\n%s", code, c.seen)
	}
}

func TestTerminalTrustNo(t *testing.T) {
	t.Parallel()
	c := sitDown(t, "trust", "--dir", project(t))
	c.sees("would put into force: experimental")
	c.sees("[y/N] ")
	c.types("\r")
	c.sees("nothing was changed")
	if code := c.leaves(); code != 1 {
		t.Errorf("exit code %d:\n%s", code, c.seen)
	}
}

func TestTerminalTrustYes(t *testing.T) {
	t.Parallel()
	c := sitDown(t, "trust", "--dir", project(t))
	c.sees("[y/N] ")
	c.types("y\r")
	c.sees("trusted: ")
	if code := c.leaves(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, c.seen)
	}
}

// project is a folder whose config asks for something that needs trust.
func project(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "helve.json"), []byte(`{"experimental": {"batch_tool": true}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}
