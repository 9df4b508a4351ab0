package process

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/helve-dev/helve/internal/disk"
)

const (
	askName  = "ask"
	askExt   = ".ask"
	doneExt  = ".done"
	mostAsk  = 2 << 20 // bytes of a request
	mostAsks = 64      // requests that wait
	staleAsk = time.Minute

	mostInputs = 8 // texts of others that wait to be read
)

// A JobOp is what can be asked of a job that runs in another process.
type JobOp string

// What can be asked.
const (
	OpStop   JobOp = "stop"
	OpSignal JobOp = "signal"
	OpInput  JobOp = "input"
)

// A JobRequest is something that a process asks of a job that another one runs.
type JobRequest struct {
	Op     JobOp  `json:"op"`
	Signal string `json:"signal,omitempty"`
	Data   []byte `json:"data,omitempty"`  // for its input
	Close  bool   `json:"close,omitempty"` // the input, after Data
}

// errOrphan is said where only the runtime of a job could do it.
var errOrphan = errors.New("the runtime that ran the job is gone, so nobody can do this")

// SendToJob leaves a request for the process that runs a job and returns when that
// has done it. The request is withdrawn when the context ends first.
func SendToJob(ctx context.Context, dir, id string, r JobRequest) error {
	if err := answerable(dir, id); err != nil {
		return err
	}
	path, err := writeRequest(filepath.Join(dir, id, askName), r)
	if err != nil {
		return fmt.Errorf("asking job %s: %w", id, err)
	}
	defer os.Remove(path + doneExt)
	for {
		answer, err := readBounded(path+doneExt, mostCommand)
		if err == nil {
			text := string(answer)
			switch text {
			case "":
				return nil
			case ErrEnded.Error():
				return ErrEnded
			}
			return errors.New(text)
		}
		if err := answerable(dir, id); err != nil {
			_ = os.Remove(path + askExt)
			return err
		}
		select {
		case <-time.After(pollTime / 2):
		case <-ctx.Done():
			if os.Remove(path+askExt) == nil {
				return fmt.Errorf("asking job %s: its runtime did not answer: %w", id, ctx.Err())
			}
			return ctx.Err()
		}
	}
}

// writeRequest writes a request, and returns its path without an ending.
func writeRequest(folder string, r JobRequest) (string, error) {
	if len(r.Data) > mostInput {
		return "", fmt.Errorf("%d bytes at once, and %d are the most", len(r.Data), mostInput)
	}
	list, err := os.ReadDir(folder)
	if err != nil {
		return "", err
	}
	if len(list) >= mostAsks {
		return "", fmt.Errorf("%d requests wait already; its runtime does not answer", len(list))
	}
	data, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	var random [4]byte
	_, _ = rand.Read(random[:]) // never fails
	path := filepath.Join(folder, fmt.Sprintf("%020d-%s", time.Now().UnixNano(), hex.EncodeToString(random[:])))
	return path, replaceFile(path+askExt, data)
}

// answerable reports why a job cannot be asked for anything.
func answerable(dir, id string) error {
	info, err := FindJob(dir, id)
	switch {
	case err != nil:
		return err
	case info.State == JobDamaged:
		return errors.New(info.Problem)
	case info.State != JobRunning:
		return ErrEnded
	case info.Orphan:
		return errOrphan
	}
	return nil
}

// readBounded reads a file without following links: the contents of a job's folder are not trusted.
func readBounded(path string, most int64) ([]byte, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return disk.ReadOpen(f, most)
}

// StopForeignJob ends a job of a folder, whichever process runs it, and returns
// when it has ended. Its runtime is asked to. Where that is gone, processes
// that are certain to be the job's are ended from here.
func StopForeignJob(ctx context.Context, dir, id string) (JobInfo, error) {
	err := SendToJob(ctx, dir, id, JobRequest{Op: OpStop})
	switch {
	case errors.Is(err, errOrphan):
		e, err := readLedgerEntry(dir, id)
		if err == nil && e.State == JobRunning {
			err = bury(dir, e, time.Now())
		}
		if err != nil {
			return JobInfo{}, err
		}
	case err != nil && !errors.Is(err, ErrEnded):
		return JobInfo{}, err
	}
	for {
		info, err := FindJob(dir, id)
		if err != nil || info.State != JobRunning {
			return info, err
		}
		select {
		case <-time.After(pollTime / 2):
		case <-ctx.Done():
			return info, ctx.Err()
		}
	}
}

// serveRequests serves other processes' requests to the job while it runs. Input has a goroutine of
// its own: a job that does not read must not prevent its stopping.
func (b *job) serveRequests() {
	inputs := make(chan pending, mostInputs)
	defer close(inputs)
	b.wg.Go(func() {
		for p := range inputs {
			p.done(b.write(context.Background(), p.Data, p.Close))
		}
	})
	tick, sign := time.NewTicker(askTime), time.NewTicker(time.Hour)
	defer tick.Stop()
	defer sign.Stop()
	for {
		select {
		case <-b.over:
			return
		case <-tick.C:
			b.handleRequests(inputs)
		case <-sign.C:
			_ = b.record() // a sign of life, for those who cannot see this process
		}
	}
}

// A pending is a request that was taken, with the path of its files.
type pending struct {
	JobRequest
	path string
}

// done writes the answer for the requester.
func (p pending) done(err error) {
	text := ""
	if err != nil {
		text = clip(err.Error(), mostCommand)
	}
	_ = replaceFile(p.path+doneExt, []byte(text))
}

// handleRequests handles the present requests in order.
func (b *job) handleRequests(inputs chan<- pending) {
	folder := filepath.Join(b.dir, askName)
	f, err := os.Open(folder)
	if err != nil {
		return
	}
	list, _ := f.ReadDir(2 * mostAsks)
	_ = f.Close()
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, d := range list {
		path := filepath.Join(folder, d.Name())
		base, ok := strings.CutSuffix(path, askExt)
		if !ok {
			if info, err := d.Info(); err == nil && time.Since(info.ModTime()) > staleAsk {
				_ = os.Remove(path) // no process came back for it
			}
			continue
		}
		p := pending{path: base}
		data, err := readBounded(path, mostAsk)
		if os.Remove(path) != nil {
			continue // withdrawn, or not to be got rid of: then it is not done, again and again
		}
		if err == nil {
			err = json.Unmarshal(data, &p.JobRequest)
		}
		if err != nil {
			p.done(fmt.Errorf("request to job %s: %w", b.info.ID, err))
			continue
		}
		b.obey(p, inputs)
	}
}

func (b *job) obey(p pending, inputs chan<- pending) {
	switch p.Op {
	case OpStop:
		b.stop()
		p.done(nil)
	case OpSignal:
		p.done(b.signal(p.Signal))
	case OpInput:
		select {
		case inputs <- p:
		default:
			p.done(fmt.Errorf("writing to job %s: it does not read its input, and much waits already", b.info.ID))
		}
	default:
		p.done(fmt.Errorf("request to job %s: %.20q is not known", b.info.ID, p.Op))
	}
}
