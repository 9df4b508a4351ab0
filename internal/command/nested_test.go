package command

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestInside has commands that run others, or code, and what that is.
func TestInside(t *testing.T) {
	tests := []struct {
		command string
		want    string // the units inside, separated by " | "
	}{
		// wrappers
		{"env rm y", "rm y"},
		{"/usr/bin/env rm y", "rm y"},
		{"env -i -u X A=1 B=2 rm y", "rm y"},
		{"env -", ""},
		{"env -S 'rm -f' y", "env rm -f y | rm -f y"},
		{"command rm y", "rm y"},
		{"command -p rm y", "rm y"},
		{"command -v rm", ""},
		{"builtin command rm y", "command rm y | rm y"},
		{"exec -a ls rm y", "rm y"},
		{"exec 3> f", ""},
		{"nohup rm y", "rm y"},
		{"setsid -w rm y", "rm y"},
		{"nice rm y", "rm y"},
		{"nice -n 5 rm y", "rm y"},
		{"nice -5 rm y", "rm y"},
		{"nice --adj=5 rm y", "rm y"},
		{"ionice -c2 -n 7 rm y", "rm y"},
		{"timeout -k 5 10 rm y", "rm y"},
		{"timeout --signal KILL 10 rm y", "rm y"},
		{"\\time -f %e rm y", "rm y"},
		{"stdbuf -oL rm y", "rm y"},
		{"sudo -u root -E A=1 rm y", "rm y"},
		{"sudo -- rm y", "rm y"},
		{"sudo -l", ""},
		{"sudo -s rm y", "rm y"},
		{"doas -u x rm y", "rm y"},
		{"strace -f -o t.log rm y", "rm y"},
		{"ltrace -e x rm y", "rm y"},
		{"busybox rm y", "rm y"},
		{"busybox sh -c 'rm y'", "sh -c 'rm y' | rm y"},
		{"chrt -r 5 rm y", "rm y"},
		{"taskset -c 0,1 rm y", "rm y"},
		{"chroot /x rm y", "rm y"},
		{"env timeout 5 nice command rm y", "timeout 5 nice command rm y | nice command rm y | command rm y | rm y"},
		{"xargs rm < l", "rm"},
		{"xargs -0 -I{} -P4 rm {}", "rm {}"},
		{"xargs -i rm {}", "rm {}"},
		{"xargs --max-args 1 rm", "rm"},
		{"ls | xargs -I % sh -c 'rm %'", "sh -c 'rm %' | rm %"},
		{"find . -exec rm {} \\;", "rm {}"},
		{"find . -execdir rm {} + -ok ls {} ';' -print", "rm {} | ls {}"},
		{"find . -name x -delete", "rm"},
		{"fd -x rm", "rm"},
		{"fd -e go -X rm {} \\; -u", "rm {}"},
		{"fd --exec=rm", "rm"},
		{"parallel rm ::: a b", "rm"},
		{"parallel -j 4 'rm {}; ls' ::: a b", "rm {} | ls"},
		{"parallel ::: 'rm y'", "rm y"},
		{"watch -x rm y", "rm y"},
		{"flock -n lock rm y", "rm y"},
		{"git bisect run rm y", "rm y"},

		// code
		{"sh -c 'rm y'", "rm y"},
		{"bash -lc \"rm y\"", "rm y"},
		{"bash -c -e 'rm y'", "rm y"},
		{"bash -euo pipefail -c 'rm y' x", "rm y"},
		{"bash --norc +e -O extglob -c -- 'rm y'", "rm y"},
		{"bash -c 'ls; echo $(rm y)'", "ls | echo $(rm y) | rm y"},
		{"bash -c 'bash -c \"rm y\"'", "bash -c \"rm y\" | rm y"},
		{"bash x.sh", ""},
		{"bash <<< 'rm y'", "rm y"},
		{"bash -s a <<< 'rm y'", "rm y"},
		{"bash <<'E'\nrm y\nE", "rm y"},
		{"bash <<E\nrm \\$x\nE", "rm $x"},
		{"env bash <<< 'rm y'", "bash | rm y"},
		{"eval rm 'y z'", "rm y z"},
		{"eval eval 'rm y'", "eval rm y | rm y"},
		{"trap 'rm y' EXIT", "rm y"},
		{"trap -- 'rm y' EXIT INT", "rm y"},
		{"trap - EXIT", ""},
		{"alias ls='rm y' g=git", "rm y | git"},
		{"mapfile -C 'rm y' -c 1 < l", "rm y"},
		{"complete -C 'rm y' ls", "rm y"},
		{"watch -n1 'rm y'", "rm y"},
		{"watch rm y", "rm y"},
		{"flock lock -c 'rm y'", "rm y"},
		{"script -qc 'rm y' /dev/null", "rm y"},
		{"su - x -c 'rm y'", "rm y"},
		{"runuser -u x rm y", "rm y"},
		{"split --filter='rm y' x", "rm y"},
		{"git -C d rebase -x 'rm y' main", "rm y"},
		{"git rebase --exec='rm y' main", "rm y"},
		{"git submodule foreach --recursive 'rm y'", "rm y"},
		{"entr -s 'rm y'", "rm y"},
		{"echo 'rm y' | sh", "rm y"},
		{"printf '%s\\n' 'rm y' | sh", "rm y"},
		{"cat <<E | sh\nrm y\nE", "rm y"},
	}
	for _, tt := range tests {
		var got []string
		for _, u := range Parse(tt.command).Units {
			if u.Inside != "" {
				got = append(got, u.Text)
			}
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, " | ")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.command, diff)
		}
	}
}

