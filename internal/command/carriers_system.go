package command

import (
	"slices"
	"strings"
)

// rareCode reads programs that are not often used to run others.
func (c *collector) rareCode(unit int, name string, in input) bool {
	return c.inputCode(unit, name, in) || c.systemCode(unit, name) || c.handedCode(unit, name) || c.optionCode(unit, name)
}

// inputCode reads programs that take commands of their own from their words or
// their input.
func (c *collector) inputCode(unit int, name string, in input) bool {
	words := c.r.units[unit].Words
	switch name {
	case "sqlite3", "duckdb":
		c.sqliteCode(unit, words, in)
	case "ed", "red", "ex":
		c.editorFiles(unit, words)
		c.editorInput(unit, in)
	case "sg", "newgrp":
		c.group(unit, words, in)
	case "make", "gmake":
		c.makefile(unit, words, in)
	default:
		c.typed(unit, name, in)
		return false
	}
	c.scripted(unit, words)
	return true
}

// systemCode reads tools of the system that run other programs.
func (c *collector) systemCode(unit int, name string) bool {
	words := c.r.units[unit].Words
	switch name {
	case "capsh":
		c.capsh(unit, words)
	case "start-stop-daemon":
		c.startStop(unit, words)
	case "run-parts":
		if !hasAny(words, "--test", "--list") {
			c.addUncertainty(unit, Uncertainty{Why: "programs that are only found then"})
		}
	case "apt", "apt-get", "aptitude", "apt-cache", "apt-config", "apt-mark", "apt-cdrom", "apt-key":
		c.apt(unit, words)
	default:
		return false
	}
	return true
}

// handedCode reads programs that take commands after words of their own.
func (c *collector) handedCode(unit int, name string) bool {
	words := c.r.units[unit].Words
	switch name {
	case "ip":
		if i := slices.IndexFunc(words, func(w Word) bool { return w.Shape == "exec" }); i > 0 && i+1 < len(words) { // ip netns exec name command
			c.strange(unit, scanned{}, words[i+1])
			c.payload(unit, words[i+2:], input{file: true})
		}
	case "pee", "mispipe", "concurrently":
		for _, w := range words[1:] {
			c.codeWord(unit, w, child)
		}
	case "dpkg-architecture":
		if i := slices.IndexFunc(words, func(w Word) bool { return w.Shape == "-c" || w.Shape == "--command" }); i > 0 {
			c.codes(unit, words[i+1:], child)
		}
	case "watchexec":
		s := grammar{
			short: "w:W:e:f:i:s:o:d:p:E:j:rncvqhN1",
			long: "watch: watch-non-recursive: exts: filter: ignore: signal: on-busy-update: debounce: project-origin: env: workdir: shell: delay-run: poll:: stop-signal: stop-timeout: " +
				"restart no-vcs-ignore clear:: notify verbose quiet help postpone timings no-process-group print-events",
		}.scan(words)
		c.strange(unit, s)
		c.codes(unit, s.operands(words), child)
	case "nodemon", "bpftrace":
		s := grammar{short: "x:e:w:i:d:c:p:I:o:f:B:qvVLhk", long: "exec: ext: watch: ignore: delay: signal: config: include: cwd: quiet verbose legacy-watch help", anywhere: true}.scan(words)
		for _, o := range s.options {
			if o.name == "x" || o.name == "exec" || o.name == "c" && name == "bpftrace" {
				c.codeWord(unit, o.value, child)
			}
		}
	case "sops":
		if i := slices.IndexFunc(words, func(w Word) bool { return w.Shape == "exec-env" || w.Shape == "exec-file" }); i > 0 && i+2 < len(words) {
			c.codes(unit, words[i+2:], child)
		}
	case "pm2":
		for _, w := range words[1:] {
			if strings.Contains(w.Shape, " ") { // what has none is a file
				c.codeWord(unit, w, child)
			}
		}
	case "nix-shell":
		for i, w := range words[:len(words)-1] {
			if w.Shape == "--run" || w.Shape == "--command" {
				c.codeWord(unit, words[i+1], child)
			}
		}
	case "debconf-apt-progress", "op", "doppler", "chamber", "aws-vault", "infisical", "dotenv", "dotenvx", "nix", "guix", "devbox", "distrobox", "toolbox", "coresched", "wait-for-it", "wait-for-it.sh":
		if end := slices.IndexFunc(words, func(w Word) bool { return w.Shape == "--" }); end >= 0 {
			c.payload(unit, words[end+1:], input{file: true})
		}
	default:
		return false
	}
	return true
}

// optionCode reads programs that run others where one of their words says so.
func (c *collector) optionCode(unit int, name string) bool {
	var runs func(Word) bool
	switch name {
	case "socat":
		runs = socatRuns
	case "dc":
		runs = func(w Word) bool { return strings.Contains(w.Shape, "!") }
	case "psql", "mysql", "mariadb":
		runs = func(w Word) bool { return clientRuns(name, w.Shape) }
	case "rustc", "cargo":
		runs = func(w Word) bool {
			return strings.Contains(w.Shape, "linker=") || strings.Contains(w.Shape, "codegen-backend=")
		}
	case "go":
		runs = func(w Word) bool {
			return strings.Contains(w.Shape, "extld") || strings.HasPrefix(strings.TrimLeft(w.Shape, "-"), "gccgoflags")
		}
	case "gcc", "g++", "cc", "c++", "clang", "clang++", "ld", "ld.bfd", "ld.gold", "ld.lld", "gold", "lld", "mold":
		runs = linkerRuns
	default:
		return false
	}
	if slices.ContainsFunc(c.r.units[unit].Words[1:], runs) {
		c.addUncertainty(unit, Uncertainty{Why: name + " may run a program, or reach a file, because of what it is handed"})
	}
	return true
}

