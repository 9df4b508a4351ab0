package disk

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkCommit replaces one file of 10 KB, and for comparison does what
// programs mostly do: write a temporary file and rename it.
func BenchmarkCommit(b *testing.B) {
	data := make([]byte, 10<<10)
	for _, sync := range []bool{true, false} {
		b.Run(fmt.Sprintf("sync=%v", sync), func(b *testing.B) {
			name := filepath.Join(folderOf(b), "f")
			put(b, name, string(data), 0o644)
			for b.Loop() {
				was, st, err := Read(name, 0)
				ok(b, err)
				ok(b, Commit(b.Context(), []Change{{Name: name, Data: data, Was: st, WasData: was}}, Options{Sync: sync}))
			}
		})
		b.Run(fmt.Sprintf("plain/sync=%v", sync), func(b *testing.B) {
			name := filepath.Join(folderOf(b), "f")
			put(b, name, string(data), 0o644)
			for b.Loop() {
				_, err := os.ReadFile(name)
				ok(b, err)
				plain(b, name, data, sync)
			}
		})
	}
}

func plain(b *testing.B, name string, data []byte, sync bool) {
	f, err := os.OpenFile(name+"~", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	ok(b, err)
	_, err = f.Write(data)
	ok(b, err)
	if sync {
		ok(b, f.Sync())
	}
	ok(b, f.Close())
	ok(b, os.Rename(name+"~", name))
}

// BenchmarkCommitMany replaces 200 files of 10 KB at once.
func BenchmarkCommitMany(b *testing.B) {
	data := make([]byte, 10<<10)
	for _, sync := range []bool{true, false} {
		b.Run(fmt.Sprintf("sync=%v", sync), func(b *testing.B) {
			dir := folderOf(b)
			for b.Loop() {
				var changes []Change
				for i := range 200 {
					changes = append(changes, saw(b, filepath.Join(dir, fmt.Sprint("d", i%10), fmt.Sprint("f", i)), string(data)))
				}
				ok(b, Commit(b.Context(), changes, Options{Sync: sync}))
			}
		})
		b.Run(fmt.Sprintf("plain/sync=%v", sync), func(b *testing.B) {
			dir := folderOf(b)
			for i := range 10 {
				ok(b, os.Mkdir(filepath.Join(dir, fmt.Sprint("d", i)), 0o755))
			}
			for b.Loop() {
				for i := range 200 {
					name := filepath.Join(dir, fmt.Sprint("d", i%10), fmt.Sprint("f", i))
					_, _ = os.ReadFile(name)
					plain(b, name, data, sync)
				}
			}
		})
	}
}

func BenchmarkLock(b *testing.B) {
	name := filepath.Join(folderOf(b), "f")
	put(b, name, "x", 0o644)
	var locks Locks
	b.Run("free", func(b *testing.B) {
		for b.Loop() {
			release, err := locks.Lock(b.Context(), name)
			ok(b, err)
			release()
		}
	})
	b.Run("contended", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				release, err := locks.Lock(b.Context(), name)
				if err != nil {
					b.Error(err)
					return
				}
				release()
			}
		})
	})
}
