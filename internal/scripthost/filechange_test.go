package scripthost

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/permission"
)

func TestWriteFlags(t *testing.T) {
	for _, c := range []struct{ flags, old, want string }{
		{"w", "0123456789", "new"}, {"w", "(none)", "new"},
		{"a", "old", "oldnew"}, {"a", "(none)", "new"},
		{"c", "0123456789", "new3456789"}, {"c", "(none)", "new"}, {"r+", "01", "new"}, {"r+", "0123456789", "new3456789"},
		{"wx", "(none)", "new"}, {"ax", "(none)", "new"}, {"xw", "(none)", "new"}, {"as", "old", "oldnew"}, {"w+", "old", "new"}, {"a+", "old", "oldnew"},
	} {
		for _, ours := range []bool{false, true} {
			r := newRoom(t, `{"*": "allow"}`)
			name := r.path("f")
			if ours {
				tmp, err := r.world.temp.folder()
				must(t, err)
				name = filepath.Join(tmp, "f")
			}
			if c.old != "(none)" {
				must(t, os.WriteFile(name, []byte(c.old), 0o644))
			}
			r.must("fs.write", arg{"path": name, "flags": c.flags}, []byte("new")...)
			if got := r.text(name); got != c.want {
				t.Errorf("%s on %q, of our own %v: %q, want %q", c.flags, c.old, ours, got, c.want)
			}
		}
	}
	r := newRoom(t, `{"*": "allow"}`)
	r.write("f", "")
	if got := r.code("fs.write", arg{"path": r.path("f"), "flags": "r"}, 'x'); got != "EBADF" {
		t.Errorf("written by r: %s", got)
	}
}

// Every way to change a file of the project is told of and can be taken back.
func TestChangesAreKnown(t *testing.T) {
	for _, c := range []struct {
		name   string
		do     func(r *room)
		after  map[string]string
		events []string
	}{
		{"write", func(r *room) { r.must("fs.write", arg{"path": r.path("a"), "flags": "w"}, 'x') }, map[string]string{"a": "x"}, []string{"change a"}},
		{"new", func(r *room) { r.must("fs.write", arg{"path": r.path("n"), "flags": "w"}, 'x') }, map[string]string{"n": "x"}, []string{"add n"}},
		{"append", func(r *room) { r.must("fs.write", arg{"path": r.path("a"), "flags": "a"}, 'x') }, map[string]string{"a": "Ax"}, []string{"change a"}},
		{"unlink", func(r *room) { r.must("fs.unlink", arg{"path": r.path("a")}) }, map[string]string{"a": "(none)"}, []string{"unlink a"}},
		{"remove", func(r *room) { r.must("fs.remove", arg{"path": r.path("a"), "force": true}) }, map[string]string{"a": "(none)"}, []string{"unlink a"}},
		{
			"remove all", func(r *room) { r.must("fs.remove", arg{"path": r.path("d"), "recursive": true}) },
			map[string]string{"d/b": "(none)", "d/e/c": "(none)"}, []string{"unlink d/b", "unlink d/e/c"},
		},
		{
			"rename", func(r *room) { r.must("fs.rename", arg{"from": r.path("a"), "to": r.path("d/n")}) },
			map[string]string{"a": "(none)", "d/n": "A"}, []string{"unlink a", "add d/n"},
		},
		{
			"rename over", func(r *room) { r.must("fs.rename", arg{"from": r.path("a"), "to": r.path("d/b")}) },
			map[string]string{"a": "(none)", "d/b": "A"}, []string{"unlink a", "change d/b"},
		},
		{
			"from our folder", func(r *room) {
				tmp, err := r.world.temp.folder()
				must(r.tb, err)
				r.must("fs.write", arg{"path": filepath.Join(tmp, "t"), "flags": "w"}, 'T')
				r.must("fs.rename", arg{"from": filepath.Join(tmp, "t"), "to": r.path("d/b")})
				if got := r.text(filepath.Join(tmp, "t")); got != "(none)" {
					r.tb.Errorf("it is still there: %q", got)
				}
			}, map[string]string{"d/b": "T"}, []string{"change d/b"},
		},
		{
			"to our folder", func(r *room) {
				tmp, err := r.world.temp.folder()
				must(r.tb, err)
				r.must("fs.rename", arg{"from": r.path("a"), "to": filepath.Join(tmp, "t")})
				if got := r.text(filepath.Join(tmp, "t")); got != "A" {
					r.tb.Errorf("it is %q", got)
				}
			}, map[string]string{"a": "(none)"}, []string{"unlink a"},
		},
		{
			"a link", func(r *room) { r.must("fs.unlink", arg{"path": r.path("l")}) }, nil, []string{"unlink l"},
		},
		{
			"copy", func(r *room) { r.must("fs.copy", arg{"from": r.path("a"), "to": r.path("d/b")}) },
			map[string]string{"a": "A", "d/b": "A"}, []string{"change d/b"},
		},
		{"truncate", func(r *room) { r.must("fs.truncate", arg{"path": r.path("a"), "length": 3}) }, map[string]string{"a": "A\x00\x00"}, []string{"change a"}},
		{
			"descriptor", func(r *room) { r.pour(r.path("a"), "w", "new") }, map[string]string{"a": "new"}, []string{"change a"},
		},
		{
			"new by descriptor", func(r *room) { r.pour(r.path("n"), "wx", "new") }, map[string]string{"n": "new"}, []string{"add n"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRoom(t, `{"*": "allow"}`)
			for name, text := range map[string]string{"a": "A", "d/b": "B", "d/e/c": "C"} {
				r.write(name, text)
			}
			must(t, os.Symlink("a", r.path("l")))
			before := r.all()
			c.do(r)
			if diff := cmp.Diff(c.events, r.changed()); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			for name, want := range c.after {
				if got := r.text(r.path(name)); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			if r.undo() == 0 {
				t.Error("the history knows nothing of it")
			}
			if diff := cmp.Diff(before, r.all()); diff != "" {
				t.Errorf("not taken back (-want +got):\n%s", diff)
			}
		})
	}
}

// pour writes by a descriptor.
func (r *room) pour(name, flags, text string) {
	r.tb.Helper()
	var fd int
	unmarshal(r.tb, r.must("fs.open", arg{"path": name, "flags": flags}), &fd)
	if got := r.must("fs.writeAt", arg{"fd": fd}, []byte(text)...); got == "0" {
		r.tb.Error("nothing was written")
	}
	r.must("fs.close", arg{"fd": fd})
}

// all is what the files of the project hold.
func (r *room) all() map[string]string {
	out := map[string]string{}
	err := filepath.WalkDir(r.dir, func(name string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Type().IsRegular():
			out[strings.TrimPrefix(name, r.dir)] = r.text(name)
		case d.Type()&os.ModeSymlink != 0:
			out[strings.TrimPrefix(name, r.dir)], err = os.Readlink(name)
		}
		return err
	})
	if err != nil {
		r.tb.Fatal(err)
	}
	return out
}

