package scripthost

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helve-dev/helve/internal/script"
	"pgregory.net/rapid"
)

// TestLikeTheSystem makes the same requests of a world whose rules allow all,
// and of the system by itself, in two folders. Answers and what is left are
// the same, in the project and in the folder that scripts have for themselves.
func TestLikeTheSystem(t *testing.T) {
	for _, ours := range []bool{false, true} {
		t.Run(fmt.Sprintf("ours %v", ours), func(t *testing.T) {
			r := newRoom(t, `{"*": "allow"}`)
			tmp, err := r.world.temp.folder()
			must(t, err)
			base := r.dir
			if ours {
				base = tmp
			}
			n := 0
			rapid.Check(t, func(t *rapid.T) {
				n++
				mine, theirs := filepath.Join(base, fmt.Sprint(n)), filepath.Join(r.out, fmt.Sprint(n))
				for _, dir := range []string{mine, theirs} {
					if err := os.Mkdir(dir, 0o755); err != nil {
						t.Fatal(err)
					}
				}
				var done []string
				for range rapid.IntRange(1, 12).Draw(t, "steps") {
					s := drawStep(t)
					done = append(done, fmt.Sprint(s))
					got, want := s.ask(r, mine), s.system(theirs)
					if got != want && !(s.op == "fs.mkdir" && want == "ELOOP" && got == "EEXIST") { // circles have both names
						t.Fatalf("%s: %s, and the system says %s", strings.Join(done, "\n"), got, want)
					}
				}
				if diff := cmp.Diff(planted(t, theirs), planted(t, mine)); diff != "" {
					t.Fatalf("%s (-want +got):\n%s", strings.Join(done, "\n"), diff)
				}
			})
		})
	}
}

// A step is one request, with names below a folder.
type step struct {
	op, a, b, flags, data string
	flag                  bool
	length                int
}

func drawStep(t *rapid.T) step {
	names := rapid.SampledFrom([]string{"a", "b", "d", "d/a", "d/e", "d/e/a", "l", "l/a", "a/x"})
	return step{
		op: rapid.SampledFrom([]string{
			"fs.write", "fs.write", "fs.read", "fs.stat", "fs.list", "fs.mkdir", "fs.mkdir", "fs.rmdir", "fs.unlink", "fs.remove", "fs.rename", "fs.rename", "fs.copy",
			"fs.symlink", "fs.readlink", "fs.real", "fs.chmod", "fs.truncate", "fs.access",
		}).Draw(t, "op"),
		a: names.Draw(t, "a"), b: names.Draw(t, "b"),
		flags: rapid.SampledFrom([]string{"w", "a", "wx", "ax", "r+", "c"}).Draw(t, "flags"),
		data:  rapid.SampledFrom([]string{"", "one", "three"}).Draw(t, "data"),
		flag:  rapid.Bool().Draw(t, "flag"), length: rapid.IntRange(0, 9).Draw(t, "length"),
	}
}

