package text

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNearest(t *testing.T) {
	tools := []string{"bash", "read", "write", "edit", "multiedit", "grep", "glob", "webfetch", "todowrite", "todoread", "apply_patch"}
	tests := []struct {
		word  string
		among []string
		want  string
	}{
		{"raed", tools, "read"},
		{"Read", tools, "read"},
		{"GREP", tools, "grep"},
		{"greb", tools, "grep"},
		{"webfech", tools, "webfetch"},
		{"todo_write", tools, "todowrite"},
		{"applypatch", tools, "apply_patch"},
		{"zzzz", tools, ""},
		{"python", tools, ""},
		{"", tools, ""},
		{"x", tools, ""},
		{"read", nil, ""},
		{"cot", []string{"cat", "cut"}, "cat"},
		{"é", []string{"É"}, "É"},
		{strings.Repeat("a", 65), []string{strings.Repeat("a", 65)}, ""},
		{strings.Repeat("a", 64), []string{strings.Repeat("a", 65), strings.Repeat("a", 63)}, strings.Repeat("a", 63)},
	}
	for _, tt := range tests {
		if got, ok := Nearest(tt.word, tt.among); got != tt.want || ok != (tt.want != "") {
			t.Errorf("Nearest(%q) = %q, %v, want %q", tt.word, got, ok, tt.want)
		}
	}
}

func TestSlipsOfWords(t *testing.T) {
	long := strings.Repeat("a", 65)
	for _, tt := range []struct {
		a, b        string
		limit, want int
	}{
		{"read", "read", 0, 0},
		{"Read", "reaD", 0, 0},
		{"raed", "read", 2, 1},
		{"filpath", "filepath", 2, 1},
		{"submission", "permission", 3, 3},
		{"submission", "permission", 2, 3},
		{"", "ab", 2, 2},
		{"", "", 0, 0},
		{"é", "É", 0, 0},
		{"a", "b", -1, 0},
		{long, long, 3, 4},
		{"a", long, 100, 101},
		{long, "a", 100, 101},
		{strings.Repeat("a", 64), strings.Repeat("b", 64), 64, 64},
	} {
		if got := Slips(tt.a, tt.b, tt.limit); got != tt.want {
			t.Errorf("Slips(%.12q, %.12q, %d) = %d, want %d", tt.a, tt.b, tt.limit, got, tt.want)
		}
	}
}

// slipsSlowly is the definition, by recursion on the last letters.
func slipsSlowly(a, b []rune, seen map[[2]int]int) int {
	if len(a) == 0 || len(b) == 0 {
		return len(a) + len(b)
	}
	key := [2]int{len(a), len(b)}
	if d, ok := seen[key]; ok {
		return d
	}
	x, y := a[len(a)-1], b[len(b)-1]
	d := slipsSlowly(a[:len(a)-1], b[:len(b)-1], seen)
	if x != y {
		d++
	}
	d = min(d, slipsSlowly(a[:len(a)-1], b, seen)+1, slipsSlowly(a, b[:len(b)-1], seen)+1)
	if len(a) > 1 && len(b) > 1 && x == b[len(b)-2] && a[len(a)-2] == y {
		d = min(d, slipsSlowly(a[:len(a)-2], b[:len(b)-2], seen)+1)
	}
	seen[key] = d
	return d
}

func TestSlips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SliceOfN(rapid.SampledFrom([]rune("abcd")), 0, 12)
		a, b := letters.Draw(t, "a"), letters.Draw(t, "b")
		limit := rapid.IntRange(0, 12).Draw(t, "limit")
		got, want := slips(a, b, limit), slipsSlowly(a, b, map[[2]int]int{})
		if got != want && (got <= limit || want <= limit) {
			t.Fatalf("%q and %q: %d slips, want %d (limit %d)", string(a), string(b), got, want, limit)
		}
	})
}
