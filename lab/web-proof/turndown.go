package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// turndownVersion is the one whose output helve's Markdown follows.
const turndownVersion = "7.2.0"

//go:embed turndown.js
var turndownScript []byte

// A foreign is turndown in a folder, with the script that drives it.
type foreign struct {
	dir, script string
}

// install puts turndown into a folder unless it is there.
func install(ctx context.Context, dir string) (*foreign, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("making a folder: %w", err)
	}
	if installed(dir) != turndownVersion {
		cmd := exec.CommandContext(ctx, "npm", "install", "--prefix", dir, "--ignore-scripts", "--no-audit", "--no-fund", "turndown@"+turndownVersion)
		if text, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("installing turndown: %w: %s", err, bytes.TrimSpace(text))
		}
		if v := installed(dir); v != turndownVersion {
			return nil, fmt.Errorf("npm installed turndown %q, and %s was asked for", v, turndownVersion)
		}
	}
	f := &foreign{dir: dir, script: filepath.Join(dir, "web-proof.js")}
	if err := os.WriteFile(f.script, turndownScript, 0o644); err != nil {
		return nil, fmt.Errorf("writing the script: %w", err)
	}
	return f, nil
}

// installed is the version that a folder has, "" for none.
func installed(dir string) string {
	var p struct{ Version string }
	text, err := os.ReadFile(filepath.Join(dir, "node_modules", "turndown", "package.json"))
	if err != nil || json.Unmarshal(text, &p) != nil {
		return ""
	}
	return p.Version
}

// A made is what turndown makes of a page.
type made struct {
	Name     string
	Markdown string
	Cells    []string // what the cells of its innermost tables say
	Error    string
}

// convert runs turndown over all pages in one process.
func (f *foreign) convert(ctx context.Context, pages []sample) (map[string]made, error) {
	var in bytes.Buffer
	enc := json.NewEncoder(&in)
	for _, p := range pages {
		if err := enc.Encode(map[string]string{"name": p.name, "html": p.html}); err != nil {
			return nil, err
		}
	}
	out, err := f.run(ctx, &in, "convert")
	if err != nil {
		return nil, err
	}
	all := map[string]made{}
	for line := range bytes.Lines(out) {
		var m made
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, fmt.Errorf("reading turndown's answer: %w", err)
		}
		all[m.Name] = m
	}
	if len(all) != len(pages) {
		return nil, fmt.Errorf("turndown answered %d of %d pages", len(all), len(pages))
	}
	return all, nil
}

// run runs the script and returns what it prints.
func (f *foreign) run(ctx context.Context, in io.Reader, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "node", append([]string{f.script, f.dir}, args...)...)
	cmd.Stdin = in
	var out, log strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		return nil, errors.Join(fmt.Errorf("running turndown: %w", err), errors.New(strings.TrimSpace(log.String())))
	}
	return []byte(out.String()), nil
}
