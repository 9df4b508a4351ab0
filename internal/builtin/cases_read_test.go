package builtin_test

import (
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// numberedLines are n lines, from line0 on.
func numberedLines(n int) string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("line%d", i)
	}
	return strings.Join(lines, "\n")
}

// A readCase is a file, a read of it, and what is shown.
type readCase struct {
	id, name, text string
	args           map[string]any
	has, lacks     []string
	truncated      bool
}

func (c readCase) run(t *testing.T) {
	t.Helper()
	d := newDesk(t, permission.Allow)
	path := d.put(c.name, c.text)
	res, err := d.call("read", merge(map[string]any{"filePath": path}, c.args))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range c.has {
		if !strings.Contains(res.Output, s) {
			t.Errorf("%q is not shown: %.300q", s, res.Output)
		}
	}
	for _, s := range c.lacks {
		if strings.Contains(res.Output, s) {
			t.Errorf("%q is shown: %.300q", s, res.Output)
		}
	}
	if res.Metadata["truncated"] != c.truncated || len(res.Attachments) > 0 {
		t.Errorf("truncated is %v, attached is %v", res.Metadata["truncated"], res.Attachments)
	}
}

// TestCasesRead are RD01 to RD28 and RB01 to RB08, but for those about
// permissions and instructions, which come below.
func TestCasesRead(t *testing.T) {
	var rows []string
	for i := range 2000 {
		rows = append(rows, fmt.Sprintf(`{"id": %d, "name": "a row of a larger table"}`, i))
	}
	table := "[\n" + strings.Join(rows, ",\n") + "\n]\n"
	for _, c := range []readCase{
		{id: "RD01", name: "test.txt", text: "hello world", has: []string{"hello world"}},
		{id: "RD02", name: "subdir/test.txt", text: "nested content", has: []string{"nested content"}},
		{id: "RD20", name: "large.json", text: table, has: []string{"Output truncated at", "bytes"}, truncated: true},
		// Of one long line only the beginning is shown, and the byte limit is
		// not reached by that.
		{id: "RD20 one line", name: "large.json", text: strings.Join(rows, ","), has: []string{`{"id": 0,`, "...", "End of file"}},
		{id: "RD21", name: "lines.txt", text: numberedLines(100), args: map[string]any{"limit": 10},
			has: []string{"File has more lines", "line0", "line9"}, lacks: []string{"line10"}, truncated: true},
		{id: "RD22", name: "small.txt", text: "hello world", has: []string{"End of file"}},
		{id: "RD23", name: "lines.txt", text: numberedLines(20), args: map[string]any{"offset": 10, "limit": 5},
			has: []string{"line10", "line14"}, lacks: []string{"line0", "line15"}, truncated: true},
		{id: "RD24", name: "long.txt", text: strings.Repeat("x", 3000), has: []string{"..."}, lacks: []string{strings.Repeat("x", 2001)}},
		{id: "RD27", name: "schema.fbs", text: "namespace MyGame;\n\ntable Monster {\n}\n", has: []string{"namespace MyGame", "table Monster"}},
		// differs: read.content.
		{id: "RB02", name: "module.wasm", text: "not really wasm", has: []string{"not really wasm"}},
		{id: "RB05 bmp", name: "a.bmp", text: "just words", has: []string{"just words"}},
		{id: "RB05 tiff", name: "a.tiff", text: "just words", has: []string{"just words"}},
		{id: "RB05 avif", name: "a.avif", text: "just words", has: []string{"just words"}},
		{id: "RB06", name: "big.txt", text: strings.Repeat(strings.Repeat("y", 1023)+"\n", 4096), has: []string{"Output truncated at", "beyond line 50)"}, truncated: true},
	} {
		t.Run(c.id, c.run)
	}
	t.Run("RD24 length", func(t *testing.T) {
		d := newDesk(t, permission.Allow)
		d.put("long.txt", strings.Repeat("x", 3000))
		if res := d.mustRead("long.txt"); len(res.Output) >= 3000 {
			t.Errorf("%d bytes are shown", len(res.Output))
		}
	})
	t.Run("RB01", func(t *testing.T) {
		d := newDesk(t, permission.Allow)
		d.put("null.txt", "hello\x00world")
		_, err := d.read("null.txt")
		wantFail(t, err, "binary", "Cannot read binary file")
	})
	t.Run("RB06 edited", caseCappedAndEdited)
}

