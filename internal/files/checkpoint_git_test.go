package files_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"github.com/helve-dev/helve/internal/files"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// repo makes a repository with files in every state.
func (d *desk) repo() {
	d.t.Helper()
	d.run("git", "init", "-q", "-b", "main")
	d.make(".gitignore", "*.log\nnode_modules/\n/secret\nbuild\n", 0o644)
	for _, name := range []string{"clean", "sub/clean", "changed", "sub/changed", "staged", "sub/staged", "deleted", "mode", "both"} {
		d.make(name, "first "+name+"\n", 0o644)
	}
	if err := os.Symlink("clean", filepath.Join(d.ws, "link")); err != nil {
		d.t.Fatal(err)
	}
	d.run("git", "add", "-A")
	d.run("git", "commit", "-q", "-m", "first")
	d.run("git", "repack", "-adq")
	d.run("git", "prune-packed", "-q")
	d.make("changed", "second changed\n", 0o644)
	d.make("sub/changed", "second sub\x00changed", 0o644)
	d.make("staged", "second staged\n", 0o644)
	d.make("sub/staged", "second sub staged\n", 0o644)
	d.make("both", "second both\n", 0o644)
	d.make("added", "added\n", 0o644)
	d.run("git", "add", "staged", "sub/staged", "both", "added")
	d.make("both", "third both\n", 0o644)
	d.make("mode", "first mode\n", 0o755)
	d.make("untracked", "untracked\n", 0o600)
	d.make("new/deep/untracked", "new\n", 0o644)
	d.make("x.log", "log\n", 0o644)
	d.make("sub/x.log", "log\n", 0o644)
	d.make("secret", "secret\n", 0o600)
	d.make("sub/secret", "no secret\n", 0o600)
	d.make("node_modules/p/index.js", "js\n", 0o644)
	d.make("build/out.o", "\x7fELF", 0o755)
	if err := errors.Join(os.Remove(filepath.Join(d.ws, "deleted")), os.Remove(filepath.Join(d.ws, "link")),
		os.Symlink("changed", filepath.Join(d.ws, "link")), os.Symlink("gone", filepath.Join(d.ws, "untracked-link")),
		os.MkdirAll(filepath.Join(d.ws, "hollow/low"), 0o750)); err != nil {
		d.t.Fatal(err)
	}
}

// state is what a checkpoint and an undo must leave alone.
func (d *desk) state() string {
	d.t.Helper()
	index, err := os.ReadFile(filepath.Join(d.ws, ".git/index"))
	if err != nil {
		d.t.Fatal(err)
	}
	var size int64
	var files int
	_ = filepath.WalkDir(filepath.Join(d.ws, ".git"), func(_ string, e fs.DirEntry, _ error) error {
		if info, err := e.Info(); err == nil && !e.IsDir() {
			size += info.Size()
			files++
		}
		return nil
	})
	return fmt.Sprintf("%x %d %d\n%s", sha256.Sum256(index), size, files, d.run("git", "status", "--porcelain=v2", "--ignored", "-uall"))
}

func TestCheckpointGit(t *testing.T) {
	t.Parallel()
	type danger = files.Endangered
	here := at(".")
	changed := []string{"both", "changed", "link", "mode", "sub/changed"}
	staged := []string{"added", "both", "changed", "link", "mode", "staged", "sub/changed", "sub/staged"}
	untracked := []string{"new/deep/untracked", "sub/secret", "untracked", "untracked-link"}
	ignored := []string{"build/out.o", "node_modules/p/index.js", "secret", "sub/x.log", "x.log"}
	tests := []struct {
		command string
		dangers []danger
		lost    []string
	}{
		{"git checkout -- .", []danger{{Path: here, Discard: files.Changes}}, changed},
		{"git checkout -- sub", []danger{{Path: at("sub"), Discard: files.Changes}}, []string{"sub/changed"}},
		{"git checkout -- changed mode", []danger{{Path: at("changed"), Discard: files.Changes}, {Path: at("mode"), Discard: files.Changes}}, []string{"changed", "mode"}},
		{"git restore .", []danger{{Path: here, Discard: files.Changes}}, changed},
		{"git restore --source=HEAD --staged --worktree .", []danger{{Path: here, Discard: files.Changes}}, staged},
		{"cd sub && git reset -q --hard", []danger{{Path: at("sub"), Discard: files.Changes, Whole: true}}, staged},
		{"git checkout -q -f HEAD", []danger{{Path: here, Discard: files.Changes, Whole: true}}, staged},
		{"git stash -q", []danger{{Path: here, Discard: files.Changes, Whole: true}}, staged},
		{"git stash -q -u", []danger{{Path: here, Discard: files.Changes, Whole: true}, {Path: here, Discard: files.Untracked, Whole: true}}, append(slices.Clone(staged), untracked...)},
		{"git clean -fdq", []danger{{Path: here, Discard: files.Untracked}}, untracked},
		{"git clean -fdq sub", []danger{{Path: at("sub"), Discard: files.Untracked}}, []string{"sub/secret"}},
		{"git clean -fdqx", []danger{{Path: here, Discard: files.AndIgnored}}, append(slices.Clone(untracked), ignored...)},
		{"git clean -fdqX", []danger{{Path: here, Discard: files.OnlyIgnored}}, ignored},
	}
	for _, tt := range tests {
		t.Run(tt.command, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.repo()
			before, tree := d.state(), snap(t, d.ws, ".git")
			c := d.checkpoint(tt.dangers...)
			same(t, []string(nil), c.Left)
			same(t, before, d.state())
			d.run("bash", "-c", tt.command)
			d.settle(c)
			var lost []string
			for _, l := range c.Changed() {
				lost = append(lost, l.Title)
			}
			slices.Sort(lost)
			slices.Sort(tt.lost)
			same(t, slices.Compact(tt.lost), lost)
			after := d.state()
			d.undoLast()
			got := snap(t, d.ws, ".git")
			for name := range got { // git brings this back: nothing was lost with it
				if _, ok := tree[name]; !ok && name == "deleted" {
					delete(got, name)
				}
			}
			same(t, tree, got)
			git := func(s string) string { return strings.SplitN(s, "\n", 2)[0] }
			same(t, git(after), git(d.state()))
		})
	}
}

