package custom

import (
	"bytes"
	"context"
	"github.com/helve-dev/helve/internal/plugins"
	"github.com/helve-dev/helve/plugin"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Nobody waits for ever for a folder that does not answer.
func TestFolderDoesNotAnswer(t *testing.T) {
	dir := realTemp(t)
	plant(t, dir, "-- tools/a.ts --\n"+toolA)
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		var log bytes.Buffer
		s := New(Options{Services: plugins.Services{Logger: slog.New(slog.NewTextHandler(&log, nil))}, Options: plugin.Options{Folders: []plugin.Folder{{Path: dir, Trusted: func() bool { <-answer; return false }}}}})
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		s.Need(ctx, "a")
		if d := time.Since(began); d != time.Second {
			t.Error("waited", d)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if d := time.Since(began); d > 10*time.Second || !strings.Contains(log.String(), "left behind") {
			t.Error("waited", d, log.String())
		}
		close(answer)
		synctest.Wait()
	})
}

// A locked buffer takes lines of several goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

// What waits when everything ends is told, and the end itself is no news.
func TestCloseTellsEvents(t *testing.T) {
	const many = 40
	var log lockedBuffer
	var mu sync.Mutex
	var lines []string
	b := newBench(t, `
-- plugins/e.ts --
export const E = () => ({ event: ({ event }) => console.log(event.type) })
-- tools/a.ts --
export default { description: "d", args: {}, execute() { setInterval(() => { for (let i = 0; i < 1e6; i++); }, 0); return "a" } }
`, func(b *bench, o *Options) {
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		o.Tell = func(_, _, text string) {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, text)
		}
	})
	if got := b.output("a", "{}"); got != "a" {
		t.Error(got)
	}
	for i := range many {
		b.set.Event("e"+strconv.Itoa(i), nil)
	}
	if err := b.set.Close(); err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(lines) != many || log.Len() > 0 {
		t.Errorf("%d events were told: %s", len(lines), log.String())
	}
}

// That a script is stopped by the end is no news.
func TestCloseQuietly(t *testing.T) {
	var log lockedBuffer
	in := make(chan struct{}, 1000)
	b := newBench(t, `
-- tools/a.ts --
setInterval(() => { console.log("in"); for (const t = Date.now(); Date.now() - t < 2000;); }, 1)
export default { description: "d", args: {}, execute: () => "a" }
`, func(b *bench, o *Options) {
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		o.Tell = func(_, _, _ string) { in <- struct{}{} }
	})
	b.set.Gather(t.Context())
	<-in
	if err := b.set.Close(); err != nil {
		t.Error(err)
	}
	if log.Len() > 0 {
		t.Error(log.String())
	}
}

// A deadDisk is a folder on a disk that does not answer.
type deadDisk chan struct{}

func (d deadDisk) look() (string, []userFile) {
	<-d
	return "", nil
}

// Nor does anybody wait where not even the names of files can be read.
func TestDiskDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := make(deadDisk)
		s := New(Options{Options: plugin.Options{Folders: []plugin.Folder{{Path: "unused"}}}})
		s.units[0].source = disk
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		s.Need(ctx, "a")
		if d := time.Since(began); d != time.Second {
			t.Error("waited", d)
		}
		close(disk)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Whoever publishes an event asks for hooks, and must not wait for one who looks at a disk
// meanwhile.
func TestHasDoesNotWaitForDisk(t *testing.T) {
	b := newBench(t, `
-- plugins/a.ts --
export const A = async () => ({ event: async () => {} })
`, nil)
	b.set.Need(t.Context(), "read")
	u, disk := b.set.units[0], newSlowDisk()
	u.mu.Lock()
	source := u.source
	u.source, u.looked = disk, time.Time{}
	u.mu.Unlock()
	done, asked := make(chan struct{}), make(chan bool, 1)
	go func() {
		defer close(done)
		u.wants(want{all: true})
	}()
	<-disk.asked
	go func() {
		has := b.set.Has("event")
		b.set.Event("x", nil)
		asked <- has
	}()
	select {
	case has := <-asked:
		if !has {
			t.Error("the hook is not known")
		}
	case <-time.After(20 * time.Second):
		t.Error("waits for the disk")
	}
	close(disk.answer)
	<-done
	u.mu.Lock()
	u.source = source
	u.mu.Unlock()
}

// A slowDisk says that it was asked, and answers when it is told to.
type slowDisk struct{ asked, answer chan struct{} }

func newSlowDisk() slowDisk { return slowDisk{make(chan struct{}), make(chan struct{})} }

func (d slowDisk) look() (string, []userFile) {
	close(d.asked)
	<-d.answer
	return "", nil
}
