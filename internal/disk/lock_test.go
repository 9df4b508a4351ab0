//go:build (linux || darwin || freebsd || netbsd || openbsd || dragonfly) && !disk_simple

package disk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"golang.org/x/sys/unix"
)

const callers = 32

// Two processes with 32 callers each add a line to one file; no line is lost,
// and a reader never sees half a file.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	name := filepath.Join(folderOf(t), "f")
	put(t, name, "start 0\n", 0o644)
	a, b := startJob(t, "append", name, "a"), startJob(t, "append", name, "b")
	finished := make(chan error, 2)
	for _, p := range []process{a, b} {
		go func() {
			for p.out.Scan() {
			}
			finished <- p.cmd.Wait()
		}()
	}
	reads, last := 0, ""
	for ended := 0; ended < 2; reads++ {
		select {
		case err := <-finished:
			ok(t, err)
			ended++
		default:
		}
		data, _, err := Read(name, 0)
		ok(t, err)
		if !strings.HasPrefix(string(data), last) || !strings.HasSuffix(string(data), "\n") {
			t.Fatalf("after %q came %q", last, data)
		}
		last = string(data)
	}
	lines := strings.Split(strings.TrimSpace(last), "\n")
	var want, got []string
	for i := range callers {
		want = append(want, fmt.Sprintf("a%d", i), fmt.Sprintf("b%d", i))
	}
	for i, line := range lines {
		id, n, _ := strings.Cut(line, " ")
		if n != fmt.Sprint(i) {
			t.Errorf("line %d is %q", i, line)
		}
		got = append(got, id)
	}
	slices.Sort(want)
	got = got[1:]
	slices.Sort(got)
	same(t, got, want)
	same(t, len(everything(t, filepath.Dir(name))), 1)
	t.Logf("%d reads", reads)
}

func workAppend(name, id string) error {
	var locks Locks
	errs := make(chan error)
	for i := range callers {
		go func() { errs <- appendLine(&locks, name, fmt.Sprint(id, i)) }()
	}
	var all []error
	for range callers {
		all = append(all, <-errs)
	}
	return errors.Join(all...)
}

// appendLine adds a line with a number to a file, under the lock.
func appendLine(locks *Locks, name, id string) error {
	ctx := context.Background()
	release, err := locks.Lock(ctx, name)
	if err != nil {
		return err
	}
	defer release()
	data, st, err := Read(name, 0)
	if err != nil {
		return err
	}
	line := fmt.Sprintf("%s %d\n", id, strings.Count(string(data), "\n"))
	return Commit(ctx, []Change{{Name: name, Data: append(slices.Clip(data), line...), Was: st, WasData: data}}, Options{})
}

// A process that is killed lets go of what it has locked.
func TestKilledHolder(t *testing.T) {
	t.Parallel()
	dir := folderOf(t)
	name := filepath.Join(dir, "f")
	put(t, name, "x", 0o644)
	p := startJob(t, "hold", name)
	same(t, p.line(t), "held")
	var locks Locks
	ctx, cancel := context.WithCancel(t.Context())
	cancelled := make(chan error)
	go func() {
		_, err := locks.Lock(ctx, filepath.Join(dir, "a"), name)
		cancelled <- err
	}()
	cancel()
	is(t, <-cancelled, context.Canceled)
	got := make(chan error)
	go func() {
		release, err := locks.Lock(t.Context(), name)
		if err == nil {
			release()
		}
		got <- err
	}()
	select {
	case err := <-got:
		t.Fatalf("locked what another process holds, %v", err)
	default:
	}
	ok(t, p.cmd.Process.Kill())
	ok(t, <-got)
	same(t, len(locks.names), 0)
}

func workHold(name string) error {
	var locks Locks
	if _, err := locks.Lock(context.Background(), name); err != nil {
		return err
	}
	fmt.Println("held")
	select {}
}

// Locks of different callers of one process, here as if of two processes,
// also hold each other off.
func TestFileIsLocked(t *testing.T) {
	t.Parallel()
	name := filepath.Join(folderOf(t), "f")
	put(t, name, "x", 0o644)
	var one, other Locks
	release, err := one.Lock(t.Context(), name)
	ok(t, err)
	files, busy, err := tryFiles([]string{name})
	ok(t, err)
	same(t, busy, true)
	same(t, len(files), 0)
	release()
	release() // once more does no harm
	release, err = other.Lock(t.Context(), name)
	ok(t, err)
	release()
}

