package builtin_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// A creature is a file of the zoo, and what a read of it has to end with:
// "text", "image" or "pdf" for content of that kind, "picture" for an image
// or the error that it is broken, "any" for any end, and else the code of an
// error.
type creature struct {
	name  string
	data  []byte
	build func(t *testing.T, path string) // where data alone does not do
	args  map[string]any
	want  string
	shows string // a part of the output
}

// A zoo is read with one runtime, as a session would.
type zoo struct {
	*desk
	ctx context.Context
}

// TestZoo reads files of every kind. Each read ends with content or an error
// with a code, no text is called binary, and no binary is shown as text.
func TestZoo(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 210*time.Second)
	defer cancel()
	z := zoo{desk: newDesk(t, permission.Allow), ctx: ctx}
	all := slices.Concat(zooTexts(t), zooMislabelled(), zooImages(t), zooGiants(t), zooPDFs(), zooNotebooks(), zooBinaries(t), zooNothing())
	if len(all) < 150 {
		t.Errorf("only %d files", len(all))
	}
	seen := map[string]bool{}
	for _, c := range slices.Concat(all, zooSpecial(t, z.dir)) {
		if seen[c.name+encoded(c.args)] {
			t.Errorf("two files are called %s", c.name)
		}
		seen[c.name+encoded(c.args)] = true
		t.Run(c.name, func(t *testing.T) { z.visit(t, c) })
	}
	t.Logf("%d files", len(seen))
}

// TestZooHuge reads files that do not fit into memory, and take no space on
// disk where the file system can leave holes.
func TestZooHuge(t *testing.T) {
	if testing.Short() {
		t.Skip("reads through twelve gigabytes")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 210*time.Second)
	defer cancel()
	z := zoo{desk: newDesk(t, permission.Allow), ctx: ctx}
	for _, c := range zooHuge() {
		t.Run(c.name+encoded(c.args), func(t *testing.T) { z.visit(t, c) })
	}
}

// visit makes a file, unless it is there, reads it, and looks at the end.
func (z zoo) visit(t *testing.T, c creature) {
	t.Helper()
	path := filepath.Join(z.dir, c.name)
	if filepath.IsAbs(c.name) {
		path = c.name
	}
	switch {
	case c.build != nil:
		c.build(t, path)
	case c.data != nil:
		write(t, path, c.data)
	}
	args := asInput(t, merge(map[string]any{"filePath": path}, c.args))
	res, err := z.rt.Call(z.ctx, tool.Call{Session: "zoo", Tool: "read", Input: args})
	if err != nil {
		e, ok := errors.AsType[*tool.Error](err)
		if !ok || e.Code == "" || e.Kind != tool.Failed || !utf8.ValidString(e.Error()) || len(e.Error()) > 4096 {
			t.Fatalf("no proper error: %v", err)
		}
		fine := e.Code == c.want || c.want == "any" || c.want == "picture" && (e.Code == "bad-image" || e.Code == "too-large")
		if !fine {
			t.Errorf("the error is %s and not %s: %v", e.Code, c.want, err)
		}
		return
	}
	c.look(t, res)
}

// look judges content.
func (c creature) look(t *testing.T, res *tool.Result) {
	t.Helper()
	kind := "text"
	if len(res.Attachments) == 1 {
		kind, _, _ = strings.Cut(res.Attachments[0].Mime, "/")
		kind = strings.Replace(kind, "application", "pdf", 1)
		if most := map[string]int{"image": 5_000_000, "pdf": 28_000_000}[kind]; len(res.Attachments[0].URL) > most {
			t.Errorf("%d bytes of %s are attached", len(res.Attachments[0].URL), kind)
		}
	}
	if c.want != kind && c.want != "any" && (c.want != "picture" || kind != "image") {
		t.Errorf("it is shown as %s, and should have ended with %s: %.200q", kind, c.want, res.Output)
	}
	if !strings.Contains(res.Output, c.shows) {
		t.Errorf("%q is not shown: %.300q", c.shows, res.Output)
	}
	if len(res.Output) > 200_000 || len(res.Attachments) > 1 || !utf8.ValidString(res.Output) {
		t.Errorf("%d bytes and %d files are shown", len(res.Output), len(res.Attachments))
	}
}

