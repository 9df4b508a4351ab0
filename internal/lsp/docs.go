package lsp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"time"

	"helve/internal/charset"
)

// What is given to servers.
const (
	maxText  = 8 << 20  // bytes of one file
	maxOpen  = 200      // files that are open in one server
	maxTexts = 64 << 20 // bytes of all of them
)

// A doc is a file that is open in a server, as it was last sent. Its fields
// change under the link's mu; text, lines and stamp also under syncing.
type doc struct {
	path    string
	uri     string
	version int
	text    string
	lines   lines
	stamp   stamp
	used    uint64
	sentSeq uint64 // how many publications there had been when this text was sent
	calm    bool   // what the server had to say about the text before had come
	barrier uint64 // how many publications there were when the server had read the text; 0 before
}

// A stamp tells apart what was on disk at two times.
type stamp struct {
	size  int64
	mtime time.Time
}

func stampOf(info fs.FileInfo) stamp { return stamp{info.Size(), info.ModTime()} }

// errNotText says that a file is nothing that a server could be given.
var errNotText = errors.New("it is no text")

// readText reads a file as text.
func readText(path string) (string, stamp, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", stamp{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", stamp{}, err
	case !info.Mode().IsRegular():
		return "", stamp{}, fmt.Errorf("%s is no regular file", path)
	case info.Size() > maxText:
		return "", stamp{}, fmt.Errorf("%s is larger than %d MiB, which is more than language servers are given", path, maxText>>20)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err != nil {
		return "", stamp{}, err
	}
	text, err := charset.Decode(data)
	if err != nil {
		return "", stamp{}, fmt.Errorf("%s: %w", path, errNotText)
	}
	return text.Raw(), stampOf(info), nil
}

// sync brings a file to the server as it is on disk: opens it, or sends what
// has changed. Where nothing has, it sends nothing.
func (l *link) sync(path string) (*doc, error) {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	l.mu.Lock()
	d := l.docs[path]
	l.uses++
	if d != nil {
		d.used = l.uses
	}
	l.mu.Unlock()
	text, at, err := readText(path)
	if errors.Is(err, fs.ErrNotExist) && d != nil {
		l.shut(d)
	}
	if err != nil {
		return nil, err
	}
	if d == nil {
		return l.begin(path, text, at)
	}
	if d.text == text {
		d.stamp = at
		return d, nil
	}
	return d, l.send(d, text, at)
}

// begin opens a file in the server; l.syncing is held.
func (l *link) begin(path, text string, at stamp) (*doc, error) {
	d := &doc{path: path, uri: uriOf(path), text: text, lines: newLines(text), stamp: at}
	l.mu.Lock()
	d.used, d.sentSeq = l.uses, l.seq
	d.calm = l.found[path] == nil // nothing is known, so nothing old can be on its way
	l.docs[path] = d
	surplus := l.surplus(d)
	l.mu.Unlock()
	for _, old := range surplus {
		l.shut(old)
	}
	l.tree.noted(path)
	return d, errors.Join(
		l.conn.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
			"uri": d.uri, "languageId": languageID(path), "version": d.version, "text": text,
		}}),
		l.saved(d), // it may have changed since others that need it were looked at
	)
}

// surplus are the files that have to be closed because too much is open, those
// first that were not used for longest; l.mu is held.
func (l *link) surplus(keep *doc) (out []*doc) {
	all, bytes := make([]*doc, 0, len(l.docs)), 0
	for _, d := range l.docs {
		all, bytes = append(all, d), bytes+len(d.text)
	}
	if len(all) <= maxOpen && bytes <= maxTexts {
		return nil
	}
	slices.SortFunc(all, func(a, b *doc) int { return cmp.Compare(a.used, b.used) })
	for i, d := range all {
		if len(all)-i <= maxOpen && bytes <= maxTexts || d == keep {
			break
		}
		out, bytes = append(out, d), bytes-len(d.text)
	}
	return out
}

// send sends the new text of an open file; l.syncing is held.
func (l *link) send(d *doc, text string, at stamp) error {
	change := map[string]any{"text": text}
	if l.able.incremental {
		r, part := minimalChange(d.text, text, l.encoding)
		change = map[string]any{"range": r, "text": part}
	}
	l.mu.Lock()
	d.calm = l.settledLocked(d)
	d.version++
	l.lastSent = l.seq
	d.text, d.lines, d.stamp, d.sentSeq, d.barrier = text, newLines(text), at, l.seq, 0
	version := d.version
	l.mu.Unlock()
	if err := l.watched(FileChange{d.path, Altered}); err != nil {
		return err
	}
	return errors.Join(
		l.conn.notify("textDocument/didChange", map[string]any{
			"textDocument": map[string]any{"uri": d.uri, "version": version}, "contentChanges": []any{change},
		}),
		l.saved(d),
	)
}

// saved tells a server that wants to know it that the text is on disk: some
// check a file only then.
func (l *link) saved(d *doc) error {
	if !l.able.saves {
		return nil
	}
	params := map[string]any{"textDocument": map[string]any{"uri": d.uri}}
	if l.able.savesText {
		params["text"] = d.text
	}
	return l.conn.notify("textDocument/didSave", params)
}

// shut closes a file in the server; l.syncing is held.
func (l *link) shut(d *doc) {
	l.mu.Lock()
	delete(l.docs, d.path)
	l.mu.Unlock()
	_ = l.conn.notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": d.uri}}) // a server that is gone needs no more
}

