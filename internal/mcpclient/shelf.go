package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/tool"
)

// What a server may list.
const (
	maxPages     = 1000
	maxItems     = 10_000
	maxListBytes = 32 << 20 // of all definitions
)

// How often the tools are listed again.
const (
	relistDelay = 50 * time.Millisecond // for more changes to come
	relistPause = time.Second           // between two listings, and
	relistMax   = 30 * time.Second      // at most, when a server goes on and on
)

// A toolList is the tools of a server.
type toolList struct {
	offers map[string]*offer // by the name that models call
	infos  []listed          // in the order of the server
	off    []mcp.Off
}

// A listed is a tool that the server has listed.
type listed struct {
	def  Definition
	name string // what models call it; empty where it is not offered
	off  string // why it is not offered
}

// An offer is a tool that is registered.
type offer struct {
	name   string
	def    Definition
	hint   Definition // what of it is believed: def, or what was pinned
	hash   string
	shown  string // how it differs from what was pinned, when it was registered
	remove func()
}

// names records which server owns a tool name.
type names struct {
	mu    sync.Mutex
	owner map[string]claim
}

type claim struct {
	e    *peer
	tool string
}

// loadTools lists the tools of a server and registers them.
func (e *peer) loadTools(ctx context.Context, l *connection) error {
	defs, off, err := l.list(ctx)
	if err != nil {
		if ctx.Err() != nil && e.pool.life.Err() != nil {
			return errClosed
		}
		e.log.Add("helve", "listing the tools failed: "+err.Error())
		if l.remote != nil { // some let everybody in, and want a sign-in only here
			if f := faultOf(l.remote.fault(err)); f.state != mcp.Failed {
				return f
			}
		}
		return &connectError{state: mcp.Failed, text: "Failed to get tools", detail: err.Error()}
	}
	return e.updateTools(l, defs, off)
}

// list asks the server for its tools.
func (l *connection) list(ctx context.Context) (defs []Definition, off []mcp.Off, err error) {
	if !l.has.tools {
		return nil, nil, nil
	}
	limit := connectTimeout(l.e.s)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, timedOut(limit))
	defer cancel()
	size, origin := 0, originOf(l.e.s, l.e.pool.host.Dir)
	err = pages(ctx, func(cursor string) (string, int, error) {
		res, err := l.session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		if err != nil {
			return "", 0, err
		}
		for _, t := range res.Tools {
			if t == nil {
				continue
			}
			d, err := DefinitionOf(l.e.s.Name, t)
			if err != nil {
				name, _ := text.Cut(t.Name, maxLabel)
				off = append(off, mcp.Off{Tool: name, Reason: err.Error()})
				continue
			}
			d.Origin, d.Project = origin, hashTexts(l.e.pool.host.Dir)
			defs = append(defs, d)
			if size += len(d.Input) + len(d.Description) + len(d.Title) + len(d.Tool); size > maxListBytes {
				return "", 0, fmt.Errorf("the list of tools is larger than %d MiB", maxListBytes>>20)
			}
		}
		return res.NextCursor, len(res.Tools), nil
	})
	return defs, off, err
}

// pages calls page for every page of a list, until there is no next cursor.
func pages(ctx context.Context, page func(cursor string) (next string, items int, err error)) error {
	cursor, total := "", 0
	seen := map[string]bool{}
	for range maxPages {
		next, n, err := page(cursor)
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return err
		}
		if total += n; total > maxItems {
			return fmt.Errorf("the list has more than %d entries", maxItems)
		}
		if next == "" {
			return nil
		}
		if seen[next] {
			return errors.New("the list repeats itself: a cursor came twice")
		}
		seen[next] = true
		cursor = next
	}
	return fmt.Errorf("the list has more than %d pages", maxPages)
}

// keepList lists the tools again when the server notifies of a change. The more often it does, the
// longer the intervals.
func (l *connection) keepList() {
	pause := relistPause
	for {
		select {
		case <-l.dead:
			return
		case <-l.relist:
		}
		if !l.sleep(relistDelay) {
			return
		}
		select { // what came meanwhile is the same change
		case <-l.relist:
		default:
		}
		if err := l.e.loadTools(l.life, l); err != nil {
			if !l.isDead() {
				l.close(err)
			}
			return
		}
		if !l.sleep(pause) {
			return
		}
		if len(l.relist) > 0 {
			pause = min(2*pause, relistMax)
		} else {
			pause = max(pause/2, relistPause)
		}
	}
}

