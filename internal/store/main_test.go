package store

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"

	"github.com/helve-dev/helve/internal/leaktest"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

// The test binary doubles as the other processes: with helperEnv set it is
// one of the helpers below.
const helperEnv = "HELVE_STORE_HELPER"

func TestMain(m *testing.M) {
	if role := os.Getenv(helperEnv); role != "" {
		if err := helper(role, os.Getenv("HELVE_STORE_DIR"), os.Getenv("HELVE_STORE_ARG")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	leaktest.Main(m)
}

func helper(role, dir, arg string) error {
	s, err := Open(Options{Dir: dir})
	if err != nil {
		return err
	}
	switch role {
	case "churn": // calls without end, each id printed when it is acknowledged
		return churn(os.Stdout, s, arg, 1<<40)
	case "hundred":
		if err := churn(os.Stdout, s, arg, 25); err != nil {
			return err
		}
		return s.Close()
	case "hold": // begins one call, and finishes it when told
		if err := s.Begin(context.Background(), record.Call{ID: arg, Tool: "hold", Started: 1}); err != nil {
			return err
		}
		fmt.Println("begun")
		if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
			return err
		}
		if err := s.Finish(record.Call{ID: arg, State: record.Completed, Ended: 2, Result: &tool.Result{Output: "held"}}); err != nil {
			return err
		}
		return s.Close()
	case "chat": // messages without end
		return chat(os.Stdout, s, arg)
	case "turns":
		return takeTurns(s, arg)
	case "claim": // claims a session until told
		release, err := s.ClaimTurn(context.Background(), arg, "claim helper")
		if err != nil {
			return err
		}
		fmt.Println("claimed")
		if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
			return err
		}
		release()
		return s.Close()
	}
	return fmt.Errorf("no helper %q", role)
}

// churn runs n calls in each of 4 goroutines, and prints the id of each when
// it is acknowledged.
func churn(out io.Writer, s *Store, prefix string, n int) error {
	var mu sync.Mutex
	var group sync.WaitGroup
	errs := make(chan error, 4)
	for g := range 4 {
		group.Go(func() {
			for i := range n {
				id := fmt.Sprintf("%s-%d-%d", prefix, g, i)
				c := record.Call{ID: id, Session: "ses_" + prefix, Tool: "t" + strconv.Itoa(g), Input: "{}", Started: int64(i)}
				if err := s.Begin(context.Background(), c); err != nil {
					errs <- err
					return
				}
				c.State, c.Result, c.Ended = record.Completed, &tool.Result{Output: "out of " + id}, int64(i)+1
				if err := s.Finish(c); err != nil {
					errs <- err
					return
				}
				mu.Lock()
				fmt.Fprintln(out, id)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	select {
	case err := <-errs:
		return err
	default:
		return nil
	}
}

// A process is a running helper.
type process struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
}

func start(t *testing.T, role, dir, arg string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), helperEnv+"="+role, "HELVE_STORE_DIR="+dir, "HELVE_STORE_ARG="+arg)
	cmd.Stderr = os.Stderr
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
	return &process{cmd, in, bufio.NewScanner(out)}
}

// rest reads what is left of the helper's output and waits for its end.
func (p *process) rest() []string {
	var out []string
	for p.lines.Scan() {
		out = append(out, p.lines.Text())
	}
	_ = p.cmd.Wait()
	return out
}

func open(t testing.TB, o Options) *Store {
	t.Helper()
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
