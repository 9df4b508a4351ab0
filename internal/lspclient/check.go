package lspclient

import (
	"context"
	"errors"
	"fmt"
	"github.com/helve-dev/helve/lsp"
	"io/fs"
	"slices"
	"sync"
	"time"
)

// Limits of a report.
const (
	maxAwaited  = 64                     // files of one change that are waited for
	maxReported = 100                    // other files
	restTime    = time.Second            // for a file that was not changed itself
	otherTime   = time.Second            // for other files, once the changed ones are known
	lull        = 100 * time.Millisecond // of silence, after which they are known, too
	verifyMost  = 10                     // other files that are asked about again
)

// A Baseline is what was known before a change.
type Baseline map[string][]lsp.Diagnostic

// baselineTime is how long a change waits for what servers are just finding in
// a file as it was.
const baselineTime = 200 * time.Millisecond

// Before returns the present diagnostics, to find new ones later. Files that a server is just
// checking get a moment.
func (s *Set) Before(ctx context.Context, files ...string) Baseline {
	ctx, cancel := context.WithTimeout(ctx, baselineTime)
	defer cancel()
	out := Baseline{}
	for _, l := range s.links() {
		for _, file := range files {
			l.mu.Lock()
			d := l.docs[s.serverPath(file)]
			unsettled := d != nil && !l.settledLocked(d)
			l.mu.Unlock()
			if unsettled {
				_ = l.waitDiagnostics(ctx, d) // then nothing is known of it
			}
		}
		l.mu.Lock()
		for path, f := range l.found {
			list := f.about(l.versionOf(path))
			if out[path] != nil {
				list = slices.Concat(out[path], list)
			}
			out[path] = list
		}
		l.mu.Unlock()
	}
	return out
}

// versionOf returns the version of an open file's text, -1 for others; l.mu is held.
func (l *link) versionOf(path string) int {
	if d := l.docs[path]; d != nil {
		return d.version
	}
	return -1
}

// A Question is what a report is wanted about.
type Question struct {
	Files  []string
	Before Baseline // nil where nothing was changed
	Others bool     // also other files that have errors
}

// Check sends files to their servers as they are on disk, waits for the diagnostics of exactly
// these texts, and reports them. It waits at most as long as the options say; what has not arrived
// by then is pending.
func (s *Set) Check(ctx context.Context, q Question) lsp.Report {
	ctx, cancel := context.WithTimeout(ctx, s.opt.Wait)
	defer cancel()
	asked := map[string]string{} // what files were called by who asked
	q.Files = slices.Clone(q.Files)
	for i, file := range q.Files {
		q.Files[i] = s.serverPath(file)
		asked[q.Files[i]] = file
	}
	s.flush(ctx)
	all := s.errands(ctx, q.Files)
	var wg sync.WaitGroup
	for i := range all {
		if v := &all[i]; v.doc != nil && i < maxAwaited {
			wg.Go(func() { v.wait(ctx, q.Before == nil) })
		}
	}
	wg.Wait()
	out := s.report(ctx, q, all)
	for i := range out.Files {
		out.Files[i].Path = asked[out.Files[i].Path]
	}
	for _, list := range [][]lsp.Pending{out.Pending, out.Missing} {
		for i := range list {
			list[i].Path = asked[list[i].Path]
		}
	}
	return out
}

// A task is a file that was opened in a server.
type task struct {
	path   string
	client *client
	link   *link
	doc    *doc
	err    error
	sent   int  // the number of the text that was brought
	fresh  bool // what is known is about that text
	found  []lsp.Diagnostic
	seq    uint64 // the publication that said so
}

// errands opens files in all their servers, concurrently, starting servers as needed.
func (s *Set) errands(ctx context.Context, files []string) []task {
	var errands []task
	for _, file := range files {
		for _, m := range s.matches(file) {
			c, err := s.client(m)
			errands = append(errands, task{path: file, client: c, err: err})
		}
	}
	var wg sync.WaitGroup
	started := map[*client]bool{}
	for _, v := range errands {
		if v.client != nil && !started[v.client] {
			started[v.client] = true
			wg.Go(func() { v.client.start(ctx) })
		}
	}
	wg.Wait()
	over, cancel := context.WithCancel(ctx)
	cancel() // what has not started by now is not waited for again
	for i := range errands {
		v := &errands[i]
		if v.err != nil {
			continue
		}
		if v.link, v.err = v.client.ensure(over); v.err == nil {
			v.doc, v.sent, v.err = v.link.sync(v.path)
		}
	}
	return errands
}

// start waits for a server to start, but not for long if it was waited for in
// vain before.
func (c *client) start(ctx context.Context) {
	if c.slow() {
		short, cancel := context.WithTimeout(ctx, baselineTime)
		defer cancel()
		ctx = short
	}
	_, _ = c.ensure(ctx) // callers get the error when they need it
}

