package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestSpill(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		names := map[string]bool{}
		for id, base := range map[string]string{
			"tool_abc": "tool_abc", "abc-D": "tool_abc-D", "../../etc/x": "tool_______etc_x",
			"": "tool_", "ü\x00": "tool___", strings.Repeat("l", 500): "tool_" + strings.Repeat("l", 120),
		} {
			f := must(s.Spill(id))(t)
			must(f.WriteString("full output"))(t)
			ok(t, f.Close())
			want(t, filepath.Base(f.Name()), base)
			want(t, must(os.Stat(f.Name()))(t).Mode().Perm(), 0o600)
			names[f.Name()] = true
		}
		f := must(s.Spill("abc"))(t) // taken: another name, and the first is untouched
		ok(t, f.Close())
		if names[f.Name()] {
			t.Error("the same file twice")
		}
		dir := must(s.OutputDir())(t)
		want(t, filepath.Dir(f.Name()), dir)
		ok(t, s.Close())
		_, err := os.Stat(dir)
		if gone := os.IsNotExist(err); gone != (s.Path() == "") {
			t.Errorf("folder gone after Close: %v", gone)
		}
	})
}

func TestSweep(t *testing.T) {
	t.Parallel()
	s := open(t, Options{Dir: t.TempDir()})
	now := time.Now()
	want(t, s.Sweep(now, 0, 0), 0) // no folder yet
	dir := must(s.OutputDir())(t)
	put := func(name string, size int, age time.Duration) {
		t.Helper()
		path := filepath.Join(dir, name)
		ok(t, os.WriteFile(path, make([]byte, size), 0o600))
		ok(t, os.Chtimes(path, now.Add(-age), now.Add(-age)))
	}
	left := func() (names []string) {
		t.Helper()
		for _, e := range must(os.ReadDir(dir))(t) {
			names = append(names, e.Name())
		}
		return names
	}
	ok(t, os.MkdirAll(filepath.Join(dir, "tool_folder"), 0o700))
	ok(t, os.Chtimes(filepath.Join(dir, "tool_folder"), now.Add(-1e3*time.Hour), now.Add(-1e3*time.Hour)))
	ok(t, os.Symlink("/nowhere", filepath.Join(dir, "tool_link")))
	put("other", 10, 1e3*time.Hour)
	put("tool_old", 10, spillAge+time.Minute)
	put("tool_edge", 10, spillAge-time.Minute)
	put("tool_new", 10, time.Minute)
	want(t, s.Sweep(now, 0, 0), 1)
	want(t, left(), []string{"other", "tool_edge", "tool_folder", "tool_link", "tool_new"})

	for i := range 5 {
		put(fmt.Sprint("tool_q", i), 100, time.Duration(i+2)*time.Minute)
	}
	// 520 bytes by age: edge, q4 … q0, new. The oldest go until 250 remain.
	want(t, s.Sweep(now, 0, 250), 4)
	want(t, left(), []string{"other", "tool_folder", "tool_link", "tool_new", "tool_q0", "tool_q1"})
}

func TestSweepMemory(t *testing.T) {
	s := open(t, Options{})
	want(t, s.Sweep(time.Now(), 0, 0), 0)
	f := must(s.Spill("a"))(t)
	ok(t, f.Close())
	want(t, s.Sweep(time.Now().Add(spillAge+time.Hour), 0, 0), 1)
}

func FuzzSpillName(f *testing.F) {
	for _, id := range []string{"", "tool_a", "../x", "a/b\\c:d", "ü\x00\xff", "tool_tool_"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		name := spillName(id)
		if !strings.HasPrefix(name, spillPrefix) || len(name) > len(spillPrefix)+maxSpillName ||
			strings.ContainsAny(name, "/\\:.\x00") || filepath.Base(name) != name {
			t.Errorf("%q gives %q", id, name)
		}
	})
}
