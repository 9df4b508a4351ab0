package page

import (
	"net/url"
	"strings"

	"golang.org/x/net/html/atom"
)

// Refresh returns the address that the page sends its reader to by itself, and
// whether it does. A page that only asks to be loaded again does not. A
// relative address is made complete where the page has a base; the rest is up
// to who knows where the page is from.
func (d *Doc) Refresh() (address string, ok bool) {
	for i := range d.nodes {
		n := &d.nodes[i]
		if n.tag != atom.Meta || !n.says("http-equiv", "refresh") {
			continue
		}
		if address = d.resolveAddress(refreshTo(n.attr("content"))); address != "" {
			return address, true
		}
	}
	return "", false
}

// refreshTo reads what stands after the seconds: "0; url='x'".
func refreshTo(content string) string {
	const blanks = " \t\r\n\f"
	rest := strings.TrimLeft(content, blanks)
	after := strings.TrimLeft(rest, "0123456789.")
	if len(after) == len(rest) {
		return "" // no seconds: browsers stay
	}
	after = strings.TrimLeft(strings.TrimLeft(after, blanks), ";,"+blanks)
	if len(after) > 3 && strings.EqualFold(after[:3], "url") {
		if value, found := strings.CutPrefix(strings.TrimLeft(after[3:], blanks), "="); found {
			after = strings.TrimLeft(value, blanks)
		}
	}
	if after != "" && (after[0] == '"' || after[0] == '\'') {
		after, _, _ = strings.Cut(after[1:], after[:1])
	}
	return harmless(strings.Trim(after, blanks))
}

// resolveAddress makes an address complete where the page has a base. One that runs
// a program leads nowhere.
func (d *Doc) resolveAddress(address string) string {
	if address == "" || isScript(address) {
		return ""
	}
	base := baseOf(d.base)
	if base == nil {
		return address
	}
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return base.ResolveReference(u).String()
}

// bareText is how many bytes a page says at the most that has next to nothing
// to say.
const bareText = 200

// Scripted tells whether a program makes the page in the browser: it says next
// to nothing by itself, and has programs.
func (d *Doc) Scripted() bool {
	programs, said, enter := 0, int32(0), true
	for at := int32(0); at != nobody && len(d.nodes) > 0 && said < bareText; {
		n := &d.nodes[at]
		if enter {
			if n.tag == atom.Script && isProgram(n) {
				programs++
			}
			if n.name == "" {
				said += inked(n.text)
			}
			if n.first != nobody && n.tag != atom.Title && !d.skipsText(n) {
				at = n.first
				continue
			}
		}
		if enter = n.next != nobody; enter {
			at = n.next
		} else {
			at = n.parent
		}
	}
	return programs > 0 && said < bareText
}

// isProgram tells a script that runs from data that is kept in one.
func isProgram(n *node) bool {
	kind := strings.ToLower(strings.TrimSpace(n.attr("type")))
	return kind == "" || kind == "module" || strings.HasSuffix(kind, "javascript") || strings.HasSuffix(kind, "ecmascript")
}
