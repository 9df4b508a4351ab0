package command

import (
	"slices"
	"strings"
	"testing"
)

// stops reports whether a line is stopped by a rule that denies evil, or is
// asked about.
func stops(line Line) bool {
	return line.Opaque != "" || slices.ContainsFunc(line.Units, func(u Unit) bool {
		return len(u.Uncertainties) > 0 || slices.ContainsFunc(spellings(u), func(s string) bool { return s == "evil" || strings.HasPrefix(s, "evil ") })
	})
}

// TestHiddenCommands has lines that run evil in ways that are easily missed.
func TestHiddenCommands(t *testing.T) {
	for _, command := range []string{
		// comments do not go on
		"echo hi # note \\\nevil", "echo $(: # note \\\nevil)", "sh -c 'echo hi # note \\\nevil'", "eval 'echo hi # note \\\nevil'",
		"x=(a # b \\\n); evil\n)", "if : # a \\\nevil; then :; fi", "(:)# a \\\nevil", "# a \\\nevil", "echo `: # a \\\nevil`", "case a in # x \\\na) evil;; esac", "{ :; # a \\\nevil\n}", "bash <<'E'\n: # a \\\nevil\nE",

		// patterns
		"[[ a == @(a|$(evil)) ]]", "[[ a == !(a|`evil`) ]]", "[[ a == +(a|<(evil)) ]]", "shopt -s extglob\necho *(a|$(evil))", "shopt -s extglob\ncase a in ?(a|$(evil))) ;; esac", "[[ a == @(b|@(a|\"$(evil)\")) ]]",

		// a $ and what belongs to it
		"echo \"$\\\n(evil)\"", "echo ${x:-$\\\n(evil)}", "cat <<E\n$\\\n(evil)\nE", "echo \"${x:-\"$\"(evil)}\"", "echo \"${x:-\"$\\(evil)\"}\"", "echo $\\\n(evil)",

		// documents
		"cat <<E\n$(echo \"\nE\nevil\n\")\nE", "cat <<E\n`echo \"\nE\nevil\n\"`\nE", "cat <<E\n${x:-\nE\nevil\n}\nE", "cat <<-E\n\t$(echo \"\n\tE\nevil\n\")\nE", "cat <<EOF\nE\\\nOF\nevil\nEOF", "cat <<E <<F\nE\n$(echo \"\nF\nevil\n\")\nF",

		// variables
		"BASH_CMDS[ls]=/tmp/evil; ls", "BASH_ALIASES[ls]=evil; ls", "PS1='$(evil)'", "PS2=x", "jobs -x evil", "jobs -x evil a",
		"co\\\nproc evil", "i\\\nf evil; then :; fi", "( (\\\n( x )) )", "[\\\n[ -v 'a[$(evil)]' ]]",

		// numbers
		"read x <<< 'b[$(evil)]'; echo $((x))", "for x in 'b[$(evil)]'; do echo $((x)); done", "x=(1 'b[$(evil)]'); echo $((x[1]))", "read x <<'E'\nb[$(evil)]\nE\n((x))", "x+='b[$(evil)]'; ((x))", "read x <<< 'b[`evil`]'; [[ x -eq 1 ]]",
		"read x <<< 'b[$(evil)]'; declare -i y=x", "read x <<< 'b[$(evil)]'; let y=x", "y='$(evil)'; printf -v \"b[$y]\" 1", "y='$(evil)'; read \"b[$y]\"", "y='$(evil)'; declare \"b[$y]=1\"", "y='$(evil)'; let \"b[$y]++\"",
		"y='$(evil)'; ((b[$y]++))", "for x in \"b[\\$(evil)]\"; do ((x)); done", "y='$(evil)'; unset \"b[$y]\"", "read x <<< \"b[\\`evil\\`]\"; ((x))",

		// substitutions that the parser takes for text
		"echo ${x:-<(evil)}", "echo ${x-<(evil)}", "echo ${x:=<(evil)}", "echo ${x:?>(evil)}", "echo ${x:+<(evil)}", "echo ${x#<(evil)}", "echo ${x%%a<(evil)}", "echo ${x/<(evil)}", "echo ${x//a/<(evil)}", "echo ${x^<(evil)}", "echo ${x,,<(evil)}",
		"echo \"${x#<(evil)}\"", "echo \"${x:?<(evil)}\"", "echo \"${x:?$'<(evil)'}\"", "cat <<E\n${x:?<(evil)}\nE", "echo ${x:-${y:-<(evil)}}", "echo \"${x:-${y#<(evil)}}\"", "x=${y:-<(evil)}", "x=(${y:-<(evil)})", "for i in ${x:-<(evil)}; do :; done", ": > ${x:->(evil)}", "echo ${x:-<\\\n(evil)}",
		"echo ${x:-<(echo $(:) ; evil)}", "echo ${x:-<(:) <(evil)}", "case ${x:-<(evil)} in *) ;; esac", "[[ x =~ @(<(evil)) ]]", "[[ x =~ (a|<(evil)) ]]", "[[ x =~ (a|(b<(evil))) ]]", "[[ x =~ (<\\\n(evil)) ]]", "[[ a == @(<\\\n(evil)) ]]", "read x <<< 'b[$(evil)]'; [[ a == @(${a[x]}) ]]",

		// targets that are expanded twice
		"echo >&'$(evil)'", "echo 1>& \"\\$(evil)\"", "echo 01>&$'\\x24(evil)'", "echo >&'<(evil)'", "x='$(evil)'; echo >&$x", "{ :; } >&'`evil`'", "exec >&'$(evil)'", "echo >&'.e\"n\"v'", "echo >&'~/a'", "compgen -W '<(evil)'",

		// let is a command
		"let x=1&&evil", "let x|evil", "let x&evil", "let x||evil", "let x<(evil)", "let x>(evil)", "let 'x=1'&&evil", "let x[1]=1&&evil", "time let x|evil", "! let x|evil", "coproc let x|evil", "echo $(let x|evil)", "sh -c 'let x|evil'", "let x&&let y&&evil", "let x>f&&evil", "let ${x:-<(evil)}",
		"let x<<E\n'\nE\nevil\n: '", "let x<<E\nlet y '\nE\nevil\n: '", "let x#'\n';let y; : #'\nevil\n'", "let x=~1|evil", "let !x|evil",

		// quotes in numbers
		"for ((;'$(evil)';)); do :; done", "for (('`evil`';;)); do :; done", "for ((;;'$(evil)')); do :; done", "for ((;$'$(evil)';)); do :; done", "for ((;$'\\x24(evil)';)); do :; done", "(( $'\\x24(evil)' ))", "echo $(( $'\\x60evil\\x60' ))", "echo $[ $'\\44(evil)' ]", "a[$'\\x24(evil)']=1", "echo ${a[$'\\x24(evil)']}", "a=([$'\\x24(evil)']=1)",
		"echo 1 {a['$(evil)']}> f", "read x <<< 'b[$(evil)]'; echo {a[x]}> f",

		// the history
		"set -o history -o histexpand\necho x evil\n!!:2*", "set -H; set -o history\n: evil\n!:1", "set -eH", "set -euo history", "set -oH history", "set -oo pipefail histexpand", "set +o posix -o history", "set $x", "set -o $x", "set +o $x", "set -$x", "builtin set -H", "shopt -so history", "shopt -s -o histexpand", "shopt -s $x", "bash -H f", "bash -o history f", "bash -i <<'E'\n: evil\n!:1\nE", "bash -li", "bash -H -s \"$x\" <<< ls",

		// labels
		"sed -n ':a;e evil' f", "sed ': x;e evil' f", "sed ':end e evil' f", "sed 'bx;:x;e evil' f", "sed ':a;w f' f", "sed 'tx e evil\n:x' f", "sed 'T;e evil' f", "sed 'v 4.2 e evil' f", "sed ':a;a\\\ne evil' f", "sed ':a;s/x/\\\nw f\n/' f", "sed -e ':a' -e ':b;e evil' f", "sed '{:a;bx};e evil' f",

		// aliases
		"shopt -s expand_aliases\nalias foo='command '\nfoo evil", "sh -c \"alias foo='command '\nfoo evil\"", "set -o posix; alias a='command '\na evil",

		// options
		"find . {-exec,evil} \\;", "X=-exec; find . $X evil p \\;", "tar {--to-command=evil,-xf} t", "rg {--pre,evil} x", "sort {--compress-program=evil,a}", "git log {--ext-diff,x}", "find . -{x,exec} evil \\;", "X=--pre; rg $X evil y",
		"find . {-exec,evil,$(:)} \\;", "X='-exec evil'; find . $X \\;", "git {-c,core.pager=evil} log", "find . {-exe\"c\",evil} {a,b}{1..3} \\;", "X=-exec; find . {$X,evil} \\;",

		// wrappers
		"bwrap --bind / / evil", "bwrap --ro-bind /a /b --proc /proc --chdir x evil", "perf record -- evil", "perf stat -e x evil", "runcon x evil", "npx -y evil", "npx -c 'evil a'", "npx -c 'a; evil'", "npm exec -- evil", "npm exec -c evil", "uv run -- evil",
		"mise exec -- evil", "conda run -n x evil", "pipx run evil", "uv tool run evil", "npx --call='evil a'", "npx -p x evil", "uv run --with x evil", "npx -p a -c 'b; evil'",

		// the end
		": 'a\nb'; evil\\", "evil\\",
		"git config core.pager evil --list", "git config core.pager evil -l", "git config core.pager evil --get", "git config --name-only core.pager evil", "git config core.pager evil --name-only",
	} {
		if line := Parse(command); !stops(line) {
			t.Errorf("%q is let through: %+v", command, line)
		}
	}
}

