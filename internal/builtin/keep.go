package builtin

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/helve-dev/helve/internal/command"
	"github.com/helve-dev/helve/internal/files"
)

// A lossCheckpoint keeps copies of what a command is about to destroy; nil for none.
type lossCheckpoint struct {
	*files.Checkpoint
	unknown []string // what destroys more than could be known beforehand
}

// checkpointLosses copies the files that the command is about to destroy.
func (b bashCall) checkpointLosses(ctx context.Context, dir string) (*lossCheckpoint, error) {
	if !b.checkpoint {
		return nil, nil
	}
	at, unknown := endangered(dir, b.line.Losses())
	if len(at) == 0 && len(unknown) == 0 {
		return nil, nil
	}
	by := byCall(b.c)
	by.Dir = dir
	cp, err := b.files.Checkpoint(ctx, by, at, files.CheckpointLimits{})
	if err != nil {
		return nil, fmt.Errorf("keeping what the command may destroy: %w", err)
	}
	return &lossCheckpoint{cp, unknown}, nil
}

// cancel drops the checkpoint of a command that did not run.
func (k *lossCheckpoint) cancel() error {
	if k == nil {
		return nil
	}
	return k.Drop()
}

// recordLosses records what the command has destroyed, and returns notes about
// what could not be kept.
func (k *lossCheckpoint) recordLosses() (notes []string) {
	if k == nil {
		return nil
	}
	if err := k.Settle(); err != nil {
		notes = append(notes, fmt.Sprintf("What the command destroyed can not be brought back: %v", err))
	}
	var lost []string
	for _, l := range k.Changed() {
		if !l.Kept {
			lost = append(lost, l.Title)
		}
	}
	if len(lost) > 0 {
		notes = append(notes, "Not kept for undo: "+some(lost))
	}
	return append(notes, k.notKept()...)
}

// notKept returns notes about what was not kept.
func (k *lossCheckpoint) notKept() (notes []string) {
	if len(k.Left) > 0 {
		notes = append(notes, "Not kept before the command ran: "+some(k.Left))
	}
	if len(k.unknown) > 0 {
		notes = append(notes, "Which files it destroys could not be known beforehand, so undo may lack some: "+some(k.unknown))
	}
	return notes
}

// recordLossesLater returns a function that records the losses of a command that became a
// background job, once it has ended completely. By then nobody waits for the result, so errors go
// to trouble if it is not nil.
func (k *lossCheckpoint) recordLossesLater(trouble func(error)) func() {
	if k == nil {
		return nil
	}
	return func() {
		if err := k.Settle(); err != nil && trouble != nil {
			trouble(fmt.Errorf("what a job destroyed can not be brought back: %w", err))
		}
	}
}

// promise says what undo will be able to restore when the job has ended. The job may end at the
// same time.
func (k *lossCheckpoint) promise() (notes []string) {
	if k == nil {
		return nil
	}
	if n := k.Kept(); n > 0 {
		notes = append(notes, fmt.Sprintf("Kept for undo: %s, as before the command ran. "+
			"When the job has ended, undo can bring back what it destroyed of that.", count(n, "file")))
	}
	return append(notes, k.notKept()...)
}

// some lists a few of many names.
func some(names []string) string {
	const most = 5
	if n := len(names) - most; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n)
	}
	return strings.Join(names, ", ")
}

// endangered converts what a command line that starts in a folder destroys for the checkpoint.
// unknown are the commands that destroy files which the line does not name.
func endangered(start string, losses []command.Loss) (at []files.Endangered, unknown []string) {
	for _, l := range losses {
		if l.Kind == command.Forgotten {
			continue // no file holds it
		}
		if l.Unknown || !l.Dir.Known {
			unknown = append(unknown, l.Why)
		}
		if !l.Dir.Known {
			continue
		}
		for _, dir := range append([]string{l.Dir.Path}, l.Dir.Else...) {
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(start, dir)
			}
			at = append(at, endangeredIn(dir, l)...)
		}
	}
	return at, unknown
}

func endangeredIn(dir string, l command.Loss) (at []files.Endangered) {
	e := files.Endangered{
		Tree: l.Tree, Name: l.Name, Write: l.Kind == command.Emptied, Move: l.Move, Whole: l.Whole, Discard: discardKind(l),
	}
	pattern := func(w command.Word) files.Pattern { return files.Pattern{Name: w.Value, Glob: w.Glob, Dir: dir} }
	for _, w := range l.From {
		e.From = append(e.From, pattern(w))
	}
	if l.Whole && len(l.Paths) == 0 {
		e.Path = files.Pattern{Name: ".", Dir: dir}
		return append(at, e)
	}
	for _, w := range l.Paths {
		e.Path = pattern(w)
		at = append(at, e)
	}
	return at
}

func discardKind(l command.Loss) files.Discard {
	switch {
	case l.Kind == command.Discarded:
		return files.Changes
	case l.Kind != command.Cleaned:
		return files.Nothing
	case l.Only:
		return files.OnlyIgnored
	case l.Ignored:
		return files.AndIgnored
	}
	return files.Untracked
}
