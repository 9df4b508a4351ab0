package tooltest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// notes is a log handler that keeps what the runtime logs as a fault of a tool: a panic, a tool
// that does not end, a record that could not be written.
type notes struct {
	mu   sync.Mutex
	said []string
}

// Enabled reports whether a level is that of a fault.
func (n *notes) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }

// Handle keeps a record.
func (n *notes) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool {
		text += fmt.Sprintf(" %s=%v", a.Key, a.Value)
		return true
	})
	n.mu.Lock()
	defer n.mu.Unlock()
	n.said = append(n.said, text)
	return nil
}

// WithAttrs returns the handler unchanged.
func (n *notes) WithAttrs([]slog.Attr) slog.Handler { return n }

// WithGroup returns the handler unchanged.
func (n *notes) WithGroup(string) slog.Handler { return n }

func (n *notes) snapshot() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.said)
}

// fingerprint returns a text that changes when a name, a mode, a link or the content of a file
// below dir does.
func fingerprint(t *testing.T, dir string) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%q %s\n", path, info.Mode())
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			fmt.Fprintf(h, "%q\n", to)
			return err
		case info.Mode().IsRegular():
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			defer f.Close()
			fmt.Fprintf(h, "%d ", info.Size())
			_, err = io.Copy(h, f)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatalf("looking at the files: %v", err)
	}
	return hex.EncodeToString(h.Sum(nil))
}
