package command_test

import (
	"testing"

	"github.com/helve-dev/helve/permission"
)

// noRemoval are rules that deny two commands and allow everything else.
func noRemoval() permission.Ruleset {
	return rulesOf([][3]string{{"*", "*", "allow"}, {"bash", "rm *", "deny"}, {"bash", "git push *", "deny"}})
}

// A mended is a way to run a command unseen that was found and closed: lines
// that bash runs rm or git push by, and lines like them that do not.
type mended struct {
	stopped, quiet []string
}

func (m mended) check(t *testing.T) {
	t.Helper()
	s := newStage(t, "a.txt", "b.txt", "x", "list", "a.c", "Makefile")
	for _, line := range m.stopped {
		if got := s.decide(t, noRemoval(), line); got.action == permission.Allow {
			t.Errorf("%q is let through", line)
		}
	}
	for _, line := range m.quiet {
		if got := s.decide(t, noRemoval(), line); got.action != permission.Allow {
			t.Errorf("%q is held up: %s", line, got.action)
		}
	}
}

// TestSpreadWords: a list in braces or a variable may be several words, and
// then what stands behind them is another.
func TestSpreadWords(t *testing.T) {
	mended{
		stopped: []string{
			"flock {q,rm} x", "xargs -n {1,rm} <<< x", "trap {'rm x',EXIT}", "sqlite3 {:memory:,'.shell rm x'}", "perf {stat,rm} x", "make {-f,-} <<< '$(shell rm x)'",
			"a='q rm'; flock $a x", "a='1 rm'; xargs -n $a <<< x", "a=\"1 rm\"; watch -n $a", "a='rm EXIT'; trap $a", "bash {-s,a} <<< 'rm x'", "a='-s q'; bash $a <<< 'rm x'",
		},
		quiet: []string{
			"mkdir -p a/{b,c}", "cp a.txt{,.bak}", "a='x y'; ls $a", "touch {1..3}.txt", "flock q ls {a,b}", "xargs -n 1 ls {a,b} < list", "make {all,test}", "a='-l -a'; ls $a",
			"a='x y'; git log $a", "git add {a,b}.txt", "diff {a,b}.txt", "env A=1 ls {a,b}", "sqlite3 {a,b}.db",
		},
	}.check(t)
}

// TestSplitWords: what is computed may be several words, one of them a command.
func TestSplitWords(t *testing.T) {
	mended{
		stopped: []string{
			"flock $(echo q rm) x", "xargs -n $(echo 1 rm) <<< x", "trap $(echo rm EXIT)", "git --git-dir=$(echo .git push) origin", "git --work-tree=$(echo . push) origin",
			"git --namespace=$(echo x push) origin", "git --git-dir=$x origin", "git --git-dir=\"$d\" log", "git -C \"$d\" log", "git() { echo sub; }; git -C \"$(git rev-parse --show-toplevel)\" status", "perf $(echo stat rm) x", "perf stat -e $(echo x rm) x", "script -q $(echo q rm) x", "watch -n $(echo 1 rm) x", "split --filter=$(echo rm) a.txt",
			"logsave $(echo q rm) x", "entr -s $(echo rm) x", "parallel -j $(echo 1 rm) ::: x", "su -g $(echo x -c rm) y", "sudo -u $(echo a rm) x", "ip netns exec $(echo a rm) x",
		},
		quiet: []string{
			"flock \"$lock\" ls", "xargs -n \"$n\" ls < list", "xargs -P $(nproc) ls < list", "xargs -P$(nproc) -n 1 ls < list", "trap 'echo a' $SIGNALS", "git -C \"$(git rev-parse --show-toplevel)\" status", "git -C \"$(git rev-parse --show-toplevel)\"/sub status", "cd \"$(git rev-parse --show-toplevel)\" && git status", "cd $(git rev-parse --show-toplevel)/sub; git log",
			"timeout 5 ls $x", "nice -n 5 ls $x", "make -j$(nproc)", "make -j $(nproc)", "parallel -j 4 echo ::: $x", "watch -n 1 ls", "split -l \"$n\" a.txt",
		},
	}.check(t)
}

