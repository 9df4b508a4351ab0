package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// pollTime is the interval of checks of a job that runs in another process.
const pollTime = 100 * time.Millisecond

// List returns the jobs of a session, all of them when it is empty, the
// oldest first.
func (j *Jobs) List(session string) []JobInfo {
	all, _ := ListJobs(j.opt.Dir) // without a folder there are no others
	for _, b := range j.running() {
		info := b.snapshot()
		if at := slices.IndexFunc(all, func(i JobInfo) bool { return i.ID == info.ID }); at >= 0 {
			all[at] = info
		} else {
			all = append(all, info)
		}
	}
	all = slices.DeleteFunc(all, func(i JobInfo) bool { return session != "" && i.Session != session || !j.mine(i.Session) })
	slices.SortStableFunc(all, byAge)
	return all
}

func byAge(a, b JobInfo) int {
	return cmp.Or(a.Began.Compare(b.Began), strings.Compare(a.ID, b.ID))
}

// running returns the jobs that run here and may be seen.
func (j *Jobs) running() []*job {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []*job
	for _, b := range j.jobs {
		if j.mine(b.info.Session) {
			out = append(out, b)
		}
	}
	return out
}

// find returns a job of this process, or else its entry in the ledger.
func (j *Jobs) find(id string) (*job, JobInfo, error) {
	j.mu.Lock()
	b := j.jobs[id]
	j.mu.Unlock()
	if b != nil {
		info := b.snapshot()
		if !j.mine(info.Session) {
			return nil, JobInfo{}, noJob(id)
		}
		return b, info, nil
	}
	info, err := FindJob(j.opt.Dir, id)
	if err == nil && !j.mine(info.Session) {
		err = noJob(id)
	}
	if err != nil {
		return nil, JobInfo{}, err
	}
	return nil, info, nil
}

func noJob(id string) error { return fmt.Errorf("job %.70q: %w", id, ErrNoJob) }

// Get returns a job.
func (j *Jobs) Get(id string) (JobInfo, bool) {
	_, info, err := j.find(id)
	return info, err == nil
}

// Output returns what a job printed, from an offset on, a negative one counting from the end, at
// most limit bytes (64 KiB when 0, 1 MiB at most). It returns what is available and does not wait.
func (j *Jobs) Output(id string, offset int64, limit int) (JobOutput, error) {
	_, info, err := j.find(id)
	if err != nil {
		return JobOutput{}, err
	}
	return readOutput(j.opt.Dir, info, offset, limit)
}

func readOutput(dir string, info JobInfo, offset int64, limit int) (JobOutput, error) {
	c, err := readRing(filepath.Join(dir, info.ID, ringName), offset, limit, info.State != JobRunning)
	if err != nil {
		return JobOutput{}, fmt.Errorf("reading the output of job %s: %w", info.ID, err)
	}
	return c, nil
}

// Wait returns when a job has ended, with all that its command started, or when the bound is over;
// the JobInfo shows which.
func (j *Jobs) Wait(ctx context.Context, id string, bound time.Duration) (JobInfo, error) {
	b, info, err := j.find(id)
	if err != nil {
		return JobInfo{}, err
	}
	limit := time.NewTimer(max(bound, 0))
	defer limit.Stop()
	for info.State == JobRunning {
		var ended <-chan struct{}
		var poll <-chan time.Time
		if b != nil {
			ended = b.over
		} else {
			poll = time.After(pollTime)
		}
		over := false
		select {
		case <-ended:
		case <-poll:
		case <-limit.C:
			over = true
		case <-ctx.Done():
			return info, ctx.Err()
		}
		if b != nil {
			info = b.snapshot()
		} else if info, err = FindJob(j.opt.Dir, id); err != nil {
			return JobInfo{}, err
		}
		if over {
			break
		}
	}
	return info, nil
}

// Write writes to the input of a job, and closes it afterwards if end is set.
// It returns when the job's pipe has taken all, or with an error after 5
// seconds, when the job does not read.
func (j *Jobs) Write(ctx context.Context, id string, data []byte, end bool) error {
	b, _, err := j.find(id)
	if err != nil {
		return err
	}
	if b == nil {
		return SendToJob(ctx, j.opt.Dir, id, JobRequest{Op: OpInput, Data: data, Close: end})
	}
	return b.write(ctx, slices.Clone(data), end)
}

// Signal sends a signal to all processes of a job: "TERM", "SIGINT", "usr1".
func (j *Jobs) Signal(ctx context.Context, id, name string) error {
	b, _, err := j.find(id)
	if err != nil {
		return err
	}
	if b == nil {
		return SendToJob(ctx, j.opt.Dir, id, JobRequest{Op: OpSignal, Signal: name})
	}
	return b.signal(name)
}

func (b *job) signal(name string) error {
	name, err := signalName(name)
	if err != nil {
		return err
	}
	if closed(b.over) {
		return ErrEnded
	}
	if err := b.p.Signal(name); err != nil {
		return fmt.Errorf("sending %s to job %s: %w", name, b.info.ID, err)
	}
	return nil
}

// signalName is the name of a signal without its prefix, in capitals.
func signalName(name string) (string, error) {
	up := strings.TrimPrefix(strings.ToUpper(name), "SIG")
	bad := func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '+' && r != '-' }
	if up == "" || len(up) > 12 || strings.ContainsFunc(up, bad) {
		return "", fmt.Errorf("%.20q is not the name of a signal", name)
	}
	return up, nil
}

// Stop ends all processes of a job and returns when it has ended. Stopping one
// that has ended does nothing.
func (j *Jobs) Stop(ctx context.Context, id string) (JobInfo, error) {
	b, info, err := j.find(id)
	switch {
	case err != nil:
		return JobInfo{}, err
	case b != nil:
		err = b.end(ctx)
		return b.snapshot(), err
	case info.State != JobRunning:
		return info, nil
	}
	return StopForeignJob(ctx, j.opt.Dir, id)
}

// EndSession ends the jobs of a session that run here, all when it is empty,
// and returns when they have ended.
func (j *Jobs) EndSession(ctx context.Context, session string) error {
	var ending []*job
	for _, b := range j.running() {
		if session == "" || b.info.Session == session {
			b.stop() // all at once
			ending = append(ending, b)
		}
	}
	var errs []error
	for _, b := range ending {
		errs = append(errs, b.end(ctx))
	}
	return errors.Join(errs...)
}

// Close ends all jobs and waits until nothing of them runs any more. No job can be added
// afterwards; the ledger can still be read.
func (j *Jobs) Close() error {
	if j.session == "" {
		j.mu.Lock()
		j.closed = true
		j.mu.Unlock()
	}
	ctx, cancel := context.WithTimeout(context.Background(), j.opt.Grace+10*time.Second)
	defer cancel()
	err := j.EndSession(ctx, "")
	if j.session != "" {
		return err
	}
	if err != nil {
		for _, b := range j.running() {
			b.mu.Lock()
			if !closed(b.abandon) {
				close(b.abandon)
			}
			b.mu.Unlock()
		}
	}
	j.wg.Wait()
	return err
}
