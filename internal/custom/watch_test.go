package custom

import (
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/helve-dev/helve/plugin"
)

const (
	toolA = "export default { description: 'a', args: {}, execute: () => 'a' }"
	toolB = "export default { description: 'b', args: {}, execute: () => 'b' }"
)

// watchBench is a bench that is watched, and a function that waits until there are some tools and
// no others.
func watchBench(t *testing.T, archive string, change func(b *bench, o *Options)) (*bench, func(names ...string)) {
	t.Helper()
	changed := make(chan struct{}, 100)
	b := newBench(t, archive, func(b *bench, o *Options) {
		o.Watch = time.Millisecond
		o.Changed = func() { changed <- struct{}{} }
		if change != nil {
			change(b, o)
		}
	})
	return b, func(names ...string) {
		t.Helper()
		late := time.After(20 * time.Second)
		for !slices.Equal(b.names(), names) {
			select {
			case <-changed:
			case <-late:
				t.Fatalf("%v, not %v", b.names(), names)
			}
		}
	}
}

// Once all was listed, what is added, taken away or mended is seen without a call of it.
func TestWatchKeepsAll(t *testing.T) {
	b, wait := watchBench(t, "-- tools/a.ts --\n"+toolA, nil)
	b.set.Gather(t.Context())
	wait("a")
	b.write("tools/b.ts", toolB)
	wait("a", "b")
	b.write("tools/a.ts", "export default {")
	wait("b")
	b.write("tools/a.ts", toolA)
	wait("a", "b")
	if err := os.RemoveAll(filepath.Join(b.root, "tools")); err != nil {
		t.Fatal(err)
	}
	b.look()
	wait()
}

// A folder that is not there yet is found when it comes to be.
func TestWatchNewFolder(t *testing.T) {
	b, wait := watchBench(t, "", func(b *bench, o *Options) {
		o.Folders = []plugin.Folder{{Path: filepath.Join(b.root, ".helve")}}
	})
	b.set.Gather(t.Context())
	if got := b.set.Status(); len(got) != 0 {
		t.Error(got)
	}
	b.write(".helve/tools/a.ts", toolA)
	wait("a")
}

// Trust that comes, goes and comes again is seen, and is looked up only where it matters.
func TestWatchTrust(t *testing.T) {
	var trusted atomic.Bool
	var asked atomic.Int32
	b, wait := watchBench(t, "-- tools/a.ts --\n"+toolA, func(b *bench, o *Options) {
		o.Folders[0].Trusted = func() bool {
			asked.Add(1)
			return trusted.Load()
		}
	})
	b.set.Gather(t.Context())
	wait()
	trusted.Store(true)
	b.look()
	wait("a")
	trusted.Store(false)
	b.write("tools/b.ts", toolB)
	wait()
	trusted.Store(true)
	b.look()
	wait("a", "b")
	before := asked.Load()
	u := b.set.units[0]
	for range 3 {
		b.look()
		u.load(t.Context(), want{all: true, idle: true})
	}
	if now := asked.Load(); now != before {
		t.Errorf("asked %d times about what has not changed", now-before)
	}
}
