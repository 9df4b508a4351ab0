package builtin_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/permission"
)

// A gitWorld is a repository with a runtime behind the wall in it.
type gitWorld struct {
	rt                   *helve.Runtime
	dir, side, ran, home string
}

// newGitWorld makes one, with a worktree beside it and with folders that the
// project itself has, and lays it out as a person has done by a script; it skips
// where there is no git or no wall.
func newGitWorld(t *testing.T, level, layout string, folders ...string) *gitWorld {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git on this machine")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &gitWorld{dir: base + "/work", side: base + "/side", ran: base + "/ran", home: base + "/home"}
	mkdir(t, w.dir)
	mkdir(t, w.home)
	write(t, w.dir+"/a.txt", []byte("a\n"))
	for _, folder := range folders {
		mkdir(t, filepath.Join(w.dir, folder))
		write(t, filepath.Join(w.dir, folder, "own"), []byte("own\n"))
	}
	for _, args := range []string{
		"init -q -b main", "config user.name a", "config user.email a@example.com", "add .", "commit -qm one", "worktree add -q " + w.side,
	} {
		if out, err := w.git(w.dir, strings.Fields(args)...); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
	lay := exec.Command("sh", "-ec", layout)
	lay.Dir = w.dir
	if out, err := lay.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	agents := []agent.Spec{{Name: "a", Policy: permission.Policy{Rules: rulesOf("* allow *")}}}
	w.rt, err = helve.Open(helve.Options{Dir: w.dir, Worktree: w.dir, DataDir: t.TempDir(), Unattended: true, Agents: agents,
		Shell: helve.Shell{Helper: self(t), Wall: helve.Wall{Level: level}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// git is what a person runs, outside of the wall.
func (w *gitWorld) git(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// script runs one behind the wall, where "evil" makes a folder into a
// repository that runs a program of the attacker's.
func (w *gitWorld) script(t *testing.T, text string) (string, int) {
	t.Helper()
	write(t, filepath.Join(w.dir, "try.sh"), []byte(`evil() {
	mkdir -p $1/hooks
	git=.git
	test -d .git || read -r _ git <.git
	cp -r $git/objects $git/refs $git/index $1/ || cp -r shared/objects shared/refs .git/index $1/
	echo 'ref: refs/heads/main' >$1/HEAD
	printf '#!/bin/sh\ntouch `+w.ran+`\n' >$1/hooks/post-checkout
	chmod +x $1/hooks/post-checkout
	cp $1/hooks/post-checkout $1/hooks/reference-transaction
	printf '[core]\n\trepositoryformatversion = 0\n\tbare = false\n%b\tfsmonitor = "touch `+w.ran+`; false"\n' "$2" >$1/config
}
`+text))
	res, fail := sh(t, w.rt, map[string]any{"command": "bash try.sh"})
	if fail != nil {
		t.Fatal(fail)
	}
	if res.Metadata["wall"] == "" || res.Metadata["wall"] == nil {
		t.Fatalf("not behind the wall: %+v", res)
	}
	return res.Output, res.Metadata["exit"].(int)
}

// What a command does to a repository makes the person's git run nothing of
// the command's, neither while the wall stands nor afterwards.
func TestGitRunsNothingOfACommand(t *testing.T) {
	needWall(t)
	for name, tc := range map[string]struct {
		folders []string // of the project itself
		script  string
		layout  string
	}{
		"commondir": {nil, `evil evil; echo ../evil >.git/commondir`, ""},
		"commondir in place of ours": {nil, `evil evil; echo ../evil >.git/c
			rm -rf .git/commondir; mv -f .git/c .git/commondir || cd .git && mv commondir d && ln c commondir`, ""},
		"commondir of a worktree":       {nil, `evil evil; d=$PWD/evil; cd .git/worktrees/side; echo $d >c; mv -f c commondir; echo $d >commondir`, ""},
		"a worktree in place of ours":   {nil, `evil evil; cd .git/worktrees; cp -r side s; echo $OLDPWD/evil >s/commondir; mv side t; mv s side`, ""},
		"config of a worktree":          {nil, `printf '[core]\n\tfsmonitor = "touch ` + "$RAN" + `; false"\n' | tee .git/config.worktree >.git/worktrees/side/config.worktree`, ""},
		"the folder itself":             {nil, `mv .git/HEAD .git/H; evil . '	worktree = .\n'`, ""},
		"the folder and a commondir":    {nil, `evil evil; mv .git/HEAD .git/H; cp evil/HEAD evil/index .; echo evil >commondir`, ""},
		"the folder, with refs":         {[]string{"refs"}, `mv .git/HEAD .git/H; evil . '	worktree = .\n'`, ""},
		"the folder, with both":         {[]string{"refs", "objects"}, `mv .git/HEAD .git/H; evil . '	worktree = .\n'`, ""},
		"the folder, with a commondir":  {[]string{"commondir"}, `mv .git/HEAD .git/H; rm -rf commondir; evil . '	worktree = .\n'`, ""},
		"the folder, without objects":   {nil, `evil . '	worktree = .\n'; mv .git/objects .git/o; rm -rf .git/refs`, ""},
		"a repository to be pushed to":  {nil, `evil evil; mkdir .git/remotes .git/branches; cp evil/hooks/post-checkout evil/hooks/pre-receive; echo "URL: $PWD/evil" >.git/remotes/origin; echo "$PWD/evil" >.git/branches/origin`, ""},
		"all that was held is put away": {nil, `evil evil '	worktree = .\n'; rm -rf .git refs commondir; mv evil/* .`, ""},
		"a link that .git names":        {nil, `evil evil; ln -sfn evil link`, `mv .git real; ln -s real link; echo "gitdir: link" >.git`},
		"a link on the way":             {nil, `evil evil/git; ln -sfn ../evil sub/link; rm -f sub/link; ln -s ../evil sub/link`, `mkdir sub kept; mv .git kept/git; ln -s ../kept sub/link; echo "gitdir: sub/link/git" >.git`},
		"what commondir names":          {nil, `evil evil; cat evil/config >shared/config; cp evil/hooks/* shared/hooks/`, `mkdir -p shared; mv .git/config .git/objects .git/refs .git/hooks shared/; echo ../shared >.git/commondir`},
		"a link that commondir names":   {nil, `evil evil; ln -sfn evil link`, `mkdir -p shared; mv .git/config .git/objects .git/refs .git/hooks shared/; ln -s shared link; echo ../link >.git/commondir`},
		"what a hook is a link to": {nil, `evil evil; cat evil/hooks/post-checkout >scripts/hook; rm -f scripts/hook; cp evil/hooks/post-checkout scripts/hook`,
			`mkdir scripts; printf '#!/bin/sh\n' >scripts/hook; chmod +x scripts/hook; ln -sf ../../scripts/hook .git/hooks/post-checkout`},
	} {
		for _, level := range []string{"write", "strict"} {
			t.Run(name+" "+level, func(t *testing.T) {
				if testing.Short() && level == "strict" && name != "commondir" {
					t.Skip("the level that allows more is tried")
				}
				t.Parallel()
				w := newGitWorld(t, level, tc.layout, tc.folders...)
				if name == "config of a worktree" {
					if out, err := w.git(w.dir, "config", "extensions.worktreeConfig", "true"); err != nil {
						t.Fatal(out)
					}
				}
				said, _ := w.script(t, strings.ReplaceAll(tc.script, "$RAN", w.ran))
				person := func(when string) {
					t.Helper()
					for _, dir := range []string{w.dir, w.side} {
						for _, args := range []string{"status", "checkout -q -b new", "checkout -q -", "branch -D new", "branch other", "diff", "push origin main:other"} {
							// That they fail, or say nothing, is right here.
							_, _ = w.git(dir, strings.Fields(args)...)
						}
					}
					if _, err := os.Lstat(w.ran); err == nil {
						t.Errorf("%s: a program of the command's has run\n%s", when, said)
					}
				}
				person("while the wall stands")
				if err := w.rt.Close(); err != nil {
					t.Fatal(err)
				}
				person("afterwards")
			})
		}
	}
}

// What people do with git every day works behind the wall, and outside of it
// while it stands.
func TestGitWorksBehindTheWall(t *testing.T) {
	needWall(t)
	for _, level := range []string{"write", "strict"} {
		w := newGitWorld(t, level, "")
		out, code := w.script(t, `set -ex
			export HOME=$PWD/.. GIT_CONFIG_NOSYSTEM=1
			echo try.sh >>.git/info/exclude
			git status; git diff HEAD; git log HEAD
			git checkout -q -b one; echo b >b.txt; git add b.txt; git commit -qm two
			git checkout -q main; echo c >c.txt; git add c.txt; git commit -qm three
			git merge -q -m merged one; git branch -d one
			echo d >>c.txt; git stash; git stash pop; git commit -qam four
			git checkout -q -b two HEAD~1; echo e >e.txt; git add .; git commit -qm five; git rebase main
			git tag v1; git reset --hard HEAD; git cherry-pick --allow-empty v1 || git cherry-pick --skip
			git worktree add -q inner; git -C inner status; git worktree remove inner
			git gc -q; git pack-refs --all; git reflog expire --expire=now --all; git gc -q --prune=now
			git fsck --no-dangling; git checkout -q main; git rev-parse --show-toplevel
			test -z "$(git status --porcelain)"`)
		if code != 0 {
			t.Errorf("%s: %d\n%s", level, code, out)
		}
		if out, err := w.git(w.dir, "status", "--porcelain"); err != nil || out != "" {
			t.Errorf("%s: outside, while the wall stands: %v\n%s", level, err, out)
		}
		if out, err := w.git(w.side, "log", "HEAD"); err != nil {
			t.Errorf("%s: in the worktree: %v\n%s", level, err, out)
		}
		if err := w.rt.Close(); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{".git/commondir", ".git/config.worktree", ".git/remotes", "commondir", "refs"} {
			if _, err := os.Lstat(filepath.Join(w.dir, name)); err == nil {
				t.Errorf("%s: %s is left", level, name)
			}
		}
		if out, err := w.git(w.dir, "log", "-1", "--format=%s", "main"); err != nil || out != "four\n" {
			t.Errorf("%s: %v %q", level, err, out)
		}
	}
}
