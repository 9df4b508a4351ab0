//go:build unix

package scripthost

import (
	"errors"
	"github.com/helve-dev/helve/internal/script"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

const guardedRules = `{"*": "allow", "read": {"*": "allow", "*.env": "deny", "private/*": "deny"}, "external_directory": "deny"}`

// holds reports whether a secret is in what a request answered, or in any file
// that may be read.
func (r *room) leaks(secret string, answers ...script.Data) bool {
	for _, a := range answers {
		if strings.Contains(string(a.Raw)+string(a.JSON), secret) {
			return true
		}
	}
	leak := false
	dirs := []string{r.dir}
	if r.world.temp.path != "" {
		dirs = append(dirs, r.world.temp.path)
	}
	for _, dir := range dirs {
		must(r.tb, filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			answer, err := r.do("fs.read", arg{"path": name})
			leak = leak || err == nil && strings.Contains(string(answer.Raw), secret)
			var fd int
			opened, err := r.do("fs.open", arg{"path": name, "flags": "r"})
			if err != nil {
				return nil
			}
			unmarshal(r.tb, string(opened.JSON), &fd)
			answer, err = r.do("fs.readAt", arg{"fd": fd, "length": 1000})
			leak = leak || err == nil && strings.Contains(string(answer.Raw), secret)
			r.must("fs.close", arg{"fd": fd})
			return nil
		}))
	}
	return leak
}

// A denied file is not read in a roundabout way.
func TestDeniedFilesAreNotRead(t *testing.T) {
	const secret = "TOP-SECRET"
	type step struct {
		op  string
		arg arg
	}
	tmp := func(r *room, name string) string {
		dir, err := r.world.temp.folder()
		must(r.tb, err)
		return filepath.Join(dir, name)
	}
	for _, name := range []string{".env", "private/key"} {
		for title, steps := range map[string]func(r *room, at string) []step{
			"read":    func(_ *room, at string) []step { return []step{{"fs.read", arg{"path": at}}} },
			"read a+": func(_ *room, at string) []step { return []step{{"fs.read", arg{"path": at, "flags": "a+"}}} },
			"dots": func(r *room, at string) []step {
				return []step{{"fs.read", arg{"path": r.path("sub") + "/../" + strings.TrimPrefix(at, r.dir)}}}
			},
			"link": func(r *room, at string) []step { return []step{{"fs.symlink", arg{"target": at, "path": r.path("l")}}} },
			"relative": func(r *room, _ string) []step {
				return []step{{"fs.symlink", arg{"target": "../" + name, "path": r.path("sub/l")}}}
			},
			"link tmp": func(r *room, at string) []step { return []step{{"fs.symlink", arg{"target": at, "path": tmp(r, "l")}}} },
			"chain": func(r *room, at string) []step {
				return []step{{"fs.symlink", arg{"target": at, "path": tmp(r, "l")}}, {"fs.symlink", arg{"target": tmp(r, "l"), "path": r.path("m")}}}
			},
			"folder": func(r *room, at string) []step {
				return []step{{"fs.symlink", arg{"target": filepath.Dir(at), "path": r.path("l")}}, {"fs.read", arg{"path": filepath.Join(r.path("l"), filepath.Base(at))}}}
			},
			"hard":     func(r *room, at string) []step { return []step{{"fs.link", arg{"from": at, "to": r.path("h")}}} },
			"hard tmp": func(r *room, at string) []step { return []step{{"fs.link", arg{"from": at, "to": tmp(r, "h")}}} },
			"copy":     func(r *room, at string) []step { return []step{{"fs.copy", arg{"from": at, "to": r.path("c")}}} },
			"copy tmp": func(r *room, at string) []step { return []step{{"fs.copy", arg{"from": at, "to": tmp(r, "c")}}} },
			"rename":   func(r *room, at string) []step { return []step{{"fs.rename", arg{"from": at, "to": r.path("c")}}} },
			"to tmp":   func(r *room, at string) []step { return []step{{"fs.rename", arg{"from": at, "to": tmp(r, "c")}}} },
			"over it": func(r *room, at string) []step {
				return []step{{"fs.rename", arg{"from": r.path("sub/x"), "to": at}}, {"fs.read", arg{"path": at}}}
			},
			"of folder": func(r *room, at string) []step {
				return []step{{"fs.rename", arg{"from": filepath.Dir(at), "to": r.dir + "2"}}, {"fs.rename", arg{"from": filepath.Dir(at), "to": r.path("sub/moved")}}}
			},
			"r+": func(_ *room, at string) []step {
				return []step{{"fs.open", arg{"path": at, "flags": "r+"}}, {"fs.readAt", arg{"fd": 3, "length": 100}}}
			},
			"a+": func(_ *room, at string) []step {
				return []step{{"fs.open", arg{"path": at, "flags": "a+"}}, {"fs.readAt", arg{"fd": 3, "length": 100, "position": 0}}}
			},
			"c+": func(_ *room, at string) []step {
				return []step{{"fs.open", arg{"path": at, "flags": "c+"}}, {"fs.readAt", arg{"fd": 3, "length": 100, "position": 0}}}
			},
			"a only": func(_ *room, at string) []step {
				return []step{{"fs.open", arg{"path": at, "flags": "a"}}, {"fs.readAt", arg{"fd": 3, "length": 100, "position": 0}}}
			},
			"after cut": func(_ *room, at string) []step {
				return []step{{"fs.open", arg{"path": at, "flags": "a"}}, {"fs.ftruncate", arg{"fd": 3, "length": 5}}, {"fs.readAt", arg{"fd": 3, "length": 100, "position": 0}}}
			},
			"proc": func(_ *room, at string) []step {
				return []step{{"fs.read", arg{"path": "/proc/self/root" + at}}, {"fs.read", arg{"path": "/proc/self/cwd"}}}
			},
		} {
			t.Run(name+" "+title, func(t *testing.T) {
				r := newRoom(t, guardedRules)
				r.write(name, secret)
				r.write("sub/x", "x")
				var answers []script.Data
				for _, s := range steps(r, r.path(name)) {
					if answer, err := r.do(s.op, s.arg); err == nil {
						answers = append(answers, answer)
					}
				}
				if r.leaks(secret, answers...) {
					t.Error("the secret can be read")
				}
			})
		}
	}
}

