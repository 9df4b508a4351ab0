package process

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	drainTime  = 250 * time.Millisecond // for output to end after the exit, before the exit is reported
	leftTime   = 250 * time.Millisecond // between looks at what an exited command left
	noticeTime = 100 * time.Millisecond // between notices of output
	askTime    = 200 * time.Millisecond // between looks at what others ask
	closeTime  = time.Second            // for pipes to close when all processes are gone
	inputTime  = 5 * time.Second        // for a job to read what is written to it
	mostInput  = 1 << 20
)

// A job is a command that runs in this process.
//
// It has three goroutines: pump reads its output and never waits for anything else, attend serves
// the requests of other processes, and run, which waits for the two, follows it to its end.
type job struct {
	*jobTable
	dir   string
	p     JobProcess
	io    JobStreams
	ended func()   // of the Spec
	ring  *ring    // pump's, once run has begun
	start string   // of the direct child
	owner identity // this process

	news    chan struct{} // there is output
	eof     chan struct{} // closed when the output has ended
	gone    chan struct{} // closed when End has left nothing
	abandon chan struct{} // closed when waiting is no longer possible
	over    chan struct{} // closed when the job has ended
	input   chan struct{} // holds a token while something is being written

	mu     sync.Mutex
	info   JobInfo
	grown  chan struct{} // closed at the next change, for those who wait for one; nil when there are none
	ending chan struct{} // closed when End has returned; nil: it was not called
	endErr error
	wg     sync.WaitGroup // all but run

	saving sync.Mutex // while the entry is written
}

// stamp makes a time equal to what the ledger gives back.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// makeFolder makes the folder, and the id where none was given.
func (b *job) makeFolder() error {
	for range 20 {
		id := b.info.ID
		if id == "" {
			var random [5]byte
			_, _ = rand.Read(random[:]) // never fails
			id = "job_" + strings.ToLower(base32.StdEncoding.EncodeToString(random[:]))
		}
		dir := filepath.Join(b.opt.Dir, id)
		err := os.Mkdir(dir, 0o700)
		if err == nil {
			b.dir, b.info.ID = dir, id
			return nil
		}
		if b.info.ID != "" || !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("making the folder of job %s: %w", id, err)
		}
	}
	return errors.New("making the folder of a job: every name is taken")
}

// run follows a job to its end.
func (b *job) run() {
	defer b.jobTable.wg.Done()
	b.wg.Go(b.pump)
	b.wg.Go(b.serveRequests)
	b.reportChange()
	done, eof, gone, abandon, news := b.p.Done(), b.eof, b.gone, b.abandon, b.news
	var drain, left, last, pause <-chan time.Time
	for done != nil || eof != nil || left != nil {
		select {
		case <-done:
			done, drain, left = nil, time.After(drainTime), b.survivors()
			b.exit()
		case <-eof:
			eof = nil
		case <-drain:
			drain = nil
			// The command has ended, although the job may go on.
			b.updateInfo(func(i *JobInfo) { i.Exited = true })
			_ = b.record()
			b.reportChange()
		case <-left:
			left = b.survivors()
		case <-gone: // the pipes follow, or are held by what we cannot end
			gone, last = nil, time.After(closeTime)
		case <-last:
			done, left, last = nil, nil, nil
			b.closeOut()
		case <-abandon:
			done, left, abandon = nil, nil, nil
			b.closeOut()
		case <-news:
			news, pause = nil, time.After(noticeTime)
			b.reportChange()
		case <-pause:
			news = b.news
		}
	}
	b.finishJob()
	b.wg.Wait()
	b.reportChange()
}

// reportChange reports the job's state.
func (b *job) reportChange() { b.opt.OnChange(b.snapshot()) }

func (b *job) snapshot() JobInfo {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.info
}

// updateInfo changes the job's state, and wakes those who wait for that.
func (b *job) updateInfo(f func(*JobInfo)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f(&b.info)
	if b.grown != nil {
		close(b.grown)
		b.grown = nil
	}
}

// changed returns a channel that is closed at the next change.
func (b *job) changed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.grown == nil {
		b.grown = make(chan struct{})
	}
	return b.grown
}

// pump reads the output to its end, as fast as it arrives.
func (b *job) pump() {
	defer close(b.eof)
	if b.io.Out == nil {
		return
	}
	buf := make([]byte, mostChunk)
	for empty := 0; empty < 100; empty++ {
		n, err := b.io.Out.Read(buf)
		if n > 0 {
			empty = 0
			before := b.ring.err
			b.ring.write(buf[:n])
			b.updateInfo(func(i *JobInfo) {
				i.Bytes = b.ring.total
				if b.ring.err != nil && before == nil {
					i.Problem = fmt.Sprintf("output after byte %d was not kept: %v", i.Bytes, b.ring.err)
				}
			})
			select {
			case b.news <- struct{}{}:
			default:
			}
		}
		if err != nil {
			return
		}
	}
}

