// Package skill finds and reads skills: folders with a file SKILL.md, whose front matter names and
// describes what the text below it teaches.
//
// Skills are found in the folders of several agents, of the project and of the user. Any of them
// may be missing, broken, huge, linked in circles or untrusted. So every SKILL.md is a
// [skill.File], which is taken or says why not; a search is bounded in files, folders, depth and time; and a bad
// file affects only itself.
//
// # Trust
//
// A skill is text for a model, not code: finding and loading one runs nothing. So the skills of an
// untrusted project are offered like any other, since the model could read the same file with its
// read tool anyway. They are marked as Guarded, so that a permission request can show it. An
// untrusted project may not act for the user: its skill never replaces one of the user's own of the
// same name, and links that lead out of the project are not followed.
package skill

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/helve-dev/helve/skill"
)

// Options say where to look for skills. Paths are absolute.
type Options struct {
	skill.Options
	// Dir is where work is done, and Worktree the root of its project, up to
	// which folders above Dir are searched; Dir alone when empty.
	Dir, Worktree string
	// Limits bound a search.
	Limits Limits
}

// Limits bound a search. Zero fields take their defaults.
type Limits struct {
	Files   int           // candidates; 1,000
	Folders int           // 20,000
	Depth   int           // of folders below the one that is searched; 12
	Time    time.Duration // 3 seconds
	Bytes   int64         // of a SKILL.md; 1 MiB
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Files: cmp.Or(l.Files, 1000), Folders: cmp.Or(l.Folders, 20_000), Depth: cmp.Or(l.Depth, 12),
		Time: cmp.Or(l.Time, 3*time.Second), Bytes: cmp.Or(l.Bytes, 1<<20),
	}
}

// A Skill is one that can be loaded. See [Skill.Load].
type Skill struct {
	Name        string
	Description string // on one or more lines; a skill without one is not listed to models
	Path        string // of the SKILL.md
	Dir         string // that the SKILL.md is in
	// Guarded says that it comes with an untrusted project.
	Guarded bool

	fence *fence // where a guarded one may lead; nil for anywhere
	limit int64
}

// Why a candidate is not taken. A code never changes its meaning.
const (
	NoFrontMatter  = "no-front-matter"
	BadYAML        = "bad-yaml"
	NoName         = "no-name"
	BadName        = "bad-name"
	BadDescription = "bad-description"
	NotUTF8        = "not-utf8"
	TooLarge       = "too-large"
	NotAFile       = "not-a-file"
	Unreadable     = "unreadable"
	Misnamed       = "misnamed"  // another spelling of SKILL.md
	LeadsOut       = "leads-out" // a link out of a project that is not trusted
	Replaced       = "replaced"  // a later one has the same name
	Withheld       = "withheld"  // the user has one of the name, and the project is not trusted
	SameFile       = "same-file" // found before, by another way
)

// A Set is what a search has found. It does not change.
type Set struct {
	// Skills are those that can be loaded, by name.
	Skills []Skill
	// Files are all files that were looked at, in the order in which later ones replace earlier
	// ones.
	Files    []skill.File
	Problems []skill.Problem
}

// Get returns the skill of that name.
func (s *Set) Get(name string) (Skill, bool) {
	i, ok := slices.BinarySearchFunc(s.Skills, name, func(k Skill, name string) int { return strings.Compare(k.Name, name) })
	if !ok {
		return Skill{}, false
	}
	return s.Skills[i], true
}

// A find is a candidate with the data to decide about it.
type find struct {
	skill.File
	dir   string
	info  fs.FileInfo // of the file; nil if there is none
	fence *fence
}

// decide chooses among the finds, which are in the order of their places: the last one of a name
// counts, unless it is from an untrusted project and an earlier one is the user's.
func decide(finds []find, limit int64) *Set {
	set := &Set{Files: make([]skill.File, len(finds))}
	holder := map[string]int{} // of a name
	for i := range finds {
		f := &finds[i]
		if f.Code != "" {
			continue
		}
		h, taken := holder[f.Name]
		if !taken {
			holder[f.Name] = i
			continue
		}
		if loser, code, why := contest(&finds[h], f); loser == f {
			f.Code, f.Why = code, why
		} else {
			loser.Code, loser.Why = code, why
			holder[f.Name] = i
		}
	}
	for i, f := range finds {
		set.Files[i] = f.File
		if f.Code == "" {
			set.Skills = append(set.Skills, Skill{
				Name: f.Name, Description: f.Description, Path: f.Path, Dir: f.dir, Guarded: f.Guarded, fence: f.fence, limit: limit,
			})
		}
	}
	slices.SortFunc(set.Skills, func(a, b Skill) int { return strings.Compare(a.Name, b.Name) })
	return set
}

// contest returns which of two finds of one name is not taken, and why.
func contest(earlier, later *find) (loser *find, code, why string) {
	switch {
	case sameFile(earlier.info, later.info) && (later.Guarded || !earlier.Guarded):
		return later, SameFile, "the same file as " + earlier.Path
	case sameFile(earlier.info, later.info):
		return earlier, SameFile, "the same file as " + later.Path
	case later.Guarded && !earlier.Guarded:
		return later, Withheld, "the user has a skill of this name, " + earlier.Path + ", and the project is not trusted"
	}
	return earlier, Replaced, "replaced by " + later.Path
}
