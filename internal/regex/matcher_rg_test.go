package regex

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ripgrep returns a ripgrep of the newer dialect.
func ripgrep(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("HELVE_RG15"); path != "" {
		return path
	}
	path, err := exec.LookPath("rg")
	if err != nil {
		t.Skip("no rg on PATH and no HELVE_RG15")
	}
	version, err := exec.Command(path, "--version").Output()
	if err != nil || bytes.HasPrefix(version, []byte("ripgrep 13.")) {
		t.Skip("the rg on PATH is an old one, with other rules for what is no valid UTF-8, and HELVE_RG15 is not set")
	}
	return path
}

// TestAgainstRipgrep compares the lines found in a text of many odd lines.
// One thing is left out: ripgrep takes the \n before a line that begins in the
// middle of a character for the character before, and so treats the first line
// of a file unlike others.
func TestAgainstRipgrep(t *testing.T) {
	rg := ripgrep(t)
	file := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(file, []byte(oddText()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range oddPatterns() {
		t.Run(pattern, func(t *testing.T) { compareRipgrep(t, rg, pattern, file) })
	}
}

// TestRandomAgainstRipgrep does the same with what was grown at random.
func TestRandomAgainstRipgrep(t *testing.T) {
	rg := ripgrep(t)
	r := rand.New(rand.NewPCG(11, 12))
	file := filepath.Join(t.TempDir(), "text")
	for i := range 150 {
		seed, raw := make([]byte, 24), make([]byte, 600)
		for _, s := range [][]byte{seed, raw} {
			for i := range s {
				s[i] = byte(r.Uint32())
			}
		}
		g := &grower{data: seed, words: true, wide: true}
		pattern := g.either(3)
		text := "a" + strings.ReplaceAll(broadText(raw), "\n\x80", "\n")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) { compareRipgrep(t, rg, pattern, file) })
	}
}

// compareRipgrep compares the numbers of the lines that match in a file.
func compareRipgrep(t *testing.T, rg, pattern, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	cmd := exec.Command(rg, "--no-config", "--text", "--encoding", "none", "--line-number", "--regexp", pattern, file)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Skipf("this rg does not take %q: %v: %s", pattern, err, errs.String())
	}
	var want []int
	for _, line := range split(out.String()) {
		number, _, _ := strings.Cut(line, ":")
		n, err := strconv.Atoi(number)
		if err != nil {
			t.Fatalf("rg printed %q", line)
		}
		want = append(want, n-1)
	}
	re := mustCompile(t, pattern, Options{})
	show := func(got []int) string {
		var b strings.Builder
		for _, n := range got {
			fmt.Fprintf(&b, "%d %q\n", n, split(text)[n])
		}
		return b.String()
	}
	for way, got := range map[string][]int{
		"sieve":     matching(t, re.Matcher(nil), text),
		"automaton": matching(t, unsieved(re).Matcher(nil), text),
		"pike":      exact(re, text),
	} {
		if diff := cmp.Diff(show(want), show(got)); diff != "" {
			t.Errorf("%q, %s: (-rg +ours)\n%s", pattern, way, diff)
		}
	}
}

// oddText is lines with what is easily got wrong.
func oddText() string {
	words := []string{
		"", "a", "foo", "foo_bar", "étoile", "caf", "café", "naïve façade", "K", "k", "\u212a", "s", "S", "ſ", "straße", "STRASSE", "ẞ",
		"日本語", "日本 語", "٣", "x٣y", "a\u0301", "\u0301", "a\u200db", "\u200d", "λόγος", "ΛΌΓΟΣ", "Σ", "ς", "σ",
		"\xff", "a\xff", "\xffa", "a\xffb", "a\x80", "a\x80\x80\x80", "a\x80\x80\x80\x80", "é\x80", "é\x80\x80\x80", " \x80", "\x80b", " \x80b", "a\x80b",
		"\xc3", "a\xc3", "\xc3a", "\xe2\x82", "a\xe2\x82", "\xe2\x82a", "\xe0\x80\x80", "\xed\xa0\x80", "a\xed\xa0\x80b", "\xf0\x9f\x98", "😀", "a😀b",
		"\xf5", "\xc0\x80", "\r", "a\r", "foo\r", "\t", "\v", "\u00a0", "\u2028", "\u0085", "x\u0085y", "\ufeff", "\ufefffoo", "0", "_", "-", "foo-bar",
		"foo.bar()", "err != nil", "if err != nil {", "}", "\t}", "2024-01-02", "ABC_123", "a1b2c3", "\x00", "a\x00b", "İ", "ı", "I", "i",
	}
	var b strings.Builder
	for _, w := range words {
		b.WriteString(w + "\n")
	}
	for i, w := range words {
		b.WriteString(w + words[(i*7+3)%len(words)] + "\n")
		b.WriteString(words[(i*5+1)%len(words)] + " " + w + "\n")
	}
	return b.String()
}

