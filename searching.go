package helve

import (
	"fmt"
	"time"

	"github.com/helve-dev/helve/internal/builtin"
	"github.com/helve-dev/helve/internal/search"
)

// Search configures how tools search for files and in files. The zero value keeps what a search has
// learned about a tree for the next one, which suits a long-running program.
type Search struct {
	// Order is "newest", the default, for the most recently changed files first; "first" for the
	// order in which files are found, which is faster in a large tree that was never searched
	// before but varies between runs; or "name".
	Order string
	// Limit is how many lines or names are shown; 100 when 0, all when negative.
	Limit int
	// Budget limits the time of one search; 10 seconds when 0, no limit when negative. When it is
	// used up, the search returns what it has found so far.
	Budget time.Duration
	// Stateless keeps nothing between searches, which suits a program that makes one call and
	// exits.
	Stateless bool
	// Memory limits the index kept in memory, in bytes; 128 MiB when 0, no index when negative.
	Memory int
}

// searching creates the search engine of the tools.
func (r *Runtime) searching() (builtin.Searching, error) {
	opt := r.opt.Search
	s := builtin.Searching{Limit: opt.Limit, Budget: opt.Budget}
	switch opt.Order {
	case "", "newest":
		s.Order = search.Newest
	case "first":
		s.Order = search.First
	case "name":
		s.Order = search.ByName
	default:
		return s, fmt.Errorf("the order %q of searches is not one of newest, first, name", opt.Order)
	}
	r.search = search.New(search.EngineOptions{Keep: !opt.Stateless, Memory: opt.Memory})
	s.Engine = r.search
	return s, nil
}
