package anthropic

import (
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/helve-dev/helve/model"
)

const maxName = 64

// A fitting maps names to names that the API accepts, one to one and always the same way, and maps
// them back.
type fitting struct {
	limit    int // maximum bytes of a name; 0 for no limit
	to, from map[string]string
}

func newFitting(limit int) *fitting {
	return &fitting{limit: limit, to: map[string]string{}, from: map[string]string{}}
}

// reserve keeps valid names unchanged, so that no other name is mapped to them.
func (f *fitting) reserve(name string) {
	if name != "" && f.made(name) == name {
		f.to[name], f.from[name] = name, name
	}
}

// nameFor returns the name for the API.
func (f *fitting) nameFor(name string) string {
	if fit, ok := f.to[name]; ok {
		return fit
	}
	fit := f.made(name)
	for salt := 0; f.inUse(fit); salt++ {
		// Not a number: it would depend on which other names there are.
		h := fnv.New32a()
		fmt.Fprintf(h, "%s %d", name, salt)
		tail := fmt.Sprintf("_%08x", h.Sum32())
		fit = f.made(name)
		if f.limit > 0 {
			fit = fit[:min(len(fit), f.limit-len(tail))]
		}
		fit += tail
	}
	f.to[name], f.from[fit] = fit, name
	return fit
}

func (f *fitting) inUse(fit string) bool {
	_, ok := f.from[fit]
	return ok
}

// back returns the original of a mapped name. An unknown name is returned unchanged.
func (f *fitting) back(fit string) string {
	if name, ok := f.from[fit]; ok {
		return name
	}
	return fit
}

func (f *fitting) made(name string) string {
	fit := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	if fit == "" {
		fit = "_"
	}
	if f.limit > 0 {
		fit = fit[:min(len(fit), f.limit)]
	}
	return fit
}

// names maps the names of tools and the ids of calls in a request.
type names struct{ tools, ids *fitting }

func namesOf(req model.Request) names {
	n := names{newFitting(maxName), newFitting(0)}
	for _, t := range req.Tools {
		n.tools.reserve(t.Name)
	}
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			if p.Call != nil {
				n.ids.reserve(p.Call.ID)
			}
		}
	}
	for _, t := range req.Tools {
		n.tools.nameFor(t.Name)
	}
	return n
}
