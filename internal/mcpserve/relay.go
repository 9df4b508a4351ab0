package mcpserve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/tool"
)

// How lists of other servers are asked for and given on.
const (
	listWait  = 5 * time.Second // for servers to list what they have
	keepLists = time.Hour       // to find out whose something is
	freshList = time.Second     // to find out that no server has it
	pageItems = 1000
	pageBytes = 4 << 20
)

// The kinds of things that other servers have beside tools.
const (
	resources = iota
	prompts
	kinds
)

// A relay caches what other servers offer, to know which server owns an entry. The cache is valid
// until a server comes, goes or notifies of a change.
type relay struct {
	resources catalog[mcp.Resource]
	templates catalog[mcp.Template]
	prompts   catalog[mcp.Prompt]
}

// stale clears the cache.
func (r *relay) stale() {
	r.resources.stale()
	r.templates.stale()
	r.prompts.stale()
}

// A catalog is a list of all servers, in the order of the config.
type catalog[T any] struct {
	mu      sync.Mutex
	changes int
	made    time.Time // zero when it is no good
	all     []T
}

func (c *catalog[T]) stale() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	c.made, c.all = time.Time{}, nil
}

// get returns the list, unless it is older than age, in which case the servers are asked. A server
// that does not answer is left out, and the list is then not cached.
func (c *catalog[T]) get(age time.Duration, ask func() ([]T, error)) ([]T, error) {
	c.mu.Lock()
	all, changes := c.all, c.changes
	known := !c.made.IsZero() && time.Since(c.made) < age
	c.mu.Unlock()
	if known {
		return all, nil
	}
	all, err := ask()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes == changes && err == nil {
		c.made, c.all = time.Now(), all
	}
	return all, err
}

// A lister asks all servers for one of their lists.
type lister[T any] func(ctx context.Context, server string) ([]T, error)

// catalogOf fetches one of the lists. Errors are logged and leave the other servers' entries.
func catalogOf[T any](ctx context.Context, v visit, c *catalog[T], list lister[T]) []T {
	all, err := c.get(v.age, func() ([]T, error) {
		v.h.loadSources(v.se.s.life)
		ctx, cancel := context.WithTimeout(ctx, listWait)
		defer cancel()
		return list(ctx, "")
	})
	if err != nil && ctx.Err() == nil {
		v.se.s.log.Warn("a server did not list what it has", "error", err)
	}
	return all
}

// A visit is a list of what the servers of a runtime offer, not older than age.
type visit struct {
	se  *session
	h   *sharedRuntime
	age time.Duration
}

func (v visit) resources(ctx context.Context) []mcp.Resource {
	return catalogOf(ctx, v, &v.h.relay.resources, v.h.rt.MCP().Resources)
}

func (v visit) templates(ctx context.Context) []mcp.Template {
	return catalogOf(ctx, v, &v.h.relay.templates, v.h.rt.MCP().Templates)
}

func (v visit) prompts(ctx context.Context) []mcp.Prompt {
	return catalogOf(ctx, v, &v.h.relay.prompts, v.h.rt.MCP().Prompts)
}

// relayed serves requests about the resources and prompts of other servers. It returns nothing for
// anything else.
func (se *session) relayed(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
	switch p := req.GetParams().(type) {
	case *sdk.ReadResourceParams:
		return se.readResource(ctx, p.URI, se.s.stream(req))
	case *sdk.GetPromptParams:
		return se.getPrompt(ctx, p, se.s.stream(req))
	case *sdk.CompleteParams:
		return se.completeArgument(ctx, p)
	}
	switch method {
	case "resources/list":
		p, _ := req.GetParams().(*sdk.ListResourcesParams)
		return se.listResources(ctx, p)
	case "resources/templates/list":
		p, _ := req.GetParams().(*sdk.ListResourceTemplatesParams)
		return se.listTemplates(ctx, p)
	case "prompts/list":
		p, _ := req.GetParams().(*sdk.ListPromptsParams)
		return se.listPrompts(ctx, p)
	}
	return nil, nil
}

// withCall makes a call for a request that is not one of a tool. It waits for its
// turn as others do, and what has to be asked is asked the same way.
func (se *session) withCall(ctx, stream context.Context, do func(ctx context.Context, h *sharedRuntime, c tool.Call) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(se.life, func() { cancel(context.Cause(se.life)) })()
	free, err := se.slot(ctx)
	if err != nil {
		return err
	}
	defer free()
	h, err := se.currentRuntime(ctx)
	if err != nil {
		return se.runtimeError(ctx, err)
	}
	o := se.s.opt
	c := tool.Call{ID: h.rt.NewID("call"), Session: se.id, Agent: o.Agent, Model: o.Model, Provider: o.Provider, Client: clientKind}
	if err := se.registerCall(h, c.ID, &callState{ctx: ctx, stream: stream}); err != nil {
		return se.runtimeError(ctx, err)
	}
	defer se.unregisterCall(h, c.ID)
	err = do(ctx, h, c)
	if err != nil && ctx.Err() != nil {
		return canceledError(ctx)
	}
	return refusal(err)
}