// TestPlainCommands has lines that look like those and are harmless.
func TestPlainCommands(t *testing.T) {
	for _, command := range []string{
		"grep ' # ' \\\nf", "echo a#b \\\nc", "echo \"# a\" \\\nb", "# a\necho b \\\nc", "cat <<'E'\n# a \\\nb\nE", "[[ a == @(a|b) ]]", "[[ a == @($x|${y}) ]]", "echo 'a$\\\nb'", "cat <<'E'\na$\\\nb\nE",
		"cat <<E\n$x\nE", "cat <<E <<F\na\nE\nb\nF\necho", "cat <<-E\n\ta\n\tE\necho", "echo ${x#a} \\\nb", "echo ${#x} \\\nb", "cat <<E | grep x\na\nE", "x=\"${y:-\"$z\"}\"", "echo \"${x}$\"", "ec\\\nho a", "jobs", "jobs -l",
		"for x in 'a[1]'; do echo $((x)); done", "awk '{n=$1}' f; echo $((1+2))", "jq '.[0]' f; echo $((x))", "alias ll='ls -l'", "shopt -s extglob", "a[$i]=1", "echo \"a[$i]\"; ((i++))", "printf '%s' \"a[$i]\"", "echo 'run `x`'; ((i++))",
		"mkdir -p a/{b,c}", "X=a; git log $X", "git log \"$X\"", "cp a{,.bak}", "X=-n; grep $X a f", "rm -f {a,b}.{c,d}", "echo {1..100}", "find . -name {a,b}", "mv x.{a,b}",
		"npx eslint -c evil", "npx -y eslint -c evil", "npm run evil", "perf report -i x", "uv run pytest", "bwrap --bind / / ls",
		"git config --name-only --list", "git config --get a.b", "git config --type bool a.b", "git config -f x --list", "echo a\\\\\n",
		"echo ${x:-a<b}", "echo ${x//</a}", "echo \"${x:-<(a)}\"", "echo \"a <(b)\"", "cat <<E\na <(b) ${x:-<(c)}\nE", "echo ${x:-\\<(a)}", "diff <(ls a) <(ls b)", "echo $((1<(2)))", "((a<(b)))", "echo ${x%%(*}", "echo ${x##*>}", "x=${1:?usage: a <b>}",
		"echo >&2", "echo 1>&2 2>&1", "echo >&-", "echo >& f", "echo >&'a b'", "echo 2>&$x", "echo > '$(a)'", "echo &> '$(a)'",
		"let x=1", "let i++", "let x=1 y=2; echo $x", "let i+=1 || :", "let \"x = 1 < 2\"", "let x=1 && echo a", "let x=1 > f", "let x=1\nlet y=2", "letter=a; ls let", "[[ $x =~ ^(a|b)$ ]]", "[[ $x =~ ^[0-9]+(\\.[0-9]+)?$ ]]", "[[ $x =~ (a<b) ]]",
		"for ((i=0;i<3;i++)); do echo $i; done", "for ((;;)); do break; done", "echo {a,b}> f", "exec {fd}> f", "a[1]=2", "a=([1]=$'\\n')",
		"set -e", "set -euo pipefail", "set +H", "set +o history", "set -- a b", "set -- $x", "set a -H", "shopt -s histappend cmdhist", "bash -ic 'ls a'", "bash -c ls", "bash -e f", "bash f -H",
		"sed ':a;N;$!ba;s/\\n/ /g' f", "sed -e ':a' -e 'N;$!ba' f", "sed ':a;s/x/y/;ta' f", "sed -n '/a/{:l;n;p;bl}' f", "sed 'b;p' f", "sed ':a\nN\nba\ns/a/b/' f",
		"cat <<E\n$(cat <<F\nx\nF\n)\nE", "echo \"$(cat <<'E'\n# a \\\nb\nE\n)\"",
	} {
		if line := Parse(command); stops(line) {
			t.Errorf("%q is stopped: %+v", command, line)
		}
	}
}

