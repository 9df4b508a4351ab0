package builtin_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// An editCase is a file, an edit of it, and what has to become of it. With a
// code the edit fails, and the file stays.
type editCase struct {
	id         string
	file       string
	old, new   string
	all        bool
	want       string
	code, part string
}

func (c editCase) run(t *testing.T) {
	t.Helper()
	d := newDesk(t, permission.Allow)
	d.put("f.txt", c.file)
	d.mustRead("f.txt")
	res, err := d.call("edit", map[string]any{"filePath": "f.txt", "oldString": c.old, "newString": c.new, "replaceAll": c.all})
	if c.code != "" {
		wantFail(t, err, c.code, c.part)
		c.want = c.file
	} else if err != nil {
		t.Fatal(err)
	} else if !strings.HasPrefix(res.Output, "Edit applied successfully") {
		t.Errorf("it says %q", res.Output)
	}
	if got := d.get("f.txt"); got != c.want {
		t.Errorf("the file is %q and not %q", got, c.want)
	}
}

// TestCasesEdit are EB01 to EB18. Those about reading first, and about edits
// at one time, are in TestCasesTracking and TestCasesTogether.
func TestCasesEdit(t *testing.T) {
	block := "start of it\n  one\n  two\n  three\n  four\nend of it\n"
	short := "start of it\n  one\nend of it\n"
	const missing = "Could not find oldString"
	for _, c := range []editCase{
		// differs: edit.empty_old.
		{id: "EB02", file: "\ufeffusing System;\n", old: "", new: "new content", code: "old-empty", part: "oldString cannot be empty"},
		{id: "EB05", file: "old content here", old: "old content", new: "new content", want: "new content here"},
		{id: "EB08", file: "same", old: "same", new: "same", code: "no-change", part: "oldString and newString must be different"},
		{id: "EB09", file: "actual content", old: "not in file", new: "replacement", code: "context-not-found", part: missing},
		{id: "EB10", file: block, old: "start of it\n  something that is nowhere\nend of it", new: "gone", code: "context-not-found", part: missing},
		{id: "EB11", file: short, old: "start of it\n  unrelated words\nend of it", new: "gone", code: "context-not-found", part: missing},
		{id: "EB12", file: "foo bar foo baz foo", old: "foo", new: "qux", all: true, want: "qux bar qux baz qux"},
		{id: "EB14", file: "line1\nold line 2\nline3", old: "old line 2", new: "new line 2\nextra line", want: "line1\nnew line 2\nextra line\nline3"},
		{id: "EB15", file: "line1\r\nold\r\nline3", old: "old", new: "new", want: "line1\r\nnew\r\nline3"},
		{id: "EB16", file: "content", old: "", new: "", code: "no-change", part: "must be different"},
		{id: "endings, to LF", file: "#!/bin/sh\r\na\r\nb\r\n", old: "#!/bin/sh\r\n", new: "#!/bin/sh\n", want: "#!/bin/sh\na\r\nb\r\n"},
		{id: "endings, to CRLF", file: "a\nb\nc\n", old: "b\n", new: "b\r\n", want: "a\nb\r\nc\n"},
		{id: "endings, all of a file", file: "a\r\nb\nc\r\n", old: "\r\n", new: "\n", all: true, want: "a\nb\nc\n"},
		{id: "endings, no half of one", file: "a\r\nb\nc\r\n", old: "\n", new: "\r\n", all: true, want: "a\r\nb\r\nc\r\n"},
		{id: "endings, the first half", file: "#!/bin/sh\r\na\r\n", old: "#!/bin/sh\r", new: "#!/bin/sh", want: "#!/bin/sh\na\r\n"},
		{id: "endings, every first half", file: "a\r\nb\r\n", old: "\r", new: "", all: true, want: "a\nb\n"},
		{id: "endings, one too many", file: "a\r\r\nb\n", old: "a\r\r\n", new: "a\n", want: "a\nb\n"},
		{id: "endings, of the old system", file: "a\rb\r", old: "\r", new: "\n", all: true, want: "a\nb\n"},
		{id: "endings, quoted with others", file: "x\na\r\nb\nc\n", old: "a\nb\n", new: "a\r\nb\r\n", want: "x\na\r\nb\r\nc\n"},
		{id: "endings, as they are", file: "a\nb\n", old: "a\r\n", new: "a\n", code: "no-change", part: "would change nothing"},
		{id: "endings, loosely", file: "a\r\nb\r\n", old: "a  \r\nb", new: "a  \nb", code: "context-not-found", part: "nothing but line endings"},
		{id: "endings, one more than there are", file: "a\r\nb", old: "a\r\nb\r\n", new: "a\nb\n", code: "context-not-found", part: "nothing but line endings"},
		{id: "endings, none there", file: "a\nb\n", old: "\r", new: "", all: true, code: "context-not-found", part: missing},
		{id: "endings, in UTF-16", file: "\xff\xfea\x00\r\x00\n\x00b\x00\r\x00\n\x00", old: "a\r\n", new: "a\n", want: "\xff\xfea\x00\n\x00b\x00\r\x00\n\x00"},
		{id: "half an ending and words", file: "a\r\nb\r\n", old: "a\r", new: "c", want: "c\r\nb\r\n"},
		{id: "half an ending that is not there", file: "a\nb\n", old: "a\r", new: "c", want: "c\nb\n"},
		{id: "many", file: "foo bar foo", old: "foo", new: "qux", code: "ambiguous", part: "oldString"},
	} {
		t.Run(c.id, c.run)
	}
	t.Run("EB01", func(t *testing.T) { caseCreate(t, "newfile.txt") })
	t.Run("EB03", func(t *testing.T) { caseCreate(t, "nested/dir/file.txt") })
	t.Run("EB04", func(t *testing.T) { caseEvents(t, "add") })
	t.Run("EB06", caseMarkInDiff)
	t.Run("EB07", func(t *testing.T) {
		_, err := newDesk(t, permission.Allow).edit("missing.txt", "old", "new")
		wantFail(t, err, "not-found", "not found")
	})
	t.Run("EB13", func(t *testing.T) { caseEvents(t, "change") })
	t.Run("EB17", func(t *testing.T) {
		d := newDesk(t, permission.Allow)
		mkdir(t, filepath.Join(d.dir, "adir"))
		_, err := d.edit("adir", "old", "new")
		wantFail(t, err, "is-a-directory", "directory")
	})
	t.Run("EB18", func(t *testing.T) {
		d := newDesk(t, permission.Allow)
		path := d.put("f.txt", "line1\nline2")
		d.mustRead("f.txt")
		res, err := d.edit("f.txt", "line1", "new line\nline1")
		if err != nil {
			t.Fatal(err)
		}
		if added, _ := at(t, res.Metadata, "filediff", "additions").(float64); at(t, res.Metadata, "filediff", "file") != path || added <= 0 {
			t.Errorf("the difference is told as %v", res.Metadata["filediff"])
		}
	})
}