// refusal converts an error to the protocol's form. A server's error keeps its code; a decision of
// a rule names the rule.
func refusal(err error) error {
	if err == nil {
		return nil
	}
	out := &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	if wire, ok := errors.AsType[*jsonrpc.Error](err); ok {
		out.Code = wire.Code
	}
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		return out
	}
	switch e.Kind {
	case tool.UnknownTool: // the tool that it would be is no matter of the client's
		out.Code, out.Message = jsonrpc.CodeInvalidRequest, "It can not be had."
	case tool.Denied, tool.Rejected, tool.Unattended:
		out.Code = jsonrpc.CodeInvalidRequest
	case tool.Internal:
		out.Code, out.Message = jsonrpc.CodeInternalError, "This is a fault of helve and not of the request."
	}
	if e.Hint != "" {
		out.Message += "\n\n" + e.Hint
	}
	if data, err := json.Marshal(map[string]any{"kind": e.Kind, "code": e.Code}); err == nil {
		out.Data = data
	}
	return out
}

// saw notes whose things the client is shown, and gives them back.
func (se *session) saw(kind int, all []offered) []offered {
	se.mu.Lock()
	defer se.mu.Unlock()
	if se.lists[kind] == nil {
		se.lists[kind] = map[string]bool{}
	}
	for _, l := range all {
		se.lists[kind][l.server] = true
	}
	return all
}

// listNotice is the notice that a list has changed.
func listNotice(kind int) notice {
	if kind == prompts {
		return notice{method: "notifications/prompts/list_changed"}
	}
	return notice{method: "notifications/resources/list_changed"}
}

// relist notifies the clients that have requested a list, and that pick accepts, of its change.
func (h *sharedRuntime) relist(kind int, pick func(shown map[string]bool) bool) {
	for _, se := range h.everybody() {
		se.mu.Lock()
		shown := se.lists[kind]
		here := len(se.stays) > 0 && se.stays[len(se.stays)-1] == h
		tell := shown != nil && here && pick(shown)
		se.mu.Unlock()
		if tell {
			se.notify(h, listNotice(kind))
		}
	}
}

func everyone(map[string]bool) bool { return true }

// hearServers handles the events of other servers.
func (h *sharedRuntime) hearServers(e event.Event) {
	switch p := e.Properties.(type) {
	case event.MCPUpdated:
		for _, se := range h.everybody() {
			se.mu.Lock()
			wanted, n := se.watches[resourceWatch{h, p.Server, p.URI}], notice{method: updatedMethod, uri: p.Part}
			if len(se.notices.waiting) >= maxWatches { // it takes them slowly: then the whole has changed
				n.uri = p.URI
			}
			se.mu.Unlock()
			if wanted {
				se.notify(h, n)
			}
		}
	case event.MCPRelisted:
		h.relisted(p)
	case event.MCPChanged:
		h.relay.stale()
		has := [kinds]bool{resources: p.Resources, prompts: p.Prompts}
		for kind, there := range has {
			h.relist(kind, func(shown map[string]bool) bool {
				if there == shown[p.Server] {
					return false
				}
				shown[p.Server] = there
				return true
			})
		}
	}
}

// relisted handles a change of what a server offers.
func (h *sharedRuntime) relisted(e event.MCPRelisted) {
	h.relay.stale()
	if e.Resources {
		h.relist(resources, everyone)
	}
	if e.Prompts {
		h.relist(prompts, everyone)
	}
}

// offered is an entry that a server lists: its key, and the entry as received.
type offered struct {
	server, key string
	wire        json.RawMessage
}

// pageOf decodes the entries that servers list, applies mend, and returns one page of them. Of
// those with the same key the first counts; undecodable ones are left out.
func pageOf[T any](things []offered, cursor string, mend func(*T, offered)) (part []*T, next string, err error) {
	var all []listItem[*T]
	taken := map[string]bool{}
	for _, l := range things {
		one := new(T)
		if taken[l.key] || json.Unmarshal(l.wire, one) != nil {
			continue
		}
		taken[l.key] = true
		mend(one, l)
		all = append(all, listItem[*T]{one, len(l.wire)})
	}
	return page(all, cursor)
}

// A listItem is an entry of a forwarded list, and how many bytes it takes.
type listItem[T any] struct {
	it   T
	size int
}

// page cuts one page out of a list. A cursor is where the page begins.
func page[T any](all []listItem[T], cursor string) (part []T, next string, err error) {
	from := 0
	if cursor != "" {
		if from, err = strconv.Atoi(cursor); err != nil || from < 0 || from > len(all) {
			return nil, "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is no such page: the list may have changed, begin again"}
		}
	}
	part, bytes := []T{}, 0
	for i, e := range all[from:] {
		if bytes += e.size; i > 0 && (i == pageItems || bytes > pageBytes) {
			return part, strconv.Itoa(from + i), nil
		}
		part = append(part, e.it)
	}
	return part, "", nil
}

// couldBe reports whether a URI may match a template: whether it contains the texts around its
// variables, in order. The server itself decides.
func couldBe(template, uri string) bool {
	literal, rest, variable := strings.Cut(template, "{")
	if !variable {
		return template == uri
	}
	uri, ok := strings.CutPrefix(uri, literal)
	if !ok {
		return false
	}
	for {
		_, after, closed := strings.Cut(rest, "}")
		if !closed {
			return false
		}
		literal, rest, variable = strings.Cut(after, "{")
		if !variable {
			return strings.HasSuffix(uri, literal)
		}
		at := strings.Index(uri, literal)
		if at < 0 {
			return false
		}
		uri = uri[at+len(literal):]
	}
}

// unknown is the error for a name that no server has.
func unknown(what, name string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("no MCP server that is connected has the %s %q", what, name)}
}
