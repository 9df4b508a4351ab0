package custom

import (
	"cmp"
	"github.com/helve-dev/helve/plugin"
	"path/filepath"
	"slices"
	"strings"
)

// Status lists all files in loading order. It looks at the folders, but runs nothing.
func (s *Set) Status() []plugin.File {
	var all []plugin.File
	for _, u := range s.units {
		all = append(all, u.status()...)
	}
	lost := s.shelf.lostTools()
	for i := range all {
		f := &all[i]
		f.Notes = append(f.Notes, s.replaces(f.Tools)...)
		l := lost[f.Path]
		if len(l.notes) == 0 || f.State == plugin.NotTrusted {
			continue
		}
		f.Tools = slices.DeleteFunc(f.Tools, func(id string) bool { return slices.Contains(l.failed, id) })
		f.Problem = strings.TrimPrefix(f.Problem+"\n"+strings.Join(l.notes, "\n"), "\n")
	}
	return append(all, s.ignored...)
}

// replaces returns which tools replace built-in ones.
func (s *Set) replaces(tools []string) (notes []string) {
	if s.opt.Builtin == nil {
		return nil
	}
	for _, id := range tools {
		if s.opt.Builtin(id) {
			notes = append(notes, "Its tool "+id+" takes the place of the built-in one.")
		}
	}
	return notes
}

// Why explains in a sentence why there is no tool of a name, although a file would define it by its
// own name; "" if the tool exists, or there is no such file, or the file was not loaded yet. The
// tool names of a plugin are unknown before it is loaded, so a plugin that failed to load is named
// if no file explains it.
func (s *Set) Why(name string) string {
	s.shelf.mu.Lock()
	_, there := s.shelf.on[name]
	s.shelf.mu.Unlock()
	if there || name == "" {
		return ""
	}
	best, ofPlugin := "", ""
	for _, f := range s.Status() {
		if f.Kind == kindPlugin && ofPlugin == "" && (f.State == plugin.Failed || f.State == plugin.NotTrusted) {
			problem, _, _ := strings.Cut(f.Problem, "\n")
			ofPlugin = "It may be a tool of the plugin " + f.Name + ", which could not be loaded: " + strings.TrimSuffix(problem, ".") + "."
		}
		e := userFile{name: filepath.ToSlash(f.Path)}
		if f.Kind == kindPlugin || !e.mayDefine(name) {
			continue
		}
		if why := missingTool(f, name, e.stem() == name); why != "" {
			if best = why; e.stem() == name {
				break
			}
		}
	}
	return cmp.Or(best, ofPlugin)
}

// missingTool explains why a file that may define a tool has none of that name. ought reports that
// the file is named like the tool.
func missingTool(f plugin.File, name string, ought bool) string {
	problem, _, _ := strings.Cut(f.Problem, "\n")
	for line := range strings.SplitSeq(f.Problem, "\n") {
		if strings.Contains(line, " "+name+" ") {
			problem = line
			break
		}
	}
	problem = strings.TrimSuffix(problem, ".")
	switch {
	case f.State == plugin.NotTrusted:
		return "The file " + f.Path + " would define it, but " + problem + "."
	case f.State == plugin.Failed:
		return "The file " + f.Path + " would define it, but could not be loaded: " + strings.TrimPrefix(problem, f.Path+": ") + "."
	case f.State != plugin.Ready || slices.Contains(f.Tools, name):
		return ""
	case ought && len(f.Tools) == 0 && problem == "":
		return "The file " + f.Path + " is named like it, but exports no tool: a tool is an object with description, args and execute."
	case problem != "":
		return "The file " + f.Path + " may define it, but something is wrong with it: " + strings.TrimPrefix(problem, f.Path+": ") + "."
	case ought && len(f.Tools) > 0:
		return "The file " + f.Path + " is named like it, but defines " + strings.Join(f.Tools, ", ") + ": only a default export has the name of the file."
	}
	return ""
}

// Names returns the names of the tools, and of the files that are not loaded and may define a tool
// of their own name.
func (s *Set) Names() (all []string) {
	s.shelf.mu.Lock()
	for name := range s.shelf.on {
		all = append(all, name)
	}
	s.shelf.mu.Unlock()
	for _, u := range s.units {
		u.mu.Lock()
		u.see()
		for _, e := range slices.Concat(u.scripts, u.programs) {
			if f := u.facts[e.name]; e.kind != kindPlugin && (f == nil || f.late != nil) {
				all = append(all, e.stem())
			}
		}
		u.mu.Unlock()
	}
	return sorted(all)
}

func sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// status returns the status of the unit's files.
func (u *unit) status() (all []plugin.File) {
	u.mu.Lock()
	u.see()
	unsure := u.trusted != nil && u.asked.IsZero() && len(u.scripts)+len(u.programs) > 0
	u.mu.Unlock()
	if unsure {
		u.allowed(true)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, e := range slices.Concat(u.scripts, u.programs) {
		all = append(all, u.fileOf(e))
	}
	return all
}

// fileOf returns the status of one file.
func (u *unit) fileOf(e userFile) plugin.File {
	f := plugin.File{Path: u.path(u.root, e), Name: e.settingsName(), Folder: u.root, Project: u.project, Kind: e.kind, Engine: embedded, State: plugin.NotLoaded}
	if e.kind == kindProgram {
		f.Engine = kindProgram
	}
	if u.denied != "" {
		f.State, f.Problem = plugin.NotTrusted, u.denied
		return f
	}
	if u.build != nil && e.kind != kindProgram {
		f.Hash, f.Needs = u.build.hashFile(e), u.build.needs(e)
	}
	known := u.facts[e.name]
	switch {
	case e.problem != "":
		f.State, f.Problem = plugin.Failed, e.problem
		return f
	case known == nil:
		return f
	}
	f.State, f.Engine, f.Problem, f.LoadTime, f.Hooks = known.state, known.engine, known.problem, known.took, slices.Clone(known.hooks)
	f.Notes = slices.Clone(known.notes)
	for _, t := range known.tools {
		if t.Error == nil {
			f.Tools = append(f.Tools, t.ID)
		}
	}
	for _, d := range known.defs {
		f.Tools, f.Hash = append(f.Tools, d.ID), d.Hash
	}
	return f
}
