package files_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/permission"
)

// An asker notes what is asked and allows it, unless deny says no.
type asker struct {
	asked []string
	deny  func(permission.Request) bool
}

var errDenied = errors.New("denied")

func (a *asker) Ask(_ context.Context, reqs ...permission.Request) error {
	for _, req := range reqs {
		err := func() error {
			for _, p := range req.Patterns {
				a.asked = append(a.asked, req.Permission+" "+p)
			}
			if a.deny != nil && a.deny(req) {
				return errDenied
			}
			return nil
		}()
		if err != nil {
			return err
		}
	}
	return nil
}

// tree makes a folder with a workspace "ws" and a folder "out" beside it.
func tree(t testing.TB) (base string, paths *files.Workspace) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"ws/sub", "ws-other", "out/deep/dir", "ws/..foo"} {
		must(os.MkdirAll(filepath.Join(base, dir), 0o755))
	}
	for _, f := range []string{"ws/a.txt", "ws/sub/b.txt", "ws-other/a.txt", "out/secret", "out/deep/dir/x", "ws/..foo/a.txt", "ws/.env"} {
		must(os.WriteFile(filepath.Join(base, f), []byte(f), 0o600))
	}
	for from, to := range map[string]string{
		"ws/in":            "a.txt",
		"ws/env":           ".env",
		"ws/out":           filepath.Join(base, "out/secret"),
		"ws/rel":           "sub/../../out/secret",
		"ws/dir":           filepath.Join(base, "out/deep/dir"),
		"ws/gone":          "nowhere",
		"ws/gone-out":      filepath.Join(base, "out/nowhere"),
		"ws/gone-chain":    "gone-out",
		"ws/loop":          "loop2",
		"ws/loop2":         "loop",
		"out/deep/dir/up":  "../nowhere",
		"ws/back":          filepath.Join(base, "out/back"),
		"out/back":         filepath.Join(base, "ws/a.txt"),
		"ws/magic":         "/proc/self/root",
		"ws-link":          "ws",
		"out/deep/dir/far": "../../secret",
	} {
		must(os.Symlink(to, filepath.Join(base, from)))
	}
	return base, &files.Workspace{Worktree: filepath.Join(base, "ws")}
}

func TestResolveAsks(t *testing.T) {
	base, files := tree(t)
	ws := filepath.Join(base, "ws")
	for _, c := range []struct {
		name  string
		title string
		asks  []string // with base left out
		text  string   // what opening gives; empty where it fails
	}{
		{"a.txt", "a.txt", nil, "ws/a.txt"},
		{"./sub/../a.txt", "a.txt", nil, "ws/a.txt"},
		{ws + "/sub//b.txt", "sub/b.txt", nil, "ws/sub/b.txt"},
		{"..foo/a.txt", "..foo/a.txt", nil, "ws/..foo/a.txt"},
		{"missing", "missing", nil, ""},
		{"", ".", nil, ""},
		{"in", "in", nil, "ws/a.txt"},
		{"../ws-other/a.txt", "../ws-other/a.txt", []string{"/ws-other/*"}, "ws-other/a.txt"},
		{"../out/secret", "../out/secret", []string{"/out/*"}, "out/secret"},
		{"../out", "../out", []string{"/*"}, ""},
		{"out", "out", []string{"/out/*"}, "out/secret"},
		{"rel", "rel", []string{"/out/*"}, "out/secret"},
		{"dir/x", "dir/x", []string{"/out/deep/dir/*"}, "out/deep/dir/x"},
		{"dir/../../secret", "../secret", []string{"/*", "/out/*"}, "out/secret"}, // what the system opens
		{"dir/../x", "x", []string{"/out/deep/*"}, ""},
		{"dir/far", "dir/far", []string{"/out/*"}, "out/secret"},
		{"gone", "gone", nil, ""},
		{"gone-out", "gone-out", []string{"/out/*"}, ""},
		{"gone-chain", "gone-chain", []string{"/out/*"}, ""},
		{"dir/up", "dir/up", []string{"/out/deep/*"}, ""},
		{"dir/missing/y", "dir/missing/y", []string{"/out/deep/dir/missing/*"}, ""},
		{"loop", "loop", nil, ""},
		{"loop/x", "loop/x", nil, ""},
		{"back", "back", nil, "ws/a.txt"},
		{"../ws-link/a.txt", "../ws-link/a.txt", []string{"/ws-link/*"}, "ws/a.txt"},
		{"a.txt/x", "a.txt/x", nil, ""},
	} {
		a := &asker{}
		p, err := files.Resolve(t.Context(), a, ws, c.name)
		if err != nil {
			t.Errorf("%q: %v", c.name, err)
			continue
		}
		var want []string
		for _, ask := range c.asks {
			want = append(want, "external_directory "+base+ask)
		}
		if diff := cmp.Diff(want, a.asked); diff != "" {
			t.Errorf("%q asks (-want +got):\n%s", c.name, diff)
		}
		if p.Title() != c.title {
			t.Errorf("%q: the title is %q, want %q", c.name, p.Title(), c.title)
		}
		if got := contents(files, p); got != c.text {
			t.Errorf("%q opens %q, want %q", c.name, got, c.text)
		}
	}
}