// TestSpread: what a list in braces hides is found as a command.
func TestSpread(t *testing.T) {
	for command, want := range map[string]string{
		"find . {-delete,-x}": "rm", "find . {-exec,evil,a} \\;": "evil a", "X=-exec; find . $X evil b \\;": "evil b",
	} {
		if !slices.ContainsFunc(Parse(command).Units, func(u Unit) bool { return u.Inside != "" && u.Text == want }) {
			t.Errorf("%q: %q is not found", command, want)
		}
	}
}

// TestSedReads: a file that a script of sed reads is one that is reached.
func TestSedReads(t *testing.T) {
	for command, want := range map[string]string{
		"sed '1r /etc/passwd' f": "/etc/passwd", "sed -e p -e '$R  x y' f": "x y", "sed 'p;r a\np' f": "a", "sed --sandbox 'r a' f": "", "sed ':a;r a' f": "a", "sed ':x r a' f": "a", "sed 'bx;r a' f": "a", "sed ':a;a\\\nr a' f": "a",
	} {
		var reach Reach
		got := ""
		for _, a := range reach.Of(Parse(command).Units[0]) {
			if a.Kind == Read && a.Path.Value != "f" {
				got = a.Path.Value
			}
		}
		if got != want {
			t.Errorf("%q reads %q, want %q", command, got, want)
		}
	}
}

func TestLoose(t *testing.T) {
	got := Loose("for x in a 'b c'; do case $x in d|e) [[ f == g ]];; esac; done")
	if want := []string{"a", "'b c'", "$x", "d", "e", "f", "g"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// TestManyFolders: many steps between folders are given up on at some point,
// and are not followed one by one.
func TestManyFolders(t *testing.T) {
	for _, step := range []string{"pushd a;", "pushd a && ", "cd a && ", "pushd /a;"} {
		line := Parse(strings.Repeat(step, 5000) + "popd; ls")
		if last := line.Units[len(line.Units)-1]; last.Dir.Known {
			t.Errorf("%s: ls runs in %q", step, last.Dir.Path)
		}
	}
}