// sleep waits, and reports false when the connection has ended.
func (l *connection) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-l.dead:
		return false
	case <-t.C:
		return true
	}
}

// An item is a tool to be put on the list.
type item struct {
	name    string
	def     Definition
	hint    Definition
	hash    string
	changed string
	tool    tool.Tool
}

// updateTools registers what a server offers now, and unregisters the rest. Unchanged tools are
// left alone. If it fails, no tool of the server remains.
func (e *peer) updateTools(l *connection, defs []Definition, off []mcp.Off) error {
	e.updating.Lock()
	defer e.updating.Unlock()
	e.mu.Lock()
	stale := e.off || l.isDead()
	have := e.tools.offers
	e.mu.Unlock()
	if stale {
		return errOff
	}
	infos := make([]listed, 0, len(defs))
	items := make([]item, 0, len(defs))
	for _, d := range defs {
		it, err := e.item(d)
		info := listed{def: d, name: it.name}
		if err != nil {
			info.name, info.off = "", err.Error()
			off = append(off, mcp.Off{Tool: d.Tool, Reason: info.off})
		} else {
			items = append(items, it)
		}
		infos = append(infos, info)
	}
	offers, err := e.offer(items, have)
	if err != nil {
		e.replace(toolList{})
		return &connectError{state: mcp.Failed, text: err.Error(), final: true}
	}
	e.replace(toolList{offers: offers, infos: infos, off: off})
	return nil
}

// item makes the tool of a definition. One that has changed since it was
// approved is the one that was approved, as far as models can tell.
func (e *peer) item(d Definition) (item, error) {
	it := item{name: ToolName(e.s.Name, d.Tool), def: d, hint: d, hash: d.Hash()}
	schema, err := d.Schema()
	if err != nil {
		return it, err
	}
	if it.changed, _ = e.pool.pins.Check(d); it.changed != "" {
		it.hint = e.pool.pins.Shown(d)
		if schema, err = it.hint.Schema(); err != nil {
			return it, err
		}
	}
	h := it.hint
	it.tool, err = tool.Dynamic(tool.Spec{
		Name: it.name, Description: h.Description, Permission: it.name, Schema: schema, External: true,
		ReadOnly: h.ReadOnly, Destructive: h.Destructive, Idempotent: h.Idempotent, OpenWorld: h.OpenWorld,
	}, func(ctx context.Context, c *tool.Call) (*tool.Result, error) { return e.run(ctx, c, it.name) })
	return it, err
}

// offer registers the items that are new or other than before.
func (e *peer) offer(items []item, have map[string]*offer) (map[string]*offer, error) {
	if err := e.claimNames(items); err != nil {
		return nil, err
	}
	offers := make(map[string]*offer, len(items))
	undo := func() {
		for name, o := range offers {
			if have[name] != o {
				o.remove()
			}
		}
	}
	for _, it := range items {
		if old := have[it.name]; old != nil && old.hash == it.hash && old.shown == it.changed {
			offers[it.name] = old
			continue
		}
		remove, err := e.pool.host.Register(it.tool)
		if err != nil {
			undo()
			return nil, fmt.Errorf("the tool %q of the server %q can not be offered: %w", it.def.Tool, e.s.Name, err)
		}
		offers[it.name] = &offer{name: it.name, def: it.def, hint: it.hint, hash: it.hash, shown: it.changed, remove: remove}
	}
	return offers, nil
}

