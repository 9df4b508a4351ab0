package builtin_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/permission"
)

// TestCasesWrite are WR01 to WR15, but for WR14, which needs a user who may
// not do everything.
func TestCasesWrite(t *testing.T) {
	t.Run("WR01 WR15", func(t *testing.T) {
		d := newDesk(t, permission.Allow)
		res, err := d.write("src/newfile.txt", "Hello, World!")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(res.Output, "Wrote file successfully") || res.Metadata["exists"] != false {
			t.Errorf("it says %q, %v", res.Output, res.Metadata)
		}
		if res.Title != filepath.FromSlash("src/newfile.txt") {
			t.Errorf("the title is %q", res.Title)
		}
		d.wantFiles(map[string]string{"src/newfile.txt": "Hello, World!"})
	})
	t.Run("WR04 WR07", func(t *testing.T) {
		d := newDesk(t, permission.Allow)
		path := d.put("f.txt", "old")
		d.mustRead("f.txt")
		res, err := d.write("f.txt", "new")
		if err != nil {
			t.Fatal(err)
		}
		if res.Metadata["exists"] != true || res.Metadata["filepath"] != path || d.get("f.txt") != "new" {
			t.Errorf("%v, and the file is %q", res.Metadata, d.get("f.txt"))
		}
	})
	for _, c := range []struct{ id, name, content string }{
		{"WR02", "deep/er/still/f.txt", "nested"},
		{"WR03", "relative.txt", "relative content"},
		{"WR09", "data.json", "{\n  \"key\": \"value\",\n  \"list\": [1, 2.5, null]\n}"},
		{"WR10", "binary.bin", "Hello\x00World\x01\x02\x03\x1b[0m"},
		{"WR11", "empty.txt", ""},
		{"WR12", "lines.txt", "Line 1\nLine 2\nLine 3\n\n"},
		{"WR13", "crlf.txt", "Line 1\r\nLine 2\r\nLine 3"},
	} {
		t.Run(c.id, func(t *testing.T) {
			d := newDesk(t, permission.Allow)
			if _, err := d.write(c.name, c.content); err != nil {
				t.Fatal(err)
			}
			d.wantFiles(map[string]string{c.name: c.content})
		})
	}
	t.Run("WR13 over LF", func(t *testing.T) {
		d := newDesk(t, permission.Allow)
		d.put("f.txt", "a\nb\n")
		d.mustRead("f.txt")
		if _, err := d.write("f.txt", "a\r\nb\r\nc\r\n"); err != nil || d.get("f.txt") != "a\r\nb\r\nc\r\n" {
			t.Errorf("the file is %q: %v", d.get("f.txt"), err)
		}
	})
	t.Run("as sent", func(t *testing.T) {
		d := newDesk(t, permission.Allow)
		for _, c := range []struct{ was, sent, want string }{
			{"#!/bin/sh\r\nexit\r\n", "#!/bin/sh\nexit\n", "#!/bin/sh\nexit\n"},
			{"a\r\nb\n", "a\nb\nc\n", "a\nb\nc\n"},
			{"a\rb\r", "a\nb\n", "a\nb\n"},
			{"a\n", "a\r\nb\n", "a\r\nb\n"},
			{"a\n", "\ufeffa\n", "\ufeffa\n"},
			{"\ufeffa\r\n", "a\n", "\ufeffa\n"},
			{"\xff\xfea\x00\r\x00\n\x00", "b\n", "\xff\xfeb\x00\n\x00"},
		} {
			path := d.put("f.txt", c.was)
			d.mustRead("f.txt")
			if _, err := d.write("f.txt", c.sent); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != c.want {
				t.Errorf("%q over %q is %q: %v", c.sent, c.was, got, err)
			}
			d.put("p.txt", c.was)
			lines := strings.Split(strings.TrimSuffix(c.sent, "\n"), "\n")
			if _, err := d.patch(patchOf("*** Add File: p.txt", "+"+strings.Join(lines, "\n+"))); err != nil || d.get("p.txt") != c.want {
				t.Errorf("%q by a patch over %q is %q: %v", c.sent, c.was, d.get("p.txt"), err)
			}
		}
	})
	t.Run("WR05", func(t *testing.T) {
		d := newDesk(t, permission.Allow)
		for _, content := range []string{"using Up;\n", "\ufeffusing Up;\n"} {
			d.put("f.cs", "\ufeffusing System;\n")
			d.mustRead("f.cs")
			if _, err := d.write("f.cs", content); err != nil || d.get("f.cs") != "\ufeffusing Up;\n" {
				t.Errorf("the file is %q: %v", d.get("f.cs"), err)
			}
		}
	})
	t.Run("WR06", caseFormatterDropsMark)
	t.Run("WR08", caseModeOfNew)
}

// caseFormatterDropsMark is WR06: a formatter takes the mark at the beginning
// away, and it is put back.
func caseFormatterDropsMark(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the formatter is a shell script")
	}
	script := filepath.Join(t.TempDir(), "strip.sh")
	write(t, script, []byte(`tail -c +4 "$1" | tr a-z A-Z > "$1.tmp" && cat "$1.tmp" > "$1" && rm "$1.tmp"`))
	d := newDesk(t, permission.Allow, func(o *helve.Options) {
		o.Formatters = &helve.Formatters{Own: []helve.Formatter{{Name: "strip", Command: []string{"sh", script, "$FILE"}, Extensions: []string{".cs"}}}}
	})
	d.put("f.cs", "\ufeffusing System;\n")
	d.mustRead("f.cs")
	if _, err := d.write("f.cs", "using Up;\n"); err != nil || d.get("f.cs") != "\ufeffUSING UP;\n" {
		t.Errorf("the file is %q: %v", d.get("f.cs"), err)
	}
	if _, err := d.edit("f.cs", "USING UP;", "using Down;"); err != nil || d.get("f.cs") != "\ufeffUSING DOWN;\n" {
		t.Errorf("the file is %q: %v", d.get("f.cs"), err)
	}
}

// caseModeOfNew is WR08: a new file has the mode that any program here would
// give it, which is 0644 with the usual umask.
func caseModeOfNew(t *testing.T) {
	d := newDesk(t, permission.Allow)
	if _, err := d.write("new.txt", "x"); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(d.dir, "usual.txt"))
	if err != nil {
		t.Fatal(err)
	}
	file.Close()
	modes := map[string]os.FileMode{}
	for _, name := range []string{"new.txt", "usual.txt"} {
		info, err := os.Stat(filepath.Join(d.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		modes[name] = info.Mode()
	}
	if modes["new.txt"] != modes["usual.txt"] {
		t.Errorf("the modes are %v", modes)
	}
}
