package search

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// An exclude file that is a link tells nothing of the file it leads to.
func TestExcludeThatIsALink(t *testing.T) {
	t.Parallel()
	dir := realDir(t)
	for name, text := range map[string]string{
		".env": "KEY=one\n", "sub/.git": "gitdir: ../gd\n", "gd/HEAD": "ref: refs/heads/main\n",
		"sub/KEY=one": "x\n", "sub/KEY=two": "x\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "gd/info"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../.env", filepath.Join(dir, "gd/info/exclude")); err != nil {
		t.Skip(err)
	}
	e := New(EngineOptions{})
	defer e.Close()
	names, err := e.Glob(context.Background(), Glob{Where: Options{Dir: filepath.Join(dir, "sub"), Exact: true, Globs: []string{"KEY=*"}}})
	if err != nil || len(names.Files) != 2 {
		t.Errorf("%+v, %v", names, err)
	}
	all, err := e.Glob(context.Background(), Glob{Where: Options{Dir: filepath.Join(dir, "sub"), Exact: true}})
	if err != nil || len(all.Files) != 2 || all.Skipped.Ignored != 0 {
		t.Errorf("%+v, %v", all, err)
	}
}
