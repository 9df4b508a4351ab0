package custom

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/plugin"
)

func withCache(dir string) func(*bench, *Options) {
	return func(_ *bench, o *Options) { o.Cache = dir }
}

func stored(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
		st, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", e.Name(), st.Mode())
		}
	}
	return names
}

// What was compiled is used again; what is damaged, another's or out of date is made anew.
func TestCache(t *testing.T) {
	dir := filepath.Join(realTemp(t), "cache")
	first := newBench(t, greet, withCache(dir))
	if got := first.output("greet", `{"name":"x"}`); got != "Hello x from build" {
		t.Fatal(got)
	}
	names := stored(t, dir)
	if len(names) != 2 {
		t.Fatal(names)
	}
	if st, err := os.Stat(dir); err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != 0o700 {
		t.Error(st.Mode(), err)
	}
	again := func(want string) *bench {
		b := newBench(t, "", func(b *bench, o *Options) {
			b.root = first.root
			o.Folders, o.Cache = []plugin.Folder{{Path: first.root}}, dir
		})
		if got := b.output("greet", `{"name":"x"}`); got != want {
			t.Errorf("%s, not %s", got, want)
		}
		return b
	}
	before := times(t, dir)
	again("Hello x from build")
	if diff := cmp.Diff(before, times(t, dir)); diff != "" {
		t.Error("written again", diff)
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		flipped := bytes.Clone(whole)
		flipped[len(flipped)/2] ^= 1
		damages := [][]byte{flipped, whole[:len(whole)-1], whole[:10], {}, []byte("junk")}
		if raceDetector {
			damages = damages[:1] // each has to be compiled again
		}
		for _, bad := range damages {
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			again("Hello x from build")
			if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now[:len(storeMark)], []byte(storeMark)) || len(now) < len(whole)/2 {
				t.Errorf("%s was not made anew: %v", name, err)
			}
		}
	}
	// one entry under the name of the other
	if err := os.Rename(filepath.Join(dir, names[0]), filepath.Join(dir, names[1])); err != nil {
		t.Fatal(err)
	}
	again("Hello x from build")
	first.write("tools/greet.ts", `export default { description: "d", args: { name: { type: "string" } }, execute: () => "new" }`)
	again("new")
}

func times(t *testing.T, dir string) map[string]time.Time {
	t.Helper()
	all := map[string]time.Time{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		st, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = st.ModTime()
	}
	return all
}

// A folder that others can write to is not used.
func TestCacheOfOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	dir := realTemp(t)
	if err := os.Chmod(dir, 0o777); err != nil { //nolint:gosec // that is what is tested
		t.Fatal(err)
	}
	b := newBench(t, greet, withCache(dir))
	if got := b.output("greet", `{"name":"x"}`); got != "Hello x from build" {
		t.Error(got)
	}
	if names := stored(t, dir); names != nil {
		t.Error(names)
	}
}

// The oldest entries make room for new ones.
func TestCacheBounded(t *testing.T) {
	s := newStore(realTemp(t), slog.New(slog.DiscardHandler))
	if err := os.Chmod(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s.limit = 4 << 20
	big := bytes.Repeat([]byte("x"), int(s.limit)/4)
	for i := range 6 {
		key := hashTexts(strings.Repeat("k", i))
		s.put(key, nil, big)
		old := time.Now().Add(time.Duration(i-100) * time.Minute)
		if err := os.Chtimes(s.file(key), old, old); err != nil {
			t.Fatal(err)
		}
	}
	var kept []int
	for i := range 6 {
		if parts, _, ok := s.get(hashTexts(strings.Repeat("k", i))); ok {
			kept = append(kept, i)
			if !bytes.Equal(parts[0], big) {
				t.Error("an entry has changed")
			}
		}
	}
	if diff := cmp.Diff([]int{3, 4, 5}, kept); diff != "" {
		t.Error(diff)
	}
	s.put("toobig", nil, bytes.Repeat(big, 4))
	if _, _, ok := s.get("toobig"); ok {
		t.Error("one entry may fill all")
	}
}

func FuzzUnpack(f *testing.F) {
	good, err := pack("key", [][]byte{[]byte("head"), []byte("body"), {}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(storeMark))
	f.Fuzz(func(t *testing.T, data []byte) {
		parts, ok := readEntry("key", data)
		if !ok {
			return
		}
		again, err := pack("key", parts)
		if err != nil {
			t.Fatal(err)
		}
		if back, ok := readEntry("key", again); !ok || !cmp.Equal(back, parts) {
			t.Error("what was read can not be written")
		}
	})
}
