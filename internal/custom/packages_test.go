package custom

import (
	"github.com/helve-dev/helve/plugin"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A package that changes after its folder was trusted is not run until the folder is trusted anew.
func TestChangedPackage(t *testing.T) {
	stamp := "first"
	cache := t.TempDir()
	b := newBench(t, `
-- tools/x.ts --
import { word } from "words"
export default { description: "d", args: {}, execute: () => word }
-- node_modules/words/index.js --
exports.word = "good"
-- node_modules/words/package.json --
{"name": "words", "main": "index.js"}
`, func(b *bench, o *Options) {
		o.Cache = cache
		o.Folders[0].Trusted = func() bool { return true }
		o.Folders[0].Stamp = func() string { return stamp }
	})
	if got := b.output("x", `{}`); got != "good" {
		t.Fatal(got)
	}
	if err := os.WriteFile(filepath.Join(b.root, "node_modules", "words", "index.js"), []byte(`exports.word = "changed since"`), 0o600); err != nil {
		t.Fatal(err)
	}
	b.look()
	b.set.Gather(t.Context())
	if _, ok := b.tool("x"); ok {
		t.Error("the changed package ran")
	}
	if all := b.set.Status(); len(all) != 1 || all[0].State != plugin.NotTrusted || !strings.Contains(all[0].Problem, "index.js is not what it was") {
		t.Errorf("%+v", all)
	}
	stamp = "second"
	b.look()
	if got := b.output("x", `{}`); got != "changed since" {
		t.Errorf("after it was trusted anew: %q", got)
	}
}