// caseCappedAndEdited is RB06 from the other side. differs:
// write.contents_decide. A file of some megabytes is looked at whole, though
// little of it is shown, so that it can be known again.
func caseCappedAndEdited(t *testing.T) {
	d := newDesk(t, permission.Allow)
	text := strings.Repeat("a line of some words\n", 200_000) + "the last one\n"
	path := d.put("big.txt", text)
	d.mustRead("big.txt")
	aged(t, path, 3600)
	if _, err := d.edit("big.txt", "the last one", "the very last"); err != nil {
		t.Error(err)
	}
	d.mustRead("big.txt")
	d.put("big.txt", strings.Replace(text, "last one", "last 1!!", 1))
	_, err := d.edit("big.txt", "the last", "my last")
	wantFail(t, err, "changed-on-disk", "modified since it was last read")
}

// TestCasesReadMedia are RD25, RD26, RB03 and RB04.
func TestCasesReadMedia(t *testing.T) {
	jpegOf := func(w io.Writer, i image.Image) error { return jpeg.Encode(w, i, nil) }
	for _, c := range []struct{ id, name, data, mime string }{
		{"RD25", "image.png", picture(t, 1, 1, png.Encode), "image/png"},
		{"RD26", "large.png", picture(t, 1200, 900, png.Encode), ""}, // may be sent as another kind, where that is smaller
		{"RB04", "image.bin", picture(t, 8, 8, jpegOf), "image/jpeg"},
	} {
		t.Run(c.id, func(t *testing.T) {
			d := newDesk(t, permission.Allow)
			d.put(c.name, c.data)
			res := d.mustRead(c.name)
			if !strings.HasPrefix(res.Output, "Image read successfully") || res.Metadata["truncated"] != false {
				t.Errorf("it says %q, %v", res.Output, res.Metadata)
			}
			if len(res.Attachments) != 1 || res.Attachments[0].Type != "file" || !strings.HasPrefix(res.Attachments[0].Mime, "image/") {
				t.Fatalf("attached is %.200s", encoded(res.Attachments))
			}
			if c.mime != "" && res.Attachments[0].Mime != c.mime {
				t.Errorf("its kind is %s", res.Attachments[0].Mime)
			}
		})
	}
	t.Run("RB03", func(t *testing.T) {
		d := newDesk(t, permission.Allow)
		d.put("image.png", picture(t, 1, 1, png.Encode))
		var keys map[string]json.RawMessage
		if err := json.Unmarshal([]byte(encoded(d.mustRead("image.png").Attachments[0])), &keys); err != nil {
			t.Fatal(err)
		}
		delete(keys, "id") // the runtime's, not the tool's
		if got := slices.Sorted(maps.Keys(keys)); encoded(got) != `["mime","type","url"]` {
			t.Errorf("an attachment has %v", got)
		}
	})
}

// TestCasesReadEnv are RD06 to RD19: what the default rules ask about.
func TestCasesReadEnv(t *testing.T) {
	d := newDesk(t, permission.Allow, func(o *helve.Options) {
		o.Unattended, o.Agents = true, agent.Specs(agent.SpecOptions{Worktree: o.Worktree})
	})
	id := 6
	for _, agent := range []string{"build", "plan"} {
		for _, name := range []string{".env", ".env.local", ".env.production", ".env.development.local", ".env.example", ".envrc", "environment.ts"} {
			t.Run(fmt.Sprintf("RD%02d", id), func(t *testing.T) {
				d.put(name, "content")
				_, err := d.rt.Call(t.Context(), tool.Call{Agent: agent, Tool: "read", Input: asInput(t, map[string]any{"filePath": name})})
				asks := strings.HasPrefix(name, ".env") && name != ".env.example" && name != ".envrc"
				if got := tool.KindOf(err) == tool.Unattended; got != asks || err != nil && !asks {
					t.Errorf("%s by %s: %v", name, agent, err)
				}
			})
			id++
		}
	}
}

