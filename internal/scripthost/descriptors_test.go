package scripthost

import (
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDescriptors(t *testing.T) {
	r := newRoom(t, `{"*": "allow"}`)
	r.write("a", "0123456789")
	open := func(name, flags string) (fd int) {
		t.Helper()
		unmarshal(t, r.must("fs.open", arg{"path": r.path(name), "flags": flags}), &fd)
		return fd
	}
	read := func(fd, length int, position any) string {
		t.Helper()
		answer, err := r.do("fs.readAt", arg{"fd": fd, "length": length, "position": position})
		must(t, err)
		return string(answer.Raw)
	}
	fd := open("a", "r")
	if fd != firstDescriptor {
		t.Errorf("the first is %d", fd)
	}
	got := []string{read(fd, 3, nil), read(fd, 3, nil), read(fd, 100, 8), read(fd, 100, nil), read(fd, 5, nil), read(fd, 5, 50)}
	if diff := cmp.Diff([]string{"012", "345", "89", "6789", "", ""}, got); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	for op, want := range map[string]string{"fs.ftruncate": "EINVAL", "fs.writeAt": "EBADF"} {
		if got := r.code(op, arg{"fd": fd, "length": 1}, 'x'); got != want {
			t.Errorf("%s on what is open for reading: %s", op, got)
		}
	}
	second := open("a", "r+")
	r.must("fs.writeAt", arg{"fd": second, "position": 2}, []byte("xx")...)
	r.must("fs.ftruncate", arg{"fd": second, "length": 6})
	r.must("fs.sync", arg{"fd": second})
	if got := read(second, 100, 0); got != "01xx45" {
		t.Errorf("after writing: %q", got)
	}
	var st facts
	unmarshal(t, r.must("fs.fstat", arg{"fd": second}), &st)
	if st.Size != 6 || !st.regular() {
		t.Errorf("facts: %+v", st)
	}
	r.must("fs.close", arg{"fd": fd})
	if got := r.code("fs.close", arg{"fd": fd}); got != "EBADF" {
		t.Errorf("closed twice: %s", got)
	}
	if again := open("a", "a"); again != fd {
		t.Errorf("the number is %d, want %d", again, fd)
	}
	r.must("fs.writeAt", arg{"fd": fd, "position": 0}, []byte("end")...) // a position means nothing here
	must(t, r.world.Close())
	if got := r.text(r.path("a")); got != "01xx45end" {
		t.Errorf("it holds %q", got)
	}
	if got := r.code("fs.open", arg{"path": r.path("a"), "flags": "r"}); got != "EBADF" {
		t.Errorf("opened after the end: %s", got)
	}
	if diff := cmp.Diff([]string{"change a", "change a"}, r.changed()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestTooManyDescriptors(t *testing.T) {
	r := newRoom(t, `{"*": "allow"}`)
	r.write("a", "")
	for range maxOpen {
		r.must("fs.open", arg{"path": r.path("a"), "flags": "r"})
	}
	if got := r.code("fs.open", arg{"path": r.path("a"), "flags": "r"}); got != "EMFILE" {
		t.Errorf("one too many: %s", got)
	}
}

// Scripts may ask many things at once.
func TestAtOnce(t *testing.T) {
	r := newRoom(t, `{"*": "allow"}`)
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			for range 5 {
				r.must("fs.write", arg{"path": r.path("log"), "flags": "a"}, 'x')
				r.must("fs.write", arg{"path": r.path(strconv.Itoa(n)), "flags": "w"}, 'y')
				var fd int
				unmarshal(t, r.must("fs.open", arg{"path": r.path(strconv.Itoa(n)), "flags": "r"}), &fd)
				r.must("fs.readAt", arg{"fd": fd, "length": 1})
				r.must("fs.close", arg{"fd": fd})
			}
		})
	}
	all.Wait()
	if info, err := os.Stat(r.path("log")); err != nil || info.Size() != 100 {
		t.Errorf("%v, %v", info.Size(), err)
	}
}

// BenchmarkRead reads a small file of the project that a rule allows.
func BenchmarkRead(b *testing.B) {
	r := benchRoom(b)
	for b.Loop() {
		if _, err := r.do("fs.read", arg{"path": r.path("a/b/c.txt"), "flags": "r"}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStat(b *testing.B) {
	r := benchRoom(b)
	for b.Loop() {
		if _, err := r.do("fs.stat", arg{"path": r.path("a/b/c.txt")}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	r := benchRoom(b)
	for b.Loop() {
		if _, err := r.do("fs.write", arg{"path": r.path("a/b/c.txt"), "flags": "w"}, []byte(time.Now().String())...); err != nil {
			b.Fatal(err)
		}
	}
}

func benchRoom(b *testing.B) *room {
	b.Helper()
	r := newRoom(b, `{"*": "allow", "read": {"*": "allow", "*.env": "ask"}}`)
	r.write("a/b/c.txt", "some text that is not long")
	r.write(".git/HEAD", "x")
	return r
}