// hasAny reports whether one of some options is among the words.
func hasAny(words []Word, options ...string) bool {
	return slices.ContainsFunc(words, func(w Word) bool { return slices.Contains(options, w.Shape) })
}

// capsh reads capsh, which hands the words behind -- to a shell.
func (c *collector) capsh(unit int, words []Word) {
	for i, w := range words {
		switch s := w.Shape; {
		case strings.HasPrefix(s, "--shell="):
			c.addUncertainty(unit, Uncertainty{Why: "a shell of its own", Flag: "--shell"})
		case s == "--" || s == "-+":
			c.payload(unit, append([]Word{literalWord("bash")}, words[i+1:]...), input{file: true})
			return
		case s == "==" || s == "=+":
			c.payload(unit, append([]Word{words[0]}, words[i+1:]...), input{file: true})
			return
		}
	}
}

// startStop reads what start-stop-daemon starts.
func (c *collector) startStop(unit int, words []Word) {
	s := grammar{
		short: "p:u:n:x:a:s:g:r:d:c:N:P:I:k:R:T:O:SKHtvVoqbmC",
		long: "pidfile: user: name: exec: startas: signal: group: chroot: chdir: chuid: nicelevel: procsched: iosched: umask: retry: ppid: pid: output: " +
			"notify-timeout: start stop status help version test oknodo quiet background notify-await no-close make-pidfile remove-pidfile verbose",
	}.scan(words)
	c.strange(unit, s)
	if _, stops := s.get("K", "stop", "T", "status", "t", "test"); stops {
		return
	}
	rest := s.operands(words)
	before := c.cwd
	if _, moved := s.get("d", "chdir", "r", "chroot"); moved {
		c.cwd = workDirs{lost: true}
	}
	for _, name := range []string{"exec", "x", "startas", "a"} {
		if o, ok := s.get(name); ok {
			c.payload(unit, append([]Word{o.value}, rest...), input{file: true})
		}
	}
	c.cwd = before
}

// apt reads the settings that apt is handed. Most of them may name a program.
func (c *collector) apt(unit int, words []Word) {
	s := grammar{
		short: "o:c:t:a:dyqsmufVhvbP:", long: "option: config-file: target-release: default-release: host-architecture: build-profiles: yes assume-yes quiet:: simulate " +
			"download-only fix-broken no-install-recommends install-recommends allow-downgrades purge auto-remove autoremove reinstall no-upgrade only-upgrade help version",
		anywhere: true,
	}.scan(words)
	for _, o := range s.options {
		switch {
		case o.name == "c" || o.name == "config-file":
			c.addUncertainty(unit, Uncertainty{Why: "settings that may run a program", Flag: "-" + o.name})
		case (o.name == "o" || o.name == "option") && aptRuns(o.value.Shape):
			c.addUncertainty(unit, Uncertainty{Why: "a setting that may run a program", Flag: "-o"})
		}
	}
}

// aptRuns reports whether a setting of apt may make it run a program.
func aptRuns(setting string) bool {
	setting = strings.ToLower(setting)
	for _, part := range []string{"invoke", "hook", "dir::", "logger", "binary", "detect", "solver", "planner", "methods", Unknown} {
		if strings.Contains(setting, part) {
			return true
		}
	}
	for _, head := range []string{"dpkg::options", "dpkg::use-pty", "apt::", "acquire::", "debug::", "quiet"} {
		if strings.HasPrefix(setting, head) {
			return false
		}
	}
	return true
}

// socatRuns reports whether an address of socat is a program or a file.
func socatRuns(w Word) bool {
	for address := range strings.SplitSeq(strings.ToLower(w.Shape), "!!") {
		kind, _, _ := strings.Cut(address, ":")
		switch kind {
		case "exec", "system", "shell", "file", "open", "gopen", "create", "creat", "pipe":
			return true
		}
		if strings.Contains(kind, Unknown) || strings.Contains(kind, "/") {
			return true
		}
	}
	return false
}

// clientRuns reports whether a text for a database may hold a command of its
// client that runs a program or reaches a file.
func clientRuns(name, text string) bool {
	text = strings.ToLower(text)
	parts := []string{`\!`, `\p `, `\t `, "system ", "source ", "tee ", "pager ", "load data ", " outfile ", "load_file"}
	if name == "psql" {
		parts = []string{"`", `\!`, `\o`, `\i`, `\g `, `\g|`, `\w `, `\copy`, `\edit`, `\ef`, `\ev`, " program "}
	}
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}

// linkerRuns reports whether a word hands a compiler options that are not seen,
// or a linker something to load.
func linkerRuns(w Word) bool {
	for _, head := range []string{"-fuse-ld=", "-ld-path=", "--ld-path="} {
		if program, ok := strings.CutPrefix(w.Shape, head); ok && strings.ContainsAny(program, "/"+Unknown) {
			return true
		}
	}
	return strings.HasPrefix(w.Shape, "@") || strings.HasPrefix(w.Shape, "-Wl,") && strings.Contains(w.Shape, "plugin") || strings.HasPrefix(w.Shape, "-iplugindir")
}

// group reads sg and newgrp, which hand a command to a shell.
func (c *collector) group(unit int, words []Word, in input) {
	rest := words[1:]
	if len(rest) > 0 && (rest[0].Shape == "-" || rest[0].Shape == "-l") {
		rest = rest[1:]
	}
	rest = rest[min(1, len(rest)):]
	if len(rest) > 0 && (rest[0].Shape == "-c" || rest[0].Shape == "--command") {
		rest = rest[1:]
	}
	if len(rest) > 0 {
		c.codes(unit, rest, child)
		return
	}
	c.stdin(unit, in)
}