// TestStrangeOptions: an option that is not known may hide what comes behind it.
func TestStrangeOptions(t *testing.T) {
	mended{
		stopped: []string{
			"sed -be '1e rm x' -e p a.txt", "sed -Qe '1e rm x' -e p a.txt", "awk -We /dev/stdin <<< 'BEGIN{system(\"rm x\")}'", "awk -W exec=list", "awk -Qf list", "script -Zc 'rm x'", "at -Zf list now", "su -Zc 'rm x' a",
			"split -Z --filter='rm x' a.txt", "git -Q push", "git rebase -Zx 'rm x' HEAD~1",
		},
		quiet: []string{"sed -bn 1p a.txt", "sed -nE 's/a/b/p' a.txt", "sed -i.bak s/a/b/ a.txt", "awk -F, '{print $1}' a.txt", "awk -v n=1 '{print n}' a.txt", "split -l 5 a.txt", "split --lines=5 -d a.txt", "git --no-pager log", "git rebase -i HEAD~2", "git rebase --update-refs --no-verify main", "git -P diff"},
	}.check(t)
}

// TestDashesAsValue: -- ends the options only where it is none's value.
func TestDashesAsValue(t *testing.T) {
	mended{
		stopped: []string{
			"tar -c -f -- --checkpoint=1 --checkpoint-action=exec='rm x' a.txt", "tar -C -- -I 'rm x' -cf y a.txt", "rg -e -- --pre ../bin/rm .", "git fetch -o -- --upload-pack='rm x;' .", "git clone -b -- -u 'rm x;' . q", "scp -i -- -S ../bin/rm a.txt h:",
			"vim -T -- -c '!rm x' -c q", "zip -P -- -T -TT 'rm x;' y a.txt", "install -m -- --strip-program=../bin/rm -s a.c q", "wget -O -- --use-askpass=../bin/rm http://x", "sort -o -- --compress-program=../bin/rm", "tar -cf -- --to-command='rm x' a.txt", "rg --regexp -- --pre ../bin/rm .", "sort --output -- --compress-program=../bin/rm",
			"tar --file -- -I 'rm x' -c a.txt", "tar cf -- --checkpoint-action=exec='rm x' a.txt", "tar cfV y -- -I 'rm x;' a.txt",
		},
		quiet: []string{"rg -n -- --pre a.txt", "rg foo -- --pre", "rg -i -- --pre .", "git log -- --ext-diff", "git log -p -- --ext-diff", "git log --oneline -- --ext-diff", "tar -cf y -- --to-command", "sort -u -- --compress-program=a", "rg -F -- '--pre' src", "git grep -n -- --exec", "git diff HEAD -- -x", "vim -- -c"},
	}.check(t)
}

// TestLettersThatAreFlags: a letter hides those behind it only where it takes a
// value in that program.
func TestLettersThatAreFlags(t *testing.T) {
	mended{
		stopped: []string{
			"ssh -Xo ProxyCommand='rm x' h", "ssh -Po ProxyCommand='rm x' h", "scp -po ProxyCommand='rm x' a.txt h:", "scp -Bo ProxyCommand='rm x' a.txt h:", "scp -Oo ProxyCommand='rm x' a.txt h:", "scp -pS ../bin/rm a.txt h:", "sftp -po ProxyCommand='rm x' h", "sftp -pS ../bin/rm h",
			"vim -dc '!rm x' a.txt b.txt", "vim -Rdc '!rm x' a.txt", "ssh -4Xo ProxyCommand='rm x' h", "ssh -vKF q h", "sftp -aD ../bin/rm",
		},
		quiet: []string{"ssh -p 22 h ls", "ssh -i oS h ls", "ssh -NL 80:o:80 h", "scp -P 22 a.txt h:", "scp -rp a.txt h:", "scp -i o a.txt h:", "vim -d a.txt b.txt", "vim -R a.txt", "vim -tcmd", "ssh -lo h"},
	}.check(t)
}

// TestShortenedOptions: a long option may be shortened as far as it is one.
func TestShortenedOptions(t *testing.T) {
	mended{
		stopped: []string{"git fetch --upload='rm x;' .", "git ls-remote --upload='rm x;' .", "git pull --upload='rm x;' .", "git grep --open='rm x;' y", "git clone --u='rm x;' . q", "git fetch --up='rm x;' .", "tar -cf y a.txt --to-c='rm x'", "sort --comp=../bin/rm a.txt", "sort --co=../bin/rm a.txt",
			"git clone --upl 'rm x;' . q", "git grep --op='rm x;' y", "git difftool --extc='rm x' -y"},
		quiet: []string{"git fetch --update-shallow .", "git grep --or -e a", "git grep --text x", "git diff --text", "git log --exclude=x --all", "git ls-files --exclude-standard -o", "git ls-files --others --exclude=x", "rg --pretty x", "rg --pre-glob x y", "install --strip a q", "sort --check a.txt", "git log --extended-regexp --grep=x", "tar --exclude=x -cf y a.txt", "tar --create --file=y a.txt", "tar --to-stdout -xf y.tar", "rsync --recursive a b", "git fetch --unshallow", "git fetch --all", "git clone --depth 1 u", "wget --continue u"},
	}.check(t)
}

