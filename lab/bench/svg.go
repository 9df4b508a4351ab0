package main

import (
	"encoding/xml"
	"fmt"
	"math"
	"strings"
)

// A ratioRow is one bar of a picture of ratios.
type ratioRow struct {
	label string
	times float64
	told  string // the two values
}

// A pairRow is helve's bar and that of its peer; a peer without a name has none.
type pairRow struct {
	label        string
	value, other float64
	told, beside string
	peer         string
}

// Sizes of the pictures.
const (
	wide     = 1060.0
	barsFrom = 390.0
	barsTo   = 740.0
	top      = 58.0
)

// The colours, also for who prefers them dark. A picture brings its own ground,
// so that it can be read on any page.
const style = `<style>
text{font:13px system-ui,-apple-system,"Segoe UI",sans-serif;fill:#1f2328}
.title{font-size:16px;font-weight:600}
.dim{fill:#59636e;font-size:12px}
.ground{fill:#ffffff}
.grid{stroke:#d1d9e0}
.one{stroke:#59636e}
.us{fill:#1a7f37}
.them{fill:#8c959f}
.behind{fill:#bc4c00}
@media(prefers-color-scheme:dark){
text{fill:#f0f6fc}
.dim{fill:#9198a1}
.ground{fill:#0d1117}
.grid{stroke:#3d444d}
.one{stroke:#9198a1}
.us{fill:#3fb950}
.them{fill:#656c76}
.behind{fill:#db6d28}
}
</style>
`

// escape makes a text fit for a picture.
func escape(s string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(s)) // never fails: it writes into memory
	return out.String()
}

// plain takes the marks of Markdown out of a label.
func plain(s string) string { return strings.NewReplacer("`", "", "**", "").Replace(s) }

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// A scale places values on a line, by their logarithm, in whole powers of ten.
type scale struct{ low, high float64 }

func scaleOf(values []float64) scale {
	s := scale{math.Inf(1), math.Inf(-1)}
	for _, v := range values {
		if v > 0 {
			s.low, s.high = min(s.low, math.Floor(math.Log10(v))), max(s.high, math.Ceil(math.Log10(v)))
		}
	}
	if s.low > s.high {
		s = scale{0, 1}
	}
	if s.low == s.high {
		s.high++
	}
	return s
}

func (s scale) at(v float64) float64 {
	return barsFrom + (math.Log10(v)-s.low)/(s.high-s.low)*(barsTo-barsFrom)
}

// begin writes the head of a picture: what it is, its colours and its title.
func begin(out *strings.Builder, title, desc string, height float64) {
	fmt.Fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" role=\"img\" aria-labelledby=\"t d\">\n"+
		"<title id=\"t\">%s</title>\n<desc id=\"d\">%s</desc>\n%s<rect class=\"ground\" width=\"100%%\" height=\"100%%\" rx=\"6\"/>\n<text class=\"title\" x=\"16\" y=\"26\">%s</text>\n",
		wide, height, wide, height, escape(title), escape(desc), style, escape(title))
}

// grid writes a line for every power of ten, with its words.
func (s scale) grid(out *strings.Builder, height float64, say func(float64) string) {
	step := max(1, math.Ceil((s.high-s.low)/8)) // not more lines than their words have room
	for power := s.low; power <= s.high; power += step {
		v := math.Pow(10, power)
		x := s.at(v)
		class := "grid"
		if power == 0 && say(1) == "1×" {
			class = "one"
		}
		fmt.Fprintf(out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.0f\" x2=\"%.1f\" y2=\"%.0f\"/>\n<text class=\"dim\" x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\">%s</text>\n",
			class, x, top-6, x, height-10, x, top-12, escape(say(v)))
	}
}

// drawRatios draws bars from 1 to how many times ahead helve is; to the left
// where it is behind.
func drawRatios(title string, rows []ratioRow) string {
	const high = 26.0
	height := top + float64(len(rows))*high + 16
	values, told := []float64{1}, []string{}
	for _, r := range rows {
		values = append(values, r.times)
		told = append(told, fmt.Sprintf("%s: %s times (%s)", r.label, times(r.times), r.told))
	}
	s := scaleOf(values)
	var out strings.Builder
	begin(&out, title, strings.Join(told, "; ")+".", height)
	s.grid(&out, height, func(v float64) string { return number(v) + "×" })
	for i, r := range rows {
		y := top + float64(i)*high
		from, to, class := s.at(1), s.at(r.times), "us"
		if r.times < 1 {
			from, to, class = to, from, "behind"
		}
		fmt.Fprintf(&out, "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"16\" rx=\"2\"/>\n"+
			"<text x=\"%.1f\" y=\"%.1f\">%s× <tspan class=\"dim\">%s</tspan></text>\n",
			barsFrom-12, y+15, escape(r.label), class, from, y+3, max(to-from, 1), max(to, s.at(1))+6, y+15, times(r.times), escape(r.told))
	}
	return out.String() + "</svg>\n"
}

// drawPairs draws two bars for every figure: helve's, and its peer's below.
func drawPairs(title string, rows []pairRow) string {
	const high = 40.0
	height := top + float64(len(rows))*high + 16
	var values []float64
	var told []string
	for _, r := range rows {
		values = append(values, r.value)
		line := r.label + ": helve " + r.told
		if r.peer != "" {
			values = append(values, r.other)
			line += ", " + r.peer + " " + r.beside
		}
		told = append(told, line)
	}
	s := scaleOf(values)
	var out strings.Builder
	begin(&out, title, strings.Join(told, "; ")+".", height)
	s.grid(&out, height, func(v float64) string { return number(v) })
	for i, r := range rows {
		y := top + float64(i)*high
		fmt.Fprintf(&out, "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", barsFrom-12, y+21, escape(r.label))
		out.WriteString(s.bar("us", y+2, r.value, "helve "+r.told))
		if r.peer != "" {
			out.WriteString(s.bar("them", y+18, r.other, r.peer+" "+r.beside))
		}
	}
	return out.String() + "</svg>\n"
}

func (s scale) bar(class string, y, value float64, told string) string {
	to := barsFrom
	if value > 0 {
		to = s.at(value)
	}
	return fmt.Sprintf("<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"14\" rx=\"2\"/>\n<text class=\"dim\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
		class, barsFrom, y, max(to-barsFrom, 2), max(to, barsFrom)+8, y+11.5, escape(told))
}
