package tool

import (
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"
)

// A node is a schema prepared for walking.
type node struct {
	kinds   uint16 // set of kinds; 0 for any
	integer bool   // a number must be whole
	null    bool   // null is valid, whatever else the schema says
	never   bool   // no value is valid
	coerce  bool   // a string that holds a number counts as one

	enum           []value         // nil for any
	options        map[string]bool // the scalars of enum, by key
	low, high      bound
	minLen, maxLen int // of strings; -1 for none
	pattern        *regexp.Regexp

	items          *node
	prefix         []*node
	minSize        int // of arrays; -1 for none
	maxSize        int
	minSizeMessage string

	props  []prop
	need   []string // required keys without a schema
	rest   *node    // the schema of keys without one of their own
	closed bool     // such keys are dropped
	match  []matchProp
	// folded are the names of props in the form of fold. If set, a key is dropped that a Go decoder
	// would take for one of them.
	folded map[string]bool

	all   []*node
	any   []*node
	one   []*node
	wants string // what a node without kinds expects, in a word
}

// A prop is what a schema says about one key.
type prop struct {
	name     string
	node     *node
	required bool
	filled   *value // the value for an absent key
}

type matchProp struct {
	re   *regexp.Regexp
	node *node
}

// A bound is a limit of a number.
type bound struct {
	set, open bool // open: the limit is exclusive
	at        float64
}

// An extra is what a struct tag says that JSON Schema cannot express.
type extra struct {
	coerce          bool
	minItemsMessage string
}

// A compiler makes nodes from schemas. Every schema becomes one node, however often it is referred
// to.
type compiler struct {
	refs      *refs
	recursive bool
	folding   bool
	extras    map[*jsonschema.Schema]extra
	nodes     map[*jsonschema.Schema]*node
}

func (c *compiler) compileNode(s *jsonschema.Schema) *node {
	if s == nil {
		return nil
	}
	if n := c.nodes[s]; n != nil {
		return n
	}
	n := &node{minLen: -1, maxLen: -1, minSize: -1, maxSize: -1}
	c.nodes[s] = n
	if isFalse(s) {
		n.never = true
		return n
	}
	n.setKinds(s)
	x := c.extras[s]
	n.coerce, n.minSizeMessage = x.coerce, x.minItemsMessage
	n.null, _ = s.Extra["nullable"].(bool)
	c.scalars(n, s)
	c.arrays(n, s)
	c.objects(n, s)
	c.combined(n, s)
	return n
}

func (c *compiler) list(ss []*jsonschema.Schema) []*node {
	var ns []*node
	for _, s := range ss {
		ns = append(ns, c.compileNode(s))
	}
	return ns
}

func (n *node) setKinds(s *jsonschema.Schema) {
	words := s.Types
	if s.Type != "" {
		words = []string{s.Type}
	}
	fraction := false
	for _, w := range words {
		switch w {
		case "null":
			n.kinds |= 1 << null
		case "boolean":
			n.kinds |= 1 << boolean
		case "integer":
			n.kinds |= 1 << number
			n.integer = true
		case "number":
			n.kinds |= 1 << number
			fraction = true
		case "string":
			n.kinds |= 1 << text
		case "array":
			n.kinds |= 1 << array
		case "object":
			n.kinds |= 1 << object
		default: // not a type of JSON Schema: nothing to hold a value against
			n.kinds = 0
			return
		}
	}
	n.integer = n.integer && !fraction
}

// takes reports whether a value of kind k may fit.
func (n *node) takes(k kind) bool { return n.kinds == 0 || n.kinds&(1<<k) != 0 }

// expected returns what the node expects, in a word.
func (n *node) expected() string {
	if n.kinds == 0 {
		if n.wants == "" {
			return "value"
		}
		return n.wants
	}
	var words []string
	for k := boolean; k <= object; k++ {
		if n.kinds&(1<<k) != 0 {
			words = append(words, k.String())
		}
	}
	if words == nil {
		return "null"
	}
	return strings.Join(words, "|")
}

func (c *compiler) scalars(n *node, s *jsonschema.Schema) {
	if s.Enum != nil {
		n.enum = make([]value, 0, len(s.Enum))
		for _, e := range s.Enum {
			n.enum = append(n.enum, valueOf(e))
		}
	}
	if s.Const != nil {
		n.enum = []value{valueOf(*s.Const)}
	}
	if n.enum != nil {
		n.options = make(map[string]bool, len(n.enum))
		for _, e := range n.enum {
			if key, ok := plainKey(e); ok {
				n.options[key] = true
			}
		}
	}
	n.low = tighter(s.Minimum, s.ExclusiveMinimum, func(a, b float64) bool { return a > b })
	n.high = tighter(s.Maximum, s.ExclusiveMaximum, func(a, b float64) bool { return a < b })
	if s.MinLength != nil {
		n.minLen = *s.MinLength
	}
	if s.MaxLength != nil {
		n.maxLen = *s.MaxLength
	}
	if s.Pattern != "" {
		n.pattern, _ = regexp.Compile(s.Pattern) // a pattern in another dialect is not checked
	}
}

// tighter combines a limit and an exclusive limit.
func tighter(limit, exclusive *float64, beyond func(a, b float64) bool) bound {
	switch {
	case exclusive != nil && (limit == nil || !beyond(*limit, *exclusive)):
		return bound{set: true, open: true, at: *exclusive}
	case limit != nil:
		return bound{set: true, at: *limit}
	}
	return bound{}
}

func (c *compiler) arrays(n *node, s *jsonschema.Schema) {
	n.items = c.compileNode(s.Items)
	n.prefix = c.list(s.PrefixItems)
	if s.ItemsArray != nil {
		n.prefix = c.list(s.ItemsArray)
		n.items = c.compileNode(s.AdditionalItems)
	}
	if s.MinItems != nil {
		n.minSize = *s.MinItems
	}
	if s.MaxItems != nil {
		n.maxSize = *s.MaxItems
	}
}

