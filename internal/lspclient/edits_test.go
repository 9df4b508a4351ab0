package lspclient

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helve-dev/helve/lsp"
	"pgregory.net/rapid"
)

func editLine(line, from, to int, text string) textEdit {
	return textEdit{lsp.Range{Start: lsp.Position{Line: line, Character: from}, End: lsp.Position{Line: line, Character: to}}, text}
}

func TestApplyEdits(t *testing.T) {
	const text = "one two\r\n😀 three\n"
	for name, c := range map[string]struct {
		edits []textEdit
		want  string
	}{
		"none":                   {nil, text},
		"any order":              {[]textEdit{editLine(1, 3, 8, "3"), editLine(0, 0, 3, "1")}, "1 two\r\n😀 3\n"},
		"inserts keep order":     {[]textEdit{editLine(0, 3, 3, "a"), editLine(0, 3, 3, "b"), editLine(0, 3, 3, "c")}, "oneabc two\r\n😀 three\n"},
		"insert before replace":  {[]textEdit{editLine(0, 0, 3, "1"), editLine(0, 0, 0, "x"), editLine(0, 3, 3, "y")}, "x1y two\r\n😀 three\n"},
		"side by side":           {[]textEdit{editLine(0, 3, 4, ""), editLine(0, 0, 3, "")}, "two\r\n😀 three\n"},
		"past the line":          {[]textEdit{editLine(0, 7, 99, "!")}, "one two!\r\n😀 three\n"},
		"lines joined":           {[]textEdit{{lsp.Range{Start: lsp.Position{Line: 0, Character: 7}, End: lsp.Position{Line: 1, Character: 0}}, " "}}, "one two 😀 three\n"},
		"all, and then some":     {[]textEdit{{lsp.Range{Start: lsp.Position{Line: 0, Character: 0}, End: lsp.Position{Line: 1 << 30, Character: 0}}, "new"}}, "new"},
		"at the end of the text": {[]textEdit{editLine(2, 0, 0, "four")}, text + "four"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := applyEdits(text, c.edits, utf16Units)
			if err != nil || got != c.want {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
	for name, edits := range map[string][]textEdit{
		"overlap":      {editLine(0, 0, 3, ""), editLine(0, 2, 5, "")},
		"within":       {editLine(0, 0, 7, ""), editLine(0, 2, 2, "x")},
		"twice":        {editLine(0, 0, 3, "1"), editLine(0, 0, 3, "1")},
		"past the end": {editLine(0, 6, 90, "1"), editLine(0, 6, 80, "1")},
	} {
		if got, err := applyEdits(text, edits, utf16Units); !errors.Is(err, errOverlap) || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	if got, err := applyEdits(text, []textEdit{editLine(0, 3, 2, "")}, utf16Units); err == nil || !strings.Contains(err.Error(), "1:4-1:3") {
		t.Errorf("backwards: got %q, %v", got, err)
	}
}

// plainApply does what applyEdits does, byte by byte, and says whether the
// edits overlap by looking at every two of them.
func plainApply(text string, edits []textEdit, e counting) (string, bool) {
	starts, ends := make([]int, len(edits)), make([]int, len(edits))
	for i, edit := range edits {
		starts[i], ends[i] = plainOffset(text, edit.Range.Start, e), plainOffset(text, edit.Range.End, e)
		for j := range i {
			empty := starts[i] == ends[i] && starts[j] == ends[j]
			same := starts[i] == starts[j] && starts[i] < ends[i] && starts[j] < ends[j]
			if !empty && (same || starts[i] < starts[j] && starts[j] < ends[i] || starts[j] < starts[i] && starts[i] < ends[j]) {
				return "", false
			}
		}
	}
	var out strings.Builder
	for at := 0; at <= len(text); at++ {
		for i := range edits {
			if starts[i] == at && ends[i] == at {
				out.WriteString(edits[i].NewText)
			}
		}
		gone := false
		for i := range edits {
			if starts[i] == at && ends[i] > at {
				out.WriteString(edits[i].NewText)
			}
			gone = gone || starts[i] <= at && at < ends[i]
		}
		if !gone && at < len(text) {
			out.WriteByte(text[at])
		}
	}
	return out.String(), true
}

func anyEdits(text string) *rapid.Generator[[]textEdit] {
	count := len(newLines(text).starts)
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) textEdit {
		at := lsp.Position{Line: rapid.IntRange(0, count).Draw(t, "line"), Character: rapid.IntRange(0, 40).Draw(t, "character")}
		end := at
		if rapid.Bool().Draw(t, "replaces") {
			end.Character += rapid.IntRange(0, 4).Draw(t, "width")
			if rapid.IntRange(0, 9).Draw(t, "lines") == 0 {
				end.Line++
			}
		}
		return textEdit{lsp.Range{Start: at, End: end}, rapid.SampledFrom([]string{"", "x", "yy", "é\n"}).Draw(t, "text")}
	}), 0, 5)
}

func TestApplyEditsIsThePlainOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts().Draw(t, "text")
		edits := anyEdits(text).Draw(t, "edits")
		e := rapid.SampledFrom(encodings()).Draw(t, "encoding")
		want, ok := plainApply(text, edits, e)
		got, err := applyEdits(text, edits, e)
		if got != want || ok != (err == nil) || !ok && !errors.Is(err, errOverlap) {
			t.Fatalf("got %q, %v, want %q, %v", got, err, want, ok)
		}
	})
}

