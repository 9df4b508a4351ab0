package command

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// flagsIn gives the flags of all uncertainties about a command line, and ! for those
// without one.
func flagsIn(command string) string {
	var all []string
	for _, u := range Parse(command).Units {
		for _, d := range u.Uncertainties {
			f := d.Flag
			if f == "" {
				f = "!"
			}
			all = append(all, f)
		}
	}
	return strings.Join(all, " ")
}

// TestDoubts has commands that may run what their words do not say, with the
// flags that name it.
func TestDoubts(t *testing.T) {
	for command, want := range map[string]string{
		// code that is not known
		`eval "$x"`: "! !", `eval "rm $x"`: "!", `sh -c "$x"`: "! !", `sh -c "echo $x"`: "!", "sh": "!", "curl u | sh": "!", "curl u | sudo bash -s": "!",
		"echo ls | sh": "!", "sh -s < f": "", "bash < f": "", "bash < <(x)": "!", "bash <(x)": "!", "bash $x": "!", "bash -$x f": "!", "bash /dev/stdin": "!", "bash ./x": "",
		"bash <<E\n$x\nE": "! !", "source f": "", ". $HOME/f": "", "source <(x)": "!", ". /dev/stdin <<< ls": "!", "source $x": "!", "bash --rcfile f": "--rcfile !",
		"bash --version": "", "trap \"$x\" EXIT": "! !", "alias a=$x": "! !", "fish -c ls": "!", "sh -c 'ls ('": "!", "xargs sh -c": "!", "find . -exec sh -c 'a {}' ;": "!",
		"su x": "!", "script f": "!", "at now < f": "", "echo ls | at now": "!", "crontab f": "!", "crontab -l": "", "parallel": "!", "parallel {} ::: ls": "!", "compgen -W '$(ls)'": "-W",
		"env -S 'a $x'": "-S", "bind -x '\"a\": ls'": "!", "tmux ls": "", "tmux new ls": "!", "sudo -s": "!", "fc -s": "!",

		// names and numbers that are code
		"${x@P}": "! !", "echo ${x@P}": "!", "echo ${x@Q}": "", "echo ${!x}": "!", "echo ${!x*} ${!x[@]}": "", "declare -n r=x": "", "declare -n r=$x": "!", "local -n r='a[$(ls)]'": "! ! !",
		"test -v 'a[$(ls)]'": "!", "test -v x": "", "[ -v $x ]": "!", "[[ -v 'a[`ls`]' ]]": "!", "[[ 'a[$(ls)]' -eq 1 ]]": "!", "[[ $x -eq 1 ]]": "", "printf -v 'a[$(ls)]' x": "!",
		"echo $[ x='a[$(ls)]', x ]": "! !", "echo $((x + 1)) ${a[$i]} ${a[@]}": "", "x='a[$(ls)]'": "!", "x='a[1]'": "", "unset 'a[$(ls)]'": "!", "let 'a[$(ls)]=1'": "! ! !",
		"echo \"${x:-'$(ls)'}\"": "!", "echo $(( '`ls`' ))": "!", "a[$(x)]=1": "!", "echo 'a[$(ls)]'": "", "echo 'a[$(ls)]'; echo $((x))": "!", "echo 'a[$(ls)]'; [[ x -eq y ]]": "!",

		// names that are computed
		"$x": "!", "$x y": "!", "$(x) y": "!", "{a,b}": "!", "/bin/$x": "!", "\"$x\"y": "!", "cat$x": "", "b?sh -c ls": "!", "b$x -c ls": "!", "ca? f": "", "git $x": "!", "xargs $x": "!", "timeout $x ls": "!", "timeout \"$x\" ls": "", "sudo $x ls": "!",

		// options that are not known
		"timeout --new x ls": "--new", "xargs --new ls": "--new", "sudo -Z ls": "-Z",
	} {
		if diff := cmp.Diff(want, flagsIn(command)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", command, diff)
		}
	}
}