func contents(files *files.Workspace, p files.Path) string {
	f, _, err := files.Open(p)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func TestDenialGivesNoPath(t *testing.T) {
	base, paths := tree(t)
	no := func(permission.Request) bool { return true }
	for _, name := range []string{"../out/secret", "out", "dir/x", "gone-chain", "magic/etc/hostname", base} {
		p, err := paths.Resolve(t.Context(), &asker{deny: no}, filepath.Join(base, "ws"), name)
		if !errors.Is(err, errDenied) || p != (files.Path{}) {
			t.Errorf("%q: got %v, %v", name, p, err)
		}
	}
}

func TestAskReadNamesWhatALinkLeadsTo(t *testing.T) {
	base, paths := tree(t)
	for name, want := range map[string][]string{
		"a.txt": {"ws/a.txt"},
		"env":   {"ws/env", "ws/.env"},
		"dir/x": {"ws/dir/x", "out/deep/dir/x"},
	} {
		p, err := paths.Resolve(t.Context(), &asker{}, filepath.Join(base, "ws"), name)
		if err != nil {
			t.Fatal(err)
		}
		a := &asker{}
		if err := paths.AskRead(t.Context(), a, p); err != nil {
			t.Fatal(err)
		}
		for i := range want {
			want[i] = "read " + filepath.Join(base, want[i])
		}
		if diff := cmp.Diff(want, a.asked); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	// Through a link to the workspace, the two names of a file are one.
	through := &files.Workspace{Worktree: filepath.Join(base, "ws-link")}
	a := &asker{}
	p, err := through.Resolve(t.Context(), a, through.Worktree, "a.txt")
	if err != nil {
		t.Fatal(err)
	}
	if err := through.AskRead(t.Context(), a, p); err != nil || len(a.asked) != 1 {
		t.Errorf("asked %q, %v", a.asked, err)
	}
}

func TestNoWorktree(t *testing.T) {
	base, _ := tree(t)
	for _, files := range []*files.Workspace{{}, {Worktree: "/"}} {
		a := &asker{}
		if _, err := files.Resolve(t.Context(), a, filepath.Join(base, "ws"), "../out/secret"); err != nil || len(a.asked) != 1 {
			t.Errorf("worktree %q: asked %q, %v", files.Worktree, a.asked, err)
		}
		a = &asker{}
		if _, err := files.Resolve(t.Context(), a, filepath.Join(base, "ws"), "a.txt"); err != nil || len(a.asked) != 0 {
			t.Errorf("worktree %q: asked %q, %v", files.Worktree, a.asked, err)
		}
	}
}

func TestBadNames(t *testing.T) {
	base, paths := tree(t)
	for name, want := range map[string]error{
		"a\x00.txt":                   files.ErrBadName,
		"\x00":                        files.ErrBadName,
		strings.Repeat("a/", 500_000): files.ErrNameTooLong,
		strings.Repeat("../", 1_400):  files.ErrNameTooLong,
	} {
		a := &asker{}
		if _, err := paths.Resolve(t.Context(), a, filepath.Join(base, "ws"), name); !errors.Is(err, want) || len(a.asked) > 0 {
			t.Errorf("%.20q: got %v, asked %q", name, err, a.asked)
		}
	}
}

func TestFindWorktree(t *testing.T) {
	base, _ := tree(t)
	deep := filepath.Join(base, "ws/sub")
	if got := files.FindWorktree(deep); strings.HasPrefix(got, base) { // what is above is not ours
		t.Errorf("there is none, got %s", got)
	}
	// A file for .git is a linked worktree.
	if err := os.WriteFile(filepath.Join(base, "ws/.git"), []byte("gitdir: elsewhere"), 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{deep: "ws", deep + "/../missing/": "ws", filepath.Join(base, "ws"): "ws"} {
		if got := files.FindWorktree(dir); got != filepath.Join(base, want) {
			t.Errorf("%s: got %s", dir, got)
		}
	}
}

func TestSimilar(t *testing.T) {
	base, files := tree(t)
	ws := filepath.Join(base, "ws")
	for _, f := range []string{"Readme.md", "README.md.old", "me", "x-readme.md-1", "x-readme.md-2"} {
		if err := os.WriteFile(filepath.Join(ws, "sub", f), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string][]string{
		"sub/readme.md":  {"README.md.old", "Readme.md", "me", "x-readme.md-1", "x-readme.md-2"},
		"sub/nothing":    nil,
		"none/readme.md": nil,
	} {
		p, err := files.Resolve(t.Context(), &asker{}, ws, name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			want[i] = filepath.Join(ws, "sub", want[i])
		}
		var got []string
		for _, near := range files.Near(p) {
			got = append(got, near.String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// asks remembers what was asked, by name and form.
type asks []string

func (a *asks) Ask(_ context.Context, reqs ...permission.Request) error {
	for _, r := range reqs {
		err := func() error {
			for _, p := range r.Patterns {
				*a = append(*a, r.Permission+" "+p+" "+strings.Join(r.Forms[p], " ")+" always "+strings.Join(r.Always, " "))
			}
			return nil
		}()
		if err != nil {
			return err
		}
	}
	return nil
}

// A workspace that was entered through a link is the same workspace: rules
// about the real names hold, and so do relative ones.
func TestEnteredThroughALink(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	real, lnk := filepath.Join(base, "real"), filepath.Join(base, "lnk")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(real, "secret"), 0o755),
		os.WriteFile(filepath.Join(real, "secret", "x"), nil, 0o600),
		os.Symlink("secret/x", filepath.Join(real, "innocent")),
		os.Symlink(real, lnk),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"secret/x": "read " + lnk + "/secret/x secret/x " + real + "/secret/x always *",
		"innocent": "read " + lnk + "/innocent innocent always *; read " + real + "/secret/x secret/x always *",
	} {
		var got asks
		f := &files.Workspace{Worktree: lnk}
		p, err := f.Resolve(t.Context(), &got, lnk, name)
		if err == nil {
			err = f.AskRead(t.Context(), &got, p)
		}
		if err != nil || strings.Join(got, "; ") != want {
			t.Errorf("%s:\n got %s\nwant %s (%v)", name, strings.Join(got, "; "), want, err)
		}
	}
}

// A star in the name of a folder is no pattern to approve.
func TestStarInAFolderName(t *testing.T) {
	var got asks
	f := &files.Workspace{}
	if _, err := f.Resolve(t.Context(), &got, t.TempDir(), "/none/*/nothing.txt"); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0] != "external_directory /none/*/*  always " {
		t.Errorf("asked: %q", got)
	}
}

// A file of the root is asked about by itself: a rule or an approval about its
// folder would be about the whole disk.
func TestFileOfRoot(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("these are names of other systems")
	}
	for name, want := range map[string]string{
		"/none.txt":      "/none.txt",
		"/none/x.conf":   "/none/*",
		"/home/nobody/x": "/home/nobody/*",
	} {
		var got asks
		f := &files.Workspace{}
		if _, err := f.Resolve(t.Context(), &got, t.TempDir(), name); err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || got[0] != "external_directory "+want+"  always "+want {
			t.Errorf("%s: asked %q", name, got)
		}
		got = nil
		if _, err := f.ResolveFolder(t.Context(), &got, t.TempDir(), name); err != nil || len(got) != 1 || got[0] != "external_directory "+name+"/*  always "+name+"/*" {
			t.Errorf("the folder %s: asked %q, %v", name, got, err)
		}
	}
}
