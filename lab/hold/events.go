package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// events has serve-proof measure the stream of events, and takes its figures.
// Without that program it says where they are. It can not be quick: a
// subscriber that does not read is dropped only after a while.
func events(ctx context.Context, d *desk) error {
	if d.serveProof == "" || d.quick {
		d.say("events: the figures of the stream of events are those of \"serve-proof events\"; with --serve-proof, and without --quick, it is run from here")
		return nil
	}
	dir, err := os.MkdirTemp("", "hold-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // one small file
	file := filepath.Join(dir, "figures")
	cmd := exec.CommandContext(ctx, d.serveProof, "events", "--helve", d.helve, "--figures", file)
	cmd.Stderr = d.log
	if out, err := cmd.Output(); err != nil {
		return fmt.Errorf("serve-proof: %w: %s", err, out)
	}
	all, err := proof.ReadFile(file)
	if err != nil {
		return err
	}
	for _, f := range all {
		d.sheet.Add(f)
	}
	d.hold(len(all) > 0, "serve-proof has no figures")
	return nil
}