// caseCreate is EB01 and EB03: an edit of nothing makes a file, and folders.
func caseCreate(t *testing.T, name string) {
	t.Helper()
	d := newDesk(t, permission.Allow)
	res, err := d.edit(name, "", "new content")
	if err != nil {
		t.Fatal(err)
	}
	if diff, _ := res.Metadata["diff"].(string); !strings.Contains(diff, "new content") {
		t.Errorf("the difference is %q", diff)
	}
	d.wantFiles(map[string]string{name: "new content"})
}

// caseEvents is EB04 and EB13: who watches is told of a change, twice and in
// this order.
func caseEvents(t *testing.T, kind string) {
	t.Helper()
	d := newDesk(t, permission.Allow)
	path, old := filepath.Join(d.dir, "f.txt"), ""
	if kind == "change" {
		old = "old"
		d.put("f.txt", old)
		d.mustRead("f.txt")
	}
	input := asInput(t, map[string]any{"filePath": "f.txt", "oldString": old, "newString": "new"})
	if _, err := d.rt.Call(t.Context(), tool.Call{ID: "c", Session: "s", Tool: "edit", Input: input}); err != nil {
		t.Fatal(err)
	}
	var told []any
	for _, e := range d.events("c") {
		if strings.HasPrefix(e.Type, "file.") {
			told = append(told, e.Type, e.Properties)
		}
	}
	want := []any{"file.edited", event.FileEdited{Session: "s", File: path}, "file.watcher.updated", event.FileChanged{File: path, Event: kind}}
	if encoded(told) != encoded(want) {
		t.Errorf("told %s", encoded(told))
	}
}

// caseMarkInDiff is EB06: a mark at the beginning stays, and is not shown.
func caseMarkInDiff(t *testing.T) {
	d := newDesk(t, permission.Allow)
	d.put("f.cs", "\ufeffusing System;\nclass A {}\n")
	d.mustRead("f.cs")
	res, err := d.edit("f.cs", "using System;", "using Up;")
	if err != nil {
		t.Fatal(err)
	}
	diff, _ := res.Metadata["diff"].(string)
	if !strings.Contains(diff, "\n-using System;\n") || !strings.Contains(diff, "\n+using Up;\n") || strings.Contains(diff, "\ufeff") {
		t.Errorf("the difference is %q", diff)
	}
	if got := d.get("f.cs"); got != "\ufeffusing Up;\nclass A {}\n" {
		t.Errorf("the file is %q", got)
	}
}

