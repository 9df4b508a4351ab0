package mcpclient

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/diff"
	"github.com/helve-dev/helve/internal/text"
)

const (
	maxDrift  = 16 << 10 // bytes of a difference that is shown
	maxIndent = 32
)

// difference describes for people how a tool differs from its pin.
func difference(was pin, d Definition) string {
	before := was.definition(d)
	return compared(d, portrait(before), portrait(d))
}

// compared is how one portrait of a tool differs from another, bounded.
func compared(d Definition, before, after string) string {
	lines := strings.SplitAfter(diff.Unified(line(ToolName(d.Server, d.Tool), maxName), before, after), "\n")
	for i, l := range lines { // the rule and both names say nothing here
		if strings.HasPrefix(l, "@@") {
			lines = lines[i:]
			break
		}
	}
	out := strings.TrimRight(strings.Join(lines, ""), "\n")
	head, cut := text.Cut(out, maxDrift)
	if !cut {
		return out
	}
	if end := strings.LastIndexByte(head, '\n'); end > 0 {
		head = head[:end]
	}
	return fmt.Sprintf("%s\n[%d more lines of this difference are not shown]", head, strings.Count(out[len(head):], "\n"))
}

// portrait returns a tool's definition line by line, with nothing hidden.
func portrait(d Definition) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: %s\ntitle: %s\n", text.VisibleLine(d.Tool), text.VisibleLine(d.Title))
	fmt.Fprintf(&b, "read-only: %t\ndestructive: %t\nidempotent: %t\nopen-world: %t\n", d.ReadOnly, d.Destructive, d.Idempotent, d.OpenWorld)
	b.WriteString("description:\n")
	for l := range strings.SplitSeq(d.Description, "\n") {
		b.WriteString("  " + text.VisibleLine(l) + "\n")
	}
	b.WriteString("schema:\n")
	v, err := decode(d.Input)
	if err != nil {
		b.WriteString("  " + text.VisibleLine(string(d.Input)) + "\n")
		return b.String()
	}
	spread(&b, "", v, 1)
	return b.String()
}

// spread writes a JSON value, a line for each part of it. Every line with untrusted text is
// indented, so that it cannot imitate one of ours.
func spread(b *strings.Builder, label string, v any, depth int) {
	b.WriteString(strings.Repeat("  ", min(depth, maxIndent)) + label)
	switch v := v.(type) {
	case map[string]any:
		b.WriteString("{\n")
		for _, k := range slices.Sorted(maps.Keys(v)) {
			spread(b, leaf(k)+": ", v[k], depth+1)
		}
		b.WriteString(strings.Repeat("  ", min(depth, maxIndent)) + "}\n")
	case []any:
		b.WriteString("[\n")
		for _, x := range v {
			spread(b, "", x, depth+1)
		}
		b.WriteString(strings.Repeat("  ", min(depth, maxIndent)) + "]\n")
	default:
		b.WriteString(leaf(v) + "\n")
	}
}

// leaf formats a JSON value without parts for display.
func leaf(v any) string {
	raw, err := encode(v)
	if err != nil {
		return "?"
	}
	s := text.VisibleJSON(string(raw))
	if text.HasHidden(s) {
		return text.VisibleLine(s)
	}
	return s
}
