package store

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/record"
)

// filled makes a closed store with some calls in it and returns its folder.
func filled(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	s := must(Open(Options{Dir: dir}))(t)
	for i := range 200 {
		ok(t, s.Record(record.Call{ID: fmt.Sprint("c", i), State: record.Completed, Input: strings.Repeat("x", 500)}))
	}
	ok(t, s.Close())
	return dir
}

func TestDamaged(t *testing.T) {
	t.Parallel()
	const size = 4096
	for name, spoil := range map[string]func(b []byte) []byte{
		"empty":          func([]byte) []byte { return nil },
		"one byte":       func(b []byte) []byte { return b[:1] },
		"half a header":  func(b []byte) []byte { return b[:50] },
		"garbage":        func(b []byte) []byte { return bytes.Repeat([]byte("garbage "), len(b)/8) },
		"short garbage":  func([]byte) []byte { return []byte("hello") },
		"cut in half":    func(b []byte) []byte { return b[:len(b)/2/size*size] },
		"cut in a page":  func(b []byte) []byte { return b[:len(b)/2/size*size+100] },
		"zeroed schema":  func(b []byte) []byte { clear(b[100:size]); return b },
		"zeroed roots":   func(b []byte) []byte { clear(b[size : 8*size]); return b },
		"garbage header": func(b []byte) []byte { copy(b, bytes.Repeat([]byte{0xa5}, 100)); return b },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filled(t)
			path := filepath.Join(dir, fileName)
			bad := spoil(must(os.ReadFile(path))(t))
			ok(t, os.WriteFile(path, bad, 0o600))
			var heard []string
			s := open(t, Options{Dir: dir, OnNotice: func(n string) { heard = append(heard, n) }})
			if len(heard) != 1 || !slices.Equal(heard, s.Notices()) {
				t.Fatalf("notices %q, heard %q", s.Notices(), heard)
			}
			aside := must(filepath.Glob(path + ".damaged-*"))(t)
			aside = slices.DeleteFunc(aside, func(n string) bool { return strings.HasSuffix(n, "-wal") || strings.HasSuffix(n, "-shm") })
			if len(aside) != 1 || !strings.Contains(heard[0], aside[0]) {
				t.Fatalf("aside %q, notice %q", aside, heard[0])
			}
			if kept := must(os.ReadFile(aside[0]))(t); !bytes.Equal(kept, bad) {
				t.Error("the damaged file was changed")
			}
			ok(t, s.Begin(t.Context(), record.Call{ID: "c1"}))
			want(t, len(must(s.Calls(t.Context(), record.CallQuery{}))(t)), 1)
		})
	}
}

// Damage deep in the file shows in a full check at any time. It is moved
// aside when it was seen before, and when a process has died.
func TestDamagedDeep(t *testing.T) {
	for _, how := range []string{"seen", "death"} {
		t.Run(how, func(t *testing.T) { t.Parallel(); damagedDeep(t, how) })
	}
}

func damagedDeep(t *testing.T, how string) {
	dir := filled(t)
	path := filepath.Join(dir, fileName)
	b := must(os.ReadFile(path))(t)
	clear(b[len(b)-4*4096:])
	ok(t, os.WriteFile(path, b, 0o600))

	s := must(Open(Options{Dir: dir}))(t)
	want(t, s.Notices(), nil)
	ok(t, s.Check(t.Context(), false))
	if err := s.Check(t.Context(), true); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("full check: %v", err)
	}
	ok(t, s.Close())
	if how == "death" {
		ok(t, os.Remove(s.suspicion()))
		ok(t, os.WriteFile(filepath.Join(dir, "run", "1-0.lock"), nil, 0o600))
	}
	s = open(t, Options{Dir: dir})
	want(t, len(s.Notices()), 1)
	ok(t, s.Check(t.Context(), true))
	ok(t, s.Close())
	want(t, len(must(os.ReadDir(filepath.Join(dir, "run")))(t)), 0)
}

// A damaged file is not taken away from a process that still uses it.
func TestDamagedInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, "hold", dir, "x")
	if !p.lines.Scan() {
		t.Fatal("no sign of the helper")
	}
	path := filepath.Join(dir, fileName)
	sound := must(os.ReadFile(path))(t)
	ok(t, os.WriteFile(path, []byte("garbage, not a database"), 0o600))
	if _, err := Open(Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "another process is using it") {
		t.Errorf("opened beside a live process: %v", err)
	}
	ok(t, os.WriteFile(path, sound, 0o600))
	ok(t, p.in.Close())
	p.rest()
}

