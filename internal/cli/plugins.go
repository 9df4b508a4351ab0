package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/plugin"
)

// forFiles is how long a listing waits for the files of users to load.
const forFiles = time.Minute

// A shownFile is a file of a user's as --json prints it.
type shownFile struct {
	Path    string   `json:"path"`
	Kind    string   `json:"kind"`
	Engine  string   `json:"engine"`
	State   string   `json:"state"`
	Tools   []string `json:"tools"`
	Hooks   []string `json:"hooks"`
	Hash    string   `json:"sha256,omitempty"`
	Millis  float64  `json:"loadMs"`
	Problem string   `json:"problem,omitempty"`
	Notes   []string `json:"notes,omitempty"`
	Needs   []string `json:"needs,omitempty"`
}

func (a *app) pluginsCommand() *cobra.Command {
	var asJSON, noLoad, check bool
	c := &cobra.Command{
		Use:   "plugins",
		Short: "List your own tools and plugins, and what became of each",
		Long: `Plugins lists the files in tool/, tools/, plugin/ and plugins/ of every config
folder, and the plugins that the config names: whether each could be loaded,
which tools and hooks it brought, what runs it, its hash, and how long loading
took. What is wrong with a file is shown with its line.

Listing loads the files, which runs them; nothing of a project runs before
'helve trust'. With --no-load nothing is run.`,
		Example: `  helve plugins
  helve plugins --no-load
  helve plugins --json
  helve plugins --check`,
		Args: atMost(0),
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.load()
			if err != nil {
				return err
			}
			a.warn(s.cfg)
			opt := a.options(s)
			opt.Unattended, opt.MCP.Servers = true, nil
			rt, err := helve.Open(opt)
			if err != nil {
				return err
			}
			if !noLoad {
				stop := a.progress("loading")
				ctx, cancel := context.WithTimeout(c.Context(), forFiles)
				rt.Gather(ctx)
				cancel()
				stop()
			}
			files := rt.Plugins().Files()
			if asJSON {
				err = a.printJSON(shownFiles(files))
			} else {
				err = a.listFiles(files)
			}
			return errors.Join(err, broken(files, check), rt.Close())
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&noLoad, "no-load", false, "run nothing")
	c.Flags().BoolVar(&check, "check", false, "fail if a file could not be loaded")
	return c
}

// broken is the error for files that could not be loaded, where they are required.
func broken(files []plugin.File, check bool) error {
	n := 0
	for _, f := range files {
		if f.State == "failed" {
			n++
		}
	}
	if !check || n == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d files could not be loaded", n, len(files))
}

func shownFiles(files []plugin.File) []shownFile {
	out := []shownFile{}
	for _, f := range files {
		out = append(out, shownFile{
			Path: f.Path, Kind: f.Kind, Engine: f.Engine, State: string(f.State), Tools: append([]string{}, f.Tools...), Hooks: append([]string{}, f.Hooks...),
			Hash: f.Hash, Millis: float64(f.LoadTime.Microseconds()) / 1000, Problem: f.Problem, Notes: f.Notes, Needs: f.Needs,
		})
	}
	return out
}

// listFiles prints a block for every folder.
func (a *app) listFiles(files []plugin.File) error {
	if len(files) == 0 {
		_, err := fmt.Fprintln(a.Stdout, "There are none. 'helve tools new NAME' writes an example; docs/custom-tools.md says where files are looked for.")
		return err
	}
	folder := ""
	for _, f := range files {
		if f.Folder != folder {
			if folder != "" {
				fmt.Fprintln(a.Stdout)
			}
			folder = f.Folder
			fmt.Fprintln(a.Stdout, text.VisibleLine(folder))
		}
		if err := listFile(a.Stdout, f); err != nil {
			return err
		}
	}
	return nil
}

func listFile(w io.Writer, f plugin.File) error {
	name := f.Path
	if rel, err := filepath.Rel(f.Folder, f.Path); err == nil && filepath.IsLocal(rel) {
		name = rel
	}
	facts := []string{f.Kind}
	if f.Engine != "" && f.Engine != f.Kind {
		facts = append(facts, f.Engine)
	}
	if f.State == "ready" {
		facts = append(facts, fmt.Sprintf("%.1f ms", float64(f.LoadTime.Microseconds())/1000))
	}
	if len(f.Hash) >= 12 {
		facts = append(facts, "sha256 "+f.Hash[:12])
	}
	fmt.Fprintf(w, "  %-11s  %s  (%s)\n", f.State, text.VisibleLine(name), strings.Join(facts, ", "))
	for _, line := range [][2]string{
		{"tools", strings.Join(f.Tools, ", ")}, {"hooks", strings.Join(f.Hooks, ", ")},
		{"needs", strings.Join(f.Needs, ", ")}, {"problem", f.Problem}, {"note", strings.Join(f.Notes, " ")},
	} {
		if line[1] == "" {
			continue
		}
		if _, err := fmt.Fprintf(w, "               %s: %s\n", line[0], text.VisibleLine(line[1])); err != nil {
			return err
		}
	}
	return nil
}

// sources are the files that tools come from, by the name of the tool.
func sources(files []plugin.File) map[string]plugin.File {
	out := map[string]plugin.File{}
	for _, f := range files {
		for _, name := range f.Tools {
			out[name] = f
		}
	}
	return out
}
