package process

import (
	"testing"
	"time"
)

// until waits for something that a supervisor comes to.
func (k *supervisor) until(t *testing.T, what func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		k.mu.Lock()
		ok := what()
		k.mu.Unlock()
		if ok {
			return
		}
		if time.Now().After(end) {
			t.Fatal("it does not come to that")
		}
	}
}

// A supervisor is killed while a command is on its way to it. The command gets
// another one: it runs once, can be written to, and has one end.
func TestKeeperKilledOnTheWay(t *testing.T) {
	for name, over := range map[string]func(*testing.T, *supervisor){
		"heard of": func(t *testing.T, k *supervisor) { k.until(t, func() bool { return k.closing }) },
		"gone":     func(_ *testing.T, k *supervisor) { <-k.gone },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRunner(t, "keeper")
			run(t, r, bash("true"))
			k, err := r.keeper(t.Context(), plain())
			if err != nil {
				t.Fatal(err)
			}
			k.send.Lock() // nothing gets to it
			capture, started := NewCapture(CaptureOptions{}), make(chan error, 1)
			var p *Process
			go func() {
				c := bash("read x; echo got $x")
				c.Stdin = true
				var err error
				p, err = capture.Start(t.Context(), r, c)
				started <- err
			}()
			k.until(t, func() bool { return len(k.procs) == 1 })
			if err := k.cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
			over(t, k)
			k.send.Unlock()
			if err := <-started; err != nil {
				t.Fatal(err)
			}
			if _, err := p.Stdin().WriteString("it\n"); err != nil {
				t.Error(err)
			}
			<-p.Done()
			if rest := capture.Settle(); rest != nil {
				rest.Close()
			}
			if out := capture.Output(); out.Head != "got it\n" || p.Status() != (Status{}) {
				t.Errorf("%q %+v", out.Head, p.Status())
			}
		})
	}
}
