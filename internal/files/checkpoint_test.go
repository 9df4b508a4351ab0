package files_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/helve-dev/helve/internal/files"
)

// at names files that are endangered.
func at(name string) files.Pattern   { return files.Pattern{Name: name} }
func glob(name string) files.Pattern { return files.Pattern{Name: name, Glob: true} }

// run runs a real command.
func (d *desk) run(name string, args ...string) string {
	d.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = d.ws
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "GIT_OPTIONAL_LOCKS=0",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func (d *desk) make(name, text string, mode fs.FileMode) {
	d.t.Helper()
	path := filepath.Join(d.ws, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644), os.Chmod(path, mode)); err != nil {
		d.t.Fatal(err)
	}
}

// snap is what is in a folder, byte for byte, with modes.
func snap(t testing.TB, dir string, skip ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if slices.Contains(skip, rel) {
			return fs.SkipDir
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		what := info.Mode().String()
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(path)
			what += " " + to
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			what += fmt.Sprintf(" %d %x", len(data), sha256.Sum256(data))
		}
		out[rel] = what
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func same(t testing.TB, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("not as wanted (-want +got):\n%s", diff)
	}
}

func (d *desk) checkpoint(dangers ...files.Endangered) *files.Checkpoint {
	d.t.Helper()
	c, err := d.files.Checkpoint(d.t.Context(), files.By{Session: "s", Call: "call", Tool: "bash", Dir: d.ws}, dangers, files.CheckpointLimits{})
	if err != nil {
		d.t.Fatal(err)
	}
	return c
}

