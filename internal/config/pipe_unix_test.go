//go:build unix

package config

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestPipes: a pipe in a config file's place is refused without waiting for
// somebody to write into it, and in a folder it keeps that from being trusted.
func TestPipes(t *testing.T) {
	_, opt := project(t)
	tools := filepath.Join(opt.Dir, ".opencode/tool")
	if err := os.MkdirAll(tools, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(opt.Dir, "opencode.json"), filepath.Join(tools, "a.ts")} {
		if err := syscall.Mkfifo(path, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	expectVoid(t, load(t, opt), "cannot be read: not a regular file")
	if got, err := trustNow(opt, ".opencode"); err == nil {
		t.Errorf("trusted %v", got)
	}
}

// A file that is linked to /dev/null is an empty one.
func TestNullFile(t *testing.T) {
	_, opt := project(t)
	if err := os.MkdirAll(filepath.Join(opt.Dir, ".opencode/agent"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"opencode.json", ".opencode/agent/build.md"} {
		if err := os.Symlink(os.DevNull, filepath.Join(opt.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if c := load(t, opt); c.PolicyError != nil {
		t.Errorf("everything is denied: %v", c.PolicyError)
	}
}
