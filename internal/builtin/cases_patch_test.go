package builtin_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/permission"
)

// patchOf puts lines between the marks of a patch.
func patchOf(lines ...string) string {
	return "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch"
}

// A patchCase is files, a patch, and what has to become of them. With a code
// the patch fails, and the files stay.
type patchCase struct {
	id         string
	files      map[string]string
	patch      string
	want       map[string]string
	code, part string
}

func (c patchCase) run(t *testing.T) {
	t.Helper()
	d := newDesk(t, permission.Allow)
	for name, text := range c.files {
		d.put(name, text)
	}
	res, err := d.patch(c.patch)
	if c.code != "" {
		wantFail(t, err, c.code, c.part)
		if c.want == nil {
			c.want = c.files
		}
		if c.want == nil {
			c.want = map[string]string{}
		}
		d.wantFiles(c.want)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(res.Output, "Success. Updated the following files") {
		t.Errorf("it says %q", res.Output)
	}
	d.wantFiles(c.want)
}

// TestCasesApplyPatch are the cases AP01 to AP26 that can be told by files.
func TestCasesApplyPatch(t *testing.T) {
	for _, c := range slices.Concat(patchRefusals(), patchUpdates(), patchLooseCases()) {
		t.Run(c.id, c.run)
	}
	t.Run("AP04", casePatchAllKinds)
	t.Run("AP05", casePatchMoveAsks)
	t.Run("AP14", func(t *testing.T) {
		d := newDesk(t, permission.Allow)
		mkdir(t, filepath.Join(d.dir, "dir"))
		_, err := d.patch(patchOf("*** Delete File: dir"))
		wantFail(t, err, "is-a-directory", "apply_patch verification failed")
	})
}

func patchRefusals() []patchCase {
	one := map[string]string{"modify.txt": "line1\nline2\n"}
	return []patchCase{
		{id: "AP01", code: "patch-empty", part: "patchText is required"},
		{id: "AP02", patch: "invalid patch", code: "patch-markers", part: "apply_patch verification failed"},
		{id: "AP03", patch: "*** Begin Patch\n*** End Patch", code: "patch-empty", part: "patch rejected: empty patch"},
		{id: "AP12", patch: patchOf("*** Update File: missing.txt", "@@", "-nope", "+better"),
			code: "not-found", part: "apply_patch verification failed: Failed to read file to update"},
		{id: "AP13", patch: patchOf("*** Delete File: missing.txt"), code: "not-found", part: "apply_patch verification failed"},
		{id: "AP15", patch: patchOf("*** Frobnicate File: foo"), code: "patch-header", part: "apply_patch verification failed"},
		{id: "AP16", files: one, patch: patchOf("*** Update File: modify.txt", "@@", "-missing", "+changed"),
			code: "context-not-found", part: "apply_patch verification failed"},
		{id: "AP17", patch: patchOf("*** Add File: created.txt", "+hello", "*** Update File: missing.txt", "@@", "-a", "+b"),
			code: "not-found", part: "Failed to read file to update"},
		// differs: apply_patch.lenient. The blank line is one of the context
		// here, and no line that is passed over; b, blank and d are not there
		// either.
		{id: "AP19", files: map[string]string{"f.txt": "a\nb\nc\nd\n"},
			patch: patchOf("*** Update File: f.txt", "@@", "-b", "+B", "", "-d", "+D"), code: "context-not-found", part: "verification failed"},
	}
}

func patchUpdates() []patchCase {
	const move = "*** Update File: old/name.txt\n*** Move to: renamed/dir/name.txt\n@@\n-"
	file := func(text string) map[string]string { return map[string]string{"f.txt": text} }
	update := func(lines ...string) string { return patchOf(append([]string{"*** Update File: f.txt"}, lines...)...) }
	return []patchCase{
		{id: "AP06", files: file("line1\nline2\nline3\nline4\n"),
			patch: update("@@", "-line2", "+changed2", "@@", "-line4", "+changed4"), want: file("line1\nchanged2\nline3\nchanged4\n")},
		{id: "AP07", files: file("alpha\nomega\n"), patch: update("@@", " alpha", "+beta", " omega"), want: file("alpha\nbeta\nomega\n")},
		// differs: edit.bytes. No newline is added where there was none.
		{id: "AP08", files: file("no newline at end"),
			patch: update("@@", "-no newline at end", "+first line", "+second line"), want: file("first line\nsecond line")},
		{id: "AP09", files: map[string]string{"old/name.txt": "old content\n"}, patch: patchOf(move+"old content", "+new content"),
			want: map[string]string{"renamed/dir/name.txt": "new content\n"}},
		{id: "AP10", files: map[string]string{"old/name.txt": "from\n", "renamed/dir/name.txt": "existing\n"}, patch: patchOf(move+"from", "+new"),
			want: map[string]string{"renamed/dir/name.txt": "new\n"}},
		{id: "AP11", files: map[string]string{"duplicate.txt": "old content\n"}, patch: patchOf("*** Add File: duplicate.txt", "+new content"),
			want: map[string]string{"duplicate.txt": "new content\n"}},
		// differs: apply_patch.end_of_file. The marker counts, with the same end.
		{id: "AP18", files: file("alpha\nlast\n"), patch: update("@@", "-last", "+end", "*** End of File"), want: file("alpha\nend\n")},
		{id: "AP18 counts", files: file("last\nalpha\nlast\n"), patch: update("@@", "-last", "+end", "*** End of File"), want: file("last\nalpha\nend\n")},
		// As in the reference's search, the end comes first and not alone.
		{id: "AP18 elsewhere", files: file("last\nalpha\nomega\n"), patch: update("@@", "-last", "+end", "*** End of File"),
			want: file("end\nalpha\nomega\n")},
		{id: "AP20", files: file("fn a\nx=10\ny=2\nfn b\nx=10\ny=20\n"), patch: update("@@ fn b", "-x=10", "+x=11"),
			want: file("fn a\nx=10\ny=2\nfn b\nx=11\ny=20\n")},
		{id: "AP21", files: file("start\nmarker\nmiddle\nmarker\nend\n"),
			patch: update("@@", "-marker", "-end", "+marker-changed", "+end", "*** End of File"), want: file("start\nmarker\nmiddle\nmarker-changed\nend\n")},
		{id: "AP21 counts", files: file("marker\nend\nmiddle\nmarker\nend\n"),
			patch: update("@@", "-marker", "-end", "+marker-changed", "+end", "*** End of File"), want: file("marker\nend\nmiddle\nmarker-changed\nend\n")},
		{id: "AP22", patch: "cat <<'EOF'\n" + patchOf("*** Add File: f.txt", "+heredoc content") + "\nEOF", want: file("heredoc content\n")},
		{id: "AP23", patch: "<<EOF\n" + patchOf("*** Add File: f.txt", "+no cat prefix") + "\nEOF", want: file("no cat prefix\n")},
	}
}

// patchLooseCases quote lines a little otherwise than they are. The last
// four are the vectors that the reference's own cases were meant to be.
func patchLooseCases() []patchCase {
	file := func(text string) map[string]string { return map[string]string{"f.txt": text} }
	change := func(old string) string { return patchOf("*** Update File: f.txt", "@@", "-"+old, "+changed") }
	return []patchCase{
		{id: "AP24", files: file("line1  \nline2\nline3   \n"), patch: change("line2"), want: file("line1  \nchanged\nline3   \n")},
		{id: "AP25", files: file("  line1\nline2\n  line3\n"), patch: change("line2"), want: file("  line1\nchanged\n  line3\n")},
		{id: "AP26", files: file("He said “hello”\nsome—dash\nend\n"),
			patch: patchOf("*** Update File: f.txt", "@@", `-He said "hello"`, `+He said "hi"`), want: file("He said \"hi\"\nsome—dash\nend\n")},
		{id: "AP pass 2", files: file("line1 \nline2  \nline3\t\n"), patch: change("line2"), want: file("line1 \nchanged\nline3\t\n")},
		{id: "AP pass 3", files: file("\tline1\n\tline2\n\tline3\n"), patch: change("line2"), want: file("\tline1\nchanged\n\tline3\n")},
		{id: "AP pass 3 reversed", files: file("line1\nline2\nline3\n"), patch: change("  line2 "), want: file("line1\nchanged\nline3\n")},
		{id: "AP pass 4", files: file("a “b”\nsay “hi” — x…\nc — d\n"), patch: change(`say "hi" - x...`), want: file("a “b”\nchanged\nc — d\n")},
	}
}

// casePatchAllKinds is AP04: an add, a delete and an update in one request.
func casePatchAllKinds(t *testing.T) {
	d := newDesk(t, permission.Ask)
	d.put("modify.txt", "line1\nline2\n")
	d.put("delete.txt", "obsolete\n")
	res, err := d.patch(patchOf("*** Add File: nested/new.txt", "+created", "*** Delete File: delete.txt",
		"*** Update File: modify.txt", "@@", "-line2", "+changed"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{res.Title, res.Output} {
		if !strings.Contains(s, "Success. Updated the following files") {
			t.Errorf("it says %q", s)
		}
	}
	if diff, _ := res.Metadata["diff"].(string); !strings.Contains(diff, "Index:") {
		t.Errorf("the difference is %q", diff)
	}
	asks := d.asked("edit")
	if len(asks) != 1 || len(d.person.asks) != 1 {
		t.Fatalf("asked %v", d.person.asks)
	}
	files := at(t, asks[0]["metadata"], "files")
	var kinds []string
	for i := range 3 {
		kind, _ := at(t, files, i, "type").(string)
		kinds = append(kinds, kind)
	}
	if encoded(kinds) != `["add","delete","update"]` || at(t, files, 3) != nil {
		t.Errorf("the kinds are %v", kinds)
	}
	if at(t, files, 0, "relativePath") != filepath.FromSlash("nested/new.txt") || at(t, files, 0, "after") != "created\n" {
		t.Errorf("the added file is %v", at(t, files, 0))
	}
	before, _ := at(t, files, 2, "before").(string)
	after, _ := at(t, files, 2, "after").(string)
	if !strings.Contains(before, "line2") || !strings.Contains(after, "changed") {
		t.Errorf("the update is from %q to %q", before, after)
	}
	d.wantFiles(map[string]string{"nested/new.txt": "created\n", "modify.txt": "line1\nchanged\n"})
}

// casePatchMoveAsks is AP05. differs: apply_patch.move. The new name is one
// of those that are asked about.
func casePatchMoveAsks(t *testing.T) {
	d := newDesk(t, permission.Ask)
	d.put("old/name.txt", "old content\n")
	_, err := d.patch(patchOf("*** Update File: old/name.txt", "*** Move to: renamed/dir/name.txt", "@@", "-old content", "+new content"))
	if err != nil {
		t.Fatal(err)
	}
	asks := d.asked("edit")
	if len(asks) != 1 {
		t.Fatalf("asked %v", d.person.asks)
	}
	if want := []string{filepath.FromSlash("old/name.txt"), filepath.FromSlash("renamed/dir/name.txt")}; encoded(asks[0]["patterns"]) != encoded(want) {
		t.Errorf("asked about %v", asks[0]["patterns"])
	}
	files := at(t, asks[0]["metadata"], "files")
	want := map[string]any{
		"type": "move", "relativePath": filepath.FromSlash("renamed/dir/name.txt"), "movePath": filepath.Join(d.dir, "renamed", "dir", "name.txt"),
		"before": "old content\n", "after": "new content\n",
	}
	for key, value := range want {
		if got := at(t, files, 0, key); got != value {
			t.Errorf("%s is %v and not %v", key, got, value)
		}
	}
	if at(t, files, 1) != nil {
		t.Errorf("more than one file: %v", files)
	}
}

// TestCasesPatchLibrary are PL01 to PL20 as far as the tool shows them. PL06
// to PL09, patches on command lines, are cases of TestBody in internal/diff.
func TestCasesPatchLibrary(t *testing.T) {
	file := func(pairs ...string) map[string]string {
		m := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	three := file("old.txt", "x\n", "test.txt", "a\nb\n")
	for _, c := range []patchCase{
		// The reader adds no newline; the tool ends every line of a new file.
		{id: "PL01", patch: patchOf("*** Add File: test.txt", "+Hello World"), want: file("test.txt", "Hello World\n")},
		{id: "PL02", files: file("old.txt", "x\n", "kept.txt", "k"), patch: patchOf("*** Delete File: old.txt"), want: file("kept.txt", "k")},
		{id: "PL03", files: file("b.txt", "old\n"), patch: patchOf("*** Add File: a.txt", "+new", "*** Update File: b.txt", "@@", "-old", "+upd"),
			want: file("a.txt", "new\n", "b.txt", "upd\n")},
		{id: "PL04", files: file("old-name.txt", "Old content\n"),
			patch: patchOf("*** Update File: old-name.txt", "*** Move to: new-name.txt", "@@", "-Old content", "+New content"), want: file("new-name.txt", "New content\n")},
		{id: "PL05", patch: "This is not a patch", code: "patch-markers", part: "Invalid patch format"},
		{id: "PL10", patch: patchOf("*** Add File: n.txt", "+Hello World", "+This is a new file"), want: file("n.txt", "Hello World\nThis is a new file\n")},
		{id: "PL11", files: file("gone.txt", "x"), patch: patchOf("*** Delete File: gone.txt"), want: file()},
		{id: "PL12", files: file("m.txt", "line 1\nline 2\nline 3\n"), patch: patchOf("*** Update File: m.txt", "@@", " line 1", "-line 2", "+line 2 updated", " line 3"),
			want: file("m.txt", "line 1\nline 2 updated\nline 3\n")},
		{id: "PL13", files: file("old.txt", "old content\n"), patch: patchOf("*** Update File: old.txt", "*** Move to: new.txt", "@@", "-old content", "+new content"),
			want: file("new.txt", "new content\n")},
		{id: "PL14", files: three, patch: patchOf("*** Add File: n.txt", "+n", "*** Update File: test.txt", "@@", "-a", "+A", "*** Delete File: old.txt"),
			want: file("n.txt", "n\n", "test.txt", "A\nb\n")},
		{id: "PL15", patch: patchOf("*** Add File: deep/er/still/f.txt", "+x"), want: file("deep/er/still/f.txt", "x\n")},
		{id: "PL16", patch: patchOf("*** Update File: none.txt", "@@", "-a", "+b"), code: "not-found", part: "Failed to read file to update"},
		{id: "PL17", patch: patchOf("*** Delete File: none.txt"), code: "not-found", part: "no such file"},
		// differs: edit.bytes. What has no newline at its end keeps none; the
		// reference adds it. An empty file has no line that could lack one.
		{id: "PL18", files: file("e.txt", ""), patch: patchOf("*** Update File: e.txt", "@@", "+First line"), want: file("e.txt", "First line\n")},
		{id: "PL19", files: file("n.txt", "no newline"), patch: patchOf("*** Update File: n.txt", "@@", "-no newline", "+has newline now"), want: file("n.txt", "has newline now")},
		{id: "PL20", files: file("f.txt", "line 1\nline 2\nline 3\nline 4\n"),
			patch: patchOf("*** Update File: f.txt", "@@", " line 1", "-line 2", "+LINE 2", "@@", " line 3", "-line 4", "+LINE 4"),
			want:  file("f.txt", "line 1\nLINE 2\nline 3\nLINE 4\n")},
	} {
		t.Run(c.id, c.run)
	}
}

// A patch needs no earlier read: the lines it quotes show what it is for.
func TestPatchNeedsNoRead(t *testing.T) {
	d := newDesk(t, permission.Allow, func(o *helve.Options) { o.Unread = false })
	d.put("f.txt", "one\n")
	if _, err := d.patch(patchOf("*** Update File: f.txt", "@@", "-one", "+two")); err != nil || d.get("f.txt") != "two\n" {
		t.Errorf("got %q: %v", d.get("f.txt"), err)
	}
}
