package cli

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/helve-dev/helve/internal/config"
	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/plugin"
)

// watchFiles is how often a long-running program checks the user's files for changes.
const watchFiles = time.Second

// plugins converts the configuration of the user's tools, plugins and hooks to options.
func (s *setup) plugins() plugin.Options {
	out := s.cfg.Custom
	out.Commands = plugin.HookCommands{Before: s.hookCommands(s.cfg.Hooks.Before), After: s.hookCommands(s.cfg.Hooks.After), Event: s.hookCommands(s.cfg.Hooks.Event)}
	out.Config = redactJSON(s.cfg.Raw)
	for _, f := range s.cfg.Folders {
		folder := plugin.Folder{Path: f.Path, Project: f.Guarded}
		if f.Guarded {
			folder.Trusted = func() bool { return config.TrustedFolder(s.opt, f.Path) }
			folder.Stamp = func() string { return config.TrustStamp(s.opt, f.Path) }
		}
		out.Folders = append(out.Folders, folder)
	}
	for _, e := range s.cfg.Plugins {
		if p, ok := pluginEntry(e); ok {
			p.Trusted = func() bool { return s.trustedPlugin(p, e.From.File) }
			out.Entries = append(out.Entries, p)
		}
	}
	return out
}

// pluginEntry reads an entry of the list of plugins: a name, or a name and options.
func pluginEntry(e config.Entry) (plugin.Entry, bool) {
	p := plugin.Entry{Base: e.Dir}
	if json.Unmarshal(e.Value, &p.Spec) == nil {
		return p, p.Spec != ""
	}
	var pair []json.RawMessage
	if json.Unmarshal(e.Value, &pair) != nil || len(pair) == 0 || json.Unmarshal(pair[0], &p.Spec) != nil {
		return p, false // a problem of the config, reported there
	}
	if len(pair) > 1 {
		p.Options = pair[1]
	}
	return p, p.Spec != ""
}

// trustedPlugin reports whether a plugin that a config file names may be run. A
// file of the project may where it was trusted: with its config folder or,
// outside of those, with the config file of the project that names it. Packages
// are trusted with the file that names them.
func (s *setup) trustedPlugin(p plugin.Entry, from string) bool {
	path, isFile := config.PluginPath(p.Spec, p.Base)
	if !isFile || pluginMissing(path) { // it is reported as missing, and permission is requested again before it runs
		return true
	}
	guarded := slices.ContainsFunc(s.cfg.Sources, func(src config.Source) bool { return src.Path == from && src.Guarded })
	named := !guarded || config.TrustedFile(s.opt, from)
	for _, f := range s.cfg.Folders {
		if disk.Within(f.Path, path) {
			return named && (!f.Guarded || config.TrustedFolder(s.opt, f.Path))
		}
	}
	root := s.opt.Worktree
	if filepath.Dir(root) == root { // no worktree: not the whole disk
		root = s.opt.Dir
	}
	if real, err := filepath.EvalSymlinks(path); err == nil && disk.Within(root, real) && !disk.Within(root, path) {
		return false // a file of the project under another name, by which it was not hashed
	}
	if guarded {
		return named
	}
	return !disk.Within(root, path)
}

// pluginMissing reports whether neither a plugin's file nor one with an ending that
// may be left out is there.
func pluginMissing(path string) bool {
	for _, ending := range []string{"", ".ts", ".js"} {
		if _, err := os.Lstat(path + ending); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

func (s *setup) hookCommands(list []config.HookCommand) (out []plugin.HookCommand) {
	for _, h := range list {
		h.Command = slices.Clone(h.Command)
		if len(h.Command) > 0 && strings.ContainsAny(h.Command[0], `/\`) && !filepath.IsAbs(h.Command[0]) {
			h.Command[0] = filepath.Join(h.Base, h.Command[0])
		}
		if h.Line != "" {
			h.Command = []string{"/bin/sh", "-c", h.Line}
			if runtime.GOOS == "windows" {
				h.Command = []string{"cmd", "/C", h.Line}
			}
		}
		h.Trusted = s.trustedHook(h.Source.File)
		out = append(out, h.HookCommand)
	}
	return out
}

// trustedHook returns a function that reports whether the config file of a hook, and what it names,
// is still what was trusted; nil for the user's own.
func (s *setup) trustedHook(file string) func() bool {
	i := slices.IndexFunc(s.cfg.Sources, func(src config.Source) bool { return src.Path == file })
	if i < 0 || !s.cfg.Sources[i].Guarded {
		return nil
	}
	return func() bool { return config.TrustedFile(s.opt, file) }
}

// guards returns the files that define hooks and plugins of the config: changing them may change
// what is allowed, so tools may change them only if a rule names them.
func (s *setup) guards() (out []string) {
	add := func(path string) {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			out = append(out, path)
		}
	}
	for _, h := range slices.Concat(s.cfg.Hooks.Before, s.cfg.Hooks.After, s.cfg.Hooks.Event) {
		for _, word := range config.HookPrograms(h) {
			for _, dir := range []string{h.Base, s.opt.Dir} {
				if !filepath.IsAbs(word) {
					add(filepath.Join(dir, word))
				} else {
					add(word)
				}
			}
		}
	}
	for _, e := range s.cfg.Plugins {
		if p, ok := pluginEntry(e); ok {
			if path, isFile := config.PluginPath(p.Spec, p.Base); isFile {
				add(path)
			}
		}
	}
	return out
}

// guardOf says what a withheld key would have protected; "" if that is protected anyway.
func (s *setup) guardOf(w config.Withheld) string {
	switch w.Key {
	case "hooks", "custom":
		if strings.Contains(w.Value, `"required"`) {
			return "no call is to be made without its hooks"
		}
	case "wall":
		if level := s.cfg.Wall.Level; (level == "" || level == "off") && !strings.Contains(w.Value, `"off"`) {
			return "commands run behind the wall"
		}
	}
	return ""
}
