package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helve-dev/helve/internal/files"
)

// known is what a door knows of a name, and what it asks about it.
type known struct {
	Abs, Real, Title      string
	Folder, Exists, Fails bool
	Asked                 []string
}

func knownOf(t *testing.T, files *files.Workspace, dir, name string) known {
	t.Helper()
	a := &asker{}
	p, err := files.ResolveEither(t.Context(), a, dir, name)
	if err != nil {
		return known{Fails: true}
	}
	for _, err := range []error{files.AskContents(t.Context(), a, p), files.AskEdit(t.Context(), a, nil, p)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return known{p.String(), p.Real(), p.Title(), files.IsFolder(p), files.Exists(p), false, a.asked}
}

// An inquiry that has looked at all sorts of names answers as the door itself.
func TestInquiryAnswersAlike(t *testing.T) {
	base, files := tree(t)
	names := []string{
		"", ".", "..", "/", "//", "a.txt", "a.txt/x", "a.txt/../in", "sub", "sub/", "sub/./b.txt", "in", "in/..", "env", "out", "rel", "dir",
		"dir/up", "dir/up/x", "dir/far", "dir/..", "dir/../dir/x", "gone", "gone/x/../../a.txt", "gone-out", "gone-chain/deeper", "loop", "loop/x",
		"none", "none/x", "none/../out", "none/x/../../dir/far", "none/../../out/secret", "back", "magic/etc", "..foo/a.txt", "../ws-link/in",
		"../ws-link/dir/x", ".git/config", "sub/.helve/x", "a\x00", strings.Repeat("x/", 3000), strings.Repeat("y", 300) + "/../out",
	}
	for _, from := range []string{"ws", "ws/sub", "ws-link"} {
		dir, inquiry := filepath.Join(base, from), files.WithCache()
		for range 2 {
			for _, name := range names {
				if diff := cmp.Diff(knownOf(t, files, dir, name), knownOf(t, inquiry, dir, name)); diff != "" {
					t.Errorf("%.100q in %s (-the door, +an inquiry):\n%s", name, from, diff)
				}
			}
		}
	}
}

// What one inquiry has seen the next one does not know, and the door neither.
func TestInquiryRemembersForItself(t *testing.T) {
	base, paths := tree(t)
	ws := filepath.Join(base, "ws")
	inquiry := paths.WithCache()
	before := knownOf(t, inquiry, ws, "in")
	link := filepath.Join(ws, "in")
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(base, "out/secret"), link); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, knownOf(t, inquiry, ws, "in")); diff != "" {
		t.Errorf("it has looked twice (-before, +after):\n%s", diff)
	}
	want := filepath.Join(base, "out/secret")
	for who, door := range map[string]*files.Workspace{"the door": paths, "a new inquiry": paths.WithCache()} {
		if got := knownOf(t, door, ws, "in").Real; got != want {
			t.Errorf("for %s it leads to %s, and not to %s", who, got, want)
		}
	}
}
