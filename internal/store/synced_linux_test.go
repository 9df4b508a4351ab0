package store

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/record"
)

const syncedEnv = "HELVE_STORE_SYNCED"

// What has to survive a power failure has reached the disk when it is
// acknowledged: approvals always, calls where every record is to be durable.
func TestSynced(t *testing.T) {
	if dir := os.Getenv(syncedEnv); dir != "" {
		writeOneByOne(t, dir, os.Getenv("HELVE_STORE_ARG"))
		return
	}
	if out, err := exec.Command("strace", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("strace is not here, or can not be used: %v: %s", err, out)
	}
	none, approvals, calls, durable := syncs(t, "none"), syncs(t, "approvals"), syncs(t, "calls"), syncs(t, "durable")
	t.Logf("of 20 records one by one, %d approvals, %d calls and %d durable calls were synced", approvals-none, calls-none, durable-none)
	if approvals-none < 20 {
		t.Errorf("20 approvals were synced %d times", approvals-none)
	}
	if durable-none < 20 {
		t.Errorf("20 durable calls were synced %d times", durable-none)
	}
}

// syncs counts how often a process that writes some records asks for them to
// be on the disk.
func syncs(t *testing.T, what string) int {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	cmd := exec.Command("strace", "-f", "-qq", "-o", log, "-e", "trace=fsync,fdatasync", os.Args[0], "-test.run=^TestSynced$")
	cmd.Env = append(os.Environ(), syncedEnv+"="+t.TempDir(), "HELVE_STORE_ARG="+what)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", what, err, out)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return len(regexp.MustCompile(`(?m)^.*\bf(data)?sync\(.*$`).FindAll(text, -1))
}

// writeOneByOne writes twenty records, each when the one before it is there.
func writeOneByOne(t *testing.T, dir, what string) {
	s := open(t, Options{Dir: dir, Sync: what == "durable"})
	for i := range 20 {
		var err error
		switch id := fmt.Sprint("r", i); what {
		case "approvals":
			err = s.KeepApproval(permission.Approval{ID: id, Permission: "bash", Pattern: "ls " + id, Exact: true, Scope: permission.User})
		case "calls", "durable":
			err = s.Begin(context.Background(), record.Call{ID: id, Session: "s", Tool: "t", Input: "{}", Started: int64(i)})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
