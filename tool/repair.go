package tool

import (
	"fmt"
	"strings"
)

// styled normalizes the style of a key, so that file_path, filePath and FilePath are equal.
func styled(key string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(key))
}

// renamed returns the index of the only member that is p in another style, or -1.
func (w *walker) renamed(n *node, p *prop, l *lookup) int {
	if !p.required && !n.closed {
		return -1 // the key may be a valid one
	}
	want := styled(p.name)
	for i := range n.props {
		if q := &n.props[i]; q != p && styled(q.name) == want {
			return -1
		}
	}
	at := -1
	for i := range l.kids {
		if l.used[i] || styled(l.kids[i].key) != want {
			continue
		}
		if at >= 0 {
			return -1
		}
		at = i
	}
	if at >= 0 {
		w.pushKey(p.name)
		w.mend("renamed from " + shortQuote(l.kids[at].key))
		w.popKey()
	}
	return at
}

// unquoted returns the value that a string contains, if n expects that and not a string.
func (w *walker) unquoted(n *node, v value) value {
	const taken = 1<<boolean | 1<<number | 1<<array | 1<<object
	if v.kind != text || n.kinds&taken == 0 || n.takes(text) {
		return v
	}
	p := parser{s: v.text, depth: len(w.path)}
	got, err := p.parse()
	if err != nil || p.twice != nil || !n.takes(got.kind) || got.kind == null {
		return v
	}
	w.mend("taken out of a string")
	return got
}

func (w *walker) mend(change string) {
	w.repairs = append(w.repairs, Repair{Path: dotted(w.currentPath()), Change: change})
}

// unwrapped removes wrapping around a JSON text that is not part of it.
func unwrapped(s string) (string, []Repair) {
	var repairs []Repair
	if rest, ok := strings.CutPrefix(s, byteOrderMark); ok {
		s = rest
		repairs = append(repairs, Repair{Change: "removed a byte order mark"})
	}
	fenced := strings.TrimSpace(s)
	if head, body, ok := strings.Cut(fenced, "\n"); ok && strings.HasSuffix(body, "\n```") {
		if head = strings.TrimSpace(head); head == "```json" || head == "```" {
			s = strings.TrimSuffix(body, "\n```")
			repairs = append(repairs, Repair{Change: "removed a code fence"})
		}
	}
	return s, repairs
}

// mended checks s again with lossless repairs. It fails if they do not make s fit.
func (t Tool) mended(s string) ([]byte, []Repair, bool) {
	s, repairs := unwrapped(s)
	p := parser{s: s, commas: true}
	v, err := p.parse()
	if err != nil || p.twice != nil || v.kind != object {
		return nil, nil, false
	}
	if p.gone > 0 {
		change := "removed a trailing comma"
		if p.gone > 1 {
			change = fmt.Sprintf("removed %d trailing commas", p.gone)
		}
		repairs = append(repairs, Repair{Change: change})
	}
	w := walker{repair: true, probe: true, repairs: repairs}
	out, ok := t.walked(&w, v)
	return out, append(w.repairs, w.dropped...), ok && len(w.repairs) > 0
}

// maxDropped limits how many dropped keys are named.
const maxDropped = 20

// dropUnknownKey records that the i-th member of l has an unknown key. Where such keys are not
// accepted, that is an issue.
func (w *walker) dropUnknownKey(n *node, l *lookup, i int) {
	key := l.kids[i].key
	if w.strict {
		w.pushKey(key)
		w.fault(l.kids[i].val, func() finding {
			f := custom("unknown-key", "unknown key"+nearestKey(n, l, key))
			f.head = `"code":"unrecognized_keys"`
			return f
		})
		w.popKey()
		return
	}
	if len(w.dropped) < maxDropped {
		change := "unknown key " + shortQuote(key) + " is left out" + nearestKey(n, l, key)
		w.dropped = append(w.dropped, Repair{Path: cutText(dotted(w.currentPath()), 2*shortLimit), Change: change, Dropped: true})
	}
}

// nearestKey returns the missing key of n that an unknown key probably stands for, or "".
func nearestKey(n *node, l *lookup, key string) string {
	best, score := "", 0
	for i := range n.props {
		name := n.props[i].name
		if s := likeness(key, name); s > score && l.find(name) < 0 {
			best, score = name, s
		}
	}
	if score == 0 {
		return ""
	}
	return ": did you mean " + shortQuote(best) + "?"
}
