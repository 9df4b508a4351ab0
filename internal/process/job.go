package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// What callers decide by.
var (
	// ErrNoJob is returned for an id that names no job, or none that may be seen.
	ErrNoJob = errors.New("no such job")
	// ErrEnded is returned by what only a running job can do.
	ErrEnded = errors.New("the job has ended")
	// ErrFull is returned by Reserve and Add when no more jobs may run.
	ErrFull = errors.New("too many jobs are running")
)

// A JobProcess is a running command with everything it started. It may also have
// a method Left() int that counts what is alive of the tree once Done. Without
// it a job has ended when the direct child has and the output is closed.
type JobProcess interface {
	// Done is closed when the direct child has ended.
	Done() <-chan struct{}
	// Status returns how it ended, after Done.
	Status() (code int, signal string)
	// Signal sends a signal, named as in "TERM", to the whole tree.
	Signal(name string) error
	// End ends the whole tree, with force after the grace, and returns when
	// nothing is left.
	End(grace time.Duration) error
}

// JobsOptions of a set of jobs. Only Dir has no default.
type JobsOptions struct {
	Dir      string           // folder of the jobs, absolute; made when the first job starts, for its owner only
	PerJob   int64            // most bytes of output kept for a job; 64 MiB
	Total    int64            // most bytes kept for all jobs of the folder; 1 GiB
	Keep     time.Duration    // how long ended jobs are kept; 24 hours
	Max      int              // most jobs that run at once; 16
	Grace    time.Duration    // between asking a tree to end and ending it by force; 3 seconds
	OnChange func(JobInfo)    // called at a start, for output (at most ten times a second), at the exit and at the end; one call at a time for each job; it must not wait for the job
	Now      func() time.Time // time.Now
}

// A JobSpec describes a new job.
type JobSpec struct {
	ID      string    // letters, digits, - and _; made up when empty
	Session string    // who owns it
	Call    string    // the call that started it
	Command string    // as written; a long one is cut
	Title   string    // one line for people; a long one is cut
	Dir     string    // where it runs
	PID     int       // of the direct child; one that does not descend from this process is shown, never signalled
	Began   time.Time // now when zero

	// Ended, if set, is called once when no process of the job runs any more, or the rest could not
	// be ended. The job is not shown as ended before it returns.
	Ended func()
}

// JobStreams are the ends of a job's pipes. Closing one must end a Read or Write
// that waits in it, as it does for a pipe of package os.
type JobStreams struct {
	Head []byte         // output that came before
	Out  io.ReadCloser  // the output from there on; nil for none
	In   io.WriteCloser // its input; nil: closed
}

// A JobState is the state of a job.
type JobState string

// The states of a job.
const (
	JobRunning JobState = "running" // also when only what the command started goes on: see Info.Exited
	JobEnded   JobState = "ended"
	JobLost    JobState = "lost"    // the runtime that ran it is gone, how it ended is not known
	JobDamaged JobState = "damaged" // its entry in the ledger cannot be read
)

// A JobInfo is a snapshot of a job.
type JobInfo struct {
	ID      string    `json:"id"`
	Session string    `json:"session,omitempty"`
	Call    string    `json:"call,omitempty"`
	Command string    `json:"command"`
	Title   string    `json:"title,omitempty"`
	Dir     string    `json:"dir,omitempty"`
	PID     int       `json:"pid,omitempty"`
	Runtime int       `json:"runtime,omitempty"` // pid of the process that runs it
	State   JobState  `json:"state"`
	Exited  bool      `json:"exited,omitempty"` // the command itself has ended, as Code and Signal say; in a running job what it started goes on
	Left    int       `json:"left,omitempty"`   // processes that are alive of one that has exited, where that is known
	Code    int       `json:"code"`             // left out of the JSON until Exited
	Signal  string    `json:"signal,omitempty"`
	Cut     bool      `json:"cut,omitempty"` // it was ended after its command had
	Began   time.Time `json:"began"`
	Ended   time.Time `json:"ended,omitzero"`
	Bytes   int64     `json:"bytes"`            // of output so far
	Quota   int64     `json:"quota,omitempty"`  // most bytes its output takes on disk
	Input   bool      `json:"input,omitempty"`  // it takes input
	Orphan  bool      `json:"orphan,omitempty"` // it runs, but the runtime that ran it is gone
	Problem string    `json:"problem,omitempty"`
}

// Jobs are the jobs of a folder. The ones that were added here are run here;
// the others of the folder, ended ones and those of other processes, are
// reached through the ledger by the same methods. Safe for concurrent use.
type Jobs struct {
	*jobTable
	session string // what the view is limited to; empty: nothing
}

