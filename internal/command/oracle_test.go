//go:build unix

package command

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A stage runs texts in bash, where the only command that leaves a trace is
// canary.
type stage struct{ bash, dir, trace string }

func newStage(t *testing.T) stage {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not here")
	}
	dir, err := os.MkdirTemp("", "oracle")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { vanish(t, dir) })
	s := stage{bash: bash, dir: dir, trace: filepath.Join(t.TempDir(), "trace")}
	bin := filepath.Join(s.dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	canary := "#!" + bash + "\n: > '" + s.trace + "'\n"
	if err := os.WriteFile(filepath.Join(bin, "canary"), []byte(canary), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bash", "sh", "env", "cat", "xargs", "timeout", "find", "nice"} {
		if at, err := exec.LookPath(name); err == nil {
			if err := os.Symlink(at, filepath.Join(bin, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s
}

// vanish removes a folder in which a command that a text left behind may still
// make files for a moment: timeout lives in a process group of its own.
func vanish(t *testing.T, dir string) {
	err := os.RemoveAll(dir)
	for range 100 {
		if err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
		err = os.RemoveAll(dir)
	}
	t.Errorf("a text left something that keeps making files: %v", err)
}

// sings reports whether bash runs canary because of a text.
func (s stage) sings(t interface{ Fatal(...any) }, text string) bool {
	if err := os.Remove(s.trace); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.bash, "--norc", "--noprofile", "-c", text)
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + filepath.Join(s.dir, "bin"), "LC_ALL=C"}
	cmd.WaitDelay = 100 * time.Millisecond
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	_ = cmd.Run() // most texts fail in some way
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	_, err := os.Stat(s.trace)
	return err == nil
}

// seen reports whether a reading says that canary may run.
func seen(line Line) bool {
	if line.Opaque != "" {
		return true
	}
	for _, u := range line.Units {
		if len(u.Uncertainties) > 0 {
			return true
		}
		for _, s := range spellings(u) {
			if head, _, open := strings.Cut(s, Unknown); strings.HasPrefix(s, "canary") || open && strings.HasPrefix("canary", head) {
				return true
			}
			if name, _, _ := strings.Cut(s, " "); (posixShell(name) || name == "." || name == "source") && strings.Contains(s, "canary") {
				return true // as a script
			}
		}
	}
	return false
}

// forms are ways to run H.
func forms() []string {
	return []string{
		"echo $(H)", "echo \"$(H)\"", "echo `H`", "(H)", "{ H; }", "if H; then :; fi", "if :; then H; fi", "true && H", "false || H",
		"eval 'H'", "eval H", "sh -c 'H'", "bash -c \"H\"", "bash -ec 'H'", "bash <<< 'H'", "bash <<E\nH\nE\n", "bash <<'E'\nH\nE\n", "x=$(H)", "x=$(H) :",
		"echo \"${x:-$(H)}\"", "echo \"${x:-'$(H)'}\"", "echo ${x:-'$(H)'}", "echo $(( $(H) + 1 ))", "echo $(( '$(H)' ))", "a[$(H)]=1", "cat <(H)", ": > >(H)",
		"trap 'H' EXIT", "f() { H; }; f", "function f { H; }; f", "case a in a) H;; esac", "case $(H) in *) ;; esac", "for i in 1; do H; done",
		"for i in $(H); do :; done", "for ((i=0;i<1;i++)); do H; done", "while H; do break; done", "until H; do :; done", "env H", "env -i PATH=$PATH H", "timeout 5 H", "nice H",
		"echo a | xargs H", "echo H | sh", "find . -maxdepth 0 -exec H \\;", "find . -maxdepth 0 -exec sh -c 'H' \\;", "time H", "time -- H", "time -p H", "! H",
		"coproc H; wait", "H & wait", "cat <<E\n$(H)\nE\n", "cat <<E\n${x:-'$(H)'}\nE\n", "cat <<< $(H)", ": ${x:=$(H)}", "[[ -n $(H) ]]", "[[ a == $(H) ]]",
		"test -v 'a[$(H)]'", "[ -v 'a[$(H)]' ]", "[[ -v 'a[$(H)]' ]]", "[[ 'a[$(H)]' -eq 0 ]]", "printf -v 'a[$(H)]' x", "declare -n r='a[$(H)]'; echo $r", "read 'a[$(H)]' <<< x",
		"x='$(H)'; echo ${x@P}", "x='a[$(H)]'; echo $((x))", "let 'a[$(H)]=1'", "unset 'a[$(H)]'", "echo $[ $(H) ]", "command H", "exec H", "builtin eval 'H'",
		"X=canary; $X", "\\canary", "ca'na'ry", "$'\\x63anary'", "c\\\nanary", "\"can\"ary", "{canary,}", "H > f", "> f H", "A=1 H", "H | cat", "H |& cat", "echo a && H; echo",
		"select i in a; do H; break; done <<< 1", "mapfile -C 'H #' -c 1 <<< a", "shopt -s expand_aliases\nalias q='H'\nq", ". <(echo H)", "source /dev/stdin <<< 'H'",
		"echo `echo ''#; H`", "echo $(echo ''#; H\n)", "echo $(echo $x#; H\n)", "(echo \"\"#; H\n)", "echo `echo $x; H`", "echo `echo ''; H`", "echo $(echo \"\"; H\n)", "{ : 'a'; H; }",
		"declare x=$(H)", "export x=$(H)", "local x=$(H)", "x=(a $(H))", "x+=([$(H)]=1)", "echo ${x/a/$(H)}", "echo ${x:$(H)}", "echo \"`echo \\\"$(H)\\\"`\"", "echo ${x#$(H)}", "echo ${#a[$(H)]}",
		"declare -a 'a=($(H))'", "a=(); v='($(H))'; declare a=\"$v\"", "for RANDOM in 'a[$(H)]'; do :; done", "set -- 'a[$(H)]'; OPTIND=$1", "n=$(cat <<< 'a[$(H)]'); echo $((n))", "while read n; do ((n)); done <<< 'a[$(H)]'",
		"printf -v y 'a[\\x24(H)]'; ((y))", "x='a[$(H)]'; y=x; declare -i z=$y", "f() { (($1)); }; f 'a[$(H)]'", "declare -n r=OPTIND; read r <<< 'a[$(H)]'",
		"compgen -W '$(H)'", "printf '%s' \"$(H)\" > \"$(H)\"", "((x=$(H)))", "(( '$(H)' ))", "x=$((a[$(H)]))", "echo {a,$(H)}", "bash -c 'eval \"$0\"' 'H'", "hash -p bin/canary q; q",
		"echo ${x:-<(H)}", "echo \"${x#<(H)}\"", "echo ${x:?>(H)}", "x=a; echo ${x/a/<(H)}", "cat <<E\n${x:?<(H)}\nE\n", "[[ x =~ (a|<(H)) ]]", "[[ x =~ @(<(H)) ]]", "let x=1&&H", "let x|H", "let x&H", "let x<(H)", "let x<<E\n'\nE\nH\n: '",
		"echo >&'$(H)'", "x='$(H)'; echo >&$x", "echo >&'<(H)'",
		"for ((;'$(H)';)); do break; done", "for ((;$'\\x24(H)';)); do break; done", "(( $'\\x24(H)' ))", "a[$'\\x24(H)']=1", "echo 1 {a['$(H)']}> f", "set -o history -H\n: H\n!:1*\n", "bash -i <<'E'\n: H\n!:1*\nE\n",
	}
}

// drawText draws a text that may run canary, a little broken perhaps.
func drawText(t *rapid.T) string {
	all := forms()
	s := "canary"
	for range rapid.IntRange(1, 3).Draw(t, "depth") {
		s = strings.ReplaceAll(rapid.SampledFrom(all).Draw(t, "form"), "H", s)
	}
	const chars = "'\"\\$`(){}[]<>|&;#!=*?~ \n\tE:-@a"
	for range rapid.IntRange(0, 3).Draw(t, "edits") {
		at := rapid.IntRange(0, len(s)).Draw(t, "at")
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			s = s[:at] + string(chars[rapid.IntRange(0, len(chars)-1).Draw(t, "char")]) + s[at:]
		case 1:
			s = s[:at] + s[min(at+1, len(s)):]
		default:
			end := rapid.IntRange(at, len(s)).Draw(t, "end")
			s = s[:end] + s[at:end] + s[end:]
		}
	}
	return s
}

// TestOracle holds the reading against bash itself: whatever bash runs must
// have been seen.
func TestOracle(t *testing.T) {
	s := newStage(t)
	if !s.sings(t, "canary") || s.sings(t, "echo canary") {
		t.Fatal("the canary is not to be trusted")
	}
	for _, form := range forms() {
		if text := strings.ReplaceAll(form, "H", "canary"); !seen(Parse(text)) && s.sings(t, text) {
			t.Errorf("bash runs canary because of %q", text)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		if text := drawText(t); !seen(Parse(text)) && s.sings(t, text) {
			t.Fatalf("bash runs canary because of %q", text)
		}
	})
}
