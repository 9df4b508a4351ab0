package search

import (
	"bytes"
	"errors"
	"github.com/helve-dev/helve/internal/regex"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// zooText has at least a line for every pattern of testdata/patterns.txt, and
// neighbours that it must not match.
const zooText = `package zoo

import (
	"net/http"
)
func main() { http.ServeHTTP(w, r) }
	func indented() error {
func (s *Server) ServeHTTP(w http.ResponseWriter)
	if err != nil { return err }
	_, err := f(nil); errs, nerr, terrn := 1, 2, 3
a.b*c+d? and $^|()[]{}\ and ABCD
café, CAFÉ, caf, cafe, cafés; naïve façade; étoile, bétoile, étoiles
日本語 and ひらがな, Ελληνικά, русский
tab	here; TODO one; FIXME two; todo three; HaCk four
Deprecated: DEPRECATED deprecated
STRASSE straße STRAẞE; Kelvin, kelvin, KELVIN with the sign of the unit: Kelvin; ſum, Sum
context.Background() context.TODO() context.Nothing()
foofoobarbaz foobar bar baz fooBAR FOOBAR FoOBAR fOOBAR
a-c a.c abc aab aaab aaaab ab b
ABC_123 AB_1 ABCD_9 2024-01-31 24-1-31
a1b2c3 ab12cd34ef56 x0
!!!???###$$$ bcdfg aeiou abcdef xyzzyx
abcabcabc cafe_baba identifier_name123 abcdefghij
https://a.host.example/with/a/rather/long/path/that/goes/on/and/on?and=a&query=string
someone@example.org some.one@sub.example.org no-one@
]] -- a- -] \[ [- ---
myError(1) Error( theError
AbC Abc1 Ab- xY
Donaudampfschifffahrt internationalisation
½ ² ٣٤٥٦ 1234
going, ing, ingot, string return returned return

   
	  
end of a block }
}
aaa aab aaaab aaaaab fo foo fooo foooo f
ababcc abcc acc cc
1010110010101 0000000010000000 0101100000000 111000000000
ends in aaa
ends in 0110100000000
quote " slash a/b under _ and a\/b -#&~
xx x xyx a b c d
` + "bell \a feed \f vertical \v\n"

// A beast is a file of the zoo.
type beast struct {
	name, text string
}

// beasts are texts in every encoding and shape, and files that are not text.
func beasts() []beast {
	wide := func(order func(hi, lo byte) []byte, mark bool) string {
		var out []byte
		units := utf16.Encode([]rune(zooText))
		if mark {
			units = append([]uint16{0xFEFF}, units...)
		}
		for _, u := range units {
			out = append(out, order(byte(u>>8), byte(u))...)
		}
		return string(out)
	}
	little := func(hi, lo byte) []byte { return []byte{lo, hi} }
	big := func(hi, lo byte) []byte { return []byte{hi, lo} }
	latin := strings.Map(func(r rune) rune {
		if r > 0xFF {
			return '?'
		}
		return r
	}, zooText)
	var latin1 []byte
	for _, r := range latin {
		latin1 = append(latin1, byte(r))
	}
	long := strings.Repeat("foo bar 0123456789 ", 6000)
	filler := strings.Repeat("nothing to see in this line of text\n", 2000)
	return []beast{
		{"text.txt", zooText},
		{"mark.txt", "\uFEFF" + zooText},
		{"little.txt", wide(little, true)},
		{"big.txt", wide(big, true)},
		{"little-unmarked.txt", wide(little, false)},
		{"odd-end.txt", wide(little, true) + "x"},
		{"half-pair.txt", "\xFF\xFEf\x00o\x00o\x00\x3D\xD8\n\x00f\x00o\x00o\x00\n\x00"},
		{"latin.txt", string(latin1)},
		{"broken.txt", "foo \xff\xfe bar\nb\xe2\x82d caf\xe9\n\xed\xa0\x80 foo\n\xf4\x90\x80\x80 a\xc0\xaf\nb d \x80\x81\x82\nétoile\xff étoile\n"},
		{"lines.txt", strings.ReplaceAll(zooText, "\n", "\r\n")},
		{"old-lines.txt", strings.ReplaceAll(zooText, "\n", "\r")},
		{"no-end.txt", strings.TrimSuffix(zooText, "\n") + " foo"},
		{"empty.txt", ""},
		{"only-end.txt", "\n"},
		{"ends.txt", "\n\n\n"},
		{"mark-only.txt", "\uFEFF"},
		{"two-marks.txt", "\uFEFF\uFEFFimport (\n"},
		{"long.txt", "first foo\n" + long + "\n" + strings.Repeat("x", 5000) + "\n" + long + "TODO\nlast foo\n"},
		{"many.txt", strings.Repeat(zooText, 30)},
		{"nul-first.bin", "\x00foo\n" + zooText},
		{"nul-early.bin", zooText + "\x00\n" + zooText},
		{"nul-end.bin", zooText + "\x00"},
		{"nul-64k.bin", (zooText + filler)[:65535] + "\x00\n" + zooText},
		{"nul-late-64k.bin", (zooText + filler)[:65536] + "\x00\n" + zooText},
		{"nul-late.bin", zooText + filler + filler + filler + "\x00\n" + zooText},
		{"nul-late-quiet.bin", filler + filler + filler + "\x00\n" + zooText},
		{"picture.png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR foo"},
		{"picture-like.bin", "\x89PNG\r\n\x1a\n foo TODO\n"},
		{" blank in front and behind ", "foo TODO\n"},
		{"new\nline", "foo TODO\n"},
		{"a|b|3|c", "foo TODO\n"},
		{"a:7:b", "foo TODO\n"},
		{`quotes'"` + "`", "foo TODO\n"},
		{`back\slash`, "foo TODO\n"},
		{"-dash", "foo TODO\n"},
		{"--files", "foo TODO\n"},
		{"not\xff\xfeutf8", "foo TODO\n"},
		{"é日本", "foo TODO\n"},
		{"*[a]{b,c}?!#", "foo TODO\n"},
		{strings.Repeat("long", 63), "foo TODO\n"},
		{strings.Repeat("deep/", 60) + "file", "foo TODO\n"},
		{".hidden", "foo TODO\n"},
		{".folder/file", "foo TODO\n"},
		{"sub/text.txt", zooText},
		{"outside/of/it", "foo TODO\n"}, // beside the folder that is searched
	}
}

// A gap is a file for which ripgrep's answer is not always ours, and why. What
// we search of it is the part: there the answers must be the same again.
type gap struct{ file, part, reason string }

// gapPrefix is how the names of the files with gaps begin.
const gapPrefix = "nul-late"

// zooGaps are the known ones.
func zooGaps() []gap {
	const reason = "how much ripgrep searches before a late NUL depends on what the same thread searched before; ours is what is whole before the block of 64 KiB that holds it"
	var gaps []gap
	for _, b := range beasts() {
		if !isGap(b.name) {
			continue
		}
		end := strings.IndexByte(b.text, 0) &^ (64<<10 - 1)
		gaps = append(gaps, gap{b.name, b.text[:strings.LastIndexByte(b.text[:end], '\n')+1], reason})
	}
	return gaps
}

// zoo makes the folder, and links in it and out of it.
func zoo(t *testing.T) string {
	top := realDir(t)
	dir := filepath.Join(top, "zoo")
	for _, b := range beasts() {
		name := filepath.Join(dir, b.name)
		if rest, ok := strings.CutPrefix(b.name, "outside/"); ok {
			name = filepath.Join(top, "outside", rest)
		}
		if err := tryWrite(name, b.text); err != nil {
			t.Logf("left out, since this system has no such name: %v", err)
		}
	}
	for _, g := range zooGaps() {
		writeFile(t, filepath.Join(top, "parts", g.file), g.part)
	}
	for name, to := range map[string]string{
		"link-file": "text.txt", "link-folder": "sub", "link-loop": ".", "link-self": "link-self", "link-broken": "nowhere",
		"link-outside": "../outside", "link-outside-file": "../outside/of/it", "sub/link-up": "../text.txt",
	} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Logf("left out, since this system makes no such link: %v", err)
		}
	}
	return dir
}

