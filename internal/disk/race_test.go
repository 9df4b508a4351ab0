//go:build linux && !disk_simple

package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const headFormat = "%08d"

// A writer changes the head of a file again and again, in its own way, and
// looks each time whether the change is still there. Meanwhile the file is
// replaced by ones with the head that was seen last and a longer tail. If a
// head is lost, a change of somebody else was.
func TestOthersChangesAreKept(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	inPlace := func(cut bool) func(name string, n int) error {
		return func(name string, n int) error {
			f, err := openThere(name)
			if err != nil {
				return err
			}
			if cut { // when it is known to be the file that is there: a writer cuts no other
				err = f.Truncate(0)
			}
			if err == nil {
				_, err = fmt.Fprintf(f, headFormat, n)
			}
			return errors.Join(err, f.Close())
		}
	}
	byRename := func(name string, n int) error {
		if err := os.WriteFile(name+"~", fmt.Appendf(nil, headFormat, n), 0o644); err != nil {
			return err
		}
		return os.Rename(name+"~", name)
	}
	for kind, write := range map[string]func(string, int) error{
		"over it": inPlace(false), "cut first": inPlace(true), "by rename": byRename,
	} {
		for _, broken := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/rollback=%v", kind, broken), func(t *testing.T) {
				name := filepath.Join(folderOf(t), "f")
				put(t, name, fmt.Sprintf(headFormat, 0), 0o644)
				race := &race{name: name, broken: broken}
				done := make(chan error)
				go func() { done <- race.write(write) }()
				made, refused := race.commits(t)
				race.stop.Store(true)
				ok(t, <-done)
				if made == 0 && !broken {
					t.Error("no commit was made")
				}
				t.Logf("%d commits, %d refused", made, refused)
				for base := range everything(t, filepath.Dir(name)) {
					if strings.HasPrefix(base, tempPrefix) {
						t.Errorf("%s is left", base)
					}
				}
			})
		}
	}
}

// openThere opens a file, again if it is replaced while it is being opened:
// between finding a file and opening it, nobody can see that it will be open.
func openThere(name string) (*os.File, error) {
	for {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		opened, err := f.Stat()
		if err != nil {
			return nil, err
		}
		if there, err := os.Stat(name); err == nil && os.SameFile(opened, there) {
			return f, nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
}

// A race is a file that two work on.
type race struct {
	name   string
	broken bool
	stop   atomic.Bool
	over   atomic.Int64 // how many commits are over
}

// write changes the head until it is lost. While a Commit is under way the
// file may be another one for a moment, which is then put back: so a head is
// lost if it is not there when one more Commit is over.
func (r *race) write(change func(name string, n int) error) error {
	for n := 0; !r.stop.Load(); n++ {
		if err := change(r.name, n); err != nil {
			return err
		}
		want, began := fmt.Sprintf(headFormat, n), r.over.Load()
		for pass := int64(0); ; {
			data, err := os.ReadFile(r.name)
			if err != nil {
				return err
			}
			there := strings.HasPrefix(string(data), want)
			if pass >= 2 && !there {
				return fmt.Errorf("%s became %q", want, data)
			}
			if there && (n%2 == 0 || pass > 0) || r.stop.Load() {
				break // every other time a Commit is let through
			}
			pass = r.over.Load() - began
			runtime.Gosched()
		}
	}
	return nil
}

// commits replaces the file by one with the same head many times. If broken,
// each time another file makes the Commit fail, and it has to be put back.
func (r *race) commits(t *testing.T) (made, refused int) {
	other := filepath.Join(folderOf(t), "other")
	for r.over.Load() < 500 {
		data, st, err := Read(r.name, 0)
		if errors.Is(err, ErrChanged) {
			continue
		}
		ok(t, err)
		changes := []Change{{Name: r.name, Data: append(slices.Clip(data[:min(len(data), 20)]), '+'), Was: st, WasData: data}}
		var opt Options
		if r.broken { // somebody takes the name of a new file at the last moment
			_ = os.Remove(other)
			changes = append(changes, Change{Name: other, Data: []byte("new")})
			opt.Staged = func([]string) error { return os.WriteFile(other, nil, 0o644) }
		}
		// On a busy machine a writer may be kept waiting in the middle.
		err = commit(t.Context(), changes, opt, lacks{patience: time.Minute})
		r.over.Add(1)
		switch {
		case err == nil:
			made++
		case errors.Is(err, ErrChanged):
			refused++
			if strings.Contains(err.Error(), tempPrefix) {
				t.Errorf("gave up: %v", err)
			}
		default:
			t.Error(err)
		}
	}
	return made, refused
}
