package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// works is a release in the making.
type works struct {
	root, out, tools string
	log              io.Writer

	version string    // as Go has it: v1.2.3, or made from the commit
	at      time.Time // of the commit: the time of every file
	extra   []member  // what comes with every program
}

// A member is a file of an archive or a package.
type member struct {
	name string // with slashes, below the archive's folder
	mode os.FileMode
	data []byte
}

// build makes everything.
func (w *works) build(ctx context.Context, list []target) error {
	if err := os.RemoveAll(w.out); err != nil {
		return err
	}
	work := filepath.Join(w.out, "work")
	if err := os.MkdirAll(work, 0o755); err != nil {
		return err
	}
	for _, t := range list {
		w.say("%s", t)
		if err := w.compile(ctx, t, w.programOf(t)); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	if err := w.stampFrom(w.programOf(list[0])); err != nil {
		return err
	}
	w.say("version %s", w.version)
	if err := w.gather(ctx, work); err != nil {
		return err
	}
	for _, t := range list {
		if err := w.pack(ctx, t); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	if err := os.RemoveAll(work); err != nil {
		return err
	}
	return writeSums(w.out)
}

func (w *works) say(format string, args ...any) { fmt.Fprintf(w.log, "release: "+format+"\n", args...) }

// programOf is where the program of a target is built.
func (w *works) programOf(t target) string {
	return filepath.Join(w.out, "work", t.os+"-"+t.arch, t.program())
}

// compile builds the command. Nothing of this machine gets into it: no path, no
// C library, no time.
func (w *works) compile(ctx context.Context, t target, to string) error {
	env := []string{"CGO_ENABLED=0", "GOOS=" + t.os, "GOARCH=" + t.arch, "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT="}
	_, err := w.command(ctx, env, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", to, "./cmd/helve")
	return err
}

// command runs a program in the root, and returns what it prints.
func (w *works) command(ctx context.Context, env []string, name string, args ...string) ([]byte, error) {
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.Stderr = w.root, append(os.Environ(), env...), &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), args[0], err, strings.TrimSpace(said.String()+string(out)))
	}
	return out, nil
}

// stampFrom reads version and time from a program.
func (w *works) stampFrom(path string) error {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return err
	}
	w.version = info.Main.Version
	for _, s := range info.Settings {
		if s.Key != "vcs.time" {
			continue
		}
		if w.at, err = time.Parse(time.RFC3339, s.Value); err != nil {
			return err
		}
	}
	if w.at.IsZero() || !strings.HasPrefix(w.version, "v") {
		return errors.New("the program does not say which commit it is from: releases are made from a git checkout")
	}
	return nil
}

// pack makes all that is for one target.
func (w *works) pack(ctx context.Context, t target) error {
	program, err := os.ReadFile(w.programOf(t))
	if err != nil {
		return err
	}
	notices, err := w.notices(ctx, w.programOf(t))
	if err != nil {
		return err
	}
	name := t.base(w.version)
	files := append([]member{{t.program(), 0o755, program}, {"THIRD-PARTY-LICENCES.txt", 0o644, notices}}, w.extra...)
	f, err := os.Create(filepath.Join(w.out, name+t.packed()))
	if err != nil {
		return err
	}
	write := writeTar
	if t.os == "windows" {
		write = writeZip
	}
	if err := errors.Join(write(f, name, files, w.at), f.Close()); err != nil {
		return err
	}
	if w.tools == "" {
		w.say("%s: left out: the list of modules and the Debian package: no --tools", t)
		return nil
	}
	if err := w.list(ctx, t); err != nil {
		return err
	}
	if t.os != "linux" {
		return nil
	}
	return w.debian(ctx, t, files)
}

// base is how all files of a target begin.
func (t target) base(version string) string {
	return fmt.Sprintf("helve-%s-%s-%s", strings.TrimPrefix(version, "v"), t.os, t.arch)
}

// list writes which modules a program is made of, as CycloneDX.
func (w *works) list(ctx context.Context, t target) error {
	to := filepath.Join(w.out, t.base(w.version)+".cdx.json")
	_, err := w.command(ctx, nil, filepath.Join(w.tools, "cyclonedx-gomod"), "bin", "-json", "-std", "-noserial", "-notimestamp",
		"-version", w.version, "-output", to, w.programOf(t))
	return err
}
