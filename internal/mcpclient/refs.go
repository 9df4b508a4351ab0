package mcpclient

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/helve-dev/helve/internal/text"
)

// isOld reports whether a schema names a draft in which keywords beside $ref are ignored.
func isOld(root map[string]any) bool {
	draft, _ := root["$schema"].(string)
	for _, n := range [...]string{"draft-03", "draft-04", "draft-05", "draft-06", "draft-07"} {
		if strings.Contains(draft, n+"/") {
			return true
		}
	}
	return false
}

// inlined replaces a root schema that is only a reference by its target, so that its keys are where
// models and providers look for them.
func inlined(root map[string]any) map[string]any {
	for range rounds {
		ref, _ := root["$ref"].(string)
		pointer, local := strings.CutPrefix(ref, "#")
		if !local || pointer == "" {
			return root
		}
		found, _ := follow(root, pointer)
		sub, ok := found.(map[string]any)
		if !ok {
			return root
		}
		merged, ok := merge(root, sub)
		if !ok {
			return root
		}
		root = merged
	}
	return root
}

// merge returns root with sub in the place of its reference, if that has the same meaning.
func merge(root, sub map[string]any) (map[string]any, bool) {
	for key := range root {
		if !aside(key) {
			return nil, false
		}
	}
	merged := maps.Clone(root)
	delete(merged, "$ref")
	for key, v := range sub {
		own, both := root[key]
		switch {
		case !both, key == "$ref":
			merged[key] = v
		case key == "type":
			if word, ok := own.(string); !ok || v != any(word) {
				return nil, false
			}
		} // else the outer text, or definitions, which stay where references look for them
	}
	return merged, true
}

// aside reports whether a keyword does not affect which values match, or can be combined with that
// of another schema.
func aside(key string) bool {
	switch key {
	case "$ref", "$schema", "$id", "$defs", "definitions", "title", "description", "$comment", "type", "examples":
		return true
	}
	return false
}

// follow walks a JSON pointer of a URI fragment.
func follow(root any, pointer string) (any, bool) {
	pointer, err := url.PathUnescape(pointer)
	if err != nil || !strings.HasPrefix(pointer, "/") {
		return nil, false
	}
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	at := root
	for token := range strings.SplitSeq(pointer[1:], "/") {
		token = unescape.Replace(token)
		switch v := at.(type) {
		case map[string]any:
			next, ok := v[token]
			if !ok {
				return nil, false
			}
			at = next
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			at = v[i]
		default:
			return nil, false
		}
	}
	return at, true
}

// refer returns the name of the definition that ref stands for, and queues it for reading.
func (r *reader) refer(ref string) (string, error) {
	local := ref
	if r.id != "" {
		if rest, ok := strings.CutPrefix(ref, strings.TrimSuffix(r.id, "#")); ok && (rest == "" || rest[0] == '#') {
			local = rest
		}
	}
	pointer, ok := strings.CutPrefix(local, "#")
	if name, known := r.names[pointer]; known {
		return name, nil
	}
	var node any = r.root
	want := "root"
	switch {
	case !ok && local != "":
		if node, ok = r.anchored(ref); !ok {
			return "", r.bad("its input schema refers to %s, which is outside of it", quoted(ref))
		}
		want = ref[strings.LastIndexByte(ref, '/')+1:]
	case strings.HasPrefix(pointer, "/"):
		node, ok = follow(r.root, pointer)
		want = pointer[strings.LastIndexByte(pointer, '/')+1:]
	case pointer != "":
		node, ok = r.anchored(pointer)
		want = pointer
	default:
		ok = true
	}
	if !ok {
		return "", r.bad("its input schema refers to %s, which is not there", quoted(ref))
	}
	name := r.unused(want)
	r.names[pointer] = name
	r.queue = append(r.queue, target{name, node})
	return name, nil
}

// unused returns a name for a definition that no other has.
func (r *reader) unused(want string) string {
	want, _ = text.Cut(cleanName(want), 64)
	if want == "" {
		want = "_"
	}
	for {
		r.taken[want]++
		n := r.taken[want]
		if n == 1 {
			return want
		}
		want = fmt.Sprintf("%s_%d", want, n)
	}
}

// anchored finds the schema with a given anchor.
func (r *reader) anchored(name string) (any, bool) {
	if r.anchors == nil {
		r.anchors = map[string]any{}
		r.gather(r.root)
	}
	node, ok := r.anchors[name]
	return node, ok
}

// gather notes the anchors in v, first come, in the order of keys.
func (r *reader) gather(v any) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			r.gather(x)
		}
	case map[string]any:
		for _, word := range [...]string{"$anchor", "$dynamicAnchor", "$id", "id"} {
			name, _ := v[word].(string)
			if word == "$id" || word == "id" {
				name = strings.TrimPrefix(name, "#") // a name, or a whole address
			}
			if _, ok := r.anchors[name]; !ok && name != "" {
				r.anchors[name] = v
			}
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			r.gather(v[key])
		}
	}
}

// refName returns the name of the definition that a reference in our own schema stands for.
func refName(ref string) string { return strings.TrimPrefix(ref, "#/$defs/") }