// survivors returns when to look again, nil when nothing is known to be left.
func (b *job) survivors() <-chan time.Time {
	p, ok := b.p.(interface{ Left() int })
	if !ok {
		return nil
	}
	n := max(p.Left(), 0)
	if b.snapshot().Left != n {
		b.updateInfo(func(i *JobInfo) { i.Left = n })
	}
	if n == 0 {
		return nil
	}
	return time.After(leftTime)
}

// exit records how the command ended, which is reported after its output was read.
func (b *job) exit() {
	code, signal := b.p.Status()
	b.updateInfo(func(i *JobInfo) { i.Code, i.Signal = code, clip(signal, 32) })
}

func (b *job) closeOut() {
	if b.io.Out != nil {
		_ = b.io.Out.Close()
	}
}

// finishJob ends a job. The entry is on disk before anyone is notified, and the job's Ended
// callback has returned.
func (b *job) finishJob() {
	b.ring.close()
	b.closeOut()
	if b.io.In != nil {
		_ = b.io.In.Close()
	}
	if b.ended != nil {
		b.ended()
	}
	b.updateInfo(func(i *JobInfo) {
		i.State, i.Ended, i.Left, i.Input = JobEnded, stamp(b.opt.Now()), 0, false
		if i.Exited = closed(b.p.Done()); !i.Exited {
			i.State, i.Problem = JobLost, "its processes could not be ended"
		}
	})
	err := b.record()
	b.jobTable.mu.Lock()
	if err == nil || len(b.jobs) > mostEntries {
		delete(b.jobs, b.info.ID) // from here on the ledger answers
	}
	b.jobTable.mu.Unlock()
	close(b.over)
}

// stop starts to end the tree. Concurrent calls share one attempt.
func (b *job) stop() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ending != nil && (!closed(b.ending) || b.endErr == nil) {
		return b.ending
	}
	if b.info.State != JobRunning {
		return b.over
	}
	ending := make(chan struct{})
	b.ending = ending
	b.info.Cut = closed(b.p.Done())
	b.wg.Go(func() {
		err := b.p.End(b.opt.Grace)
		b.mu.Lock()
		b.endErr = err
		b.mu.Unlock()
		close(ending)
		if err == nil {
			close(b.gone)
		}
	})
	return ending
}

// end ends the job and waits for that.
func (b *job) end(ctx context.Context) error {
	for ended := b.stop(); ; {
		select {
		case <-b.over:
			return nil
		case <-ended:
			b.mu.Lock()
			err := b.endErr
			b.mu.Unlock()
			if err != nil {
				return fmt.Errorf("ending job %s: %w", b.info.ID, err)
			}
			ended = nil // the rest follows
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// write writes to the input of a job. It gives up when the job does not read; the rest is still
// written if it reads later.
func (b *job) write(ctx context.Context, data []byte, end bool) error {
	if len(data) > mostInput {
		return fmt.Errorf("writing to a job: %d bytes at once, and %d are the most", len(data), mostInput)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, inputTime, errors.New("it does not read its input"))
	defer cancel()
	select {
	case b.input <- struct{}{}:
	case <-b.over:
		return ErrEnded
	case <-ctx.Done():
		return fmt.Errorf("writing to job %s: %w; an earlier text still waits to be read", b.info.ID, context.Cause(ctx))
	}
	result := make(chan error, 1)
	if !b.launch(func() { result <- b.put(data, end); <-b.input }) {
		<-b.input
		return ErrEnded
	}
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return fmt.Errorf("writing to job %s: %w; what was not read yet waits", b.info.ID, context.Cause(ctx))
	}
}

// launch starts a goroutine of the job, unless the job has ended.
func (b *job) launch(f func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.info.State != JobRunning {
		return false
	}
	b.wg.Go(f)
	return true
}

func (b *job) put(data []byte, end bool) error {
	if !b.snapshot().Input {
		return fmt.Errorf("writing to job %s: its input is closed", b.info.ID)
	}
	_, err := b.io.In.Write(data)
	if err == nil && !end {
		return nil
	}
	b.updateInfo(func(i *JobInfo) { i.Input = false })
	_ = b.io.In.Close()
	_ = b.record()
	switch {
	case err == nil:
		return nil
	case closed(b.over), errors.Is(err, os.ErrClosed), errors.Is(err, io.ErrClosedPipe):
		return ErrEnded
	}
	return fmt.Errorf("writing to job %s: it no longer reads: %w", b.info.ID, err)
}
