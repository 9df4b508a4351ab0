package terminal

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/message"
)

// MostDiff is how many lines of a diff are printed.
const MostDiff = 80

// Bounds on what is printed of a call.
const (
	mostOutput = 5   // lines of what a command printed
	mostError  = 10  // lines of an error
	longTitle  = 300 // bytes
)

// An underway call has begun and not ended.
type underway struct {
	session, tool, title string
	part                 string // of a message, that it is
	since                time.Time
	output               []string // the last lines that it printed
}

// lastLines are the last lines of a text that are not blank at its end.
func lastLines(s string, most int) []string {
	s = strings.TrimRight(s, "\n\r\t ")
	at := len(s)
	for range most {
		if at = strings.LastIndexByte(s[:at], '\n'); at < 0 {
			break
		}
	}
	s = s[at+1:]
	if s == "" {
		return nil
	}
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if at := strings.LastIndexByte(strings.TrimSuffix(l, "\r"), '\r'); at >= 0 {
			l = l[at+1:] // what was printed over is gone
		}
		lines[i] = Safe(strings.TrimSuffix(l, "\r"))
	}
	return lines
}

// ownCall shows the person's own call while it runs.
func (t *Transcript) ownCall(h event.Payload) {
	switch p := h.(type) {
	case event.CallRunning:
		if p.ID == t.opt.Call && t.opt.Call != "" {
			part := message.Part{State: &message.State{Input: p.Input}}
			t.beginCall(p.ID, &underway{session: t.opt.Session, tool: p.Tool, title: titleOf(part), since: time.Now()})
		}
	case event.CallFinished:
		if p.ID == t.opt.Call {
			t.end(p.ID)
			t.over = true
		}
		if p.Error != nil && t.mine(p.Session) {
			t.errors[p.ID] = p.Error
		}
	}
}

func (t *Transcript) beginCall(id string, u *underway) {
	t.calls[id] = u
	t.order = append(t.order, id)
}

func (t *Transcript) end(id string) {
	delete(t.calls, id)
	t.order = slices.DeleteFunc(t.order, func(o string) bool { return o == id })
}

// showCall shows the progress of a call.
func (t *Transcript) showCall(p message.Part) {
	u := t.calls[p.CallID]
	switch p.State.Status {
	case message.Pending, message.Running:
		if u == nil {
			u = &underway{session: p.Session, tool: p.Tool, part: p.ID, since: time.Now()}
			t.beginCall(p.CallID, u)
		}
		u.title = titleOf(p)
		t.silence()
		return
	}
	if t.told[p.ID] > 0 {
		return
	}
	t.told[p.ID] = 1
	t.end(p.CallID)
	indent := t.heading(p.Session)
	o := outcomeOf(p, t.errors[p.CallID])
	t.addLines("calls", t.callLine(p, o, indent)+t.callDetails(p, o, indent+"  "))
	delete(t.errors, p.CallID)
}

// heading prints whose calls follow, if they belong to a child session, and returns their indent.
func (t *Transcript) heading(session string) string {
	if t.root(session) {
		t.child = ""
		return ""
	}
	indent := strings.Repeat("  ", t.depth(session))
	if s := t.sessions[session]; t.child != session {
		t.child = session
		name := strings.TrimSpace(s.Agent + " " + s.Title)
		t.addLines("calls", indent[2:]+t.style.Bold("▸ ")+Clip(Safe(name), t.opt.Width-len(indent)-2)+"\n")
	}
	return indent
}

// callLine formats a finished call in one line, or in several if it failed.
func (t *Transcript) callLine(p message.Part, o callOutcome, indent string) string {
	mark := t.style.Green("✓")
	if o.failed || CommandEnd(p.State.Metadata) != "" {
		mark = t.style.Red("✗")
	}
	name := Safe(o.tool)
	head := indent + mark + " " + t.style.Bold(name)
	if o.why != "" {
		room := max(t.opt.Width-len(indent)-Width(name)-3, 10)
		if why := Safe(o.why); !t.opt.Live || Width(why) <= room {
			return head + " " + t.style.Red(why) + "\n"
		}
		return head + "\n" + t.wrapped(o.why, indent+"  ", t.style.Red)
	}
	took := ""
	if o.took != "" {
		took = "  " + o.took
	}
	room := max(t.opt.Width-len(indent)-Width(name)-len(took)-4, 10)
	if title := Clip(titleOf(p), room); title != "" {
		head += " " + title
	}
	return head + t.style.Dim(took) + "\n"
}

