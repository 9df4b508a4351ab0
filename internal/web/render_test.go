package web

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/helve-dev/helve/internal/text"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func same(s string) string { return s }

func TestRenderBounds(t *testing.T) {
	hits := []hit{
		{"A", "https://a.example", "", []string{strings.Repeat("a", 100)}},
		{"B", "https://b.example", "", []string{"short"}},
		{"C", "https://c.example", "", []string{strings.Repeat("c", 50)}},
	}
	heads := 3 * (len("1. A\n   https://a.example") + 2)
	for _, tt := range []struct {
		count, most int
		want        string
	}{
		{8, 1000, "1. A\n   https://a.example\n   " + strings.Repeat("a", 100) + "\n\n2. B\n   https://b.example\n   short\n\n3. C\n   https://c.example\n   " + strings.Repeat("c", 50)},
		{2, 1000, "1. A\n   https://a.example\n   " + strings.Repeat("a", 100) + "\n\n2. B\n   https://b.example\n   short"},
		// The short text is left alone, and the long ones get the same.
		{8, heads + 9 + 2*20, "1. A\n   https://a.example\n   " + strings.Repeat("a", 14) + " …\n\n2. B\n   https://b.example\n   short\n\n3. C\n   https://c.example\n   " + strings.Repeat("c", 14) + " …" +
			fmt.Sprintf("\n\n(Bounded to %d characters. Texts shortened: 2.)", heads+9+2*20)},
		{8, heads, "1. A\n   https://a.example\n\n2. B\n   https://b.example\n\n3. C\n   https://c.example" +
			fmt.Sprintf("\n\n(Bounded to %d characters. Texts shortened: 3.)", heads)},
		{8, heads - 1, "1. A\n   https://a.example\n   aaaaaaaaaaa …\n\n2. B\n   https://b.example\n   short" +
			fmt.Sprintf("\n\n(Bounded to %d characters. Results left out: 1. Texts shortened: 1.)", heads-1)},
		{8, 3, "1.\n\n(Bounded to 3 characters. Results left out: 2. Texts shortened: 1.)"},
	} {
		got := render(hits, SearchQuery{Count: tt.count, MaxChars: tt.most}, same)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%d results in %d characters: %s", tt.count, tt.most, diff)
		}
	}
}