// wait waits for the server's diagnostics. An unchanged file, in a server that was notified of
// another change since, gets a moment to be checked again.
func (v *task) wait(ctx context.Context, unchanged bool) {
	l := v.link
	defer v.client.acquire()()
	if unchanged {
		v.waitPublished(ctx)
	}
	v.err = l.waitDiagnostics(ctx, v.doc)
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.found[v.path]
	switch {
	case v.err != nil:
	case f == nil || v.doc.version != v.sent:
		v.err = errOvertaken
	default:
		v.fresh, v.found, v.seq = true, f.about(v.sent), max(f.seq, f.pulledSeq)
	}
}

// errOvertaken says that a file has changed since the text that was to be checked.
var errOvertaken = errors.New("the file was changed again before it was checked")

// waitPublished waits until the server has published diagnostics of the file since it was last
// notified of a change, or has been silent for a while.
func (v *task) waitPublished(ctx context.Context) {
	l := v.link
	timer := time.NewTimer(restTime)
	defer timer.Stop()
	for {
		l.mu.Lock()
		f := l.found[v.path]
		waiting := f != nil && l.lastSent > 0 && f.seq <= l.lastSent && l.lastSent > v.doc.sentSeq
		news := l.news
		l.mu.Unlock()
		if !waiting {
			return
		}
		select {
		case <-news:
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		case <-l.conn.done():
			return
		}
	}
}

// report combines the results of the tasks.
func (s *Set) report(ctx context.Context, q Question, errands []task) lsp.Report {
	var out lsp.Report
	for _, file := range q.Files {
		r, known, pending := s.fileReport(file, q.Before, errands)
		if known {
			out.Files = append(out.Files, r)
		}
		out.Pending = append(out.Pending, pending...)
		out.Missing = append(out.Missing, missingServers(file, errands)...)
		s.owe(file, len(pending) > 0)
	}
	if q.Others {
		s.settleOthers(ctx, errands)
	}
	out.Others, out.Known = s.others(q, errands)
	return out
}

// missingServers are the servers of a file that are not on this machine.
func missingServers(file string, errands []task) (out []lsp.Pending) {
	for _, v := range errands {
		if m, ok := errors.AsType[*Missing](v.err); ok && v.path == file {
			out = append(out, lsp.Pending{Server: m.Server, Path: file, Why: m.Why, Failed: true})
		}
	}
	return out
}

// owe notes that a file is still to be reported, or was.
func (s *Set) owe(file string, owed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.owed, file); owed && len(s.owed) < maxReported {
		s.owed[file] = true
	}
}

// fileReport returns the diagnostics of one file from all servers.
func (s *Set) fileReport(file string, before Baseline, errands []task) (r lsp.FileReport, known bool, pending []lsp.Pending) {
	r = lsp.FileReport{Path: file, Diagnostics: []lsp.Diagnostic{}}
	for _, v := range errands {
		switch {
		case v.path != file:
		case v.fresh:
			known = true
			r.Diagnostics = append(r.Diagnostics, v.found...)
		default:
			if why, failed := v.why(); why != "" || failed {
				pending = append(pending, lsp.Pending{Server: v.client.server.Name, Path: file, Why: why, Failed: failed})
			}
		}
	}
	r.Diagnostics = markKnown(r.Diagnostics, before, file)
	return r, known, pending
}

// why says why a server has no result for a file, and whether it is not working; "" if that needs
// no explanation.
func (v *task) why() (why string, failed bool) {
	if _, missing := errors.AsType[*Missing](v.err); missing || errors.Is(v.err, errNotText) || errors.Is(v.err, fs.ErrNotExist) || errors.Is(v.err, errSetClosed) {
		return "", false
	}
	if gone, ok := errors.AsType[*Unavailable](v.err); ok {
		v.client.mu.Lock()
		starting := v.client.trying != nil
		v.client.mu.Unlock()
		if starting {
			return "it is still starting", false
		}
		return v.client.complaint(gone), true
	}
	switch {
	case errors.Is(v.err, errMute):
		return "", false
	case errors.Is(v.err, errSilent), errors.Is(v.err, errOvertaken):
		return v.err.Error(), false
	case errors.Is(v.err, context.Canceled):
		return "the call was cancelled", false
	case v.err == nil || errors.Is(v.err, context.DeadlineExceeded):
		return fmt.Sprintf("it has not checked this text within %s", v.client.set.opt.Wait), false
	}
	return v.err.Error(), true
}

// keyOf identifies a diagnostic independent of its position.
func keyOf(d lsp.Diagnostic) string {
	return fmt.Sprintf("%d\x00%s\x00%s\x00%s", d.Severity, d.Source, d.Code, d.Message)
}

// markKnown marks the diagnostics that existed before.
func markKnown(list []lsp.Diagnostic, before Baseline, path string) []lsp.Diagnostic {
	list = slices.Clone(list)
	old := map[string]int{}
	for _, d := range before[path] {
		old[keyOf(d)]++
	}
	for i := range list {
		if key := keyOf(list[i]); old[key] > 0 {
			old[key]--
			list[i].Old = true
		}
	}
	return list
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}