// A name that somebody else has given a denied file does not open it, nor does
// writing by that name change the file.
func TestHardLinksOfOthers(t *testing.T) {
	r := newRoom(t, guardedRules)
	r.write(".env", "TOP-SECRET")
	tmp, err := r.world.temp.folder()
	must(t, err)
	for _, name := range []string{r.path("plain"), filepath.Join(tmp, "plain")} {
		must(t, os.Link(r.path(".env"), name))
		for _, flags := range []string{"r", "r+", "a", "w"} {
			got := r.code("fs.open", arg{"path": name, "flags": flags})
			if got != "EACCES permission" && got != "EPERM" {
				t.Errorf("opened by %s: %s", flags, got)
			}
		}
		for op, a := range map[string]arg{
			"fs.read": {"path": name}, "fs.copy": {"from": name, "to": r.path("c")}, "fs.rename": {"from": name, "to": r.path("c")}, "fs.link": {"from": name, "to": r.path("c")},
		} {
			if got := r.code(op, a); got != "EACCES permission" {
				t.Errorf("%s: %s", op, got)
			}
		}
		r.must("fs.write", arg{"path": name, "flags": "w"}, 'x')
		if r.text(name) != "x" || r.text(r.path(".env")) != "TOP-SECRET" {
			t.Errorf("%s is %q, the file %q", name, r.text(name), r.text(r.path(".env")))
		}
	}
}

