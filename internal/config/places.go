package config

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// load loads every place, the lowest first.
func (l *loader) load() {
	global := l.globalDirs()
	for _, dir := range global {
		names := configNames(".json", ".jsonc")
		if filepath.Base(dir) == "opencode" {
			names = append([]string{"config.json"}, names...)
		}
		for _, name := range names {
			l.loadFile(location{path: filepath.Join(dir, name), kind: ofUser})
		}
	}
	for _, name := range bothNames("CONFIG") {
		if path := l.opt.Env(name); path != "" {
			l.loadFile(location{path: l.abs(path), kind: ofEnv, named: name})
		}
	}
	var levels []string // the instance directory and those above it, nearest first
	if !l.flag("DISABLE_PROJECT_CONFIG") {
		levels = l.levels()
		// Those of OpenCode go by ending, so that any .json overrides every .jsonc, as in OpenCode;
		// then helve's by folder. Within each the nearest wins.
		take := func(dir, name string) {
			l.loadFile(location{path: filepath.Join(dir, name), kind: ofProject, guarded: true})
		}
		for _, name := range []string{"opencode.jsonc", "opencode.json"} {
			for _, dir := range slices.Backward(levels) {
				take(dir, name)
			}
		}
		for _, dir := range slices.Backward(levels) {
			take(dir, "helve.jsonc")
			take(dir, "helve.json")
		}
	}
	for _, name := range bothNames("CONFIG_CONTENT") {
		if text := l.opt.Env(name); text != "" {
			l.text(l.envInput(name, text))
		}
	}
	l.folders(global, levels)
	for _, dir := range l.managedDirs() {
		for _, name := range configNames(".jsonc", ".json") {
			l.loadFile(location{path: filepath.Join(dir, name), kind: ofMachine})
		}
	}
	for _, name := range bothNames("PERMISSION") {
		if text := l.opt.Env(name); text != "" {
			l.permissionText(l.envInput(name, text))
		}
	}
}

// folders loads the config folders. Among those of the project the nearest comes first and is
// overridden by the outer ones, which is OpenCode's order.
func (l *loader) folders(global, levels []string) {
	for _, dir := range global {
		l.loadFolder(location{path: dir, kind: ofUser, awaited: true})
	}
	names := []string{".opencode", ".helve"}
	home := ""
	if l.opt.Home != "" {
		home = filepath.Clean(l.opt.Home)
	}
	for i, dir := range levels {
		// Those of the disk as a whole are nobody's to make.
		awaited := (i == 0 || i == len(levels)-1) && dir != filepath.Dir(dir)
		for _, name := range names {
			// The user's own folder is not part of a project below it.
			if dir != home {
				l.loadFolder(location{path: filepath.Join(dir, name), kind: ofFolder, guarded: true, awaited: awaited})
			}
		}
	}
	if home != "" {
		for _, name := range names {
			l.loadFolder(location{path: filepath.Join(home, name), kind: ofFolder})
		}
	}
	for _, name := range bothNames("CONFIG_DIR") {
		if dir := l.opt.Env(name); dir != "" {
			l.loadFolder(location{path: l.abs(dir), kind: ofFolder, named: name})
		}
	}
}

// levels returns Dir and the folders above it up to the worktree.
func (l *loader) levels() []string {
	var all []string
	for d := l.opt.Dir; ; d = filepath.Dir(d) {
		all = append(all, d)
		if d == l.opt.Worktree {
			return all
		}
		if d == filepath.Dir(d) {
			return all[:1] // the worktree is elsewhere
		}
	}
}

func (l *loader) globalDirs() []string {
	base := l.opt.Env("XDG_CONFIG_HOME")
	if !filepath.IsAbs(base) { // a relative one would make a project's folder the user's
		if l.opt.Home == "" {
			return nil
		}
		base = filepath.Join(l.opt.Home, ".config")
	}
	return []string{filepath.Join(base, "opencode"), filepath.Join(base, "helve")}
}

func (l *loader) managedDirs() []string {
	if l.opt.Managed != nil {
		return l.opt.Managed
	}
	base := "/etc"
	switch runtime.GOOS {
	case "darwin":
		base = "/Library/Application Support"
	case "windows":
		if base = l.opt.Env("ProgramData"); base == "" {
			base = `C:\ProgramData`
		}
	}
	return []string{filepath.Join(base, "opencode"), filepath.Join(base, "helve")}
}

// configNames gives the names of the files at one place, lowest first.
func configNames(endings ...string) []string {
	var names []string
	for _, program := range []string{"opencode", "helve"} {
		for _, ending := range endings {
			names = append(names, program+ending)
		}
	}
	return names
}

func bothNames(name string) []string { return []string{"OPENCODE_" + name, "HELVE_" + name} }

func (l *loader) flag(name string) bool {
	return slices.ContainsFunc(bothNames(name), func(name string) bool {
		v := strings.ToLower(l.opt.Env(name))
		return v == "true" || v == "1"
	})
}

func (l *loader) abs(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && l.opt.Home != "" {
		return filepath.Join(l.opt.Home, rest)
	}
	if !filepath.IsAbs(path) {
		return filepath.Join(l.opt.Dir, path)
	}
	return filepath.Clean(path)
}

func (l *loader) envInput(name, text string) *input {
	return &input{
		path: name, dir: l.opt.Dir, kind: ofEnv, trusted: true,
		helve: strings.HasPrefix(name, "HELVE_"), data: []byte(text),
	}
}
