package builtin_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// search makes a call that has to succeed.
func (d *desk) search(name string, args map[string]any) *tool.Result {
	d.t.Helper()
	res, err := d.call(name, args)
	if err != nil {
		d.t.Fatal(err)
	}
	return res
}

// TestCasesGrep are GR01 to GR06 and GB04.
func TestCasesGrep(t *testing.T) {
	t.Run("GR01", func(t *testing.T) {
		d := newDesk(t, permission.Allow)
		d.put("src/a.ts", "export const a = 1\n")
		d.put("src/b.js", "export const b = 1\n")
		res := d.search("grep", map[string]any{"pattern": "export", "path": filepath.Join(d.dir, "src"), "include": "*.ts"})
		if res.Metadata["matches"] != 1 || !strings.HasPrefix(res.Output, "Found 1 matches\n") {
			t.Errorf("%v %q", res.Metadata, res.Output)
		}
	})
	t.Run("GR02", func(t *testing.T) {
		d := newDesk(t, permission.Allow)
		d.put("a.txt", "hello world")
		res := d.search("grep", map[string]any{"pattern": "xyznonexistentpatternxyz123"})
		if res.Metadata["matches"] != 0 || res.Output != "No files found" {
			t.Errorf("%v %q", res.Metadata, res.Output)
		}
	})
	for id, text := range map[string]string{
		"GR03": "line1\nline2\nline3", "GR04": "line1\nline2\nline3\n",
		"GR05": "line1\r\nline2\r\nline3\r\n", "GR06": "line1\nline2\r\nline3\n",
	} {
		t.Run(id, func(t *testing.T) {
			d := newDesk(t, permission.Allow)
			name := d.put("a.txt", text)
			res := d.search("grep", map[string]any{"pattern": "line"})
			want := "Found 3 matches\n" + name + ":\n  Line 1: line1\n  Line 2: line2\n  Line 3: line3"
			if res.Output != want {
				t.Errorf("got %q", res.Output)
			}
		})
	}
	t.Run("GB04", func(t *testing.T) {
		d := newDesk(t, permission.Allow)
		name := d.put("a.txt", "line1\nline2\nline3\n")
		res := d.search("grep", map[string]any{"pattern": "line2", "path": name})
		if res.Metadata["matches"] != 1 || !strings.Contains(res.Output, name+":\n  Line 2: line2") {
			t.Errorf("%v %q", res.Metadata, res.Output)
		}
	})
}