// TestCasesReadAsks are RD03 to RD05, RB07 and RB08.
func TestCasesReadAsks(t *testing.T) {
	for _, id := range []string{"RD03", "RB08"} {
		t.Run(id, func(t *testing.T) {
			d := newDesk(t, permission.Ask)
			path := filepath.Join(d.out, "secret.txt")
			write(t, path, []byte("secret data"))
			d.mustRead(path)
			if got := d.outside(); encoded(got) != encoded([]string{filepath.Join(d.out, "*")}) {
				t.Errorf("asked for %v", got)
			}
		})
	}
	t.Run("RD04", func(t *testing.T) {
		d := newDesk(t, permission.Ask)
		_, err := d.read("../outside.txt")
		wantFail(t, err, "not-found", "File not found")
		if got := d.outside(); encoded(got) != encoded([]string{filepath.Join(filepath.Dir(d.dir), "*")}) {
			t.Errorf("asked for %v", got)
		}
		if first := d.person.asks[0].(map[string]any); first["permission"] != "external_directory" {
			t.Errorf("first asked for %v", first)
		}
	})
	t.Run("RD05", func(t *testing.T) {
		d := newDesk(t, permission.Ask)
		d.put("internal.txt", "internal content")
		d.mustRead("internal.txt")
		if got := d.outside(); got != nil || len(d.asked("read")) != 1 {
			t.Errorf("asked for %v", d.person.asks)
		}
	})
	// A rule may name a file from the worktree, as one of edit does. The
	// request itself holds the absolute path, as the reference's does.
	t.Run("RB07", func(t *testing.T) {
		d := newDesk(t, permission.Allow, func(o *helve.Options) {
			o.Agents = agent.Specs(agent.SpecOptions{Worktree: o.Worktree, User: permission.Ruleset{
				{Permission: "*", Pattern: "*", Action: permission.Allow},
				{Permission: "read", Pattern: "src/secret.ts", Action: permission.Deny},
				{Permission: "edit", Pattern: "src/secret.ts", Action: permission.Deny},
			}})
		})
		d.put("src/secret.ts", "hidden")
		d.put("src/other.ts", "shown")
		d.mustRead("src/other.ts")
		if _, err := d.read("src/secret.ts"); tool.KindOf(err) != tool.Denied {
			t.Errorf("read: %v", err)
		}
		if _, err := d.patch(patchOf("*** Update File: src/secret.ts", "@@", "-hidden", "+x")); tool.KindOf(err) != tool.Denied {
			t.Errorf("edit: %v", err)
		}
	})
}

// TestCasesInstructions are RD28 and IB01 to IB04. IB05 to IB07 are about the
// prompt of a session, which is the host's to make: this runtime has none,
// and gives no instructions of the working folder or of the user.
func TestCasesInstructions(t *testing.T) {
	const text = "# Use tabs\n"
	has := func(res *tool.Result) bool { return strings.Contains(res.Output, text) }
	setUp := func(t *testing.T) (*desk, string) {
		d := newDesk(t, permission.Allow)
		for _, name := range []string{"sub/nested/test.txt", "sub/nested/more.txt", "top.txt"} {
			d.put(name, "file of "+name)
		}
		return d, d.put("sub/AGENTS.md", text)
	}
	t.Run("RD28", func(t *testing.T) {
		d, agents := setUp(t)
		res := d.mustRead("sub/nested/test.txt")
		for _, s := range []string{"file of sub/nested/test.txt", "<system-reminder>", "Instructions from: " + agents + "\n" + text} {
			if !strings.Contains(res.Output, s) {
				t.Errorf("%q is not in %q", s, res.Output)
			}
		}
		if !contains(at(t, res.Metadata, "loaded"), agents) {
			t.Errorf("loaded is %v", res.Metadata["loaded"])
		}
	})
	// differs: read.instructions.
	t.Run("IB01", func(t *testing.T) {
		d, _ := setUp(t)
		res := d.mustRead("sub/AGENTS.md")
		if strings.Contains(res.Output, "system-reminder") || res.Metadata["loaded"] != nil {
			t.Errorf("got %q", res.Output)
		}
		if has(d.mustRead("sub/nested/test.txt")) {
			t.Error("what was just read is given again")
		}
	})
	t.Run("IB02 IB04", func(t *testing.T) {
		d, _ := setUp(t)
		first, second := d.mustRead("sub/nested/test.txt"), d.mustRead("sub/nested/more.txt")
		if !has(first) || has(second) || second.Metadata["loaded"] != nil {
			t.Errorf("first %q, then %q", first.Output, second.Output)
		}
	})
	// There is no clear: what a session was given it has. Another session is
	// given it too, and so is this one when it has changed.
	t.Run("IB03", func(t *testing.T) {
		d, agents := setUp(t)
		d.mustRead("sub/nested/test.txt")
		res, err := d.callIn("another", "read", map[string]any{"filePath": "sub/nested/test.txt"})
		if err != nil || !has(res) {
			t.Errorf("in another session: %v, %v", res, err)
		}
		if err := os.WriteFile(agents, []byte(text+"And spaces.\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if res := d.mustRead("sub/nested/more.txt"); !strings.Contains(res.Output, "And spaces.") {
			t.Errorf("after a change: %q", res.Output)
		}
	})
	t.Run("IB05 IB06 IB07", func(t *testing.T) {
		d, _ := setUp(t)
		for _, name := range []string{"AGENTS.md", "CLAUDE.md"} {
			d.put(name, "of the working folder")
		}
		if res := d.mustRead("top.txt"); strings.Contains(res.Output, "system-reminder") {
			t.Errorf("got %q", res.Output)
		}
	})
}