// Every change asks for edit, and nothing is changed where that is refused.
func TestChangesAsk(t *testing.T) {
	at := func(r *room) map[string]arg {
		return map[string]arg{
			"fs.write":    {"path": r.path("a"), "flags": "w"},
			"fs.copy":     {"from": r.path("a"), "to": r.path("n")},
			"fs.truncate": {"path": r.path("a"), "length": 0},
			"fs.mkdir":    {"path": r.path("m")},
			"fs.rmdir":    {"path": r.path("empty")},
			"fs.unlink":   {"path": r.path("a")},
			"fs.remove":   {"path": r.path("d"), "recursive": true},
			"fs.rename":   {"from": r.path("a"), "to": r.path("n")},
			"fs.link":     {"from": r.path("a"), "to": r.path("n")},
			"fs.symlink":  {"target": "a", "path": r.path("n")},
			"fs.chmod":    {"path": r.path("a"), "mode": 0},
			"fs.chown":    {"path": r.path("a"), "uid": 1, "gid": 1},
			"fs.utimes":   {"path": r.path("a"), "atime": 1, "mtime": 1},
			"fs.open":     {"path": r.path("a"), "flags": "a"},
		}
	}
	r := newRoom(t, `{"*": "allow", "edit": "deny"}`)
	r.write("a", "A")
	r.write("d/b", "B")
	must(t, os.Mkdir(r.path("empty"), 0o755))
	before := r.all()
	for op, a := range at(r) {
		r.questions()
		if got := r.code(op, a, 'x'); got != "EACCES permission" {
			t.Errorf("%s: %s", op, got)
		}
		asked := strings.Join(r.questions(), "\n")
		if !strings.Contains(asked, "edit ") {
			t.Errorf("%s asked only %q", op, asked)
		}
	}
	if diff := cmp.Diff(before, r.all()); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	if _, err := os.Lstat(r.path("empty")); err != nil {
		t.Error(err)
	}
	for op := range r.world.changeOps() {
		if _, tried := at(r)[op]; !tried {
			t.Errorf("%s was not tried", op)
		}
	}
}

