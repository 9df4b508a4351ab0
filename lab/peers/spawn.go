package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/lab/internal/proof"
)

// spawns measures commands: one that does nothing, and one that says a lot.
func (s *settings) spawns(ctx context.Context) error {
	return errors.Join(s.nothing(ctx), s.output(ctx))
}

// bash is bash by itself; nil where there is none. That this process starts it
// and reads what it says counts, as it does with the calls.
func (s *settings) bash(w *proof.World, line string) *way {
	path, err := exec.LookPath("bash")
	if err != nil {
		s.missing("bash", err.Error())
		return nil
	}
	one := ofProgram("bash -c "+line, program{argv: []string{path, "-c", line}, dir: w.Project, env: w.Env()})
	one.inside = true
	return one
}

// nothing measures the command true, behind each wall that the machine has.
func (s *settings) nothing(ctx context.Context) (err error) {
	w, err := proof.NewWorld()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	ours := map[string]*way{}
	var all []*way
	levels := []string{"off", "write", "strict"}
	for _, level := range levels {
		rt, failed := s.newRuntime(w, filepath.Join(w.Home, level), func(o *helve.Options) { o.Shell.Wall.Level = level })
		if failed != nil {
			return failed
		}
		way := ofCall("Runtime.Call bash true, wall "+level, rt, "bash", map[string]any{"command": "true", "description": "Does nothing"})
		defer func() { err = errors.Join(err, way.close()) }()
		if _, err := rt.ProveWall(ctx); err != nil && level != "off" {
			s.missing("the wall "+level, err.Error())
			continue
		}
		ours[level], all = way, append(all, way)
	}
	peer := s.bash(w, "true")
	if peer != nil {
		peer.peak = nil // it is gone before it can be looked at
		all = append(all, peer)
	}
	fmt.Fprintf(s.log, "spawn: %d of each\n", s.sizes.spawns)
	if err := s.race(ctx, s.sizes.spawns, all); err != nil {
		return err
	}
	s.table("A command that does nothing", all)
	for _, level := range levels {
		if ours[level] != nil {
			s.add("spawn."+level, ours[level], peer)
		}
	}
	return nil
}

// output measures a command that says more than anybody wants to hear.
func (s *settings) output(ctx context.Context) (err error) {
	fmt.Fprintf(s.log, "output: making a file of %d MiB\n", s.sizes.big>>20)
	l, err := newLot(s.sizes.big)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	line := "cat " + bigName
	args := map[string]any{"command": line, "description": "Shows a large file"}
	command, err := s.command(l.World, "bash", args)
	if err != nil {
		return err
	}
	rt, err := s.newRuntime(l.World, filepath.Join(l.Home, "records"), nil)
	if err != nil {
		return err
	}
	process, call := ofProgram("helve call bash", command), ofCall("Runtime.Call bash", rt, "bash", args)
	defer func() { err = errors.Join(err, call.close()) }()
	all := []*way{process, call}
	peer := s.bash(l.World, line)
	if peer != nil {
		all = append(all, peer)
	}
	last := strings.TrimSpace(bigLine(l.lines - 1))
	for _, w := range all {
		w.check = says(last)
	}
	fmt.Fprintf(s.log, "output: %d goes\n", s.sizes.bigs)
	if err := s.race(ctx, s.sizes.bigs, all); err != nil {
		return err
	}
	s.table(fmt.Sprintf("A command that prints %d MiB", s.sizes.big>>20), all)
	s.add("output.process", process, peer)
	s.add("output.call", call, peer)
	return nil
}
