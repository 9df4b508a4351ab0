package toolschema

import "slices"

// A conjunction is a schema that takes whatever several take. It is added to
// in place, so that many members take no longer than they are long.
type conjunction struct {
	out      *object // belongs to the conjunction; its values do not
	required []any   // all names, once there are two lists
	props    *object // all properties, once two members have some
	demands  map[string]*demands
}

// demands are what several members ask of one property.
type demands struct {
	schemas []any
	seen    map[string]bool // the texts of schemas
}

// add takes in a schema. Where a keyword is used that can not be merged, the
// first one's is taken.
func (c *conjunction) add(b *object) {
	skip := conflicts(c.out, b)
	for _, key := range b.keys {
		v := b.vals[key]
		switch {
		case slices.Contains(skip, key):
		case !c.out.has(key):
			c.out.set(key, v)
		case key == "properties":
			c.properties(v)
		case key == "required":
			if c.required == nil {
				c.required = slices.Clone(c.out.list(key))
			}
			c.required = append(c.required, b.list(key)...)
		case key == "additionalProperties" && v == false:
			c.out.set(key, false)
		}
	}
}

// properties takes in the properties of a schema that is not the first one
// with some.
func (c *conjunction) properties(v any) {
	mine, ok1 := c.out.vals["properties"].(*object)
	theirs, ok2 := v.(*object)
	if !ok1 || !ok2 {
		return
	}
	if c.props == nil {
		c.props, c.demands = mine.clone(), map[string]*demands{}
	}
	for _, name := range theirs.keys {
		if !c.props.has(name) {
			c.props.set(name, theirs.vals[name])
			continue
		}
		d := c.demands[name]
		if d == nil {
			first := c.props.vals[name]
			d = &demands{schemas: []any{first}, seen: map[string]bool{canonicalText(first): true}}
			c.demands[name] = d
		}
		if t := canonicalText(theirs.vals[name]); !d.seen[t] {
			d.seen[t] = true
			d.schemas = append(d.schemas, theirs.vals[name])
		}
	}
}

// schema returns the whole; nothing may be added afterwards.
func (c *conjunction) schema() *object {
	for name, d := range c.demands {
		if len(d.schemas) > 1 {
			both := newObject()
			both.set("allOf", d.schemas)
			c.props.set(name, both)
		}
	}
	if c.props != nil {
		c.out.set("properties", c.props)
	}
	if c.required != nil {
		c.out.set("required", c.required)
	}
	return c.out
}

// conflicts finds keywords that mean something only together with others and
// are used by both. It takes them out of the first, or names those of the
// second that are to be left out.
func conflicts(a, b *object) (skip []string) {
	tuple := []string{"items", "prefixItems"}
	has := func(s *object) bool { return s.has("items") || s.has("prefixItems") }
	if has(a) && has(b) && (a.has("prefixItems") || b.has("prefixItems")) {
		skip = append(skip, tuple...)
	}
	if a.has("patternProperties") && b.has("patternProperties") {
		for _, key := range []string{"patternProperties", "additionalProperties"} {
			a.remove(key)
			skip = append(skip, key)
		}
	}
	return skip
}
