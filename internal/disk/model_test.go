package disk

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// TestModel makes any changes, some of them of files that somebody else has
// changed, and compares the folder with a map that is changed in the same way.
func TestModel(t *testing.T) {
	t.Parallel()
	root := folderOf(t)
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(root, "")
		ok(t, err)
		defer os.RemoveAll(dir)
		model := map[string]string{}
		text := rapid.StringMatching(`[ab]{0,3}`)
		for range rapid.IntRange(1, 6).Draw(rt, "commits") {
			names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "d/a", "d/e/b", "f/c"}), 1, 4, rapid.ID).Draw(rt, "names")
			after := maps.Clone(model)
			var changes []Change
			stale := false
			for _, name := range names {
				file := filepath.Join(dir, filepath.FromSlash(name))
				c := saw(t, file, text.Draw(rt, "text"))
				had, exists := model[name]
				c.Remove = exists && rapid.Bool().Draw(rt, "remove")
				if rapid.IntRange(0, 9).Draw(rt, "interference") == 0 {
					theirs := text.Draw(rt, "theirs")
					put(t, file, theirs, 0o644)
					model[name], after[name] = theirs, theirs
					stale = stale || !exists || theirs != had
				}
				if after[name] = string(c.Data); c.Remove {
					delete(after, name)
				}
				changes = append(changes, c)
			}
			err := Commit(t.Context(), changes, Options{})
			if stale {
				is(rt, err, ErrChanged)
			} else {
				ok(rt, err)
				model = after
			}
			files := everything(t, dir)
			for name, data := range files {
				if data == "d---------" {
					delete(files, name)
				} else {
					files[name] = data[len("-rw-r--r-- "):]
				}
			}
			same(rt, files, model)
		}
	})
}