// TestVersusZoo compares what ripgrep finds in odd files with what we find.
func TestVersusZoo(t *testing.T) {
	dir := zoo(t)
	all := engines(t)
	ours := once[[]string]{}
	rivals(t, func(t *testing.T, rg rival) {
		a := asked{Options: Options{Dir: dir, Exact: true, Hidden: true, Closed: true, Excludes: os.DevNull}}
		names := rg.names(t, a)
		for how, e := range all {
			if d := differ(names, ourNames(t, e, a)); d != "" {
				t.Errorf("files, %s:\n%s", how, d)
			}
		}
		for i, p := range patternCases(t) {
			if !p.reads(rg) || raceDetector && i%4 != 0 {
				continue
			}
			a.pattern = p.text
			theirs := rg.lines(t, a)
			if p.text != "zzqqxxnomatch" && p.text != "x{1001}" && len(theirs) == 0 {
				t.Errorf("%q matches nothing here: the comparison says nothing", p.text)
			}
			parts := a
			parts.Dir = filepath.Join(filepath.Dir(dir), "parts")
			theirs = append(slices.DeleteFunc(theirs, isGap), rg.lines(t, parts)...)
			slices.Sort(theirs)
			for how, e := range all {
				if d := differ(theirs, ours.get(how+p.text, func() []string { return ourLines(t, e, a) })); d != "" {
					t.Errorf("%q, %s:\n%s", p.text, how, d)
				}
			}
		}
	})
}

