//go:build unix

package custom

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A helper folder that is linked into the user's config folder is part of it, and none of a project's.
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