// TestFindArguments: what looks like an option of find may be the argument of
// another, and the one behind it is real.
func TestFindArguments(t *testing.T) {
	mended{
		stopped: []string{
			"find . -maxdepth 0 -printf -exec -exec rm x \\;", "find . -name -exec -o -exec rm x \\;", "find x -printf -exec -delete", "find x -name -exec -o -delete", "find . -fprintf q -exec -exec rm x \\;", "find . -name -delete -o -exec rm x \\;", "find . -samefile -ok -delete",
			"find . -exec ls $x -exec rm x \\;", "find . -exe? rm x \\;", "find . \"-$x\" rm x \\;", "find . -exe{c..c} rm x \\;",
		},
		quiet: []string{
			"find . -name '*.go' -exec grep -l foo {} +", "find . -exec grep -e -delete {} \\;", "find . -type f -exec ls {} \\; -exec wc {} \\;", "find . -mtime \"-$n\"", "find . -size -\"$n\"k -print", "find . -not -name x -exec ls {} +",
			"find . -name \"$1\" -exec ls {} \\;", "find . -newer a.txt -exec grep \"$x\" {} \\;",
		},
	}.check(t)
}

// TestPayloads: where the command begins that another one runs.
func TestPayloads(t *testing.T) {
	mended{
		stopped: []string{
			"env a.b=c rm x", "env 1=2 rm x", "env =x rm x", "env 'a b=c' rm x", "env \"A B=1\" git push", "env -S 'A.B=1 rm x'", "xargs env a.b=c <<< 'rm x'", "env A-B=1 nice rm x", "env A=$(echo 1 rm) x", "setarch x86_64 -R rm x", "setarch x86_64 --uname-2.6 rm x",
			"gtimeout 5 rm x", "gtimeout -s KILL 5 rm x", "genv A=1 rm x", "genv -S 'rm x'", "gnice -n 5 rm x", "gnohup rm x", "gstdbuf -o0 rm x", "softlimit rm x", "grc rm x", "pexec rm x", "run0 rm x", "chpst rm x", "mise x -- rm x", "direnv exec . rm x", "rustup run stable rm x",
			"stack exec -- rm x", "cabal exec -- rm x", "bundler exec rm x", "hatch run rm x", "pdm run rm x", "rye run rm x", "mamba run -n base rm x", "nix develop -c rm x", "nix shell nixpkgs#x -c rm x",
			"jobs -r -x rm x", "jobs -s -x rm x", "jobs -xl rm x", "jobs -x rm x", "bash -norc <<< 'rm x'", "echo rm x | bash -norc", "bash -restricted <<< 'rm x'", "bash -rcfile true -c 'rm x'", "bash -noprofile -norc -c 'rm x'", "bash -qc 'rm x'", "bash -posix -c 'rm x'",
		},
		quiet: []string{
			"env A=1 ls", "env A=$x ls", "gtimeout 5 ls", "genv A=1 ls", "direnv exec . ls", "nix develop -c make", "mise x -- ls", "pdm run ls", "env - A=1 ls", "env", "jobs", "jobs -l", "jobs -p %1", "bash -norc a.sh", "bash -lc 'ls'", "bash -euxo pipefail -c 'ls'", "bash --norc -c ls", "sh -ec 'ls'", "timeout 5 ls -l", "setarch x86_64 ls", "bash -n a.sh", "zsh -fc ls", "bash -O extglob -c ls",
		},
	}.check(t)
}