// A jobTable holds the running jobs of a process.
type jobTable struct {
	opt    JobsOptions
	mu     sync.Mutex
	jobs   map[string]*job
	adding int // jobs on their way into the table
	swept  bool
	closed bool
	wg     sync.WaitGroup // a run for each job
}

// The bounds of what goes into a ledger.
const (
	mostID      = 64
	mostName    = 256  // session and call
	mostTitle   = 256  // bytes
	mostCommand = 4096 // bytes, also the folder
	leastQuota  = 64 << 10
)

// NewJobs makes a set of jobs. It does not touch the disk.
func NewJobs(o JobsOptions) (*Jobs, error) {
	if !filepath.IsAbs(o.Dir) {
		return nil, fmt.Errorf("folder of jobs %q: not an absolute path", o.Dir)
	}
	o.PerJob = max(orElse(o.PerJob, 64<<20), leastQuota)
	o.Total = max(orElse(o.Total, 1<<30), leastQuota)
	o.Keep = orElse(o.Keep, 24*time.Hour)
	o.Max = orElse(o.Max, 16)
	o.Grace = orElse(o.Grace, 3*time.Second)
	if o.OnChange == nil {
		o.OnChange = func(JobInfo) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Jobs{jobTable: &jobTable{opt: o, jobs: map[string]*job{}}}, nil
}

func orElse[T int | int64 | time.Duration](v, other T) T {
	if v > 0 {
		return v
	}
	return other
}

// For returns a view of the jobs that shows and touches only those of one
// session. Closing a view ends the jobs of its session.
func (j *Jobs) For(session string) *Jobs {
	if j.session != "" && session != j.session {
		session = "\x00" // no session has this name
	}
	return &Jobs{jobTable: j.jobTable, session: session}
}

func (j *Jobs) mine(session string) bool { return j.session == "" || j.session == session }

// A JobSlot is the right to run one more job. Add or Release give it back, whichever comes first.
type JobSlot struct {
	jobs *Jobs
	once sync.Once
}

// Reserve reserves a slot for a job, so that a command that could not go on is not started. It also
// ensures that there is enough disk space; the first call sweeps.
func (j *Jobs) Reserve() (*JobSlot, error) {
	sweep, err := j.reserve()
	if err != nil {
		return nil, err
	}
	slot := &JobSlot{jobs: j}
	if sweep {
		_ = j.Sweep() // what stands in the way shows itself when a job is added
	}
	if err := j.afford(); err != nil {
		slot.Release()
		return nil, err
	}
	return slot, nil
}

// afford ensures that the output of one more job fits within the limits.
func (t *jobTable) afford() error {
	if err := private(t.opt.Dir); err != nil {
		return fmt.Errorf("making the folder of jobs: %w", err)
	}
	unlock := lockDir(t.opt.Dir)
	defer unlock()
	_, err := t.makeRoom()
	return err
}

// Release gives the place back.
func (s *JobSlot) Release() {
	s.once.Do(func() {
		s.jobs.mu.Lock()
		defer s.jobs.mu.Unlock()
		s.jobs.adding--
	})
}

// Add takes over a running command, as [Jobs.Add] does, in the place that was
// kept for it.
func (s *JobSlot) Add(spec JobSpec, p JobProcess, st JobStreams) (JobInfo, error) {
	used := false
	s.once.Do(func() { used = true })
	if !used {
		return JobInfo{}, errors.New("adding a job: its place was given back")
	}
	return s.jobs.take(spec, p, st)
}

// Add takes over a running command. On an error nothing was taken: process and
// streams are still the caller's. The first Add also sweeps.
func (j *Jobs) Add(s JobSpec, p JobProcess, st JobStreams) (JobInfo, error) {
	sweep, err := j.reserve()
	if err != nil {
		return JobInfo{}, err
	}
	if sweep {
		_ = j.Sweep() // what stands in the way shows itself below
	}
	return j.take(s, p, st)
}

// take makes a job of a command. A place was reserved for it, which is given
// back.
func (j *Jobs) take(s JobSpec, p JobProcess, st JobStreams) (JobInfo, error) {
	b, err := j.newJob(s, p, st)
	j.mu.Lock()
	j.adding--
	if err == nil && j.closed {
		err = errors.New("adding a job: the runtime ends")
	}
	if err == nil {
		j.jobs[b.info.ID] = b
		j.wg.Add(1)
	}
	j.mu.Unlock()
	if err != nil {
		if b != nil {
			if b.ring != nil {
				b.ring.close()
			}
			if b.dir != "" {
				_ = os.RemoveAll(b.dir)
			}
		}
		return JobInfo{}, err
	}
	info := b.snapshot() // before anything can change it
	go b.run()
	return info, nil
}

// newJob makes the folder of a job, which must be discarded on an error.
func (j *Jobs) newJob(s JobSpec, p JobProcess, st JobStreams) (*job, error) {
	if s.Session == "" {
		s.Session = j.session
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	if !j.mine(s.Session) {
		return nil, fmt.Errorf("adding a job: session %q is not the one of this view", s.Session)
	}
	b := &job{
		jobTable: j.jobTable, p: p, io: st, ended: s.Ended, owner: self(),
		news: make(chan struct{}, 1), eof: make(chan struct{}), gone: make(chan struct{}), abandon: make(chan struct{}),
		over: make(chan struct{}), input: make(chan struct{}, 1),
	}
	if s.PID > 0 && ours(s.PID) {
		// While it has not been waited for, its number is that of no other process.
		if start, ok := startOf(s.PID); ok && !closed(p.Done()) {
			b.start = start
		}
	}
	if s.Began.IsZero() {
		s.Began = j.jobTable.opt.Now()
	}
	b.info = JobInfo{
		ID: s.ID, Session: s.Session, Call: s.Call, Command: s.Command, Title: s.Title, Dir: s.Dir, PID: max(s.PID, 0),
		Runtime: os.Getpid(), State: JobRunning, Began: stamp(s.Began), Input: st.In != nil,
	}
	if err := j.open(b); err != nil {
		return b, err
	}
	b.ring.write(st.Head)
	b.info.Bytes = b.ring.total
	return b, nil
}

// reserve makes sure that one more job may run. sweep is true once.
func (t *jobTable) reserve() (sweep bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false, errors.New("adding a job: the runtime ends")
	}
	n := t.adding
	for _, b := range t.jobs {
		if !closed(b.over) {
			n++
		}
	}
	if n >= t.opt.Max {
		return false, fmt.Errorf("%w: %d, and no more may run at once; stop one first", ErrFull, n)
	}
	t.adding++
	sweep, t.swept = !t.swept, true
	return sweep, nil
}

// check also shortens what is too long for the ledger.
func (s *JobSpec) check() error {
	if s.ID != "" && !validID(s.ID) {
		return fmt.Errorf("job id %q: not letters, digits, - and _, %d at most", s.ID, mostID)
	}
	if len(s.Session) > mostName || len(s.Call) > mostName || strings.ContainsRune(s.Session+s.Call, 0) {
		return fmt.Errorf("adding a job: the name of its session or call is longer than %d bytes or has a NUL", mostName)
	}
	s.Command, s.Title, s.Dir = clip(s.Command, mostCommand), clip(s.Title, mostTitle), clip(s.Dir, mostCommand)
	return nil
}

// clip shortens a text to a number of bytes, with a note.
func clip(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= most {
		return s
	}
	n := most - len("…")
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// validID reports whether a text may be the id, and so the folder, of a job on
// every system.
func validID(id string) bool {
	if id == "" || len(id) > mostID {
		return false
	}
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	if strings.IndexByte(letters, id[0]) < 0 {
		return false
	}
	for _, c := range []byte(id) {
		if strings.IndexByte(letters+"-_", c) < 0 {
			return false
		}
	}
	switch up := strings.ToUpper(id); {
	case up == "CON", up == "PRN", up == "AUX", up == "NUL":
		return false
	case len(up) == 4 && (strings.HasPrefix(up, "COM") || strings.HasPrefix(up, "LPT")):
		return false
	}
	return true
}

// open makes the folder of a new job, within the quota, with its first entry.
func (t *jobTable) open(b *job) error {
	if err := private(t.opt.Dir); err != nil {
		return fmt.Errorf("making the folder of jobs: %w", err)
	}
	unlock := lockDir(t.opt.Dir)
	defer unlock()
	quota, err := t.makeRoom()
	if err != nil {
		return err
	}
	if err := b.makeFolder(); err != nil {
		return err
	}
	b.info.Quota = quota
	b.ring, err = createRing(filepath.Join(b.dir, ringName), geometryFor(quota))
	if err != nil {
		return fmt.Errorf("making the output file of a job: %w", err)
	}
	if err := os.Mkdir(filepath.Join(b.dir, askName), 0o700); err != nil {
		return fmt.Errorf("making the folder of a job: %w", err)
	}
	return b.record()
}

// private makes a folder for its owner only.
func private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return os.Chmod(dir, 0o700)
	}
	return nil
}
