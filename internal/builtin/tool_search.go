package builtin

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/tool"
)

//go:embed tool_search.md
var toolSearchDoc string

const (
	searchHits   = 5    // tools of an answer that does not say how many
	searchTokens = 3000 // of an answer
	searchNames  = 400  // tokens of it that are kept for names alone
	searchText   = 1200 // bytes of a description
	searchCut    = 600  // bytes of a list of names

	searchOffered = 30              // programs that the description names
	searchMissed  = 50              // programs that are named when nothing fits
	searchWait    = 3 * time.Second // for programs that are still starting
)

type toolSearchInput struct {
	Query string `json:"query" jsonschema:"what to look for"`
	Limit int    `json:"limit,omitempty" jsonschema:"how many tools to show, 5 by default" min:"1" max:"20"`
}

// toolSearch finds tools that are not listed. It needs no permission: it searches only what the
// caller may call anyway.
func toolSearch(calls Calls) tool.Tool {
	desk := &loader{calls: calls}
	spec := tool.Spec{Name: "tool_search", Description: toolSearchDoc, ReadOnly: true, Offer: desk.offer}
	return tool.New(spec, func(ctx context.Context, c *tool.Call, in toolSearchInput) (*tool.Result, error) {
		desk.waitForSources(ctx)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		specs := desk.deferred(c)
		hits := desk.search(specs, in.Query, cmp.Or(in.Limit, searchHits))
		said, _ := text.Cut(in.Query, 200)
		if len(hits) == 0 {
			return &tool.Result{
				Title: text.Count(0, "tool", "tools"), Output: nothingFound(said, specs),
				Metadata: map[string]any{"tools": []string{}, "of": len(specs)},
			}, nil
		}
		names := make([]string, len(hits))
		for i, s := range hits {
			names[i] = s.Name
		}
		return &tool.Result{
			Title: text.Count(len(hits), "tool", "tools"), Output: described(hits, len(specs)),
			Metadata: map[string]any{"tools": names, "of": len(specs)},
		}, nil
	})
}

// offerCompact offers tools that stand in for those of external programs.
func offerCompact(a tool.Audience) (string, bool) { return "", a.Flags["compact"] }

// offer names the programs whose tools can be found: a model does not search for what it does not
// know about.
func (l *loader) offer(a tool.Audience) (string, bool) {
	if !a.Flags["compact"] {
		return "", false
	}
	specs := l.outside(a)
	if len(specs) == 0 {
		return "", true
	}
	return strings.TrimSpace(toolSearchDoc) + "\n\nThere are tools of: " + strings.Join(prefixes(specs, searchOffered), ", ") + ".\n", true
}

// A loader finds the tools that are not listed. It caches the index of the last search.
type loader struct {
	calls Calls
	mu    sync.Mutex
	of    []book
	index *ranking
}

// waitForSources briefly waits for programs that are still connecting.
func (l *loader) waitForSources(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, searchWait)
	defer cancel()
	l.calls.Gather(ctx)
}

// deferred returns the external tools that are offered to the caller.
func (l *loader) deferred(c *tool.Call) []tool.Spec {
	return l.outside(audienceOf(c))
}

// outside returns the external tools that are offered to a.
func (l *loader) outside(a tool.Audience) []tool.Spec {
	a.Flags = map[string]bool{} // without the switch that hides them
	return slices.DeleteFunc(l.calls.Tools(a), func(s tool.Spec) bool { return !s.External })
}

func audienceOf(c *tool.Call) tool.Audience {
	return tool.Audience{Client: c.Client, Provider: c.Provider, Model: c.Model, Agent: c.Agent}
}

// A book is the searchable part of a tool.
type book struct {
	name, description string
	schema            *jsonschema.Schema
}

// search returns the specs that fit a query, best first.
func (l *loader) search(specs []tool.Spec, query string, n int) []tool.Spec {
	books := make([]book, len(specs))
	byName := make(map[string]int, len(specs))
	for i, s := range specs {
		books[i] = book{s.Name, s.Description, s.Schema}
		byName[s.Name] = i
	}
	l.mu.Lock()
	if l.index == nil || !slices.Equal(l.of, books) {
		l.of, l.index = books, newRanking(documents(books))
	}
	index := l.index
	l.mu.Unlock()
	var out []tool.Spec
	for _, h := range index.Search(query, n) {
		out = append(out, specs[byName[h.ID]])
	}
	return out
}

func documents(books []book) []rankedDoc {
	docs := make([]rankedDoc, len(books))
	for i, b := range books {
		docs[i] = rankedDoc{ID: b.name, Name: b.name, Text: b.description}
		if b.schema == nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(b.schema.Properties)) {
			p := rankedParam{Name: name}
			if s := b.schema.Properties[name]; s != nil {
				p.Text = s.Description
			}
			docs[i].Params = append(docs[i].Params, p)
		}
	}
	return docs
}

