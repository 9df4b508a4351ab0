package builtin

import (
	"context"
	"fmt"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/search"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Searching holds what the search tools need.
type Searching struct {
	Files  *files.Workspace
	Engine *search.Engine
	Order  search.Order
	Limit  int           // of lines and names; 100 when 0, no limit when negative
	Budget time.Duration // 10 seconds when 0, no limit when negative
}

// Defaults.
const (
	searchLimit  = 100
	searchBudget = 10 * time.Second
)

const cutNotice = "(Results are truncated. Consider using a more specific path or pattern.)"

func (s Searching) resultLimit() int {
	if s.Limit == 0 {
		return searchLimit
	}
	return max(s.Limit, 0)
}

func (s Searching) budget() time.Duration {
	if s.Budget == 0 {
		return searchBudget
	}
	return max(s.Budget, 0)
}

// bounded returns a context that ends soon after the search has to.
func (s Searching) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.budget() == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, s.budget()+time.Second)
}

// where returns the options for searching a folder: everything in it except ignored files and git
// folders.
func (s Searching) where(p files.Path) search.Options {
	return search.Options{Dir: p.Real(), Exact: true, Worktree: s.Files.Worktree, Hidden: true, Closed: true}
}

// hidden collects the names of files that are excluded from a search.
type hidden struct {
	mu    sync.Mutex
	found map[string]bool
}

// hiddenNames limits how many names are shown, and hiddenKept how many are kept to choose them
// from.
const (
	hiddenNames = 3
	hiddenKept  = 1000
)

// bar converts a search filter for the engine.
func (h *hidden) bar(s *files.SearchFilter) *search.Exclusion {
	if s == nil {
		return nil
	}
	shut := func(name string) bool {
		if !s.Shut(name) {
			return false
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.found == nil {
			h.found = map[string]bool{}
		}
		if len(h.found) < hiddenKept {
			h.found[name] = true
		}
		return true
	}
	return &search.Exclusion{Key: s.Key(), Suspect: s.Suspect, Shut: shut, Linked: s.Linked}
}

// shownNames returns some of the excluded names, as a person reads them.
func (h *hidden) shownNames() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	names := slices.Sorted(maps.Keys(h.found))
	more := len(names) > hiddenNames
	names = names[:min(len(names), hiddenNames)]
	for i, name := range names {
		names[i] = shownName(name)
	}
	if more {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

// foundAs is the name of a file that was found below p.
func foundAs(p files.Path, name string) string {
	top := strings.TrimSuffix(p.String(), string(filepath.Separator))
	return top + string(filepath.Separator) + filepath.FromSlash(name)
}

// from makes a glob that is relative to the working directory relative to the folder p: "src/*.go"
// becomes "*.go" when src is searched, as in ripgrep. The same goes for one that starts with the
// name of p itself. Others are already relative to p.
func from(dir string, p files.Path, glob string) string {
	rest, negated := strings.CutPrefix(glob, "!")
	tops := []string{p.String(), p.Real()}
	if rel, err := filepath.Rel(dir, p.String()); err == nil && rel != "." {
		tops = append(tops, rel)
	}
	rest = strings.TrimPrefix(rest, "./")
	for _, top := range tops {
		if inner, ok := strings.CutPrefix(rest, filepath.ToSlash(top)+"/"); ok && inner != "" {
			rest = "/" + inner
			break
		}
	}
	if negated {
		return "!" + rest
	}
	return rest
}

// notices say what a search left out, and how to get it.
func notices(s search.Skipped, done, barred string) []string {
	var notes []string
	if s.Failed > 0 {
		notes = append(notes, "(Some paths were inaccessible and skipped)")
	}
	if s.Barred > 0 {
		notes = append(notes, fmt.Sprintf("(%s not %s: denied by rule: %s; one that is given as path can be asked for)", count(s.Barred, "file"), done, barred))
	}
	if s.Binary > 0 {
		notes = append(notes, fmt.Sprintf("(%s not shown, or not to the end)", count(s.Binary, "binary file")))
	}
	if s.Ignored > 0 {
		notes = append(notes, fmt.Sprintf("(%s not %s; give one as path to include it)", count(s.Ignored, "ignored path"), done))
	}
	return notes
}

func lateNotice(budget time.Duration) string {
	return fmt.Sprintf("(Stopped after %v with part of the files looked at. Use a more specific path or pattern.)", budget)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
