package command_test

import (
	"testing"

	"github.com/helve-dev/helve/permission"
)

// TestValuesOfTheLine: what a line gives a variable is what it is, in whatever
// way it gives it: a file outside is asked about as if its name was written.
func TestValuesOfTheLine(t *testing.T) {
	s := newStage(t, "a.txt", "b.txt", "x", "list")
	rules := rulesOf([][3]string{{"*", "*", "allow"}, {"external_directory", "*", "ask"}})
	for _, line := range []string{
		"echo ~/.ssh/id | xargs cat", "xargs cat <<< ~/.ssh/id", "echo ~/.ssh | xargs -I {} cat {}/id", "xargs -I{} cat {} <<< /etc/passwd",
		"P=~; cat $P/x", `P=~; cat "$P/x"`, "P1=~/.ssh; cat $P1/id_rsa", "P=~root; cat $P/x", "cat ~root/x",
		"cat ~+/../../x", "cat ~-/../x", "P=$HOME/.ssh; cat $P/id", `P="$HOME/.ssh"; cat "$P"/id`, `P="${HOME}"/.ssh; cat "$P"/id`,
		"cat ${X:-~/.ssh}/id", `cat "${X:-$HOME/.ssh}/id"`, "cat ${X-/etc/passwd}", "cat ${X:=~/.ssh/id}", ": ${X:=~/.ssh}; cat $X/id",
		`A=(~/.ssh/id x); cat "${A[@]}"`, "A=(~/.ssh/id x); cat ${A[0]}", "A=(~/.ssh/id x); cat $A", "A[0]=~/.ssh; cat ${A[0]}/id", `A+=(~/.ssh/id); cat "${A[@]}"`,
		"declare -A M=([k]=~/.ssh); cat ${M[k]}/id", "set -- ~/.ssh/id; cat $1", `set -- ~/.ssh/id; cat "$@"`, "set -- ~/.ssh; cat $1/id", "read P <<< ~/.ssh; cat $P/id",
		`read -r P <<< "$HOME/.ssh"; cat $P/id`, "read <<< ~/.ssh; cat $REPLY/id", "echo ~/.ssh | while read P; do cat $P/id; done", "echo ~/.ssh | { read P; cat $P/id; }", `while read -r f; do cat "$f"; done <<< /etc/passwd`,
		"mapfile A <<< ~/.ssh; cat ${A[0]}/id", `mapfile -t A < <(echo ~/.ssh/id); cat "${A[@]}"`, "export P=~/.ssh; cat $P/id", "declare P=~/.ssh; cat $P/id", "typeset P=~/.ssh; cat $P/id",
		"readonly P=~/.ssh; cat $P/id", "f() { local P=~/.ssh; cat $P/id; }; f", `f() { cat "$1"; }; f ~/.ssh/id`, `f() { cat "$1/id"; }; f ~/.ssh`, `f() { cat "$@"; }; f ~/.ssh/id`,
		"printf -v P %s ~/.ssh; cat $P/id", "printf -v P '%s/.ssh' ~; cat $P/id", "printf -v P '\\057etc/passwd'; cat $P", "for P in ~/.ssh; do cat $P/id; done", `for P in ~; do cat "$P/.ssh/id"; done`,
		`for P in ~/.ssh/*; do cat "$P"; done`, "P1=~/.ssh; P2=id_rsa; cat $P1/$P2", "A=/et; B=c/passwd; cat $A$B", "A=/et; A+=c/passwd; cat $A", "P=~/.ssh; Q=$P/id; cat $Q",
		`P=~/.ssh; Q="$P"/id; R=$Q; cat "$R"`, "env P=~/.ssh sh -c 'cat $P/id'", "P=~/.ssh sh -c 'cat $P/id'", "export P=~/.ssh; bash -c 'cat $P/id'", "eval 'P=~/.ssh'; cat $P/id",
		"P=~; eval 'cat $P/id'", `P='~'; eval "cat $P/id"`, "P='~/.ssh/id'; eval cat $P", "cat $(echo ~/.ssh/id)", "cat $(echo ~)/id",
		"cat `echo ~`/id", `cat "$(printf '%s/x' ~)"`, `cat "$(printf '\057etc\057passwd')"`, "cat $(echo -e '\\x2fetc/passwd')", "cat $(dirname ~/.ssh/x)/id",
		"P=$(cd ~; pwd); cat $P/id", "P=$(realpath ..); cat $P/id", "cat $(realpath ..)/x", "P=..; cat $P/x", "P=/etc; cat $P/passwd",
		"P=/etc/passwd; cat < $P", "P=~; echo x > $P/y", `P=~; echo x >> "$P/y"`, "P=x/../..; cat $P/y", "P=xyz; cat ${P/xyz/~}/id",
		"P=x/etc/passwd; cat ${P#x}", "P=/etc/passwdx; cat ${P%x}", "P=/etc/passwd/a; cat ${P%/*}", "P=aa/etc/passwd; cat ${P:2}", "P=/ETC; cat ${P,,}/passwd",
		"P=_etc_passwd; cat ${P//_//}", "IFS=:; P=x:/etc/passwd; cat $P", "A='x /etc/passwd'; cat $A", `A="x $HOME/.ssh/id"; cat $A`, "A='-o /etc/y'; sort $A a.txt",
		": ~/.ssh/id; cat $_", "select P in ~/.ssh; do cat $P/id; done", "case ~ in *) cat $HOME/x;; esac", "cat ${HOME}/x", "cat ${HOME%/}/x",
		"cat ${HOME/}/x", `cat "$HOME"/x`, "cat $HOME/../x", "cat {~,~root}/x", "cat {/etc,x}/passwd",
		"cat $PWD/../x", `cat "$PWD"/../../x`, "HOME=/etc; cat ~/x", "getopts a: P -a ~/.ssh; cat $OPTARG/id", "P=(~/.ssh/*); cat ${P[*]}",
		"cat <<< x | P=~ tee $P/x", "cd ~; cat x", "D=~; cd $D; cat x", `D=/etc; cd "$D" && cat passwd`, "pushd ~; cat x",
		"cp a.txt ${D:-/etc}/x", "tar xf a.tar -C ${D:-/etc}", `cat ""/etc/passwd`, "cat $9/etc/passwd", "cat x${IFS}/etc/passwd",
		"P=~; cat ${P}2/x", `P=$HOME; cat "${P}2/x"`, "cat ${HOME}2/x", "cat ${HOME:0:1}etc/passwd", "cat ${PWD:0:1}etc/passwd", "cat ${PWD%/*}/x", "cat ${PWD%%/*}/etc/passwd",
		"cat ${PWD%s}x/y", "cat ${PWD#/}/../../etc/passwd", "cat ${PWD/ws/other}/x", "P=$PWD/abc; cat ${P%/ws/abc}/x", "P=xx/etc/passwd; cat ${P##*x}", "P=/etc/x; cat ${P%x*}passwd",
		"X=1; cat ${X/1/$HOME}/x", "cat ${X/#/$HOME}/x", "P=x; cat ${P/%x/~}/id", "sh -c 'cat $0/x' ~", "bash -c 'cat $0' ~/x", "cd $NONE; cat x", "cd $NONE && cat x",
		"cat $((1-1))/../../etc/passwd", "cat $(date)/../../../etc/passwd", "cat x$(date)/../../../etc/passwd", "sort {-o/etc/x,a.txt}", "sort {-o,/etc/x,a.txt}", "git log --output{=/etc/x,=y}",
		"P=~; Q=P; cat ${!Q}/x", "Q=HOME; echo x > \"${!Q}\"/y", "for v in ${!HOM@}; do cat ${!v}/x; done", "set -- HOME; cat ${!1}/x", "f() { cat ${!1}/x; }; f HOME",
		"declare -n R=P; P=~; cat $R/x", "declare -n R=P; R=~; cat $P/x", "local -n R=HOME; cat $R/x", "f() { local -n R=$1; cat $R/x; }; f HOME",
		"P+=~; cat $P/x", "P+=/etc/passwd; cat $P", "export P+=~; cat $P/x", "cat $(printenv HOME)/x", "V=HOME; cat $(printenv $V)/x",
		"cat $(sh -c 'echo $HOME')/x", "cat $(eval echo ~)/x", "cat $(pwd)/../x", `cat "$(dirname "$PWD")/x"`, "cat $(dirname $(pwd))/x",
		"CDPATH=~; cd .ssh; cat id", "CDPATH=.:$HOME cd .ssh", "cat x${PS4: -1}/etc/passwd", "cat x${?/0/ }/etc/passwd", "cat x${OPTIND/1/ }/etc/passwd", "cat ${X/a/~}/id",
		"cat /???/passwd", "cat /e*/passwd", "cat ../*", "cat ~/.s*/id", "cat ${UNSET}/etc/passwd",
	} {
		if got := s.decide(t, rules, line); got.action != permission.Ask {
			t.Errorf("%q reaches files outside: %s", line, got.action)
		}
	}
	for _, line := range []string{
		"P=x; cat $P/y", "P='~'; cat $P/x", "P=src; Q=$P/a; cat $Q", "set -- a.txt; cat $1", "read P <<< a.txt; cat $P",
		`f() { cat "$1"; }; f a.txt`, "cat ${X:-a.txt}", `A=(a.txt b.txt); cat "${A[@]}"`, "cat $X", "cat $X/file",
		`cat "$BUILD/x"`, `ls | while read f; do cat "$f"; done`, `for f in $(git ls-files); do cat "$f"; done`, "export P=sub; cat $P/x", "cat $PWD/x",
		"printf -v P %s sub; cat $P/x", "cat $(git rev-parse --show-toplevel)/x", "mkdir -p $OUT/build/lib", "cp a.txt $DESTDIR/build/x", "echo /etc/passwd",
		"cat ${PWD##*/}.txt", "P=src/a.go; cat ${P%.go}_test.go", "P=src/a.go; cat ${P%/*}/b.go", "P=src/a.go; cat ${P##*/}", "P=$PWD/a.go; cat ${P%.go}.txt", "for f in sub/*; do cat ${f/sub/x}; done",
		"cd \"$NONE\"; cat x", "cat a$((1+1)).txt", "cat sub/$N/../x", "sort {a,b}.txt", "cp a.txt{,.bak}", "sh -c 'cat $0' a.txt",
		"Q=P; P=a.txt; cat ${!Q}", "declare -n R=P; R=a.txt; cat $P", "P+=a.txt; cat $P", "cat $(pwd)/a.txt", "cat $(dirname src/a.go)/b.go", "cat \"$(dirname \"$f\")/b.go\"", "cat ${X/src/lib}",
		"CDPATH=src; cd a", "cat a$?.txt", "cat $(sh -c 'echo a.txt')",
		"P=/etc/passwd; echo $P", `P=/etc; git commit -m "$P"`,
	} {
		if got := s.decide(t, rules, line); got.action != permission.Allow {
			t.Errorf("%q is held up\n%s", line, shown(got))
		}
	}
}
