package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

const (
	editProcesses = 4
	editCallers   = 64 // of all processes
)

// A contest is callers that change one file, each its own line of it, and
// readers of the file.
type contest struct {
	d        *desk
	file     string
	clerks   []*clerk
	accepted [editCallers]int
	refused  atomic.Int64 // edits, because another caller was faster
	reads    atomic.Int64
}

// edits has callers of several processes count up numbers in one file. In the
// end each number is as high as its caller was told, and who reads the file
// meanwhile never sees half of an edit.
func edits(ctx context.Context, d *desk) (err error) {
	p, err := d.place(`{"permission":{"*":"allow"}}`)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	c := &contest{d: d, file: filepath.Join(p.Project, "shared.txt")}
	var text strings.Builder
	for n := range editCallers {
		fmt.Fprintf(&text, "line %d: 0\n", n)
	}
	if err := os.WriteFile(c.file, []byte(text.String()), 0o640); err != nil {
		return err
	}
	for range editProcesses {
		k, err := p.clerk(ctx, d)
		if err != nil {
			return err
		}
		defer k.drop()
		c.clerks = append(c.clerks, k)
	}
	d.say("edits: %d callers in %d processes", editCallers, editProcesses)
	began := time.Now()
	if err := c.hold(ctx); err != nil {
		return err
	}
	took := time.Since(began)
	for _, k := range c.clerks {
		if err := k.leave(); err != nil {
			return err
		}
	}
	return c.check(p, took)
}

// hold lets callers and readers work. A caller goes on until enough was read
// and it has had enough edits accepted, so that in the end the last ones have
// nobody to wait for.
func (c *contest) hold(ctx context.Context) error {
	const readers = 2
	enough, quota := int64(c.d.size(100_000, 2000)), c.d.size(5, 1)
	var working atomic.Int32
	working.Store(editCallers)
	return joined(ctx, editCallers+readers, func(ctx context.Context, hand int) error {
		if hand >= editCallers {
			return c.read(ctx, func() bool { return working.Load() == 0 && c.reads.Load() >= enough })
		}
		defer working.Add(-1)
		for round := 0; c.accepted[hand] < quota || c.reads.Load() < enough; round++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := c.edit(hand, round); err != nil {
				return fmt.Errorf("caller %d: %w", hand, err)
			}
		}
		return nil
	})
}

// edit reads the file and counts the caller's number up, unless another
// caller is faster.
func (c *contest) edit(n, round int) error {
	k, session := c.clerks[n%len(c.clerks)], fmt.Sprint("edits-", n)
	saw, err := k.call(fmt.Sprintf("%d-%d-read", n, round), session, "read", map[string]any{"filePath": c.file})
	if err != nil {
		return err
	}
	now := fmt.Sprintf("line %d: %d\n", n, c.accepted[n])
	if saw.Status != "completed" || !strings.Contains(saw.Output, strings.TrimSuffix(now, "\n")) {
		return fmt.Errorf("it does not find %q where only it writes: %+v", now, saw)
	}
	end, err := k.call(fmt.Sprintf("%d-%d-edit", n, round), session, "edit", map[string]any{
		"filePath": c.file, "oldString": now, "newString": fmt.Sprintf("line %d: %d\n", n, c.accepted[n]+1),
	})
	switch {
	case err != nil:
		return err
	case end.Status == "completed":
		c.accepted[n]++
		return nil
	case end.Error != nil && end.Error.Code == "changed-on-disk":
		c.refused.Add(1)
		return nil
	}
	return fmt.Errorf("edit: %+v, %+v", end, end.Error)
}

// read reads the file again and again, and looks whether it is whole, and
// whether no number goes back.
func (c *contest) read(ctx context.Context, enough func() bool) error {
	var was [editCallers]int
	for ctx.Err() == nil && !enough() {
		data, err := os.ReadFile(c.file)
		if err != nil {
			return err
		}
		at := 0
		for row := range strings.Lines(string(data)) {
			var n, value int
			if _, err := fmt.Sscanf(row, "line %d: %d\n", &n, &value); err != nil || n != at || at >= editCallers || value < was[at] {
				at = -1
				break
			}
			was[at] = value
			at++
		}
		c.d.hold(at == editCallers && data[len(data)-1] == '\n', "a read is torn: %q", data)
		c.reads.Add(1)
	}
	return ctx.Err()
}

// check looks at what is there in the end.
func (c *contest) check(p place, took time.Duration) error {
	data, err := os.ReadFile(c.file)
	if err != nil {
		return err
	}
	total, missing := 0, 0
	var want strings.Builder
	for n, value := range c.accepted {
		total += value
		row := fmt.Sprintf("line %d: %d\n", n, value)
		want.WriteString(row)
		missing += btoi(!strings.Contains(string(data), row))
	}
	c.d.hold(string(data) == want.String(), "%d callers do not find what was accepted from them", missing)
	files, err := os.ReadDir(p.Project)
	if err != nil {
		return err
	}
	c.d.hold(len(files) == 3, "there are files left over: %v", files) // .git, the small one and this one
	c.d.figure("edits.accepted", float64(total), "", fmt.Sprintf("of %d callers in %d processes in %.1f s, with a read before each; %d were told to read again", editCallers, editProcesses, took.Seconds(), c.refused.Load()))
	c.d.figure("edits.missing", float64(missing), "", "callers whose accepted edits are not all there in the end")
	c.d.figure("edits.reads", float64(c.reads.Load()), "", "reads of the file meanwhile, all of them whole unless it says FAILED")
	return nil
}
