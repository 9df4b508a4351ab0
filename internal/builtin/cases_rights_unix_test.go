//go:build unix

package builtin_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/helve-dev/helve/permission"
)

// TestCasesReadOnly is WR14, in edit and apply_patch too: what this user may
// not write is not replaced by a new file either. The superuser may write
// everything, and so runs it in a process of nobody's.
func TestCasesReadOnly(t *testing.T) {
	const nobody, mark = 65534, "HELVE_TEST_AS_NOBODY"
	switch {
	case os.Geteuid() != 0:
	case os.Getenv(mark) != "":
		for _, err := range []error{syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody)} {
			if err != nil {
				t.Fatal(err)
			}
		}
	default:
		dir := t.TempDir()
		if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Skipf("there is nobody to be: %v", err)
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestCasesReadOnly$", "-test.v")
		cmd.Env = append(os.Environ(), mark+"=1", "TMPDIR="+dir, "HOME="+dir)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	t.Run("WR14", caseReadOnlyFile)
}

func caseReadOnlyFile(t *testing.T) {
	d := newDesk(t, permission.Allow)
	path := d.put("readonly.txt", "test")
	d.mustRead("readonly.txt")
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	const part = "does not let this user write it"
	_, err := d.write("readonly.txt", "new content")
	wantFail(t, err, "permission-denied", part)
	_, err = d.edit("readonly.txt", "test", "new content")
	wantFail(t, err, "permission-denied", part)
	_, err = d.patch(patchOf("*** Update File: readonly.txt", "@@", "-test", "+new"))
	wantFail(t, err, "permission-denied", part)
	d.wantFiles(map[string]string{"readonly.txt": "test"})
}
