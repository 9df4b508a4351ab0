package command

import (
	"slices"
	"strings"
)

// A Suggestion is a pattern that may be offered for an "always".
type Suggestion struct {
	// Pattern is the beginning of a command followed by " *" or, if Exact, the whole text of one.
	Pattern string

	// Exact says that Pattern is literal text. A * in it is no wildcard, and it must be stored as
	// such.
	Exact bool
}

// Suggest returns what may be offered for the commands of a command line, in
// their order and none twice.
//
// A pattern with a wildcard is offered only where it allows no other kind of
// thing than was shown. It is the exact text for a command that runs another
// one or is handed code, has variables set in front or options before its
// subcommand, or whose beginning is not known. Nothing is offered for a
// command whose name or code is computed or comes from elsewhere, for cd,
// which needs no permission of its own, for a function of the text, and for a
// text that could not be read.
//
// A pattern is about the command alone: the files it is redirected to have to
// be asked for as files.
func (line Line) Suggest() []Suggestion {
	if line.Opaque != "" {
		return nil
	}
	own := make(map[string]bool)
	for _, f := range line.Functions {
		own[f] = true
	}
	var all []Suggestion
	seen := make(map[Suggestion]bool)
	for _, u := range line.Units {
		if len(u.Words) > 0 && own[u.Words[0].Value] {
			continue
		}
		if s, ok := suggest(u); ok && !seen[s] {
			seen[s] = true
			all = append(all, s)
		}
	}
	return all
}

func suggest(u Unit) (Suggestion, bool) {
	exact := Suggestion{Pattern: u.Text, Exact: true}
	switch {
	case u.Inside != "": // the unit around it is offered
		return Suggestion{}, false
	case u.Kind == Declaration:
		return exact, true
	case u.Kind != Command || !u.Words[0].Literal || u.Words[0].Value == "":
		return Suggestion{}, false
	}
	words := wordValues(u.Words)
	words[0] = baseName(words[0])
	switch {
	case words[0] == "cd":
		return Suggestion{}, false
	case carries(words):
		return exact, !computed(u) && !codeFromElsewhere(u, words)
	case len(u.Uncertainties) > 0:
		return exact, !computed(u)
	}
	if prefix := beginning(u, words); prefix != "" {
		return Suggestion{Pattern: prefix + " *"}, true
	}
	return exact, true
}

// beginning returns the words of a command that name what it does, if they can
// stand in a pattern that allows the command.
func beginning(u Unit, words []string) string {
	n := max(prefixLen(words), runner(words)+1)
	if n > len(words) || len(u.Assigns) > 0 || !plainWords(u.Words[:n]) {
		return ""
	}
	prefix := rawText(u.Words[:n])
	if rest, ok := strings.CutPrefix(u.Text, prefix); !ok || rest != "" && rest[0] != ' ' {
		return ""
	}
	return prefix
}

// plainWords reports whether words can be part of a pattern: known, unquoted, not options, and
// without wildcard characters.
func plainWords(words []Word) bool {
	for i, w := range words {
		if !w.Literal || w.Raw != w.Value || strings.ContainsAny(w.Raw, "*?") || i > 0 && (isOption(w.Raw) || w.Raw == "-") {
			return false
		}
	}
	return true
}

func computed(u Unit) bool {
	return slices.ContainsFunc(u.Words, func(w Word) bool { return !w.Literal })
}

// codeFromElsewhere reports whether a shell or an interpreter reads code that is not in the text,
// from a pipe for example, so that the text says nothing about it.
func codeFromElsewhere(u Unit, words []string) bool {
	if !shellName(words[0]) && !runsFile(words[0]) {
		return false
	}
	for _, w := range words[1:] {
		if inlineFlag(words[0], w) || !strings.HasPrefix(w, "-") {
			return false
		}
	}
	for _, r := range u.Redirects {
		if r.Op == "<<" || r.Op == "<<-" || r.Op == "<<<" && r.Target.Literal {
			return false
		}
	}
	return true
}

// carries reports whether a command runs another one, or code, that its own
// beginning does not name.
func carries(words []string) bool {
	name := words[0]
	if runsOther(name) || shellName(name) {
		return true
	}
	if n := runner(words); n > 0 && (len(words) <= n || strings.HasPrefix(words[n], "-") || carries(words[n:])) {
		return true
	}
	return slices.ContainsFunc(words[1:], func(w string) bool { return inlineFlag(name, w) || runsProgram(name, w) })
}

func shellName(name string) bool {
	switch name {
	case "sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "fish", "csh", "tcsh", "rbash", "nu", "pwsh", "powershell", "cmd":
		return true
	}
	return false
}

