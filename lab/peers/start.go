package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// starts measures the whole life of programs that do next to nothing.
func (s *settings) starts(ctx context.Context) (err error) {
	w, err := proof.NewWorld()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	const text = "a small file\n"
	if err := w.Write("small.txt", text); err != nil {
		return err
	}
	in := func(argv ...string) program { return program{argv: argv, dir: w.Project, env: w.Env()} }
	version, call := ofProgram("helve version", in(s.helve, "version")), ofProgram("helve call read", in(s.helve, "call", "read", "filePath=small.txt"))
	call.check = says(strings.TrimSpace(text))
	all := []*way{version, call}
	peers := map[string]*way{}
	add := func(id, name string, argv ...string) {
		if _, err := exec.LookPath(argv[0]); err != nil {
			s.missing(strings.Fields(name)[0], err.Error())
			return
		}
		peers[id] = ofProgram(name, in(argv...))
		all = append(all, peers[id])
	}
	if s.opencode == "" {
		s.missing("OpenCode", "no --opencode")
	} else {
		name, err := s.peerAgent(ctx, w)
		if err != nil {
			return err
		}
		add("", name+" --version", s.opencode, "--version")
	}
	add(".node", strings.TrimSpace("node "+proof.Version("node", "--version"))+" -e 0", "node", "-e", "0")
	add(".true", "true", "true")
	if bare := peers[".true"]; bare != nil {
		bare.peak = nil // it is gone before it can be looked at
	}
	fmt.Fprintf(s.log, "start: %d of each\n", s.sizes.starts)
	if err := s.race(ctx, s.sizes.starts, all); err != nil {
		return err
	}
	s.table("From start to end", all)
	for _, id := range []string{"", ".node", ".true"} {
		if peers[id] != nil || id == "" {
			s.add("start.version"+id, version, peers[id])
			s.add("start.call"+id, call, peers[id])
		}
	}
	return nil
}

// peerAgent is OpenCode's name, with its version.
func (s *settings) peerAgent(ctx context.Context, w *proof.World) (string, error) {
	version, err := program{argv: []string{s.opencode, "--version"}, dir: w.Project, env: w.Env()}.run(ctx)
	return "OpenCode " + version, err
}

// says makes sure of a text in what was printed.
func says(want string) func(string) error {
	return func(said string) error {
		if !strings.Contains(said, want) {
			return fmt.Errorf("it says %.300q, and not %q", said, want)
		}
		return nil
	}
}