func (d *desk) settle(c *files.Checkpoint) {
	d.t.Helper()
	if err := c.Settle(); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) sets() (out []files.ChangeSet) {
	d.t.Helper()
	for s, err := range d.files.History.Sets(d.t.Context(), files.HistoryQuery{}) {
		if err != nil {
			d.t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

// undo takes the newest set back.
func (d *desk) undoLast() files.UndoPlan {
	d.t.Helper()
	plan, _, err := d.files.Undo(d.t.Context(), files.By{Dir: d.ws, Tool: "undo"}, d.sets()[:1])
	if err != nil {
		d.t.Fatal(err)
	}
	return plan
}

// storeFiles are the contents and changes under way that the history holds.
func (d *desk) storeFiles() (n int) {
	for _, dir := range []string{"blobs", "pending", "tmp", "sets"} {
		_ = filepath.WalkDir(filepath.Join(filepath.Dir(d.ws), "history", dir), func(_ string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				n++
			}
			return nil
		})
	}
	return n
}

func (d *desk) zoo() {
	d.t.Helper()
	d.make("zoo/plain.txt", "plain\n", 0o644)
	d.make("zoo/empty", "", 0o644)
	d.make("zoo/binary", string([]byte{0, 1, 2, 255, 254, 10, 13, 0}), 0o640)
	d.make("zoo/run.sh", "#!/bin/sh\n", 0o755)
	d.make("zoo/read-only", "r", 0o444)
	d.make("zoo/shut", "shut", 0)
	d.make("zoo/big", strings.Repeat("a line of text that packs well\n", 100_000), 0o600)
	noise := make([]byte, 1<<20+1<<18)
	for i, x := 0, uint32(1); i < len(noise); i++ {
		x = x*1664525 + 1013904223
		noise[i] = byte(x >> 24)
	}
	d.make("zoo/noise", string(noise), 0o644)
	d.make("zoo/sub/deep/er/file", "deep", 0o644)
	d.make("zoo/ name with\nnewline and 'quotes' \"", "odd", 0o644)
	d.make("zoo/\xff\xfe not utf-8", "odder", 0o644)
	d.make("zoo/-rf", "dash", 0o644)
	d.make("zoo/ignored.log", "ignored", 0o644)
	d.make("outside", "stays", 0o644)
	for _, err := range []error{
		os.Link(filepath.Join(d.ws, "zoo/plain.txt"), filepath.Join(d.ws, "zoo/hard")),
		os.Link(filepath.Join(d.ws, "zoo/run.sh"), filepath.Join(d.ws, "hard-outside")),
		os.Symlink("plain.txt", filepath.Join(d.ws, "zoo/link")),
		os.Symlink("../outside", filepath.Join(d.ws, "zoo/link-out")),
		os.Symlink("nowhere", filepath.Join(d.ws, "zoo/dangling")),
		os.Symlink("..", filepath.Join(d.ws, "zoo/loop")),
		os.Symlink("/etc", filepath.Join(d.ws, "zoo/etc")),
		os.MkdirAll(filepath.Join(d.ws, "zoo/void/void"), 0o755),
		os.Mkdir(filepath.Join(d.ws, "zoo/private"), 0o700),
		os.WriteFile(filepath.Join(d.ws, "zoo/private/key"), []byte("key"), 0o600),
		os.Mkdir(filepath.Join(d.ws, "zoo/frozen"), 0o755),
		os.WriteFile(filepath.Join(d.ws, "zoo/frozen/file"), []byte("cold"), 0o444),
		os.Chmod(filepath.Join(d.ws, "zoo/frozen"), 0o555),
	} {
		if err != nil {
			d.t.Fatal(err)
		}
	}
}

func TestCheckpointDeletedTree(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.zoo()
	before := snap(t, d.ws)
	c := d.checkpoint(files.Endangered{Path: at("zoo"), Tree: true})
	same(t, []string(nil), c.Left)
	same(t, before, snap(t, d.ws))
	d.run("rm", "-rf", "--", "zoo")
	d.settle(c)
	if len(c.Changed()) < 20 || !c.Changed()[0].Gone || !c.Changed()[0].Kept || c.ID() == "" {
		t.Errorf("changed: %+v", c.Changed())
	}
	gone := snap(t, d.ws)
	d.undoLast()
	same(t, before, snap(t, d.ws))

	// An undo can be taken back, and that too.
	d.undoLast()
	same(t, gone, snap(t, d.ws))
	d.undoLast()
	same(t, before, snap(t, d.ws))
}

func TestCheckpointNothingLost(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.zoo()
	before := d.storeFiles()
	c := d.checkpoint(files.Endangered{Path: at("zoo"), Tree: true})
	if d.storeFiles() < 10 {
		t.Fatal("nothing was kept")
	}
	d.settle(c)
	same(t, 0, len(c.Changed()))
	same(t, "", c.ID())
	same(t, before, d.storeFiles())
	same(t, 0, len(d.sets()))

	c = d.checkpoint(files.Endangered{Path: at("zoo"), Tree: true})
	if err := c.Drop(); err != nil {
		t.Fatal(err)
	}
	same(t, before, d.storeFiles())

	// Of what is lost in part only that stays.
	c = d.checkpoint(files.Endangered{Path: at("zoo"), Tree: true})
	d.run("rm", "zoo/noise")
	d.settle(c)
	same(t, before+2, d.storeFiles()) // the set and the contents
	same(t, []files.Lost{{File: filepath.Join(d.ws, "zoo/noise"), Title: "zoo/noise", Gone: true, Kept: true}}, c.Changed())
}

func TestCheckpointKinds(t *testing.T) {
	t.Parallel()
	type danger = files.Endangered
	tests := []struct {
		name    string
		dangers []danger
		command string
		lost    []string
	}{
		{"redirect", []danger{{Path: at("a"), Write: true}}, "> a", []string{"a"}},
		{"redirect to a new file", []danger{{Path: at("new"), Write: true}}, "echo x > new; rm new", nil},
		{"redirect through a link", []danger{{Path: at("link"), Write: true}}, "echo x > link", []string{"a"}},
		{"glob", []danger{{Path: glob("*.txt")}}, "rm *.txt", []string{"**.txt", "x.txt", "y.txt"}},
		{"glob in folders", []danger{{Path: glob("d*/[!zs]")}}, "rm d*/[!zs]", []string{"d/a", "d/b"}},
		{"glob with quotes", []danger{{Path: glob(`\*\*.?xt`)}}, `rm '**'.?xt`, []string{"**.txt"}},
		{"glob of trees", []danger{{Path: glob("*"), Tree: true}}, "rm -rf *", []string{"**.txt", "a", "b", "d/a", "d/b", "d/s/c", "link", "x.txt", "y.txt"}},
		{"found by name", []danger{{Path: at("."), Tree: true, Name: "[as]"}}, "find . -name '[as]' -exec rm -r {} +", []string{"a", "d/a", "d/s/c"}},
		{"seen from elsewhere", []danger{{Path: files.Pattern{Name: "?", Glob: true, Dir: "DIR/d"}}}, "rm d/[ab]", []string{"d/a", "d/b"}},
		{"copy over", []danger{{Path: at("b"), From: []files.Pattern{at("a")}}}, "cp a b", []string{"b"}},
		{"copy into", []danger{{Path: at("d"), From: []files.Pattern{at("a"), at("b")}}}, "cp a b d", []string{"d/a", "d/b"}},
		{"copy tree", []danger{{Path: at("e"), From: []files.Pattern{at("d")}}}, "mkdir -p e; cp -r d e", nil},
		{"move over", []danger{{Path: at("b"), From: []files.Pattern{at("a")}, Move: true}}, "mv a b", []string{"a", "b"}},
		{"move away", []danger{{Path: at("new"), From: []files.Pattern{at("a")}, Move: true}}, "mv a new; mv new a", nil},
		{"a link becomes a file", []danger{{Path: at("link"), Write: true}}, "sed -i s/a/b/ link", []string{"link"}},
		{"a file becomes a link", []danger{{Path: at("a")}}, "ln -sf b a", []string{"a"}},
		{"another link", []danger{{Path: at("link")}}, "ln -sf b link", []string{"link"}},
		{"a file becomes a folder", []danger{{Path: at("a")}}, "rm a; mkdir a", []string{"a"}},
		{"a folder becomes a file", []danger{{Path: at("d"), Tree: true}}, "rm -r d; echo x > d; rm d", []string{"d/a", "d/b", "d/s/c"}},
		{"mode", []danger{{Path: at("a")}}, "chmod 755 a; echo x > a", []string{"a"}},
		{"only the mode", []danger{{Path: at("a")}}, "chmod 755 a", []string{"a"}},
		{"above", []danger{{Path: at("d/../b")}}, "rm d/../b", []string{"b"}},
		{"folder is no file", []danger{{Path: at("d")}}, "true", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			for _, name := range []string{"a", "b", "x.txt", "y.txt", ".h.txt", "**.txt", "d/a", "d/b", "d/z", "d/s/c"} {
				d.make(name, "a "+name, 0o644)
			}
			if tt.name != "glob in folders" {
				_ = os.Remove(filepath.Join(d.ws, "d/z"))
			}
			if err := os.Symlink("a", filepath.Join(d.ws, "link")); err != nil {
				t.Fatal(err)
			}
			before := snap(t, d.ws)
			for i := range tt.dangers {
				p := &tt.dangers[i].Path
				p.Dir = strings.Replace(p.Dir, "DIR", d.ws, 1)
			}
			c := d.checkpoint(tt.dangers...)
			same(t, []string(nil), c.Left)
			d.run("bash", "-c", tt.command)
			d.settle(c)
			var lost []string
			for _, l := range c.Changed() {
				lost = append(lost, l.Title)
			}
			slices.Sort(lost)
			same(t, tt.lost, lost)
			if c.ID() == "" {
				same(t, 0, len(d.sets()))
				return
			}
			for _, item := range d.undoLast().Items {
				if item.State == files.UndoConflict || item.State == files.UndoLost {
					t.Errorf("%s: %s %s", item.Title, item.State, item.Reason)
				}
			}
			same(t, before, snap(t, d.ws))
		})
	}
}

func TestCheckpointOutside(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	out := filepath.Join(filepath.Dir(d.ws), "out")
	if err := errors.Join(os.Mkdir(out, 0o755), os.WriteFile(filepath.Join(out, "f"), []byte("secret"), 0o600),
		os.Symlink(out, filepath.Join(d.ws, "way")), os.Symlink(filepath.Join(out, "f"), filepath.Join(d.ws, "to"))); err != nil {
		t.Fatal(err)
	}
	d.make("in", "in", 0o644)
	c := d.checkpoint(
		files.Endangered{Path: at(out), Tree: true}, files.Endangered{Path: at("way/f")}, files.Endangered{Path: at("to"), Write: true},
		files.Endangered{Path: at("way/"), Tree: true},
	)
	same(t, []string{out + ": outside the workspace", filepath.Join(out, "f") + ": outside the workspace",
		filepath.Join(d.ws, "to") + ": leads outside the workspace"}, c.Left)
	same(t, 1, c.Kept()) // the link itself
	d.settle(c)

	// A folder above the workspace holds all of it, and not the history.
	c = d.checkpoint(files.Endangered{Path: at(".."), Tree: true})
	same(t, []string{filepath.Dir(d.ws) + ": outside the workspace"}, c.Left)
	same(t, 4, c.Kept())
	d.settle(c)
}

func TestCheckpointHome(t *testing.T) {
	d := newDesk(t)
	t.Setenv("HOME", filepath.Dir(d.ws))
	d.make("a", "a", 0o644)
	d.make("b", "b", 0o644)
	c := d.checkpoint(files.Endangered{Path: at("~/ws/a")}, files.Endangered{Path: glob("~/w*/b")})
	same(t, 2, c.Kept())
	d.settle(c)
}

// What may not be read is told, and the rest is kept.
func TestCheckpointUnreadable(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.make("tree/open", "open", 0o644)
	d.make("tree/shut", "shut", 0)
	d.make("tree/closed/file", "closed", 0o644)
	const nobody = 65534
	if os.Getuid() == 0 {
		err := filepath.WalkDir(filepath.Dir(d.ws), func(path string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Chown(path, nobody, nobody))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(d.ws, "tree/closed"), 0o300); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestCheckpointReads$")
	cmd.Env = append(os.Environ(), "HELVE_CHECKPOINT_READS="+d.ws)
	if os.Getuid() == 0 {
		// the program and the folders above must be open to others
		bin := filepath.Join(filepath.Dir(d.ws), "bin")
		data, err := os.ReadFile(os.Args[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(bin, data, 0o755); err != nil {
			t.Fatal(err)
		}
		for dir := filepath.Dir(d.ws); strings.HasPrefix(dir, os.TempDir()+string(filepath.Separator)); dir = filepath.Dir(dir) {
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		cmd.Path, cmd.Dir = bin, d.ws
		asUser(cmd, nobody)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestCheckpointReads is the process of TestCheckpointUnreadable.
func TestCheckpointReads(t *testing.T) {
	ws := os.Getenv("HELVE_CHECKPOINT_READS")
	if ws == "" {
		t.Skip("not started for it")
	}
	d := &desk{t: t, ws: ws, files: &files.Workspace{
		Worktree: ws, History: files.NewHistory(files.HistoryOptions{Dir: filepath.Join(filepath.Dir(ws), "history")}),
	}}
	c := d.checkpoint(files.Endangered{Path: at("tree"), Tree: true})
	same(t, []string{"tree/closed: can not be listed", "tree/shut: may not be read"}, c.Left)
	if err := errors.Join(os.Remove(filepath.Join(ws, "tree/shut")), os.Remove(filepath.Join(ws, "tree/open"))); err != nil {
		t.Fatal(err)
	}
	d.settle(c)
	same(t, 2, len(c.Changed()))
	for _, item := range d.undoLast().Items {
		same(t, item.Title == "tree/shut", item.State == files.UndoLost)
	}
	same(t, "open", d.get("tree/open"))
}

func TestCheckpointConflict(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.make("a", "a", 0o644)
	d.make("b", "b", 0o644)
	c := d.checkpoint(files.Endangered{Path: glob("?")})
	d.run("rm", "a", "b")
	d.settle(c)
	d.make("a", "somebody else's", 0o644)
	plan := d.undoLast()
	same(t, []files.UndoState{files.UndoConflict, files.UndoCreate}, []files.UndoState{plan.Items[0].State, plan.Items[1].State})
	same(t, "somebody else's", d.get("a"))
	same(t, "b", d.get("b"))
}

// What a tool changes while a command runs comes before what the command did.
func TestCheckpointWhileOthersEdit(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.make("a", "one", 0o644)
	c := d.checkpoint(files.Endangered{Path: at("a")})
	if err := d.change("other", map[string]string{"a": "two"}); err != nil {
		t.Fatal(err)
	}
	d.run("rm", "a")
	d.settle(c)
	same(t, []string{"call", "other"}, []string{d.sets()[0].Call, d.sets()[1].Call})
	d.undoLast()
	same(t, "one", d.get("a"))
}

func TestCheckpointLimits(t *testing.T) {
	t.Parallel()
	by := func(d *desk) files.By { return files.By{Dir: d.ws} }
	all := []files.Endangered{{Path: at("."), Tree: true}}
	t.Run("files", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		for i := range 30 {
			d.make(fmt.Sprint("f", i), "x", 0o644)
			d.make(fmt.Sprint("node_modules/f", i), "x", 0o644)
		}
		c, err := d.files.Checkpoint(t.Context(), by(d), all, files.CheckpointLimits{Files: 40})
		if err != nil {
			t.Fatal(err)
		}
		same(t, 31, c.Kept())
		same(t, true, strings.HasSuffix(strings.Join(c.Left, "\n"), "node_modules: too many files, or too many bytes"))
		d.settle(c)
		c, err = d.files.Checkpoint(t.Context(), by(d), all, files.CheckpointLimits{Files: 20})
		if err != nil {
			t.Fatal(err)
		}
		same(t, 20, c.Kept())
		same(t, true, slices.ContainsFunc(c.Left, func(s string) bool { return strings.Contains(s, "more than 20") }))
		d.settle(c)
		c = d.checkpoint(all...)
		same(t, 62, c.Kept())
		d.settle(c)
	})
	t.Run("bytes", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		d.zoo()
		c, err := d.files.Checkpoint(t.Context(), by(d), all, files.CheckpointLimits{Bytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		same(t, []string{"zoo/noise: too large to be kept"}, c.Left) // big packs
		d.settle(c)
		same(t, 0, len(c.Changed()))
		same(t, 0, len(d.sets()))
		if c, err = d.files.Checkpoint(t.Context(), by(d), all, files.CheckpointLimits{Bytes: 1 << 20}); err != nil {
			t.Fatal(err)
		}
		d.run("rm", "-rf", "zoo")
		d.settle(c)
		for _, item := range d.undoLast().Items {
			if want := item.Title == "zoo/noise"; want != (item.State == files.UndoLost) {
				t.Errorf("%s is %s", item.Title, item.State)
			}
		}
	})
	t.Run("quota", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		dir := filepath.Join(filepath.Dir(d.ws), "small")
		d.files.History = files.NewHistory(files.HistoryOptions{Dir: dir, Quota: 256 << 10, FileCap: 32 << 10})
		noise := make([]byte, 20<<10)
		for i := range 20 {
			for j, x := 0, uint32(i); j < len(noise); j++ {
				x = x*1664525 + 1013904223
				noise[j] = byte(x >> 24)
			}
			d.make(fmt.Sprint("f", i), string(noise), 0o644)
		}
		d.make("huge", strings.Repeat("h", 40<<10), 0o644)
		for range 10 {
			c := d.checkpoint(all...)
			if len(c.Left) == 0 || c.Kept() == 0 {
				t.Fatalf("kept %d, left %q", c.Kept(), c.Left)
			}
			d.run("bash", "-c", "for f in f*; do echo $RANDOM >> $f; done")
			d.settle(c)
		}
		var size int64
		_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, _ error) error {
			if info, err := e.Info(); err == nil && !e.IsDir() {
				size += info.Size()
			}
			return nil
		})
		if size > 256<<10 {
			t.Errorf("%d bytes in the store", size)
		}
	})
	t.Run("time", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		d.zoo()
		c, err := d.files.Checkpoint(t.Context(), by(d), all, files.CheckpointLimits{Time: time.Nanosecond})
		if err != nil {
			t.Fatal(err)
		}
		same(t, 0, c.Kept())
		if len(c.Left) == 0 {
			t.Error("nobody is told")
		}
		d.settle(c)
		same(t, 0, len(c.Changed()))
	})
	t.Run("cancel", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		d.zoo()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := d.files.Checkpoint(ctx, by(d), all, files.CheckpointLimits{}); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		same(t, 0, d.storeFiles())
	})
}

// A process that dies leaves nothing for ever, and what it lost can be
// brought back.
func TestCheckpointCrash(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.zoo()
	before := snap(t, d.ws)
	cmd := exec.Command(os.Args[0], "-test.run=^TestCheckpointDies$")
	cmd.Env = append(os.Environ(), "HELVE_CHECKPOINT_WS="+d.ws)
	if out, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.ExitCode() != 9 {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := d.storeFiles(); n < 10 {
		t.Fatalf("only %d files in the store", n)
	}

	next := newDesk(t)
	next.ws, next.files.Worktree = d.ws, d.ws
	next.files.History = files.NewHistory(files.HistoryOptions{Dir: filepath.Join(filepath.Dir(d.ws), "history")})
	if err := next.files.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(d.ws, "zoo/sub")); err == nil {
		t.Fatal("what a command did was taken back unasked")
	}
	same(t, 1, len(next.sets()))
	if n := next.storeFiles(); n > 4 { // the set; the file, the link and the folders
		t.Errorf("%d files are left in the store", n)
	}
	next.undoLast()
	same(t, before, snap(t, d.ws))
}

// TestCheckpointDies is the process of TestCheckpointCrash.
func TestCheckpointDies(t *testing.T) {
	ws := os.Getenv("HELVE_CHECKPOINT_WS")
	if ws == "" {
		t.Skip("not started for it")
	}
	d := &desk{t: t, ws: ws, files: &files.Workspace{
		Worktree: ws, History: files.NewHistory(files.HistoryOptions{Dir: filepath.Join(filepath.Dir(ws), "history")}),
	}}
	d.checkpoint(files.Endangered{Path: at("zoo"), Tree: true})
	d.run("rm", "-rf", "zoo/sub", "zoo/link")
	os.Exit(9)
}
