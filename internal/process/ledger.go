package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/helve-dev/helve/internal/disk"
)

const (
	entryName    = "job.json"
	entryVersion = 1
	mostEntry    = 128 << 10 // bytes
	mostEntries  = 128       // jobs that are kept
)

// A ledgerEntry is the content of job.json: the job, and how to identify its processes.
type ledgerEntry struct {
	Version int `json:"version"`
	JobInfo
	Start string   `json:"start,omitempty"` // of the direct child
	Owner identity `json:"owner"`
}

// MarshalJSON encodes an entry. Without it, the method of the embedded job would be promoted and
// drop the rest.
func (e ledgerEntry) MarshalJSON() ([]byte, error) {
	type info JobInfo
	return json.Marshal(struct {
		Version int `json:"version"`
		info
		Start string   `json:"start,omitempty"`
		Owner identity `json:"owner"`
	}{e.Version, info(e.JobInfo), e.Start, e.Owner})
}

// An identity distinguishes a process from all others, including a later one with the same number.
type identity struct {
	PID   int    `json:"pid"`
	Start string `json:"start,omitempty"`
	Host  string `json:"host,omitempty"`
	Boot  string `json:"boot,omitempty"`
	Space string `json:"space,omitempty"` // in which processes are numbered
}

// self is the identity of this process.
func self() identity {
	host, _ := os.Hostname()
	id := identity{PID: os.Getpid(), Host: clip(host, mostName), Boot: bootID(), Space: pidSpace()}
	id.Start, _ = startOf(id.PID)
	return id
}

// A presence is what is known about the process that runs a job.
type presence int

const (
	gone      presence = iota
	there              // alive
	elsewhere          // on another machine or in another container, or on a system that does not tell: not to be seen from here
)

// seen returns what is known about a process, as seen from me.
func (id identity) seen(me identity) presence {
	switch {
	case id == me:
		return there
	case id.Host != me.Host:
		return elsewhere
	case id.Boot != me.Boot:
		return gone
	case id.Space != me.Space || id.Start == "":
		return elsewhere
	case alive(id.PID, id.Start):
		return there
	}
	return gone
}

// alive reports whether a process runs that began at the given time.
func alive(pid int, start string) bool {
	now, ok := startOf(pid)
	return ok && start != "" && now == start
}

// record writes the entry of a job.
func (b *job) record() error {
	b.saving.Lock()
	defer b.saving.Unlock()
	return writeEntry(b.dir, ledgerEntry{Version: entryVersion, JobInfo: b.snapshot(), Start: b.start, Owner: b.owner})
}

func writeEntry(dir string, e ledgerEntry) error {
	data, err := json.Marshal(e)
	if err == nil {
		err = replaceFile(filepath.Join(dir, entryName), data)
	}
	if err != nil {
		return fmt.Errorf("writing the entry of job %s: %w", e.ID, err)
	}
	return nil
}

// replaceFile writes a file that is there as a whole or not at all. Jobs do
// not survive a loss of power, so nothing is flushed.
func replaceFile(path string, data []byte) error { return disk.ReplaceSmall(path, data, false) }

// readLedgerEntry reads the entry of a job. An id that names none gives ErrNoJob.
func readLedgerEntry(dir, id string) (ledgerEntry, error) {
	if !validID(id) {
		return ledgerEntry{}, noJob(id)
	}
	folder := filepath.Join(dir, id)
	if info, err := os.Lstat(folder); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return ledgerEntry{}, noJob(id)
	} else if err != nil {
		return ledgerEntry{}, fmt.Errorf("reading the entry of job %s: %w", id, err)
	}
	data, err := readBounded(filepath.Join(folder, entryName), mostEntry)
	if err != nil {
		return ledgerEntry{}, fmt.Errorf("reading the entry of job %s: %w", id, err)
	}
	return parseEntry(id, data)
}

