// Package toolschema makes the schemas of tools such that a provider takes
// them. Tools come from many hands, and what they say of their arguments is
// JSON Schema of every age; providers take a part of it each, and one schema
// that is not to their taste fails the whole request. What a provider does
// not take is left out, never tightened: arguments that were right before are
// right after. The tool itself still checks them by its own schema.
package toolschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// A Dialect is the part of JSON Schema that a provider takes.
type Dialect string

// The dialects. Simple is what servers have in common that speak OpenAI's
// protocol without being OpenAI, such as llama.cpp, Ollama and Gemini's.
const (
	Anthropic Dialect = "anthropic"
	OpenAI    Dialect = "openai"
	Simple    Dialect = "simple"
)

// The bounds of a schema: how deep schemas may lie in each other, how large
// the result may be, and how large and deep the JSON may be that is read.
const (
	maxDepth  = 64
	maxSize   = 256 << 10
	maxInput  = 1 << 20
	maxNested = 4 * maxDepth
)

// maxSteps, maxEdges, maxVisits and maxPath bound the work on schemas that are made of
// many parts and references.
const (
	maxSteps  = 1 << 14
	maxEdges  = 1 << 10 // of one reference
	maxVisits = 1 << 19 // of all references
	maxPath   = 1 << 12 // bytes of a pointer to a schema with a name
)

// maxUnfold is how often a schema that holds itself is written out in a
// place where it can not be referred to.
const maxUnfold = 3

// maxShown is how many bytes of a name or path a message shows.
const maxShown = 200

// maxPasses is how often a result is fitted again until nothing changes.
const maxPasses = 16

// errSize says that a way to write the schema takes too much room.
var errSize = errors.New("the schema is larger than 256 KiB with its references written out: make it smaller")

// Fit returns a schema as a dialect takes it. The root is an object; keys
// stay in the order they have. Fitting the result again changes nothing.
//
// A union at the root becomes one object with the properties of all. A
// property that only some members know keeps what these say of it.
func Fit(d Dialect, schema json.RawMessage) (json.RawMessage, error) {
	switch d {
	case Anthropic, OpenAI, Simple:
	default:
		return nil, fmt.Errorf("there is no dialect %q of JSON Schema: use %q, %q or %q", d, Anthropic, OpenAI, Simple)
	}
	out := []byte(schema)
	for range maxPasses {
		next, err := fitOnce(d, out)
		if err != nil {
			return nil, err
		}
		if bytes.Equal(next, out) {
			return next, nil
		}
		out = next
	}
	return nil, errors.New("the schema can not be brought into a form that a provider takes: make it simpler")
}

// A manner is how references are dealt with: those to schemas that hold
// themselves are kept or written out a few times, the others are written out
// or kept too.
type manner struct {
	keepAll bool
	unfold  int
}

// fitOnce fits once, in the first manner in which the result is not too large.
func fitOnce(d Dialect, schema []byte) ([]byte, error) {
	doc, err := parse(schema)
	if err != nil {
		return nil, err
	}
	manners := []manner{{false, maxUnfold}, {true, maxUnfold}}
	if d == Simple {
		manners = []manner{{false, maxUnfold}, {false, 2}, {false, 1}, {false, 0}}
	}
	for _, m := range manners {
		f := &fitter{
			dialect: d, manner: m, doc: doc, names: map[string]string{}, taken: map[string]bool{},
			loops: map[string]bool{}, edges: map[string][]string{}, pointers: map[string]string{},
		}
		out, fitErr := f.document()
		if fitErr == nil {
			return out, nil
		}
		if err = fitErr; !errors.Is(err, errSize) {
			break
		}
	}
	return nil, err
}

// A fitter fits one document.
type fitter struct {
	dialect Dialect
	manner  manner
	doc     any
	size    int               // bytes so far, roughly
	steps   int               // schemas that were merged so far
	visits  int               // references that were followed so far, in search of loops
	names   map[string]string // of definitions that are kept, by pointer
	taken   map[string]bool   // the values of names
	queue   []string          // pointers whose definitions are still to be written

	loops    map[string]bool     // whether the schema at a pointer holds itself
	edges    map[string][]string // where the schema at a pointer refers to
	pointers map[string]string   // where a reference leads
	anchors  map[string]string   // pointers by the names of schemas; nil until one is asked for
}

// A place is where in the document the fitter is.
type location struct {
	path     string // for messages; cut where it is long
	depth    int
	unfolded int // schemas that hold themselves, written out on the way here
}

func (p location) in(names ...string) location {
	if len(p.path) < maxShown {
		p.path += "/" + short(strings.Join(names, "/"))
	}
	p.depth++
	return p
}

// short is a name for a message.
func short(name string) string {
	if len(name) > maxShown {
		name = strings.ToValidUTF8(name[:maxShown], "") + "…"
	}
	return name
}

// document fits the root and the definitions that it needs.
func (f *fitter) document() ([]byte, error) {
	top := location{path: "#", unfolded: -1} // a root that is a reference has to be written out
	root, err := f.root(f.doc, &top)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return nil, errors.New("the schema can not be expressed: a tool takes an object, so describe one at the root")
	}
	top.unfolded = max(top.unfolded, 0)
	out, _, err := f.body(root, top)
	if err != nil {
		return nil, err
	}
	if !out.has("properties") {
		out.set("properties", newObject())
	}
	if err := f.refuseNames(out); err != nil {
		return nil, err
	}
	defs := newObject()
	for len(f.queue) > 0 {
		pointer := f.queue[0]
		f.queue = f.queue[1:]
		target, err := f.lookup(pointer)
		if err != nil {
			return nil, err
		}
		at := location{path: pointer, depth: 1}
		def, never, err := f.definition(target, at)
		if err != nil {
			return nil, err
		}
		if never {
			def = newObject()
		}
		defs.set(f.names[pointer], def)
	}
	if len(defs.keys) > 0 {
		out.set("$defs", defs)
	}
	text, err := encode(out)
	if err == nil && len(text) > maxSize {
		err = errSize
	}
	return text, err
}

// definition fits what a kept reference leads to.
func (f *fitter) definition(target any, at location) (any, bool, error) {
	s, ok := target.(*object)
	if !ok {
		return f.schema(target, at)
	}
	s, err := f.mergeRefs(modern(s), &at, []string{at.path})
	if err != nil {
		return nil, false, err
	}
	return f.body(s, at)
}

// refuseNames finds properties of the root that can not be named as they are.
func (f *fitter) refuseNames(out *object) error {
	if f.dialect != Anthropic {
		return nil
	}
	for _, name := range out.vals["properties"].(*object).keys {
		if name == "" || len(name) > 64 || strings.ContainsFunc(name, notInName) {
			return fmt.Errorf("the property %q can not be expressed: names may have letters, digits, '_', '.' and '-', 64 at most; give it another", short(name))
		}
	}
	return nil
}

const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"

func notInName(r rune) bool { return !strings.ContainsRune(nameLetters, r) }
