//go:build amd64 || arm64

package sandbox

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func leaseProfile(dir string) Profile {
	return Profile{Level: Write, Roots: []string{dir}, Protected: []string{dir + "/.git/hooks", dir + "/.git/config", dir + "/.mcp.json", dir + "/conf/a/b", dir + "/there"}}
}

func TestLease(t *testing.T) {
	dir := realDir(t, "ws")
	mustDo(t, os.Mkdir(dir+"/there", 0o755))
	p := leaseProfile(dir)
	one, err := p.Prepare()
	mustDo(t, err)
	want := []string{dir + "/.git", dir + "/.mcp.json", dir + "/conf"}
	if got := one.paths; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if _, err := os.Stat(dir + "/.git"); !os.IsNotExist(err) {
		t.Errorf("a .git that leads somewhere: %v", err)
	}
	two, err := p.Prepare()
	mustDo(t, err)
	if left, err := one.Release(); err != nil || !slices.Equal(sortUnique(left), want) {
		t.Errorf("the other still needs them: %v, %v", left, err)
	}
	mustDo(t, os.WriteFile(dir+"/conf/mine", nil, 0o600))
	if left, err := two.Release(); err != nil || !slices.Equal(left, []string{dir + "/conf"}) {
		t.Errorf("only what was used by others stays: %v, %v", left, err)
	}
	if left, err := two.Release(); err != nil || len(left) > 0 {
		t.Errorf("released twice: %v, %v", left, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}

// What a process that was killed left behind is taken over and removed.
func TestLeaseAfterCrash(t *testing.T) {
	dir := realDir(t, "ws")
	mustDo(t, makePlaceholder(dir+"/.git"))
	mustDo(t, makePlaceholder(dir+"/.mcp.json"))
	mustDo(t, os.Mkdir(dir+"/conf", 0o755)) // a user's own, empty as it is
	l, err := leaseProfile(dir).Prepare()
	mustDo(t, err)
	if left, err := l.Release(); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "conf" {
		t.Errorf("%v, %v", entries, err)
	}
}

// Sweep takes away what nobody holds, and nothing else.
func TestSweep(t *testing.T) {
	dir := realDir(t, "ws")
	p := leaseProfile(dir)
	names := func() (all []string) {
		t.Helper()
		entries, err := os.ReadDir(dir)
		mustDo(t, err)
		for _, e := range entries {
			all = append(all, e.Name())
		}
		return all
	}
	l, err := p.Prepare()
	mustDo(t, err)
	made := names()
	mustDo(t, Sweep(p.Protected))
	if got := names(); !slices.Equal(got, made) || len(made) != 4 {
		t.Errorf("a lease lost %v of %v", got, made)
	}
	for dir, f := range l.locks { // as death does
		mustDo(t, f.Close())
		delete(l.locks, dir)
	}
	mustDo(t, os.Mkdir(dir+"/.vscode", 0o755)) // the user's own
	mustDo(t, os.WriteFile(dir+"/conf/mine", nil, 0o600))
	mustDo(t, os.Chtimes(dir+"/conf", stamp(), stamp()))
	// What leads through a .git is resolved by some before.
	mustDo(t, Sweep([]string{nowhere + "/hooks", dir + "/.mcp.json", dir + "/there", dir + "/conf/a/b", dir + "/.vscode", "relative"}))
	if got := names(); !slices.Equal(got, []string{".vscode", "conf"}) {
		t.Errorf("left: %v", got)
	}
	mustDo(t, Sweep(p.Protected))
}

// A lease is asked for more, and makes again what was taken away.
func TestLeaseKeep(t *testing.T) {
	dir := realDir(t, "ws")
	p := leaseProfile(dir)
	l, err := p.Prepare()
	mustDo(t, err)
	locks := len(l.locks)
	mustDo(t, os.Remove(dir+"/.mcp.json"))
	mustDo(t, l.Keep(p))
	if _, err := os.Lstat(dir + "/.mcp.json"); err != nil || len(l.locks) != locks {
		t.Errorf("%v; %d locks, and %d before", err, len(l.locks), locks)
	}
	mustDo(t, os.Mkdir(dir+"/sub", 0o755))
	p.Protected = append(p.Protected, dir+"/sub/.mcp.json")
	mustDo(t, l.Keep(p))
	// Another folder of that name is another folder to lock.
	mustDo(t, os.RemoveAll(dir+"/sub"))
	mustDo(t, os.Mkdir(dir+"/sub", 0o755))
	mustDo(t, l.Keep(p))
	mustDo(t, Sweep(p.Protected))
	if _, err := os.Lstat(dir + "/sub/.mcp.json"); err != nil {
		t.Error(err)
	}
	if left, err := l.Release(); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// Nothing is made where nothing could be written anyway.
func TestLeaseReadOnly(t *testing.T) {
	dir := realDir(t, "ws")
	p := leaseProfile(dir)
	p.ReadOnly = true
	l, err := p.Prepare()
	mustDo(t, err)
	if got := l.paths; len(got) != 0 {
		t.Error(got)
	}
}

// While a lease is held its placeholders are there, whoever comes and goes.
func TestLeasesAtOnce(t *testing.T) {
	dir := realDir(t, "ws")
	p := leaseProfile(dir)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				l, err := p.Prepare()
				if err != nil {
					t.Error(err)
					return
				}
				for _, path := range l.paths {
					if _, err := os.Lstat(path); l.locks[dir] != nil && err != nil {
						t.Errorf("held, and gone: %v", err)
					}
				}
				if _, err := l.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}

// Somebody who keeps a folder locked keeps nobody waiting.
func TestLeaseLocked(t *testing.T) {
	dir := realDir(t, "ws")
	f, err := os.Open(dir)
	mustDo(t, err)
	defer f.Close()
	mustDo(t, flock(f, true))
	l, err := leaseProfile(dir).Prepare()
	mustDo(t, err)
	if left, err := l.Release(); err != nil || len(left) != 4 {
		t.Errorf("%v, %v", left, err)
	}
}

func TestTrace(t *testing.T) {
	dir := realDir(t, "a")
	mustDo(t, os.MkdirAll(dir+"/real/deep", 0o755))
	mustDo(t, os.WriteFile(dir+"/file", nil, 0o600))
	mustDo(t, os.Symlink("real/deep", dir+"/link"))
	mustDo(t, os.Symlink(dir+"/link/../none", dir+"/up"))
	mustDo(t, os.Symlink("loop", dir+"/loop"))
	mustDo(t, makePlaceholder(dir+"/kept"))
	mustDo(t, makePlaceholder(dir+"/.git"))
	for path, want := range map[string][]pathSpot{
		"file":         {{"file", leaf}},
		"file/x":       {{"file", leaf}},
		"none/x":       {{"none", missing}},
		"real/deep":    {{"real", folder}, {"real/deep", folder}},
		"link/x":       {{"link", link}, {"real", folder}, {"real/deep", folder}, {"real/deep/x", missing}},
		"up":           {{"up", link}, {"link", link}, {"real", folder}, {"real/deep", folder}, {"real/none", missing}},
		"kept/x":       {{"kept", placeholder}},
		".git/hooks":   {{".git", placeholder}},
		"real/../kept": {{"real", folder}, {"kept", placeholder}},
	} {
		spots, err := trace(dir + "/" + path)
		mustDo(t, err)
		var got []pathSpot
		for _, s := range spots {
			if rest, ok := strings.CutPrefix(s.path, dir+"/"); ok {
				got = append(got, pathSpot{rest, s.kind})
			}
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(pathSpot{})); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
	if _, err := trace(dir + "/loop"); err == nil {
		t.Error("a loop of links was followed")
	}
}

// In a repository the placeholders are files that git can read and that say
// nothing; elsewhere, also where only a placeholder makes it look like one,
// they are folders.
func TestLeaseInRepository(t *testing.T) {
	dir := realDir(t, "ws")
	for _, name := range []string{"/.git/objects", "/.git/refs", "/objects"} {
		mustDo(t, os.MkdirAll(dir+name, 0o755))
	}
	for _, name := range []string{"/.git/HEAD", "/HEAD"} {
		mustDo(t, os.WriteFile(dir+name, []byte("ref: refs/heads/main\n"), 0o644))
	}
	p := Profile{Level: Write, Roots: []string{dir}, Protected: []string{
		dir + "/.git/commondir", dir + "/.git/config.worktree", dir + "/commondir", dir + "/refs",
	}}
	for range 2 { // the second finds them as a crash leaves them
		killed, err := p.Prepare()
		mustDo(t, err)
		for _, f := range killed.locks {
			mustDo(t, f.Close())
		}
		for name, want := range map[string]string{"/.git/commondir": ".\n", "/.git/config.worktree": ""} {
			if text, err := os.ReadFile(dir + name); err != nil || string(text) != want {
				t.Errorf("%s: %q, %v", name, text, err)
			}
		}
		for _, name := range []string{"/commondir", "/refs"} {
			if info, err := os.Stat(dir + name); err != nil || !info.IsDir() {
				t.Errorf("%s: %v, %v", name, info, err)
			}
		}
		mustDo(t, os.Remove(dir+"/commondir")) // to be made again, beside refs
	}
	lease, err := p.Prepare()
	mustDo(t, err)
	mustDo(t, os.WriteFile(dir+"/.git/config.worktree", []byte("[core]\n"), 0o644))
	if left, err := lease.Release(); err != nil || !slices.Equal(left, []string{dir + "/.git/config.worktree"}) {
		t.Errorf("%v, %v", left, err)
	}
	for _, name := range []string{"/.git/commondir", "/commondir", "/refs"} {
		if _, err := os.Lstat(dir + name); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", name, err)
		}
	}
}
