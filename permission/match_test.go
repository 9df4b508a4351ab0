package permission

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		text, pattern string
		fold, want    bool
	}{
		{"ls", "ls *", false, true},
		{"ls  a", "ls *", false, true},
		{"lsx", "ls *", false, false},
		{"ls", "ls*", false, true},
		{"a\nb", "a*", false, true},
		{"", "*", false, true},
		{"", "?", false, false},
		{"A.ts", "a.ts", false, false},
		{"A.ts", "a.ts", true, true},
		{"x[1]", "x[1]", false, true},
		{"git status", "git * *", false, true},
		{"/x/.envrc", "*.env", false, false},
		{"/x/.env.local", "*.env.*", false, true},
		{`a/b`, `a\b`, false, true},
		{"x", " *", false, false},
		{"", " *", false, true},
		{"é", "?", false, true},
		{"日本", "?本", false, true},
		{"LS -la", "ls *", true, true},
		{"a b", "a **", false, true},
		{"a", "a **", false, false},
		{"\xff", "?", false, true},
	} {
		if got := matchFold(c.text, c.pattern, c.fold); got != c.want {
			t.Errorf("matchFold(%q, %q, %v) = %v", c.text, c.pattern, c.fold, got)
		}
	}
}

// slowMatch is the same sentence as Match, said with a regular expression.
func slowMatch(text, pattern string) bool {
	text, pattern = strings.ReplaceAll(text, `\`, "/"), strings.ReplaceAll(pattern, `\`, "/")
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	tail := strings.HasSuffix(pattern, " *")
	body := pattern
	if tail {
		body = pattern[:len(pattern)-2]
	}
	for _, r := range body {
		switch r {
		case '*':
			b.WriteString(".*")
		case '?':
			b.WriteString(".")
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	if tail {
		b.WriteString("( .*)?")
	}
	return regexp.MustCompile(b.String() + `\z`).MatchString(text)
}

func TestMatchAgainstRegexp(t *testing.T) {
	word := rapid.StringMatching(`[ab *?/\\é.]{0,12}`)
	rapid.Check(t, func(t *rapid.T) {
		text, pattern := word.Draw(t, "text"), word.Draw(t, "pattern")
		if got, want := matchFold(text, pattern, false), slowMatch(text, pattern); got != want {
			t.Fatalf("matchFold(%q, %q) = %v, the regular expression says %v", text, pattern, got, want)
		}
	})
}

func FuzzMatch(f *testing.F) {
	f.Add("git push origin", "git *")
	f.Add("a\\b", "a/?")
	f.Add(strings.Repeat("a", 200), strings.Repeat("*a", 30)+"b")
	f.Fuzz(func(t *testing.T, text, pattern string) {
		if len(text) > 1<<10 || len(pattern) > 1<<8 {
			return
		}
		text, pattern = strings.ToValidUTF8(text, "?"), strings.ToValidUTF8(pattern, "?")
		if got, want := matchFold(text, pattern, false), slowMatch(text, pattern); got != want {
			t.Fatalf("matchFold(%q, %q) = %v, the regular expression says %v", text, pattern, got, want)
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	hostile := strings.Repeat("a", 5000)
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			Match("git push origin main", "git push *")
		}
	})
	b.Run("hostile", func(b *testing.B) {
		for b.Loop() {
			Match(hostile, strings.Repeat("*", 60)+"x")
		}
	})
}

func TestContains(t *testing.T) {
	for _, c := range []struct {
		wide, narrow string
		want         bool
	}{
		{"*", "git *", true},
		{"git *", "git push *", true},
		{"git push *", "git *", false},
		{"rm ?", "rm *", false},
		{"rm ?", "rm x", true},
		{"rm ?", "rm ?", true},
		{"rm *", "rm ?", true},
		{"ls *", "ls *", true},
		{"ls ?*", "ls *", false}, // the narrow one also matches a bare ls
		{"a*b", "a*", false},
		{"*.env", "*", false},
		{"*.env", "x*.env", true},
	} {
		if got := contains(c.wide, c.narrow); got != c.want {
			t.Errorf("contains(%q, %q) = %v", c.wide, c.narrow, got)
		}
	}
}

// What is contained matches nothing that the container does not.
func TestContainsIsSound(t *testing.T) {
	pattern := rapid.StringMatching(`[ab *?]{0,6}`)
	text := rapid.StringMatching(`[ab ]{0,8}`)
	rapid.Check(t, func(t *rapid.T) {
		wide, narrow, s := pattern.Draw(t, "wide"), pattern.Draw(t, "narrow"), text.Draw(t, "text")
		if contains(wide, narrow) && Match(s, narrow) && !Match(s, wide) {
			t.Fatalf("%q contains %q, and only the latter matches %q", wide, narrow, s)
		}
	})
}