// TestDeep has no bound on how many commands are around another one.
func TestDeep(t *testing.T) {
	for _, n := range []int{20, 100, 5000} {
		line := Parse(strings.Repeat("env ", n) + "rm y")
		last := line.Units[len(line.Units)-1]
		if last.Text != "rm y" {
			t.Errorf("%d times env: the last unit is %.40q", n, last.Text)
		}
		if len(line.Units) > maxLevel+2 {
			t.Errorf("%d times env: %d units", n, len(line.Units))
		}
	}
	line := Parse(strings.Repeat("eval ", 5000) + "rm y")
	if u := line.Units[len(line.Units)-1]; len(u.Uncertainties) == 0 {
		t.Errorf("no uncertainty about %.40q", u.Text)
	}
}

// TestOutside has units that stand inside others, with the text of these.
func TestOutside(t *testing.T) {
	units := Parse("sudo sh -c 'ls; rm y'").Units
	var got []string
	for _, u := range units {
		got = append(got, u.Inside+" > "+u.Text)
	}
	want := []string{" > sudo sh -c 'ls; rm y'", "sudo sh -c 'ls; rm y' > sh -c 'ls; rm y'", "sh -c 'ls; rm y' > ls", "sh -c 'ls; rm y' > rm y"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestHoles has words of payloads that only come when these are run.
func TestHoles(t *testing.T) {
	for command, want := range map[string]string{
		"xargs git":                 "git " + Unknown,
		"xargs -I{} git {} x":       "git " + Unknown + " x",
		"xargs -I % git a%b":        "git a" + Unknown + "b",
		"find . -exec git {} \\;":   "git " + Unknown,
		"fd -x git":                 "git " + Unknown,
		"alias g=git":               "git " + Unknown,
		"parallel git {} ::: push":  "git " + Unknown,
		"find . -delete":            "rm " + Unknown,
		"mapfile -C git -c 1 < l":   "git " + Unknown,
		"parallel git ::: push add": "git " + Unknown,
	} {
		units := Parse(command).Units
		if diff := cmp.Diff([]string{want}, units[len(units)-1].Spellings); diff != "" {
			t.Errorf("%q (-want +got):\n%s", command, diff)
		}
	}
}

func TestDirs(t *testing.T) {
	tests := []struct {
		command string
		want    string // where each ls runs; ? is not known, and / separates where else
	}{
		{"ls", "."},
		{"cd sub && ls", "sub"},
		{"cd sub; ls", "sub or ."},
		{"cd sub\nls", "sub or ."},
		{"cd sub || exit 1; ls", "sub"},
		{"cd sub || ls", "sub or ."},
		{"cd sub || true; ls", "sub or ."},
		{"cd a && cd b && ls", "a/b"},
		{"cd a; cd b; ls", "a/b or b or a or ."},
		{"cd a && cd .. && ls", "."},
		{"cd .. && ls", ".."},
		{"cd /x && ls", "/x"},
		{"cd 'a b' && ls", "a b"},
		{"cd && ls", "~"},
		{"cd ~/x && ls", "~/x"},
		{"cd ~/x && cd .. && ls", "~/x/.."},
		{"cd \"$HOME/x\" && ls", "~/x"},
		{"cd -- sub && ls", "sub"},
		{"cd -P sub && ls", "?"},
		{"cd - && ls", "?"},
		{"cd $x && ls", "?"},
		{"cd a* && ls", "?"},
		{"cd $x && cd /y && ls", "/y"},
		{"cd $x; cd /y; ls", "?"},
		{"(cd sub && ls); ls", "sub, ."},
		{"{ cd sub && ls; }; ls", "sub, sub or ."},
		{"echo $(cd sub && ls); ls", "sub, ."},
		{"cd sub | ls; ls", "., ."},
		{"cd sub & ls", "."},
		{"ls && cd sub && ls", "., sub"},
		{"if true; then cd sub; fi; ls", ". or sub"},
		{"if cd sub; then ls; else ls; fi", "sub or ., sub or ."},
		{"for i in 1 2; do ls; cd sub; done; ls", "?, ?"},
		{"while true; do ls; done; ls", "., ."},
		{"case a in a) cd sub;; esac; ls", ". or sub"},
		{"f() { ls; }; cd sub && f", "?"},
		{"f() { ls; }; f", "."},
		{"pushd sub && ls && popd && ls", "sub, ."},
		{"pushd +1 && ls", "?"},
		{"popd && ls", "?"},
		{"sh -c 'cd sub && ls'; ls", "sub, ."},
		{"eval 'cd sub' && ls", "sub or ."},
		{"command cd sub && ls", "sub"},
		{"env cd sub && ls", "."},
		{"env -C /x ls", "/x"},
		{"trap 'ls' EXIT; cd sub && ls", "?, sub"},
		{"find . -execdir ls {} +", "?"},
		{"git -C x status && ls", "."},
		{"cd a;cd b;cd c;cd d;ls", "?"},
	}
	for _, tt := range tests {
		var got []string
		for _, u := range Parse(tt.command).Units {
			if len(u.Words) == 0 || u.Words[0].Value != "ls" {
				continue
			}
			where := []string{}
			for _, d := range append([]string{u.Dir.Path}, u.Dir.Else...) {
				if d == "" {
					d = "."
				}
				where = append(where, d)
			}
			if !u.Dir.Known {
				where = []string{"?"}
			}
			got = append(got, strings.Join(where, " or "))
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.command, diff)
		}
	}
}
