package process

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// actAsKeeper lets the test binary be its own helper: a supervisor, or a program
// that runs commands and is killed.
func actAsKeeper() {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "be-keeper":
			os.Exit(KeeperMain())
		case "be-broken":
			fmt.Fprintln(os.Stderr, "the wall does not hold")
			os.Exit(3)
		case "be-mute":
			b := (&message{op: opHello}).encode()
			control := os.NewFile(controlFD, "control")
			_, _ = control.Write(b)
			_, _ = io.Copy(io.Discard, control)
			os.Exit(4)
		case "be-liar":
			b := append((&message{op: opHello}).encode(), 255, 255, 255, 255)
			control := os.NewFile(controlFD, "control")
			_, _ = control.Write(b)
			_, _ = io.Copy(io.Discard, control)
			os.Exit(4)
		case "be-runtime":
			os.Exit(runtimeMain(os.Args[2]))
		}
	}
}

// runtimeMain starts commands, says so, and waits to be killed.
func runtimeMain(script string) int {
	helper, err := os.Executable()
	if err != nil {
		return 1
	}
	r := NewRunner(RunnerOptions{Helper: helper})
	p, err := r.Start(context.Background(), Command{
		Path: "bash", Args: []string{"-c", script},
		Place: SupervisorSpec{Key: "plain", Args: []string{"be-keeper"}},
	}, os.Stdout)
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	<-p.Done()
	fmt.Println("ready")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	return 0
}

func plain() SupervisorSpec { return SupervisorSpec{Key: "plain", Args: []string{"be-keeper"}} }

func bash(script string) Command {
	return Command{Path: "bash", Args: []string{"-c", script}, Place: plain()}
}

// runners are the ways to run, by name.
func runners(t *testing.T, run func(t *testing.T, r *Runner)) {
	for _, way := range []string{"keeper", "direct"} {
		t.Run(way, func(t *testing.T) { run(t, newRunner(t, way)) })
	}
}

func newRunner(t testing.TB, way string) *Runner {
	t.Helper()
	var o RunnerOptions
	if way == "keeper" {
		helper, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		o.Helper = helper
	}
	r := NewRunner(o)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// run runs a command to its end and returns what it printed.
func run(t testing.TB, r *Runner, c Command) (Output, Status) {
	t.Helper()
	capture := NewCapture(CaptureOptions{})
	p, err := capture.Start(t.Context(), r, c)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if rest := capture.Settle(); rest != nil {
		rest.Close()
	}
	return capture.Output(), p.Status()
}

func lines(s string) []string { return strings.Split(strings.TrimSpace(s), "\n") }
