package regex

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// showSequences writes sequences the way classes are written.
func showSequences(list []Sequence) (out []string) {
	for _, s := range list {
		var b strings.Builder
		for i := range s {
			b.WriteString(showSet(&s[i]))
		}
		out = append(out, b.String())
	}
	return out
}

func showSet(s *Set) string {
	var ranges []string
	for lo := 0; lo < 256; lo++ {
		if !s.Has(byte(lo)) {
			continue
		}
		hi := lo
		for hi < 255 && s.Has(byte(hi+1)) {
			hi++
		}
		switch {
		case lo == hi:
			ranges = append(ranges, showByte(lo))
		case lo+1 == hi:
			ranges = append(ranges, showByte(lo)+showByte(hi))
		default:
			ranges = append(ranges, showByte(lo)+"-"+showByte(hi))
		}
		lo = hi
	}
	if s.Len() == 1 {
		return ranges[0]
	}
	return "[" + strings.Join(ranges, "") + "]"
}

func showByte(b int) string {
	if b < 0x20 || b > 0x7e {
		return fmt.Sprintf("{%02X}", b)
	}
	return string(rune(b))
}

func TestNeeds(t *testing.T) {
	tests := []struct {
		pattern string
		at      place
		alts    []string
		index   [][]string
	}{
		{`ServeHTTP`, placeExact, []string{"ServeHTTP"}, [][]string{{"servehttp"}}},
		{`ab`, placeExact, []string{"ab"}, nil},
		{`^import \(`, placePrefix, []string{"import ("}, [][]string{{"import ("}}},
		{`func \w+\(`, placePrefix, nil, [][]string{{"func "}}},
		{`TODO|FIXME`, placeExact, []string{"TODO", "FIXME"}, [][]string{{"fixme", "todo"}}},
		{`foo.*(barr|bazz)`, placeInner, []string{"ba[rz][rz]"}, [][]string{{"foo"}, {"barr", "bazz"}}},
		{`(?i)deprecated`, placeExact, []string{"[Dd][Ee][Pp][Rr][Ee][Cc][Aa][Tt][Ee][Dd]"}, [][]string{{"deprecated"}}},
		{`(?i)task`, placeExact, nil, [][]string{{"task", "tas\u212a", "taſk", "taſ\u212a"}}},
		{`[A-Z]{3,}_\d+`, placeInner, nil, nil},
		{`[A-Z]{3}_`, placeExact, []string{"[A-Z][A-Z][A-Z]_"}, nil},
		{`x{3,}`, placePrefix, []string{"xxx"}, [][]string{{"xxx"}}},
		{`(foo){2}`, placeExact, []string{"foofoo"}, [][]string{{"foofoo"}}},
		{`colou?r`, placeExact, nil, [][]string{{"color", "colour"}}},
		{`a*`, placeInner, nil, nil},
		{`(foo)*`, placeInner, nil, nil},
		{`foo|`, placeInner, nil, nil},
		{`\w+`, placeInner, nil, nil},
		{`.`, placeInner, nil, nil},
		{`\w+Error\(`, placeInner, nil, [][]string{{"error("}}},
		{`\bfoo\b`, placePrefix, []string{"foo"}, [][]string{{"foo"}}},
		{`naïve|façade|é`, placeExact, nil, nil},
		{`(?i)é\w*xyz`, placePrefix, []string{"{C3}[{89}{A9}]"}, [][]string{{"xyz"}}},
		{`context\.(Background|TODO)\(\)`, placeExact, nil, [][]string{{"context.background()", "context.todo()"}}},
		{`(a.*foo|b.*bar)`, placeInner, []string{"foo", "bar"}, [][]string{{"bar", "foo"}}},
		{`[a-z]+\d+[a-z]+\d+[a-z]+\d+`, placeInner, nil, nil},
	}
	for _, tt := range tests {
		n, err := parse(tt.pattern, Options{})
		if err != nil {
			t.Fatal(err)
		}
		w := needs(n)
		got := showSequences(w.alternatives)
		t.Logf("%s: %d %q %q", tt.pattern, w.at, got, w.index)
		if w.alternatives != nil && w.at != tt.at {
			t.Errorf("%s: at %d, want %d", tt.pattern, w.at, tt.at)
		}
		if tt.alts != nil {
			if d := cmp.Diff(tt.alts, got); d != "" {
				t.Errorf("%s: %s", tt.pattern, d)
			}
		}
		if d := cmp.Diff(tt.index, w.index); d != "" {
			t.Errorf("%s: index: %s", tt.pattern, d)
		}
	}
}

func BenchmarkNeeds(b *testing.B) {
	for _, pattern := range []string{
		`ServeHTTP`, `func \w+\(`, `(?i)todo|fixme|xxx|hack`, `[A-Z]{3,}_\d+`, `\d{4}-\d{2}-\d{2}`, `(?i)possessiveness`,
		strings.Repeat(`.a`, 50000), strings.Repeat(`foo|bar.x|`, 5000), strings.Repeat("((a|b)", 60) + strings.Repeat(")", 60),
		strings.Repeat("(x?", 60) + "y" + strings.Repeat("|z.)", 60), `(((ab?c){7}){7}){7}`,
	} {
		n, err := parse(pattern, Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(pattern[:min(len(pattern), 25)], func(b *testing.B) {
			for b.Loop() {
				needs(n)
			}
		})
	}
}
