package lspclient

import (
	"cmp"
	"context"
	"github.com/helve-dev/helve/lsp"
	"maps"
	"math"
	"slices"
	"sync"
	"time"
)

// settleOthers gives servers that have just checked a file a moment to report the effects on other
// files, and queries those with errors again.
func (s *Set) settleOthers(ctx context.Context, errands []task) {
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
			_ = l.pull(ctx, d) // what was not answered is not reported
		}
		return
	}
	for _, d := range again {
		if l.able.tsserver {
			_ = l.pullTypeScript(ctx, d)
		} else if l.isOpen(d.path) { // its answer comes behind what it publishes when it looks at the file again
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

// isOpen reports whether a file is open.
func (l *link) isOpen(path string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.docs[path] != nil
}

// faulty reports whether a file has known errors.
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

// exposed returns the files of interest that a change elsewhere may have fixed or broken: those
// with errors, and then the open ones, most recently used first.
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

func hasError(list []lsp.Diagnostic) bool {
	return slices.ContainsFunc(list, func(d lsp.Diagnostic) bool { return d.Severity == 1 })
}

// others returns further files with errors: those still missing from an earlier report, and, if
// requested, all that are known to have errors after the change. known are all other files with
// known diagnostics.
func (s *Set) others(q Question, errands []task) (out, known []lsp.FileReport) {
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
		c.report.Diagnostics = markKnown(c.report.Diagnostics, q.Before, c.report.Path)
		if owed := sift.owed[c.report.Path]; hasError(c.report.Diagnostics) && (q.Others || owed) {
			out = append(out, c.report)
			s.owe(c.report.Path, false)
			continue
		}
		known = append(known, c.report)
	}
	slices.SortStableFunc(out, func(a, b lsp.FileReport) int { return boolean(!hasNewError(a)) - boolean(!hasNewError(b)) })
	return out, known
}

// A candidate is another file that may be worth a report.
type candidate struct {
	report lsp.FileReport
	first  uint64 // when something was first said about it
}

// A sieve collects what all servers report about other files.
type sieve struct {
	q    Question
	owed map[string]bool
	all  []candidate
	at   map[string]int // where a path is in it
}

// take adds the diagnostics of one server; those published up to since may be about earlier texts.
func (v *sieve) take(l *link, since uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for path, f := range l.found {
		version := l.versionOf(path)
		sure := max(f.seq, f.pulledSeq) > since || !l.c.server.isBuiltin() || v.owed[path]
		if d := l.docs[path]; slices.Contains(v.q.Files, path) || !sure || d != nil && !l.settledLocked(d) {
			continue
		}
		i, ok := v.at[path]
		if !ok {
			i, v.at[path] = len(v.all), len(v.all)
			v.all = append(v.all, candidate{report: lsp.FileReport{Path: path, Diagnostics: []lsp.Diagnostic{}}, first: f.first})
		}
		v.all[i].report.Diagnostics = append(v.all[i].report.Diagnostics, f.about(version)...)
	}
}

// hasNewError reports whether the file has an error that was not there before.
func hasNewError(r lsp.FileReport) bool {
	return slices.ContainsFunc(r.Diagnostics, func(d lsp.Diagnostic) bool { return d.Severity == 1 && !d.Old })
}

// certain returns the publication after which all diagnostics are about the present files: the
// server's last one about a changed file; none, if it has not reported on those yet.
func certain(l *link, errands []task) (seq uint64) {
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
