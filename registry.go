package helve

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// slowOffer is how long a tool may take to say whether it is offered before the log names it.
const slowOffer = 100 * time.Millisecond

var errNotOffered = errors.New("the tool is not offered to this caller")

// A registry holds the tools in the order in which models are shown them. Of two tools with the
// same name the later one counts; removing it reveals the earlier.
type registry struct {
	log *slog.Logger

	mu      sync.RWMutex
	entries []*registered
	names   map[string][]*registered // each oldest first
}

type registered struct {
	tool    tool.Tool
	spec    tool.Spec
	builtin bool
}

func newRegistry(log *slog.Logger) *registry {
	return &registry{log: log, names: map[string][]*registered{}}
}

func (g *registry) add(t tool.Tool, builtin bool) (remove func(), err error) {
	e := &registered{tool: t, spec: t.Spec(), builtin: builtin}
	g.mu.Lock()
	defer g.mu.Unlock()
	of := g.names[e.spec.Name]
	if e.spec.External && (reserved(e.spec.Name) || slices.ContainsFunc(of, func(o *registered) bool { return o.builtin })) {
		return nil, fmt.Errorf("a tool from outside can not be called %q: that is the name of a built-in tool, or of a permission that rules are about", e.spec.Name)
	}
	g.entries = append(g.entries, e)
	g.names[e.spec.Name] = append(of, e)
	return sync.OnceFunc(func() { g.remove(e) }), nil
}

// builtin reports whether a built-in tool has that name.
func (g *registry) builtin(name string) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return slices.ContainsFunc(g.names[name], func(e *registered) bool { return e.builtin })
}

// reserved reports whether the default rules mention a permission of that name. They would apply to
// an external tool of that name by mistake.
func reserved(name string) bool {
	return slices.ContainsFunc(agent.Specs(agent.SpecOptions{}), func(a agent.Spec) bool {
		return slices.ContainsFunc(a.Policy.Rules, func(r permission.Rule) bool { return r.Permission == name })
	})
}

func (g *registry) remove(e *registered) {
	g.mu.Lock()
	defer g.mu.Unlock()
	is := func(o *registered) bool { return o == e }
	g.entries = slices.DeleteFunc(g.entries, is)
	g.names[e.spec.Name] = slices.DeleteFunc(g.names[e.spec.Name], is)
}

// newest returns the tool that counts for a name.
func (g *registry) newest(name string) (*registered, bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	of := g.names[name]
	if len(of) == 0 {
		return nil, false
	}
	return of[len(of)-1], true
}

// newestByName returns the newest tool of each name, in the place of the first one of that name.
func (g *registry) newestByName() []*registered {
	g.mu.RLock()
	defer g.mu.RUnlock()
	seen := make(map[string]bool, len(g.names))
	out := make([]*registered, 0, len(g.names))
	for _, e := range g.entries {
		if seen[e.spec.Name] {
			continue
		}
		seen[e.spec.Name] = true
		of := g.names[e.spec.Name]
		out = append(out, of[len(of)-1])
	}
	return out
}

// offer asks a tool whether it is offered to a.
func (g *registry) offer(e *registered, a tool.Audience) (spec tool.Spec, ok bool) {
	spec = e.spec
	if spec.Offer == nil {
		return spec, true
	}
	defer func() {
		if p := recover(); p != nil {
			g.log.Error("a tool panicked when asked whether it is offered", "tool", spec.Name, "panic", p)
			ok = false
		}
	}()
	start := time.Now()
	description, ok := spec.Offer(a)
	if took := time.Since(start); took > slowOffer {
		g.log.Info("a tool was slow to say whether it is offered", "tool", spec.Name, "took", took)
	}
	if description != "" {
		spec.Description = description
	}
	return spec, ok
}

// reason returns a tool's own words about why it is not offered, after a space. Most tools have
// none.
func (g *registry) reason(e *registered, a tool.Audience) string {
	if spec, ok := g.offer(e, a); !ok && spec.Description != e.spec.Description {
		return " " + spec.Description
	}
	return ""
}

// offered asks all tools at once and returns the specs of those offered to a, in order.
func (g *registry) offered(a tool.Audience, who *agent.Spec) []tool.Spec {
	entries := g.newestByName()
	specs := make([]tool.Spec, len(entries))
	oks := make([]bool, len(entries))
	var wg sync.WaitGroup
	for i, e := range entries {
		if !e.spec.Catches && hides(who, e.spec) {
			continue
		}
		wg.Go(func() { specs[i], oks[i] = g.offer(e, a) })
	}
	wg.Wait()
	out := specs[:0]
	for i, spec := range specs {
		if oks[i] && !hidesTool(who, spec) {
			out = append(out, spec)
		}
	}
	return out
}

// catcher returns the tool that answers invalid calls.
func (g *registry) catcher() (*registered, bool) {
	for _, e := range g.newestByName() {
		if e.spec.Catches {
			return e, true
		}
	}
	return nil, false
}

// unavailable returns the error for a name that a, or the agent who, cannot call.
func (g *registry) unavailable(name string, specs []tool.Spec, a tool.Audience, who *agent.Spec) *tool.Error {
	names := make([]string, len(specs))
	for i, s := range specs {
		names[i] = s.Name
	}
	said, _ := text.Cut(name, 200)
	err := tool.Fail("unknown-tool", "Model tried to call unavailable tool '%s'. Available tools: %s.", said, strings.Join(names, ", "))
	err.Kind = tool.UnknownTool
	if e, ok := g.newest(name); ok {
		if rule, hidden := who.Policy.Of(e.spec.Name, e.spec.Permission).Hider(e.spec.Permission); hidden {
			err.Hint = fmt.Sprintf("There is a tool %q, and the rule %s, hides it.", name, rule)
		} else {
			err.Hint = fmt.Sprintf("There is a tool %q, and it is switched off for this caller.%s", name, g.reason(e, a))
		}
	} else if near, ok := text.Nearest(name, names); ok {
		err.Hint = fmt.Sprintf("Did you mean %q?", near)
	}
	return err
}
