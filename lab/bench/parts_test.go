package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/cli"
	"github.com/helve-dev/helve/lab/internal/proof"
)

// The test's own program plays the helve command too.
func TestMain(m *testing.M) {
	helve.RunHelper()
	if filepath.Base(os.Args[0]) == "helve" {
		dir, _ := os.Getwd()
		self, _ := os.Executable()
		os.Exit(cli.Main(context.Background(), cli.Env{
			Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Dir: dir, Self: self,
		}))
	}
	os.Exit(m.Run())
}

func tiny(t *testing.T) *bench {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("processes are looked at as Linux shows them")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join("..", ".."))
	b := &bench{helve: filepath.Join(t.TempDir(), "helve"), peers: map[string]string{}, quick: true, log: io.Discard}
	if err := os.Symlink(self, b.helve); err != nil {
		t.Fatal(err)
	}
	return b
}

// Every part runs with small sizes, holds what has to hold, and has the figures
// that are wanted of it and no others.
func TestParts(t *testing.T) {
	p, err := loadPlan()
	if err != nil {
		t.Fatal(err)
	}
	_, used, err := render(p, &book{})
	if err != nil {
		t.Fatal(err)
	}
	quick := []string{"start", "hold-waiting"}
	for _, part := range p.Parts {
		measure := measurements()[part.Name]
		if measure == nil {
			continue
		}
		t.Run(part.Name, func(t *testing.T) {
			if testing.Short() && !slices.Contains(quick, part.Name) {
				t.Skip("takes seconds")
			}
			b := tiny(t)
			for _, need := range part.Needs {
				if need == "opencode" { // without it helve is measured alone
					b.peers[need] = os.Getenv("HELVE_OPENCODE")
					continue
				}
				program := p.Peers[need].Program
				if need == "ripgrep15" { // an older one takes the same options
					program = cmp.Or(os.Getenv("HELVE_RG15"), "rg")
				}
				path, err := exec.LookPath(program)
				if err != nil {
					t.Skip("there is no ", need)
				}
				b.peers[need] = path
			}
			if err := b.measure(t.Context(), measure); err != nil {
				t.Fatal(err)
			}
			got := map[string]proof.Figure{}
			for _, f := range b.figures {
				if _, twice := got[f.ID]; twice || !used[f.ID] || f.Value < 0 || f.Peer != "" && f.PeerValue <= 0 {
					t.Errorf("a figure that nobody wants, twice, or without a value: %+v", f)
				}
				got[f.ID] = f
			}
			for _, w := range p.Wanted {
				none := w.Most != nil && *w.Most == 0
				if f, ok := got[w.ID]; w.Part == part.Name && (!ok || none != (f.Value == 0)) {
					t.Errorf("%s is %+v", w.ID, f)
				}
			}
			if left := proof.Descendants(os.Getpid()); len(left) > 0 {
				t.Errorf("processes are left: %v", left)
			}
		})
	}
}

// What ends a part, and what does not hold, is told; what the part has made is
// gone.
func TestMeasure(t *testing.T) {
	b, wrong := tiny(t), errors.New("that is not it")
	var w *proof.World
	err := b.measure(t.Context(), func(ctx context.Context, b *bench) {
		w = b.world(allowed)
		b.start(ctx, w, func(line string) bool { return line == "ready "+smallEnd }, "sh", "-c", `echo "ready $(tail -c 24 small.txt)"; sleep 600 & wait`)
		b.add("a.b", 1, "ms", "")
		b.hold(false, "not %s", "this")
		b.must(nil)
		b.must(wrong)
		t.Error("it went on")
	})
	if !errors.Is(err, wrong) || !strings.Contains(err.Error(), "FAILED: not this") || len(b.figures) != 1 {
		t.Error(err, b.figures)
	}
	if _, err := os.Stat(w.Root); !os.IsNotExist(err) {
		t.Error("the world is still there")
	}
	if left := proof.Descendants(os.Getpid()); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
}

// A program that fails says why; what is wrong is an error and no figure.
func TestRace(t *testing.T) {
	b := tiny(t)
	err := b.measure(t.Context(), func(ctx context.Context, b *bench) {
		w := b.world(allowed)
		cat := &way{name: "cat", program: program{argv: []string{"sh", "-c", "cat; sleep 0.05"}, in: "given", watched: true}, check: says("given")}
		b.race(ctx, w, 2, cat)
		if len(cat.walls) != 2 || cat.memory <= 0.1 {
			t.Errorf("%+v", cat)
		}
		b.compare("a.b", cat, nil, "", "p50", "memory")
		b.race(ctx, w, 1, &way{name: "one", program: program{argv: []string{"sh", "-c", "echo why >&2; exit 3"}}})
	})
	if err == nil || !strings.Contains(err.Error(), "one: sh: exit status 3: why") || len(b.figures) != 2 {
		t.Error(err, b.figures)
	}
}

// A part that is interrupted ends soon, leaves nothing, and says so.
func TestInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	b := tiny(t)
	b.quick = false
	t.Setenv("TMPDIR", t.TempDir())
	for _, name := range []string{"hold-waiting", "hold-bash", "hold-restart"} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		err := b.measure(ctx, measurements()[name])
		cancel()
		left, failed := os.ReadDir(os.TempDir())
		if err == nil || failed != nil || slices.ContainsFunc(left, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), "helve-proof-") }) {
			t.Errorf("%s: %v; there is %v, %v", name, err, left, failed)
		}
		if left := proof.Descendants(os.Getpid()); len(left) > 0 {
			t.Errorf("%s: processes are left: %v", name, left)
		}
		b.cleanups = nil
	}
}
