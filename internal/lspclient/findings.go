package lspclient

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"github.com/helve-dev/helve/lsp"
	"slices"
	"time"
)

// The limits of stored diagnostics.
const (
	maxFindings = 2000     // of one file
	maxPaths    = 10_000   // files of one server
	maxFound    = 32 << 20 // bytes of all that one server has found
)

// findings are the latest diagnostics of a file from a server.
type findings struct {
	list    []lsp.Diagnostic
	version int    // of the text they are about; -1 where the server did not say
	seq     uint64 // which publication it was
	first   uint64 // which one was the first about this file
	at      time.Time

	pulled        []lsp.Diagnostic // what it answered when it was asked
	pulledVersion int              // of the text that it was asked about
	pulledSeq     uint64
}

// about returns the diagnostics for a version of a file. Of the published and the pulled ones, the
// newer count: both are complete.
func (f *findings) about(version int) []lsp.Diagnostic {
	if f.pulledSeq == 0 || f.pulledVersion < version || f.seq > f.pulledSeq && f.version == version {
		return f.list
	}
	return f.pulled
}

// published takes what the server has found in a file.
func (l *link) published(params json.RawMessage) {
	var p struct {
		URI         string          `json:"uri"`
		Version     *int            `json:"version"`
		Diagnostics json.RawMessage `json:"diagnostics"`
	}
	if json.Unmarshal(params, &p) != nil {
		l.c.log.Add("helve", "diagnostics that can not be read were dropped")
		return
	}
	path, err := pathOf(p.URI)
	if err != nil {
		return
	}
	l.mu.Lock()
	f := l.findingsOf(path)
	if f == nil {
		l.mu.Unlock()
		return
	}
	l.seq++
	f.list = l.read(path, f.list, p.Diagnostics)
	f.seq, f.at, f.version = l.seq, time.Now(), -1
	f.first = cmp.Or(f.first, l.seq)
	if p.Version != nil {
		f.version = *p.Version
	} else if l.docs[path] != nil {
		l.unnumbered = true
	}
	l.wake()
	l.mu.Unlock()
	if told := l.c.set.opt.OnDiagnostics; told != nil {
		told(l.c.server.Name, path)
	}
}

// findingsOf returns the entry of a file, nil if there are too many; l.mu is held.
func (l *link) findingsOf(path string) *findings {
	f := l.found[path]
	if f == nil {
		if len(l.found) >= maxPaths {
			return nil
		}
		f = &findings{version: -1, pulledVersion: -1}
		l.found[path] = f
	}
	return f
}

// read decodes diagnostics that replace others, and counts their positions in UTF-16. Beyond the
// limit they are dropped. l.mu is held.
func (l *link) read(path string, before []lsp.Diagnostic, raw json.RawMessage) []lsp.Diagnostic {
	for _, d := range before {
		l.bytes -= len(d.Raw)
	}
	out, seen := []lsp.Diagnostic{}, 0
	_ = eachIn(raw, '[', func(_ string, dec *json.Decoder) error { // an unreadable entry ends it
		var one json.RawMessage
		if seen++; seen > maxFindings {
			return errEnough
		}
		if err := dec.Decode(&one); err != nil {
			return err
		}
		var d lsp.Diagnostic
		if l.bytes+len(one) > maxFound || json.Unmarshal(one, &d) != nil {
			return nil
		}
		d.Raw, d.About = one, about(one)
		if doc := l.docs[path]; doc != nil && l.encoding != utf16Units {
			d.Range = lsp.Range{Start: convert(d.Range.Start, doc.lines, l.encoding, utf16Units), End: convert(d.Range.End, doc.lines, l.encoding, utf16Units)}
			d.Raw = replaced(one, d.Range)
		}
		l.bytes += len(d.Raw)
		out = append(out, d)
		return nil
	})
	return out
}

