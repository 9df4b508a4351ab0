package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// An api is what both clients are written from: everything in a fixed order.
type api struct {
	records []*record
	calls   []*call
	events  []eventType
}

// An eventType is what events of one type hold.
type eventType struct {
	name string
	doc  string
	body *shape
}

// A record is a named type.
type record struct {
	name   string
	doc    string
	fields []field
	use    string // where it is met first, for those without a doc
	alias  *shape // instead of fields: another name for this
	sent   bool   // clients send it and never get it
}

// A field is a property of a record or a parameter of a call.
type field struct {
	name     string
	doc      string
	shape    *shape
	required bool
	fallback bool // leaving it out means something else than its zero value
	explode  bool // a list that is sent as several parameters
}

// A call is an operation.
type call struct {
	name   string // in Go
	method string // in upper case
	path   string
	doc    string
	places []string // the names in the path
	query  []field
	body   *shape // nil: none
	answer *shape // nil: none
	stream bool   // events come, which the clients have code of their own for
}

// kind is what sort of value a shape is of.
type kind int

const (
	anything kind = iota
	text
	moment
	whole
	number
	truth
	list
	table
	named
	union
)

// A shape is the type of a value.
type shape struct {
	kind     kind
	elem     *shape // of a list or a table
	name     string // of a named one
	among    []*shape
	words    []string // the texts it may be
	nullable bool
}

// A reader turns a document into an api.
type reader struct {
	doc  *document
	made map[string]*record
	errs []error

	events []eventType
}

// understand reads a document.
func understand(doc *document) (*api, error) {
	r := &reader{doc: doc, made: map[string]*record{}}
	a := &api{}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, method := range []string{"get", "post", "put", "patch", "delete"} {
			if op := doc.Paths[path][method]; op != nil {
				a.calls = append(a.calls, r.call(method, path, op))
			}
		}
	}
	a.events = r.events
	met, got := map[string]bool{}, map[string]bool{}
	for _, c := range a.calls {
		r.reach(c, met, got)
	}
	asked := maps.Clone(met) // what is not only in events
	for _, e := range a.events {
		r.reach(&call{name: e.body.name, answer: e.body}, met, got)
		if rec := r.made[e.body.name]; rec != nil && !asked[e.body.name] {
			rec.doc = strings.TrimPrefix(rec.doc+"; "+e.name+", "+e.doc, "; ")
		}
	}
	for name, rec := range r.made {
		if !met[name] {
			continue // only a part of others
		}
		rec.sent = !got[name]
		a.records = append(a.records, rec)
	}
	slices.SortFunc(a.records, func(x, y *record) int { return cmp.Compare(x.name, y.name) })
	return a, errors.Join(r.errs...)
}

func (r *reader) fail(format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf(format, args...))
}

// call reads an operation.
func (r *reader) call(method, path string, op *operation) *call {
	c := &call{name: goName(op.ID), method: strings.ToUpper(method), path: path,
		doc: strings.TrimSpace(ended(op.Summary) + " " + op.Description)}
	if op.ID == "" {
		r.fail("%s %s has no operationId, so there is no name for it", method, path)
	}
	for _, p := range op.Parameters {
		switch p.In {
		case "path":
			c.places = append(c.places, p.Name)
		case "query":
			c.query = append(c.query, field{name: p.Name, doc: cmp.Or(p.Description, description(p.Schema)), required: p.Required,
				shape: r.shape(p.Schema, c.name+goName(p.Name)), explode: p.Explode == nil || *p.Explode, fallback: nonZero(p.Schema)})
		}
	}
	slices.SortFunc(c.query, func(x, y field) int { return cmp.Compare(x.name, y.name) })
	slices.SortFunc(c.places, func(x, y string) int {
		return cmp.Compare(strings.Index(path, "{"+x+"}"), strings.Index(path, "{"+y+"}"))
	})
	if op.Body != nil {
		if m, ok := op.Body.Content["application/json"]; ok {
			c.body = r.shape(m.Schema, c.name+"Body")
		}
	}
	r.answer(c, op)
	if len(c.places)+min(len(c.query), 1) > 3 || c.body != nil && (len(c.places) > 2 || len(c.query) > 0) {
		r.fail("%s %s takes more than a method with four parameters can be given", method, path)
	}
	return c
}

