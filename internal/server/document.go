package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

// maxBody bounds a body that no gate has bounded before.
const maxBody = 64 << 20

// apiVersion is the version of the routes. It is not the program's, so that
// the document changes only when a route does.
const apiVersion = "1"

// about is what is said of a route.
type about struct {
	at      string // method and path
	id      string // what generated clients call it
	tag     string
	summary string
	text    string
	fails   []int // the statuses of its problems, beside those that any route has
	open    bool  // it needs no token
	status  int   // of the answer; 200 or 204 when 0

	answers map[int]reflect.Type // where several answers are possible
}

// registerRoutes makes the routes and the document that describes them.
func (s *Server) registerRoutes() error {
	s.mux = http.NewServeMux()
	schemas := huma.NewMapRegistry("#/components/schemas/", schemaName)
	schemas.RegisterTypeAlias(reflect.TypeFor[message.Info](), reflect.TypeFor[messageInfo]())
	schemas.RegisterTypeAlias(reflect.TypeFor[tool.Inner](), reflect.TypeFor[toolInner]())
	codec := huma.Format{Marshal: marshal, Unmarshal: json.Unmarshal}
	s.api = humago.New(s.mux, huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info:    &huma.Info{Title: "helve", Version: apiVersion, Description: aboutAPI},
			Tags: []*huma.Tag{
				{Name: "server", Description: "the server itself, and getting into it"},
				{Name: "events", Description: "what happens, as it happens"},
				{Name: "sessions", Description: "conversations, and what calls share"},
				{Name: "calls", Description: "calls of tools"},
				{Name: "prompts", Description: "agents at work"},
				{Name: "requests", Description: "what waits for a person"},
				{Name: "rules", Description: "what is allowed"},
				{Name: "files", Description: "files, what was changed, and taking it back"},
				{Name: "jobs", Description: "commands in the background"},
				{Name: "status", Description: "other programs that work here"},
			},
			Components: &huma.Components{
				Schemas: schemas,
				SecuritySchemes: map[string]*huma.SecurityScheme{
					"token": {Type: "http", Scheme: "bearer", Description: "the token of the server, which is in the file that it named when it started"},
				},
			},
			Security: []map[string][]string{{"token": {}}},
		},
		Formats:                      map[string]huma.Format{"application/json": codec, "json": codec},
		DefaultFormat:                "application/json",
		RejectUnknownQueryParameters: true,
		Transformers:                 []huma.Transformer{translator(schemas)},
	})
	s.routeInfo()
	s.routeOpen()
	s.routeProof()
	s.routeSessions()
	s.routeCalls()
	s.routePrompts()
	s.routeRequests()
	s.routeRules()
	s.routeFiles()
	s.routeJobs()
	s.routeStatus()
	s.byHand()
	doc := s.api.OpenAPI()
	neverNull(doc)
	leaveRoom(doc)
	raw, err := json.Marshal(doc)
	if err != nil {
		return fmt.Errorf("making the OpenAPI document: %w", err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		return fmt.Errorf("making the OpenAPI document: %w", err)
	}
	out.WriteByte('\n')
	s.doc = out.Bytes()
	return nil
}

const aboutAPI = "A tool runtime for coding agents. Times are milliseconds since the epoch, or RFC 3339 where they are strings. " +
	"A request that fails is answered with a problem (RFC 9457)."