func TestMinimalChange(t *testing.T) {
	for _, c := range []struct {
		before, after string
		want          textEdit
	}{
		{"", "", editLine(0, 0, 0, "")},
		{"same\n", "same\n", editLine(1, 0, 0, "")},
		{"", "new", editLine(0, 0, 0, "new")},
		{"old", "", editLine(0, 0, 3, "")},
		{"a\nbcd\ne", "a\nbXd\ne", editLine(1, 1, 2, "X")},
		{"aa", "aaa", editLine(0, 2, 2, "a")},
		{"é", "è", editLine(0, 0, 1, "è")},             // they share a byte
		{"😀x", "😁x", editLine(0, 0, 2, "😁")},           // and these three
		{"a\r\nb", "a\nb", editFrom(0, 1, 1, 0, "\n")}, // no place within \r\n
		{"a\nb", "a\r\nb", editFrom(0, 1, 1, 0, "\r\n")},
		{"a\rb", "a\r\nb", editFrom(0, 1, 1, 0, "\r\n")},
		{"\xc3", "é", editLine(0, 0, 1, "é")},
	} {
		r, text := minimalChange(c.before, c.after, utf16Units)
		if diff := cmp.Diff(c.want, textEdit{r, text}); diff != "" {
			t.Errorf("%q to %q: %s", c.before, c.after, diff)
		}
	}
}

func editFrom(line, character, endLine, end int, text string) textEdit {
	return textEdit{lsp.Range{Start: lsp.Position{Line: line, Character: character}, End: lsp.Position{Line: endLine, Character: end}}, text}
}

// asSent is a text as a server gets it.
func asSent(text string) string { return string([]rune(text)) }

// The change makes the new text of the old one: here, and at a server that knows
// both only as JSON can carry them.
func TestMinimalChangeMakesTheNewText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := texts().Draw(t, "before")
		var after string
		if cut := rapid.IntRange(0, len(before)).Draw(t, "cut"); rapid.Bool().Draw(t, "near") {
			until := min(len(before), cut+rapid.IntRange(0, 3).Draw(t, "gone"))
			after = before[:cut] + rapid.SampledFrom([]string{"", "x", "\n", "\r", "\x98", "😁"}).Draw(t, "new") + before[until:]
		} else {
			after = texts().Draw(t, "after")
		}
		e := rapid.SampledFrom(encodings()).Draw(t, "encoding")
		r, text := minimalChange(before, after, e)
		if got, err := applyEdits(before, []textEdit{{r, text}}, e); err != nil || got != after {
			t.Fatalf("%v %q gives %q, %v", r, text, got, err)
		}
		if got, err := applyEdits(asSent(before), []textEdit{{r, asSent(text)}}, e); err != nil || got != asSent(after) {
			t.Fatalf("%v %q gives %q, %v at the server", r, text, got, err)
		}
	})
}

