package scripthost

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/internal/plugins"
	"github.com/helve-dev/helve/permission"
)

// What is not there, or is something else, is said with the codes of Node and
// without a question: here every question would be refused.
func TestCodesNeedNoQuestion(t *testing.T) {
	r := newRoom(t, `{"*": "deny"}`)
	r.write("a.txt", "a")
	r.write("dir/b.txt", "b")
	r.write("empty/x", "")
	must(t, os.Remove(r.path("empty/x")))
	must(t, os.Symlink("loop2", r.path("loop")))
	must(t, os.Symlink("loop", r.path("loop2")))
	long := strings.Repeat("n", 300)
	for _, c := range []struct {
		op   string
		arg  arg
		want string
	}{
		{"fs.read", arg{"path": r.path("none")}, "ENOENT"},
		{"fs.read", arg{"path": r.path("none/none")}, "ENOENT"},
		{"fs.read", arg{"path": r.path("dir")}, "EISDIR"},
		{"fs.read", arg{"path": r.path("a.txt/x")}, "ENOTDIR"},
		{"fs.read", arg{"path": r.path("a.txt") + "/"}, "ENOTDIR"},
		{"fs.read", arg{"path": r.path("loop")}, "ELOOP"},
		{"fs.read", arg{"path": r.path(long)}, "ENAMETOOLONG"},
		{"fs.read", arg{"path": r.path(strings.Repeat("d/", 3000))}, "ENAMETOOLONG"},
		{"fs.read", arg{"path": ""}, "ENOENT"},
		{"fs.read", arg{"path": r.path("a\x00b")}, "EINVAL"},
		{"fs.stat", arg{"path": r.path("a.txt")}, "ok"},
		{"fs.stat", arg{"path": r.path("a.txt/")}, "ok"}, // path cleans it
		{"fs.stat", arg{"path": r.path("a.txt") + "/"}, "ENOTDIR"},
		{"fs.stat", arg{"path": r.path("none")}, "ENOENT"},
		{"fs.stat", arg{"path": r.path("loop")}, "ELOOP"},
		{"fs.stat", arg{"path": r.path("loop"), "link": true}, "ok"},
		{"fs.access", arg{"path": r.path("a.txt"), "mode": 4}, "ok"},
		{"fs.access", arg{"path": r.path("none"), "mode": 0}, "ENOENT"},
		{"fs.list", arg{"path": r.path("a.txt")}, "ENOTDIR"},
		{"fs.list", arg{"path": r.path("none")}, "ENOENT"},
		{"fs.list", arg{"path": r.path("dir")}, "EACCES permission"},
		{"fs.readlink", arg{"path": r.path("a.txt")}, "EINVAL"},
		{"fs.readlink", arg{"path": r.path("loop")}, "ok"},
		{"fs.real", arg{"path": r.path("none")}, "ENOENT"},
		{"fs.write", arg{"path": r.path("none/x"), "flags": "w"}, "ENOENT"},
		{"fs.write", arg{"path": r.path("a.txt/x"), "flags": "w"}, "ENOTDIR"},
		{"fs.write", arg{"path": r.path("dir"), "flags": "w"}, "EISDIR"},
		{"fs.write", arg{"path": r.path("a.txt"), "flags": "wx"}, "EEXIST"},
		{"fs.write", arg{"path": r.path("loop"), "flags": "wx"}, "EEXIST"},
		{"fs.write", arg{"path": r.path("none"), "flags": "r+"}, "ENOENT"},
		{"fs.write", arg{"path": r.path("none") + "/", "flags": "w"}, "EISDIR"},
		{"fs.mkdir", arg{"path": r.path("a.txt")}, "EEXIST"},
		{"fs.mkdir", arg{"path": r.path("dir")}, "EEXIST"},
		{"fs.mkdir", arg{"path": r.path("none/none")}, "ENOENT"},
		{"fs.mkdir", arg{"path": r.path("dir"), "recursive": true}, "ok"},
		{"fs.mkdir", arg{"path": r.path("a.txt"), "recursive": true}, "EEXIST"},
		{"fs.mkdir", arg{"path": r.path("a.txt/x"), "recursive": true}, "ENOTDIR"},
		{"fs.rmdir", arg{"path": r.path("none")}, "ENOENT"},
		{"fs.rmdir", arg{"path": r.path("a.txt")}, "ENOTDIR"},
		{"fs.unlink", arg{"path": r.path("none")}, "ENOENT"},
		{"fs.unlink", arg{"path": r.path("dir")}, "EISDIR"},
		{"fs.remove", arg{"path": r.path("none"), "force": true}, "ok"},
		{"fs.remove", arg{"path": r.path("none"), "recursive": true}, "ENOENT"},
		{"fs.remove", arg{"path": r.path("dir")}, "EISDIR"},
		{"fs.rename", arg{"from": r.path("none"), "to": r.path("x")}, "ENOENT"},
		{"fs.rename", arg{"from": r.path("a.txt"), "to": r.path("none/x")}, "ENOENT"},
		{"fs.rename", arg{"from": r.path("a.txt"), "to": r.path("dir")}, "EISDIR"},
		{"fs.rename", arg{"from": r.path("dir"), "to": r.path("a.txt")}, "ENOTDIR"},
		{"fs.rename", arg{"from": r.path("a.txt"), "to": r.path("a.txt")}, "ok"},
		{"fs.copy", arg{"from": r.path("none"), "to": r.path("x")}, "ENOENT"},
		{"fs.copy", arg{"from": r.path("dir"), "to": r.path("x")}, "EISDIR"},
		{"fs.copy", arg{"from": r.path("a.txt"), "to": r.path("dir")}, "EISDIR"},
		{"fs.copy", arg{"from": r.path("a.txt"), "to": r.path("dir/b.txt"), "exclusive": true}, "EEXIST"},
		{"fs.link", arg{"from": r.path("none"), "to": r.path("x")}, "ENOENT"},
		{"fs.link", arg{"from": r.path("dir"), "to": r.path("x")}, "EPERM"},
		{"fs.symlink", arg{"target": "x", "path": r.path("a.txt")}, "EEXIST"},
		{"fs.chmod", arg{"path": r.path("none"), "mode": 0o600}, "ENOENT"},
		{"fs.truncate", arg{"path": r.path("none"), "length": 1}, "ENOENT"},
		{"fs.open", arg{"path": r.path("none"), "flags": "r"}, "ENOENT"},
		{"fs.open", arg{"path": r.path("dir"), "flags": "w"}, "EISDIR"},
		{"fs.close", arg{"fd": 99}, "EBADF"},
		{"fs.readAt", arg{"fd": 0, "length": 1}, "EBADF"},
		{"fs.nothing", arg{}, "ENOSYS"},
	} {
		if got := r.code(c.op, c.arg); got != c.want {
			t.Errorf("%s %v: %s, want %s", c.op, c.arg, got, c.want)
		}
	}
	if asked := slices.DeleteFunc(r.questions(), func(q string) bool { return strings.HasPrefix(q, "list ") }); len(asked) > 0 {
		t.Errorf("asked %q", asked)
	}
}