func oddPatterns() []string {
	return []string{
		`\b`, `\B`, `a\b`, `\ba`, `\Ba`, `a\B`, `\bé`, `é\b`, `caf\b`, `\bcafé\b`, `\bétoile\b`, `^\b`, `\b$`, `^\B`, `\B$`, `\b\B`, `\B\B`,
		`\b.\b`, `\B.\B`, `\b日`, `語\b`, `\b\w+\b`, `^\w+$`, `^\W+$`, `\w\b\W`, `\W\b\w`, `\bk\b`, `(?i)\bk\b`, `(?i)k`, `(?i)K`, `(?i)\u212a`, `(?i)s`, `(?i)ſ`,
		`(?i)ß`, `(?i)strasse`, `(?i)σ`, `(?i)λόγος`, `(?i)i`, `(?i)İ`, `[[:^alpha:]]`, `(?i)[a-k]`, `(?i)[^k]`, `(?i)[^s]$`,
		`.`, `^.$`, `^..$`, `^.*$`, `^.+$`, `^$`, `[^a]`, `^[^a]$`, `a.b`, `a[^x]b`, `\s`, `^\s$`, `\S`, `^\S+$`, `\d`, `^\D$`, `\D`, `\W`, `^\W$`,
		`(?-u:\b)`, `(?-u:\B)`, `(?-u:\b)é`, `(?-u:\w)(?-u:\b)`, `^(?-u:\B)`, `(?-u:\B)$`, `(?-u:\W)`, `(?-u:[^a])b`, `(?-u:\xff)`, `a(?-u:\xff)b`, `(?-u:.)`, `^(?-u:.)$`,
		`(?-u:\xff)\b`, `(?-u:\xff)\B`, `\b(?-u:\xff)`, `\B(?-u:\xff)`, `(?-u:\x80)\b`, `(?-u:\x80)\B`, `(?-u:\xc3)\b`, `(?-u:\xc3)\B`, `\b(?-u:\xc3)`, `\B(?-u:\xc3)`,
		`(?-u:\xc3)(?-u:\B)(?-u:\xa9)`, `\b(?-u:\xc3)(?-u:\xa9)\b`, `\B(?-u:\xe2\x82)`, `(?-u:\xe2\x82)\B`, `a(?-u:\x80)*\b`, `a(?-u:\x80)+\B`,
		`\b{start}`, `\b{end}`, `\b{start-half}`, `\b{end-half}`, `^\b{start-half}`, `^\b{end-half}`, `\b{start-half}$`, `\b{end-half}$`, `\<a`, `a\>`, `\<é`, `é\>`,
		`\b{start}\w`, `\w\b{end}`, `(?-u:\x80)\b{end}`, `(?-u:\x80)\b{start-half}`, `(?-u:\x80)\b{start}b`, `.(?-u:[\x80-\xff])\b{start-half}`, `\b{end-half}(?-u:[\x80-\xff])`,
		`(?-u:\b{start})`, `(?-u:\b{end})`, `(?-u:\b{start-half})`, `(?-u:\b{end-half})`, `(?-u:\b{end-half})(?-u:[\x80-\xff])`,
		`(?-u:\B)\b{end-half}`, `(?-u:\b)\B(?-u:\b{end})`, `(?-u:\B)\b{start-half}`, `.(?-u:\x80)(?-u:\B)`,
		`\A`, `\z`, `\Aa`, `a\z`, `\A\z`, `(?-m)^a`, `(?-m:a$)`, `a$`, `\r$`, `o$`, `foo\r?$`, `^foo`, `^(foo|日)`, `\}$`, `^\t*\}$`,
		`\p{L}`, `^\p{L}+$`, `\p{Greek}`, `\P{L}`, `[\p{L}--a]`, `[\w&&[^a]]`, `[^\w]`, `[^\x00-\x7f]`, `\x00`, `[\x00]`, `a|é|日`, `(?:é|ö)+`, `foo|bar`, `(foo|bar)\b`,
		`err.*nil`, `\berr\b.*nil`, `[A-Z]{3,}_\d+`, `\d{4}-\d{2}-\d{2}`, `[a-z]+\d+[a-z]+\d+[a-z]+\d+`, `naïve|façade|é`, `foo\.bar\(\)`, `(a|b)*c`, `a{2,3}`, `x*`, ``,
		`\u{feff}`, `^\u{feff}`, `[\u{feff}]`, `\x{e9}`, `[é-ö]`, `\u0301`, `a\u0301`, `\w\u200d`, `\b\u200d`, `(?s).`, `(?s)^.$`, `[\s\S]`, `^[\s\S]$`, `(?-u:[\x00-\xff])$`,
	}
}
