package lspclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/helve-dev/helve/internal/charset"
	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/lsp"
)

// The limits of what is sent to servers.
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
	sentSeq uint64           // how many publications there had been when this text was sent
	told    []lsp.Diagnostic // what the server had found when this text was sent
	calm    bool             // what the server had to say about the text before had come
	barrier uint64           // how many publications there were when the server had read the text; 0 before
}

// A stamp identifies the state of a file on disk.
type stamp struct {
	size  int64
	mtime time.Time
}

func stampOf(info fs.FileInfo) stamp { return stamp{info.Size(), info.ModTime()} }

// errNotText says that a file is not text that a server could be sent.
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
// has changed. Where nothing has, it sends nothing. version is the number of the
// text that the server has now.
func (l *link) sync(path string) (d *doc, version int, err error) {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	l.absorbLocked()
	if d, err = l.bring(path); err != nil {
		return nil, 0, err
	}
	return d, d.version, nil // which only changes under this lock
}

// bring is sync; l.syncing is held.
func (l *link) bring(path string) (*doc, error) {
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
		return l.openDoc(path, text, at)
	}
	if d.text == text {
		d.stamp = at
		return d, nil
	}
	return d, l.send(d, text, at)
}

// openDoc opens a file in the server; l.syncing is held.
func (l *link) openDoc(path, text string, at stamp) (*doc, error) {
	d := &doc{path: path, uri: uriOf(path), text: text, lines: newLines(text), stamp: at}
	l.mu.Lock()
	if last, again := l.closed[path]; again { // what is still on its way about an earlier text has a lower number
		d.version = last + 1
	}
	d.used, d.sentSeq = l.uses, l.seq
	d.calm = l.found[path] == nil // nothing is known, so nothing old can be on its way
	l.lastSent = l.seq
	l.docs[path] = d
	surplus := l.surplus(d)
	l.mu.Unlock()
	for _, old := range surplus {
		l.shut(old)
	}
	l.tree.Load().noted(path)
	return d, errors.Join(
		l.conn.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
			"uri": d.uri, "languageId": languageID(path), "version": d.version, "text": text,
		}}),
		l.saved(d), // it may have changed since others that need it were looked at
	)
}

// surplus returns the files that must be closed because too many are open, least recently used
// first; l.mu is held.
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
	d.calm = l.settledLocked(d) && l.seq > l.lastSent
	if f := l.found[d.path]; f != nil {
		d.told = f.list
	}
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

// saved notifies a server that requested it that the text is on disk: some check a file only then.
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
	l.closed[d.path] = d.version
	l.mu.Unlock()
	_ = l.conn.notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": d.uri}}) // a server that is gone needs no more
}

// watched notifies the server of changed files on disk.
func (l *link) watched(changes ...FileChange) error {
	events := make([]any, len(changes))
	for i, ch := range changes {
		events[i] = map[string]any{"uri": uriOf(ch.Path), "type": ch.Kind}
		l.tree.Load().noted(ch.Path)
	}
	l.mu.Lock()
	l.lastSent = l.seq
	l.mu.Unlock()
	return l.conn.notify("workspace/didChangeWatchedFiles", map[string]any{"changes": events})
}

// queueChanges queues changes on disk. The server is notified of them in order, before anything
// else is sent to it.
func (l *link) queueChanges(changes []FileChange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, ch := range changes {
		if disk.Within(l.c.root, ch.Path) {
			l.heard = append(l.heard, ch)
		}
	}
}

// absorb notifies the server of the queued changes.
func (l *link) absorb() {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	l.absorbLocked()
}

// absorbLocked is absorb; l.syncing is held.
func (l *link) absorbLocked() {
	const most = 1000 // in one message
	l.mu.Lock()
	changes := l.heard
	l.heard = nil
	l.mu.Unlock()
	var rest []FileChange
	for _, ch := range changes {
		if l.wants(ch.Path, ch.Kind) && l.take(&ch) {
			rest = append(rest, ch)
		}
	}
	for part := range slices.Chunk(rest, most) {
		_ = l.watched(part...) // a server that is gone needs no more
	}
	l.reveal(rest)
	l.reloadTypeScript(rest)
}

