//go:build unix

package agentconfig

import (
	"os"
	"syscall"
	"testing"
)

// TestOwnerIsKept needs to be run by root, who alone can give a file away.
func TestOwnerIsKept(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	r := request(t, Gemini)
	put(t, r.path(), "{}")
	ok(t, os.Chown(r.path(), 1234, 2345))
	p, err := Prepare(r)
	ok(t, err)
	ok(t, p.Apply())
	info, err := os.Stat(r.path())
	ok(t, err)
	if st := info.Sys().(*syscall.Stat_t); st.Uid != 1234 || st.Gid != 2345 || info.Mode().Perm() != 0o644 {
		t.Errorf("owner %d:%d, mode %o", st.Uid, st.Gid, info.Mode().Perm())
	}
}

// TestPipe makes sure that a pipe in place of a file is not waited for.
func TestPipe(t *testing.T) {
	r := request(t, Cursor)
	put(t, r.path(), "")
	ok(t, os.Remove(r.path()))
	ok(t, syscall.Mkfifo(r.path(), 0o600))
	if _, err := Prepare(r); err == nil {
		t.Error("a pipe was read")
	}
}
