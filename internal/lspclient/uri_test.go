package lspclient

import (
	"errors"
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestURIOf(t *testing.T) {
	for _, c := range []struct {
		path    string
		windows bool
		want    string
	}{
		{"/w/a.go", false, "file:///w/a.go"},
		{"/", false, "file:///"},
		{"/a b/c#d?e%41[1]@(x)+y", false, "file:///a%20b/c%23d%3Fe%2541%5B1%5D%40%28x%29%2By"},
		{"/é/日", false, "file:///%C3%A9/%E6%97%A5"},
		{"/c:/x", false, "file:///c%3A/x"},
		{`/a\b`, false, "file:///a%5Cb"},
		{"/\xff", false, "file:///%FF"},
		{"/-._~", false, "file:///-._~"},
		{`C:\w\a b.go`, true, "file:///c%3A/w/a%20b.go"},
		{`c:/w`, true, "file:///c%3A/w"},
		{`C:\`, true, "file:///c%3A/"},
		{`\\Server\share\x`, true, "file://server/share/x"},
		{`\\wsl$\u\x`, true, "file://wsl%24/u/x"},
		{`\\?\C:\long`, true, "file:///c%3A/long"},
		{`\\?\UNC\server\share`, true, "file://server/share"},
	} {
		if got := uriOn(c.path, c.windows); got != c.want {
			t.Errorf("uriOn(%q) = %q, want %q", c.path, got, c.want)
		}
	}
}

func TestPathOf(t *testing.T) {
	for _, c := range []struct {
		uri     string
		windows bool
		want    string
	}{
		{"file:///w/a.go", false, "/w/a.go"},
		{"FILE:///w", false, "/w"},
		{"file:/w/a.go", false, "/w/a.go"}, // as Java spells it
		{"file://localhost/w", false, "/w"},
		{"file:////w//./a/../b/", false, "/w/b"},
		{"file:///../../w", false, "/w"},
		{"file:///a b/100%.txt", false, "/a b/100%.txt"}, // nothing escaped
		{"file:///a%20b%2fc%zz%4", false, "/a b/c%zz%4"},
		{"file:///%FF", false, "/\xff"},
		{"file:///a%2541", false, "/a%41"}, // unescaped once
		{"file:///c%3A/x", false, "/c:/x"},
		{"file:///c%3A/w/x", true, `C:\w\x`},
		{"file:///c%3a/w/x", true, `C:\w\x`},
		{"file:///C:/w", true, `C:\w`},
		{"file:/c:/w", true, `C:\w`},
		{"file:///c:", true, `C:\`},
		{`file:///c:\w\..\x`, true, `C:\x`},
		{"file://localhost/c:/w", true, `C:\w`},
		{"file://localhost/c%24/w", true, `\\localhost\c$\w`},
		{"file://Server/share/x", true, `\\server\share\x`},
		{"file:////server/share/x", true, `\\server\share\x`},
		{"file://wsl%24/u/x", true, `\\wsl$\u\x`},
	} {
		got, err := pathOn(c.uri, c.windows)
		if err != nil || got != c.want {
			t.Errorf("pathOn(%q) = %q, %v, want %q", c.uri, got, err, c.want)
		}
	}
}

func TestPathOfRefuses(t *testing.T) {
	for _, c := range []struct {
		uri     string
		windows bool
		want    error
	}{
		{"", false, errNotFile},
		{"/w/a.go", false, errNotFile},
		{"untitled:Untitled-1", false, errNotFile},
		{"jdt://contents/x.class", false, errNotFile},
		{"https://example.com/x", false, errNotFile},
		{"file://server/x", false, errNotFile},
		{"file:", false, errURI},
		{"file://", false, errURI},
		{"file:x", false, errURI},
		{"file:///x#L1", false, errURI},
		{"file:///x?y", false, errURI},
		{"file:///x%00y", false, errURI},
		{"file:///" + strings.Repeat("x", maxURI), false, errURI},
		{"file:///w/x", true, errURI},
		{"file:///c:x", true, errURI},
		{"file://./pipe/x", true, errNotFile},
		{"file://%3F/c:/x", true, errNotFile},
		{"file:///%5C%5C.%5Cpipe%5Cx", true, errNotFile},
		{"file://user@server/x", true, errNotFile},
		{"file://a%5Cb/x", true, errNotFile},
		{"file://server/", true, errNotFile},
	} {
		if got, err := pathOn(c.uri, c.windows); !errors.Is(err, c.want) {
			t.Errorf("pathOn(%q) = %q, %v, want %v", shortened(c.uri), got, err, c.want)
		} else if len(err.Error()) > 1000 {
			t.Errorf("pathOn(%q): an error of %d bytes", shortened(c.uri), len(err.Error()))
		}
	}
}

// A clean absolute path comes back from its URI as it was.
func TestURIAndPathUndoEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		windows := rapid.Bool().Draw(t, "windows")
		name := rapid.StringMatching(`(?s)[^/\\\x00]{1,12}`).Filter(func(s string) bool { return s != "." && s != ".." })
		begin, slash := "", "/"
		if windows {
			begin, slash = rapid.SampledFrom([]string{"C:", "Z:", `\\server\share`, `\\wsl$\u`}).Draw(t, "begin"), `\`
		} else {
			name = rapid.OneOf(name, rapid.SampledFrom([]string{"c:", `a\b`, "%41", "\xff\xfe", "a?b#c", "~", "é"}))
		}
		clean := begin + slash + strings.Join(rapid.SliceOfN(name, 1, 5).Draw(t, "names"), slash)
		uri := uriOn(clean, windows)
		if strings.Trim(uri[len("file://"):], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/%") != "" {
			t.Fatalf("uriOn(%q) = %q", clean, uri)
		}
		got, err := pathOn(uri, windows)
		if err != nil || got != clean {
			t.Fatalf("%q became %q, %v by way of %q", clean, got, err, uri)
		}
	})
}

func FuzzURI(f *testing.F) {
	f.Add("file:///w/a%20b.go")
	f.Add("file:///c%3A/w/../x")
	f.Add("file://server/share/x")
	f.Fuzz(func(t *testing.T, uri string) {
		for _, windows := range []bool{false, true} {
			p, err := pathOn(uri, windows)
			if err != nil {
				continue
			}
			if strings.IndexByte(p, 0) >= 0 {
				t.Fatalf("pathOn(%q) = %q", uri, p)
			}
			if windows {
				if !isDrive(strings.ReplaceAll(p, `\`, "/")) && !isHost(strings.SplitN(p+`\`, `\`, 4)[2]) || strings.Contains(p, "/") {
					t.Fatalf("pathOn(%q) = %q", uri, p)
				}
			} else if !path.IsAbs(p) || path.Clean(p) != p {
				t.Fatalf("pathOn(%q) = %q", uri, p)
			}
			again, err := pathOn(uriOn(p, windows), windows)
			if err != nil || again != p {
				t.Fatalf("%q, read from %q, became %q, %v by way of %q", p, uri, again, err, uriOn(p, windows))
			}
		}
	})
}
