package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// git itself runs nothing of a folder of plain files that is made to look like
// a repository, nor what watches a nested one; hooks and aliases of the person
// go on.
func TestGitSettingsHold(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git on this machine")
	}
	base := t.TempDir()
	home, ran := filepath.Join(base, "home"), filepath.Join(base, "ran")
	lay := exec.Command("sh", "-ec", `mkdir -p home/hooks work; cd work
		printf '[user]\n\tname = a\n\temail = a@example.com\n[core]\n\thooksPath = %s/home/hooks\n[alias]\n\tst = status\n' "$BASE" >../home/.gitconfig
		printf '#!/bin/sh\ntouch %s/hooked\n' "$BASE" >../home/hooks/pre-commit; chmod +x ../home/hooks/pre-commit
		git init -q; echo a >a; mkdir -p sub/objects sub/refs; echo 'ref: refs/heads/main' >sub/HEAD
		printf '[core]\n\trepositoryformatversion = 0\n\tworktree = .\n\tfsmonitor = "touch %s; false"\n' "$RAN" >sub/config
		git init -q nested; printf '[core]\n\tfsmonitor = "touch %s; false"\n' "$RAN" >>nested/.git/config; echo x >nested/x
		git -c core.fsmonitor=false -C nested add x; git -c core.fsmonitor=false -C nested commit -qm x; git -c advice.addEmbeddedRepo=false add nested a`)
	lay.Dir = base
	lay.Env = append(os.Environ(), "BASE="+base, "RAN="+ran, "HOME="+home, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := lay.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_ = os.Remove(filepath.Join(base, "hooked")) // of the commit above
	script := `cd sub; git status; git diff; git -C . add -A; cd ../nested; git status; cd ..; git status; git st; git commit -qm one`
	for name, env := range map[string][]string{"without": lay.Env, "with": nil} {
		if env == nil {
			env, _ = Environment{}.Build([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_CONFIG_HOME=" + home})
		}
		cmd := exec.Command("sh", "-c", script)
		cmd.Dir, cmd.Env = filepath.Join(base, "work"), env
		out, _ := cmd.CombinedOutput() // much of it fails, and is to
		_, err := os.Lstat(ran)
		if (err == nil) != (name == "without") {
			t.Errorf("%s: ran: %v\n%s", name, err == nil, out)
		}
		if _, err := os.Lstat(filepath.Join(base, "hooked")); err != nil {
			t.Errorf("%s: the person's own hook was not run\n%s", name, out)
		}
		_ = os.Remove(ran)
		_ = os.Remove(filepath.Join(base, "hooked"))
		undo := exec.Command("git", "update-ref", "-d", "HEAD")
		undo.Dir, undo.Env = cmd.Dir, cmd.Env
		_ = undo.Run() // the other run commits again
	}
}