func TestReadAsksAsTheReadTool(t *testing.T) {
	r := newRoom(t, `{"read": {"*": "allow", "*.env": "deny", "*.key": "ask"}, "external_directory": "ask"}`)
	for _, name := range []string{"a.txt", ".env", "b.key", "empty"} {
		r.write(name, strings.TrimPrefix(name, "empty"))
	}
	must(t, os.WriteFile(filepath.Join(r.out, "far.txt"), []byte("far"), 0o644))
	read := func(name string) string {
		answer, err := r.do("fs.read", arg{"path": name, "flags": "r"})
		if err != nil {
			return r.code("fs.read", arg{"path": name, "flags": "r"})
		}
		if answer.Raw == nil {
			t.Errorf("%s: no bytes", name)
		}
		return string(answer.Raw)
	}
	got := []string{read(r.path("a.txt")), read(r.path("empty")), read(r.path(".env")), read(r.path("b.key")), read(filepath.Join(r.out, "far.txt"))}
	if diff := cmp.Diff([]string{"a.txt", "", "EACCES permission", "EACCES permission", "EACCES permission"}, got); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	if got := r.code("fs.stat", arg{"path": filepath.Join(r.out, "none")}); got != "EACCES permission" {
		t.Errorf("whether a file outside is there was told: %s", got)
	}
	if got := r.must("fs.access", arg{"path": r.path(".env"), "mode": 0}); got != "null" {
		t.Errorf("a denied file is there: %s", got)
	}
	r.questions()
	r.person = func(permission.Request) error { return nil }
	if got := read(filepath.Join(r.out, "far.txt")); got != "far" {
		t.Errorf("with leave: %s", got)
	}
	if got, want := r.questions()[0], "external_directory "+filepath.Join(r.out, "*"); got != want {
		t.Errorf("asked %q, want %q", got, want)
	}
}

