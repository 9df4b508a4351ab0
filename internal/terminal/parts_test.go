package terminal_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helve-dev/helve/internal/terminal"
)

func TestDiff(t *testing.T) {
	const in = "Index: a\n=====\n--- a\n+++ a\n@@ -1,3 +1,3 @@\n x\n--- old\n+++ new\x1b[2J\n y\n"
	for _, tc := range []struct {
		color bool
		most  int
		want  string
	}{
		{false, 50, "| --- a\n| +++ a\n| @@ -1,3 +1,3 @@\n|  x\n| --- old\n| +++ new\\x1b[2J\n|  y\n"},
		{true, 50, "| {dim --- a}\n| {dim +++ a}\n| {dim @@ -1,3 +1,3 @@}\n|  x\n| {red --- old}\n| {green +++ new\\x1b[2J}\n|  y\n"},
		{false, 3, "| --- a\n| +++ a\n| @@ -1,3 +1,3 @@\n| … 4 more lines\n"},
		{false, 6, "| --- a\n| +++ a\n| @@ -1,3 +1,3 @@\n|  x\n| --- old\n| +++ new\\x1b[2J\n| … 1 more line\n"},
	} {
		got := terminal.Diff(in, tc.most, terminal.Options{Color: tc.color, Prefix: "| "})
		got = strings.NewReplacer("\x1b[31m", "{red ", "\x1b[32m", "{green ").Replace(got)
		if diff := cmp.Diff(tc.want, marked(got)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestTodos(t *testing.T) {
	list := []terminal.Todo{{"read all of the files", "completed"}, {"write", "in_progress"}, {"test\x1b", "pending"}, {"rest", "cancelled"}}
	want := "[x] read all of the\n    files\n[>] write\n[ ] test\\x1b\n[-] rest\n"
	if diff := cmp.Diff(want, terminal.Todos(list, terminal.Options{Width: 20})); diff != "" {
		t.Error(diff)
	}
}

func TestStatus(t *testing.T) {
	v := newTerminal(20)
	s := terminal.NewStatus(crlf{v})
	s.Erase()
	s.Show("one", "two", "three")
	s.Show(terminal.Spinner(12) + " one")
	if got := v.String(); got != "⠹ one▏" {
		t.Errorf("%q", got)
	}
	s.Erase()
	if got := v.String(); got != "▏" {
		t.Errorf("%q", got)
	}
}

// crlf is what a terminal in its usual mode does with line feeds.
type crlf struct{ *testTerminal }

func (c crlf) Write(p []byte) (int, error) {
	_, err := c.testTerminal.Write([]byte(strings.ReplaceAll(string(p), "\n", "\r\n")))
	return len(p), err
}

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "中文": 4, "👍": 2, "e\u0301": 1, "\x1b[1;31mx\x1b[0m": 1, "ｶ": 1, "Ａ": 2} {
		if got := terminal.Width(s); got != want {
			t.Errorf("%q takes %d columns, want %d", s, got, want)
		}
	}
	for _, tc := range []struct {
		in   string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"中文字", 5, "中文…"}, {"中文字", 4, "中…"}} {
		if got := terminal.Clip(tc.in, tc.n); got != tc.want {
			t.Errorf("%q in %d columns is %q, want %q", tc.in, tc.n, got, tc.want)
		}
	}
	for _, tc := range []struct {
		in   string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcdefghij", 6, "ab…hij"}, {"中文字中文字", 7, "中…文字"}} {
		if got := terminal.ClipMiddle(tc.in, tc.n); got != tc.want {
			t.Errorf("%q in %d columns is %q, want %q", tc.in, tc.n, got, tc.want)
		}
	}
	if got := terminal.Safe("a\tb\x1b\xff\n❤️"); got != `a    b\x1b\xff\n❤` {
		t.Errorf("%q", got)
	}
}

func TestWrap(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want []string
	}{
		{"", []string{""}},
		{"  as it\x1b is", []string{`  as it\x1b is`}},
		{"one two three four five", []string{"one two three", "four five"}},
		{"aaaaaaaaaaaaaaaaaaaaaaa b", []string{"aaaaaaaaaaaaaaaa", "aaaaaaa b"}},
	} {
		if diff := cmp.Diff(tc.want, terminal.Wrap(tc.in, 16)); diff != "" {
			t.Error(diff)
		}
	}
}
