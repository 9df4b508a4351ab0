package builtin_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// reach makes a call of each file tool for a file or folder, whether or not
// it comes to anything, and returns what was asked about leaving the
// workspace for each.
func reach(d *desk, path string, names ...string) map[string][]string {
	d.t.Helper()
	args := map[string]map[string]any{
		"read":        {"filePath": path},
		"write":       {"filePath": path, "content": "x"},
		"edit":        {"filePath": path, "oldString": "no such text", "newString": "x"},
		"multiedit":   {"filePath": path, "edits": []any{map[string]any{"oldString": "no such text", "newString": "x"}}},
		"apply_patch": {"patchText": patchOf("*** Update File: "+path, "@@", "-no such text", "+x")},
		"list":        {"path": path},
	}
	out := map[string][]string{}
	for _, name := range names {
		before := len(d.outside())
		_, _ = d.call(name, args[name]) // it may well fail; what counts is what was asked
		out[name] = d.outside()[before:]
	}
	return out
}

// wantReach checks that each of the tools has asked for the same.
func wantReach(d *desk, path string, tools []string, want ...string) {
	d.t.Helper()
	for name, got := range reach(d, path, tools...) {
		if !slices.Equal(got, want) {
			d.t.Errorf("%s of %s asked for %q and not %q", name, path, got, want)
		}
	}
}

// TestCasesExternal are ED01 to ED05, for every tool that takes a name.
func TestCasesExternal(t *testing.T) {
	files, all := []string{"read", "write", "edit", "multiedit", "apply_patch"}, []string{"read", "list"}
	t.Run("ED01", func(t *testing.T) {
		d := newDesk(t, permission.Ask)
		if _, err := d.call("list", map[string]any{}); err != nil || d.outside() != nil {
			t.Errorf("asked for %v: %v", d.outside(), err)
		}
	})
	t.Run("ED02", func(t *testing.T) {
		d := newDesk(t, permission.Ask)
		wantReach(d, d.put("file.txt", "x"), files)
		wantReach(d, filepath.Join(d.dir, "new.txt"), files)
	})
	t.Run("ED03", func(t *testing.T) {
		d := newDesk(t, permission.Ask)
		wantReach(d, filepath.Join(d.out, "file.txt"), files, filepath.Join(d.out, "*"))
		for _, ask := range d.asked("external_directory") {
			if encoded(ask["patterns"]) != encoded(ask["always"]) {
				t.Errorf("for always it would be %v", ask["always"])
			}
		}
	})
	t.Run("ED04", func(t *testing.T) {
		d := newDesk(t, permission.Ask)
		wantReach(d, d.out, []string{"list"}, filepath.Join(d.out, "*"))
		ask := d.asked("external_directory")[0]
		if encoded(ask["patterns"]) != encoded(ask["always"]) {
			t.Errorf("for always it would be %v", ask["always"])
		}
	})
	// NC02: a read of a folder asks for that folder, and not for all beside it.
	t.Run("ED04 read", func(t *testing.T) {
		d := newDesk(t, permission.Ask)
		wantReach(d, d.out, []string{"read"}, filepath.Join(d.out, "*"))
	})
	// The reference's own code may switch the question off. Here nobody may,
	// least of all the one who calls.
	t.Run("ED05", func(t *testing.T) {
		d := newDesk(t, permission.Ask)
		write(t, filepath.Join(d.out, "a.txt"), []byte("x"))
		_, _ = d.call("read", map[string]any{"filePath": filepath.Join(d.out, "a.txt"), "bypass": true, "bypassCwdCheck": true})
		for _, name := range all {
			wantReach(d, filepath.Join(d.out, "sub", "x"), []string{name}, map[string]string{
				"read": filepath.Join(d.out, "sub", "*"), "list": filepath.Join(d.out, "sub", "x", "*"),
			}[name])
		}
		if got := d.outside(); got[0] != filepath.Join(d.out, "*") {
			t.Errorf("asked for %v", got)
		}
	})
}

