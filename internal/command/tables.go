package command

import (
	"slices"
	"strings"
)

// A wrapper is a command whose arguments are another command, its payload.
type wrapper struct {
	grammar
	args    int    // how many words stand before the payload
	assigns bool   // NAME=value may stand before the payload
	loose   bool   // any word with a = in it is such a one
	query   string // options with which nothing is run
	only    string // the option without which nothing is run
	moves   string // options with which the payload runs in another folder
	shell   bool   // without a payload it runs a shell
	same    bool   // the payload runs in the shell itself
}

// wrapperOf knows the wrappers.
func wrapperOf(name string) (wrapper, bool) {
	if gnu, ok := strings.CutPrefix(name, "g"); ok && slices.Contains([]string{"env", "nice", "nohup", "timeout", "stdbuf", "chroot"}, gnu) {
		name = gnu // as GNU's tools are called beside those of another system
	}
	for _, table := range []func(string) (wrapper, bool){builtinWrapper, usualWrapper, userWrapper, rareWrapper, boxWrapper, systemWrapper} {
		if w, ok := table(name); ok {
			return w, true
		}
	}
	return wrapper{}, false
}

func builtinWrapper(name string) (wrapper, bool) {
	switch name {
	case "command":
		return wrapper{grammar: grammar{short: "pvV"}, query: "v V", same: true}, true
	case "builtin":
		return wrapper{same: true}, true
	case "exec":
		return wrapper{grammar: grammar{short: "a:cl"}}, true
	case "jobs":
		return wrapper{grammar: grammar{short: "xlnprs"}, only: "x"}, true
	case "time":
		return wrapper{grammar: grammar{short: "f:o:apqvV", long: "format: output: append portability quiet verbose help version"}}, true
	}
	return wrapper{}, false
}

func usualWrapper(name string) (wrapper, bool) {
	var w wrapper
	switch name {
	case "env":
		w = wrapper{
			grammar: grammar{
				short: "u:C:S:a:i0v",
				long: "unset: chdir: split-string: argv0: ignore-environment null debug block-signal:: default-signal:: ignore-signal:: " +
					"list-signal-handling help version",
			},
			assigns: true, loose: true, moves: "C chdir",
		}
	case "nohup":
		w.long = "help version"
	case "setsid":
		w.grammar = grammar{short: "cfwhV", long: "ctty fork wait help version"}
	case "nice":
		w.grammar = grammar{short: "n:0::1::2::3::4::5::6::7::8::9::", long: "adjustment: help version"}
	case "ionice":
		w.grammar = grammar{short: "c:n:p:P:u:thV", long: "class: classdata: pid: pgid: uid: ignore help version"}
		w.query = "p P u pid pgid uid"
	case "timeout":
		w.grammar = grammar{short: "k:s:vfp", long: "kill-after: signal: foreground preserve-status verbose help version"}
		w.args = 1
	case "stdbuf":
		w.grammar = grammar{short: "i:o:e:", long: "input: output: error: help version"}
	case "chrt":
		w.grammar = grammar{
			short: "T:P:D:abfidormpRvhVe", long: "sched-runtime: sched-period: sched-deadline: batch deadline ext fifo idle other rr " +
				"reset-on-fork all-tasks max pid verbose help version",
		}
		w.args, w.query = 1, "m p max pid"
	case "taskset":
		w.grammar = grammar{short: "apchV", long: "all-tasks pid cpu-list help version"}
		w.args, w.query = 1, "p pid"
	case "strace":
		w.grammar = grammar{
			short: "a:b:e:E:I:o:O:p:P:s:S:u:U:X:cCdDfFhikKnqrtTvVwxyYzZAN",
			long: "trace: output: env: user: string-limit: attach: follow-forks output-separately summary summary-only absolute-timestamps:: " +
				"relative-timestamps:: syscall-times:: decode-fds:: strings-in-hex:: quiet:: seccomp-bpf successful-only failed-only " +
				"no-abbrev stack-trace instruction-pointer syscall-number debug help version columns: const-print-style: interruptible: daemonize:: signal: status: raw: abbrev: inject: fault: read: write: kvm: verbose: summary-sort-by: summary-columns: argv0: tips::",
		}
	case "ltrace":
		w.grammar = grammar{short: "a:A:D:e:F:l:n:o:p:s:u:w:x:X:bcCfhiLrStTV", long: "align: output: indent: config: library: where: no-signals demangle debug: help version"}
	case "busybox", "toybox":
		w.long = "list list-full install help"
		w.query = "list list-full install help"
	default:
		return w, false
	}
	return w, true
}