// TestComputedOptions: a word that is computed may be an option that runs a
// program.
func TestComputedOptions(t *testing.T) {
	mended{
		stopped: []string{
			"find . -maxdepth 0 $(echo -exec rm x \\;)", "set -- -exec rm x \\;; find . -maxdepth 0 \"$@\"", "find . -maxdepth 0 -exe{c..c} rm x \\;", "touch -- -exec; find . -maxdepth 0 -exe? rm x \\;",
			"rg y $(echo --pre=../bin/rm)", "tar -cf y a.txt $(echo --checkpoint=1 --checkpoint-action=exec=rm)", "ssh $(echo -oProxyCommand=rm) h", "find . -e* rm x \\;", "find . \"-$x\" rm x \\;", "rg \"--$x\" y", "find . -exe[c] rm x \\;",
			"find . {-print,-exec} rm x \\;", "set -- --pre=../bin/rm; rg y \"$@\"", "set -- --pre=../bin/rm; rg y $1", "tar -cf y a.txt `echo --to-command=rm`", "git log $(echo --ext-diff)", "a=(-exec rm x \\;); find . \"${a[@]}\"", "f() { find . \"$@\"; }; f -exec rm x \\;", "a=-ex; a+=ec; find . $a rm x \\;", "a=$(echo -exec); find . $a rm x \\;", "read -r X <<< '-exec rm x ;'; find . $X", "a=-name; a=-exec; find . $a rm x \\;", "a=-name; for a in -exec; do find . $a rm x \\; ; done", "a=-name; f() { a=-exec; }; f; find . $a rm x \\;", "a=-name; printf -v a %s -exec; find . $a rm x \\;", "find . ${a:--exec} rm x \\;", "a=-name; declare -n b=a; b=-exec; find . $a rm x \\;",
			"xargs find . <<< '-exec rm x ;'", "echo '-exec rm x ;' | xargs find .", "xargs rg y <<< '--pre=../bin/rm'", "xargs git fetch . <<< '--upload-pack=../bin/rm'", "a=(--pre); a+=(../bin/rm); rg y \"${a[@]}\"", "find . $(find . -printf '-exec\\n') rm x \\;", "find . $(date +-exec) rm x \\;", "find . $(basename q/-exec) rm x \\;", "nproc() { echo -exec; }; find . $(nproc) rm x \\;", "find . $(cat <<< -exec) rm x \\;", "builtin set -- -exec rm x \\;; find . $@", "a='-exe?'; find . $a rm x \\;",
		},
		quiet: []string{
			"rg \"$x\" src", "tar -cf y \"$f\"", "find \"$dir\" -name '*.go'", "rg \"$(cat list)\" src", "tar -czf y.tgz \"$(date +%F)\"", "ssh \"$host\" ls", "sort \"$f\"", "find . -name \"$1\"", "find \"$dirs\" -name '*.go'", "rg \"$x\" src", "sort a{1..3}.txt", "find . -name a{1..3}.txt",
			"rg -n x *.txt", "tar -cf y *.txt", "sort *.txt", "git log --oneline \"$x\"", "git log \"$a..$b\"", "git diff \"$(git merge-base main HEAD)\"", "git diff \"$(git merge-base main HEAD)..HEAD\"", "find . -mtime \"-$n\"", "find . -maxdepth \"$n\" -name x", "rg \"-A$n\" x", "rg -e \"$x\" -- *.txt", "git log \"-n$n\"", "git log \"-$n\"", "git show \"$(git rev-parse HEAD)\"",
			"rg foo \"$(git ls-files '*.go')\"", "tar -cf y \"$(git ls-files)\"", "vim \"$f\"", "make \"-j$n\"", "go test \"$(go list ./... | grep -v x)\"", "gcc -o a \"$(pkg-config --cflags x)\" a.c", "sort \"-k$n\" a.txt", "wget \"$url\"", "scp \"$f\" h:", "rsync -a \"$a\" \"$b\"", "tar -C \"$d\" -xf y.tar", "a=(-n foo); rg \"${a[@]}\" src", "set -- a b; rg \"$1\" src", "rg foo \"$(git diff --name-only | grep go)\"", "rg foo \"$(find . -name '*.go' | head -5)\"", "tar -czf \"$(date +%Y-%m-%d).tgz\" a.txt", "f() { rg \"$@\"; }; f -n foo", "git add $(git status -s | awk '{print $2}')", "sort \"$(ls *.txt)\"", "for d in a b; do find $d -name x -exec ls {} +; done", "git ls-files | xargs rg foo", "read -r d < list; find \"$d\" -type f -exec wc {} +", "echo a b | xargs rg -n foo", "a=-n; a=-i; rg $a foo", "sort -t$'\\t' -k2 a.txt",
		},
	}.check(t)
}