func TestRenderLongFields(t *testing.T) {
	got := render([]hit{{strings.Repeat("t", 400), "https://x.example/" + strings.Repeat("p", 3000), strings.Repeat("d", 100), nil}}, SearchQuery{Count: 1}, same)
	want := "1. " + strings.Repeat("t", 300) + "\n   (an address of more than 2000 characters)\n   " + strings.Repeat("d", 60)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestUnmarked(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                                  "plain",
		"<strong>a</strong> b":                   "a b",
		"a<br>b<BR />c":                          "a\nb\nc",
		"<span class=\"x\">y</span>":             "y",
		"&lt;div&gt; &amp;amp; &#39;&#x27;&nope": "<div> &amp; ''&nope",
		"Map<K, V> a<b b>c x < y":                "Map<K, V> ac x < y",
		"<strong":                                "<strong",
		"<":                                      "<",
		"<>":                                     "<>",
		"<table>":                                "<table>",
	} {
		if got := unmarked(in); got != want {
			t.Errorf("unmarked(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestMasked(t *testing.T) {
	for in, want := range map[string]string{
		"":                                      "",
		"a = b":                                 "a = b",
		"https://x/?exaApiKey=abc&q=1: refused": "https://x/?exaApiKey=[redacted]&q=1: refused",
		"https://x/?q=1&token=ab…":              "https://x/?q=1&token=[redacted]…",
		`get "https://x/?AUTH=a": no`:           `get "https://x/?AUTH=[redacted]": no`,
		"key=":                                  "key=[redacted]",
	} {
		if got := masked(in); got != want {
			t.Errorf("masked(%q) = %q, want %q", in, got, want)
		}
	}
}

// checkRendered says what is true of every list of results.
func checkRendered(t interface{ Fatalf(string, ...any) }, hits []hit, q SearchQuery) {
	got := render(hits, q, same)
	if text.HasHidden(got) || !utf8.ValidString(got) {
		t.Fatalf("hidden characters in %q", got)
	}
	body, _, bounded := strings.Cut(got, "\n\n(Bounded to ")
	if n := utf8.RuneCountInString(body); n > q.chars() {
		t.Fatalf("%d characters, and %d is the most: %q", n, q.chars(), got)
	}
	shown := 0
	for row := range strings.Lines(body) {
		if row != "\n" && !strings.HasPrefix(row, "   ") {
			shown++
			if want := fmt.Sprintf("%d. ", shown); !strings.HasPrefix(row, want) && !strings.HasPrefix(want, row) {
				t.Fatalf("line %q stands alone in %q", row, got)
			}
		}
	}
	if shown > q.Count || shown > len(hits) {
		t.Fatalf("%d results are shown of %d, and %d were wanted", shown, len(hits), q.Count)
	}
	if !bounded {
		for _, h := range hits[:min(shown, len(hits))] {
			if title := oneLine(h.title); utf8.RuneCountInString(title) <= maxTitle && !strings.Contains(got, title) && shown == len(hits) {
				t.Fatalf("%q lacks the title %q", got, title)
			}
		}
	}
}

func FuzzRender(f *testing.F) {
	f.Add("title", "https://x.example/", "2026-10-01", "a\r\nb\x1b[31m", 3, 100)
	f.Add("", "", "", "", 1, 1)
	f.Add("2. fake", "a\nb", "\u2028", "x\n\n2. not a result\n   https://evil.example", 2, 60)
	f.Fuzz(func(t *testing.T, title, address, date, said string, count, most int) {
		q := SearchQuery{Count: count, MaxChars: most % 5000}.withDefaults()
		var hits []hit
		for i := range 1 + q.Count%7 {
			half := len(said) / (i + 1)
			hits = append(hits, hit{title, address, date, []string{said[:half], said[half:]}})
		}
		checkRendered(t, hits, q)
		unmarked(said)
		masked(said)
		pageText(said)
	})
}

func TestRenderLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hits := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) hit {
			s := rapid.StringOfN(rapid.RuneFrom([]rune("ab \n\té\u202e\x1b…1.(")), 0, 80, -1)
			return hit{s.Draw(t, "title"), s.Draw(t, "address"), s.Draw(t, "date"), rapid.SliceOfN(s, 0, 3).Draw(t, "parts")}
		}), 0, 12).Draw(t, "hits")
		q := SearchQuery{Count: rapid.IntRange(1, 10).Draw(t, "count"), MaxChars: rapid.IntRange(1, 600).Draw(t, "most")}
		checkRendered(t, hits, q)
	})
}

// What clean returns can be shown, is stable, and keeps what can be seen.
func FuzzClean(f *testing.F) {
	f.Add("a\x1b[0m\r\n\u00a0\u202e\xff \\x1b")
	f.Fuzz(func(t *testing.T, s string) {
		got := cleanText(s)
		if text.HasHidden(got) || !utf8.ValidString(got) {
			t.Fatalf("clean(%q) = %q", s, got)
		}
		if again := cleanText(got); again != got {
			t.Fatalf("clean(%q) = %q, and then %q", s, got, again)
		}
		if !text.HasHidden(s) && got != s {
			t.Fatalf("clean(%q) = %q, and nothing was hidden", s, got)
		}
	})
}

// FuzzReply holds the reader to what it promises, whatever a server sends.
func FuzzReply(f *testing.F) {
	for _, c := range replyCases() {
		f.Add([]byte(c[0]), false)
		f.Add([]byte(c[0]), true)
	}
	f.Fuzz(func(t *testing.T, body []byte, cut bool) {
		got, err := readReply(body, cut)
		if _, ok := err.(*rawSearchError); err != nil && (!ok || got != "") {
			t.Fatalf("readReply(%q) = %q, %v", body, got, err)
		}
		if cut && got == "" && err == nil {
			t.Fatalf("a reply that was cut off reads as nothing found: %q", body)
		}
		if got != "" && strings.TrimSpace(got) == "" {
			t.Fatalf("readReply(%q) = %q", body, got)
		}
		// An answer stays the same when it comes as an event, among others.
		if err == nil && got != "" && len(body) > 0 && body[0] == '{' && !strings.ContainsAny(string(body), "\r\n") {
			stream := "data: [DONE]\n\nevent: message\ndata: " + string(body) + "\n\ndata: x\n\n"
			if again, err := readReply([]byte(stream), false); again != got || err != nil {
				t.Fatalf("as an event %q reads as %q, %v, and not as %q", body, again, err, got)
			}
		}
	})
}