// Pipes and devices neither make anybody wait nor are opened.
func TestSpecialFiles(t *testing.T) {
	r := newRoom(t, `{"*": "allow"}`)
	must(t, syscall.Mkfifo(r.path("fifo"), 0o600))
	for op, a := range map[string]arg{
		"fs.read": {"path": r.path("fifo")}, "fs.write": {"path": r.path("fifo"), "flags": "w"}, "fs.open": {"path": r.path("fifo"), "flags": "r+"},
		"fs.copy": {"from": r.path("fifo"), "to": r.path("c")}, "fs.truncate": {"path": "/dev/null", "length": 1},
	} {
		_, err := r.do(op, a)
		fail, ok := errors.AsType[*script.Failure](err)
		if !ok || fail.Syscall == "" || !strings.Contains(fail.Message, "pipe") {
			t.Errorf("%s: %v", op, err)
		}
	}
	r.must("fs.stat", arg{"path": r.path("fifo")})
	r.must("fs.rename", arg{"from": r.path("fifo"), "to": r.path("fifo2")})
	r.must("fs.unlink", arg{"path": r.path("fifo2")})
}

// A script that swaps a folder for a link while it reads and writes never gets
// beyond the folder.
func TestSwappedFolders(t *testing.T) {
	r := newRoom(t, guardedRules)
	must(t, os.WriteFile(filepath.Join(r.out, "f"), []byte("TOP-SECRET"), 0o600))
	r.write("real/f", "fine")
	must(t, os.Symlink(r.out, r.path("away")))
	must(t, os.Mkdir(r.path("spot"), 0o755))
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(r.path("spot"), r.path("aside"))
			_ = os.Rename(r.path([]string{"real", "away"}[n%2]), r.path("spot"))
			_ = os.Rename(r.path("spot"), r.path([]string{"real", "away"}[n%2]))
			_ = os.Rename(r.path("aside"), r.path("spot"))
		}
	})
	at := r.path("spot/f")
	for range 100 {
		if answer, err := r.do("fs.read", arg{"path": at}); err == nil && string(answer.Raw) == "TOP-SECRET" {
			t.Error("read what is outside")
		}
		_, _ = r.do("fs.write", arg{"path": at, "flags": "w"}, 'x')
		_, _ = r.do("fs.chmod", arg{"path": at, "mode": 0o777})
		_, _ = r.do("fs.unlink", arg{"path": at})
		_, _ = r.do("fs.mkdir", arg{"path": r.path("spot/d")})
		_, _ = r.do("fs.open", arg{"path": r.path("spot/n"), "flags": "w"})
		_, _ = r.do("fs.close", arg{"fd": 3})
	}
	close(stop)
	swapping.Wait()
	entries, err := os.ReadDir(r.out)
	must(t, err)
	info, err := os.Stat(filepath.Join(r.out, "f"))
	must(t, err)
	if len(entries) != 1 || r.text(filepath.Join(r.out, "f")) != "TOP-SECRET" || info.Mode().Perm() != 0o600 {
		t.Errorf("the folder outside holds %v, the file %q, %v", entries, r.text(filepath.Join(r.out, "f")), info.Mode())
	}
}

