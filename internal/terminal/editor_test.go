package terminal_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/helve-dev/helve/internal/terminal"
	"pgregory.net/rapid"
)

// A desk is an editor, and the person in front of it.
type desk struct {
	*testTerminal
	editor *terminal.Editor
	keys   *terminal.Keys
	in     *io.PipeWriter
}

func newDesk(t *testing.T, columns int) *desk {
	r, w := io.Pipe()
	d := &desk{testTerminal: newTerminal(columns), in: w, keys: terminal.NewKeys(r)}
	d.editor = terminal.NewEditor(d.keys, d.testTerminal, d.size)
	t.Cleanup(func() { w.Close(); d.keys.Close() })
	return d
}

type callOutcome struct {
	text string
	err  error
}

// edit types keys, one after the other, and returns what came of it. It looks
// at the screen before the last one.
func (d *desk) edit(t *testing.T, line terminal.Line, keys ...string) (seen string, got callOutcome) {
	t.Helper()
	done := make(chan callOutcome, 1)
	go func() {
		text, err := d.editor.Read(t.Context(), line)
		done <- callOutcome{text, err}
	}()
	for i, k := range keys {
		if i == len(keys)-1 {
			synctest.Wait()
			seen = d.String()
		}
		if _, err := io.WriteString(d.in, k); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		time.Sleep(time.Second) // for the escape key; the clock is not the world's
	}
	return seen, <-done
}

const (
	cr        = "\r"
	leftKey   = "\x1b[D"
	upKey     = "\x1b[A"
	downKey   = "\x1bOB"
	wordBack  = "\x1b[1;5D"
	altEnter  = "\x1b\r"
	shortLine = 10
)

func TestEditor(t *testing.T) {
	for _, tc := range []struct {
		name string
		keys []string
		want string // the text
		seen string // before the last key
	}{
		{"typed", []string{"abc", cr}, "abc", "> abc▏"},
		{"in the middle", []string{"ac", leftKey, "b", cr}, "abc", "> ab▏c"},
		{"home and end", []string{"bc", "\x01", "a", "\x05", "d", cr}, "abcd", "> abcd▏"},
		{"backspace and delete", []string{"abcd", "\x7f", "\x1b[H", "\x1b[3~", cr}, "bc", "> ▏bc"},
		{"words", []string{"ab cd", wordBack, "x", cr}, "ab xcd", "> ab x▏cd"},
		{"kill a word", []string{"ab cd", "\x17", cr}, "ab ", "> ab ▏"},
		{"kill to the end", []string{"ab cd", wordBack, "\x0b", cr}, "ab ", "> ab ▏"},
		{"kill to the start", []string{"ab cd", "\x15", "x", cr}, "x", "> x▏"},
		{"wrapped", []string{"abcdefghij", cr}, "abcdefghij", "> abcdefgh\nij▏"},
		{"a full row", []string{"abcdefgh", cr}, "abcdefgh", "> abcdefgh\n▏"},
		{"back over the wrap", []string{"abcdefghij", leftKey, leftKey, leftKey, cr}, "abcdefghij", "> abcdefg▏h\nij"},
		{"wide characters", []string{"中文中文中", leftKey, cr}, "中文中文中", "> 中文中文\n▏中"},
		{"marks on characters", []string{"e\u0301x", leftKey, leftKey, "a", cr}, "ae\u0301x", "> a▏e\u0301x"},
		{"several lines", []string{"a", altEnter, "b", cr}, "a\nb", "> a\n. b▏"},
		{"a backslash at the end", []string{"a\\", cr, "b", cr}, "a\nb", "> a\n. b▏"},
		{"up in several lines", []string{"ab\ncd", upKey, "x", cr}, "abx\ncd", "> abx▏\n. cd"},
		{"down in several lines", []string{"ab\ncd", upKey, downKey, "x", cr}, "ab\ncdx", "> ab\n. cdx▏"},
		{"a paste", []string{"\x1b[200~a\r\nb\tc\x1b[201~", cr}, "a\nb\tc", "> a\n. b    c▏"},
		{"a paste in pieces", []string{"\x1b[200~a\x1b[2", "01~", cr}, "a", "> a▏"},
		{"interrupt", []string{"abc", "\x03", "d", cr}, "d", "> d▏"},
		{"what can not be seen", []string{"\x1b[200~a\x1b[2J\u202e\x1b[201~", cr}, "a\x1b[2J\u202e", "> a\\x1b[2J\n\\u{202e}▏"},
		{"clear", []string{"abc", "\x0c", cr}, "abc", "> abc▏"},
		{"unknown keys", []string{"a", "\x1b[99~", "\x1b", "\x1bq", "\x1c", cr}, "a", "> a▏"},
		{"bytes that are no text", []string{"a\xff", cr}, "a\ufffd", "> a\ufffd▏"},
		{"higher than the terminal", []string{strings.Repeat("x\n", 20), cr}, strings.Repeat("x\n", 20), strings.Repeat(". x\n", 8) + ". ▏"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t, shortLine)
				seen, got := d.edit(t, terminal.Line{Prompt: "\x1b[1m> \x1b[0m", More: ". "}, tc.keys...)
				if got.text != tc.want || got.err != nil {
					t.Errorf("%q, %v, want %q", got.text, got.err, tc.want)
				}
				if diff := cmp.Diff(tc.seen, seen); diff != "" {
					t.Errorf("the screen: %s", diff)
				}
			})
		})
	}
}

