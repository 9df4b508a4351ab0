package regex

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// rg15 returns the path of a ripgrep 15, or skips the test.
func rg15(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("HELVE_RG15"), "rg"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		out, err := exec.Command(path, "--version").Output()
		if err == nil && strings.HasPrefix(string(out), "ripgrep 15.") {
			return path
		}
	}
	t.Skip("no ripgrep 15: set HELVE_RG15 to the path of one")
	return ""
}

// rgError returns what ripgrep says against a pattern, without the advice
// that follows it, or "" if it accepts it.
func rgError(t *testing.T, rg, pattern string) string {
	t.Helper()
	cmd := exec.Command(rg, "--no-config", "-e", pattern, "-")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err == nil || errors.As(err, &exit) && exit.ExitCode() == 1 {
		return ""
	}
	if exit == nil {
		t.Fatal(err)
	}
	said, _, _ := strings.Cut(strings.TrimPrefix(stderr.String(), "rg: "), "\n\nConsider")
	return strings.TrimSpace(said)
}

// TestLikeRipgrep runs patterns through ripgrep too: it must accept the same
// and say the same. ripgrep 15 puts (?:…) around the pattern before it parses
// it and shows that, so for its words the parser is given the same.
func TestLikeRipgrep(t *testing.T) {
	rg := rg15(t)
	for _, pattern := range shared15() {
		want := rgError(t, rg, pattern)
		_, err := parse(pattern, Options{})
		if (err == nil) != (want == "") {
			t.Errorf("%q: we say %v\nripgrep says %s", pattern, err, want)
			continue
		}
		if want == "" {
			continue
		}
		_, err = parse("(?:"+pattern+")", Options{})
		var syntax *SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%q in a group: %v, ripgrep says %s", pattern, err, want)
			continue
		}
		syntax.Hint = ""
		got := syntax.Error()
		if !strings.HasPrefix(want, "regex parse error") {
			got = syntax.Reason // ripgrep knows no place for it
		}
		if got != want {
			t.Errorf("%q: we say\n%s\nripgrep says\n%s", pattern, got, want)
		}
	}
}

// TestBetterThanRipgrep holds the patterns that we treat otherwise, knowingly.
func TestBetterThanRipgrep(t *testing.T) {
	for _, test := range []struct {
		pattern string
		ok      bool
		why     string
	}{
		{"(?x) foo # c", true, "ripgrep 15 loses its own closing parenthesis in the comment"},
		{"a)(b", false, "ripgrep 15 closes and reopens its own group"},
		{"a)|(?:b", false, "the same"},
		{`[^\n]|\n`, true, "what is left is a class like any other"},
		{"a{1000000}", false, "ripgrep accepts it, at 100 MB"},
		{`\p{age=3.0}`, false, "no tables of ages, breaks and the like"},
		{`\p{gcb=Extend}`, false, "the same"},
		{"(?R)a$", false, "the automaton knows no line that ends in \\r"},
	} {
		_, err := parse(test.pattern, Options{})
		if (err == nil) != test.ok {
			t.Errorf("%s: %v (%s)", test.pattern, err, test.why)
		}
	}
}

// shared15 are patterns for the comparison with ripgrep 15.
func shared15() []string {
	list := strings.Split(strings.TrimSpace(likeRipgrep), "\n")
	return append(list, "", " ", "a\nb", "(?x)a\n b # c\n", "(?x)a\n(b", "(?x)\n[a\nb", "(?x)(?P<a>\n)(?P<a>)", "(?x)a{2,\n1}",
		"\\\t", "\\ ", "(?x)\\ a", "\t", "a\\", "(?x)a\n\n\n\n\n\n\n\n\n\n\n*\n*\\q", "\\\x7f", "(?x)[ a - z ]", "(?x)[a-# c\nz]",
		strings.Repeat("(", 249)+"a"+strings.Repeat(")", 249), "a"+strings.Repeat("*", 249),
		"foo|"+strings.Repeat("bar|", 300)+"baz", strings.Repeat("[", 249)+"a"+strings.Repeat("]", 249),
		"(?i)"+strings.Repeat("é", 200), "[[:^alpha:][:foo:]]")
}

