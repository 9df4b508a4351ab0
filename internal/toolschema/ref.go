package toolschema

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// pointer returns where in the document a reference leads: "#" and the steps
// of a JSON pointer.
func (f *fitter) pointer(ref, path string) (string, error) {
	if to, ok := f.pointers[ref]; ok {
		return to, nil
	}
	to, err := f.resolve(ref, path)
	if err == nil {
		f.pointers[ref] = to
	}
	return to, err
}

func (f *fitter) resolve(ref, path string) (string, error) {
	base, fragment, _ := strings.Cut(ref, "#")
	if base != "" && base != f.id() {
		return "", fmt.Errorf("the schema at %s refers to %q, which is somewhere else: put it into $defs of the schema itself", path, short(ref))
	}
	if plain, err := url.PathUnescape(fragment); err == nil {
		fragment = plain
	}
	if fragment == "" || fragment == "/" { // some write the root so
		return "#", nil
	}
	if fragment[0] == '/' {
		return "#" + fragment, nil
	}
	if f.anchors == nil {
		f.anchors = map[string]string{}
		f.findAnchors(f.doc, "#")
	}
	if found, ok := f.anchors[fragment]; ok {
		return found, nil
	}
	return "", fmt.Errorf("the schema at %s refers to %q, which it does not have: define it, or take the reference out", path, short(ref))
}

// id is the name that the document gives itself.
func (f *fitter) id() string {
	root, ok := f.doc.(*object)
	if !ok {
		return ""
	}
	for _, key := range []string{"$id", "id"} {
		if id, ok := root.vals[key].(string); ok {
			return strings.TrimSuffix(id, "#")
		}
	}
	return ""
}

// findAnchors writes down which schemas have names. Of several with one name
// the first counts; what lies further away than any tool's schema does is not
// looked at.
func (f *fitter) findAnchors(v any, path string) {
	if len(path) > maxPath {
		return
	}
	switch v := v.(type) {
	case *object:
		for _, key := range []string{"$anchor", "$dynamicAnchor", "$id", "id"} {
			name, ok := v.vals[key].(string)
			if strings.HasSuffix(key, "id") {
				name, ok = strings.CutPrefix(name, "#")
			}
			if _, known := f.anchors[name]; ok && !known {
				f.anchors[name] = path
			}
		}
		for _, key := range v.keys {
			f.findAnchors(v.vals[key], path+"/"+escapeStep(key))
		}
	case []any:
		for i, e := range v {
			f.findAnchors(e, path+"/"+strconv.Itoa(i))
		}
	}
}

func escapeStep(step string) string {
	return strings.ReplaceAll(strings.ReplaceAll(step, "~", "~0"), "/", "~1")
}

// lookup returns what a pointer leads to.
func (f *fitter) lookup(pointer string) (any, error) {
	at := f.doc
	if pointer == "#" {
		return at, nil
	}
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "#/"), "/") {
		var next any
		found := false
		switch v := at.(type) {
		case *object:
			next, found = v.vals[unescape(step)]
		case []any:
			if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(v) {
				next, found = v[i], true
			}
		}
		if !found {
			return nil, fmt.Errorf("the schema refers to %q, which it does not have: define it, or take the reference out", short(pointer))
		}
		at = next
	}
	return at, nil
}

// isRecursive reports whether the schema at a pointer holds itself, or leads to so
// many others that it is taken for one that does.
func (f *fitter) isRecursive(pointer string) bool {
	known, ok := f.loops[pointer]
	if !ok {
		known = f.returns(pointer)
		f.loops[pointer] = known
	}
	return known
}

func (f *fitter) returns(pointer string) bool {
	seen := map[string]bool{}
	todo := []string{pointer}
	for len(todo) > 0 && len(seen) < maxEdges {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, next := range f.refTargets(at) {
			if f.visits++; next == pointer || f.visits > maxVisits {
				return true
			}
			if !seen[next] {
				seen[next] = true
				todo = append(todo, next)
			}
		}
	}
	return len(todo) > 0
}

// refTargets returns where the schema at a pointer refers to.
func (f *fitter) refTargets(pointer string) []string {
	if known, ok := f.edges[pointer]; ok {
		return known
	}
	var out []string
	if target, err := f.lookup(pointer); err == nil {
		out = f.refs(target, nil)
	}
	slices.Sort(out)
	f.edges[pointer] = slices.Compact(out)
	return f.edges[pointer]
}

// refs appends where a schema and those within it refer to.
func (f *fitter) refs(v any, out []string) []string {
	switch v := v.(type) {
	case *object:
		if ref, ok := v.vals["$ref"].(string); ok {
			if to, err := f.pointer(ref, "#"); err == nil {
				out = append(out, to)
			}
		}
		for _, key := range v.keys {
			if key != "$defs" && key != "definitions" {
				out = f.refs(v.vals[key], out)
			}
		}
	case []any:
		for _, e := range v {
			out = f.refs(e, out)
		}
	}
	return out
}

// keeps reports whether a reference to a pointer stays one.
func (f *fitter) keeps(pointer string) bool {
	return f.dialect != Simple && (f.manner.keepAll || f.isRecursive(pointer))
}

// definitionName returns the name of the definition that a pointer leads to,
// and sees that it is written.
func (f *fitter) definitionName(pointer string) string {
	if name, ok := f.names[pointer]; ok {
		return name
	}
	last := unescape(pointer[strings.LastIndex(pointer, "/")+1:])
	base := strings.Map(func(r rune) rune {
		if notInName(r) {
			return '_'
		}
		return r
	}, last)
	if last == "#" || base == "" {
		base = "root"
	}
	name := base
	for n := 2; f.taken[name]; n++ {
		name = base + "_" + strconv.Itoa(n)
	}
	f.names[pointer], f.taken[name] = name, true
	f.queue = append(f.queue, pointer)
	return name
}
