package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helve-dev/helve/internal/config"
)

const module = "../.." // the folder of the module

// The reference that is kept is the one that the command describes.
func TestCommandsCurrent(t *testing.T) {
	want, err := reference(tree())
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(module, "docs", "commands.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/commands.md is not current: run make commands")
	}
}

// Every command that can be run has a manual page with all of its flags, and
// the formatters that people have take the pages without a complaint.
func TestManual(t *testing.T) {
	dir := t.TempDir()
	if err := run(t.Context(), []string{"man", "--root", module, "--date", "2026-01-02", dir}, nil, nil); err != nil {
		t.Fatal(err)
	}
	n := 0
	walk(tree(), func(c *cobra.Command) {
		if !c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			return
		}
		n++
		name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
		page, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !bytes.Contains(page, []byte(strings.ReplaceAll("--"+f.Name, "-", `\-`))) && !bytes.Contains(page, []byte("--"+f.Name)) {
				t.Errorf("%s does not have --%s", name, f.Name)
			}
		})
	})
	if n < 40 {
		t.Errorf("%d commands", n)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != n+1 {
		t.Fatalf("%d pages for %d commands and one file: %v", len(files), n, err)
	}
	for _, formatter := range [][]string{
		{"mandoc", "-T", "lint", "-W", "error"},
		{"groff", "-t", "-man", "-Tutf8", "-z"},
	} {
		t.Run(formatter[0], func(t *testing.T) {
			if _, err := exec.LookPath(formatter[0]); err != nil {
				t.Skipf("there is no %s: manual pages are not checked with it", formatter[0])
			}
			out, err := exec.Command(formatter[0], append(formatter[1:], files...)...).CombinedOutput()
			if err != nil || len(out) > 0 {
				t.Errorf("%v\n%.4000s", err, out)
			}
		})
	}
}

// Whoever looks for a setting of ours finds it in docs/config.md.
func TestSettings(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(module, "docs", "config.md"))
	if err != nil {
		t.Fatal(err)
	}
	config.Options{}.Keys(func(path, _ string, own bool) {
		top, _, _ := strings.Cut(path, ".")
		if own && !bytes.Contains(page, []byte("`"+top)) {
			t.Errorf("docs/config.md does not say what %s means", path)
		}
	})
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"women"}, {"man"}, {"man", "a", "b"}, {"commands", "x"}} {
		if err := run(t.Context(), args, nil, nil); err == nil || !strings.Contains(err.Error(), "usage:") {
			t.Errorf("%q: %v", args, err)
		}
	}
}