// marshal encodes without escaping for HTML, which nobody asked for.
func marshal(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// operation is what huma is told of a route.
func (s *Server) operation(a about) huma.Operation {
	method, path, _ := strings.Cut(a.at, " ")
	op := huma.Operation{
		Method: method, Path: path, OperationID: a.id, Tags: []string{a.tag}, Summary: a.summary, Description: a.text,
		DefaultStatus: a.status, MaxBodyBytes: maxBody, BodyReadTimeout: -1, // the gate has read it already
		Responses: map[string]*huma.Response{"default": s.failure("A problem.")},
	}
	for _, status := range a.fails {
		op.Responses[strconv.Itoa(status)] = s.failure(http.StatusText(status) + ".")
	}
	for status, t := range a.answers {
		op.Responses[strconv.Itoa(status)] = &huma.Response{
			Description: http.StatusText(status),
			Content:     map[string]*huma.MediaType{"application/json": {Schema: s.schema(t)}},
		}
	}
	if a.open {
		op.Security = []map[string][]string{{}}
	}
	return op
}

func (s *Server) schema(t reflect.Type) *huma.Schema {
	return s.api.OpenAPI().Components.Schemas.Schema(t, true, "")
}

func (s *Server) failure(description string) *huma.Response {
	return &huma.Response{
		Description: description,
		Content:     map[string]*huma.MediaType{"application/problem+json": {Schema: s.schema(reflect.TypeFor[problem]())}},
	}
}

// route adds a route. Every error of its handler becomes a problem.
func route[I, O any](s *Server, a about, handle func(context.Context, *I) (*O, error)) {
	huma.Register(s.api, s.operation(a), func(ctx context.Context, in *I) (*O, error) {
		if s.rt == nil {
			return nil, absent("a runtime")
		}
		out, err := handle(ctx, in)
		if err == nil {
			return out, nil
		}
		p := problemOf(err)
		if p.Status >= http.StatusInternalServerError && p.Status != http.StatusServiceUnavailable && p.Status != http.StatusNotImplemented {
			s.log.Error("a request failed", "route", a.at, "error", err)
		}
		return nil, p
	})
}

// byHand describes the two routes that huma does not serve.
func (s *Server) byHand() {
	document := s.operation(about{at: "GET /v1/openapi.json", id: "getOpenAPI", tag: "server",
		summary: "This document", text: "Describes every route in OpenAPI 3.1."})
	document.Responses["200"] = &huma.Response{
		Description: "The document",
		Content:     map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Type: "object", AdditionalProperties: true}}},
	}
	s.api.OpenAPI().AddOperation(&document)
	s.mux.HandleFunc("GET /v1/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(s.doc) // the client may be gone
	})

	stream := s.operation(about{at: "GET /v1/events", id: "streamEvents", tag: "events",
		summary: "What happens, as it happens", text: aboutEvents})
	words := &huma.Schema{Type: "string"}
	explode := true
	stream.Parameters = []*huma.Param{
		{Name: "session", In: "query", Description: "only what is about this session; may be repeated", Explode: &explode,
			Schema: &huma.Schema{Type: "array", Items: words}},
		{Name: "types", In: "query", Description: "only these types, with commas between them", Schema: words},
		{Name: "after", In: "query", Description: "the id of the last event that was seen", Schema: words},
		{Name: "Last-Event-ID", In: "header", Description: "the same, as browsers send it", Schema: words},
	}
	stream.Responses["200"] = &huma.Response{
		Description: "A stream of events",
		Content:     map[string]*huma.MediaType{"text/event-stream": {Schema: s.eventSchema()}},
	}
	s.api.OpenAPI().AddOperation(&stream)
}

const aboutEvents = "Server-sent events. Each has an id, its type as the event's name, and one line of JSON as its data, which the schema " +
	"describes. The first is named hello and has no id; its data is {instance, seq, resumed}. Where resumed is false, what was " +
	"known before may be out of date. events.missed says that some events can not be given any more. A line that begins with a " +
	"colon only keeps the connection open."

// schemaName names a type in the document: ours and the runtime's as they are
// called, those of other packages with the package before, so that none clash.
// Names that are out stay: clients are written with them.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name := t.Name()
	if name == "" {
		return huma.DefaultSchemaNamer(t, hint)
	}
	name = strings.ToUpper(name[:1]) + name[1:]
	switch t {
	case reflect.TypeFor[record.Session](): // ours has its status too
		return "SessionInfo"
	case reflect.TypeFor[record.Call]():
		return "CallRecord"
	case reflect.TypeFor[record.Failure]():
		return "CallError"
	case reflect.TypeFor[permission.RelatedRequest]():
		return "PermissionPart"
	case reflect.TypeFor[model.Ref]():
		return "MessageModelRef"
	case reflect.TypeFor[model.Tokens]():
		return "MessageTokens"
	case reflect.TypeFor[model.CacheTokens]():
		return "MessageCache"
	case reflect.TypeFor[event.SessionUpdated]():
		return "SessionChangedEvent"
	case reflect.TypeFor[event.ScriptsChanged]():
		return "CustomChangedEvent"
	case reflect.TypeFor[event.ScriptLogged]():
		return "ScriptSaidEvent"
	}
	if isEvent(t) {
		return name + "Event"
	}
	dir := t.PkgPath()
	switch pkg := dir[strings.LastIndex(dir, "/")+1:]; pkg {
	case "", "helve", "agent", "server", "event", "record":
		return name
	case "mcp":
		return "MCP" + name
	case "lsp":
		return "LSP" + name
	default:
		pkg = strings.ToUpper(pkg[:1]) + pkg[1:]
		return pkg + strings.TrimPrefix(name, pkg)
	}
}