// claimNames claims the names of the items for this server. If a server earlier in the
// configuration has one of them, this server is refused; a later one is refused itself.
func (e *peer) claimNames(items []item) error {
	mine := make(map[string]string, len(items))
	for _, it := range items {
		if other, twice := mine[it.name]; twice {
			return fmt.Errorf("the server %q is refused: its tools %q and %q would both be called %s", e.s.Name, other, it.def.Tool, it.name)
		}
		mine[it.name] = it.def.Tool
	}
	if err := e.trespass(items); err != nil {
		return err
	}
	evict := map[*peer]error{}
	n := &e.pool.names
	n.mu.Lock()
	defer func() {
		n.mu.Unlock()
		for other, err := range evict {
			other.refuseTools(err)
		}
	}()
	for _, it := range items {
		c, taken := n.owner[it.name]
		if !taken || c.e == e {
			continue
		}
		clash := func(refused, keeps *peer, a, b string) error {
			return fmt.Errorf("the server %q is refused: its tool %q and the tool %q of the server %q would both be called %s",
				refused.s.Name, a, b, keeps.s.Name, it.name)
		}
		if e.pool.precedes(c.e, e) {
			clear(evict)
			return clash(e, c.e, it.def.Tool, c.tool)
		}
		evict[c.e] = clash(c.e, e, c.tool, it.def.Tool)
	}
	n.release(e)
	if n.owner == nil {
		n.owner = map[string]claim{}
	}
	for name, t := range mine {
		n.owner[name] = claim{e, t}
	}
	return nil
}

// release releases the names of a server; n.mu is held.
func (n *names) release(e *peer) {
	for name, c := range n.owner {
		if c.e == e {
			delete(n.owner, name)
		}
	}
}

// replace replaces the tool list, and unregisters the tools that are no longer on it; e.shelving is
// held.
func (e *peer) replace(s toolList) {
	if s.offers == nil {
		e.pool.names.mu.Lock()
		e.pool.names.release(e)
		e.pool.names.mu.Unlock()
	}
	e.mu.Lock()
	old := e.tools
	e.tools = s
	e.mu.Unlock()
	changed := len(old.offers) != len(s.offers)
	for name, o := range old.offers {
		if s.offers[name] != o {
			o.remove()
			changed = true
		}
	}
	if changed {
		e.pool.tell.changed(e.s.Name)
	}
}

// clear takes all tools away, unless there is a connection again.
func (e *peer) clear() {
	e.updating.Lock()
	defer e.updating.Unlock()
	if e.current() == nil {
		e.replace(toolList{})
	}
}

// Tools returns the tools of a server as it describes them, in its order.
func (p *Pool) Tools(server string) []mcp.Tool {
	e, err := p.find(server)
	if err != nil {
		return nil
	}
	e.mu.Lock()
	infos, off := e.tools.infos, e.tools.off
	e.mu.Unlock()
	var out []mcp.Tool
	described := map[string]bool{}
	for _, i := range infos {
		t := mcp.Tool{Tool: i.def.Tool, Name: i.name, Title: i.def.Title, Description: i.def.Description, Schema: i.def.Input, Off: i.off}
		t.Changed, t.Pinned = p.pins.Check(i.def)
		out = append(out, t)
		described[t.Tool] = true
	}
	for _, o := range off {
		if !described[o.Tool] {
			out = append(out, mcp.Tool{Tool: o.Tool, Off: o.Reason})
		}
	}
	return out
}

// Approve pins a tool as it is now.
func (p *Pool) Approve(server, tool string) error {
	e, err := p.find(server)
	if err != nil {
		return err
	}
	e.mu.Lock()
	infos := e.tools.infos
	e.mu.Unlock()
	found := tool == ""
	for _, i := range infos {
		if tool != "" && tool != i.def.Tool && tool != i.name || i.def.Tool == "" {
			continue
		}
		found = true
		if changed, _ := p.pins.Check(i.def); changed == "" && tool == "" {
			continue // it is pinned when it is first used
		}
		if err := e.pinTool(i.def); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("the server %q has no tool %q", server, tool)
	}
	return nil
}

// pinTool pins a definition, and shows the tool as it is from then on.
func (e *peer) pinTool(d Definition) error {
	if err := e.pool.pins.Keep(d); err != nil {
		return err
	}
	e.mu.Lock()
	o, l := e.tools.offers[ToolName(e.s.Name, d.Tool)], e.link
	e.mu.Unlock()
	if o != nil && o.shown != "" && l != nil {
		l.listChanged()
	}
	return nil
}
