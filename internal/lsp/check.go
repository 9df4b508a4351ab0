package lsp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
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
type Baseline map[string][]Diagnostic

// baselineTime is how long a change waits for what servers are just finding in
// a file as it was.
const baselineTime = 200 * time.Millisecond

// Before is what is known now, to tell later what is new. Files that a server
// is just looking at get a moment.
func (s *Set) Before(ctx context.Context, files ...string) Baseline {
	ctx, cancel := context.WithTimeout(ctx, baselineTime)
	defer cancel()
	out := Baseline{}
	for _, l := range s.links() {
		for _, file := range files {
			l.mu.Lock()
			d := l.docs[s.named(file)]
			unsettled := d != nil && !l.settledLocked(d)
			l.mu.Unlock()
			if unsettled {
				_ = l.await(ctx, d) // then nothing is known of it
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

// versionOf numbers the text of a file that is open, -1 for another; l.mu is
// held.
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

// Check brings files to their servers as they are on disk, waits for what the
// servers find in exactly these texts, and reports it. It waits as long as the
// options say at the most; what has not come then is pending.
func (s *Set) Check(ctx context.Context, q Question) Report {
	ctx, cancel := context.WithTimeout(ctx, s.opt.Wait)
	defer cancel()
	asked := map[string]string{} // what files were called by who asked
	q.Files = slices.Clone(q.Files)
	for i, file := range q.Files {
		q.Files[i] = s.named(file)
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
	for _, list := range [][]Pending{out.Pending, out.Missing} {
		for i := range list {
			list[i].Path = asked[list[i].Path]
		}
	}
	return out
}

// An errand is a file that was brought to a server.
type errand struct {
	path   string
	client *client
	link   *link
	doc    *doc
	err    error
	sent   int  // the number of the text that was brought
	fresh  bool // what is known is about that text
	found  []Diagnostic
	seq    uint64 // the publication that said so
}

// errands brings files to all their servers, which are started if they have to
// be, side by side.
func (s *Set) errands(ctx context.Context, files []string) []errand {
	var errands []errand
	for _, file := range files {
		for _, m := range s.matches(file) {
			c, err := s.client(m)
			errands = append(errands, errand{path: file, client: c, err: err})
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
	_, _ = c.ensure(ctx) // who needs it is told
}

// wait waits for what the server finds. A file that was not changed, in a
// server that has heard of another change since, gets a moment to be looked at
// again.
func (v *errand) wait(ctx context.Context, unchanged bool) {
	l := v.link
	defer v.client.use()()
	if unchanged {
		v.rest(ctx)
	}
	v.err = l.await(ctx, v.doc)
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

// errOvertaken says that a file has another text by now than the one that was
// to be looked at.
var errOvertaken = errors.New("the file was changed again before it was checked")

// rest waits until the server has published the file since it was last told of
// a change, or has been silent for a while.
func (v *errand) rest(ctx context.Context) {
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

// report puts together what the errands have brought.
func (s *Set) report(ctx context.Context, q Question, errands []errand) Report {
	var out Report
	for _, file := range q.Files {
		r, known, pending := s.fileReport(file, q.Before, errands)
		if known {
			out.Files = append(out.Files, r)
		}
		out.Pending = append(out.Pending, pending...)
		out.Missing = append(out.Missing, missing(file, errands)...)
		s.owe(file, len(pending) > 0)
	}
	if q.Others {
		s.settleOthers(ctx, errands)
	}
	out.Others, out.Known = s.others(q, errands)
	return out
}

// missing are the servers of a file that are not on this machine.
func missing(file string, errands []errand) (out []Pending) {
	for _, v := range errands {
		if m, ok := errors.AsType[*Missing](v.err); ok && v.path == file {
			out = append(out, Pending{Server: m.Server, Path: file, Why: m.Why, Failed: true})
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

// fileReport is what the servers of one file say.
func (s *Set) fileReport(file string, before Baseline, errands []errand) (r FileReport, known bool, pending []Pending) {
	r = FileReport{Path: file, Diagnostics: []Diagnostic{}}
	for _, v := range errands {
		switch {
		case v.path != file:
		case v.fresh:
			known = true
			r.Diagnostics = append(r.Diagnostics, v.found...)
		default:
			if why, failed := v.why(); why != "" || failed {
				pending = append(pending, Pending{v.client.server.ID, file, why, failed})
			}
		}
	}
	r.Diagnostics = marked(r.Diagnostics, before, file)
	return r, known, pending
}

// why says why a server has nothing to say about a file, and whether that is
// because it is not at work; "" where that needs no telling.
func (v *errand) why() (why string, failed bool) {
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

// keyOf tells apart what a server found, wherever it stands by now.
func keyOf(d Diagnostic) string {
	return fmt.Sprintf("%d\x00%s\x00%s\x00%s", d.Severity, d.Source, d.Code, d.Message)
}

// marked marks what was there before.
func marked(list []Diagnostic, before Baseline, path string) []Diagnostic {
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

// settleOthers gives servers that have just checked a file a moment to say
// what that means for others, and asks again about those that had errors.
func (s *Set) settleOthers(ctx context.Context, errands []errand) {
	ctx, cancel := context.WithTimeout(ctx, otherTime)
	defer cancel()
	var wg sync.WaitGroup
	seen := map[*link]bool{}
	for _, v := range errands {
		if v.link == nil || !v.fresh || seen[v.link] {
			continue
		}
		seen[v.link] = true
		wg.Go(func() { v.link.calmDown(ctx) })
	}
	wg.Wait()
}

// calmDown asks the server about the files that it has found errors in and
// those that are open, where it can be asked, and waits until it is silent.
func (l *link) calmDown(ctx context.Context) {
	again, pulls := l.exposed(), l.supports("textDocument/diagnostic")
	again = again[:min(len(again), verifyMost)]
	if pulls {
		for _, d := range again {
			_ = l.pull(ctx, d) // what is not answered is not told
		}
		return
	}
	for _, d := range again {
		if l.able.tsserver {
			_ = l.pullTypeScript(ctx, d)
		} else if l.opened(d.path) { // its answer comes behind what it publishes when it looks at the file again
			_, _ = l.conn.call(ctx, "textDocument/documentSymbol", map[string]any{"textDocument": map[string]any{"uri": d.uri}})
		}
	}
	if l.able.tsserver && !slices.ContainsFunc(again, l.faulty) {
		return
	}
	l.hush(ctx)
	for _, d := range again { // the checker sees new files by itself, and that may take a moment
		if l.able.tsserver && l.faulty(d) {
			_ = l.pullTypeScript(ctx, d)
		}
	}
}

// opened reports whether a file is open.
func (l *link) opened(path string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.docs[path] != nil
}

// faulty reports whether errors are known in a file.
func (l *link) faulty(d *doc) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.found[d.path]
	return f != nil && hasError(f.about(l.versionOf(d.path)))
}

// hush waits until the server is silent.
func (l *link) hush(ctx context.Context) {
	for {
		l.mu.Lock()
		news := l.news
		l.mu.Unlock()
		select {
		case <-news:
		case <-time.After(lull):
			return
		case <-ctx.Done():
			return
		}
	}
}

// exposed are the files that a change elsewhere may have mended or broken, and
// that are of interest: those with errors, and then those that are open, the
// ones first that were used last.
func (l *link) exposed() (out []*doc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var open []*doc
	for path, d := range l.docs {
		if f := l.found[path]; f == nil || !hasError(f.about(d.version)) {
			open = append(open, d)
		}
	}
	for path, f := range l.found {
		if !hasError(f.about(l.versionOf(path))) {
			continue
		}
		d := l.docs[path]
		if d == nil { // it can be asked about without being open
			d = &doc{path: path, uri: uriOf(path), version: -1}
		}
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b *doc) int { return cmp.Compare(a.path, b.path) })
	slices.SortFunc(open, func(a, b *doc) int { return cmp.Compare(b.used, a.used) })
	return append(out, open...)
}

func hasError(list []Diagnostic) bool {
	return slices.ContainsFunc(list, func(d Diagnostic) bool { return d.Severity == 1 })
}

// others are further files with errors: those that an earlier report owes, and
// if it is asked for all that are known to be so after the change. known are
// all other files that something is known of.
func (s *Set) others(q Question, errands []errand) (out, known []FileReport) {
	s.mu.Lock()
	sift := sieve{q: q, owed: maps.Clone(s.owed), at: map[string]int{}}
	s.mu.Unlock()
	for _, l := range s.links() {
		sift.take(l, certain(l, errands))
	}
	slices.SortFunc(sift.all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.report.Path, b.report.Path))
	})
	for _, c := range sift.all[:min(len(sift.all), maxReported)] {
		c.report.Diagnostics = marked(c.report.Diagnostics, q.Before, c.report.Path)
		if owed := sift.owed[c.report.Path]; hasError(c.report.Diagnostics) && (q.Others || owed) {
			out = append(out, c.report)
			s.owe(c.report.Path, false)
			continue
		}
		known = append(known, c.report)
	}
	slices.SortStableFunc(out, func(a, b FileReport) int { return boolean(!a.fresh()) - boolean(!b.fresh()) })
	return out, known
}

// A candidate is another file that may be worth a report.
type candidate struct {
	report FileReport
	first  uint64 // when something was first said about it
}

// A sieve gathers what all servers say about other files.
type sieve struct {
	q    Question
	owed map[string]bool
	all  []candidate
	at   map[string]int // where a path is in it
}

// take takes what one server says; before a publication, since, it may have
// been about other texts.
func (v *sieve) take(l *link, since uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for path, f := range l.found {
		version := l.versionOf(path)
		sure := max(f.seq, f.pulledSeq) > since || !l.c.server.known() || v.owed[path]
		if d := l.docs[path]; slices.Contains(v.q.Files, path) || !sure || d != nil && !l.settledLocked(d) {
			continue
		}
		i, ok := v.at[path]
		if !ok {
			i, v.at[path] = len(v.all), len(v.all)
			v.all = append(v.all, candidate{report: FileReport{Path: path, Diagnostics: []Diagnostic{}}, first: f.first})
		}
		v.all[i].report.Diagnostics = append(v.all[i].report.Diagnostics, f.about(version)...)
	}
}

// fresh reports whether the file has an error that was not there before.
func (r FileReport) fresh() bool {
	return slices.ContainsFunc(r.Diagnostics, func(d Diagnostic) bool { return d.Severity == 1 && !d.Old })
}

// certain is the publication after which everything that a server says is
// about the files as they are now: the last one that it made about a file that
// was changed; none, where it has not said yet what is wrong with those.
func certain(l *link, errands []errand) (seq uint64) {
	known := true
	for _, v := range errands {
		if v.link == l && v.fresh {
			seq = max(seq, v.seq)
		}
		known = known && (v.link != l || v.fresh)
	}
	if !known {
		return math.MaxUint64
	}
	return seq
}