// TestTypedCommands: commands that a program takes from its input, or from a
// file that is none.
func TestTypedCommands(t *testing.T) {
	mended{
		stopped: []string{
			"vim -e <<< '!rm x'", "vi -e <<< '!rm x'", "view -e <<< '!rm x'", "vim -E <<< '!rm x'", "gdb -q <<< 'shell rm x'", "echo '!rm x' | gdb -q", "sqlite3 :memory: < <(echo '.shell rm x')", "sqlite3 -init <(echo '.shell rm x') :memory: .quit", "make -f <(echo '$(shell rm x)')", "make --file=<(echo '$(shell rm x)')", "ed -s '!rm x' <<< q",
			"sqlite3 -cmd 'select 1' :memory: <<< '.shell rm x'", "echo '.shell rm x' | (sqlite3 :memory:)", "{ sqlite3 :memory:; } <<< '.shell rm x'", "f() { gdb -q; }; f <<< 'shell rm x'", "exec < <(echo 'shell rm x'); gdb", "sh -c 'gdb -q' <<< 'shell rm x'", "printf '%s%s' .she 'll rm x' | sqlite3 :memory:",
			"echo '.shell rm x' | time sqlite3 :memory:", "while sqlite3 :memory:; do break; done <<< '.shell rm x'", "dc <<< '!rm x'", "echo 'select 1;\n.shell rm x' | sqlite3 :memory:", "rev <<< 'x mr llehs.' | sqlite3 :memory:", "vim a.txt < <(printf ':!rm x')",
		},
		quiet: []string{
			"sqlite3 a.db", "sqlite3 a.db 'select 1'", "sqlite3 a.db < list", "cat list | sqlite3 a.db", "echo 'select 1' | sqlite3 a.db", "sqlite3 a.db <<< 'select 1;'", "sqlite3 a.db <<'E'\nselect 1;\nE", "gdb ./a", "gdb -c core ./a", "gdb -p 1", "gdb -q -batch ./a", "vim a.txt", "git diff | vim -", "echo '1 2+p' | dc", "printf '%s 2+p' $x | dc", "make -f Makefile test", "make -f \"$f\"", "make -s test",
			"psql < list", "cat list | psql a", "pg_dump a | psql b", "for i in 1 2; do sqlite3 a.db 'select 1'; done", "mysql a < list", "make --no-print-directory all", "diff <(ls a) <(ls b)",
		},
	}.check(t)
}

// TestOtherNames: programs by other names, and others that run one.
func TestOtherNames(t *testing.T) {
	mended{
		stopped: []string{
			"gdb -eval-command 'shell rm x' -batch", "gdb -eval 'shell rm x'", "gdb --eval='shell rm x'", "gdb -eiex 'shell rm x'", "gdb -init-eval-command 'shell rm x'", "gdb -ie 'shell rm x'", "gdb --ex='shell rm x'", "zip -T -TT'rm x;' y a.txt", "zip -TqTT 'rm x;' y a.txt", "scp -D ../bin/rm a.txt h:", "sftp -D ../bin/rm", "tmux list-commands \\; run-shell 'rm x'", "tmux ls\\; run 'rm x'",
			"vim.basic -c '!rm x' a.txt", "vim.tiny -c '!rm x' a.txt", "editor -c '!rm x' a.txt", "sensible-editor -c '!rm x'", "gcc-12 -wrapper rm,x a.c", "x86_64-linux-gnu-gcc -wrapper rm a.c", "x86_64-linux-gnu-gcc-12 -B. a.c", "cpp -wrapper rm a.c", "c99 -wrapper rm a.c",
			"dpkg-architecture -c 'rm x'", "dpkg-architecture -c rm x", "debconf rm x", "debconf -f noninteractive rm x", "debconf-apt-progress -- rm x", "prove -e 'rm x' a.txt", "prove --exec 'rm x' a.txt", "agetty -l ../bin/rm tty1", "/bin/bash5 -c 'rm x'", "vim.basic -e <<< '!rm x'",
			"/usr/lib/git-core/git-push origin", "a='.git push'; git --git-dir $a origin",
		},
		quiet: []string{
			"tmux ls", "tmux list-sessions", "gcc-12 -O2 -c a.c", "x86_64-linux-gnu-gcc -c a.c", "cpp a.c", "dpkg-architecture -qDEB_HOST_ARCH", "prove -v t", "prove -lr t", "git-lfs ls-files", "git fetch-pack origin", "zip -qr y a.txt", "python3.12 a.py", "sqlite3 a.db .tables", "vim.basic a.txt", "editor a.txt",
		},
	}.check(t)
}

// TestLateLongOptions: behind its first letters bash takes a long option with
// one dash for letters.
func TestLateLongOptions(t *testing.T) {
	mended{
		stopped: []string{
			"bash -x -norc pipefail +n 'rm x'", "bash -e -verbose pipefail <<< 'rm x'", "bash -e -posix pipefail -c 'rm x'", "bash -p -verbose posix a.txt <<< 'rm x'", "bash +oc posix 'rm x'", "bash +c 'rm x'", "bash +s a.txt <<< 'rm x'",
			"sh -posix errexit <<< 'rm x'", "bash -norc -c 'rm x'",
		},
		quiet: []string{"bash -norc -noprofile a.txt", "bash --norc -x a.txt", "bash -x a.txt", "bash +x a.txt", "bash -e -o pipefail a.txt", "bash +o posix a.txt", "bash -norc -e -c ls"},
	}.check(t)
}