// Only what may be lost is copied.
func TestCheckpointGitKeepsLittle(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.repo()
	d.run("git", "commit", "-q", "-am", "second")
	d.run("git", "repack", "-adq")
	d.run("git", "prune-packed", "-q")
	// what is as young as the index may have changed since
	future := d.run("bash", "-c", "touch -d '+1 second' .git/index; git ls-files | wc -l")
	d.make("changed", "third\n", 0o644)
	c := d.checkpoint(files.Endangered{Path: at("."), Discard: files.Changes, Whole: true})
	if c.Kept() != 1 {
		t.Errorf("%d of %s files were kept", c.Kept(), strings.TrimSpace(future))
	}
	d.settle(c)
}

func TestCheckpointGitVariants(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2", "3", "4"} {
		t.Run("index v"+version, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.repo()
			d.run("git", "update-index", "--index-version", version)
			if version == "3" {
				d.make("later", "later", 0o644)
				d.run("git", "add", "-N", "later")
			}
			discards(t, d)
		})
	}
	t.Run("sha256", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		d.run("git", "init", "-q", "--object-format=sha256")
		d.repo()
		discards(t, d)
	})
	t.Run("split index", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		d.repo()
		d.run("git", "update-index", "--split-index")
		before := snap(t, d.ws, ".git", "deleted")
		c := d.checkpoint(files.Endangered{Path: at("."), Discard: files.Changes, Whole: true})
		if len(c.Left) != 1 || !strings.Contains(c.Left[0], "split") {
			t.Errorf("left: %q", c.Left)
		}
		d.run("git", "checkout", "--", ".")
		d.settle(c)
		d.undoLast()
		got := snap(t, d.ws, ".git")
		delete(got, "deleted")
		same(t, before, got)
	})
	t.Run("worktree", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		d.repo()
		d.run("git", "worktree", "add", "-q", "--detach", "tree")
		d.make("tree/changed", "in another tree", 0o644)
		c := d.checkpoint(files.Endangered{Path: at("tree/sub"), Discard: files.Changes, Whole: true})
		d.run("git", "-C", "tree", "reset", "-q", "--hard")
		d.settle(c)
		same(t, []files.Lost{{File: filepath.Join(d.ws, "tree/changed"), Title: "tree/changed", Kept: true}}, c.Changed())
	})
	t.Run("hostile", func(t *testing.T) {
		t.Parallel()
		for name, spoil := range map[string]string{
			"pipe":    "rm .git/index; mkfifo .git/index",
			"zero":    "rm .git/index; ln -s /dev/zero .git/index",
			"text":    "echo DIRC > .git/index",
			"cut":     "truncate -s 200 .git/index",
			"folder":  "rm .git/index; mkdir .git/index",
			"objects": "rm -rf .git/objects; mkdir .git/objects; mkfifo .git/objects/00",
			"pointer": "mv .git git; echo gitdir: /dev/zero > .git",
			"gitpipe": "mv .git git; mkfifo .git",
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				d := newDesk(t)
				d.repo()
				d.run("bash", "-c", spoil)
				c := d.checkpoint(files.Endangered{Path: at("."), Discard: files.Changes, Whole: true},
					files.Endangered{Path: at("."), Discard: files.AndIgnored})
				if c.Kept() < 5 {
					t.Errorf("%d kept, %q left", c.Kept(), c.Left)
				}
				if err := c.Drop(); err != nil {
					t.Fatal(err)
				}
			})
		}
	})
	t.Run("no repository", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		d.make("a", "a", 0o644)
		c := d.checkpoint(files.Endangered{Path: at("."), Discard: files.Changes})
		same(t, 0, c.Kept())
	})
}

// discards has git throw the changes away and brings them back.
func discards(t *testing.T, d *desk) {
	t.Helper()
	before := snap(t, d.ws, ".git")
	c := d.checkpoint(files.Endangered{Path: at("."), Discard: files.Changes, Whole: true})
	same(t, []string(nil), c.Left)
	d.run("git", "reset", "-q", "--hard")
	d.settle(c)
	if len(c.Changed()) < 8 {
		t.Errorf("changed: %+v", c.Changed())
	}
	d.undoLast()
	got := snap(t, d.ws, ".git")
	delete(got, "deleted")
	same(t, before, got)
}

// What goes with the whole repository comes back with it.
func TestCheckpointRepositoryDeleted(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.repo()
	before, state := snap(t, d.ws), d.state()
	c := d.checkpoint(files.Endangered{Path: glob("*"), Tree: true}, files.Endangered{Path: glob(".[a-z]*"), Tree: true})
	same(t, []string(nil), c.Left)
	d.run("bash", "-c", "rm -rf * .[a-z]*")
	d.settle(c)
	d.undoLast()
	same(t, before, snap(t, d.ws))
	same(t, state, d.state())
}
