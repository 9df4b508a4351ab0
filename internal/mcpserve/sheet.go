package mcpserve

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/permission"
)

// What a form shows. A client shows it as it is, so it has to end somewhere.
const (
	maxAsked  = 200      // things that are asked about
	maxThing  = 16 << 10 // bytes of one of them
	maxThings = 64 << 10 // bytes of all of them
	maxShort  = 160      // bytes of one where they are too much
	maxKept   = 50       // things that "always" would allow
	maxDetail = 12 << 10 // bytes of a command or a diff
)

// A sheet is a permission request as a person reads it in a form. Nothing can be accepted that is
// not shown.
type sheet struct {
	text  string
	whole bool // everything that is asked about is shown
	kept  bool // everything that "always" would allow is shown
}

// verdicts returns the answers that are offered.
func (s sheet) verdicts() []permission.Verdict {
	switch {
	case s.whole && s.kept:
		return []permission.Verdict{permission.ReplyOnce, permission.ReplyAlways, permission.ReplyReject}
	case s.whole:
		return []permission.Verdict{permission.ReplyOnce, permission.ReplyReject}
	}
	return []permission.Verdict{permission.ReplyReject}
}

// caller returns the tool that makes a request, empty if unknown.
func (h *sharedRuntime) caller(req permission.Request) string {
	if req.Call == nil {
		return ""
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.tools[callKey{req.Session, req.Call.Call}]
}

// newSheet formats a request of a tool: first what is missing and what matters most, then the
// whole, then what an answer of "always" would store. Invisible characters are escaped, so that no
// request looks like something else.
func newSheet(req permission.Request, caller string) sheet {
	var head, b strings.Builder
	fmt.Fprintf(&head, "Permission needed: %s", text.VisibleLine(strings.Join(req.Permissions(), ", ")))
	if caller != "" {
		fmt.Fprintf(&head, " (asked by the tool %s)", text.VisibleLine(caller))
	}
	head.WriteByte('\n')
	// What needs attention most comes first.
	all := units(slices.Clone(req.Asked))
	if len(all) == 0 { // what is asked about is all of it
		for _, p := range req.Patterns {
			all = append(all, permission.Decision{Pattern: p})
		}
	}
	slices.SortStableFunc(all, func(a, b permission.Decision) int { return cmp.Compare(strictness(a), strictness(b)) })
	things, missing := all.shownLines()
	if missing != "" {
		fmt.Fprintf(&head, "THIS IS TOO LONG TO BE JUDGED IN A FORM, so it can only be rejected here: %s.\n", missing)
	}
	lines(&b, things)
	changed := req.Changed
	if changed == "" && slices.ContainsFunc(req.Asked, func(d permission.Decision) bool { return d.Changed }) {
		changed = "it has another shape than the one that was approved"
	}
	if changed != "" {
		b.WriteString("\nTHE TOOL HAS CHANGED since it was first used:\n")
		writeQuoted(&b, changed)
	}
	for _, d := range detailsOf(req) {
		if !d.write(&b) {
			fmt.Fprintf(&head, "Not all is shown: %s is cut.\n", d.label)
		}
	}
	kept, fits := keptBy(req.Store)
	if fits {
		b.WriteString("\n\"Always\" would also allow, in this session:\n")
		lines(&b, kept)
	} else {
		fmt.Fprintf(&b, "\n\"Always\" is not offered: it would also allow %d things, too much to be shown.\n", len(req.Store))
	}
	return sheet{text: strings.TrimSuffix(head.String()+b.String(), "\n"), whole: missing == "", kept: fits}
}

// units are the things that are asked about.
type units []permission.Decision

func strictness(d permission.Decision) int {
	switch {
	case d.Feared:
		return 0
	case d.Opaque != "":
		return 1
	case d.Guarded:
		return 2
	}
	return 3
}

// shownLines formats each part on a line, with its notes. If all of it is too long, every part is
// shortened, and missing says by how much.
func (all units) shownLines() (out []string, missing string) {
	size := 0
	for _, d := range all {
		line, cut := thing(d.Pattern, maxThing)
		size += len(line)
		if cut || size > maxThings || len(out) == maxAsked {
			return all.short()
		}
		out = append(out, all.name(d)+line+remarks(d))
	}
	return out, ""
}

// name is the permission that a thing is asked about under, where they are not
// all of one.
func (all units) name(d permission.Decision) string {
	if !slices.ContainsFunc(all, func(o permission.Decision) bool { return o.Permission != d.Permission }) {
		return ""
	}
	return text.VisibleLine(d.Permission) + " "
}

func (all units) short() (out []string, missing string) {
	cuts := 0
	for i, d := range all {
		if i == maxAsked {
			out = append(out, fmt.Sprintf("(and %d more)", len(all)-i))
			break
		}
		line, cut := thing(d.Pattern, maxShort)
		if cut {
			cuts++
		}
		out = append(out, all.name(d)+line+remarks(d))
	}
	return out, fmt.Sprintf("of %d things, %d are not shown and %d are cut", len(all), max(0, len(all)-maxAsked), cuts)
}

func remarks(d permission.Decision) (out string) {
	if d.Opaque != "" {
		why, _ := text.Cut(text.VisibleLine(d.Opaque), maxShort)
		out += "\n    it is not known what it does: " + why
	}
	if d.Feared {
		out += "\n    a rule denies what it may do"
	}
	if d.Guarded {
		out += "\n    " + d.Caution()
	}
	return out
}

// keptBy describes what an answer of "always" would store, and reports whether that can be shown.
func keptBy(store []permission.Approval) (kept []string, fits bool) {
	size := 0
	for _, a := range store {
		shown, cut := thing(a.Pattern, maxThing)
		line := text.VisibleLine(a.Permission) + " " + shown
		if a.Exact {
			line += " (exactly this text)"
		}
		if size += len(line); cut || size > maxThings || len(kept) == maxKept {
			return nil, false
		}
		kept = append(kept, line)
	}
	return kept, true
}

func lines(b *strings.Builder, all []string) {
	for _, line := range all {
		fmt.Fprintf(b, "  %s\n", line)
	}
}

// thing formats a pattern on one line, and reports whether it was cut. It is quoted if its ends
// could not be seen otherwise, or if it looks quoted itself.
func thing(pattern string, most int) (shown string, cut bool) {
	head, cut := text.Cut(pattern, most)
	shown = text.VisibleLine(head)
	if len(shown) > most { // what is made visible is longer
		shown, cut = shown[:most], true
	}
	if shown == "" || strings.ContainsAny(shown[:1]+shown[len(shown)-1:], ` "`) {
		shown = `"` + shown + `"`
	}
	if cut {
		shown += fmt.Sprintf(" (cut here: it has %d bytes)", len(pattern))
	}
	return shown, cut
}

// A detail is additional information of a tool about its request.
type detail struct{ label, text string }

// detailsOf are the details of a request, the important ones first.
func detailsOf(req permission.Request) []detail {
	all := req.Details()
	keys := slices.SortedFunc(maps.Keys(all), func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
	var out []detail
	for _, key := range keys {
		s, ok := all[key].(string)
		if !ok && key == "files" {
			s, ok = filesOf(all[key])
		}
		if !ok {
			raw, err := json.Marshal(all[key])
			if err != nil {
				continue
			}
			s = string(raw)
		}
		if s != "" {
			out = append(out, detail{label(key, req.Permission), s})
		}
	}
	return out
}

// rank sorts the details: what is run before where, and a long diff last.
func rank(key string) int {
	switch key {
	case "command":
		return 0
	case "workdir":
		return 1
	case "diff":
		return 3
	}
	return 2
}

// label returns the name of a detail for people.
func label(key, permission string) string {
	switch key {
	case "command":
		if permission != "bash" {
			return "For the command"
		}
		return "The command"
	case "workdir":
		return "It runs in the folder"
	case "filepath":
		return "The file"
	case "files":
		return "The files"
	case "parentDir":
		return "In the folder"
	case "path":
		return "The folder"
	case "diff":
		return "The change"
	case "pattern":
		return "It looks for"
	case "server":
		return "The MCP server"
	case "tool":
		return "Its tool"
	case "arguments", "input":
		return "What it is given"
	case "additions":
		return "Lines that come"
	case "deletions":
		return "Lines that go"
	}
	return text.VisibleLine(key)
}

// filesOf is a line for each of the files that a patch changes; what changes
// in them is in the difference.
func filesOf(value any) (string, bool) {
	all, ok := value.([]any)
	if !ok {
		return "", false
	}
	var out []string
	for _, one := range all {
		f, ok := one.(map[string]any)
		name, named := f["relativePath"].(string)
		if !ok || !named {
			return "", false
		}
		out = append(out, fmt.Sprintf("%v %s: %v lines come, %v go", f["type"], text.VisibleLine(name), f["additions"], f["deletions"]))
	}
	return strings.Join(out, "\n"), true
}

// write reports whether all of it is shown.
func (d detail) write(b *strings.Builder) bool {
	if !strings.Contains(d.text, "\n") && len(d.text) <= maxDetail {
		fmt.Fprintf(b, "\n%s: %s\n", d.label, text.VisibleLine(d.text))
		return true
	}
	fmt.Fprintf(b, "\n%s:\n", d.label)
	return writeQuoted(b, d.text)
}

// writeQuoted writes a longer text with a mark before each line, so that none of them can imitate
// ours. It reports whether all of it is shown.
func writeQuoted(b *strings.Builder, s string) bool {
	head, cut := text.Cut(s, maxDetail)
	for line := range strings.Lines(text.Visible(head)) {
		fmt.Fprintf(b, "| %s\n", strings.TrimSuffix(line, "\n"))
	}
	if cut {
		fmt.Fprintf(b, "(cut here: %d of %d bytes are shown)\n", len(head), len(s))
	}
	return !cut
}