// TestHalfOptions: an option that does nothing by itself is one half of another
// that runs a program, which may be computed.
func TestHalfOptions(t *testing.T) {
	mended{
		stopped: []string{
			"tar cf y a.txt --checkpoint=1 \"$(echo --checkpoint-action=exec=rm)\"", "tar cf y a.txt --checkpoint=1 \"${a:---checkpoint-action=exec=rm}\"", "read a <<< --checkpoint-action=exec=rm; tar cf y a.txt --checkpoint=1 \"$a\"",
			"tar cf y a.txt --checkpoint $a",
		},
		quiet: []string{"tar cf y a.txt --checkpoint=1", "tar --checkpoint -xf y.tar", "tar cf y \"$f\"", "tar --checkpoint=100 -cf \"y$x.tar\" a.txt"},
	}.check(t)
}

// TestQuotedOptions: also between quotes what a command prints may be an option,
// and what an operator puts in for a variable.
func TestQuotedOptions(t *testing.T) {
	mended{
		stopped: []string{
			"find x \"$(echo -delete)\"", "rg y \"$(echo --pre=../bin/rm)\"", "git fetch \"$(echo --upload-pack=../bin/rm)\" .", "a=\"$(echo -delete)\"; find x \"$a\"", "find x \"\"\"$(echo -delete)\"", "find x -name -name \"$(echo -delete)\"", "find x ''\"$(echo -delete)\"", "find x ''$(echo -delete)", "a=_delete; find x ${a/_/-}", "a=delete; find x ${a/#/-}", "bash -s -- -delete <<< 'find x \"$1\"'", "echo -delete >q; xargs find x < q", "echo -delete >q; cat q | xargs find x",
			"find x \"${a:--delete}\"", "find x \"${HOME:+-delete}\"", "a=x; find x ${a/x/-delete}", "a='x-exec rm x ;'; find . -maxdepth 0 ${a#x}", "a=delete; b=-$a; find x $b", "a=delete; b=-$a; find x \"$b\"", "a=-DELETE; find x ${a,,}", "a=x-delete; find x \"${a:1}\"", "find x ${a:-$(echo -delete)}",
		},
		quiet: []string{
			"rg \"$x\" src", "find \"$dir\" -name x", "tar -cf y \"$f\"", "find \"$(pwd)\" -name x", "find \"$(dirname \"$0\")\" -name x", "d=\"$(cd \"$(dirname \"$0\")\" && pwd)\"; find \"$d\" -name x", "git commit -m \"$(cat <<'E'\nfix -x: a\nE\n)\"", "git commit -am \"$(printf 'a\\nb')\"", "sort -t \"$(printf '\\t')\" -k2 a.txt",
			"find . -name \"$(echo x)*\"", "rg -e \"$(printf 'a')\" src", "d=$(mktemp -d); find \"$d\" -type f", "find \"${dir:-.}\" -name x", "rg foo \"${1:-src}\"", "tar -cf \"${name%.tar}.tgz\" a.txt", "sort \"${f/a/b}\"", "tar -cf \"${f// /-}.tar\" a.txt", "git ls-files > q; xargs rg foo < q", "echo a-b c | xargs rg foo", "bash -s -- a < list", "v=v1-rc; tar -czf \"${v#v}.tgz\" a.txt", "a=1-$n; rg foo \"$a\"",
		},
	}.check(t)
}