// isGap reports whether a line belongs to a known gap.
func isGap(line string) bool { return strings.HasPrefix(line, gapPrefix) }

// TestVersusOneFile compares the searches of single files, which ripgrep reads
// whatever their names are.
func TestVersusOneFile(t *testing.T) {
	dir := zoo(t)
	e := New(EngineOptions{})
	defer e.Close()
	rivals(t, func(t *testing.T, rg rival) {
		for _, name := range []string{"text.txt", ".hidden", "-dash", "new\nline", "little.txt", "lines.txt", "sub/text.txt", "not\xff\xfeutf8"} {
			out, err := exec.Command(rg.path, "--no-config", "--count", "--no-filename", "--regexp=foo", "--", filepath.Join(dir, name)).Output()
			if err != nil {
				t.Errorf("rg: %q: %v", name, err)
				continue
			}
			re, err := regex.Compile("foo", regex.Options{})
			if err != nil {
				t.Fatal(err)
			}
			found, err := e.Grep(t.Context(), Grep{Where: Options{Dir: dir, Exact: true, Globs: []string{"!*"}}, File: name, Pattern: re})
			if err != nil {
				t.Errorf("%q: %v", name, err)
			} else if got, want := found.Lines, atoi(t, out); got != want {
				t.Errorf("%q: %d lines match by ripgrep, %d by ours", name, want, got)
			}
		}
	})
}

func atoi(t *testing.T, text []byte) (n int) {
	for _, c := range bytes.TrimSpace(text) {
		if c < '0' || c > '9' {
			t.Fatalf("%q is not a number", text)
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// TestVersusRefused compares what is no pattern: refused by both, and in
// ripgrep 15's words.
func TestVersusRefused(t *testing.T) {
	dir := realDir(t)
	writeFile(t, filepath.Join(dir, "a.txt"), "text\n")
	rivals(t, func(t *testing.T, rg rival) {
		for _, p := range patternCases(t) {
			cmd := exec.Command(rg.path, "--no-config", "--regexp="+p.text, "a.txt")
			cmd.Dir = dir
			_, err := cmd.Output()
			var exit *exec.ExitError
			errors.As(err, &exit)
			theirs := exit != nil && exit.ExitCode() == 2
			_, ours := regex.Compile(p.text, regex.Options{})
			if rg.major >= 15 || p.kind != "15" {
				if theirs != (ours != nil) || theirs != (p.kind == "refused") {
					t.Errorf("%s %q: refused by ripgrep %v, by ours %v", p.kind, p.text, theirs, ours)
				}
			}
		}
	})
}
