package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// A toolbox is the folders of foreign programs that .ci/mcp-tools filled.
type toolbox struct {
	dirs []string
	node string
}

// openToolbox takes a list of folders, with the separator that PATH has.
func openToolbox(list string) (*toolbox, error) {
	t := &toolbox{}
	for _, dir := range filepath.SplitList(list) {
		dir, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		t.dirs = append(t.dirs, dir)
	}
	if len(t.dirs) == 0 {
		return nil, errors.New("no folder of programs is given: --tools \"$(.ci/mcp-tools)\"")
	}
	var err error
	if t.node, err = t.find("node-" + runtime.GOOS + "-" + nodeArch() + "/bin/node"); err != nil {
		if t.node, err = exec.LookPath("node"); err != nil {
			return nil, fmt.Errorf("looking for node: %w", err)
		}
	}
	return t, nil
}

// find returns the path of a file of a package.
func (t *toolbox) find(file string) (string, error) {
	for _, dir := range t.dirs {
		path := filepath.Join(dir, "node_modules", filepath.FromSlash(file))
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not installed: .ci/mcp-tools fetches it", file)
}

func nodeArch() string {
	if runtime.GOARCH == "amd64" {
		return "x64"
	}
	return runtime.GOARCH
}

// script returns the command line of a JavaScript program of a package.
func (t *toolbox) script(pkg, file string) ([]string, error) {
	path, err := t.find(pkg + "/" + file)
	if err != nil {
		return nil, err
	}
	return []string{t.node, path}, nil
}

// binary returns the first of some programs, by the path in their package,
// that is there. Packages with machine code come in one package per machine,
// with or without an install script that moves it.
func (t *toolbox) binary(files ...string) ([]string, error) {
	for _, f := range files {
		f = strings.NewReplacer("{os}", runtime.GOOS, "{arch}", nodeArch()).Replace(f)
		if path, err := t.find(f); err == nil {
			return []string{path}, nil
		}
	}
	return nil, fmt.Errorf("none of %s is installed: .ci/mcp-tools fetches them", strings.Join(files, ", "))
}

// version reads the version of an installed package.
func (t *toolbox) version(pkg string) string {
	path, err := t.find(pkg + "/package.json")
	if err != nil {
		return "(not installed)"
	}
	var p struct {
		Version string `json:"version"`
	}
	text, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(text, &p) != nil {
		return "(unknown)"
	}
	return p.Version
}
