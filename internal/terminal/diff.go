package terminal

import (
	"fmt"
	"strings"

	"github.com/helve-dev/helve/internal/text"
)

// Diff formats at most most lines of a unified diff, followed by how many were left out. Of its
// header only the names are printed.
func Diff(diff string, most int, o Options) string {
	var out strings.Builder
	olds, news := 0, 0 // lines of the part that are still to come
	lines := strings.Split(strings.TrimSuffix(diff, "\n"), "\n")
	printed := 0
	for i, line := range lines {
		p, header := pen(""), false
		switch {
		case olds <= 0 && news <= 0:
			olds, news = hunk(line)
			p, header = dim, olds == 0 && news == 0
		case strings.HasPrefix(line, "-"):
			p = red
			olds--
		case strings.HasPrefix(line, "+"):
			p = green
			news--
		case strings.HasPrefix(line, `\`): // no line end at the end of the file
			p = dim
		default:
			olds, news = olds-1, news-1
		}
		if header && !strings.HasPrefix(line, "+++ ") && !strings.HasPrefix(line, "--- ") {
			continue
		}
		if printed++; printed > most {
			more := "… " + text.Count(len(lines)-i, "more line", "more lines")
			out.WriteString(o.Prefix + o.pen(dim).paint(more) + "\n")
			break
		}
		out.WriteString(o.Prefix + o.pen(p).paint(Safe(strings.TrimSuffix(line, "\r"))) + "\n")
	}
	return out.String()
}

// pen is a pen where there are colours.
func (o Options) pen(p pen) pen {
	if !o.Color {
		return ""
	}
	return p
}

// hunk reads how many lines a part has on both sides; nothing where the line
// begins none.
func hunk(line string) (olds, news int) {
	fields := strings.Fields(line)
	if len(fields) < 3 || fields[0] != "@@" {
		return 0, 0
	}
	count := func(s string) (n int) {
		_, after, ok := strings.Cut(s, ",")
		if !ok {
			return 1
		}
		if _, err := fmt.Sscanf(after, "%d", &n); err != nil {
			return 0
		}
		return n
	}
	return count(fields[1]), count(fields[2])
}

// A Todo is an entry of a to-do list.
type Todo struct {
	Text   string
	Status string // pending, in_progress, completed or cancelled
}

// Todos prints a list.
func Todos(list []Todo, o Options) string {
	var out strings.Builder
	w := wrapper{out: &out, width: max(o.Width, 20), least: 8}
	for _, t := range list {
		mark, p := "[ ] ", pen("")
		switch t.Status {
		case "in_progress":
			mark, p = "[>] ", bold
		case "completed":
			mark, p = "[x] ", dim
		case "cancelled":
			mark, p = "[-] ", dim.and(strike)
		}
		w.first = prefix{}.add(o.Prefix, "").add(mark, o.pen(p))
		w.rest = prefix{}.add(o.Prefix+"    ", "")
		w.write(o.pen(p), t.Text)
		w.end()
	}
	return out.String()
}
