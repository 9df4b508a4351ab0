package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// escapes are scripts that leave processes, each of which has the argument
// and says "up" when it is there.
func escapes() map[string]string {
	return map[string]string{
		"child":          `bash -c 'echo up; exec sleep $0' $N & wait`,
		"nohup":          `nohup bash -c 'echo up; exec sleep $0' $N & exit 0`,
		"disown":         `bash -c 'echo up; exec sleep $0' $N & disown; exit 0`,
		"setsid":         `setsid bash -c 'echo up; exec sleep $0' $N & wait`,
		"setsid, gone":   `setsid -f bash -c 'echo up; exec sleep $0' $N; exit 0`,
		"double fork":    `( ( bash -c 'echo up; exec sleep $0' $N & ) & ) ; exit 0`,
		"no environment": `setsid -f env -i bash -c 'echo up; exec sleep $0' $N; exit 0`,
		"daemon": `setsid -f env -i setsid -f bash -c 'setsid -f env -i bash -c "echo up; exec sleep \$0" $0' $N
			exit 0`,
		"deaf": `trap "" TERM INT HUP; bash -c 'echo up; while :; do sleep $0; done' $N & wait; wait; sleep $N`,
		"deaf session": `setsid -f bash -c 'trap "" TERM HUP; echo up; while :; do sleep $0; done' $N
			exit 0`,
		"stopped": `bash -c 'echo up; kill -STOP $$; sleep $0' $N & wait`,
	}
}

// sleepers counts the processes that have an argument in their command line.
func sleepers(t testing.TB, arg string) (n int) {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range dirs {
		b, _ := os.ReadFile(f)
		if strings.Contains(string(b), arg) {
			n++
		}
	}
	return n
}

// number is an argument for sleep that nobody else uses.
func number(serial int) string {
	return fmt.Sprintf("%d.%07d", 1000+serial%1000, os.Getpid())
}

// startEscape starts a script of escapes and waits until it is up.
func startEscape(t testing.TB, r *Runner, script, arg string) (*Process, *Capture) {
	t.Helper()
	up := make(chan struct{}, 1)
	capture := NewCapture(CaptureOptions{Listen: func(o Output) {
		if strings.Contains(o.Head, "up") {
			select {
			case up <- struct{}{}:
			default:
			}
		}
	}})
	cmd := bash(script)
	cmd.Env = append(os.Environ(), "N="+arg)
	p, err := capture.Start(t.Context(), r, cmd)
	if err != nil {
		t.Fatal(err)
	}
	<-up
	return p, capture
}

func TestEndLeavesNone(t *testing.T) {
	runners(t, func(t *testing.T, r *Runner) {
		hidden := "no environment"
		if r.opts.Helper == "" {
			hidden = "setsid, gone"
		}
		stay, held := startEscape(t, r, escapes()[hidden], number(999))
		<-stay.Done()
		serial := 0
		for name, script := range escapes() {
			if r.opts.Helper == "" && (name == "no environment" || name == "daemon") {
				continue // out of reach without a supervisor
			}
			t.Run(name, func(t *testing.T) {
				for i := range times(t, 5) {
					serial++
					arg := number(serial % 900)
					p, capture := startEscape(t, r, script, arg)
					alive, err := p.Survivors()
					if err != nil || len(alive) == 0 {
						t.Fatalf("%v: %v are alive", err, alive)
					}
					grace := 50 * time.Millisecond
					if i%2 == 1 {
						grace = 0
					}
					left, err := p.End(grace)
					if err != nil || len(left) > 0 {
						t.Fatalf("%v: %v are left", err, left)
					}
					if n := sleepers(t, arg); n > 0 {
						t.Fatalf("%d live on", n)
					}
					<-p.Done()
					if rest := capture.Settle(); rest != nil {
						t.Error("the pipe is still held")
					}
				}
			})
		}
		if n := sleepers(t, number(999)); n != 1 {
			t.Errorf("%d of another command are left", n)
		}
		held.Detach().Close()
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if n := sleepers(t, number(999)); n != 0 {
			t.Errorf("%d are left at the end", n)
		}
	})
}

// A process that forks and ends faster than it can be looked at.
func TestEndCatchesHoppers(t *testing.T) {
	for name, script := range map[string]string{
		"group":   `exec perl -e '$| = 1; print "up\n"; while (1) { exit if fork }' $N`,
		"session": `exec perl -MPOSIX -e '$| = 1; print "up\n"; while (1) { exit if fork; POSIX::setsid() }' $N`,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRunner(t, "keeper")
			for i := range times(t, 3) {
				p, capture := startEscape(t, r, script, number(i))
				if left, err := p.End(0); err != nil || len(left) > 0 {
					t.Fatalf("%v: %v are left", err, left)
				}
				if n := sleepers(t, number(i)); n > 0 {
					t.Fatalf("%d live on", n)
				}
				capture.Settle()
			}
		})
	}
}

// Ending one of many hits no other.
func TestConcurrentCalls(t *testing.T) {
	r := newRunner(t, "keeper")
	n := times(t, 30)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			arg := number(i)
			p, capture := startEscape(t, r, escapes()["no environment"], arg)
			<-p.Done()
			defer func() {
				if rest := capture.Settle(); rest != nil {
					rest.Close()
				}
			}()
			if i%2 == 0 {
				if left, err := p.End(time.Second); err != nil || len(left) > 0 {
					t.Errorf("%v: %v", err, left)
				}
				return
			}
			if p.Status() != (Status{}) {
				t.Errorf("%+v", p.Status())
			}
		})
	}
	wg.Wait()
	for i := range n {
		if got := sleepers(t, number(i)); got != i%2 {
			t.Errorf("command %d has %d processes", i, got)
		}
	}
}

// Everything is asked to end before anything is made to, also what has a
// session of its own and loses its parent by that.
func TestEndAsksAll(t *testing.T) {
	runners(t, func(t *testing.T, r *Runner) {
		p, capture := startEscape(t, r, `setsid bash -c 'trap "echo bye; exit" TERM; echo up; while :; do sleep 0.01; done' & wait`, "1")
		if left, err := p.End(10 * time.Second); err != nil || len(left) > 0 {
			t.Fatal(left, err)
		}
		capture.Settle()
		if out := capture.Output().Head; !strings.Contains(out, "bye") {
			t.Errorf("%q", out)
		}
	})
}
