package command

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHiddenNumbers has lines that run evil, or may run anything, because bash
// takes a text for a number or for a list.
func TestHiddenNumbers(t *testing.T) {
	for _, command := range []string{
		// lists in quotes
		"declare -a 'a=($(evil))'", "declare -a a='($(evil))'", "typeset -a 'a=(`evil`)'", "f() { local -a 'a=($(evil))'; }; f", "readonly -a a='($(evil))'", "export -a a='($(evil))'", "declare -A 'a=([k]=$(evil))'", "declare -A a='([$(evil)]=1)'",
		"a=(); declare 'a=($(evil))'", "command declare -a 'a=($(evil))'", "builtin declare -a a='($(evil))'", "declare -a a=$'(\\x24(evil))'", "declare -a a='(<(evil))'", "declare -a a=\"$(printf '(\\44\\50evil\\51)')\"", "declare -a a=\"$x\"",
		"declare -ga a=\"$x\"", "a=(1); declare a=\"$x\"", "declare -a a; declare \"a=$x\"", "mapfile -t a < f; declare a=\"$a\"", "declare -a a=\"($x)\"", "declare 'DIRSTACK=($(evil))'", "declare DIRSTACK=\"$x\"", "declare -a a[0]='($(evil))'", "declare -a a+='($(evil))'",
		"declare -a 'a=([b[$(evil)]]=1)'", "a[1]=x; declare a=\"$x\"", "declare $o a=\"$x\"", "\\declare -a 'a=($(evil))'", "declare -n r=a; a=(); declare r=\"$x\"",

		// variables that are numbers
		"for RANDOM in 'a[$(evil)]'; do echo; done", "read RANDOM <<< 'a[$(evil)]'", "echo x | read OPTIND", "mapfile -t OPTIND < f", "select RANDOM in 'a[$(evil)]'; do :; done", "declare -n r=RANDOM; read r", "set -- 'a[$(evil)]'; OPTIND=$1", "OPTIND=$(base64 -d f)",
		"read SECONDS < f", "printf -v HISTCMD %s \"$(<f)\"", ": ${SRANDOM:=$(cat f)}", "declare -n r; r=RANDOM; read r", "declare -n r=s; declare -n s=RANDOM; read r", "declare -i x; read x < f", "declare -i x=$(cat f)", "f() { local -i x; x=$1; }; f $(cat f)", "x=$(cat f); declare -i y=x",
		"read x < f; RANDOM=$x", "for SECONDS in *; do :; done", "BASHPID+=$(cat f)", "declare -$o x; read x", "getopts a OPTIND $(cat f)", "read 'OPTIND' <<< $'a\\x5b\\x24(evil)]'",

		// values that come from elsewhere
		"echo $(( $(echo -e 'a\\0133\\044\\050evil\\051\\0135') ))", "printf -v y 'a[\\x24\\x28evil\\x29]'; ((y))", "[[ $(cat f) -eq 1 ]]", "n=$(cat f); echo $((n+1))", "while read n; do ((s+=n)); done < f", "for n in $(cat f); do echo $((n)); done", "for n in *; do echo $((n)); done",
		"n=$(<f); echo $((n))", "n=`cat f`; x=$n; y=\"$x\"; let z=y", "read -a l < f; echo $((l[0]))", "read < f; ((REPLY))", "mapfile < f; ((MAPFILE))", "set -- $(cat f); echo $(($1))", "f() { echo $(($1)); }; f \"$(cat f)\"", "bash -c 'echo $(($1))' _ \"$(cat f)\"", "ls | xargs sh -c 'echo $(($0))'",
		"n=$(cat f) bash -c 'echo $((n))'", "env n=\"$(cat f)\" bash -c 'echo $((n))'", "x=$(cat f); echo ${a[x]}", "x=$(cat f); echo ${y:x}", "x=$(cat f); a[x]=1", "x=$(cat f); a=([x]=1)", "for ((i=$(cat f);i<1;i++)); do :; done", "x=$(cat f); [[ -v a[x] ]]", "x=$(cat f); unset 'a[x]'",
		"x=$(cat f); read 'a[x]'", "x=$(cat f); printf -v 'a[x]' 1", "x=n; n=$(cat f); echo $((x))", "[[ $(cat f) =~ (.*) ]]; ((BASH_REMATCH))", "x='a['; y='$(evil)]'; echo $(( $x$y ))", "x='a\\x5b\\x24(evil)]'; echo $(( ${x@E} ))", "wc() { cat f; }; echo $(( $(wc) ))", "echo $(( ${PWD##*/} ))",
		"n=$(wc -l *); echo $((n))", "x=$(cat f); n=$(expr $x : '\\(.*\\)'); ((n))", "n=$(head -1 f); ((n))", "n=$(head -1 < f); ((n))", "n=$(echo AB | tr AB '[$'); ((n))", "n=$(stat -c %n *); ((n))", "n=$(pgrep -a x); ((n))", "for n in $(git tag); do ((n)); done", "eval 'x=$(cat f)'; ((x))",
		"declare -A m; m[$(cat f)]=1; for k in \"${!m[@]}\"; do ((k)); done", "echo $[$(cat f)]", "declare -n r=x; r=$(cat f); ((x))", "x=$(cat f | cut -f1); ((x))", "x=$(printf %s \"$(cat f)\"); ((x))", "builtin read x < f; ((x))", "x=$(cat f); command let y=x", "getopts a: o $(cat f); ((OPTARG))",
		"select n in *; do ((n)); done", "a=(*); ((a[0]))", ": ${n:=$(cat f)}; ((n))", "x=\"${n:-$(cat f)}\"; ((x))", "read -u 3 x 3< f; ((x))", "read x <<E\n$(cat f)\nE\n((x))", "awk '{print $1}' f; n=$(cat f | awk '{print $1}'); ((n))",

		// names and files that are made up
		"x=a*; for y in $x; do ((y)); done", "x='a*'; set -- $x; (($1))", "x=a*; y=$(echo $x); ((y))", "xx=$(cat f); y=x; (($y$y))", "xx=$(cat f); y=x; y+=x; ((y))", "x1=$(cat f); i=1; echo $((x$i))", "x=$(cat f); y=axb; ((${y:1:1}))", "x=$(cat f); y=X; ((${y,,}))", "x=$(cat f); y=$(echo 1x | cut -c2); ((y))",
		"xx=$(cat f); printf -v y %s%s x x; ((y))", "x=$(cat f); y=ax; [[ $y =~ x ]]; ((BASH_REMATCH))", "read a <<< 1 < f; ((a))", "o=-v; printf $o OPTIND \"$(cat f)\"", "declare -i OPTARG; getopts a: y -a \"$(cat f)\"", "x=$(grep -oe '[0-9]*' -e '.*' f); ((x))", "x=$(stat -c %s --printf=%n *); ((x))", "s=$(cat f); x=$(stat -c s f); ((x))", "x=$(id \"$(<f)\" 2>&1); ((x))",
		"read -a a < f; declare a=\"$(cat g)\"", "x=$(printf -- %s \"$(<f)\"); ((x))", "x=$(echo 1 | head -5 f); ((x))",

		// variables that numbers set
		"echo $((PATH=1)); ls", "((PATH=1))", "let PATH=1", "let 'PATH=1'", "a[PATH=1]=1", "[[ PATH=1 -eq 1 ]]", "declare -i y=PATH=1", "unset PATH; ls", ": $((BASH_CMDS[ls]=1)); ls", "set -k; ls PATH=1", "echo $((PATH++))", "echo $((--PATH))", "((PATH <<= 1))", "x=PATH=1; ((x))",
		"for ((PATH=1;;)); do ls; done", "echo ${a[PATH=1]}", "echo ${x:PATH=1}", "x=PATH; (( $x = 1 ))", "(( P$x = 1 ))", "echo $(( PA\"TH\" = 1 ))", "unset -v PATH", "unset $x; ls", "unset BASH_CMDS[ls]", "f() { local PATH; ls; }; f", "f() { declare PATH; ls; }; f", "set -o keyword", "set -ek", "bash -kc 'ls PATH=1'", "shopt -so keyword",
		"a=([PATH=1]=1)", "((LD_PRELOAD=1))", "echo $((x, PATH=2))", "echo $((PATH\n=2))", "command let PATH=1", "[[ -v a[PATH=1] ]]", "declare -i x; x=PATH=1", "declare -i x=BASH_CMDS[ls]=1; ls", "x='PA'TH=1; ((x))", "y=PATH; x=\"$y=1\"; ((x))", "a=PA; b=TH=1; echo $(($a$b))", "b=ATH=1; echo $((P$b))", "declare -i _; : \"$(cat f)\"", "f() { declare -x PATH; ls; }; f", "bash -O extglob -k -c 'ls PATH=.'", "o=-v; printf $o PATH x", "RANDOM=PATH=1",
	} {
		if line := Parse(command); !stops(line) {
			t.Errorf("%q is let through: %+v", command, line)
		}
	}
}

