//go:build unix

package custom

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helve-dev/helve/plugin"
)

// A helper folder that is linked into the user's config folder is part of it, and none of a
// project's.
func TestStowed(t *testing.T) {
	elsewhere := realTemp(t)
	plant(t, elsewhere, "-- lib/x.ts --\nexport const x = 'stowed'\n")
	for _, project := range []bool{false, true} {
		b := newBench(t, `
-- tools/a.ts --
import { x } from "../lib/x"
export default { description: "d", args: {}, execute: () => x }
`, func(b *bench, o *Options) {
			o.Folders[0].Project = project
			if err := os.Symlink(filepath.Join(elsewhere, "lib"), filepath.Join(b.root, "lib")); err != nil {
				t.Fatal(err)
			}
		})
		b.set.Gather(t.Context())
		want := []string{"a"}
		if project {
			want = nil
		}
		if diff := cmp.Diff(want, b.names()); diff != "" {
			t.Errorf("project %v: %s", project, diff)
		}
	}
}

// Links of the user's that lead out of the config folder are followed wherever they are in it;
// those of others are not, nor those to files of others.
func TestStowedLinks(t *testing.T) {
	const x = `
-- tools/a.ts --
import { x } from "../LIB"
export default { description: "d", args: {}, execute: () => x }
`
	tests := []struct {
		name  string
		lib   string            // what the tool imports
		links map[string]string // in the config folder: what they lead to in the other
		other []string          // what belongs to somebody else: * stands for the other folder
		want  bool
	}{
		{name: "a file", lib: "x", links: map[string]string{"x.ts": "lib/x.ts"}, want: true},
		{name: "a file in a folder", lib: "lib/x", links: map[string]string{"lib/x.ts": "lib/x.ts"}, want: true},
		{name: "a folder in a folder", lib: "src/lib/x", links: map[string]string{"src/lib": "lib"}, want: true},
		{name: "a linked folder with a link in it", lib: "lib/y", links: map[string]string{"lib": "more"}, want: true},
		{name: "an installed package", lib: "node_modules/@me/p/x", links: map[string]string{"node_modules/@me/p": "lib"}, want: true},
		{name: "a tool", lib: "lib/x", links: map[string]string{"tools/b.ts": "b.ts", "lib": "lib"}, want: true},
		{name: "a link of somebody else", lib: "lib/x", links: map[string]string{"lib": "lib"}, other: []string{"lib"}},
		{name: "a folder of somebody else", lib: "lib/x", links: map[string]string{"lib": "lib"}, other: []string{"*/lib"}},
		{name: "a file of somebody else", lib: "x", links: map[string]string{"x.ts": "lib/x.ts"}, other: []string{"*/lib/x.ts"}},
		{name: "a link on the way of somebody else", lib: "lib/x", links: map[string]string{"lib": "way/lib"}, other: []string{"*/way/lib"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			elsewhere := realTemp(t)
			plant(t, elsewhere, "-- lib/x.ts --\nexport const x = 'stowed'\n-- b.ts --\nexport const x = 1\n-- more/.keep --\n-- way/.keep --\n")
			for name, to := range map[string]string{"more/y.ts": "lib/x.ts", "way/lib": "lib"} {
				if err := os.Symlink(filepath.Join(elsewhere, to), filepath.Join(elsewhere, name)); err != nil {
					t.Fatal(err)
				}
			}
			b := newBench(t, strings.ReplaceAll(x, "LIB", test.lib), func(b *bench, _ *Options) {
				for name, to := range test.links {
					path := filepath.Join(b.root, name)
					if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.Symlink(filepath.Join(elsewhere, to), path); err != nil {
						t.Fatal(err)
					}
				}
				for _, name := range test.other {
					path := filepath.Join(b.root, name)
					if rest, ok := strings.CutPrefix(name, "*/"); ok {
						path = filepath.Join(elsewhere, rest)
					}
					if err := os.Lchown(path, 12345, -1); err != nil {
						t.Skip("only root can give files to others:", err)
					}
				}
			})
			b.set.Gather(t.Context())
			if got := slices.Contains(b.names(), "a"); got != test.want {
				t.Errorf("the tool is there: %v, want %v; %+v", got, test.want, b.set.Status())
			}
		})
	}
}

// A tool, plugin or program that is linked into place is only used if the link and the file are the
// user's.
func TestStrangeLinks(t *testing.T) {
	elsewhere := realTemp(t)
	plant(t, elsewhere, `
-- a.ts --
export default { description: "d", args: {}, execute: () => "" }
-- b.sh --
#!/bin/sh
echo '{"description":"d","parameters":{"type":"object"}}'
-- tools/c.ts --
export default { description: "d", args: {}, execute: () => "" }
`)
	b := newBench(t, "-- package.json --\n{}\n", func(b *bench, o *Options) {
		o.Shell = newShell(t, b.root)
		if err := errors.Join(
			os.Chmod(filepath.Join(elsewhere, "b.sh"), 0o755), os.Mkdir(filepath.Join(b.root, "tool"), 0o755),
			os.Symlink(filepath.Join(elsewhere, "a.ts"), filepath.Join(b.root, "tool", "a.ts")),
			os.Symlink(filepath.Join(elsewhere, "b.sh"), filepath.Join(b.root, "tool", "b.sh")),
			os.Symlink(filepath.Join(elsewhere, "tools"), filepath.Join(b.root, "tools")),
		); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{filepath.Join(elsewhere, "a.ts"), filepath.Join(b.root, "tool", "b.sh"), filepath.Join(b.root, "tools")} {
			if err := os.Lchown(path, 12345, -1); err != nil {
				t.Skip("only root can give files to others:", err)
			}
		}
	})
	b.set.Gather(t.Context())
	if got := b.names(); len(got) > 0 {
		t.Errorf("tools %q are there", got)
	}
	files := b.set.Status()
	if len(files) != 3 {
		t.Errorf("%d files are told of, want 3", len(files))
	}
	for _, f := range files {
		if f.State != plugin.Failed || !strings.Contains(f.Problem, "belongs to somebody else") {
			t.Errorf("%s: %s, %q", f.Path, f.State, f.Problem)
		}
	}
}
