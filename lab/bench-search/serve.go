package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// A contender answers queries. Each runs in a process of its own.
type contender interface {
	answer(ctx context.Context, q query, dir string) (answer, error)
}

// A setup says what a process is to be. It is its first message.
type setup struct {
	Kind     string
	Dir      string
	Program  string // ripgrep or the command, where it is one of these
	Commands commandLines
	Data     string // a folder for records
	Drive    string
}

// A job is a request to such a process.
type job struct {
	Query  query
	Repeat int  // calls to make
	Rest   bool // wait until the process does nothing in the background
	Memory bool // say what memory is held
}

// A sample is the answer to a job: the mean of the calls, the first apart.
type sample struct {
	Wall, CPU time.Duration
	First     time.Duration // wall time of the first call
	Answer    answer
	Heap, RSS int64  `json:",omitempty"` // bytes
	Err       string `json:",omitempty"`
}

// serve is the life of a contender's process.
func serve(kind string, in io.Reader, out io.Writer) error {
	requests, answers := json.NewDecoder(in), json.NewEncoder(out)
	var s setup
	if err := requests.Decode(&s); err != nil {
		return fmt.Errorf("reading the setup: %w", err)
	}
	c, err := enter(kind, s)
	if err != nil {
		return err
	}
	for {
		var j job
		if err := requests.Decode(&j); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading a job: %w", err)
		}
		if err := answers.Encode(work(c, s.Dir, j)); err != nil {
			return err
		}
	}
}

// enter makes the contender of a kind.
func enter(kind string, s setup) (contender, error) {
	switch kind {
	case kindEra:
		return ripgrep{path: s.Program}, nil
	case kindNew:
		return ripgrep{path: s.Program, isNew: true}, nil
	case kindProcess:
		return command{path: s.Program, lines: s.Commands, data: s.Data}, nil
	default:
		return newCaller(kind, s)
	}
}

func work(c contender, dir string, j job) (s sample) {
	if j.Rest {
		rest()
	}
	if j.Memory {
		s.Heap, s.RSS = memory()
	}
	if j.Repeat == 0 {
		return s
	}
	cpu, start := ownWork(), time.Now()
	for i := range j.Repeat {
		a, err := c.answer(context.Background(), j.Query, dir)
		if err != nil {
			s.Err = err.Error()
			return s
		}
		s.CPU += a.Child
		s.Answer = a
		if i == 0 {
			s.First = time.Since(start)
		}
	}
	n := time.Duration(j.Repeat)
	s.Wall = time.Since(start) / n
	s.CPU = (s.CPU + ownWork() - cpu) / n
	return s
}

// rest waits until this process has nothing left to do, for two minutes at
// the most: what it keeps is complete then.
func rest() {
	const step = 300 * time.Millisecond
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
		before := ownWork()
		time.Sleep(step)
		if ownWork()-before < step/100 {
			return
		}
	}
}

// memory is what this process holds: the heap after a collection, and the
// resident memory where the system tells.
func memory() (heap, rss int64) {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc), proof.UsageOf(os.Getpid()).Resident
}

// ownWork is the CPU time that this process has used so far, without its children.
func ownWork() time.Duration {
	own, _ := proof.OwnWork()
	return own
}

// A worker is the process of a contender, seen from this side.
type worker struct {
	cmd  *exec.Cmd
	jobs io.Closer
	enc  *json.Encoder
	dec  *json.Decoder
}

func startWorker(s setup) (*worker, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, "serve", s.Kind)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	w := &worker{cmd: cmd, jobs: in, enc: json.NewEncoder(in), dec: json.NewDecoder(out)}
	return w, w.enc.Encode(s)
}

func (w *worker) do(j job) (sample, error) {
	var s sample
	if err := w.enc.Encode(j); err != nil {
		return s, fmt.Errorf("the contender's process has ended: %w", err)
	}
	if err := w.dec.Decode(&s); err != nil {
		return s, fmt.Errorf("the contender's process has ended: %w", err)
	}
	if s.Err != "" {
		return s, errors.New(s.Err)
	}
	return s, nil
}

func (w *worker) close() {
	_ = w.jobs.Close()
	_ = w.cmd.Wait()
}