// TestCasesGlob are GB01 to GB03 and GB05 to GB09.
func TestCasesGlob(t *testing.T) {
	t.Run("GB01", func(t *testing.T) {
		d := newDesk(t, permission.Allow)
		name := d.put("a.ts", "")
		d.put("b.txt", "")
		res := d.search("glob", map[string]any{"pattern": "*.ts", "path": d.dir})
		if res.Metadata["count"] != 1 || res.Output != name {
			t.Errorf("%v %q", res.Metadata, res.Output)
		}
	})
	t.Run("GB02", func(t *testing.T) {
		d := newDesk(t, permission.Allow)
		name := d.put("a.ts", "")
		if _, err := d.call("glob", map[string]any{"pattern": "*", "path": name}); err == nil || !strings.Contains(err.Error(), "glob path must be a directory") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("GB03", func(t *testing.T) {
		d := newDesk(t, permission.Allow)
		for i := range 101 {
			d.put(fmt.Sprintf("f%d.txt", i), "")
		}
		res := d.search("glob", map[string]any{"pattern": "*.txt"})
		if res.Metadata["truncated"] != true || !strings.Contains(res.Output, "truncated. Consider using a more specific path or pattern.)") {
			t.Errorf("%v %q", res.Metadata, res.Output)
		}
	})
	t.Run("GB05", func(t *testing.T) {
		d := newDesk(t, permission.Allow)
		d.put("real/a.txt", "needle\n")
		alias := filepath.Join(d.dir, "alias")
		if err := os.Symlink("real", alias); err != nil {
			t.Skip(err)
		}
		res := d.search("grep", map[string]any{"pattern": "needle", "path": "alias"})
		if !strings.Contains(res.Output, filepath.Join(alias, "a.txt")+":") {
			t.Errorf("got %q", res.Output)
		}
		if d.outside() != nil {
			t.Errorf("asked for %v", d.outside())
		}
	})
	t.Run("GB06", func(t *testing.T) {
		d := newDesk(t, permission.Allow)
		d.put(".hidden/x.txt", "")
		if res := d.search("glob", map[string]any{"pattern": "*.txt"}); res.Metadata["count"] != 1 {
			t.Errorf("got %q", res.Output)
		}
	})
	t.Run("GB07", func(t *testing.T) {
		d := newDesk(t, permission.Allow)
		d.put("packages/console/package.json", "")
		if res := d.search("glob", map[string]any{"pattern": "packages/*"}); res.Metadata["count"] != 0 {
			t.Errorf("got %q", res.Output)
		}
	})
	t.Run("GB08", func(t *testing.T) {
		d := newDesk(t, permission.Allow)
		missing := filepath.Join(d.dir, "nope")
		if _, err := d.call("glob", map[string]any{"pattern": "*", "path": missing}); err == nil || err.Error() != "No such file or directory: '"+missing+"'" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("GB09", func(t *testing.T) {
		t.Setenv("RIPGREP_CONFIG_PATH", filepath.Join(t.TempDir(), "missing"))
		d := newDesk(t, permission.Allow)
		d.put("a.txt", "needle")
		if res := d.search("grep", map[string]any{"pattern": "needle"}); res.Metadata["matches"] != 1 {
			t.Errorf("got %q", res.Output)
		}
	})
}

// What may not be read under one name is not shown under another, and
// neither is whether a pattern matches there.
func TestSearchKeepsOutWhatMayNotBeRead(t *testing.T) {
	d := newDesk(t, permission.Allow, func(opt *helve.Options) {
		opt.Agents = []agent.Spec{{Name: "test", Policy: permission.Policy{Rules: permission.Ruleset{
			{Permission: "*", Pattern: "*", Action: permission.Allow},
			{Permission: "read", Pattern: "*.env", Action: permission.Deny},
		}}}}
	})
	secret := d.put(".env", "TOKEN=abc\n")
	if err := os.Link(secret, filepath.Join(d.dir, "plain.txt")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink(".env", filepath.Join(d.dir, "link.txt")); err != nil {
		t.Skip(err)
	}
	hit := d.search("grep", map[string]any{"pattern": "TOKEN"})
	miss := d.search("grep", map[string]any{"pattern": "NOTHING"})
	if hit.Output != miss.Output || !strings.Contains(hit.Output, "1 file not searched: denied by rule") {
		t.Errorf("a pattern that matches there gives\n%s\nand one that does not\n%s", hit.Output, miss.Output)
	}
	for _, name := range []string{".env", "plain.txt", "link.txt"} {
		if res, err := d.call("grep", map[string]any{"pattern": "TOKEN", "path": name}); err == nil && strings.Contains(res.Output, "abc") {
			t.Errorf("%s is shown: %s", name, res.Output)
		}
	}
}

// Where every read is asked about and nobody was asked about the search, one
// question stands for the files of a folder.
func TestSearchAsksWhereReadsAre(t *testing.T) {
	rules := func(more ...permission.Rule) func(*helve.Options) {
		return func(opt *helve.Options) {
			all := append(permission.Ruleset{{Permission: "*", Pattern: "*", Action: permission.Allow}}, more...)
			opt.Agents = []agent.Spec{{Name: "test", Policy: permission.Policy{Rules: all}}}
		}
	}
	read := permission.Rule{Permission: "read", Pattern: "*", Action: permission.Ask}
	d := newDesk(t, permission.Ask, rules(read))
	name := d.put("a.txt", "needle\n")
	for _, path := range []string{d.dir, name} {
		before := len(d.person.asks)
		if res := d.search("grep", map[string]any{"pattern": "needle", "path": path}); res.Metadata["matches"] != 1 {
			t.Errorf("%s: %q", path, res.Output)
		}
		if got := d.person.asks[before:]; len(got) != 1 || got[0].(map[string]any)["permission"] != "read" {
			t.Errorf("%s: asked for %v", path, got)
		}
	}
	d = newDesk(t, permission.Ask, rules(read, permission.Rule{Permission: "grep", Pattern: "*", Action: permission.Ask}))
	d.put("a.txt", "needle\n")
	d.search("grep", map[string]any{"pattern": "needle"})
	if len(d.person.asks) != 1 {
		t.Errorf("asked for %v", d.person.asks)
	}
}

// A denied name stays denied whatever it leads to, and although the search
// itself was allowed by a person.
func TestSearchOfDeniedLink(t *testing.T) {
	d := newDesk(t, permission.Ask, func(opt *helve.Options) {
		opt.Agents = []agent.Spec{{Name: "test", Policy: permission.Policy{Rules: permission.Ruleset{
			{Permission: "*", Pattern: "*", Action: permission.Allow},
			{Permission: "grep", Pattern: "*", Action: permission.Ask},
			{Permission: "read", Pattern: "denied.txt", Action: permission.Deny},
		}}}}
	})
	d.put("ok.txt", "needle\n")
	if err := os.Symlink("ok.txt", filepath.Join(d.dir, "denied.txt")); err != nil {
		t.Skip(err)
	}
	if res, err := d.call("grep", map[string]any{"pattern": "needle", "path": "denied.txt"}); err == nil {
		t.Errorf("shown: %s", res.Output)
	}
}

// Advice about a pattern that found nothing says nothing about what is outside
// of the workspace.
func TestAdviceStaysInside(t *testing.T) {
	d := newDesk(t, permission.Allow)
	mkdir(t, filepath.Join(d.out, "there"))
	if err := os.Symlink(d.out, filepath.Join(d.dir, "link")); err != nil {
		t.Skip(err)
	}
	there := d.search("glob", map[string]any{"pattern": "link/there"})
	gone := d.search("glob", map[string]any{"pattern": "link/gone"})
	if there.Output != gone.Output || !strings.Contains(there.Output, "link is a link") {
		t.Errorf("%q and %q", there.Output, gone.Output)
	}
}

// The order is a choice, and a wrong one is told at the start.
func TestSearchOrder(t *testing.T) {
	for order, first := range map[string]string{"": "b.txt", "newest": "b.txt", "name": "a.txt"} {
		d := newDesk(t, permission.Allow, func(opt *helve.Options) { opt.Search = helve.Search{Order: order, Limit: 1} })
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(d.put("a.txt", "needle\n"), old, old); err != nil {
			t.Fatal(err)
		}
		d.put("b.txt", "needle\n")
		for _, name := range []string{"grep", "glob"} {
			res := d.search(name, map[string]any{"pattern": map[string]string{"grep": "needle", "glob": "*.txt"}[name]})
			if !strings.Contains(res.Output, first) || res.Metadata["truncated"] != true {
				t.Errorf("order %q: %s shows %q", order, name, res.Output)
			}
		}
	}
	d := newDesk(t, permission.Allow, func(opt *helve.Options) { opt.Search.Order = "first" })
	for i := range 150 {
		d.put(fmt.Sprintf("f%d.txt", i), "needle\n")
	}
	if res := d.search("grep", map[string]any{"pattern": "needle"}); res.Metadata["matches"] != 100 || res.Metadata["truncated"] != true {
		t.Errorf("%v", res.Metadata)
	}
	if _, err := helve.Open(helve.Options{Dir: t.TempDir(), Search: helve.Search{Order: "oldest"}}); err == nil {
		t.Error("an order that there is not is taken")
	}
}

// A search that is out of time says so, and gives what it has.
func TestSearchBudget(t *testing.T) {
	d := newDesk(t, permission.Allow, func(opt *helve.Options) { opt.Search = helve.Search{Budget: 1, Stateless: true} })
	for i := range 300 {
		d.put(fmt.Sprintf("d%d/f.txt", i), strings.Repeat("words\n", 1000))
	}
	if res := d.search("grep", map[string]any{"pattern": "needle"}); !strings.Contains(res.Output, "Stopped after 1ns") {
		t.Errorf("got %q", res.Output)
	}
}
