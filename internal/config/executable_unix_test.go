//go:build unix

package config

import (
	"os"
	"path/filepath"
	"testing"
)

// A file that becomes executable becomes a tool, so it has to be trusted again.
func TestExecutableCounts(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, "tool", "x.sh")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	digest := func() string {
		w := walker{root: root, keep: func(string, []byte) {}}
		hash, err := w.hashFiles()
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	before := digest()
	if err := os.Chmod(file, 0o755); err != nil {
		t.Fatal(err)
	}
	if digest() == before {
		t.Error("the digest does not tell that it can be run now")
	}
}