// duration formats a duration for people.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// titleOf describes a call in a line.
func titleOf(p message.Part) string {
	title := p.State.Title
	var in map[string]any
	if json.Unmarshal(p.State.Input, &in) == nil {
		if command, ok := in["command"].(string); ok && command != "" {
			title = command // what is run says more than what it is called
		}
		for _, key := range []string{"filePath", "pattern", "path", "url", "query", "description", "name"} {
			if s, ok := in[key].(string); ok && title == "" {
				title = s
			}
		}
	}
	if title == "" && len(p.State.Input) > 2 {
		title = string(p.State.Input)
	}
	title, _ = text.Cut(title, longTitle)
	return Safe(strings.Join(strings.Fields(title), " "))
}

// callDetails returns what is printed below the line of a call: its error, its changes, the end of
// its output.
func (t *Transcript) callDetails(p message.Part, o callOutcome, indent string) string {
	var out strings.Builder
	line := func(paint func(string) string, s string) {
		out.WriteString(indent + paint(Clip(s, max(t.opt.Width-len(indent), 20))) + "\n")
	}
	switch {
	case o.why != "":
		return ""
	case p.State.Status == message.Failed:
		hint := ""
		if e := t.errors[p.CallID]; e != nil {
			hint = e.Hint
		}
		return t.wrapped(Reason(p.State.Error, hint), indent, t.style.Red)
	}
	if diff, _ := p.State.Metadata["diff"].(string); diff != "" && !t.seen[p.CallID] {
		out.WriteString(Diff(diff, MostDiff, Options{Color: t.opt.Color, Prefix: indent}))
	}
	if p.Tool == "bash" {
		output, _ := p.State.Metadata["output"].(string)
		last := lastLines(printed(output, o.failed), mostOutput+1)
		if len(last) > mostOutput {
			last[0] = "…"
		}
		for _, l := range last {
			line(t.style.Dim, l)
		}
		if how := CommandEnd(p.State.Metadata); how != "" && !o.failed {
			line(t.style.Red, how)
		}
	}
	return out.String()
}

// CommandEnd says how a failed command ended, from the metadata of its call; "" if it did not fail,
// or there was none.
func CommandEnd(metadata map[string]any) string {
	switch code := metadata["exit"].(type) {
	case int:
		if code != 0 {
			return fmt.Sprintf("exit code %d", code)
		}
	case float64: // read from a record
		if code != 0 {
			return fmt.Sprintf("exit code %.0f", code)
		}
	case nil:
		_, over := metadata["exit"]
		if signal, ok := metadata["signal"].(string); ok && over {
			return "ended by the signal " + Safe(signal)
		}
	}
	return ""
}

// mostShown is how many calls are shown at work at the same time.
const mostShown = 4

// Tick updates the status line, if there is one.
func (t *Transcript) Tick() {
	if !t.opt.Live || t.words != nil {
		return
	}
	t.frame++
	spin := Spinner(t.frame)
	var lines []string
	add := func(s string) { lines = append(lines, t.style.Dim(Clip(s, t.opt.Width-1))) }
	toEnd := func(s string) { lines = append(lines, t.style.Dim(ClipMiddle(s, t.opt.Width-1))) }
	for i, id := range t.order {
		u := t.calls[id]
		if i == mostShown {
			add(fmt.Sprintf("  and %d more", len(t.order)-i))
			break
		}
		indent := strings.Repeat("  ", t.depth(u.session))
		add(fmt.Sprintf("%s%s %s %s (%s)", indent, spin, Safe(u.tool), u.title, time.Since(u.since).Round(time.Second)))
		for _, l := range u.output {
			add(indent + "  " + l)
		}
	}
	switch {
	case t.waiting != "":
		add(spin + " " + Safe(t.waiting))
	case t.retry != nil:
		toEnd(spin + " " + Safe(retryText(*t.retry, time.Now())))
	case len(lines) == 0 && !t.busy.IsZero():
		add(fmt.Sprintf("%s working (%s)", spin, time.Since(t.busy).Round(time.Second)))
	}
	if t.typed != "" {
		toEnd("› " + Safe(strings.ReplaceAll(strings.TrimRight(t.typed, "\n"), "\n", " ⏎ ")))
	}
	if len(lines) == 0 {
		t.status.Erase()
		return
	}
	t.status.Show(lines...)
}