// TestReadOptions: options that come from an input, or as parameters.
func TestReadOptions(t *testing.T) {
	mended{
		stopped: []string{
			"while read a; do find x $a; done <<< -delete", "echo -delete | while read a; do find x $a; done", "mapfile -t a <<< -delete; find x \"${a[@]}\"", "while read a; do find x \"$a\"; done < <(echo -delete)", "mapfile a < <(echo -delete); find x ${a[0]}", "{ read a; find x $a; } <<'E'\n-delete\nE",
			"read x <<< -upload-pack=../bin/rm; git fetch -$x .", "git fetch -$x .", "bash -c 'find x \"$1\"' _ -delete", "bash -c 'find x \"$@\"' _ -delete", "set -- a; bash -c 'find x $1' _ -delete", "echo -delete | cat | xargs find x", "xargs find x < <(echo -delete)", "printf %s -del ete | xargs find x", "rev <<< eteled- | xargs find x", "read a <<< -delete; echo \"$a\" | xargs find x", "printf '%s\\n' -delete | cat | xargs find x", "a=$(rev <<< eteled-); echo $a | xargs find x", "echo eteled- | xargs -0 rev | xargs find x", "ls | xargs echo -delete | xargs find x", "jq -n '\"-delete\"' | xargs find x", "jq -r '.[\"-delete\"]|keys' a.txt | xargs find x", "awk '{print $1}' <<< -delete | xargs find x",
			"find x $(git config --default=-delete a.b)", "find x $(awk '{print $1}' FS=a a.txt)", "find x \"$(echo \"$(echo -delete)\")\"",
		},
		quiet: []string{
			"while read -r f; do rg foo \"$f\"; done < list", "git ls-files | while read -r f; do rg foo \"$f\"; done", "while read -r f; do rg foo \"$f\"; done < <(git ls-files)", "git log \"-$n\"", "git show \"-$n\"", "bash -c 'rg foo \"$1\"' _ src", "git ls-files | xargs rg foo", "git ls-files | grep go | head -5 | xargs rg foo", "find . -name '*.go' -print0 | xargs -0 rg foo",
			"grep -rl foo . | xargs sed -i s/a/b/", "xargs rg foo < list", "cat list | xargs tar -cf y.tar", "echo a b | xargs rg foo", "git diff --name-only | xargs git add", "jq -r .x a.txt | xargs git add", "rg -l foo | xargs sed -i s/a/b/", "git grep -l foo | xargs sed -i s/a/b/", "ls | xargs wc -l", "find . -name '*.go' | xargs grep -l foo | xargs sed -i 's/a/b/'", "echo \"$files\" | xargs rg foo", "printf '%s\\n' \"${files[@]}\" | xargs rg foo", "git diff --name-only -z | xargs -0 rg foo", "comm -12 a.txt b.txt | xargs rg foo", "awk '{print $1}' list | xargs rg foo", "cut -d: -f1 list | sort -u | xargs sed -i s/a/b/", "jq -r '.files[]' a.json | xargs rg foo", "npm run \"$(jq -r .x a.json)\"",
			"rg -n \"$(git config user.email)\"", "rg --files-with-matches foo | xargs sed -i s/a/b/",
		},
	}.check(t)
}

// TestOtherInput: ways to hand sqlite3 and others a command.
func TestOtherInput(t *testing.T) {
	mended{
		stopped: []string{
			"sqlite3 :memory: 00<<< '.shell rm x'", "gdb -q 00<<< 'shell rm x'", "sqlite3 :memory: \"select edit ('a','rm x;')\"", "sqlite3 :memory: 'select \"edit\"(1,2)'", "sqlite3 :memory: 'select [edit](1,2)'", "sqlite3 :memory: 'select edit/**/(1,2)'", "sqlite3 :memory: 'select edit\n(1,2)'", "sqlite3 :memory: '.\"shell\" rm x'",
			"echo() { printf '.shell rm x'; }; echo a | sqlite3 :memory:", "cat() { printf '.shell rm x'; }; cat list | sqlite3 :memory:", "echo '.shell rm x' | zcat -f | sqlite3 :memory:",
		},
		quiet: []string{"sqlite3 a.db 'select edited from t'", "sqlite3 a.db 'select edit, b from t'", "zcat a.gz | sqlite3 a.db", "pg_dump a | psql b", "echo 'select 1' | sqlite3 a.db", "sqlite3 a.db '.mode csv' 'select 1'", "sqlite3 a.db 2>/dev/null < list"},
	}.check(t)
}

// TestListers: a command that prints names does so no more if the line feeds it,
// or tells it what to print.
func TestListers(t *testing.T) {
	mended{
		stopped: []string{
			"find x $(cat <(echo -exec rm x \\;))", "echo '-exec rm x ;' | find . -maxdepth 0 $(cat)", "echo '-exec rm x ;' > q; find . -maxdepth 0 $(cat q)", "find -- x $(echo -exec rm x \\;)", "echo '-exec rm x ;' | find . -maxdepth 0 $(cat -)", "echo '-exec rm x ;' | find . -maxdepth 0 $(head -1 /dev/stdin)", "{ echo '-exec rm x ;'; } > ./q; find . -maxdepth 0 $(cat q)", "echo '-exec rm x ;' | tee q; find . $(sort q)", "echo -delete | find x $(grep -e d)",
			"find x $(realpath --relative-to=q -- q/-delete)", "find x $(ls --time-style='+ -delete' -l)", "find x $(ls --time-style=+-delete -l)", "find x $(git describe --dirty=' -delete')", "find x $(git rev-parse 'a -delete')", "find x $(git ls-files --forma=-delete)", "find x $(grep --lab=-delete -H a - < a.txt)", "find x $(cut --ou=-delete -c1,3 a.txt)", "export TZ=-delete; find x $(date +%Z)",
		},
		quiet: []string{
			"rg foo \"$(cat list)\"", "git ls-files > q; rg foo \"$(cat q)\"", "git ls-files | sort > q; rg foo \"$(cat q)\"", "rg foo \"$(sort -u < list)\"", "rg foo \"$(cat list | head -5)\"", "echo a > q; rg foo \"$(cat list)\"", "rg foo \"$(grep -rl bar)\"", "rg foo \"$(grep -l 'a b' *.txt)\"", "rg foo \"$(realpath --relative-to=. a.txt)\"", "tar -czf \"$(date +%Y-%m-%d).tgz\" a.txt", "tar -czf \"y-$(date +%F).tgz\" a.txt", "git diff \"$(git describe --tags --abbrev=0)\"",
			"sort \"$(ls -1 *.txt)\" > q", "echo a > q; cat q",
		},
	}.check(t)
}