// userWrapper knows the wrappers that change the user or what is around a
// command.
func userWrapper(name string) (wrapper, bool) {
	var w wrapper
	switch name {
	case "sudo":
		w.grammar = grammar{
			short: "a:C:c:D:g:h:p:R:r:T:t:U:u:AbBEeHiKklNnPSsVv",
			long: "auth-type: close-from: login-class: chdir: group: host: prompt: chroot: role: command-timeout: type: other-user: user: askpass " +
				"background bell preserve-env:: edit set-home login remove-timestamp reset-timestamp list no-update non-interactive " +
				"preserve-groups stdin shell validate version help",
		}
		w.assigns, w.query, w.moves = true, "l list v validate V version K remove-timestamp e edit", "D chdir R chroot"
		w.shell = true
	case "doas":
		w.grammar = grammar{short: "C:u:a:Lns"}
		w.query, w.shell = "L C", true
	case "pkexec":
		w.long = "user: disable-internal-agent keep-cwd help version"
		w.shell = true
	case "runuser":
		w.grammar = grammar{short: "u:g:G:w:T:s:c:flmpPh", long: "user: group: supp-group: shell: command: session-command: whitelist-environment: login preserve-environment fast pty"}
		w.shell = true
	case "gosu", "su-exec", "setuidgid":
		w.args = 1
	case "chroot":
		w.long = "groups: userspec: skip-chdir help version"
		w.args, w.shell, w.moves = 1, true, "*"
	case "unshare":
		w.grammar = grammar{
			short: "S:G:R:w:l:c::fhimnprtuCTUVk::",
			long: "setuid: setgid: root: wd: load-interp: propagation: setgroups: map-user: map-group: map-users: map-groups: monotonic: boottime: " +
				"mount:: uts:: ipc:: net:: pid:: user:: cgroup:: time:: fork kill-child:: mount-proc:: map-root-user map-current-user map-auto keep-caps",
		}
		w.shell, w.moves = true, "R root w wd"
	case "nsenter":
		w.grammar = grammar{
			short: "t:S:G:m::u::i::n::p::C::U::T::r::w::W:aFZceN:",
			long:  "target: setuid: setgid: wdns: net-socket: mount:: uts:: ipc:: net:: pid:: cgroup:: user:: time:: root:: wd:: all no-fork preserve-credentials follow-context join-cgroup env",
		}
		w.shell, w.moves = true, "*"
	case "systemd-run":
		w.grammar = grammar{
			short: "p:u:E:t:H:M:dGPqSr",
			long: "property: unit: setenv: description: slice: service-type: uid: gid: nice: working-directory: host: machine: on-active: on-boot: on-calendar: " +
				"timer-property: path-property: socket-property: user system scope pty pipe quiet wait collect shell no-block remain-after-exit same-dir send-sighup slice-inherit no-ask-password background: expand-environment:",
		}
		w.moves = "working-directory H host M machine"
	default:
		return w, false
	}
	return w, true
}

// rareWrapper knows wrappers that are seldom seen. Of some, few options are
// known here: another one leaves an uncertainty.
func rareWrapper(name string) (wrapper, bool) {
	var w wrapper
	switch name {
	case "xvfb-run":
		w.grammar = grammar{short: "n:e:f:p:s:w:alh", long: "server-num: error-file: auth-file: xauth-protocol: server-args: wait: auto-servernum listen-tcp"}
	case "caffeinate":
		w.grammar = grammar{short: "t:w:dimsu"}
	case "proxychains", "proxychains4":
		w.short = "f:q"
	case "torsocks", "torify", "aoss", "multitime", "tsocks", "eatmydata", "chronic", "unbuffer", "fakeroot", "rlwrap", "dbus-run-session", "ssh-agent", "catchsegv",
		"dumb-init", "tini", "linux32", "linux64", "i386", "x86_64", "firejail", "proot", "valgrind", "setpriv", "systemd-inhibit", "nocache",
		"winpty", "fakechroot", "chcon", "trickle", "cpulimit", "annotate-output", "sem", "ccache", "sccache", "distcc", "icecc",
		"cttyhack", "enosys", "ifne", "zrun", "tsp", "nq", "retry", "dockerize", "pipesz", "dbus-launch", "scriptlive", "dtach", "abduco", "gdbserver", "heaptrack", "uftrace", "softlimit", "grc", "pexec", "run0", "xwfb-run",
		"bear", "scan-build", "intercept-build", "xcrun", "arch", "box64", "box86", "wine", "wine64", "dtruss", "daemonize", "envconsul":
		w.short = "hvq"
	case "chpst":
		w.short = "u:U:b:/:n:l:L:m:d:o:p:f:c:r:t:e:PNV012v"
	case "sandbox-exec":
		w.short = "f:n:p:D:t:"
	case "schedtool":
		w.short = "M:p:a:n:e0123456FRBIDNv"
	case "kcov", "pidproxy":
		w.args = 1
	case "numactl", "prlimit":
		w.long = "help version all"
	case "faketime", "setarch", "setlock", "lckdo", "cgexec", "envdir", "envuidgid", "s6-setuidgid",
		"s6-envdir", "s6-setlock", "pgrphack", "systemd-nspawn":
		w.args = 1
	case "runcon":
		w.grammar = grammar{short: "t:u:r:l:c", long: "type: user: role: range: compute help version"}
		w.args = 1
	default:
		if !strings.HasPrefix(name, "qemu-") || strings.HasPrefix(name, "qemu-system") || name == "qemu-img" || name == "qemu-nbd" || name == "qemu-io" {
			return w, false
		}
		w.short = "g:L:s:cpu:E:U:B:R:d:D:p:"
	}
	return w, true
}