func TestEditorEnds(t *testing.T) {
	for _, tc := range []struct {
		name   string
		answer bool
		keys   []string
		want   error
	}{
		{"Ctrl-D", false, []string{"\x04"}, io.EOF},
		{"Ctrl-D deletes", false, []string{"a", leftKey, "\x04", "\x04"}, io.EOF},
		{"Ctrl-C", false, []string{"\x03"}, terminal.ErrInterrupted},
		{"Ctrl-C twice", false, []string{"abc", "\x03", "\x03"}, terminal.ErrInterrupted},
		{"Ctrl-C in an answer", true, []string{"abc", "\x03"}, terminal.ErrInterrupted},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t, 20)
				if _, got := d.edit(t, terminal.Line{Answer: tc.answer}, tc.keys...); !errors.Is(got.err, tc.want) || got.text != "" {
					t.Errorf("%q, %v, want %v", got.text, got.err, tc.want)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, 20)
		d.in.Close()
		if _, err := d.editor.Read(t.Context(), terminal.Line{}); err != io.EOF {
			t.Errorf("at the end of the input: %v", err)
		}
		d = newDesk(t, 20)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := d.editor.Read(ctx, terminal.Line{}); err != context.Canceled {
			t.Errorf("after the end of the context: %v", err)
		}
	})
}

// A prompt that stands on the screen already is not printed twice.
func TestEditorShown(t *testing.T) {
	for _, prompt := range []string{"Allow? ", "A prompt longer than a row? ", "1234567890"} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, shortLine)
			if _, err := io.WriteString(d.testTerminal, "before\r\n"+prompt); err != nil {
				t.Fatal(err)
			}
			seen, _ := d.edit(t, terminal.Line{Prompt: prompt, Shown: true, Answer: true}, "o", cr)
			want := strings.ReplaceAll("before"+prompt+"o▏", "\n", "")
			if got := strings.ReplaceAll(seen, "\n", ""); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

func TestEditorResize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, 30)
		done := make(chan callOutcome, 1)
		go func() {
			text, err := d.editor.Read(t.Context(), terminal.Line{Prompt: "> "})
			done <- callOutcome{text, err}
		}()
		if _, err := io.WriteString(d.in, "abcdefghijkl"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		d.resize(40)
		time.Sleep(time.Second)
		synctest.Wait()
		if got := d.String(); got != "> abcdefghijkl▏" {
			t.Errorf("wider: %q", got)
		}
		if _, err := io.WriteString(d.in, cr); err != nil {
			t.Fatal(err)
		}
		<-done
	})
}

func TestEditorHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chat", "history")
	open := func(t *testing.T) *terminal.History {
		h, err := terminal.OpenHistory(path)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, 20)
		d.editor.History = open(t)
		for _, text := range []string{"one", "two\ntwo", "two\ntwo", " secret", "", "three"} {
			d.edit(t, terminal.Line{}, "\x1b[200~"+text+"\x1b[201~", cr)
		}
		d.edit(t, terminal.Line{Answer: true}, "an answer", cr)
		if err := d.editor.History.Err(); err != nil {
			t.Error(err)
		}
		d.editor.History = open(t)
		for want, keys := range map[string][]string{
			"three":     {upKey, cr},
			"two\ntwo":  {upKey, upKey, cr},
			"one":       {upKey, upKey, upKey, upKey, upKey, upKey, cr},
			"draft":     {"draft", upKey, upKey, downKey, downKey, downKey, cr},
			"two\ntwo!": {upKey, upKey, "!", cr},
		} {
			d.editor.History = open(t)
			if _, got := d.edit(t, terminal.Line{}, keys...); got.text != want {
				t.Errorf("%q: %q, want %q", keys, got.text, want)
			}
			if err := os.WriteFile(path, []byte("\"one\"\n\"two\\ntwo\"\nbroken\n\"three\"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	})
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	if err := os.WriteFile(path, []byte(strings.Repeat("\"old\"\n", 1500)+"\"new\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := terminal.OpenHistory(path); err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(body), "\n"); n != 500 || !strings.HasSuffix(string(body), "\"new\"\n") {
		t.Errorf("%d entries are kept", n)
	}
}

func TestEditorComplete(t *testing.T) {
	complete := func(before string) (int, []string) {
		var out []string
		for _, o := range []string{"/agent ", "/about ", "/model "} {
			if strings.HasPrefix(o, before) {
				out = append(out, o)
			}
		}
		return 0, out
	}
	for _, tc := range []struct {
		keys       []string
		want, seen string
	}{
		{[]string{"/m", "\t", "x", cr}, "/model x", "> /model x▏"},
		{[]string{"/", "\t", "\t", cr}, "/", "> /\n/agent   /about \n/model \n> /▏"},
		{[]string{"/a", "\t", cr}, "/a", "> /a▏"},
		{[]string{"/x", "\t", cr}, "/x", "> /x▏"},
		{[]string{"/mz", leftKey, "\t", cr}, "/model z", "> /model ▏z"},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, 20)
			d.editor.Complete = complete
			seen, got := d.edit(t, terminal.Line{Prompt: "> "}, tc.keys...)
			if got.text != tc.want || seen != tc.seen {
				t.Errorf("%q: %q, the screen %q", tc.keys, got.text, seen)
			}
		})
	}
}

// Whatever is typed, in whatever pieces, the screen shows the text.
func TestEditorLaw(t *testing.T) {
	keys := rapid.SampledFrom([]string{
		"a", "b c", "中", "e\u0301", "👍", leftKey, "\x1b[C", upKey, downKey, "\x01", "\x05", wordBack, "\x1bf", "\x7f", "\x1b[3~", "\x17", altEnter, "\x0b", "\t", "\x1b[200~x\ny\x1b[201~",
	})
	rapid.Check(t, func(rt *rapid.T) {
		columns := rapid.IntRange(4, 30).Draw(rt, "columns")
		all := rapid.SliceOfN(keys, 0, 12).Draw(rt, "keys")
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, columns)
			seen, got := d.edit(t, terminal.Line{Prompt: "> ", More: "> "}, append(all, cr)...)
			shown := strings.NewReplacer("▏", "", "\n", "", " ", "", ">", "").Replace(seen)
			want := strings.NewReplacer("\n", "", " ", "").Replace(got.text)
			if rows := strings.Count(seen, "\n") + 1; rows < 9 && shown != want {
				rt.Fatalf("%q on %d columns: the text is %q, the screen %q", all, columns, got.text, seen)
			}
		})
	})
}

func TestKeysForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, 20)
		if _, err := io.WriteString(d.in, "typed before"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		d.keys.Forget()
		if _, got := d.edit(t, terminal.Line{}, "x", cr); got.text != "x" {
			t.Errorf("%q", got.text)
		}
		if _, err := io.WriteString(d.in, "a\x03"); err != nil {
			t.Fatal(err)
		}
		if a, c := <-d.keys.C(), <-d.keys.C(); a.Interrupt() || !c.Interrupt() {
			t.Error("Ctrl-C is not told from a letter")
		}
	})
}

func FuzzKeys(f *testing.F) {
	f.Add([]byte("a\x1b[A\x1b[200~x\x1b[201~\r"))
	f.Fuzz(func(t *testing.T, typed []byte) {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, 20)
			go func() { _, _ = d.in.Write(typed); d.in.Close() }()
			for {
				if _, err := d.editor.Read(t.Context(), terminal.Line{Prompt: "> "}); err == io.EOF {
					break
				}
				d.keys.Forget()
				if _, ok := <-d.keys.C(); !ok {
					break
				}
			}
			if d.bad != "" {
				t.Errorf("%q prints %s", typed, d.bad)
			}
		})
	})
}