// ask makes the request of the world.
func (s step) ask(r *room, dir string) string {
	at := dir + "/" + s.a
	a := arg{"path": at, "from": at, "to": dir + "/" + s.b, "flags": s.flags, "recursive": s.flag, "force": true, "length": s.length, "mode": 0o750}
	switch s.op {
	case "fs.symlink":
		a["target"] = s.b
	case "fs.copy":
		a["exclusive"] = s.flag
	case "fs.stat":
		a["link"] = s.flag
	case "fs.access":
		a["mode"] = 4
	case "fs.read":
		a["flags"] = "r"
	case "fs.write":
		a["mode"] = 0o640
	case "fs.mkdir":
		a["mode"] = 0o750
	}
	answer, err := r.do(s.op, a, []byte(s.data)...)
	if fail, ok := errors.AsType[*script.Failure](err); ok {
		return fail.Code
	}
	if err != nil {
		return err.Error()
	}
	switch s.op {
	case "fs.stat":
		var st facts
		unmarshal(r.tb, string(answer.JSON), &st)
		if st.isDir() || st.link() {
			st.Size = 0
		}
		return fmt.Sprintf("%o %d", st.Mode, st.Size)
	case "fs.list":
		var pairs [][2]string
		unmarshal(r.tb, string(answer.JSON), &pairs)
		var out []string
		for _, p := range pairs {
			out = append(out, p[0]+":"+p[1])
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	return strings.ReplaceAll(string(answer.Raw)+strings.TrimPrefix(string(answer.JSON), "null"), dir, "$")
}

// system does the same by itself.
func (s step) system(dir string) string {
	said, err := s.act(dir, dir+"/"+s.a, dir+"/"+s.b)
	if err != nil {
		return errnoName(err)
	}
	return strings.ReplaceAll(said, dir, "$")
}

func (s step) act(dir, at, to string) (string, error) {
	switch s.op {
	case "fs.write":
		return "", s.write(at)
	case "fs.read":
		data, err := os.ReadFile(at)
		return string(data), err
	case "fs.stat", "fs.list":
		return s.look(at)
	case "fs.mkdir":
		return s.mkdir(at)
	case "fs.rmdir":
		return "", syscall.Rmdir(at)
	case "fs.unlink":
		return "", syscall.Unlink(at)
	case "fs.remove":
		info, err := os.Lstat(at)
		if errors.Is(err, os.ErrNotExist) {
			return "", nil
		}
		if err == nil && info.IsDir() && s.flag {
			return "", os.RemoveAll(at)
		}
		if err != nil {
			return "", err
		}
		return "", syscall.Unlink(at)
	case "fs.rename":
		return "", syscall.Rename(at, to)
	case "fs.copy":
		return "", s.copy(at, to)
	case "fs.symlink":
		return "", syscall.Symlink(s.b, at)
	}
	return s.more(at)
}

func (s step) more(at string) (string, error) {
	switch s.op {
	case "fs.readlink":
		target, err := os.Readlink(at)
		return `"` + target + `"`, err
	case "fs.real":
		if _, err := os.Stat(at); err != nil {
			return "", err
		}
		real, err := filepath.EvalSymlinks(at)
		return `"` + real + `"`, err
	case "fs.chmod":
		return "", syscall.Chmod(at, 0o750)
	case "fs.truncate":
		return "", syscall.Truncate(at, int64(s.length))
	}
	return "", syscall.Access(at, 4)
}

func (s step) write(at string) error {
	flags := map[string]int{
		"w": os.O_WRONLY | os.O_CREATE | os.O_TRUNC, "a": os.O_WRONLY | os.O_CREATE | os.O_APPEND, "r+": os.O_RDWR, "c": os.O_WRONLY | os.O_CREATE,
		"wx": os.O_WRONLY | os.O_CREATE | os.O_TRUNC | os.O_EXCL, "ax": os.O_WRONLY | os.O_CREATE | os.O_APPEND | os.O_EXCL,
	}[s.flags]
	f, err := os.OpenFile(at, flags, 0o640)
	if err != nil {
		return err
	}
	_, err = f.WriteString(s.data)
	return errors.Join(err, f.Close())
}

func (s step) look(at string) (string, error) {
	if s.op == "fs.list" {
		if _, err := os.ReadDir(at); err != nil {
			return "", err
		}
		var out []string
		real, err := filepath.EvalSymlinks(at)
		if err != nil {
			return "", err
		}
		err = filepath.WalkDir(real, func(name string, d os.DirEntry, err error) error {
			rel, _ := filepath.Rel(real, name)
			if rel != "." {
				out = append(out, rel+":"+entryKind(d.Type()))
			}
			if rel != "." && d.IsDir() && !s.flag {
				return filepath.SkipDir
			}
			return err
		})
		slices.Sort(out)
		return strings.Join(out, " "), err
	}
	var st syscall.Stat_t
	look := syscall.Stat
	if s.flag {
		look = syscall.Lstat
	}
	if err := look(at, &st); err != nil {
		return "", err
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		st.Size = 0
	}
	return fmt.Sprintf("%o %d", st.Mode, st.Size), nil
}

func (s step) mkdir(at string) (string, error) {
	if !s.flag {
		return "", syscall.Mkdir(at, 0o750)
	}
	first := ""
	for dir := filepath.Clean(at); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err == nil && info.IsDir() {
			break
		}
		if errors.Is(err, syscall.ELOOP) {
			return "", err
		}
		if err == nil && first == "" {
			return "", syscall.EEXIST
		}
		if err == nil {
			return "", syscall.ENOTDIR
		}
		first = dir
	}
	if first == "" {
		return "", nil
	}
	return `"` + first + `"`, os.MkdirAll(at, 0o750)
}

func (s step) copy(at, to string) error {
	info, err := os.Stat(at)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return syscall.EISDIR
	}
	if there, err := os.Stat(to); err == nil && !s.flag && os.SameFile(info, there) {
		return nil
	}
	data, err := os.ReadFile(at)
	if err != nil {
		return err
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if s.flag {
		flags |= os.O_EXCL
	}
	f, err := os.OpenFile(to, flags, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Chmod(info.Mode().Perm()), f.Close())
}

// planted is what lies below a folder: kinds, modes and contents.
func planted(t *rapid.T, dir string) map[string]string {
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := ""
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			text = string(data)
		case info.Mode()&os.ModeSymlink != 0:
			text, _ = os.Readlink(name)
		}
		out[strings.TrimPrefix(name, dir)] = info.Mode().String() + " " + text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