// described shows the found tools in at most searchTokens: the first completely, those that do not
// fit by name.
func described(hits []tool.Spec, of int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d tools. Call one with tool_call, its arguments as its schema says.\n", len(hits), of)
	left := searchTokens - searchNames - text.Tokens(b.String())
	var rest []string
	for _, s := range hits {
		shown := ""
		if len(rest) == 0 {
			shown = describeTool(s, left)
		}
		if shown == "" {
			rest = append(rest, text.VisibleLine(s.Name))
			continue
		}
		b.WriteString(shown)
		left -= text.Tokens(shown)
	}
	if len(rest) > 0 {
		b.WriteString("\nThere was no room for more; search for one of these by its name to see it: " + enumerated(rest) + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// describeTool shows a tool in at most most tokens, or not at all. A schema that is too long is
// shown without its texts, or only by its parameters.
func describeTool(s tool.Spec, most int) string {
	about, cut := text.Cut(text.Visible(strings.TrimSpace(s.Description)), searchText)
	if cut {
		about += fmt.Sprintf(" … (cut: %d bytes in all)", len(s.Description))
	}
	head := "\n## " + text.VisibleLine(s.Name) + "\n"
	if about != "" {
		head += about + "\n"
	}
	schema := cmp.Or(s.Schema, &jsonschema.Schema{})
	for _, form := range []func(*jsonschema.Schema) string{wholeSchema, plainSchema, onlyParameters} {
		if out := head + form(schema) + "\n"; text.Tokens(out) <= most {
			return out
		}
	}
	return ""
}

func wholeSchema(s *jsonschema.Schema) string { return encodedSchema(s, nil) }

// plainSchema leaves out what does not affect validation.
func plainSchema(s *jsonschema.Schema) string {
	return "(its texts are left out, they are too long) " + encodedSchema(s, []string{"description", "title", "examples", "$comment"})
}

// encodedSchema returns a schema as compact JSON, without the given text keys.
func encodedSchema(s *jsonschema.Schema, without []string) string {
	data, err := json.Marshal(s)
	if err != nil {
		return "(its schema can not be shown)"
	}
	var v map[string]any
	if json.Unmarshal(data, &v) != nil {
		return text.VisibleJSON(string(data)) // it is true or false
	}
	delete(v, "$schema")
	stripKeys(v, without)
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return "(its schema can not be shown)"
	}
	return text.VisibleJSON(strings.TrimSuffix(b.String(), "\n"))
}

// stripKeys removes keys from a schema and its subschemas, but not from names of properties and
// values.
func stripKeys(v any, without []string) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range without {
			delete(v, key)
		}
		for key, x := range v {
			switch key {
			case "enum", "const", "default":
			case "properties", "patternProperties", "dependentSchemas", "$defs", "definitions":
				named, _ := x.(map[string]any)
				for _, one := range named {
					stripKeys(one, without)
				}
			default:
				stripKeys(x, without)
			}
		}
	case []any:
		for _, x := range v {
			stripKeys(x, without)
		}
	}
}

// onlyParameters lists the parameters, the required ones first.
func onlyParameters(s *jsonschema.Schema) string {
	var must, may []string
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		said := text.VisibleLine(name)
		if p := s.Properties[name]; p != nil && p.Type != "" {
			said += " " + p.Type
		}
		if slices.Contains(s.Required, name) {
			must = append(must, said)
		} else {
			may = append(may, said)
		}
	}
	return fmt.Sprintf("(its schema is too long to show) required: %s; optional: %s", enumerated(must), enumerated(may))
}

// enumerated lists names, and their number if it cannot list them all.
func enumerated(names []string) string {
	list, cut := text.Cut(strings.Join(names, ", "), searchCut)
	if cut {
		list += fmt.Sprintf(" … (%d in all)", len(names))
	}
	return cmp.Or(list, "none")
}

// nothingFound suggests other searches.
func nothingFound(query string, specs []tool.Spec) string {
	if len(specs) == 0 {
		return "There are no tools to search: no other program is connected, or none of its tools is offered here. Do without."
	}
	return fmt.Sprintf("No tool fits %q. There are tools of: %s. Search again with other words, or with one of these names.",
		text.VisibleLine(query), strings.Join(prefixes(specs, searchMissed), ", "))
}

// prefixes returns the prefixes of the tool names, which are the programs they belong to, with
// their number of tools; at most most of them.
func prefixes(specs []tool.Spec, most int) []string {
	count := map[string]int{}
	for _, s := range specs {
		server, _, _ := strings.Cut(s.Name, "_")
		count[server]++
	}
	var out []string
	for _, server := range slices.Sorted(maps.Keys(count)) {
		if len(out) == most {
			return append(out, fmt.Sprintf("and %d more", len(count)-most))
		}
		shown, _ := text.Cut(text.VisibleLine(server), 64)
		out = append(out, fmt.Sprintf("%s (%d)", shown, count[server]))
	}
	return out
}