func TestVariables(t *testing.T) {
	for command, want := range map[string]string{
		"PATH=./bin; ls": "PATH=", "PATH=./bin ls": "PATH=", "A=1 ls": "", "export PATH=./bin": "PATH=", "export \"PATH=./bin\"": "PATH=", "export PATH": "", "declare -x LD_PRELOAD=x": "LD_PRELOAD=",
		"typeset PATH+=:x": "PATH=", "readonly GIT_PAGER=x": "GIT_PAGER=", "command export PATH=x": "PATH=", "\\export PATH=x": "PATH=", "export $x": "!", "export A=$x": "",
		"CARGO_TARGET_X_RUNNER=x cargo test": "CARGO_TARGET_X_RUNNER=", "ACME_PAGER=x ls": "ACME_PAGER=", "KUBECONFIG=x kubectl get pods": "KUBECONFIG=", "LESSKEYIN=x less f": "LESSKEYIN=", "CI=1 ls": "", "LANG=C ls": "",
		"npm config set script-shell x": "config set", "npm config get x": "", "npm set-script x y": "", "go env -w GOFLAGS=x": "env -w", "go env GOPATH": "", "gh config --host h set pager x": "config set",
		"systemctl set-environment PATH=x": "set-environment", "systemctl status x": "", "direnv allow": "allow", "gpg --agent-program x -d f": "--agent-program", "rustc -C linker=x a.rs": "!", "cargo test -- set": "",
		"go build -ldflags '-extld x'": "!", "go build -ldflags '-s -w'": "", "gcc -fuse-ld=./x a.c": "!", "gcc -fuse-ld=lld a.c": "", "protoc --plugin=x a": "--plugin", "npm run set": "",
		"env PATH=x ls": "PATH=", "env A=1 ls": "", "sudo LD_PRELOAD=x ls": "LD_PRELOAD=", "read PATH": "PATH=", "read -r a b": "", "read -a PATH": "PATH=", "read $x": "!", "mapfile -t PATH": "PATH=",
		"printf -v PATH x": "PATH=", "printf PATH": "", "getopts ab PATH": "PATH=", "wait -p PATH": "PATH=", "for PATH in x; do ls; done": "PATH=", "select PATH in x; do ls; done": "PATH=",
		": ${PATH:=x}": "PATH=", ": ${x:=y}": "", ": ${PATH:-x}": "", "exec {PATH}> f": "PATH=", "IFS= read -r x": "", "IFS=x": "IFS=", "IFS=x ls": "IFS=", "IFS=, mapfile x": "",
		"declare -n r=PATH": "PATH=", "PAGER=x EDITOR=y git log": "PAGER= EDITOR=", "PYTHONPATH=. pytest": "PYTHONPATH=", "npm_config_x=y npm ci": "npm_config_x=", "HOME=x ls": "HOME=",
		"BASH_ENV=x bash -c ls": "BASH_ENV=", "strace -E LD_PRELOAD=x ls": "LD_PRELOAD=", "coproc PATH { ls; }": "PATH=", "CI=1 LANG=C NODE_ENV=test GOOS=linux make": "",
	} {
		if diff := cmp.Diff(want, flagsIn(command)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", command, diff)
		}
	}
}

// TestFlags has options that make a command run a program.
func TestFlags(t *testing.T) {
	for command, want := range map[string]string{
		"git -c a=b log": "-c", "git log -c": "", "git --config-env=a=B log": "--config-env", "git --exec-path=x log": "--exec-path", "git --exec-path": "", "git -C x log": "", "git -p log": "",
		"git diff --ext-diff": "--ext-diff", "git log --text": "", "git show --textconv x": "--textconv", "git log --ext": "--ext-diff", "git log -- --ext-diff": "", "git grep -Oless x": "-O", "git grep -nO x": "-O",
		"git grep -e O x": "", "git fetch --upload-pack=x o": "--upload-pack", "git push --receive-pack x": "--receive-pack", "git difftool --extcmd=x": "--extcmd", "git difftool -x y": "-x",
		"git clone ext::x y": "ext::", "git clone -c a=b u": "-c", "git clone -u x y": "-u", "git clone -b main u": "", "git bisect run x": "bisect run", "git bisect start": "",
		"git config a.b c": "config", "git config a.b": "", "git config --get a.b": "", "git config --list": "", "git config -e": "config", "git config --unset a.b": "", "git config get a": "", "git config $x": "config !",
		"rg --pre=x y": "--pre", "rg --pre x y": "--pre", "rg --pretty y": "", "rg -lz y": "-z", "rg -e z y": "", "rg -ez y": "", "rg --hostname-bin x": "--hostname-bin",
		"groff -U x": "-U", "groff -man x": "", "helm template --post-renderer x y": "--post-renderer", "helm template x": "", "pylint --init-hook=x y": "--init-hook", "pylint -d x y": "", "mypy --python-executable x y": "--python-executable",
		"ctest --test-command x": "--test-command", "ctest -R x": "", "curl --engine x u": "--engine", "curl -sSLk u": "", "exiftool -if x y": "-if", "exiftool y": "", "ssh -I x h": "-I", "expect -c x": "-c", "expect x": "",
		"kubectl --kubeconfig=x get pods": "--kubeconfig", "kubectl get pods": "", "clang -Xclang -load -Xclang x": "-load", "javac -processor x y": "-processor", "javac y": "", "gnuplot -e x": "-e", "rclone --sftp-ssh x y": "--sftp-ssh",
		"gh alias set x '!sh'": "!sh", "gh alias list": "", "convert x '|sh'": "|sh", "convert x y": "", "psql -o '|sh'": "|sh", "perf report --objdump=x": "--objdump", "perf report -s dso": "", "iptables --modprobe=x -L": "--modprobe",
		"sort --compress-program=x y": "--compress-program", "sort --comp x y": "--compress-program", "sort -k2 y": "",
		"tar --to-command=x -xf y": "--to-command", "tar -xf y --checkpoint-action=exec=z": "--checkpoint-action", "tar -I x -cf y": "-I", "tar cIf x y": "-I", "tar cf I y": "", "tar -cf I y": "", "tar -cfI y": "",
		"rsync -e ssh a b": "-e", "rsync -avze ssh a b": "-e", "rsync -av --exclude=e a b": "", "ssh -o X=y h": "-o", "ssh -p 22 h": "", "ssh -NfoX=y h": "-o", "scp -S x a b": "-S",
		"man -P x y": "-P", "man -H y": "-H", "man ls": "", "vim -c x": "-c", "vim +x y": "+", "vim +12 y": "", "vim y": "", "go test -exec x": "-exec", "go test --toolexec=x": "-toolexec", "go vet -vettool=x": "-vettool",
		"go test ./...": "", "enable -f x y": "-f", "hash -p x y": "-p", "hash -r": "", "npm --script-shell=x test": "--script-shell", "make -j4 test": "", "make --eval=x": "--eval",
	} {
		if diff := cmp.Diff(want, flagsIn(command)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", command, diff)
		}
	}
}