// take sends a change of an open file to the server. It reports whether the server must also be
// notified that the file has changed on disk.
func (l *link) take(ch *FileChange) bool {
	if ch.Kind == Deleted {
		if _, err := os.Lstat(ch.Path); err == nil { // it was made anew
			ch.Kind = Altered
		}
	}
	l.mu.Lock()
	d := l.docs[ch.Path]
	if ch.Kind == Deleted {
		if f := l.found[ch.Path]; f != nil {
			l.read(ch.Path, f.list, nil)
			l.read(ch.Path, f.pulled, nil)
			delete(l.found, ch.Path)
		}
	}
	l.mu.Unlock()
	switch {
	case d == nil:
		return true
	case ch.Kind == Deleted:
		l.shut(d)
		return true
	}
	_, _ = l.bring(ch.Path) // one that cannot be read counts as deleted
	return ch.Kind == Created
}

// reveal makes a server act on changes of files that are not open in it; l.syncing is held.
func (l *link) reveal(changes []FileChange) {
	const most = 20
	if len(changes) == 0 {
		return
	}
	if l.c.server.looks {
		for _, ch := range changes[:min(len(changes), most)] {
			if ch.Kind != Deleted && l.c.server.matches(ch.Path) {
				_, _ = l.bring(ch.Path) // one that cannot be read is ignored
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
		_ = l.saved(open) // a server that is gone needs no more
	}
}

// wants reports whether the server would be notified of a change of a file: it asked for it, or the
// file is in its language or one that marks its root. A kind of 0 stands for any.
func (l *link) wants(path string, kind int) bool {
	if l.c.server.matches(path) || l.c.server.marker(path) {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.registered {
		if r.watchers != nil && r.watchers.wants(path, kind) {
			return true
		}
	}
	return false
}

// newTree takes a snapshot of the files whose changes the server is notified of.
func (l *link) newTree(ctx context.Context) {
	t := newTree(l.c.root, func(rel string) bool { return l.wants(filepath.Join(l.c.root, rel), 0) })
	t.look(ctx)
	missed, _ := l.tree.Swap(t).look(ctx) // what has changed up to now
	l.queueChanges(missed)
}

// refresh checks the open files, and sends what others have changed.
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
			l.queueChanges([]FileChange{{d.path, Deleted}})
			l.absorb()
		default:
			_, _, _ = l.sync(d.path) // one that can no longer be read stays as it was
		}
	}
}

// Changed says that helve has changed files. Running servers are notified now; others will read the
// files when they start.
func (s *Set) Changed(changes ...FileChange) {
	for _, l := range s.links() {
		if slices.ContainsFunc(changes, func(ch FileChange) bool { return l.c.server.renews(ch.Path) && disk.Within(l.c.root, ch.Path) }) {
			s.spawn(l.c.reset) // what it depends on has changed: it starts anew with its next use
			continue
		}
		l.queueChanges(changes)
		s.spawn(l.absorb)
	}
}

// Doubt says that something else, such as a command, may have changed files. They are checked
// before the next query.
func (s *Set) Doubt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doubt = true
}

// How often files are checked for changes by others without a sign of them: so rarely that it takes
// at most a fiftieth of the time.
const (
	lookEvery = 2 * time.Second
	lookShare = 50
)

// lookNow reports whether it is time to check.
func (s *Set) lookNow() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	pause := lookEvery
	switch {
	case !s.doubt:
		pause = max(pause, lookShare*s.lookTook)
	case !s.cut: // the rest of a look that was cut short waits, so that one answer does not wait for all of it
		pause = 0
	}
	if time.Since(s.looked) < pause {
		return false
	}
	s.doubt = false
	return true
}

// flush brings to the servers that run what has changed without their
// knowing it.
func (s *Set) flush(ctx context.Context) {
	links := s.links()
	for _, l := range links {
		l.refresh()
	}
	if len(links) == 0 || !s.lookNow() {
		return
	}
	begun, cut := time.Now(), false
	for _, l := range links {
		changes, complete := l.tree.Load().look(ctx)
		cut = cut || !complete
		if slices.ContainsFunc(changes, func(ch FileChange) bool { return l.c.server.renews(ch.Path) }) {
			l.c.reset()
			continue
		}
		l.queueChanges(changes)
		l.absorb()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looked, s.lookTook, s.cut = time.Now(), time.Since(begun), cut
	s.doubt = s.doubt || cut
}
