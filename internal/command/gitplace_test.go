package command_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// git reads its settings where it goes: a call is asked about where that is
// not the repository of the session.
func TestGitGoesElsewhere(t *testing.T) {
	s := newStage(t, "a.txt", ".git/HEAD", ".git/objects/x", ".git/refs/x", ".git/config", "plain/x", "sub/HEAD", "sub/objects/x", "sub/refs/x", "sub/config", "sub/in/x",
		"nested/.git/HEAD", "half/HEAD", "half/refs/x", "common/HEAD", "common/commondir", "srv.git/HEAD", "srv.git/objects/x", "srv.git/refs/x",
		".git/worktrees/side/HEAD", ".git/modules/mod/HEAD", "plain/deep/x")
	for name, text := range map[string]string{
		"side/.git": "gitdir: ../.git/worktrees/side\n", "mod/.git": "gitdir: ../.git/modules/mod\n", "strange/.git": "gitdir: ../sub\n",
		".git/worktrees/side/commondir": "../..\n",
	} {
		s.write(t, "/ws/"+name)
		if err := os.WriteFile(s.base+"/ws/"+name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../sub", filepath.Join(s.base, "ws/plain/link")); err != nil {
		t.Fatal(err)
	}
	rules := rulesOf([][3]string{{"*", "*", "allow"}, {"bash", "*", "ask"}, {"bash", "git *", "allow"}, {"bash", "git-status*", "allow"}, {"bash", "gh *", "allow"}, {"bash", "mkdir *", "allow"},
		{"bash", "cp *", "allow"}, {"bash", "ln *", "allow"}, {"bash", "echo *", "allow"}, {"bash", "tar *", "allow"}, {"bash", "rsync *", "allow"}, {"bash", "git -C nested *", "allow"}})
	for _, c := range []struct{ want, lines string }{
		{"ask", `
			cd sub && git status
			cd sub; git status
			tar xf a.tar; git -C plain status
			tar xf a.tar -C plain; cd plain/deep && git status
			rsync -a h:a/ plain; git -C plain status
			(cd sub && git log)
			cd sub/in && git diff
			cd plain/link && git status
			pushd sub; git status
			git -C sub status
			git -C plain -C ../sub status
			git -C "$PWD/sub" status
			git -C ./s* status
			git -C $X status
			cd $X && git status
			git --git-dir=sub status
			git --git-dir sub status
			git -C sub --bare status
			git -C "$(git rev-parse --show-toplevel)/sub" status
			git -C sub -C "$(git rev-parse --show-toplevel)" status
			cd "$(git rev-parse --show-toplevel)/sub" && git status
			cd plain; cd "$(git rev-parse --show-toplevel)/sub" && git status
			git -C plain --git-dir=../sub status
			cd nested && git status
			cd strange && git status
			cd common && git status
			git-status; cd sub; git-status
			sh -c 'cd sub; git status'
			env git -C sub status
			git push ./sub main
			git push srv main
			git fetch sub
			git clone ./sub x
			mkdir q; echo x > q/HEAD; mkdir q/objects q/refs; cd q && git status
			cp -r sub q; cd q; git status
			ln -s sub q; cd q; git status
			unset GIT_CONFIG_COUNT
			git -C missing status
			cd missing && git status
			git --git-dir=missing status
			P=./sub; git push "$P" main
			git push "$PWD/sub" main
			git push file://$PWD/sub main
			git push --repo=./sub
			git remote add x ./sub
			git remote set-url origin sub
			git archive --remote=sub HEAD
			git init --separate-git-dir=sub .
			git init --separate-git-dir sub q
			D=sub; cd "$D" && git status
			cd nested && gh pr list
			git add nested && git status
			git add nest*; git diff
			git add . && git status
			git add -A && git status
			git add a.txt strange; git diff
		`},
		{"allow", `
			tar xf a.tar; git status
			tar xf a.tar -C sub; git -C plain status
			git status
			git log --oneline
			cd plain && git status
			cd plain/deep; git diff
			git -C plain status
			git -C "$(git rev-parse --show-toplevel)/plain" status
			cd "$(git rev-parse --show-toplevel)" && git status
			git -C . status
			git --git-dir=.git status
			cd half && git status
			cd .git && git status
			cd side && git status
			cd mod && git log
			git -C nested log
			git init sub2
			git clone https://example.org/x.git y
			git push origin main
			B=main; git push origin "$B"
			git fetch origin
			git remote -v
			git remote add origin https://example.org/x.git
			git archive --format=tar HEAD plain
			git init
			cd plain && git add . && git status
			git add -u && git status
			git add a.txt plain half side mod; git diff
			git add "$X"
			gh pr list
			git --version
		`},
	} {
		for line := range strings.Lines(c.lines) {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			if got := s.decide(t, rules, line); string(got.action) != c.want {
				t.Errorf("%s: got %s, want %s\n%s", line, got.action, c.want, shown(got))
			}
		}
	}
}
