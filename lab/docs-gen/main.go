// Command docs-gen writes what can be said about the command from the command
// itself: its manual pages, and the reference in docs/commands.md. Settings
// come from what config files are checked for, and their meaning from the
// tables of docs/config.md, so that nothing is written down twice.
//
//	bin/lab/docs-gen man DIR            writes the manual pages into a folder
//	bin/lab/docs-gen commands           writes docs/commands.md
//	bin/lab/docs-gen commands --check   only says whether it is current
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "docs-gen:", err)
		}
		os.Exit(1)
	}
}

const usage = "usage: docs-gen man [--root DIR] [--date YYYY-MM-DD] [--release NAME] DIR | docs-gen commands [--root DIR] [--check]"

func run(args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	flags := flag.NewFlagSet("docs-gen "+args[0], flag.ContinueOnError)
	flags.SetOutput(out)
	root := flags.String("root", ".", "the folder of the module")
	switch args[0] {
	case "man":
		date := flags.String("date", today(), "the date in the pages; by default that of SOURCE_DATE_EPOCH, or today")
		release := flags.String("release", "helve", "what the pages say they belong to")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		if flags.NArg() != 1 {
			return errors.New(usage)
		}
		pages, err := manual(*root, stamp{*date, *release})
		if err != nil {
			return err
		}
		return writeAll(flags.Arg(0), pages)
	case "commands":
		check := flags.Bool("check", false, "write nothing; fail where the file is not what it would be")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		if flags.NArg() != 0 {
			return errors.New(usage)
		}
		return commands(filepath.Join(*root, "docs", "commands.md"), *check)
	}
	return errors.New(usage)
}

// today is the date of a build that somebody can repeat, or else of now.
func today() string {
	at := time.Now()
	if seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		at = time.Unix(seconds, 0)
	}
	return at.UTC().Format(time.DateOnly)
}

func writeAll(dir string, files map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := os.WriteFile(filepath.Join(dir, name), files[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}

// commands writes the reference, or only looks whether it is current.
func commands(file string, check bool) error {
	want := reference(tree())
	if !check {
		return os.WriteFile(file, want, 0o644)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return errors.New("docs/commands.md is not current: run make commands")
	}
	return nil
}
