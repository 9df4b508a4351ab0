package text

import (
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

func TestCut(t *testing.T) {
	tests := []struct {
		in   string
		n    int
		want string
	}{
		{"abc", 3, "abc"}, {"abc", 2, "ab"}, {"abc", 0, ""}, {"abc", -1, ""}, {"", 0, ""},
		{"aé", 2, "a"}, {"aé", 3, "aé"}, {"😀", 3, ""}, {"a😀b", 5, "a😀"},
		{"a\x80\x80\x80", 2, "a\x80"}, {"\xf0\x9f\x98", 2, "\xf0\x9f"}, {"é\x80\x80", 3, "é\x80"},
	}
	for _, tt := range tests {
		if got, cut := Cut(tt.in, tt.n); got != tt.want || cut != (tt.want != tt.in) {
			t.Errorf("Cut(%q, %d) = %q, %v", tt.in, tt.n, got, cut)
		}
	}
}

func TestCutUTF16(t *testing.T) {
	tests := []struct {
		in   string
		n    int
		want string
	}{
		{"abc", 3, "abc"}, {"abc", 2, "ab"}, {"abc", 0, ""}, {"", 0, ""},
		{"ééé", 2, "éé"}, {"ééé", 3, "ééé"}, {"a😀b", 2, "a"}, {"a😀b", 3, "a😀"}, {"a😀b", 4, "a😀b"},
		{"\xff\xff\xff", 2, "\xff\xff"},
	}
	for _, tt := range tests {
		if got, cut := CutUTF16(tt.in, tt.n); got != tt.want || cut != (tt.want != tt.in) {
			t.Errorf("CutUTF16(%q, %d) = %q, %v", tt.in, tt.n, got, cut)
		}
	}
}

func FuzzCut(f *testing.F) {
	f.Add("a😀é\xff", 3)
	f.Fuzz(func(t *testing.T, s string, n int) {
		for _, cut := range []func(string, int) (string, bool){Cut, CutUTF16} {
			got, left := cut(s, n)
			if !strings.HasPrefix(s, got) || left != (got != s) {
				t.Fatalf("%q cut at %d is %q, %v", s, n, got, left)
			}
			if utf8.RuneCountInString(got)+utf8.RuneCountInString(s[len(got):]) != utf8.RuneCountInString(s) {
				t.Fatalf("%q cut at %d breaks a character: %q", s, n, got)
			}
			if !left {
				continue
			}
			// one character more would be too much
			_, size := utf8.DecodeRuneInString(s[len(got):])
			next := s[:len(got)+size]
			if len(got) > max(n, 0) && len(utf16.Encode([]rune(got))) > max(n, 0) {
				t.Fatalf("%q cut at %d is too long: %q", s, n, got)
			}
			if len(next) <= n && len(utf16.Encode([]rune(next))) <= n {
				t.Fatalf("%q cut at %d is too short: %q", s, n, got)
			}
		}
	})
}

func TestCount(t *testing.T) {
	for n, want := range []string{"0 lines", "1 line", "2 lines"} {
		if got := Count(n, "line", "lines"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