// TestPlainNumbers has ordinary lines that look like those.
func TestPlainNumbers(t *testing.T) {
	for _, command := range []string{
		"n=5; echo $((n+1))", "i=0; while ((i < 10)); do i=$((i+1)); done", "for ((i=0; i<10; i++)); do echo $i; done", "echo $(($# + $? + $$ + ${#x}))", "n=$(wc -l < f); echo $((n))", "echo $(( $(grep -c x f) + 1 ))", "start=$(date +%s); echo $(( $(date +%s) - start ))", "echo $(( $(nproc) * 2 ))",
		"n=$(expr 1 + 2); ((n))", "[[ $(id -u) -eq 0 ]]", "echo $(( $(stat -c %s f) / 1024 ))", "for i in $(seq 1 10); do echo $((i*2)); done", "for i in {1..10}; do echo $((i*2)); done", "for i in 1 2 3; do ((s+=i)); done", "n=$(ls | wc -l); [[ $n -gt 3 ]]", "n=$(find . -name x | wc -l | tr -d ' '); ((n))",
		"for f in *.go; do n=$(wc -l < \"$f\"); t=$((t+n)); done", "for f in *.go; do n=$(wc -l \"$f\" | awk '{print $1}'); t=$((t+n)); done", "while read -r line; do i=$((i+1)); echo \"$i $line\"; done < f", "a=($(ls)); echo ${a[0]} ${#a[@]} ${a[-1]} ${a[@]:1:2}", "x=$(git rev-parse HEAD); echo ${x:0:7}", "echo $((RANDOM % 10)) $SECONDS",
		"SECONDS=0; make; echo $SECONDS", "OPTIND=1; while getopts ab o; do :; done", "RANDOM=$$", "RANDOM=42; echo $RANDOM", "f() { echo $(($1 + $2)); }; f 1 2", "[[ $# -eq 0 ]]", "[[ $x -gt 3 ]]", "echo $((x + 1))", "n=$(cat f); echo \"$n\"", "[ \"$(cat f)\" -eq 1 ]", "test $(cat f) -gt 1", "[[ $(cat f) == 1 ]]",
		"n=$(cat f); echo $(( ${n//[^0-9]/} + 1 ))", "n=$(tr -dc 0-9 < f); ((n))", "x=$(echo \"1 + 2\" | bc); ((x))", "x=$(bc <<< '1+2'); ((x))", "n=$(git rev-list --count HEAD); ((n))", "n=$(pgrep -f x | wc -l); ((n))", "v=1.2.3; IFS=. read -r a b c <<< \"$v\"; echo $((c+1))", "n=$(printf '%d' \"$(cat f)\"); ((n))",
		"declare -A m; while read -r k; do m[$k]=1; done < f", "declare -A m; k=$(cat f); echo ${m[$k]}", "x=$(cat f); y=5; echo $((y)) $x", "n=$(grep -o '[0-9]*' f | head -1); echo $((n))", "[[ $x =~ ^v([0-9]+)$ ]] && echo $((BASH_REMATCH[1]))", "l=$(cat f); n=$(wc -l < f); echo $((n))", "declare -i n=0; n+=1", "declare -i 'n=5'", "let n=5; echo $((n))", "env n=5 sh -c 'echo $((n))'", "export \"n=5\"; ((n))", "opts=--a=b; f() { echo $(($2+1)); }; f name 5", "x=$(cat f); y=0x1f; z=16; echo $((y+z+10#$z))", "local -i i=0",
		"a=(1 2); declare a", "declare -a a=(1 2)", "declare -a a=($(ls))", "declare -A m=([k]=\"$x\")", "export A=$x", "export A=\"($x)\"", "export PS='(venv) x'", "declare msg='(beta)'", "declare -a a", "declare a[0]=\"$x\"", "declare x=\"$y\"", "local x=\"$1\"", "readonly X='(a b)'", "declare -r X=$(cat f)",
		"unset x", "unset -f PATH", "unset 'a[1]'", "set -e", "set -euo pipefail", "set -- a b", "set -x", "shopt -s nullglob", "bash -c 'ls'", "bash -x f", "bash ./k", "export PATH", "declare -p PATH", "echo $((PATH))", "((PYTHON_MINOR >= 10))", "echo $((GIT_N == 1))", "[[ $a -le $b ]]", "(( $a <= $b ))", "(( $a == $b ))", "echo $((a = $b))", "unset IFS",
		"if (( $(date +%s) > 5 )); then ls; fi", "for i in \"$@\"; do ((n++)); done", "c=$?; [[ $c -eq 0 ]]", "s=${PIPESTATUS[0]}; ((s))", "read -p 'n? ' x", "while read -r a b; do echo \"$a\"; done < f", "x=$((1+2)); y=$((x*2))", "echo ${x:0:$((n-1))}", "size=$(du -s x | cut -f1); ((size))", "for i in $(seq $n); do ((i)); done",
	} {
		if line := Parse(command); stops(line) {
			t.Errorf("%q is stopped: %+v", command, line)
		}
	}
}