// runsOther knows the commands whose arguments are, or hold, another command.
func runsOther(name string) bool {
	if _, ok := wrapperOf(name); ok {
		return true
	}
	switch name {
	case "capsh", "sg", "newgrp", "run-parts", "sqlite3", "ed", "red", "ex", "socat", "nix-shell":
		return true
	case "env", "command", "builtin", "exec", "nohup", "setsid", "nice", "ionice", "timeout", "time", "stdbuf", "unbuffer",
		"sudo", "doas", "su", "runuser", "pkexec", "strace", "ltrace", "gdb", "valgrind", "perf", "busybox", "toybox",
		"xargs", "parallel", "chrt", "taskset", "numactl", "chroot", "unshare", "nsenter", "bwrap", "firejail",
		"systemd-run", "flock", "watch", "script", "ssh", "mosh", "entr", "caffeinate", "chronic", "ts", "start-stop-daemon",
		"prlimit", "setarch", "linux32", "linux64", "fakeroot", "proot", "dbus-run-session", "xvfb-run", "at", "batch", "crontab":
		return true
	case "eval", "source", ".", "trap", "alias", "mapfile", "readarray", "complete", "compgen", "enable", "hash", "bind", "coproc", "let":
		return true
	case "awk", "gawk", "mawk", "nawk", "osascript", "expect", "jshell":
		return true
	}
	return false
}

// runner returns how many words stand before the program, file or package that
// a command runs; none if it is not a command of this kind.
func runner(words []string) int {
	if runsFile(words[0]) {
		return 1
	}
	if len(words) < 2 {
		return 0
	}
	switch words[0] + " " + words[1] {
	case "poetry run", "pipenv run", "uv run", "uv tool", "bundle exec", "yarn exec", "yarn dlx", "pnpm exec", "pnpm dlx",
		"npm exec", "npm x", "npm init", "bun x", "go run", "deno run", "swift run", "dotnet run", "dotnet exec",
		"conda run", "mamba run", "micromamba run", "rustup run", "nix run", "nix shell", "nix develop", "mise exec", "mise x", "asdf exec", "pyenv exec", "rbenv exec",
		"bundler exec", "stack exec", "cabal exec", "hatch run", "pdm run", "rye run", "direnv exec", "docker run", "podman run",
		"pixi run", "nodenv exec", "opam exec", "dune exec", "lerna exec", "nx exec", "tox exec", "foreman run", "honcho run", "composer exec", "gem exec",
		"meson devenv", "rr record", "machinectl shell", "launchctl asuser", "consul lock", "uftrace record":
		return 2
	}
	return 0
}

// runsFile knows the interpreters and package runners: what they do is named by
// the file or package that follows.
func runsFile(name string) bool {
	name, _, _ = strings.Cut(strings.TrimRight(name, "0123456789."), ".")
	switch strings.TrimSuffix(name, "-") {
	case "python", "pypy", "ipython", "perl", "ruby", "irb", "node", "nodejs", "tsx", "ts-node", "php", "lua", "luajit",
		"Rscript", "R", "julia", "groovy", "scala", "guile", "tclsh", "wish", "java", "npx", "bunx", "pnpx", "uvx", "pipx":
		return true
	}
	return false
}

// inlineFlag knows the options of shells and interpreters that are followed by
// code.
func inlineFlag(name, word string) bool {
	letters := codeLetters(name)
	if letters == "" || len(word) < 2 || word[0] != '-' {
		return false
	}
	if word[1] == '-' {
		return strings.HasPrefix(word, "--eval") || strings.HasPrefix(word, "--print")
	}
	return strings.ContainsAny(word[1:], letters) // -pe is -p and -e
}

// codeLetters gives the one-letter options behind which code stands.
func codeLetters(name string) string {
	switch {
	case shellName(name), strings.HasPrefix(name, "python"), strings.HasPrefix(name, "pypy"), name == "ipython":
		return "c"
	case name == "deno", name == "bun", strings.HasPrefix(name, "node"), name == "tsx", name == "ts-node":
		return "ep"
	case strings.HasPrefix(name, "php"):
		return "rBRE"
	case runsFile(name):
		return "eE"
	}
	return ""
}

// runsProgram knows words that make a command, which otherwise runs nothing
// else, run a program or remove files.
func runsProgram(name, word string) bool {
	opt, _, _ := strings.Cut(word, "=")
	var known string
	switch name {
	case "find", "fd", "fdfind":
		known = "-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls -x -X --exec --exec-batch"
	case "git":
		known = "-c --config-env --exec-path --ext-diff --textconv --upload-pack --receive-pack --extcmd -x --exec --open-files-in-pager -O " +
			"filter-branch foreach bisect"
	case "rg":
		known = "--pre --hostname-bin -z --search-zip"
	case "tar", "bsdtar":
		known = "--to-command --checkpoint-action -I --use-compress-program -F --info-script --new-volume-script --rsh-command"
	case "sort":
		known = "--compress-program"
	case "split":
		known = "--filter"
	case "rsync":
		known = "-e --rsh --rsync-path"
	case "man":
		known = "-P --pager -H --html"
	case "vi", "vim", "nvim", "view", "ex":
		known = "-c --cmd -S -s"
	case "go":
		known = "-exec -toolexec -vettool"
	case "deno":
		known = "eval repl"
	case "docker", "podman", "kubectl", "crictl", "direnv":
		known = "exec"
	case "sed":
		known = "-f --file"
	case "make":
		known = "-f --file --makefile --eval -C --directory"
	}
	return slices.Contains(strings.Fields(known), opt)
}