// about returns the other files that a diagnostic refers to. Its text may quote them.
func about(raw json.RawMessage) (files []string) {
	var d struct {
		Related []struct {
			Location struct {
				URI string `json:"uri"`
			} `json:"location"`
		} `json:"relatedInformation"`
	}
	if json.Unmarshal(raw, &d) != nil {
		return nil
	}
	for _, r := range d.Related {
		if path, err := pathOf(r.Location.URI); err == nil && !slices.Contains(files, path) {
			files = append(files, path)
		}
	}
	return files
}

// replaced is a diagnostic with another range.
func replaced(raw json.RawMessage, r lsp.Range) json.RawMessage {
	var o map[string]json.RawMessage
	at, err := json.Marshal(r)
	if err != nil || json.Unmarshal(raw, &o) != nil {
		return raw
	}
	o["range"] = at
	out, err := json.Marshal(o)
	if err != nil {
		return raw
	}
	return out
}

// wake wakes those who wait for an event; l.mu is held.
func (l *link) wake() {
	close(l.news)
	l.news = make(chan struct{})
}

// quiet is how long a server that does not version its diagnostics must be silent before the last
// ones count: some publish in several steps.
const quiet = 150 * time.Millisecond

// settledLocked reports whether the server has said what it has to say about
// the text of a file; l.mu is held. Where it numbers what it publishes, that
// is plain to see. Where it does not, what comes after a change may still be
// about the text before: only if nothing was under way then, or once the
// server has answered a question that was sent after the change, is what comes
// next about the new text. If nothing comes next, waitPushed takes what came
// before the answer, for a server may publish before it answers, unless it is
// the same as was said about the text before.
func (l *link) settledLocked(d *doc) bool {
	settled, _ := l.settles(d)
	return settled
}

// settles also returns how long to wait before checking again if nothing happens; 0 for as long as
// it takes. l.mu is held.
func (l *link) settles(d *doc) (bool, time.Duration) {
	f := l.found[d.path]
	if f == nil {
		return false, 0
	}
	if f.pulledVersion >= d.version {
		return true, 0
	}
	if f.seq <= d.sentSeq {
		return false, 0
	}
	if f.version >= 0 {
		return f.version == d.version, 0
	}
	if !d.calm && (d.barrier == 0 || f.seq <= d.barrier) {
		return false, 0
	}
	if rest := quiet - time.Since(f.at); rest > 0 {
		return false, rest
	}
	return true, 0
}

// errSilent says that a server has read a text and published nothing, although it was queried and
// time has passed: some publish nothing if nothing has changed.
var errSilent = errors.New("it has said nothing about this text yet")

// errMute says that a server has never published anything.
var errMute = errors.New("it never says anything")

// silence is how long a server that does not version its diagnostics may take to publish some for a
// text that it has read.
const silence = time.Second

// Waits for a server that never publishes get shorter: some have nothing to report.
const (
	muteAfter = 2 // whole waits
	muteWait  = time.Second
)

// waitDiagnostics waits until the server has reported on the text of a file.
func (l *link) waitDiagnostics(ctx context.Context, d *doc) error {
	if l.able.tsserver {
		if err := l.pullTypeScript(ctx, d); !unasked(err) {
			return err
		}
	}
	l.mu.Lock()
	mute := l.seq == 0 && l.mute >= muteAfter
	l.mu.Unlock()
	if mute {
		short, cancel := context.WithTimeoutCause(ctx, muteWait, errMute)
		defer cancel()
		ctx = short
	}
	err := l.waitPushed(ctx, d)
	if errors.Is(err, context.DeadlineExceeded) {
		l.mu.Lock()
		l.mute++
		l.mu.Unlock()
	}
	return err
}