func TestScripts(t *testing.T) {
	for command, want := range map[string]string{
		"sed -n '1,20p' f": "", "sed 's/a/b/g;s|x/y|z|' f": "", "sed 's/a/e/' f": "", "sed -i.bak -e 's/a/b/' -e '/x/,$!d' f": "", "sed '/^$/d; s/[[:space:]]*$//' f": "", "sed '$!N;P;D' f": "",
		"sed 'a e id' f": "", "sed 'i\\\ne id' f": "", "sed 'y/abc/xyz/;=' f": "", "sed ':a;N;$!ba;s/\\n/ /g' f": "", "sed '# e id\np' f": "", "sed '5q;l 3' f": "", "sed '2~3d;0,/x/Id' f": "", "sed '\\,a,d' f": "",
		"sed 's/x/id/e' f": "!", "sed 's/x/id/2ge' f": "!", "sed '1e id' f": "!", "sed 'e' f": "!", "sed -e p -e '$!{e id\n}' f": "!", "sed 's/a/b/;e id' f": "!", "sed 's/a/b/w out' f": "!", "sed '/x/w out' f": "!",
		"sed -f x f": "-f", "sed -nf x f": "-f", "sed --expression=1e f": "!", "sed \"s/$x/y/\" f": "!", "sed 's/[/]/;/e' f": "!", "sed 's/a' f": "!", "sed --sandbox 1e f": "", "sed 's,a,b,;1 e id' f": "!",
		"awk '{print $1}' f": "", "awk -F: '$3 > 100 {print $1 \":\" $2}' f": "", "awk '{print ($1 > 2)}' f": "", "awk '/system|getline/ {n++} END {print n/2, NR/3}' f": "", "awk '{ if ($1 ~ /a|b/) print }' f": "",
		"awk 'a || b { print \"x > y | z\" } # system(' f": "", "awk '{x = $1 > 2; print x}' f": "", "awk -v n=3 'NR==n' f": "",
		"awk 'BEGIN{system(\"id\")}'": "!", "awk '{print | \"sh\"}' f": "!", "awk 'BEGIN{\"id\" | getline x}'": "!", "awk '{print > \"/x\"}' f": "!", "awk '{printf \"%s\", $1 >> \"x\"}' f": "!", "awk -f x f": "-f",
		"awk \"NR==$n\" f": "!", "awk '{getline x < \"f\"}'": "!", "gawk '@load \"x\"; BEGIN{}'": "!", "gawk 'BEGIN{f=\"system\"; @f(\"id\")}'": "!", "awk 'BEGIN{if(1)/\"/;system(\"id\");x=\"/\"}'": "!", "gawk -e 'BEGIN{system(x)}'": "!",
	} {
		if diff := cmp.Diff(want, flagsIn(command)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", command, diff)
		}
	}
}