func parseEntry(id string, data []byte) (ledgerEntry, error) {
	var e ledgerEntry
	if len(data) > mostEntry {
		return ledgerEntry{}, fmt.Errorf("entry of job %s: larger than %d bytes", id, mostEntry)
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return ledgerEntry{}, fmt.Errorf("entry of job %s: %w", id, err)
	}
	switch {
	case e.Version != entryVersion:
		return ledgerEntry{}, fmt.Errorf("entry of job %s: version %d is not known", id, e.Version)
	case e.ID != id:
		return ledgerEntry{}, fmt.Errorf("entry of job %s: it is of another, %.70q", id, e.ID)
	case !e.sound():
		return ledgerEntry{}, fmt.Errorf("entry of job %s: damaged", id)
	}
	e.Orphan, e.Problem = false, clip(e.Problem, mostCommand)
	return e, nil
}

// sound reports whether a job has valid values.
func (i JobInfo) sound() bool {
	switch i.State {
	case JobRunning, JobEnded, JobLost:
	default:
		return false
	}
	least := min(int64(min(i.PID, i.Runtime, i.Left)), i.Bytes, i.Quota)
	names := max(len(i.Session), len(i.Call), len(i.Title), len(i.Signal))
	texts := max(len(i.Command), len(i.Dir))
	return least >= 0 && i.Quota <= mostData && names <= mostName && texts <= mostCommand
}

// view returns the current state of the job, as far as it is known here.
func (e ledgerEntry) view(dir string, me identity) JobInfo {
	info := e.JobInfo
	if info.State != JobRunning {
		return info
	}
	if n, err := ringTotal(filepath.Join(dir, e.ID, ringName)); err == nil {
		info.Bytes = n
	}
	switch e.Owner.seen(me) {
	case elsewhere:
		info.Problem = "it runs on another machine or in another container"
	case gone:
		info.Input = false
		if e.isRunning(me) {
			info.Orphan, info.Problem = true, "the runtime that ran it is gone"
			break
		}
		info.State, info.Left, info.Problem = JobLost, 0, "the runtime that ran it is gone, and so is its process"
	}
	return info
}

// isRunning reports whether the direct child of a job is certain to run.
func (e ledgerEntry) isRunning(me identity) bool {
	return e.Owner.Host == me.Host && e.Owner.Boot == me.Boot && e.Owner.Space == me.Space && e.PID > 0 && alive(e.PID, e.Start)
}

// FindJob returns a job of a folder, whichever process runs it.
func FindJob(dir, id string) (JobInfo, error) { return find(dir, id, self()) }

func find(dir, id string, me identity) (JobInfo, error) {
	e, err := readLedgerEntry(dir, id)
	if err == nil && e.State == JobRunning && e.Owner.seen(me) == gone {
		e, err = readLedgerEntry(dir, id) // it may have ended its jobs just before
	}
	if errors.Is(err, ErrNoJob) {
		return JobInfo{}, err
	} else if err != nil {
		return JobInfo{ID: id, State: JobDamaged, Problem: clip(err.Error(), mostCommand)}, nil
	}
	return e.view(dir, me), nil
}

// ListJobs returns all jobs of a folder, whichever processes run them, the
// oldest first. A damaged entry is among them as such.
func ListJobs(dir string) ([]JobInfo, error) {
	ids, err := entries(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the ledger of jobs: %w", err)
	}
	me := self()
	var out []JobInfo
	for _, id := range ids {
		if info, err := find(dir, id, me); err == nil {
			out = append(out, info)
		}
	}
	slices.SortFunc(out, byAge)
	return out, nil
}

// entries returns the ids of the jobs of a folder.
func entries(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := f.ReadDir(32 * mostEntries) // no honest folder has more
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	var ids []string
	for _, d := range list {
		if d.IsDir() && validID(d.Name()) {
			ids = append(ids, d.Name())
		}
	}
	return ids, nil
}