// waitPushed is await for a server that has to speak by itself, until it turns out
// that it can be asked.
func (l *link) waitPushed(ctx context.Context, d *doc) error {
	var hush <-chan time.Time
	again := false // it was asked once more
	for {
		if l.supports("textDocument/diagnostic") {
			return l.pull(ctx, d)
		}
		l.mu.Lock()
		settled, rest := l.settles(d)
		news := l.news
		barrier := l.unnumbered && hush == nil && rest == 0
		l.mu.Unlock()
		if settled {
			return nil
		}
		if barrier {
			l.raise(ctx, d)
			hush = time.After(silence)
			continue
		}
		var timer <-chan time.Time
		if rest > 0 {
			timer = time.After(rest)
		}
		select {
		case <-news:
		case <-timer:
		case <-hush:
			l.mu.Lock()
			f, answered := l.found[d.path], d.barrier > 0
			published := f != nil && f.seq > d.sentSeq
			recent := published && time.Since(f.at) < quiet
			differs := published && !slices.EqualFunc(f.list, d.told, func(a, b lsp.Diagnostic) bool { return keyOf(a) == keyOf(b) })
			clean := f != nil && len(f.list) == 0
			l.mu.Unlock()
			switch {
			case !answered && !again:
				again, hush = true, nil
			case answered && recent:
				hush = time.After(quiet)
			case answered && differs:
				return nil
			case answered && (published || clean):
				return errSilent // what it says may be about the text before
			default:
				hush = make(chan time.Time) // it is at work
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-l.conn.done():
			return errors.New("it has ended")
		}
	}
}

// raise sends a request that the server answers only after it has read the text, and records when
// that was.
func (l *link) raise(ctx context.Context, d *doc) {
	l.mu.Lock()
	version := d.version
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	_, err := l.conn.call(ctx, "textDocument/documentSymbol", map[string]any{"textDocument": map[string]any{"uri": d.uri}})
	if _, refused := errors.AsType[*rpcError](err); err != nil && !refused {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if d.version == version {
		d.barrier = max(l.seq, 1)
	}
}

// pull requests the diagnostics of a file.
func (l *link) pull(ctx context.Context, d *doc) error {
	for asked := false; ; {
		version, done := l.versionToPull(d, asked)
		if done {
			return nil
		}
		raw, err := l.conn.call(ctx, "textDocument/diagnostic", map[string]any{"textDocument": map[string]any{"uri": d.uri}})
		if failure, ok := errors.AsType[*rpcError](err); ok && failure.retryable() {
			select { // it was busy with something else
			case <-time.After(50 * time.Millisecond):
				continue
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if err != nil {
			return err
		}
		if err := l.storeDiagnostics(d, version, raw); err != nil {
			return err
		}
		asked = true
	}
}

// versionToPull returns the version to request, or that there is none: after a first answer, only a
// changed text.
func (l *link) versionToPull(d *doc, asked bool) (version int, done bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.findingsOf(d.path)
	if f == nil {
		return 0, true
	}
	return d.version, asked && f.pulledVersion >= d.version
}

// retryable reports whether a question may be asked once more: the server gave up
// on it because something had changed.
func (e *rpcError) retryable() bool {
	const serverCancelled, contentModified = -32802, -32801
	return e.Code == serverCancelled || e.Code == contentModified
}

// A pulledReport is a server's response about one file.
type pulledReport struct {
	Items json.RawMessage `json:"items"`
}

// storeDiagnostics stores a server's response about a file, and about others.
func (l *link) storeDiagnostics(d *doc, version int, raw json.RawMessage) error {
	var report struct {
		pulledReport
		Related map[string]pulledReport `json:"relatedDocuments"`
	}
	if err := json.Unmarshal(raw, &report); err != nil {
		return errors.New("its answer can not be read")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seq++
	for uri, r := range report.Related {
		if path, err := pathOf(uri); err == nil && path != d.path {
			l.keepPulled(path, -1, r)
		}
	}
	l.keepPulled(d.path, version, report.pulledReport)
	l.wake()
	return nil
}

// keepPulled stores one response; l.mu is held.
func (l *link) keepPulled(path string, version int, r pulledReport) {
	f := l.findingsOf(path)
	if f == nil {
		return
	}
	if d := l.docs[path]; d != nil && version < 0 {
		version = d.version
	}
	if version < f.pulledVersion && l.docs[path] != nil {
		return // something newer is known
	}
	f.pulled = l.read(path, f.pulled, r.Items)
	f.pulledVersion, f.pulledSeq, f.at = version, l.seq, time.Now()
	f.first = cmp.Or(f.first, l.seq)
}
