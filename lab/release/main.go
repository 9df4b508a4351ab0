// Command release makes what people install: programs for every system, in
// archives with manual pages and completions, Debian packages, a list of what
// each program is made of, and checksums. The same commit gives the same bytes.
//
//	bin/lab/release build --tools DIR            writes all into bin/release
//	bin/lab/release check                        looks whether it is all right
//
// The version is the tag of the commit, or is made from its date where there is
// none; Go puts it into the program, and everything here reads it from there.
// nfpm makes the packages and cyclonedx-gomod the lists; .ci/release-tools
// brings both.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "release:", err)
		}
		stop()
		os.Exit(1)
	}
}

const usage = "usage: release build [--root DIR] [--out DIR] [--only os/arch,…] [--tools DIR] | release check [--out DIR] [--only os/arch,…]"

func run(ctx context.Context, args []string, log io.Writer) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	flags := flag.NewFlagSet("release "+args[0], flag.ContinueOnError)
	flags.SetOutput(log)
	w := &works{log: log}
	flags.StringVar(&w.root, "root", ".", "the folder of the module")
	flags.StringVar(&w.out, "out", filepath.Join("bin", "release"), "where it all goes; what was there is removed")
	flags.StringVar(&w.tools, "tools", "", "the folder of nfpm and cyclonedx-gomod; without it there are no packages and no lists of modules")
	only := flags.String("only", "", "these targets, such as linux/amd64,windows/arm64")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return errors.New(usage)
	}
	targets, err := choose(*only)
	if err != nil {
		return err
	}
	for _, dir := range []*string{&w.root, &w.out, &w.tools} {
		if *dir == "" {
			continue
		}
		if *dir, err = filepath.Abs(*dir); err != nil {
			return err
		}
	}
	switch args[0] {
	case "build":
		return w.build(ctx, targets)
	case "check":
		return check(w.out, targets, log)
	}
	return errors.New(usage)
}

// A target is what a program is made for.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

// program is the name of the command there.
func (t target) program() string {
	if t.os == "windows" {
		return "helve.exe"
	}
	return "github.com/helve-dev/helve"
}

// packed is how archives end there.
func (t target) packed() string {
	if t.os == "windows" {
		return ".zip"
	}
	return ".tar.gz"
}

// targets are all that releases are made for.
func targets() (all []target) {
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			all = append(all, target{system, arch})
		}
	}
	return all
}

// choose returns the targets of a list, or all of them.
func choose(only string) ([]target, error) {
	all := targets()
	if only == "" {
		return all, nil
	}
	var some []target
	for _, word := range strings.Split(only, ",") {
		i := slices.IndexFunc(all, func(t target) bool { return t.String() == word })
		if i < 0 {
			return nil, fmt.Errorf("there is no target %q", word)
		}
		if !slices.Contains(some, all[i]) {
			some = append(some, all[i])
		}
	}
	return some, nil
}