// answer reads what an operation answers when all is well. Where that depends
// on the status, the answers become one, in which what only some have is
// optional.
func (r *reader) answer(c *call, op *operation) {
	var all []*shape
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		if !strings.HasPrefix(status, "2") {
			continue
		}
		content := op.Responses[status].Content
		if m, ok := content["text/event-stream"]; ok {
			c.stream = true
			r.tells(c, m.Schema)
			return
		}
		if m, ok := content["application/json"]; ok {
			all = append(all, r.shape(m.Schema, c.name+"Answer"))
		}
	}
	all = slices.CompactFunc(all, func(x, y *shape) bool { return x.kind == named && y.kind == named && x.name == y.name })
	switch len(all) {
	case 0:
	case 1:
		c.answer = all[0]
	default:
		c.answer = r.merge(c, all)
	}
}

// tells reads what a stream may tell: alternatives that have a type each, and
// what properties go with it.
func (r *reader) tells(c *call, s *jsonschema.Schema) {
	if s != nil && s.Ref != "" {
		s = r.doc.Components.Schemas[strings.TrimPrefix(s.Ref, refPrefix)]
	}
	if s == nil {
		r.fail("%s %s does not say what it tells", c.method, c.path)
		return
	}
	for _, one := range s.OneOf {
		kind, body := one.Properties["type"], one.Properties["properties"]
		if kind == nil || body == nil {
			continue // anything else
		}
		name := ""
		if kind.Const != nil {
			name, _ = (*kind.Const).(string)
		}
		if name == "" || body.Ref == "" {
			r.fail("%s %s tells events that have no type, or no named properties", c.method, c.path)
			continue
		}
		r.events = append(r.events, eventType{name, one.Description, r.refer(body.Ref)})
	}
}

// merge makes one record of several, named after the one that says most.
func (r *reader) merge(c *call, all []*shape) *shape {
	out := &record{}
	count, most := map[string]int{}, 0
	for _, s := range all {
		rec := r.made[s.name]
		if s.kind != named || rec == nil || rec.alias != nil {
			r.fail("%s %s answers in several shapes, not all of which are objects", c.method, c.path)
			return &shape{}
		}
		if len(rec.fields) > most {
			most, out.name = len(rec.fields), rec.name+"Answer"
		}
		for _, f := range rec.fields {
			if count[f.name]++; count[f.name] == 1 {
				out.fields = append(out.fields, f)
			}
		}
	}
	for i := range out.fields {
		out.fields[i].required = out.fields[i].required && count[out.fields[i].name] == len(all)
	}
	slices.SortFunc(out.fields, func(x, y field) int { return cmp.Compare(x.name, y.name) })
	out.doc = out.name + " is what is answered at once or in the end: what only one of these has is optional."
	if before := r.made[out.name]; before != nil && !slices.EqualFunc(before.fields, out.fields, func(x, y field) bool { return x.name == y.name }) {
		r.fail("%s %s: there is another %s already", c.method, c.path, out.name)
	}
	r.made[out.name] = out
	return &shape{kind: named, name: out.name}
}

// reach notes which records a call reaches, and where each is met first.
func (r *reader) reach(c *call, met, got map[string]bool) {
	visit := func(s *shape, use string, answer bool) {
		seen := map[string]bool{}
		var walk func(s *shape, use string)
		walk = func(s *shape, use string) {
			if s == nil {
				return
			}
			walk(s.elem, use)
			for _, one := range s.among {
				walk(one, use)
			}
			rec := r.made[s.name]
			if s.kind != named || rec == nil || seen[s.name] {
				return
			}
			seen[s.name] = true
			if !met[s.name] {
				met[s.name], rec.use = true, use
			}
			got[s.name] = got[s.name] || answer
			walk(rec.alias, use)
			for _, f := range rec.fields {
				walk(f.shape, fmt.Sprintf("is what %q of [%s] holds.", f.name, rec.name))
			}
		}
		walk(s, use)
	}
	visit(c.answer, fmt.Sprintf("is what [Client.%s] answers with.", c.name), true)
	visit(c.body, fmt.Sprintf("is what [Client.%s] sends.", c.name), false)
	for _, f := range c.query {
		visit(f.shape, fmt.Sprintf("is what %q of [%sQuery] holds.", f.name, c.name), false)
	}
}