// The last refusal is kept for whoever made the call, with its kind.
func TestRefusedIn(t *testing.T) {
	r := newRoom(t, `{"*": "allow", "read": {"*": "allow", "*.env": "deny"}}`)
	r.write(".env", "secret")
	if err := RefusedIn(r.ctx); err != nil {
		t.Fatal(err)
	}
	_, err := r.do("fs.read", arg{"path": r.path(".env")})
	if err == nil || !strings.Contains(err.Error(), "rule") {
		t.Errorf("the error is %v", err)
	}
	if no, ok := RefusedIn(r.ctx).(*permission.DeniedError); !ok || no.Error() != err.Error() {
		t.Errorf("the refusal is %T", RefusedIn(r.ctx))
	}
	if RefusedIn(t.Context()) != nil {
		t.Error("somebody who works for nobody was refused")
	}
	if r.told[0].Metadata["tool"] != "custom" {
		t.Errorf("the question is in the name of %v", r.told[0].Metadata["tool"])
	}
}

func TestList(t *testing.T) {
	r := newRoom(t, `{"*": "allow", "external_directory": "deny"}`)
	r.write("dir/a.txt", "")
	r.write("dir/sub/b.txt", "")
	must(t, os.Symlink("sub", r.path("dir/link")))
	must(t, os.Symlink(r.out, r.path("dir/out")))
	for recursive, want := range map[bool][]string{
		false: {`a.txt file`, `link link`, `out link`, `sub dir`},
		true:  {`a.txt file`, `link link`, `out link`, `sub dir`, filepath.Join("sub", "b.txt") + ` file`},
	} {
		var pairs [][2]string
		unmarshal(t, r.must("fs.list", arg{"path": r.path("dir"), "recursive": recursive}), &pairs)
		var got []string
		for _, p := range pairs {
			got = append(got, p[0]+" "+p[1])
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("recursive %v (-want +got):\n%s", recursive, diff)
		}
	}
	if got := r.code("fs.list", arg{"path": r.path("dir/out")}); got != "EACCES permission" {
		t.Errorf("a folder outside was listed: %s", got)
	}
	r = newRoom(t, `{"*": "allow", "list": "deny"}`)
	if got := r.code("fs.list", arg{"path": r.dir}); got != "EACCES permission" {
		t.Errorf("what the list tool may not list was listed: %s", got)
	}
}

// The folder of the engine's own is free; the system's is outside.
func TestTemporaryFolder(t *testing.T) {
	r := newRoom(t, `{"*": "deny"}`, func(o *plugins.Services) {
		o.Variables = func() map[string]string { return map[string]string{"TMPDIR": os.TempDir(), "A": "b"} }
	})
	r.write("secret", "secret")
	var info struct{ Tmp string }
	unmarshal(t, r.must("proc.info", nil), &info)
	var env map[string]string
	unmarshal(t, r.must("env.all", nil), &env)
	if diff := cmp.Diff(map[string]string{"TMPDIR": info.Tmp, "A": "b"}, env); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
	in := func(name string) string { return filepath.Join(info.Tmp, name) }
	r.must("fs.mkdir", arg{"path": in("a/b"), "recursive": true})
	r.must("fs.write", arg{"path": in("a/b/c"), "flags": "w"}, []byte("one")...)
	r.must("fs.write", arg{"path": in("a/b/c"), "flags": "a"}, []byte(" two")...)
	r.must("fs.rename", arg{"from": in("a/b/c"), "to": in("c")})
	r.must("fs.copy", arg{"from": in("c"), "to": in("d")})
	r.must("fs.chmod", arg{"path": in("d"), "mode": 0o600})
	r.must("fs.symlink", arg{"target": "d", "path": in("e")})
	answer, err := r.do("fs.read", arg{"path": in("e")})
	if err != nil || string(answer.Raw) != "one two" {
		t.Errorf("%q, %v", answer.Raw, err)
	}
	r.must("fs.list", arg{"path": info.Tmp, "recursive": true})
	if got := r.questions(); got != nil {
		t.Errorf("asked %q", got)
	}
	// What leads out of it is not of it.
	r.must("fs.symlink", arg{"target": r.path("secret"), "path": in("out")})
	for op, a := range map[string]arg{
		"fs.read": {"path": in("out")}, "fs.open": {"path": in("out"), "flags": "r"}, "fs.write": {"path": in("out"), "flags": "w"},
		"fs.copy": {"from": in("out"), "to": in("f")}, "fs.link": {"from": r.path("secret"), "to": in("g")},
		"fs.rename": {"from": r.path("secret"), "to": in("h")}, "fs.stat": {"path": in("../x")},
	} {
		if got := r.code(op, a); got != "EACCES permission" {
			t.Errorf("%s %v: %s", op, a, got)
		}
	}
	r.must("fs.remove", arg{"path": in("a"), "recursive": true})
	must(t, r.world.Close())
	if _, err := os.Lstat(info.Tmp); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
	if got := r.text(r.path("secret")); got != "secret" {
		t.Errorf("the secret is %q", got)
	}
}