// watched tells the server that files have changed on disk.
func (l *link) watched(changes ...FileChange) error {
	events := make([]any, len(changes))
	for i, ch := range changes {
		events[i] = map[string]any{"uri": uriOf(ch.Path), "type": ch.Kind}
		l.tree.noted(ch.Path)
	}
	l.mu.Lock()
	l.lastSent = l.seq
	l.mu.Unlock()
	return l.conn.notify("workspace/didChangeWatchedFiles", map[string]any{"changes": events})
}

// absorb tells the server about changes on disk: what is open is sent anew.
func (l *link) absorb(changes []FileChange) {
	const most = 1000 // in one message
	var rest []FileChange
	for _, ch := range changes {
		if !inside(l.c.root, ch.Path) || !l.watches(ch) {
			continue
		}
		l.mu.Lock()
		_, open := l.docs[ch.Path]
		if ch.Kind == Deleted {
			l.forget(ch.Path)
		}
		l.mu.Unlock()
		if open && ch.Kind != Deleted {
			_, _ = l.sync(ch.Path) // one that can not be read is as good as gone
			continue
		}
		if open {
			l.syncing.Lock()
			l.shut(&doc{path: ch.Path, uri: uriOf(ch.Path)})
			l.syncing.Unlock()
		}
		rest = append(rest, ch)
	}
	for part := range slices.Chunk(rest, most) {
		_ = l.watched(part...) // a server that is gone needs no more
	}
	l.reveal(rest)
}

// forget drops what was found in a file; l.mu is held.
func (l *link) forget(path string) {
	if f := l.found[path]; f != nil {
		l.read(path, f.list, nil)
		l.read(path, f.pulled, nil)
		delete(l.found, path)
	}
}

// reveal makes sure that a server acts on changes of files that are not open
// in it.
func (l *link) reveal(changes []FileChange) {
	const most = 20
	if len(changes) == 0 {
		return
	}
	if l.c.server.looks {
		for _, ch := range changes[:min(len(changes), most)] {
			if ch.Kind != Deleted && l.c.server.matches(ch.Path) {
				_, _ = l.sync(ch.Path) // one that can not be read is none of its
			}
		}
	}
	l.mu.Lock()
	var open *doc
	for _, d := range l.docs {
		open = d
		break
	}
	l.mu.Unlock()
	if open != nil { // some look at what others need only when something is saved
		l.syncing.Lock()
		_ = l.saved(open)
		l.syncing.Unlock()
	}
}

// watches reports whether the server is to be told of a change: it asked for
// it, or the file is one of its language.
func (l *link) watches(ch FileChange) bool {
	if l.wants(ch.Path) {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.registered {
		if r.watchers != nil && r.watchers.wants(ch.Path, ch.Kind) {
			return true
		}
	}
	return false
}

// refresh looks at the files that are open, and sends what others have changed.
func (l *link) refresh() {
	l.mu.Lock()
	open := make([]*doc, 0, len(l.docs))
	for _, d := range l.docs {
		open = append(open, d)
	}
	l.mu.Unlock()
	slices.SortFunc(open, func(a, b *doc) int { return cmp.Compare(a.path, b.path) })
	for _, d := range open {
		info, err := os.Lstat(d.path)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			info, err = os.Stat(d.path)
		}
		l.syncing.Lock()
		same := err == nil && stampOf(info) == d.stamp
		l.syncing.Unlock()
		switch {
		case same:
		case errors.Is(err, fs.ErrNotExist):
			l.absorb([]FileChange{{d.path, Deleted}})
		default:
			_, _ = l.sync(d.path) // one that can not be read any more stays as it was
		}
	}
}

// Changed says that helve has changed files. Servers that run hear of it now;
// others will read the files as they are.
func (s *Set) Changed(changes ...FileChange) {
	for _, l := range s.links() {
		if slices.ContainsFunc(changes, func(ch FileChange) bool { return l.c.server.renews(ch.Path) && inside(l.c.root, ch.Path) }) {
			s.spawn(l.c.reset) // what it depends on has changed: it starts anew with its next use
			continue
		}
		s.spawn(func() { l.absorb(changes) })
	}
}

// Doubt says that something else, such as a command, may have changed files.
// Before the next answer it is looked.
func (s *Set) Doubt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doubt = true
}

// lookPause is how long to wait after a look that did not come to its end.
const lookPause = 5 * time.Second

// flush brings to the servers that run what has changed without their
// knowing it.
func (s *Set) flush(ctx context.Context) {
	s.mu.Lock()
	doubt := s.doubt && time.Since(s.looked) > lookPause
	if doubt {
		s.doubt, s.looked = false, time.Time{}
	}
	s.mu.Unlock()
	for _, l := range s.links() {
		l.refresh()
		if !doubt {
			continue
		}
		changes, complete := l.tree.look(ctx)
		if !complete { // the rest is looked at later, so that one answer does not wait for all of it
			s.mu.Lock()
			s.doubt, s.looked = true, time.Now()
			s.mu.Unlock()
		}
		if slices.ContainsFunc(changes, func(ch FileChange) bool { return l.c.server.renews(ch.Path) }) {
			l.c.reset()
			continue
		}
		l.absorb(changes)
	}
}
