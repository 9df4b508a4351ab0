package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/lab/internal/proof"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// durable takes turns between replacing a file as a careful program would, by
// the door that all tools share, and by the tool, with and without records that
// survive a power failure.
func durable(ctx context.Context, d *desk) (err error) {
	p, err := d.place("{}")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	text := strings.Repeat("what has to be there after a power failure\n", 240) // 10 KB
	runs := map[string]func(round int) error{
		"plain": func(round int) error {
			return replace(filepath.Join(p.Project, "plain.txt"), fmt.Sprint(round, "\n", text))
		},
		"commit": func(round int) error {
			name := filepath.Join(p.Project, "commit.txt")
			was, state, err := disk.Read(name, 0)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
			change := disk.Change{Name: name, Data: []byte(fmt.Sprint(round, "\n", text)), Was: state, WasData: was}
			return disk.Commit(ctx, []disk.Change{change}, disk.Options{Sync: true})
		},
	}
	for name, sync := range map[string]bool{"write": false, "durable": true} {
		all := permission.Ruleset{{Permission: "*", Pattern: "*", Action: permission.Allow}}
		rt, failed := helve.New(helve.Options{
			Dir: p.Project, Worktree: p.Project, DataDir: filepath.Join(p.Home, name), Durable: sync,
			Agents: helve.Agents(helve.AgentOptions{User: all}),
		})
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, rt.Close()) }()
		runs[name] = func(round int) error { return write(ctx, rt, name+".txt", fmt.Sprint(round, "\n", text)) }
	}
	names, took := []string{"plain", "commit", "write", "durable"}, map[string][]time.Duration{}
	for round := range d.size(500, 10) {
		for _, name := range names {
			start := time.Now()
			if err := runs[name](round); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if round > 2 { // before that things are made for the first time
				took[name] = append(took[name], time.Since(start))
			}
		}
	}
	plain := proof.Median(took["plain"])
	d.figure("durable.plain", proof.Millis(plain), "ms", fmt.Sprintf("the middle of %d times 10 KB: write beside, fsync, rename, fsync of the folder", len(took["plain"])))
	what := map[string]string{
		"commit":  "the same by the passage that all tools share",
		"write":   "the tool write, with diff, undo and record; the file survives a power failure",
		"durable": "the tool write where every record survives a power failure too",
	}
	for _, name := range names[1:] {
		middle := proof.Median(took[name])
		d.figure("durable."+name, proof.Millis(middle), "ms", what[name])
		d.figure("durable."+name+".ratio", float64(middle)/float64(plain), "times", "that beside the plain one")
		data, err := os.ReadFile(filepath.Join(p.Project, name+".txt"))
		d.hold(err == nil && strings.HasSuffix(string(data), text), "%s.txt does not hold what was written: %v", name, err)
	}
	return nil
}

// replace replaces a file so that it survives a power failure.
func replace(name, text string) error {
	f, err := os.OpenFile(name+"~", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(name+"~", name); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// write calls the tool that replaces files.
func write(ctx context.Context, rt *helve.Runtime, name, text string) error {
	input, err := json.Marshal(map[string]string{"filePath": name, "content": text})
	if err != nil {
		return err
	}
	_, err = rt.Call(ctx, tool.Call{Tool: "write", Session: "durable", Input: input})
	return err
}
