// Command release makes what people install: programs for every system, in
// archives with manual pages and completions, Debian packages, a list of what
// each program is made of, and checksums, all into bin/release. The same commit
// gives the same bytes. .ci/release-test looks whether it is all right.
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
	"path/filepath"
	"slices"
	"strings"

	"github.com/helve-dev/helve/lab/internal/proof"
)

const usage = "usage: release build [--root DIR] [--out DIR] [--only os/arch,…] [--tools DIR]"

func main() { proof.Main("release", run) }

func run(ctx context.Context, args []string, _, log io.Writer) error {
	if len(args) == 0 || args[0] != "build" {
		return errors.New(usage)
	}
	flags := flag.NewFlagSet("release build", flag.ContinueOnError)
	flags.SetOutput(log)
	w := &works{log: log}
	flags.StringVar(&w.root, "root", ".", "the folder of the module")
	flags.StringVar(&w.out, "out", filepath.Join("bin", "release"), "where it all goes; what was there is removed")
	flags.StringVar(&w.tools, "tools", "", "the folder of nfpm and cyclonedx-gomod; without it there are no packages and no lists of modules")
	only := flags.String("only", "", "these targets, such as linux/amd64,windows/arm64")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	targets, err := choose(*only)
	if err != nil || flags.NArg() > 0 {
		return errors.Join(err, errors.New(usage))
	}
	for _, dir := range []*string{&w.root, &w.out, &w.tools} {
		if *dir == "" {
			continue
		}
		if *dir, err = filepath.Abs(*dir); err != nil {
			return err
		}
	}
	return w.build(ctx, targets)
}

// A target is what a program is made for.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

// program is the name of the command there, and packed how archives end.
func (t target) program() string {
	return map[bool]string{true: "helve.exe", false: "helve"}[t.os == "windows"]
}
func (t target) packed() string {
	return map[bool]string{true: ".zip", false: ".tar.gz"}[t.os == "windows"]
}

// base is how all files of a target begin.
func (t target) base(version string) string {
	return fmt.Sprintf("helve-%s-%s-%s", strings.TrimPrefix(version, "v"), t.os, t.arch)
}

// choose returns the targets of a list, or all that releases are made for.
func choose(only string) (list []target, err error) {
	const all = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"
	if only == "" {
		only = all
	}
	for word := range strings.SplitSeq(only, ",") {
		if !slices.Contains(strings.Split(all, ","), word) {
			return nil, fmt.Errorf("there is no target %q", word)
		}
		system, arch, _ := strings.Cut(word, "/")
		if t := (target{system, arch}); !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	return list, nil
}
