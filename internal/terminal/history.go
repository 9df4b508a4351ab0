package terminal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/helve-dev/helve/internal/disk"
)

// maxHistory is how many entries a history keeps.
const maxHistory = 500

// A History holds the lines a person entered before, in a file that only they can read, one JSON
// string a line.
type History struct {
	path    string
	entries []string // oldest first
	err     error    // of the last entry that was to be kept
}

// OpenHistory reads a history. A missing file is an empty one; lines that cannot be read are left
// out.
func OpenHistory(path string) (*History, error) {
	h := &History{path: path}
	body, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return h, fmt.Errorf("reading the history of prompts: %w", err)
	}
	lines := 0
	for line := range bytes.Lines(body) {
		lines++
		var entry string
		if json.Unmarshal(line, &entry) == nil && entry != "" {
			h.entries = append(h.entries, entry)
		}
	}
	h.entries = h.entries[max(len(h.entries)-maxHistory, 0):]
	if lines > 2*maxHistory {
		err = h.rewrite()
	}
	return h, err
}

// Err returns why the last entry could not be saved; nil if it was.
func (h *History) Err() error { return h.err }

// add keeps an entry, but for blank ones, repeated ones and those that begin
// with a blank.
func (h *History) add(entry string) {
	entry = strings.TrimRight(entry, " \n\t")
	n := len(h.entries)
	if entry == "" || entry[0] == ' ' || n > 0 && h.entries[n-1] == entry {
		return
	}
	h.entries = append(h.entries, entry)
	h.entries = h.entries[max(len(h.entries)-maxHistory, 0):]
	h.err = h.append(entry)
}

func (h *History) append(entry string) error {
	line, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(h.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// rewrite reduces the file to the entries that are kept.
func (h *History) rewrite() error {
	var body []byte
	for _, entry := range h.entries {
		line, err := json.Marshal(entry)
		if err != nil {
			return err
		}
		body = append(append(body, line...), '\n')
	}
	return disk.ReplaceSmall(h.path, body, true)
}