// TestCasesContains are CP01 to CP15, through read and list. The reference's
// file API refuses what lies outside; a tool asks, and a no is a refusal.
func TestCasesContains(t *testing.T) {
	asks := []string{"read", "write"}
	stay := func(o *helve.Options) {
		o.Agents = agent.Specs(agent.SpecOptions{Worktree: o.Worktree, User: permission.Ruleset{
			{Permission: "*", Pattern: "*", Action: permission.Allow},
			{Permission: "external_directory", Pattern: "*", Action: permission.Deny},
		}})
	}
	t.Run("CP01 CP10", func(t *testing.T) {
		d := newDesk(t, permission.Ask)
		d.put("src/file.ts", "x")
		for _, path := range []string{d.dir, filepath.Join(d.dir, "src"), filepath.Join(d.dir, "src", "file.ts")} {
			wantReach(d, path, []string{"read", "list"})
		}
	})
	t.Run("CP02 CP03 CP04 CP13", func(t *testing.T) {
		d := newDesk(t, permission.Ask)
		base := filepath.Dir(d.dir)
		for path, want := range map[string]string{
			d.dir + "/../etc/x":           base + "/etc/*",
			d.dir + "/src/../../etc/x":    base + "/etc/*",
			"/etc/passwd":                 "/etc/*",
			base + "/sibling/file":        base + "/sibling/*",
			d.dir + "-other/file":         d.dir + "-other/*",
			d.dir + "file":                base + "/*",
			d.dir + "/../escape.txt":      base + "/*",
			"src/../../escape.txt":        base + "/*",
			d.dir + "/..project/../../up": base + "/*",
		} {
			wantReach(d, filepath.FromSlash(path), []string{"read"}, filepath.FromSlash(want))
		}
		wantReach(d, filepath.Join(d.dir, "..foo", "file"), asks)
	})
	for id, path := range map[string]string{"CP05": "../../../../../../../../../etc/passwd", "CP06": "src/nested/../../../../../../../../../../etc/passwd"} {
		t.Run(id, func(t *testing.T) {
			d := newDesk(t, permission.Allow, stay)
			if res, err := d.read(path); tool.KindOf(err) != tool.Denied || res != nil {
				t.Errorf("got %v: %v", res, err)
			}
		})
	}
	t.Run("CP07", func(t *testing.T) {
		d := newDesk(t, permission.Allow)
		d.put("valid.txt", "valid content")
		if res := d.mustRead("valid.txt"); res.Output != "<file>\n00001| valid content\n\n(End of file - total 1 lines)\n</file>" {
			t.Errorf("got %q", res.Output)
		}
	})
	t.Run("CP08", func(t *testing.T) {
		d := newDesk(t, permission.Allow, stay)
		if res, err := d.call("list", map[string]any{"path": "../../../../../../../../../etc"}); tool.KindOf(err) != tool.Denied || res != nil {
			t.Errorf("got %v: %v", res, err)
		}
	})
	t.Run("CP09", func(t *testing.T) {
		d := newDesk(t, permission.Allow)
		d.put("subdir/a.txt", "x")
		d.put("subdir/deeper/b.txt", "x")
		res, err := d.call("list", map[string]any{"path": "subdir"})
		if want := filepath.Join(d.dir, "subdir") + "/\n  deeper/\n    b.txt\n  a.txt\n"; err != nil || res.Output != want {
			t.Errorf("got %+v: %v", res, err)
		}
	})
	t.Run("CP11 CP12", caseOpenedBelow)
	t.Run("CP14", func(t *testing.T) {
		d := newDesk(t, permission.Ask)
		wantReach(d, filepath.Join(d.dir, "file.txt"), asks)
		wantReach(d, filepath.Join(d.out, "file.txt"), asks, filepath.Join(d.out, "*"))
	})
	t.Run("CP15", func(t *testing.T) {
		d := newDesk(t, permission.Ask, func(o *helve.Options) { o.Worktree = "/" })
		wantReach(d, d.put("file.txt", "x"), asks)
		wantReach(d, "/etc/passwd", []string{"read"}, "/etc/*")
	})
}

// caseOpenedBelow is CP11 and CP12: a session in a package of a larger
// repository may reach all of that.
func caseOpenedBelow(t *testing.T) {
	d := newDesk(t, permission.Ask, func(o *helve.Options) {
		o.Dir = filepath.Join(o.Worktree, "packages", "lib")
		mkdir(t, o.Dir)
	})
	for _, path := range []string{"packages/other/src/index.ts", ".opencode/plan.md", "packages/lib/a.ts", "README.md"} {
		wantReach(d, d.put(path, "x"), []string{"read"})
	}
	wantReach(d, d.dir, []string{"list"})
	wantReach(d, "/etc/passwd", []string{"read"}, "/etc/*")
	wantReach(d, filepath.Join(d.out, "other-project", "f"), []string{"read"}, filepath.Join(d.out, "other-project", "*"))
}
