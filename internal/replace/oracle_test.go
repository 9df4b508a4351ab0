package replace

import (
	"errors"
	"math"
	"regexp"
	"strings"
	"unicode/utf16"
)

// This file says what the seed profile must answer, in the plainest way and
// at any cost. It shares no code with the package.

const blankSet = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"

type oracle struct {
	escapes *regexp.Regexp
}

func newOracle() *oracle {
	return &oracle{regexp.MustCompile("(?s)\\\\(n|t|r|'|\"|`|\\\\|\n|\\$)")}
}

var (
	errNone = errors.New("none")
	errMany = errors.New("many")
)

func (o *oracle) trim(s string) string { return strings.Trim(s, blankSet) }

func (o *oracle) words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(blankSet, r) })
}

func (o *oracle) norm(s string) string { return strings.Join(o.words(s), " ") }

// replace is the whole engine. An empty candidate in a text that is not empty
// is never replaced, which is the one wanted difference.
func (o *oracle) replace(content, old, new string, all bool) (string, error) {
	found := false
	for _, candidates := range []func(c, f string) []string{
		o.simple, o.lineTrimmed, o.blockAnchor, o.whitespace, o.indentation, o.escape, o.boundary, o.context, o.multi,
	} {
		for _, s := range candidates(content, old) {
			i := strings.Index(content, s)
			if i < 0 {
				continue
			}
			found = true
			if s == "" && content != "" {
				if all {
					break
				}
				continue
			}
			if all {
				return strings.ReplaceAll(content, s, new), nil
			}
			if strings.LastIndex(content, s) != i {
				continue
			}
			return content[:i] + new + content[i+len(s):], nil
		}
	}
	if !found {
		return "", errNone
	}
	return "", errMany
}

func (o *oracle) simple(_, f string) []string { return []string{f} }

func dropLast(lines []string) []string {
	if lines[len(lines)-1] == "" {
		return lines[:len(lines)-1]
	}
	return lines
}

func (o *oracle) lineTrimmed(c, f string) (out []string) {
	cl, s := strings.Split(c, "\n"), dropLast(strings.Split(f, "\n"))
	for i := 0; i+len(s) <= len(cl); i++ {
		ok := true
		for j := range s {
			ok = ok && o.trim(cl[i+j]) == o.trim(s[j])
		}
		if ok {
			out = append(out, strings.Join(cl[i:i+len(s)], "\n"))
		}
	}
	return out
}

func (o *oracle) anchors(cl, s []string) (out [][2]int) {
	for i := range cl {
		if o.trim(cl[i]) != o.trim(s[0]) {
			continue
		}
		for j := i + 2; j < len(cl); j++ {
			if o.trim(cl[j]) == o.trim(s[len(s)-1]) {
				out = append(out, [2]int{i, j})
				break
			}
		}
	}
	return out
}

func (o *oracle) blockAnchor(c, f string) []string {
	cl, s := strings.Split(c, "\n"), strings.Split(f, "\n")
	if len(s) < 3 {
		return nil
	}
	s = dropLast(s)
	blocks := o.anchors(cl, s)
	if len(blocks) == 1 {
		return []string{strings.Join(cl[blocks[0][0]:blocks[0][1]+1], "\n")}
	}
	best, at := -1.0, [2]int{}
	for _, b := range blocks {
		m := b[1] - b[0] + 1
		sim := 1.0
		if k := min(len(s)-2, m-2); k > 0 {
			sim = 0
			for t := 1; t < len(s)-1 && t < m-1; t++ {
				x, y := o.trim(cl[b[0]+t]), o.trim(s[t])
				l := max(len(utf16.Encode([]rune(x))), len(utf16.Encode([]rune(y))))
				if l > 0 {
					sim += 1 - float64(plainDistance(x, y))/float64(l)
				}
			}
			sim /= float64(k)
		}
		if sim > best {
			best, at = sim, b
		}
	}
	if best >= 0.3 {
		return []string{strings.Join(cl[at[0]:at[1]+1], "\n")}
	}
	return nil
}