// A change in the middle of a long text is small.
func TestMinimalChangeIsSmall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		head, tail := texts().Draw(t, "head"), texts().Draw(t, "tail")
		_, text := minimalChange(head+"old"+tail, head+"new"+tail, utf16Units)
		if text != "new" {
			t.Fatalf("the change is %q", text)
		}
	})
}

// absolute is an absolute path of this system.
func absolute(names ...string) string {
	root := "/"
	if runtime.GOOS == "windows" {
		root = `C:\`
	}
	return root + filepath.Join(names...)
}

// withURIs puts the URIs of files for $a, $b, $a/x and so on into a JSON text.
func withURIs(text string) json.RawMessage {
	for _, name := range []string{"a", "b", "c"} {
		text = strings.ReplaceAll(text, "$"+name, uriOf(absolute(name)))
	}
	return json.RawMessage(text)
}

const insertX = `{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"newText":"x"}`

func TestParseWorkspaceEdit(t *testing.T) {
	x := editLine(0, 0, 0, "x")
	one := func(name string, edits ...textEdit) FileEdit {
		return FileEdit{Kind: EditText, Path: absolute(name), edits: edits, encoding: utf8Units}
	}
	versioned := func(f FileEdit, n int) FileEdit { f.Version = &n; return f }
	of := func(uri, version string) string {
		return `{"textDocument":{"uri":"` + uri + `","version":` + version + `},"edits":[` + insertX + `]}`
	}
	for name, c := range map[string]struct {
		raw  string
		want []FileEdit
	}{
		"nothing": {"", nil},
		"null":    {"null", nil},
		"empty":   {"{}", nil},
		"nulls":   {`{"changes":null,"documentChanges":null}`, nil},
		"changes": {`{"changes":{"$b":[` + insertX + `],"$a":[` + insertX + `,` + insertX + `],"$c":[]}}`, []FileEdit{one("b", x), one("a", x, x)}},
		"one file by two names": {`{"changes":{"$a":[` + insertX + `],"$b/../a":[` + insertX + `]}}`,
			[]FileEdit{one("a", x, x)}},
		"documents win":     {`{"changes":{"$b":[` + insertX + `]},"documentChanges":[` + of("$a", "3") + `]}`, []FileEdit{versioned(one("a", x), 3)}},
		"unless there none": {`{"changes":{"$b":[` + insertX + `]},"documentChanges":[]}`, []FileEdit{one("b", x)}},
		"grouped": {`{"documentChanges":[` + of("$a", "null") + `,` + of("$b", "1") + `,` + of("$a", "2") + `]}`,
			[]FileEdit{versioned(one("a", x, x), 2), versioned(one("b", x), 1)}},
		"a file in between": {`{"documentChanges":[` + of("$a", "1") + `,{"kind":"create","uri":"$c","options":{"ignoreIfExists":true}},` + of("$a", "1") + `]}`,
			[]FileEdit{versioned(one("a", x, x), 1), {Kind: EditCreate, Path: absolute("c"), IgnoreIfExists: true, encoding: utf8Units}}},
		"the file in between": {`{"documentChanges":[` + of("$b", "null") + `,{"kind":"rename","oldUri":"$a","newUri":"$b","options":{"overwrite":true}},` + of("$b", "null") + `]}`,
			[]FileEdit{one("b", x), {Kind: EditRename, Path: absolute("a"), To: absolute("b"), Overwrite: true, encoding: utf8Units}, one("b", x)}},
		"its folder in between": {`{"documentChanges":[` + of("$a/x", "null") + `,{"kind":"delete","uri":"$a","options":{"recursive":true,"ignoreIfNotExists":true}},` + of("$a/x", "null") + `]}`,
			[]FileEdit{one("a/x", x), {Kind: EditDelete, Path: absolute("a"), Recursive: true, IgnoreIfNotExists: true, encoding: utf8Units}, one("a/x", x)}},
		"annotated": {`{"changeAnnotations":{"1":{"label":"l","needsConfirmation":true}},"changes":{"$a":[{"annotationId":"1",` + insertX[1:] + `]}}`,
			[]FileEdit{one("a", x)}},
		"up to the end": {`{"changes":{"$a":[{"range":{"start":{"line":0,"character":0},"end":{"line":4294967295,"character":1.7976931348623157e+308}},"newText":""}]}}`,
			[]FileEdit{one("a", editFrom(0, 0, 1<<31-1, 1<<31-1, ""))}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseWorkspaceEdit(withURIs(c.raw), utf8Units)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(FileEdit{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseWorkspaceEditRefuses(t *testing.T) {
	inA := func(edit string) string { return `{"changes":{"$a":[` + edit + `]}}` }
	document := func(version string) string {
		return `{"textDocument":{"uri":"$a","version":` + version + `},"edits":[` + insertX + `]}`
	}
	for name, c := range map[string]struct{ raw, want string }{
		"no object":       {`[]`, "workspace edit"},
		"half":            {`{"changes":`, "workspace edit"},
		"changes a list":  {`{"changes":[]}`, `no "{"`},
		"changes a text":  {`{"changes":"x"}`, `no "{"`},
		"edits no list":   {`{"changes":{"$a":{}}}`, `no "["`},
		"snippet":         {inA(`{"snippet":{"kind":"snippet","value":"$0"},` + insertX[1:]), "snippet"},
		"snippet flag":    {inA(`{"insertTextFormat":2,` + insertX[1:]), "snippet"},
		"no text":         {inA(strings.Replace(insertX, "newText", "text", 1)), "no text"},
		"no range":        {inA(`{"newText":"x"}`), "no range"},
		"half a range":    {inA(strings.Replace(insertX, `"end"`, `"until"`, 1)), "no range"},
		"negative":        {inA(strings.Replace(insertX, `"line":0`, `"line":-1`, 1)), "-1 is not"},
		"fraction":        {inA(strings.Replace(insertX, `"line":0`, `"line":1.5`, 1)), "1.5 is not"},
		"text for number": {inA(strings.Replace(insertX, `"line":0`, `"line":"zero"`, 1)), "zero"},
		"other scheme":    {`{"changes":{"untitled:x":[` + insertX + `]}}`, "untitled:x"},
		"unknown kind":    {`{"documentChanges":[{"kind":"chmod","uri":"$a"}]}`, "chmod"},
		"no document":     {`{"documentChanges":[{}]}`, "neither"},
		"rename to none":  {`{"documentChanges":[{"kind":"rename","oldUri":"$a"}]}`, "does not name a file"},
		"two versions":    {`{"documentChanges":[` + document("1") + `,` + document("2") + `]}`, "versions 1 and 2"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseWorkspaceEdit(withURIs(c.raw), utf16Units)
			if err == nil || got != nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, %v, want an error with %q", got, err, c.want)
			}
		})
	}
}

func TestParseWorkspaceEditIsBounded(t *testing.T) {
	var files strings.Builder
	for i := range maxFileEdits + 1 {
		fmt.Fprintf(&files, `,{"kind":"create","uri":"%s"}`, uriOf(absolute(fmt.Sprint(i))))
	}
	all := files.String()[1:]
	if _, err := parseWorkspaceEdit(json.RawMessage(`{"documentChanges":[`+all+`]}`), utf16Units); !errors.Is(err, errTooMany) {
		t.Errorf("one file too many: %v", err)
	}
	fewer, err := parseWorkspaceEdit(json.RawMessage(`{"documentChanges":[`+all[:strings.LastIndexByte(all, '{')-1]+`]}`), utf16Units)
	if err != nil || len(fewer) != maxFileEdits {
		t.Errorf("as many files as may be: %d, %v", len(fewer), err)
	}
	p := proposal{open: map[string]joint{}}
	half := wireChange{TextDocument: &wireDocument{URI: uriOf(absolute("a"))}, Edits: make(wireEdits, maxTextEdits/2)}
	for i := range 3 {
		if err := p.add(half); errors.Is(err, errTooMany) != (i == 2) {
			t.Errorf("edits, the half of what may be, for the time %d: %v", i+1, err)
		}
	}
}

func TestApply(t *testing.T) {
	steps, err := parseWorkspaceEdit(withURIs(`{"documentChanges":[{"kind":"create","uri":"$a"},{"textDocument":{"uri":"$a","version":null},"edits":[`+insertX+`,`+insertX+`]}]}`), utf16Units)
	if err != nil || len(steps) != 2 {
		t.Fatal(steps, err)
	}
	for i, want := range []string{"text", "xxtext"} {
		if got, err := steps[i].Apply("text"); err != nil || got != want {
			t.Errorf("step %d: got %q, %v, want %q", i, got, err, want)
		}
	}
	bad := FileEdit{Path: absolute("a"), edits: []textEdit{editLine(0, 0, 2, ""), editLine(0, 1, 3, "")}}
	if got, err := bad.Apply("text"); !errors.Is(err, errOverlap) || !strings.Contains(err.Error(), absolute("a")) || got != "" {
		t.Errorf("got %q, %v", got, err)
	}
}

// What a server says is what is read: edits of several files, as both forms.
func TestParseWorkspaceEditReadsWhatIsSaid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := map[string][]textEdit{}
		changes, documents := map[string][]textEdit{}, []any{}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b c", "é", "d%41"}), 1, 4, rapid.ID[string]).Draw(t, "names") {
			edits := append(anyEdits("x\ny").Draw(t, "edits"), editLine(0, 0, 0, "z"))
			want[absolute(name)], changes[uriOf(absolute(name))] = edits, edits
			for _, one := range edits {
				documents = append(documents, map[string]any{"textDocument": map[string]any{"uri": uriOf(absolute(name)), "version": 7}, "edits": []any{one}})
			}
		}
		for _, said := range []any{map[string]any{"changes": changes}, map[string]any{"documentChanges": documents}} {
			raw, err := json.Marshal(said)
			if err != nil {
				t.Fatal(err)
			}
			steps, err := parseWorkspaceEdit(raw, utf16Units)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string][]textEdit{}
			for _, s := range steps {
				got[s.Path] = append(got[s.Path], s.edits...)
			}
			if diff := cmp.Diff(want, got); diff != "" || len(steps) != len(want) {
				t.Fatalf("%d steps for %d files: %s", len(steps), len(want), diff)
			}
		}
	})
}

// Whatever a server sends: what is accepted names absolute paths, has kinds that
// are known, and changes a text as the long way does.
func FuzzWorkspaceEdit(f *testing.F) {
	f.Add([]byte(`{"changes":{"file:///c:/a":[`+insertX+`]}}`), "one\r\ntwo", byte(0))
	f.Add([]byte(`{"documentChanges":[{"kind":"rename","oldUri":"file:///c:/a","newUri":"file:///c:/b"},{"textDocument":{"uri":"file:///c:/b","version":1},"edits":[`+insertX+`]}]}`), "é😀", byte(1))
	f.Fuzz(func(t *testing.T, raw []byte, text string, encoding byte) {
		e := encodings()[int(encoding)%3]
		steps, err := parseWorkspaceEdit(raw, e)
		if err != nil {
			if steps != nil {
				t.Fatalf("%d steps and %v", len(steps), err)
			}
			return
		}
		for _, s := range steps {
			if !filepath.IsAbs(s.Path) || (s.Kind == EditRename) != filepath.IsAbs(s.To) || (s.Kind == EditText) != (len(s.edits) > 0) {
				t.Fatalf("a step %+v", s)
			}
			got, err := s.Apply(text)
			if len(s.edits) > 20 || len(text) > 2000 || err != nil && !errors.Is(err, errOverlap) {
				continue
			}
			if want, ok := plainApply(text, s.edits, e); got != want || ok != (err == nil) {
				t.Fatalf("got %q, %v, want %q, %v", got, err, want, ok)
			}
		}
	})
}