// TestNumberFlags: what a number sets can be named by a rule, and the uncertainty
// stands with the unit that holds the number.
func TestNumberFlags(t *testing.T) {
	for command, want := range map[string]string{
		"echo $((PATH=1))": "PATH=", "((PATH=1))": "PATH=", "unset PATH": "PATH", "set -k": "-k", "f() { local PATH; }": "PATH", "n=$(cat f); echo $((n))": "!", "n=$(cat f); ((n)); ((n))": "!",
	} {
		if diff := cmp.Diff(want, flagsIn(command)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", command, diff)
		}
	}
	for command, want := range map[string]string{
		"n=$(cat f); echo $((n))": "echo $((n))", "n=$(cat f); ((n)) && ls": "((n))", "n=$(cat f); sh -c 'ls $((n))'": "ls $((n))", "while read n; do ((s+=n)); done < f": "((s+=n))",
	} {
		for _, u := range Parse(command).Units {
			if len(u.Uncertainties) > 0 && u.Text != want || len(u.Uncertainties) == 0 && u.Text == want {
				t.Errorf("%q: %q has the uncertainties %v", command, u.Text, u.Uncertainties)
			}
		}
	}
}

// TestListInQuotes: what stands in a list in quotes is found as a command.
func TestListInQuotes(t *testing.T) {
	for _, command := range []string{"declare -a 'a=($(evil x))'", "command typeset -A a='([k]=`evil x`)'", "for RANDOM in 'a[$(evil x)]'; do :; done"} {
		found := false
		for _, u := range Parse(command).Units {
			found = found || strings.TrimSpace(u.Text) == "evil x"
		}
		if !found {
			t.Errorf("%q: the command in it is not found", command)
		}
	}
}
