package text_test

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/helve-dev/helve/internal/text"
)

func TestTokens(t *testing.T) {
	for _, tt := range []struct {
		s    string
		want int
	}{
		{"", 0},
		{" ", 1},
		{"\n", 1},
		{"a", 1},
		{"hello", 1},
		{"hello world", 2},
		{"createPullRequest", 3},
		{"123456", 2},
		{"x = 1\n", 5},
		{`{"type":"string"}`, 5},
		{"=====================", 2},
		{"    indented", 2},
		{"\xff\xfe", 1},
		{"日本語", 2},
		{"🎉", 2},
	} {
		if got := text.Tokens(tt.s); got != tt.want {
			t.Errorf("%q: %d, want %d", tt.s, got, tt.want)
		}
	}
}

// TestTokensAgainstO200k compares with what the tokenizer counted.
func TestTokensAgainstO200k(t *testing.T) {
	f, err := os.Open("testdata/tokens.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	type sum struct{ texts, off, worst, got, want float64 }
	kinds := map[string]*sum{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var row struct {
			Kind, Text string
			Tokens     float64
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		k := kinds[row.Kind]
		if k == nil {
			k = &sum{}
			kinds[row.Kind] = k
		}
		got := float64(text.Tokens(row.Text))
		off := math.Abs(got-row.Tokens) / row.Tokens
		k.texts, k.off, k.worst, k.got, k.want = k.texts+1, k.off+off, max(k.worst, off), k.got+got, k.want+row.Tokens
	}
	if err := lines.Err(); err != nil || len(kinds) != 4 {
		t.Fatalf("%d kinds: %v", len(kinds), err)
	}
	for kind, k := range kinds {
		mean := k.off / k.texts
		t.Logf("%s: %.0f texts, off by %.1f %% on average and %.1f %% at worst, in all by %+.1f %%",
			kind, k.texts, 100*mean, 100*k.worst, 100*(k.got-k.want)/k.want)
		if mean > 0.06 || k.worst > 0.15 || k.texts < 5 {
			t.Errorf("%s: off by %.3f on average, %.3f at worst", kind, mean, k.worst)
		}
	}
}

// FuzzTokens: no text is free, none costs much more than its bytes, and the
// whole costs about what its halves do.
func FuzzTokens(f *testing.F) {
	f.Add("The quick brown fox. {\"a\":[1,2]}\n\tfunc x() {}")
	f.Add("é\xff\u200d日本 \r\n \t/")
	f.Fuzz(func(t *testing.T, s string) {
		n := text.Tokens(s)
		if n < 0 || len(s) > 0 && n == 0 || float64(n) > 1.1*float64(len(s))+1 {
			t.Errorf("%q: %d", s, n)
		}
	})
}

func BenchmarkTokens(b *testing.B) {
	s := strings.Repeat(`{"type":"object","properties":{"path":{"type":"string","description":"The file to read, as in src/main.go"}}}`, 1000)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		text.Tokens(s)
	}
}
