package files

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// FuzzIndex: an index may hold anything. What is read stays in the worktree.
func FuzzIndex(f *testing.F) {
	f.Add([]byte("DIRC"))
	f.Add(rawIndex(2, "a", "b/c"))
	f.Add(rawIndex(4, "a", "b/c"))
	f.Add(rawIndex(3, "../a", "/etc/passwd", ".git/config", "b//c", "x/.GIT/y"))
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := readIndex(data)
		if err != nil {
			return
		}
		n := 0
		for e := range x.entries() {
			n++
			if !filepath.IsLocal(filepath.FromSlash(e.name)) || e.name == "." {
				t.Fatalf("%q leads elsewhere", e.name)
			}
			if slices.ContainsFunc(strings.Split(e.name, "/"), func(p string) bool { return strings.EqualFold(p, ".git") }) {
				t.Fatalf("%q is the repository's", e.name)
			}
			if len(e.object) != x.hashSize {
				t.Fatal("no id")
			}
		}
		if n > x.count {
			t.Fatalf("%d entries of %d", n, x.count)
		}
	})
}

// rawIndex makes an index.
func rawIndex(version uint32, names ...string) []byte {
	out := binary.BigEndian.AppendUint32([]byte("DIRC"), version)
	out = binary.BigEndian.AppendUint32(out, uint32(len(names)))
	prev := ""
	for _, name := range names {
		start := len(out)
		out = append(out, make([]byte, indexFixed+20)...)
		binary.BigEndian.PutUint32(out[start+24:], gitFile|0o644)
		out = binary.BigEndian.AppendUint16(out, uint16(len(name)))
		if version == 4 {
			out = append(out, byte(len(prev)))
		}
		out = append(append(out, name...), 0)
		for version < 4 && (len(out)-start)%8 != 0 {
			out = append(out, 0)
		}
		prev = name
	}
	return append(out, make([]byte, 20)...)
}

// The names are those that git lists.
func TestIndexNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	for _, name := range []string{
		"a", "a.b", "a/b", "a-b", "ab", "deep/er/and/deeper/x", "deep/er/and/deeper/y", "deep/er/z", "ü/ñ", "new\nline", strings.Repeat("long/", 40) + "x",
	} {
		path := filepath.Join(dir, "d", filepath.FromSlash(name))
		if name == "a" {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git("add", "-A")
	want := strings.Split(strings.TrimSuffix(git("ls-files", "-z"), "\x00"), "\x00")
	for _, version := range []string{"2", "4"} {
		git("update-index", "--index-version", version)
		data, err := os.ReadFile(filepath.Join(dir, ".git/index"))
		if err != nil {
			t.Fatal(err)
		}
		x, err := readIndex(data)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for e := range x.entries() {
			got = append(got, e.name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("version %s (-want +got):\n%s", version, diff)
		}
	}
}

func TestRecent(t *testing.T) {
	t.Parallel()
	var r recent
	now := time.Now()
	young := recentKey{"a", stamp{size: 1, mtime: now.Add(-time.Millisecond).UnixNano()}}
	changed := recentKey{"a", stamp{size: 1, mtime: now.Add(-time.Hour).UnixNano(), ctime: now.UnixNano()}}
	old := recentKey{"a", stamp{size: 1, mtime: now.Add(-time.Hour).UnixNano()}}
	want := DescribeContent([]byte("x"), true, 0o644)
	for _, k := range []recentKey{young, changed, old} {
		r.put(k, want, now)
	}
	for key, ok := range map[recentKey]bool{young: false, changed: false, old: true, {"b", old.stamp}: false} {
		if got, is := r.get(key); is != ok || ok && got != want {
			t.Errorf("%+v: %v %v", key, got, is)
		}
	}
}

func TestIgnoring(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(".gitignore", "*.log\n# no\n\nnode_modules/\n/top\na/b\n**/x\n[ab]y\n")
	put("sub/.gitignore", "*.tmp\n!keep.tmp\n/only\n")
	var none *ignoring
	top := none.withFolder(dir, "")
	sub := top.withFolder(filepath.Join(dir, "sub"), "sub")
	for _, tt := range []struct {
		in     *ignoring
		name   string
		folder bool
		want   bool
	}{
		{top, "a.log", false, true}, {top, "d/a.log", false, true}, {top, "node_modules", true, true}, {top, "node_modules", false, false},
		{top, "d/node_modules", true, true}, {top, "top", false, true}, {top, "d/top", false, false}, {top, "a/b", false, true},
		{top, "c/a/b", false, false}, {top, "# no", false, false},
		{top, "x", false, false}, {top, "ay", false, false}, // what is not understood
		{sub, "sub/only", false, true}, {sub, "sub/d/only", false, false},
		{sub, "sub/x.tmp", false, false}, {sub, "sub/x.log", false, false}, // what may be taken back
		{none, "a.log", false, false},
	} {
		if got := tt.in.match(tt.name, tt.folder); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
