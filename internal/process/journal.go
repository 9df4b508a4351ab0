package process

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/helve-dev/helve/internal/text"
)

// The limits of a journal.
const (
	keptLines  = 1000
	keptBytes  = 256 << 10
	keptLine   = 4 << 10 // of one line
	fileBytes  = 1 << 20 // of one log file; one old one is kept
	burstLines = 2000    // as many at once, and
	lineRate   = 500     // as many a second
)

// A Journal is the log of one program: the last lines in memory, and more of
// them in a file where there is a folder for it. It is safe for concurrent use.
type Journal struct {
	path string // "" for none

	mu      sync.Mutex
	ring    []journalLine
	bytes   int
	file    *os.File
	size    int64
	broken  bool // the file could not be written
	closed  bool
	tokens  float64
	filled  time.Time
	muted   bool // too much came
	dropped int
}

type journalLine struct{ from, line string }

// NewJournal returns the journal of a program, with a file in the folder if folder is not "". The
// file and the folder are created on the first write; if that fails, the lines stay in memory and
// no error is reported.
func NewJournal(folder, name string) *Journal {
	j := &Journal{tokens: burstLines, filled: time.Now()}
	if folder != "" {
		j.path = filepath.Join(folder, fileName(name)+".log")
	}
	return j
}

// JournalFiles returns the names of the files with a program's output, whichever process ran it,
// the older one first. They may be missing.
func JournalFiles(folder, name string) []string {
	if folder == "" {
		return nil
	}
	path := NewJournal(folder, name).path
	return []string{path + ".1", path}
}

// fileName is a name for a file that no two programs share.
func fileName(name string) string {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, name)
	if plain == name && plain != "" && len(plain) <= 64 {
		return plain
	}
	sum := sha256.Sum256([]byte(name))
	return plain[:min(len(plain), 64)] + "-" + hex.EncodeToString(sum[:4])
}

// Add adds a line with its source: stderr, stdout, log or helve. When lines come too fast, they are
// dropped and counted, but never our own.
func (j *Journal) Add(from, line string) {
	if strings.TrimSpace(line) == "" {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	now := time.Now()
	j.tokens = min(burstLines, j.tokens+lineRate*now.Sub(j.filled).Seconds())
	j.filled = now
	j.muted = j.tokens < 1 || j.muted && j.tokens < burstLines/10
	if j.muted && from != "helve" {
		j.dropped++
		return
	}
	j.tokens--
	if j.dropped > 0 {
		j.appendLine(now, "helve", text.Count(j.dropped, "line was", "lines were")+" dropped: there were too many at once")
		j.dropped = 0
	}
	j.appendLine(now, from, line)
}

func (j *Journal) appendLine(now time.Time, from, line string) {
	if short, cut := text.Cut(line, keptLine); cut {
		line = short + "…"
	}
	line = strings.ToValidUTF8(strings.ReplaceAll(line, "\n", "\\n"), "\ufffd")
	line = now.UTC().Format("2006-01-02T15:04:05.000Z") + " " + from + ": " + line
	j.ring = append(j.ring, journalLine{from, line})
	j.bytes += len(line)
	drop := 0
	for len(j.ring)-drop > keptLines || j.bytes > keptBytes {
		j.bytes -= len(j.ring[drop].line)
		drop++
	}
	j.ring = j.ring[drop:]
	if j.path == "" || j.broken || j.closed {
		return
	}
	if err := j.openFile(int64(len(line) + 1)); err != nil {
		j.broken = true
		return
	}
	n, err := j.file.WriteString(line + "\n")
	j.size += int64(n)
	j.broken = err != nil
}

// openFile opens the file, and begins a new one when n more bytes are too many.
func (j *Journal) openFile(n int64) error {
	if j.file != nil && j.size+n <= fileBytes {
		return nil
	}
	if j.file != nil {
		j.file.Close()
		j.file = nil
		if err := os.Rename(j.path, j.path+".1"); err != nil {
			return fmt.Errorf("log: %w", err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(j.path), 0o700); err != nil {
		return fmt.Errorf("log: %w", err)
	}
	f, err := os.OpenFile(j.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("log: %w", err)
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		f.Close()
		return fmt.Errorf("log: %s is no regular file", j.path)
	}
	j.file, j.size = f, info.Size()
	if j.size > 0 && j.size+n > fileBytes {
		return j.openFile(n)
	}
	return nil
}

// Message adds what a program logs through its protocol; data that is not text is added as JSON.
func (j *Journal) Message(level, logger string, data any) {
	s, ok := data.(string)
	if !ok {
		b, err := json.Marshal(data)
		if err != nil {
			return
		}
		s = string(b)
	}
	if logger != "" {
		s = logger + ": " + s
	}
	if level != "" {
		s = "[" + level + "] " + s
	}
	j.Add("log", s)
}

// Lines returns the lines in memory, oldest first, each with its time.
func (j *Journal) Lines() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := make([]string, len(j.ring))
	for i, e := range j.ring {
		out[i] = e.line
	}
	return out
}

// Last returns the last lines of a source, at most n, unchanged: the last output of a program that
// has ended.
func (j *Journal) Last(from string, n int) []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []string
	for _, e := range j.ring {
		if e.from == from {
			_, said, _ := strings.Cut(e.line, from+": ")
			out = append(out, said)
		}
	}
	return out[max(0, len(out)-n):]
}

// Close closes the file. Later lines stay in memory only.
func (j *Journal) Close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
	if j.file != nil {
		j.file.Close()
		j.file = nil
	}
}