// TestCasesLineEndings are EL01 to EL10, in edit, multiedit and, for the
// blocks that occur once, apply_patch: a file keeps its own line endings,
// whatever a call is written with. differs: edit.bytes.
func TestCasesLineEndings(t *testing.T) {
	const lf, crlf = "\n", "\r\n"
	mixed := func(a, b, c string) string { return a + "\r\n" + b + "\n" + c + "\r\n" }
	lines := func(end string, words ...string) string { return strings.Join(words, end) + end }
	for _, c := range []struct {
		id, end, old, new string
		all               bool
	}{
		{"EL01", lf, lines(lf, "alpha", "beta", "gamma"), lines(lf, "alpha", "beta-updated", "gamma"), false},
		{"EL02", crlf, lines(crlf, "alpha", "beta", "gamma"), lines(crlf, "alpha", "beta-updated", "gamma"), false},
		{"EL03", lf, lines(crlf, "alpha", "beta", "gamma"), lines(crlf, "alpha", "beta-updated", "gamma"), false},
		{"EL04", crlf, lines(lf, "alpha", "beta", "gamma"), lines(lf, "alpha", "beta-updated", "gamma"), false},
		{"EL05", lf, lines(lf, "alpha", "beta", "gamma"), lines(crlf, "alpha", "beta-updated", "gamma"), false},
		{"EL06", crlf, lines(crlf, "alpha", "beta", "gamma"), lines(lf, "alpha", "beta-updated", "gamma"), false},
		{"EL07", lf, mixed("alpha", "beta", "gamma"), mixed("alpha", "beta-updated", "gamma"), false},
		{"EL08", crlf, mixed("alpha", "beta", "gamma"), mixed("alpha", "beta-updated", "gamma"), false},
		{"EL09", lf, lines(lf, "alpha", "beta", "gamma"), lines(lf, "alpha", "beta-updated", "gamma"), true},
		{"EL10", crlf, lines(crlf, "alpha", "beta", "gamma"), lines(crlf, "alpha", "beta-updated", "gamma"), true},
	} {
		words, changed := []string{"alpha", "beta", "gamma"}, []string{"alpha", "beta-updated", "gamma"}
		if c.all {
			words, changed = append(words, words...), append(changed, changed...)
		}
		file, want := lines(c.end, words...), lines(c.end, changed...)
		one := map[string]any{"oldString": c.old, "newString": c.new, "replaceAll": c.all}
		calls := map[string]map[string]any{
			"edit":      merge(map[string]any{"filePath": "f.txt"}, one),
			"multiedit": {"filePath": "f.txt", "edits": []any{one}},
		}
		if !c.all {
			old, new := strings.TrimSuffix(c.old, lf), strings.TrimSuffix(c.new, lf)
			calls["apply_patch"] = map[string]any{"patchText": patchOf("*** Update File: f.txt", "@@",
				"-"+strings.ReplaceAll(old, "\n", "\n-"), "+"+strings.ReplaceAll(new, "\n", "\n+"))}
		}
		t.Run(c.id, func(t *testing.T) {
			d := newDesk(t, permission.Allow)
			for name, args := range calls {
				d.put("f.txt", file)
				d.mustRead("f.txt")
				if _, err := d.call(name, args); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if got := d.get("f.txt"); got != want {
					t.Errorf("%s made %q and not %q", name, got, want)
				}
			}
		})
	}
}

// TestCasesMark is NC05, beside EB06: a patch keeps the mark at the beginning
// and does not show it.
func TestCasesMark(t *testing.T) {
	d := newDesk(t, permission.Allow)
	d.put("f.cs", "\ufeffusing System;\nclass A {}\n")
	res, err := d.patch(patchOf("*** Update File: f.cs", "@@", " using System;", "-class A {}", "+class B {}"))
	if err != nil {
		t.Fatal(err)
	}
	if diff, _ := res.Metadata["diff"].(string); strings.Contains(diff, "\ufeff") || strings.Contains(diff, "\n-using") {
		t.Errorf("the difference is %q", diff)
	}
	data, err := os.ReadFile(filepath.Join(d.dir, "f.cs"))
	if err != nil || string(data) != "\ufeffusing System;\nclass B {}\n" {
		t.Errorf("the file is %q: %v", data, err)
	}
}