// TestSplitOptions: what is expanded outside of quotes may be any words, options
// among them, unless the line gives it all the values it may have.
func TestSplitOptions(t *testing.T) {
	mended{
		stopped: []string{
			"a=1-$n; rg foo $a", "echo a > q; rg foo $(cat list)", "find $dirs -name '*.go'", "find . -maxdepth $n -name x", "find . -mtime -$n", "gcc -o a $(pkg-config --cflags x) a.c", "git diff $(git describe --tags --abbrev=0)", "git diff $(git merge-base main HEAD)",
			"git diff $(git merge-base main HEAD)..HEAD", "git log -$n", "git log --oneline $x", "git log -n$n", "git ls-files > q; rg foo $(cat q)", "git ls-files | sort > q; rg foo $(cat q)", "git show $(git rev-parse HEAD)", "git show -$n",
			"go test $(go list ./... | grep -v x)", "make -j$n", "mapfile -t a < list; rg foo \"${a[@]}\"", "read -r d < list; find $d -type f -exec wc {} +", "rg $x src", "rg -A$n x", "rg -n \"$@\" src", "rg foo $(cat list | head -5)",
			"rg foo $(cat list)", "rg foo $(find . -name '*.go' | head -5)", "rg foo $(git diff --name-only | grep go)", "rg foo $(git ls-files '*.go')", "rg foo $(grep -l 'a b' *.txt)", "rg foo $(grep -rl bar)", "rg foo $(realpath --relative-to=. a.txt)", "rg foo $(sort -u < list)",
			"sort $(ls *.txt)", "sort $(ls -1 *.txt) > q", "sort -k$n a.txt", "tar -cf y $(git ls-files)", "tar -czf $(date +%Y-%m-%d).tgz a.txt", "tar -czf y-$(date +%F).tgz a.txt", "rg -e x$IFS--pre=./ev.sh f", "rg -e x${IFS:0:1}--pre=./ev.sh f",
			"rg -e x$IFS$9--pre=./ev.sh f", "find x$IFS-delete", "find .${PS4#+}-delete", ": 'x --pre=./e'; rg $_ f", "env rg x$IFS--pre=./e f", "timeout 5 rg $x f", "sort a${IFS}--compress-program=x", "tar cf y a$IFS--checkpoint-action=exec=x",
			"git log -$x", "rm$IFS-rf$IFS/x", "A=x; f() { rg $A y; }; A=--pre=e f", "for a in x --pre=./e; do rg $a y; done", "touch -- --pre=x; rg y *", "a=(x --pre=./e); rg \"${a[@]}\" f", "rg y @(-a|b)*",
			"env SECONDS=--pre=./e sh -c 'rg x $SECONDS f'", "unset RANDOM; RANDOM=--pre=./e; rg x $RANDOM f", "UID=--pre=./e dash -c 'rg x $UID f'", "git log \"$(rev <<< x=tuptuo--)\"",
			"rg x{$IFS,}--pre=./ev.sh f", "rg -e x{a,${IFS}--pre=./ev.sh} f", "find a{$IFS,}-delete",
		},
		quiet: []string{
			"A='x y'; rg $A f", "for a in x y; do rg $a f; done", "rg x *", "find * -name a", "rg x $((1+1))", "rg $HOME f", "head -n $#  a.txt", "rg x $? f", "rg x $RANDOM f", "git log \"$(git merge-base main HEAD)\"",
			"make -j$(nproc) all", "rg x -- $y", "git commit -m $x", "echo $x", "ls $x", "cd sub && rg x *", "a=(x y); rg \"${a[@]}\" f", "rg x {a,b}.txt",
		},
	}.check(t)
}