func TestGarbageLog(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"short": "garbage", "long": strings.Repeat("garbage!", 4096), "zeros": strings.Repeat("\x00", 8192)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filled(t)
			path := filepath.Join(dir, fileName)
			ok(t, os.WriteFile(path+"-wal", []byte(text), 0o600))
			s := open(t, Options{Dir: dir})
			want(t, len(must(s.Calls(t.Context(), record.CallQuery{Limit: 1000}))(t)), 200)
			ok(t, s.Check(t.Context(), true))
			want(t, len(s.Notices()), 1)
			kept := must(filepath.Glob(path + "-wal.damaged-*"))(t)
			if len(kept) != 1 || !strings.Contains(s.Notices()[0], kept[0]) {
				t.Fatalf("kept %q, notices %q", kept, s.Notices())
			}
			want(t, string(must(os.ReadFile(kept[0]))(t)), text)
		})
	}
}

func TestNewer(t *testing.T) {
	t.Parallel()
	dir := filled(t)
	path := filepath.Join(dir, fileName)
	setVersion(t, path, 99)
	before := must(os.ReadFile(path))(t)
	_, err := Open(Options{Dir: dir})
	if !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "99") {
		t.Errorf("opened a newer store: %v", err)
	}
	if !bytes.Equal(before, must(os.ReadFile(path))(t)) {
		t.Error("the newer store was changed")
	}
}

func TestForeign(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, fileName)
	ok(t, os.WriteFile(path, nil, 0o600))
	c := must(dial(path))(t)
	ok(t, execScript(c, "CREATE TABLE x(a)"))
	ok(t, c.close())
	if _, err := Open(Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "something else") {
		t.Errorf("took over a foreign database: %v", err)
	}
}

func setVersion(t *testing.T, path string, v int) {
	t.Helper()
	c := must(dial(path))(t)
	ok(t, execScript(c, fmt.Sprint("PRAGMA user_version=", v)))
	ok(t, c.close())
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	dir := filled(t)
	s := &Store{opts: Options{Dir: dir}, path: filepath.Join(dir, fileName), log: discardLog()}
	steps := append(migrations(), "CREATE TABLE extra(a); INSERT INTO extra VALUES(7);")
	_, err := s.upgrade(steps)
	if !errors.Is(err, ErrNewer) { // the file is now newer than the program
		t.Fatalf("after the upgrade: %v", err)
	}
	c := must(dial(s.path))(t)
	want(t, must(c.queryInt("SELECT a FROM extra"))(t), 7)
	want(t, must(c.queryInt("SELECT count(*) FROM call"))(t), 200)
	ok(t, c.close())

	kept := must(filepath.Glob(fmt.Sprintf("%s.v%d-*", s.path, len(migrations()))))(t)
	if len(kept) != 1 || len(s.notices) != 1 || !strings.Contains(s.notices[0], kept[0]) {
		t.Fatalf("kept %q, notices %q", kept, s.notices)
	}
	want(t, must(os.Stat(kept[0]))(t).Mode().Perm(), 0o600)
	old := t.TempDir()
	ok(t, os.Rename(kept[0], filepath.Join(old, fileName)))
	want(t, len(must(open(t, Options{Dir: old}).Calls(t.Context(), record.CallQuery{Limit: 1000}))(t)), 200)

	// A step that fails leaves the version before it.
	bad := append(steps, "CREATE TABLE half(a); this is not SQL;")
	if _, err := s.upgrade(bad); err == nil || errors.Is(err, ErrNewer) {
		t.Fatalf("a bad step: %v", err)
	}
	c = must(dial(s.path))(t)
	want(t, must(c.queryInt("PRAGMA user_version"))(t), int64(len(migrations())+1))
	want(t, must(c.queryInt("SELECT count(*) FROM sqlite_schema WHERE name = 'half'"))(t), 0)
	ok(t, c.close())
}

// A store of each earlier schema is brought forward with what is in it.
func TestMigrateEach(t *testing.T) {
	t.Parallel()
	for v := 1; v < len(migrations()); v++ {
		dir := t.TempDir()
		path := filepath.Join(dir, fileName)
		ok(t, os.WriteFile(path, nil, 0o600))
		c := must(dial(path))(t)
		ok(t, migrate(c, 0, migrations()[:v]))
		ok(t, execScript(c, `INSERT INTO session(id, dir, project, agent, parent, title, created, updated) VALUES('s', '/d', 'p', 'build', '', 'old', 1, 2), ('child', '/d', '', '', 's', '', 3, 3);
			INSERT INTO todo VALUES('s', '[]');
			INSERT INTO call(id, session, parent, tool, agent, model, state, owner, started, ended, kind, code, input, metadata) VALUES
				('one', 's', '', 'bash', '', '', 'completed', '', 1, 2, NULL, NULL, '{}', '{"exit":3,"output":""}'),
				('none', 's', '', 'bash', '', '', 'completed', '', 1, 2, NULL, NULL, '{}', '{"exit":0}'),
				('word', 's', '', 'mine', '', '', 'completed', '', 1, 2, NULL, NULL, '{}', '{"exit":"left"}'),
				('bad', 's', '', 'mine', '', '', 'completed', '', 1, 2, NULL, NULL, '{}', '{"exit":4'),
				('error', 's', '', 'bash', '', '', 'error', '', 1, 2, 'failed', 'x', '{}', '{"exit":5}');`))
		ok(t, c.close())

		s := open(t, Options{Dir: dir})
		want(t, len(s.Notices()), 1)
		ctx := t.Context()
		old := record.Session{ID: "s", Dir: "/d", Project: "p", Agent: "build", Title: "old", Time: record.SessionTime{Created: 1, Updated: 2}}
		want(t, must(s.Session(ctx, "s"))(t), old)
		want(t, len(must(s.SessionChildren(ctx, "s"))(t)), 1)
		ended := map[string]int64{}
		for _, c := range must(s.Calls(ctx, record.CallQuery{Session: "s", Brief: true}))(t) {
			ended[c.ID] = c.Exit
		}
		want(t, ended, map[string]int64{"one": 3, "none": 0, "word": 0, "bad": 0, "error": 0})
		m := talk("s", 1)[0]
		ok(t, s.Save(ctx, &m.Info, m.Parts))
		want(t, must(s.Messages(ctx, "s"))(t), []message.Message{m})
		must(s.UpdateSession(ctx, "s", func(v *record.Session) { v.Slug, v.Cost = "x", 1 }))(t)
		old.Slug, old.Cost = "x", 1
		want(t, must(s.Session(ctx, "s"))(t), old)
		ok(t, s.Check(ctx, true))
	}
}