// zooNothing are files with nothing in them, or next to it.
func zooNothing() (all []creature) {
	for _, name := range []string{"txt", "png", "pdf", "ipynb", "zip", "json", "exe"} {
		all = append(all, creature{name: "empty." + name, data: []byte{}, want: "text", shows: "00001| \n"})
	}
	for name, n := range map[string]int{"one": 1, "page": 4096, "odd": 4097, "million": 1 << 20} {
		all = append(all, creature{name: "nul-" + name + ".txt", data: make([]byte, n), want: "binary"})
	}
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	return append(all,
		creature{name: "newline.txt", data: []byte("\n"), want: "text"},
		creature{name: "mark.txt", data: []byte("\ufeff"), want: "text"},
		creature{name: "mark16.txt", data: []byte("\xff\xfe"), want: "text"},
		creature{name: "deep.json", data: []byte(deep), want: "text", shows: "[[[["},
		creature{name: "deep.ipynb", data: []byte(`{"cells":` + deep + `}`), want: "text", shows: "[[[["},
		creature{name: "deep-lines.json", data: []byte(strings.Repeat("{\"a\":\n", 50_000)), want: "text", shows: `{"a":`},
		creature{name: "not-there.txt", want: "not-found"},
	)
}

// zooSpecial are what is no file. They are made at once, and some are the
// system's.
func zooSpecial(t *testing.T, dir string) (all []creature) {
	t.Helper()
	const none = "not-a-regular-file"
	mkdir(t, filepath.Join(dir, "folder"))
	if err := mkfifo(filepath.Join(dir, "fifo")); err == nil {
		all = append(all, creature{name: "fifo", want: none})
		for name, to := range map[string]string{"link-fifo": "fifo", "link-nowhere": "nowhere", "link-loop": "link-loop"} {
			if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, creature{name: "link-fifo", want: none}, creature{name: "link-nowhere", want: "not-found"}, creature{name: "link-loop", want: "any"})
	}
	if l, err := net.Listen("unix", filepath.Join(dir, "socket")); err == nil { // else its name is too long here
		t.Cleanup(func() { _ = l.Close() })
		all = append(all, creature{name: "socket", want: none})
	}
	for _, name := range []string{"/dev/zero", "/dev/null", "/dev/urandom", "/dev/full"} {
		if _, err := os.Lstat(name); err == nil {
			all = append(all, creature{name: name, want: none})
		}
	}
	if runtime.GOOS == "linux" {
		all = append(all, creature{name: "/proc/self/maps", want: "any"}, creature{name: "/proc/self/mem", want: "any"}, creature{name: "/proc/version", want: "text", shows: "Linux"})
	}
	return append(all, creature{name: "folder", want: "text", shows: "<type>directory</type>"})
}

// holes builds a file of pieces at places, with nothing between them.
func holes(size int64, pieces map[int64]string) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		t.Helper()
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := f.Truncate(size); err != nil {
			t.Skipf("the file system refuses a file of %d bytes: %v", size, err)
		}
		for at, text := range pieces {
			if _, err := f.WriteAt([]byte(text), at); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func zooHuge() []creature {
	const gig = 1 << 30
	head := strings.Repeat("text\n", 1000)
	ten := holes(10*gig+21, map[int64]string{0: head, 10 * gig: "\nnear the end\nlast\n"})
	line := holes(gig+64, map[int64]string{0: strings.Repeat("x", 64<<20), gig: strings.Repeat("y", 60) + "\nend"})
	return []creature{
		{name: "gigabyte.bin", build: holes(gig, nil), want: "binary"},
		{name: "gigabyte.txt", build: holes(gig, map[int64]string{0: head}), want: "text", shows: "01000| text"},
		{name: "gigabyte.txt", args: map[string]any{"offset": 2000}, want: "range"},
		{name: "ten.txt", build: ten, args: map[string]any{"offset": 1001}, want: "text", shows: "01002| near the end\n01003| last\n"},
		{name: "ten.txt", args: map[string]any{"limit": 10}, want: "text", shows: "00010| text"},
		{name: "line.txt", build: line, args: map[string]any{"limit": 1}, want: "text", shows: "xxx...\n"},
		{name: "line.txt", args: map[string]any{"offset": 1}, want: "text", shows: "00002| end\n"},
	}
}