const likeRipgrep = `
foo
foo.*bar
func \w+\(
^\s*import\s+"
^
$
^$
\bfoo\b
\Bfoo\B
\<foo\>
\b{start}foo\b{end}
\b{start-half}foo\b{end-half}
\b{foo}
\b{
\b{3}
\b{1,2}
\b{start
\b{ start }
\b{start}+
a\b{}
a||b
|
a|
|a
()
(|a)
(?:)
(?i)
(?i)a|b
(?i:a)b
(?-i:a)
(?i-i)a
(?ii)a
(?i--s)a
(?i-)
(?-)
(?
(?)
(?:
(?i
(?z)
(?iz)
(?is-mU)a.b$
(?u)\w
(?-u)\w
(?-u:\xff)
(?-u)[\xff]
(?-u)[\x80-\xff]
(?-u)[^a]
(?-u)é
(?-u)[é]
(?-u)[a-é]
(?-u)\p{L}
(?-u)[\p{L}]
(?-u)[\x{ff}]
(?-u)\x{ff}
(?-u)\u00e9
(?-u).
(?s-u).
(?-u)\W
(?-u)\b\B\<\>\b{start}\b{end-half}
(?i-u)k
(?i-u)é
(?R).
(?P<n>a)
(?<n>a)
(?P<n>a)(?P<n>b)
(?P<>a)
(?P<1>a)
(?P<a1_.[]>a)
(?P<a-b>a)
(?P<é>a)
(?P<n
(?P<
(?P<n>
(?P=n)
(?P>n)
(?'n'a)
(?=a)
(?!a)
(?<=a)
(?<!a)
foo(?=bar)
x(?!y)z(
(?>a)
(?|a|b)
(?#a)
(?R)
(?1)
(?&n)
\1
\8
\0
(a)\1
\k<n>
\g1
\Z
\h
\H
\R
\K
\G
\X
\N
\Qa.b\E
\C
\y
\e
\cA
\l
\é
\a\f\t\r\v
\"\/\_\'\!\@\%\,\:\;\=\~\#\&\-
\<a
a\>
\.\+\*\?\(\)\|\[\]\{\}\^\$\\
\x41
\x{41}
\x{1F600}
\u00e9
\u{e9}
\U0001F600
\U{1F600}
\x
\x4
\x4g
\x{}
\x{110000}
\x{D800}
\x{zz}
\x{41
\u12
\uD800
\U00110000
\u{fffffffff}
\n
a\nb
[\n]
[a\n]
[^\n]
a|\n
ab|a\n
(?:\n){0}
\x0A
\x{a}
\s
\S
[\s\S]
[^\s\S]
[^\w\W]*
*
+a
?
{3}
a|*
(*)
(?i)*
^*
$+
\b+
a**
a++
a?+
a*?
a+?
a??
a*??
a{2}
a{2,}
a{2,3}
a{2}?
a{2,3}?
a{2}{3}
a{0}
a{0,0}
a{3,2}
a{3,2}?
a{,3}
a{,}
a{
a{2
a{2,
a{2,3
a{2x}
a{x}
a{}
a{ 2 , 3 }
a{2 3}
a{99999999999}
a{4294967296}
foo{
{foo}
interface{}
map[string]interface{}
\{\}
${HOME}
$\{HOME\}
x{1001}
\w{1000}
.{2000}
\w{3000}
(
)
a)b
((a)
foo(
(a|b
[
[a
[]
[]]
[^]
[^]]
[]a]
[^]a]
[a-]
[-a]
[--a]
[---]
[a--b]
[a-z--b]
[a-z--[aeiou]]
[a-z&&[^aeiou]]
[a-z&&b-d]
[a-c~~b-d]
[a&&b--c~~d]
[&&a]
[a&&]
[a&b]
[a-b-c]
[z-a]
[\w-z]
[a-\d]
[a-\w]
[\d-]
[\b]
[\A]
[\<]
[\.\-\]\[]
[.]
[$^]
[a^]
[[]
[[a]
[[a]]
[a[b]]
[a[^b]]
[[:alpha:]]
[[:^alpha:]]
[[:alnum:][:space:]]
[[:foo:]]
[[:alpha]]
[:alpha:]
[[:alpha:]-z]
[[:word:]&&[^_]]
[a-zé-ü]
[\x{0}-\x{10FFFF}]
[\x41-\x5A]
[\u0041-\u005A]
[\pL\pN]
[\p{L}--\p{Lu}]
[\P{L}]
[a-\pL]
[\q]
[a\
[\x{D800}]
(?i)[a-z&&[K]]
(?i)[^k]
(?i)\p{Lu}
\pL
\p{L}
\p{Letter}
\p{Lu}
\p{gc=Lu}
\p{General_Category:Uppercase_Letter}
\p{gc!=Lu}
\p{Greek}
\p{Script=Greek}
\p{sc=Grek}
\p{sc:Cyrl}
\p{isGreek}
\p{is_greek}
\p{scx=Greek}
\p{Script_Extensions=Hira}
\p{sc=Foo}
\p{gc=Foo}
\p{Foo=L}
\p{Foo}
\p{}
\p{
\p
\p{L
\p\
\P
\pé
\p1
\p{Any}
\p{ASCII}
\p{Assigned}
\p{any}
\p{Alphabetic}
\p{Alpha}
\p{Lowercase}
\p{Uppercase}
\p{White_Space}
\p{space}
\p{Cased}
\p{Math}
\p{ID_Start}
\p{Hex_Digit}
\p{Dash}
\p{Ideographic}
\p{LC}
\p{Cs}
\p{Cn}
\p{C}
\p{cf}
\p{sc}
\p{L&}
\p{Han}
\p{Hyphen}
\p{Emoji}
\p{Emoji_Presentation}
\p{XID_Start}
\p{ExtPict}
\p{scx=Foo}
\P{^L}
\p{InGreek}
\p{IsC}
\p{^L}
\p{Foo}(
\p{Foo}\p{Bar}
(?x) foo
(?x)( ?i)a
(?x)( ?:a)
(?x)a { 2 }
(?x)a * ?
(?x)\p{ L }
(?x)\x 4 1
(?x)\u{ e 9 }
(?x:a b) c
(?x)[ a ]
(?x)[a # b]
(?x)\b{ start }
a{2}(?x) b
\d+\.\d+
https?://[^\s"'<>]+
^(?:\s*)(export\s+)?(default\s+)?class\s+(\w+)
TODO|FIXME|XXX
"[^"\\]*(?:\\.[^"\\]*)*"
[A-Za-z_][A-Za-z0-9_]*\(.*\)\s*\{
(\w+)\s*=\s*\1
\$\{[^}]+\}
console\.(log|warn|error)\(
fn\s+\w+<'a>
a{1,2}{3,4}*
日本語
[日-語]
ſ
(?i)ſ
(?i)straße
`