// What changes what runs later has to be named by a rule, whichever way it is
// changed.
func TestProtectedFilesHold(t *testing.T) {
	r := newRoom(t, `{"*": "allow"}`)
	for _, name := range []string{".git/config", ".git/hooks/x", "sub/.git/config", "payload/hooks/post-checkout", "payload/.vscode/tasks.json", ".opencode/tool/t.ts", "plain"} {
		r.write(name, "old")
	}
	must(t, os.Symlink(".git/hooks", r.path("innocent")))
	before := r.all()
	for _, c := range []struct {
		op string
		a  arg
	}{
		{"fs.write", arg{"path": r.path(".git/config"), "flags": "w"}},
		{"fs.write", arg{"path": r.path("innocent/post-merge"), "flags": "w"}},
		{"fs.write", arg{"path": r.path(".mcp.json"), "flags": "w"}},
		{"fs.open", arg{"path": r.path(".git/hooks/x"), "flags": "r+"}},
		{"fs.copy", arg{"from": r.path("plain"), "to": r.path("opencode.json")}},
		{"fs.rename", arg{"from": r.path("plain"), "to": r.path(".git/hooks/y")}},
		{"fs.rename", arg{"from": r.path("payload/hooks"), "to": r.path(".git/hooks2")}},
		{"fs.rename", arg{"from": r.path("payload"), "to": r.path("other")}},
		{"fs.rename", arg{"from": r.path(".git"), "to": r.path("git")}},
		{"fs.rename", arg{"from": r.path("sub"), "to": r.path("sub2")}},
		{"fs.link", arg{"from": r.path("plain"), "to": r.path(".git/hooks/y")}},
		{"fs.link", arg{"from": r.path(".git/config"), "to": r.path("mine")}},
		{"fs.symlink", arg{"target": "../plain", "path": r.path(".opencode/y")}},
		{"fs.mkdir", arg{"path": r.path("new/.git/hooks"), "recursive": true}},
		{"fs.chmod", arg{"path": r.path("innocent/x"), "mode": 0o755}},
		{"fs.unlink", arg{"path": r.path(".git/config")}},
		{"fs.remove", arg{"path": r.path(".git"), "recursive": true}},
		{"fs.remove", arg{"path": r.path("sub"), "recursive": true}},
		{"fs.truncate", arg{"path": r.path(".opencode/tool/t.ts"), "length": 0}},
	} {
		if got := r.code(c.op, c.a, 'x'); got != "EACCES permission" {
			t.Errorf("%s %v: %s", c.op, c.a, got)
		}
	}
	if diff := cmp.Diff(before, r.all()); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
}

// A rule about a file holds when a folder above it is removed or moved.
func TestRulesBelowAFolder(t *testing.T) {
	r := newRoom(t, `{"*": "allow", "edit": {"*": "allow", "d/keep/*": "deny"}, "read": {"*": "allow", "s/secret/*": "deny"}}`)
	r.write("d/keep/a", "a")
	r.write("d/b", "b")
	r.write("s/secret/key", "key")
	for _, a := range []arg{{"path": r.path("d"), "recursive": true}, {"path": r.path("d/keep"), "recursive": true}} {
		if got := r.code("fs.remove", a); got != "EACCES permission" {
			t.Errorf("removing %v: %s", a, got)
		}
	}
	for from, to := range map[string]string{"d": "e", "s": "t", "s/secret": "open"} {
		if got := r.code("fs.rename", arg{"from": r.path(from), "to": r.path(to)}); got != "EACCES permission" {
			t.Errorf("moving %s: %s", from, got)
		}
	}
	r.write("x/keep/a", "a")
	if got := r.code("fs.rename", arg{"from": r.path("x/keep"), "to": r.path("d/keep2")}); got != "ok" {
		t.Errorf("moving what no rule is about: %s", got)
	}
	must(t, os.RemoveAll(r.path("d")))
	if got := r.code("fs.rename", arg{"from": r.path("x"), "to": r.path("y")}); got != "ok" {
		t.Errorf("moving what no rule is about: %s", got)
	}
	r.write("z/keep/a", "a")
	if got := r.code("fs.rename", arg{"from": r.path("z"), "to": r.path("d")}); got != "EACCES permission" {
		t.Errorf("moving to names that a rule is about: %s", got)
	}
}

func TestOutsideAsks(t *testing.T) {
	r := newRoom(t, `{"*": "allow", "external_directory": "ask"}`)
	far := filepath.Join(r.out, "far")
	r.write("a", "A")
	for op, a := range map[string]arg{
		"fs.write": {"path": far, "flags": "w"}, "fs.mkdir": {"path": far}, "fs.symlink": {"target": "x", "path": far},
		"fs.copy": {"from": r.path("a"), "to": far}, "fs.rename": {"from": r.path("a"), "to": far}, "fs.link": {"from": r.path("a"), "to": far},
		"fs.open": {"path": far, "flags": "w"}, "fs.unlink": {"path": far}, "fs.remove": {"path": far, "force": true},
	} {
		if got := r.code(op, a); got != "EACCES permission" {
			t.Errorf("%s: %s", op, got)
		}
	}
	r.person = func(permission.Request) error { return nil }
	r.must("fs.write", arg{"path": far, "flags": "w"}, []byte("far")...)
	r.must("fs.rename", arg{"from": far, "to": r.path("near")})
	if r.text(far) != "(none)" || r.text(r.path("near")) != "far" {
		t.Error("not moved")
	}
	person := errors.New("no")
	r.person = func(permission.Request) error { return person }
	r.must("fs.mkdir", arg{"path": r.path("dir")})
	if _, err := r.do("fs.write", arg{"path": far, "flags": "w"}); err == nil || !errors.Is(RefusedIn(r.ctx), person) {
		t.Errorf("%v", err)
	}
}