func (c *compiler) objects(n *node, s *jsonschema.Schema) {
	required := make(map[string]bool, len(s.Required))
	for _, name := range s.Required {
		required[name] = true
	}
	for _, name := range propertyOrder(s) {
		p := prop{name: name, node: c.compileNode(s.Properties[name]), required: required[name]}
		p.filled = c.usableDefault(s.Properties[name])
		n.props = append(n.props, p)
		if c.folding {
			if n.folded == nil {
				n.folded = map[string]bool{}
			}
			n.folded[fold(name)] = true
		}
	}
	for _, name := range s.Required {
		if _, ok := s.Properties[name]; !ok {
			n.need = append(n.need, name)
		}
	}
	if isFalse(s.AdditionalProperties) {
		n.closed = true
	} else {
		n.rest = c.compileNode(s.AdditionalProperties)
	}
	for _, expr := range slices.Sorted(maps.Keys(s.PatternProperties)) {
		re, err := regexp.Compile(expr)
		if err != nil { // keys that it would have matched cannot be told from others
			n.closed, n.rest = false, nil
			continue
		}
		n.match = append(n.match, matchProp{re, c.compileNode(s.PatternProperties[expr])})
	}
}

// fold returns the same text for all keys that encoding/json treats as equal.
func fold(key string) string {
	return strings.Map(func(r rune) rune {
		for {
			next := unicode.SimpleFold(r)
			if next <= r {
				return next
			}
			r = next
		}
	}, key)
}

// usableDefault returns the default of s, if it can be used. In a schema that contains itself, an
// object as a default could expand without end.
func (c *compiler) usableDefault(s *jsonschema.Schema) *value {
	if len(s.Default) == 0 {
		return nil
	}
	p := parser{s: string(s.Default)}
	v, err := p.parse()
	if err != nil || p.twice != nil || c.recursive && v.kind >= array {
		return nil
	}
	return &v
}

func (c *compiler) combined(n *node, s *jsonschema.Schema) {
	if s.Ref != "" {
		if t := c.refs.target(s.Ref); t != nil {
			n.all = append(n.all, c.compileNode(t))
		}
	}
	n.all = append(n.all, c.list(s.AllOf)...)
	for _, set := range [...]struct {
		schemas []*jsonschema.Schema
		to      *[]*node
	}{{s.AnyOf, &n.any}, {s.OneOf, &n.one}} {
		rest, hasNull := withoutNull(set.schemas)
		if hasNull && len(rest) == 1 && n.kinds == 0 {
			// The usual way to allow null.
			n.null = true
			n.all = append(n.all, c.compileNode(rest[0]))
			continue
		}
		*set.to = c.list(set.schemas)
	}
	if n.kinds == 0 {
		n.wants = wantedOf(slices.Concat(n.all, n.any, n.one))
	}
}

func withoutNull(ss []*jsonschema.Schema) (rest []*jsonschema.Schema, hasNull bool) {
	for _, s := range ss {
		if s.Type == "null" {
			hasNull = true
		} else {
			rest = append(rest, s)
		}
	}
	return rest, hasNull
}

func wantedOf(ns []*node) string {
	var words []string
	for _, n := range ns {
		if w := n.expected(); w != "value" && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return strings.Join(words, "|")
}

// propertyOrder returns the keys of s in the order in which it lists them, then the unlisted ones
// by name.
func propertyOrder(s *jsonschema.Schema) []string {
	names := make([]string, 0, len(s.Properties))
	listed := make(map[string]bool, len(s.Properties))
	for _, list := range [...][]string{s.PropertyOrder, slices.Sorted(maps.Keys(s.Properties))} {
		for _, name := range list {
			if _, ok := s.Properties[name]; ok && !listed[name] {
				listed[name] = true
				names = append(names, name)
			}
		}
	}
	return names
}

// isFalse reports whether s is the schema that no value fits.
func isFalse(s *jsonschema.Schema) bool {
	if s == nil || s.Not == nil || !reflect.ValueOf(*s.Not).IsZero() {
		return false
	}
	rest := *s
	rest.Not = nil
	return reflect.ValueOf(rest).IsZero()
}

// valueOf converts a value decoded by encoding/json.
func valueOf(x any) value {
	if s, ok := x.(string); ok {
		return value{kind: text, text: strings.ToValidUTF8(s, "\ufffd")}
	}
	b, err := json.Marshal(x)
	if err != nil {
		return value{}
	}
	p := parser{s: string(b)}
	v, _ := p.parse()
	return v
}

// loosened returns a copy of s for the library's own validator: what that cannot compile or does
// not know is removed or expressed differently.
func loosened(s *jsonschema.Schema) *jsonschema.Schema {
	s = s.CloneSchemas()
	if !strings.Contains(s.Schema, "draft-07") {
		s.Schema = "" // the newest it knows
	}
	var visit func(s *jsonschema.Schema)
	visit = func(s *jsonschema.Schema) {
		if _, err := regexp.Compile(s.Pattern); err != nil {
			s.Pattern = ""
		}
		for expr := range s.PatternProperties {
			if _, err := regexp.Compile(expr); err != nil {
				delete(s.PatternProperties, expr)
				s.AdditionalProperties = nil
			}
		}
		if ok, _ := s.Extra["nullable"].(bool); ok {
			if s.Type != "" {
				s.Type, s.Types = "", []string{s.Type, "null"}
			}
			if s.Enum != nil {
				s.Enum = append(slices.Clip(s.Enum), nil)
			}
		}
		for c := range children(s) {
			visit(c)
		}
	}
	visit(s)
	return s
}