func plainDistance(s, t string) int {
	a, b := utf16.Encode([]rune(s)), utf16.Encode([]rune(t))
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		last := row[0]
		row[0] = i + 1
		for j := range b {
			d := last
			if a[i] != b[j] {
				d++
			}
			last = row[j+1]
			row[j+1] = min(d, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}

func (o *oracle) whitespace(c, f string) (out []string) {
	cl, fl := strings.Split(c, "\n"), strings.Split(f, "\n")
	want := o.norm(f)
	words := o.words(f)
	for i := range words {
		words[i] = regexp.QuoteMeta(words[i])
	}
	for _, line := range cl {
		if o.norm(line) == want {
			out = append(out, line)
		} else if strings.Contains(o.norm(line), want) {
			part := regexp.MustCompile(strings.Join(words, `[`+blankSet+`]+`))
			if at := part.FindStringIndex(line); at != nil {
				out = append(out, line[at[0]:at[1]])
			}
		}
	}
	if len(fl) > 1 {
		for i := 0; i+len(fl) <= len(cl); i++ {
			if w := strings.Join(cl[i:i+len(fl)], "\n"); o.norm(w) == want {
				out = append(out, w)
			}
		}
	}
	return out
}

func (o *oracle) dedent(s string) string {
	lines := strings.Split(s, "\n")
	least := math.MaxInt
	for _, l := range lines {
		if o.trim(l) != "" {
			least = min(least, len([]rune(l))-len([]rune(strings.TrimLeft(l, blankSet))))
		}
	}
	if least == math.MaxInt {
		return s
	}
	for i, l := range lines {
		if o.trim(l) != "" {
			lines[i] = string([]rune(l)[least:])
		}
	}
	return strings.Join(lines, "\n")
}

func (o *oracle) indentation(c, f string) (out []string) {
	cl, n := strings.Split(c, "\n"), strings.Count(f, "\n")+1
	for i := 0; i+n <= len(cl); i++ {
		if w := strings.Join(cl[i:i+n], "\n"); o.dedent(w) == o.dedent(f) {
			out = append(out, w)
		}
	}
	return out
}

func (o *oracle) unescape(s string) string {
	return o.escapes.ReplaceAllStringFunc(s, func(e string) string {
		switch e[1] {
		case 'n':
			return "\n"
		case 't':
			return "\t"
		case 'r':
			return "\r"
		}
		return e[1:]
	})
}

func (o *oracle) escape(c, f string) (out []string) {
	u := o.unescape(f)
	if strings.Contains(c, u) {
		out = append(out, u)
	}
	cl, n := strings.Split(c, "\n"), strings.Count(u, "\n")+1
	for i := 0; i+n <= len(cl); i++ {
		if w := strings.Join(cl[i:i+n], "\n"); o.unescape(w) == u {
			out = append(out, w)
		}
	}
	return out
}

func (o *oracle) boundary(c, f string) (out []string) {
	t := o.trim(f)
	if t == f {
		return nil
	}
	if strings.Contains(c, t) {
		out = append(out, t)
	}
	cl, n := strings.Split(c, "\n"), strings.Count(f, "\n")+1
	for i := 0; i+n <= len(cl); i++ {
		if w := strings.Join(cl[i:i+n], "\n"); o.trim(w) == t {
			out = append(out, w)
		}
	}
	return out
}

func (o *oracle) context(c, f string) (out []string) {
	cl, s := strings.Split(c, "\n"), strings.Split(f, "\n")
	if len(s) < 3 {
		return nil
	}
	s = dropLast(s)
	for _, b := range o.anchors(cl, s) {
		if b[1]-b[0]+1 != len(s) {
			continue
		}
		equal, all := 0, 0
		for t := 1; t < len(s)-1; t++ {
			x, y := o.trim(cl[b[0]+t]), o.trim(s[t])
			if x != "" || y != "" {
				all++
				if x == y {
					equal++
				}
			}
		}
		if all == 0 || float64(equal)/float64(all) >= 0.5 {
			out = append(out, strings.Join(cl[b[0]:b[1]+1], "\n"))
		}
	}
	return out
}

func (o *oracle) multi(c, f string) (out []string) {
	for range strings.Count(c, f) {
		out = append(out, f)
	}
	return out
}