// tmpfs mounts a small file system of its own, where that is permitted.
func tmpfs(t *testing.T, size string) string {
	t.Helper()
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("mounting needs Linux and root")
	}
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("mounting is not permitted: %s", out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %s", out)
		}
	})
	return dir
}

// On a full disk calls fail with a clear error and nothing acknowledged is
// lost; with room again the same store goes on.
func TestFullDisk(t *testing.T) {
	dir := tmpfs(t, "1m")
	s := must(Open(Options{Dir: dir}))(t)
	ballast := filepath.Join(dir, "ballast")
	ok(t, os.WriteFile(ballast, make([]byte, 300<<10), 0o600))
	var good []string
	var failure error
	for i := 0; failure == nil && i < 10000; i++ {
		id := fmt.Sprint("c", i)
		failure = s.Record(record.Call{ID: id, State: record.Completed, Input: strings.Repeat("x", 3000)})
		if failure == nil {
			good = append(good, id)
		}
	}
	if failure == nil || !strings.Contains(failure.Error(), "full") {
		t.Fatalf("on a full disk after %d calls: %v", len(good), failure)
	}
	ok(t, os.Remove(ballast))
	ok(t, s.Record(record.Call{ID: "after", State: record.Completed}))
	ok(t, s.Close())
	s = must(Open(Options{Dir: dir}))(t)
	defer s.Close()
	want(t, s.Notices(), nil)
	ok(t, s.Check(t.Context(), true))
	for _, id := range append(good, "after") {
		want(t, must(s.Call(t.Context(), id))(t).State, record.Completed)
	}
}

func TestNoRoomAtAll(t *testing.T) {
	dir := tmpfs(t, "16k")
	_, err := Open(Options{Dir: dir})
	if err == nil || !strings.Contains(err.Error(), "full") && !strings.Contains(err.Error(), "no space") {
		t.Errorf("opened on a full disk: %v", err)
	}
}

func TestReadOnly(t *testing.T) {
	var dir string
	if os.Geteuid() == 0 {
		dir = tmpfs(t, "1m")
		ok(t, exec.Command("mount", "-o", "remount,ro", dir).Run())
	} else {
		dir = t.TempDir()
		ok(t, os.Chmod(dir, 0o500))
	}
	_, err := Open(Options{Dir: dir})
	if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "opening the store") {
		t.Errorf("opened in a read-only folder: %v", err)
	}
	_, err = Open(Options{Dir: filepath.Join(dir, "sub")})
	if err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("opened below a read-only folder: %v", err)
	}
}

// The folder turns read-only under a store that has data.
func TestTurnsReadOnly(t *testing.T) {
	dir := tmpfs(t, "4m")
	if os.Geteuid() != 0 {
		t.Skip("needs a mount")
	}
	s := must(Open(Options{Dir: dir}))(t)
	ok(t, s.Record(record.Call{ID: "a", State: record.Completed}))
	ok(t, s.Close())
	ok(t, exec.Command("mount", "-o", "remount,ro", dir).Run())
	_, err := Open(Options{Dir: dir})
	if err == nil || !strings.Contains(err.Error(), "cannot be written") && !strings.Contains(err.Error(), "read-only") {
		t.Errorf("opened read-only: %v", err)
	}
	ok(t, exec.Command("mount", "-o", "remount,rw", dir).Run())
	s = must(Open(Options{Dir: dir}))(t)
	want(t, must(s.Call(t.Context(), "a"))(t).State, record.Completed)
	ok(t, s.Close())
}

func discardLog() *slog.Logger { return slog.New(slog.DiscardHandler) }
