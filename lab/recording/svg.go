package main

import (
	"cmp"
	"errors"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
)

// Sizes of the picture, in its own units.
const (
	cellWidth  = 7.8
	cellHeight = 18
	margin     = 16
	bar        = 30 // above the screen
	footer     = 34 // below it
)

// A film is a recording, ready to be drawn.
type film struct {
	cols, rows int
	title      string // for those who do not see it
	caption    string // below the screen
	frames     []frame
}

// An appearance is a row of the screen that shows the same for some time, from
// the beginning of one frame to the beginning of another.
type appearance struct {
	from, to int
	row      int
	line     line
}

// errEmpty is said of a film without anything to show.
var errEmpty = errors.New("there is nothing to show")

// appearances are all rows of all frames; a row that stays is one.
func (f film) appearances() (list []appearance) {
	for row := range f.rows {
		var now *appearance
		for i, fr := range f.frames {
			var l line
			if row < len(fr.rows) {
				l = fr.rows[row]
			}
			if now != nil && slices.Equal(now.line, l) {
				now.to = i + 1
				continue
			}
			now = nil
			if len(l) > 0 {
				list = append(list, appearance{from: i, to: i + 1, row: row, line: l})
				now = &list[len(list)-1]
			}
		}
	}
	slices.SortStableFunc(list, func(a, b appearance) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	return list
}

// animated draws the film as a picture that moves by itself, over and over. Who
// wants no motion sees the frame with the number still.
func (f film) animated(still int) (string, error) {
	if len(f.frames) == 0 || still < 0 || still >= len(f.frames) {
		return "", errEmpty
	}
	starts, total := []int{0}, 0
	for _, fr := range f.frames {
		total += fr.hold
		starts = append(starts, total)
	}
	if total <= 0 {
		return "", errEmpty
	}
	var styles, body strings.Builder
	list := f.appearances()
	for i, n := 0, 0; i < len(list); n++ {
		a := list[i]
		class := "k" + strconv.Itoa(n)
		fmt.Fprintf(&styles, "@keyframes %s{%s}.%s{animation-name:%s}", class, keys(starts[a.from], starts[a.to], total), class, class)
		kept := ""
		if a.from <= still && still < a.to {
			kept = " s"
		}
		fmt.Fprintf(&body, "<g class=\"f %s%s\">\n", class, kept)
		for ; i < len(list) && list[i].from == a.from && list[i].to == a.to; i++ {
			body.WriteString(drawn(list[i].row, list[i].line))
		}
		body.WriteString("</g>\n")
	}
	motion := fmt.Sprintf(".f{visibility:hidden;animation-duration:%sms;animation-timing-function:step-end;animation-iteration-count:infinite}", strconv.Itoa(total)) +
		styles.String() + "@media (prefers-reduced-motion:reduce){.f{animation:none}.s{visibility:visible}}"
	return f.sheet(motion, body.String()), nil
}

// keys say when something is seen: from one time to another of all the time.
func keys(from, to, total int) string {
	at := func(ms int) string {
		return strconv.FormatFloat(float64(ms)*100/float64(total), 'f', 3, 64) + "%"
	}
	s := "0%{visibility:hidden}"
	if from == 0 {
		s = "0%{visibility:visible}"
	} else {
		s += at(from) + "{visibility:visible}"
	}
	if to >= total {
		return s + "to{visibility:visible}"
	}
	return s + at(to) + "{visibility:hidden}to{visibility:hidden}"
}

// still draws one frame.
func (f film) still(n int) (string, error) {
	if n < 0 || n >= len(f.frames) {
		return "", errEmpty
	}
	var body strings.Builder
	for row, l := range f.frames[n].rows {
		if len(l) > 0 && row < f.rows {
			body.WriteString(drawn(row, l))
		}
	}
	return f.sheet("", body.String()), nil
}

// drawn is a row of the screen.
func drawn(row int, l line) string {
	var b strings.Builder
	top := bar + row*cellHeight
	for _, r := range l {
		x, w := margin+float64(r.col)*cellWidth, float64(r.width)*cellWidth
		if class := r.style.behind(); class != "" {
			fmt.Fprintf(&b, "<rect x=\"%s\" y=\"%d\" width=\"%s\" height=\"%d\" %s/>", number(x), top, number(w), cellHeight, class)
		}
		text := strings.TrimRight(r.text, " ")
		if text == "" {
			continue
		}
		// The width is given, so that columns stay columns in any font.
		w -= float64(len(r.text)-len(text)) * cellWidth
		lead := len(text) - len(strings.TrimLeft(text, " "))
		fmt.Fprintf(&b, "<text x=\"%s\" y=\"%d\" textLength=\"%s\"%s>%s</text>", number(x+float64(lead)*cellWidth), top+13,
			number(w-float64(lead)*cellWidth), r.style.front(), html.EscapeString(text[lead:]))
	}
	b.WriteByte('\n')
	return b.String()
}

func number(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(v, 'f', 1, 64), "0"), ".")
}

