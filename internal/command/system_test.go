package command

import "testing"

// TestSystemTools has tools of the system that run evil, or may.
func TestSystemTools(t *testing.T) {
	for _, command := range []string{
		// loaders and wrappers
		"/lib64/ld-linux-x86-64.so.2 /usr/bin/evil x", "ld-linux-aarch64.so.1 --library-path . evil", "/lib/ld-musl-x86_64.so.1 evil", "ld.so --argv0 x evil",
		"ld-linux-x86-64.so.2 --preload ./x.so /bin/ls", "choom -n 0 evil", "choom -n 0 -- evil", "logsave f evil", "logsave -a f evil x", "uclampset -m 1 evil",
		"systemd-cat -t x evil", "gpg-agent --daemon evil", "gpg-agent --daemon --homedir d evil", "ccache evil", "envdir d evil", "tcpsvd 0 80 evil", "switch_root d evil",
		// shells
		"capsh -- -c evil", "capsh --drop=all -- -c 'evil x'", "capsh == --print -- -c evil", "capsh --shell=./x --", "sg root evil", "sg root 'evil x'", "sg - root -c evil",
		"newgrp g <<< evil", "newgrp - g -c evil", "hush -c evil", "echo evil | newgrp",
		// services and packages
		"start-stop-daemon -S -x evil", "start-stop-daemon --start --exec evil -- a", "start-stop-daemon -S --startas=evil --name x", "start-stop-daemon -S -a evil",
		"run-parts d", "run-parts --regex x d", "apt-get -o APT::Update::Pre-Invoke::=evil update", "apt -oDpkg::Pre-Install-Pkgs::=evil -o DPkg::Post-Invoke::=x install y",
		"apt-get --option=Dir::Bin::dpkg=./evil install x", "aptitude -o Acquire::http::Proxy-Auto-Detect=evil update", "apt-get -c f update",
		"apt-get -o Dpkg::Options::=--pre-invoke=evil install x", "apt-get update -o \"$X\"", "dpkg --pre-invoke=evil -i x.deb",
		// programs with commands of their own
		"sqlite3 x '.shell evil'", "sqlite3 x .sh\\ evil", "sqlite3 x '.system evil a'", "sqlite3 -cmd '.shell evil' x", "sqlite3 x 'select 1' '.once |evil'", "sqlite3 x <<< '.shell evil'",
		"sqlite3 x <<E\nselect 1;\n.shell evil\nE", "sqlite3 x '.load ./x'", "sqlite3 x \"select load_extension('./x')\"", "sqlite3 x \"$X\"", "echo '.shell evil' | sqlite3 x",
		"ed -s f <<< '!evil'", "ed f <<E\nr !evil\nE", "ed -s f <<< 'w x'", "ed -s f <<< '1,$w x'", "printf '!evil\\n' | ed f", "ex -s f <<< '!evil'", "ed f",
		"psql -c '\\! evil'", "mysql -e 'system evil'", "dc -e '!evil'", "socat - EXEC:evil", "socat - system:evil", "nc -e evil h 1", "ncat --sh-exec evil h 1",
		"runcon -t x -- evil", "runcon x evil", "daemonize evil x", "bear -- evil", "kcov out evil", "xcrun evil", "chpst -u x evil", "sandbox-exec -p x evil", "schedtool -e evil", "pidproxy f evil",
		"qemu-x86_64 evil", "watchexec -w src evil a", "watchexec -- evil", "nodemon --exec 'evil a'", "nodemon -x evil", "sops exec-env f 'evil a'", "bpftrace -c 'evil a' -e x", "pm2 start 'evil a'",
		"rr record evil", "opam exec -- evil", "consul lock x evil", "machinectl shell .host evil", "launchctl asuser 1 evil", "meson devenv evil", "lerna exec -- evil a", "composer exec evil",
		"sshpass -p x evil", "ifne evil", "cross-env A=1 evil", "aa-exec -p x -- evil", "ip netns exec n evil", "pee cat evil", "wait-for-it h:1 -- evil",
		"make -f - <<< 'a:; evil'", "echo x | make --file=/dev/stdin", "nix-shell --run evil", "doppler run -- evil", "aws-vault exec p -- evil a",
		// git
		"git remote-ext x evil", "git remote-ext origin 'evil x'", "git merge-index evil -a", "git merge-index -o -q evil f", "git shell -c evil", "git hook run x",
		"git x/evil", "git -P ./evil a", "git x/$X", "git bisect view x/evil", "git bisect visualize git-x/evil",
		// code that is loaded
		"nm --plugin=./x.so f", "nm --plugin ./x.so f", "ar --plugin x.so t a", "ranlib --plugin=x.so a", "ld -plugin x.so a.o", "gcc -Wl,-plugin,./x.so a.c", "gcc -B. a.c", "gcc @f",
		"install -s --strip-program=evil a b", "xterm -e evil",
		// awk with other arguments
		`awk 'BEGIN{ARGV[ARGC++]="f"}1'`, `awk 'BEGIN{ARGV[1] = "f"}1' x`, `awk 'BEGIN{split("f", ARGV); ARGC=2}1'`, `awk 'BEGIN{sub(/x/,"f",ARGV[1])}1' x`, `awk 'BEGIN{ARGV[1]+=1}1' x`,
		`gawk 'BEGIN{SYMTAB["x"]=1}'`, `awk 'BEGIN{++ARGV[1]}1' x`,
	} {
		if line := Parse(command); !stops(line) {
			t.Errorf("%q is let through: %+v", command, line.Units)
		}
	}
}