// A file that is replaced between opening and locking is not the one to lock.
func TestLockOfReplaced(t *testing.T) {
	t.Parallel()
	folder := folderOf(t)
	name := filepath.Join(folder, "f")
	put(t, name, "x", 0o644)
	dir, err := open(folder, folderFlags)
	ok(t, err)
	defer unix.Close(dir)
	for _, act := range []func(){
		func() { ok(t, Commit(t.Context(), []Change{saw(t, name, "y")}, Options{})) },
		func() { ok(t, os.Remove(name)) },
	} {
		fd, _, err := openRegular(dir, "f")
		ok(t, err)
		act()
		locked, busy := lockOpen(fd, dir, "f")
		same(t, []bool{locked, busy}, []bool{false, true})
		ok(t, unix.Close(fd))
	}
}

// While a Commit is under way the new file cannot be had by others.
func TestNewFileIsLocked(t *testing.T) {
	t.Parallel()
	name := filepath.Join(folderOf(t), "f")
	put(t, name, "x", 0o644)
	ok(t, Commit(t.Context(), []Change{saw(t, name, "y")}, Options{Staged: func(temps []string) error {
		_, busy, err := tryFiles(temps)
		same(t, busy, true)
		return err
	}}))
	_, busy, err := tryFiles([]string{name})
	ok(t, err)
	same(t, busy, false)
}

// Two names of one file, and one name twice, are locked by one caller once.
func TestSameFileTwice(t *testing.T) {
	t.Parallel()
	dir := folderOf(t)
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	put(t, a, "x", 0o644)
	ok(t, os.Link(a, b))
	var locks Locks
	release, err := locks.Lock(t.Context(), b, a, b, filepath.Join(dir, "missing"), filepath.Join(dir, "no", "folder"))
	ok(t, err)
	same(t, len(locks.names), 4)
	release()
	same(t, len(locks.names), 0)
}

// Callers that name the same files in different orders, also by other names,
// do not wait for each other forever.
func TestNoDeadlock(t *testing.T) {
	t.Parallel()
	dir := folderOf(t)
	var names []string
	for _, base := range []string{"a", "b", "c", "d"} {
		names = append(names, filepath.Join(dir, base))
	}
	put(t, names[0], "x", 0o644)
	put(t, names[1], "x", 0o644)
	ok(t, os.Link(names[0], names[3])) // a is d, b is c
	ok(t, os.Link(names[1], names[2]))
	var locks Locks
	var inside, served atomic.Int64
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			mine := [][]string{{names[0], names[1]}, {names[2], names[3]}, {names[1], names[0]}, {names[3], names[2]}}[i%4]
			release, err := locks.Lock(context.Background(), mine...)
			if err != nil {
				t.Error(err)
				return
			}
			if n := inside.Add(1); n != 1 {
				t.Errorf("%d are inside", n)
			}
			served.Add(1)
			runtime.Gosched()
			inside.Add(-1)
			release()
		})
	}
	wg.Wait()
	same(t, served.Load(), int64(16))
}

// Callers of one process are served in the order they came, and one that has
// given up is passed over.
func TestOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var locks Locks
		const name = "/no/such/folder/f"
		first, err := locks.Lock(t.Context(), name)
		ok(t, err)
		var order []int
		quit, cancel := context.WithCancel(t.Context())
		for i := range 10 {
			go func() {
				ctx := t.Context()
				if i%3 == 1 {
					ctx = quit
				}
				release, err := locks.Lock(ctx, name)
				if err != nil {
					return
				}
				order = append(order, i)
				release()
			}()
			synctest.Wait()
		}
		cancel()
		synctest.Wait()
		first()
		synctest.Wait()
		same(t, order, []int{0, 2, 3, 5, 6, 8, 9})
		same(t, len(locks.names), 0)
		_, err = locks.Lock(quit, name)
		is(t, err, context.Canceled)
	})
}