// Removing a link that leads outside touches the link alone.
func TestLinksAreTheirOwn(t *testing.T) {
	r := newRoom(t, `{"*": "allow", "external_directory": "deny"}`)
	far := filepath.Join(r.out, "far")
	must(t, os.WriteFile(far, []byte("far"), 0o600))
	for _, name := range []string{"l1", "l2", "l3", "d/l4"} {
		must(t, os.MkdirAll(filepath.Dir(r.path(name)), 0o755))
		must(t, os.Symlink(far, r.path(name)))
	}
	must(t, os.Symlink(r.out, r.path("d/out")))
	r.must("fs.unlink", arg{"path": r.path("l1")})
	r.must("fs.rename", arg{"from": r.path("l2"), "to": r.path("l5")})
	r.must("fs.stat", arg{"path": r.path("l3"), "link": true})
	r.must("fs.remove", arg{"path": r.path("d"), "recursive": true})
	if got := r.must("fs.readlink", arg{"path": r.path("l5")}); got != `"`+far+`"` {
		t.Errorf("it leads to %s", got)
	}
	for _, op := range []string{"fs.stat", "fs.read", "fs.real", "fs.access"} {
		if got := r.code(op, arg{"path": r.path("l3")}); got != "EACCES permission" {
			t.Errorf("%s: %s", op, got)
		}
	}
	r.undo()
	for _, name := range []string{"l1", "d/l4", "d/out"} {
		if _, err := os.Readlink(r.path(name)); err != nil {
			t.Errorf("it did not come back: %v", err)
		}
	}
	if got := r.text(far); got != "far" {
		t.Errorf("it is %q", got)
	}
}

// To add to a file is not to have seen it: what may not be read is not shown
// by the tools that show what they change.
func TestAppendingIsNotSeeing(t *testing.T) {
	for _, c := range []struct {
		op   string
		arg  arg
		want string
	}{
		{"fs.write", arg{"flags": "a"}, "SECRETx"}, {"fs.write", arg{"flags": "r+"}, "xECRET"}, {"fs.truncate", arg{"length": 3}, "SEC"}, {"fs.chmod", arg{"mode": 0o600}, "SECRET"},
	} {
		r := newRoom(t, `{"*": "allow", "read": {"*": "allow", ".env": "deny"}}`)
		for name, seen := range map[string]bool{".env": false, "plain": c.op != "fs.chmod"} {
			r.write(name, "SECRET")
			c.arg["path"] = r.path(name)
			r.must(c.op, c.arg, 'x')
			p, err := r.files.Resolve(t.Context(), silent{}, r.dir, name)
			must(t, err)
			if _, known := r.files.ReadMark(r.call.Session, p); known != seen {
				t.Errorf("%s %v: seen %v, want %v", c.op, c.arg, known, seen)
			}
			if got := r.text(r.path(name)); got != c.want {
				t.Errorf("%s %v: %q", c.op, c.arg, got)
			}
		}
	}
}

// A large file is not held in memory to be appended to or copied.
func TestLargeFiles(t *testing.T) {
	r := newRoom(t, `{"*": "allow"}`)
	must(t, os.WriteFile(r.path("big"), nil, 0o644))
	must(t, os.Truncate(r.path("big"), files.MaxEdit+1))
	r.must("fs.write", arg{"path": r.path("big"), "flags": "a"}, 'x')
	r.must("fs.copy", arg{"from": r.path("big"), "to": r.path("copy")})
	r.must("fs.truncate", arg{"path": r.path("big"), "length": files.MaxEdit + 5})
	r.must("fs.rename", arg{"from": r.path("big"), "to": r.path("moved")})
	for name, want := range map[string]int64{"copy": files.MaxEdit + 2, "moved": files.MaxEdit + 5} {
		info, err := os.Stat(r.path(name))
		must(t, err)
		if info.Size() != want {
			t.Errorf("%s has %d bytes, want %d", name, info.Size(), want)
		}
	}
	must(t, os.Truncate(r.path("moved"), maxRead+1))
	if got := r.code("fs.read", arg{"path": r.path("moved")}); got != "ERR_FS_FILE_TOO_LARGE" {
		t.Errorf("reading it: %s", got)
	}
}
