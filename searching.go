package helve

import (
	"fmt"
	"time"

	"github.com/helve-dev/helve/internal/builtin"
	"github.com/helve-dev/helve/internal/search"
)

// Search says how tools look for files and in files. The zero value keeps
// what it has learned about a tree for the next search, which is right for a
// program that goes on running.
type Search struct {
	// Order is "newest", which is also meant by "": the files changed last
	// come first. "first" takes what is found first, which is quicker in a
	// large tree that was never searched before and not the same every time.
	// "name" sorts by name.
	Order string
	// Limit is how many lines or names are shown; 100 when 0, all when less
	// than 0.
	Limit int
	// Budget is how long one search may take; 10 seconds when 0, and no limit
	// when less than 0. After it the answer is what was found so far.
	Budget time.Duration
	// Stateless keeps nothing between searches: right for a program that
	// makes one call and ends.
	Stateless bool
	// Memory is how many bytes the index of what is kept may take; 128 MiB
	// when 0, and no index when less than 0.
	Memory int
}

// searching makes the room for searches.
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
