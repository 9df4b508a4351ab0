package custom

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What bun has to read is the folders and files that files are made of, not the config folder, and
// no package.
func TestImports(t *testing.T) {
	b := newBench(t, `
-- tools/a.ts --
import { x } from "../lib/deep/x"
import { y } from "../y"
import p from "p"
export default { description: x + y + p, args: {}, execute: () => "" }
-- lib/deep/x.ts --
export const x = "x"
-- y.ts --
export const y = "y"
-- secret.txt --
-- node_modules/p/index.js --
module.exports = "p"
`, nil)
	b.set.Gather(t.Context())
	got := b.set.units[0].build.imports()
	slices.Sort(got)
	want := []string{filepath.Join(b.root, "lib", "deep"), filepath.Join(b.root, "tools"), filepath.Join(b.root, "y.ts")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