// fill is how a colour is written into an element.
func fill(colour, prefix string) string {
	switch {
	case colour == "":
		return ""
	case strings.HasPrefix(colour, "#"):
		return `fill="` + colour + `"`
	}
	return `class="` + prefix + colour + `"`
}

// behind is the colour behind the text, if there is one.
func (s style) behind() string {
	switch {
	case s.bg == cursor:
		return `class="` + cursor + `"`
	case s.invert && s.fg == "":
		return `class="ink"`
	case s.invert:
		return fill(s.fg, "c")
	}
	return fill(s.bg, "c")
}

// front is the look of the text.
func (s style) front() string {
	out := ""
	switch {
	case s.invert || s.bg == cursor:
		out = ` class="paper"`
	case s.fg != "":
		out = " " + fill(s.fg, "c")
	}
	if s.bold {
		out += ` font-weight="bold"`
	}
	if s.dim {
		out += ` opacity=".65"`
	}
	if s.under {
		out += ` text-decoration="underline"`
	}
	return out
}

// sheet is the whole picture: the window, its colours by day and by night, and
// what is in it.
func (f film) sheet(motion, body string) string {
	w := number(2*margin + float64(f.cols)*cellWidth)
	h := bar + f.rows*cellHeight + footer
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%s\" height=\"%d\" viewBox=\"0 0 %s %d\" role=\"img\" aria-label=\"%s\">\n",
		w, h, w, h, html.EscapeString(f.title))
	fmt.Fprintf(&b, "<style>%s%s</style>\n", colours(), motion)
	fmt.Fprintf(&b, "<rect class=\"sheet\" x=\".5\" y=\".5\" width=\"%s\" height=\"%d\" rx=\"8\"/>\n", number(2*margin+float64(f.cols)*cellWidth-1), h-1)
	b.WriteString("<circle class=\"dot\" cx=\"18\" cy=\"15\" r=\"5\"/><circle class=\"dot\" cx=\"36\" cy=\"15\" r=\"5\"/><circle class=\"dot\" cx=\"54\" cy=\"15\" r=\"5\"/>\n")
	fmt.Fprintf(&b, "<g xml:space=\"preserve\">\n%s</g>\n", body)
	fmt.Fprintf(&b, "<text class=\"caption\" x=\"%d\" y=\"%d\">%s</text>\n</svg>\n", margin, h-12, html.EscapeString(f.caption))
	return b.String()
}

// colours are the classes of the picture: light ones, and dark ones where the
// reader prefers these.
func colours() string {
	// All of it is inherited, so that an attribute of an element wins.
	const font = "svg{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:13px;fill:var(--ink)}text{white-space:pre}" +
		".sheet{fill:var(--paper);stroke:var(--rim)}.dot{fill:var(--rim)}.caption{font-size:11px;fill:var(--faint)}" +
		".paper{fill:var(--paper)}.ink{fill:var(--ink)}.cursor{fill:var(--faint)}"
	light := palette("#1f2328 #ffffff #d0d7de #59636e",
		"#24292f #b3261e #116329 #7a4d00 #0550ae #7c2fb8 #0f6a75 #57606a #57606a #a40e26 #1a7f37 #633c01 #0969da #8250df #1b7c83 #24292f")
	dark := palette("#d6deeb #0d1420 #2b3648 #93a1b5",
		"#5c6773 #ff8b8b #7fd88f #ecc48d #82aaff #d9a5ff #7fdbca #d6deeb #93a1b5 #ffa6a6 #a5e8b0 #ffd9a0 #a8c7ff #e6c4ff #a6efe2 #ffffff")
	var b strings.Builder
	b.WriteString("svg{" + light + "}@media (prefers-color-scheme:dark){svg{" + dark + "}}" + font)
	for i := range 16 {
		fmt.Fprintf(&b, ".c%d{fill:var(--c%d)}", i, i)
	}
	return b.String()
}

// palette sets the colours: ink, paper, rim and faint, and those with numbers.
func palette(base, numbered string) string {
	var b strings.Builder
	for i, c := range strings.Fields(base) {
		fmt.Fprintf(&b, "--%s:%s;", []string{"ink", "paper", "rim", "faint"}[i], c)
	}
	for i, c := range strings.Fields(numbered) {
		fmt.Fprintf(&b, "--c%d:%s;", i, c)
	}
	return b.String()
}