// TestSystemToolsPlain has lines of the same tools that run nothing else.
func TestSystemToolsPlain(t *testing.T) {
	for _, command := range []string{
		"ld-linux-x86-64.so.2 --list /bin/evil", "ld-linux-x86-64.so.2 /bin/ls", "choom -p 1", "choom -n 0 ls", "logsave f ls", "capsh --print", "capsh --decode=1", "sg root ls",
		"start-stop-daemon -K -x evil", "start-stop-daemon --status --exec evil", "run-parts --test d", "run-parts --list d",
		"apt-get install -y evil", "apt-get -o Dpkg::Options::=--force-confnew -y install x", "apt-get -o Acquire::Retries=3 update", "apt list --installed", "dpkg -l",
		"sqlite3 x 'select evil from t'", "sqlite3 x .tables", "sqlite3 x '.schema t'", "sqlite3 -header -csv x 'select 1'", "sqlite3 x '.mode csv' 'select 1'", "sqlite3 x < f.sql",
		"sqlite3 x <<E\nselect 1;\nE", "sqlite3 x .dump", "sqlite3 -separator '|' x 'select 1'", "sqlite3 x \"select * from $t\"", "sqlite3 x .exit", "sqlite3 x '.echo on'",
		"ed -s f <<E\n1,2d\nw\nq\nE", "ed -s f <<< 'w'", "ed -s f < script", "ed f <<E\n,s/a/b/\nwq\nE",
		"psql -c 'select 1'", "psql -c '\\dt'", "mysql -e 'show tables'", "dc -e '1 2 + p'", "socat - TCP:h:1", "nc -z h 1", "nix build", "op read x",
		"git remote -v", "git merge-base a b", "git bisect visualize --stat", "git bisect view", "git bisect start a/b", "git checkout a/b", "git log{,x}", "nm -D f", "ar t a", "gcc -O2 -o x a.c -Wl,-rpath,x", "ld -o x a.o", "install -m 755 a b", "install -s a b",
		`awk 'FILENAME==ARGV[1]{n++}' a b`, `awk 'END{print ARGV[1]}' a`, `awk 'BEGIN{delete ARGV[1]}1' a`, `awk 'BEGIN{for (k in ARGV) n++}'`, `awk 'ARGV[1] == FILENAME' a`,
		"make -f - < Makefile", "make -f x.mk -j4 a", "ip addr", "ip netns list", "sshpass -p x ls", "cross-env A=1 ls",
		"history", "man ls", "make -j4", "python3 -c 'print(1)'", "perl -e 'print 1'",
	} {
		if line := Parse(command); stops(line) {
			t.Errorf("%q is stopped: %+v", command, line.Units)
		}
	}
}

// TestLoadersAreFollowed: what is run is a unit of its own, under its name.
func TestLoadersAreFollowed(t *testing.T) {
	for command, want := range map[string]string{
		"/lib64/ld-linux-x86-64.so.2 /usr/bin/touch x": "/usr/bin/touch x", "choom -n 0 rm x": "rm x", "capsh -- -c 'rm x'": "rm x", "logsave f rm x": "rm x",
		"sg root 'rm x'": "rm x", "start-stop-daemon -S -x rm -- x": "rm x", "sqlite3 d '.shell rm x'": "rm x", "ed f <<< '!rm x'": "rm x", "git remote-ext o rm x": "rm x",
		"gpg-agent --daemon rm x": "rm x",
	} {
		found := false
		for _, u := range Parse(command).Units {
			found = found || u.Inside != "" && u.Text == want
		}
		if !found {
			t.Errorf("%q: %q is not found", command, want)
		}
	}
}