// What is in a folder is opened and changed itself: where it has become a link
// since it was looked at, nothing behind it is touched.
func TestFoldersFollowNoLinks(t *testing.T) {
	r := newRoom(t, `{"*": "deny"}`)
	far := filepath.Join(r.out, "far")
	must(t, os.WriteFile(far, []byte("far"), 0o600))
	must(t, os.Symlink(far, r.path("l")))
	must(t, os.Symlink(r.out, r.path("m")))
	before, err := os.Stat(far)
	must(t, err)
	d, err := openFolder(r.dir)
	must(t, err)
	defer d.close()
	for _, flags := range []int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR | os.O_CREATE, os.O_WRONLY | os.O_APPEND} {
		if f, err := d.open("l", flags, 0o666); !errors.Is(err, syscall.ELOOP) {
			t.Errorf("opened %v, %v", f, err)
		}
	}
	if in, err := d.openBelow("m"); err == nil {
		in.close()
		t.Error("a link to a folder was entered")
	}
	if in, err := openFolder(r.path("m")); err == nil {
		in.close()
		t.Error("a link to a folder was opened")
	}
	_ = d.chmod("l", 0o777)
	_ = d.utimes("l", moment(1), moment(1))
	must(t, d.unlink("l"))
	must(t, removeTree(t.Context(), d, "m"))
	after, err := os.Stat(far)
	must(t, err)
	if after.Mode() != before.Mode() || after.ModTime() != before.ModTime() {
		t.Errorf("it was changed: %v %v", after.Mode(), after.ModTime())
	}
	entries, err := os.ReadDir(r.dir)
	must(t, err)
	if len(entries) != 0 {
		t.Errorf("left: %v", entries)
	}
}

func TestModes(t *testing.T) {
	r := newRoom(t, `{"*": "allow"}`)
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)
	tmp, err := r.world.temp.folder()
	must(t, err)
	for _, dir := range []string{r.dir, tmp} {
		for _, c := range []struct{ mode, want uint32 }{{0o666, 0o640}, {0o777, 0o750}, {0o600, 0o600}, {0o400, 0o400}} {
			name := filepath.Join(dir, "f")
			r.must("fs.write", arg{"path": name, "flags": "w", "mode": c.mode})
			info, err := os.Stat(name)
			must(t, err)
			if got := uint32(info.Mode().Perm()); got != c.want {
				t.Errorf("%o became %o, want %o", c.mode, got, c.want)
			}
			must(t, os.Remove(name))
		}
	}
	r.write("run.sh", "#!/bin/sh")
	must(t, os.Chmod(r.path("run.sh"), 0o755))
	stamp := arg{"path": r.path("run.sh"), "atime": 1000000.0, "mtime": 2000000.0}
	r.must("fs.utimes", stamp)
	r.must("fs.rename", arg{"from": r.path("run.sh"), "to": r.path("moved.sh")})
	r.must("fs.copy", arg{"from": r.path("moved.sh"), "to": r.path("copy.sh")})
	var st facts
	for _, name := range []string{"moved.sh", "copy.sh"} {
		unmarshal(t, r.must("fs.stat", arg{"path": r.path(name)}), &st)
		if st.perm() != 0o755 {
			t.Errorf("%s has the mode %o", name, st.perm())
		}
	}
	unmarshal(t, r.must("fs.stat", arg{"path": r.path("moved.sh")}), &st)
	if st.Mtime != 2000000 {
		t.Errorf("the time was not kept: %v", st.Mtime)
	}
}

// What may not be changed is not changed by another name of it, made by somebody
// else: nothing is written in place where there are several.
func TestHardLinksAreNotWrittenThrough(t *testing.T) {
	r := programRoom(t, `{"*": "allow", "edit": {"*": "allow", "secret/*": "deny"}}`)
	r.write("secret/s", "as it was")
	must(t, os.Link(r.path("secret/s"), r.path("other")))
	for _, text := range []string{"echo x > other", "echo x >> other", "echo x | cat > other", "echo x <> other >&0"} {
		if got := r.script(text); got.Code == 0 || r.text(r.path("secret/s")) != "as it was" {
			t.Errorf("%s: %+v, and the file is %q", text, got, r.text(r.path("secret/s")))
		}
	}
	for _, how := range []string{"", "create"} {
		if got := r.code("sqlite.open", map[string]any{"path": r.path("other"), "create": how == "create"}); got != "EPERM" {
			t.Errorf("a database, %s: %s", how, got)
		}
	}
	if got := r.script("echo x > fine; cat fine"); got.Code != 0 || r.text(r.path("fine")) != "x\n" {
		t.Errorf("a file with one name: %+v", got)
	}
}