// boxWrapper knows wrappers that take most of their line for themselves.
func boxWrapper(name string) (wrapper, bool) {
	var w wrapper
	switch name {
	case "bwrap":
		w.long = "argv0: args: chdir: setenv:2 unsetenv: lock-file: bind:2 bind-try:2 dev-bind:2 dev-bind-try:2 ro-bind:2 ro-bind-try:2 remount-ro: " +
			"overlay-src: overlay:3 tmp-overlay: ro-overlay: proc: dev: tmpfs: mqueue: dir: file:2 bind-data:2 ro-bind-data:2 symlink:2 chmod:2 perms: size: " +
			"bind-fd:2 ro-bind-fd:2 uid: gid: hostname: sync-fd: info-fd: block-fd: userns: userns2: userns-block-fd: pidns: json-status-fd: seccomp: add-seccomp-fd: exec-label: file-label: " +
			"cap-add: cap-drop: unshare-all unshare-net unshare-user unshare-user-try unshare-ipc unshare-pid unshare-uts unshare-cgroup unshare-cgroup-try " +
			"die-with-parent new-session share-net as-pid-1 clearenv disable-userns assert-userns-disabled help version"
		w.moves = "*"
	default:
		return w, false
	}
	return w, true
}

// systemWrapper knows wrappers of the system's own tools.
func systemWrapper(name string) (wrapper, bool) {
	var w wrapper
	switch name {
	case "choom":
		w.grammar = grammar{short: "n:p:hV", long: "adjust: pid: help version"}
		w.query = "p pid"
	case "logsave":
		w.grammar, w.args = grammar{short: "asv"}, 1
	case "uclampset":
		w.grammar = grammar{short: "m:M:p:asRvhV", long: "pid: all-tasks system reset-on-fork verbose help version"}
		w.query = "p pid s system"
	case "systemd-cat":
		w.grammar = grammar{short: "t:p:h", long: "identifier: priority: stderr-priority: level-prefix: namespace: help version"}
	case "gpg-agent":
		w.grammar = grammar{
			short: "vqnscb",
			long: "daemon server supervised homedir: options: verbose quiet no-detach sh csh log-file: debug: debug-level: default-cache-ttl: max-cache-ttl: " +
				"enable-ssh-support write-env-file:: no-grab help version",
		}
	case "debconf":
		w.grammar = grammar{short: "o:f:p:h", long: "owner: frontend: priority: terse help"}
	case "sshpass":
		w.short = "p:f:d:P:evhV"
	case "timelimit":
		w.short = "t:T:s:S:qp"
	case "aa-exec":
		w.grammar = grammar{short: "p:n:idvh", long: "profile: namespace: immediate debug verbose help"}
	case "cross-env", "cross-env-shell", "env-cmd":
		w.assigns = true
	case "openvt":
		w.grammar = grammar{short: "c:efulswv", long: "console: exec force user login switch wait verbose help version"}
	case "switch_root":
		w.args, w.moves = 1, "*"
	case "tcpsvd", "udpsvd":
		w.grammar, w.args = grammar{short: "c:C:u:l:b:hEvp"}, 2
	default:
		if !loader(name) {
			return w, false
		}
		w.grammar = grammar{long: "library-path: inhibit-rpath: audit: preload: argv0: glibc-hwcaps-prepend: glibc-hwcaps-mask: inhibit-cache list verify " +
			"list-tunables list-diagnostics help version"}
		w.query = "list verify list-tunables list-diagnostics"
	}
	return w, true
}

// loader knows the programs that load others: ld-linux-x86-64.so.2 and the
// like, also by the name of their version.
func loader(name string) bool {
	for _, head := range []string{"ld-linux", "ld-musl", "ld.so", "ld64.so", "ld-2.", "ld-uClibc"} {
		if strings.HasPrefix(name, head) {
			return true
		}
	}
	return false
}
