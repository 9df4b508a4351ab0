package command

import (
	"slices"
	"strings"
)

// builtinCode reads the code that shell builtins are given. It reports whether the command is one
// of them.
func (c *collector) builtinCode(unit int, name string, in input) bool {
	words := c.r.units[unit].Words
	rest := words[1:]
	ended := len(rest) > 0 && rest[0].Shape == "--"
	if ended {
		rest = rest[1:]
	}
	switch name {
	case "eval":
		c.codes(unit, rest, here)
	case "trap":
		c.trapped(unit, rest, ended)
	case "alias":
		c.aliases(unit, rest)
	case "source", ".":
		c.sourced(unit, rest, in)
	case "mapfile", "readarray":
		s := grammar{short: "d:n:O:s:u:C:c:t", anywhere: true}.scan(words)
		c.strange(unit, s)
		if o, ok := s.get("C"); ok {
			c.codeWithArgs(unit, o.value, "")
		}
	case "complete", "compgen":
		c.completes(unit, words)
	case "bind":
		c.addUncertainty(unit, Uncertainty{Why: "code behind a key"})
	case "fc":
		c.addUncertainty(unit, Uncertainty{Why: "commands from the history"})
	default:
		return false
	}
	return true
}

// trapped reads the code of trap. ended says that its options are at an end.
func (c *collector) trapped(unit int, rest []Word, ended bool) {
	if len(rest) > 0 && rest[0].Split {
		c.addUncertainty(unit, Uncertainty{Why: "code that is computed"})
	}
	if len(rest) < 2 || rest[0].Shape == "-" {
		return
	}
	if !ended && strings.HasPrefix(rest[0].Shape, "-") {
		return
	}
	before := c.r.moved
	c.r.moved = false
	c.codeWord(unit, rest[0], later)
	if c.r.moved && slices.ContainsFunc(rest[1:], func(w Word) bool { return w.Shape != "EXIT" && w.Shape != "0" }) {
		c.cwd = workDirs{lost: true} // what follows may be interrupted by it
	}
	c.r.moved = c.r.moved || before
}

func (c *collector) aliases(unit int, words []Word) {
	for _, w := range words {
		if _, code, ok := cutWord(w, "="); ok || strings.Contains(w.Shape, Unknown) {
			code.Literal = code.Literal && w.Literal
			c.codeWithArgs(unit, code, "")
		}
	}
}

func (c *collector) sourced(unit int, rest []Word, in input) {
	if len(rest) == 0 || plainFile(rest[0]) {
		return
	}
	c.addUncertainty(unit, Uncertainty{Why: "code from something that is no plain file"})
	if stream(rest[0]) {
		c.nested(unit, in.text, here)
	}
}

func (c *collector) completes(unit int, words []Word) {
	s := grammar{short: "o:A:G:W:F:C:X:P:S:abcdefgjksuvprDEIV:", anywhere: true}.scan(words)
	c.strange(unit, s)
	for _, o := range s.options {
		switch {
		case o.name == "C":
			c.codeWithArgs(unit, o.value, "")
		case o.name == "W" && (!o.value.Literal || strings.ContainsAny(o.value.Value, "$`<>")):
			c.addUncertainty(unit, Uncertainty{Why: "words that are expanded", Flag: "-W"})
		}
	}
}

// programCode reads the code that programs are given. It reports whether the program is one of
// them.
func (c *collector) programCode(unit int, name string, in input) bool {
	words := c.r.units[unit].Words
	switch name {
	case "watch":
		c.watch(unit, words)
	case "flock":
		c.flock(unit, words, in)
	case "script":
		c.scriptCommand(unit, words, in)
	case "su":
		c.su(unit, words, in)
	case "runuser":
		if _, ok := (grammar{short: "u:g:G:w:T:s:c:flmpPh", long: "user: command:"}).scan(words).get("u", "user"); ok {
			return false
		}
		c.su(unit, words, in)
	case "sudo", "doas":
		return c.loginShell(unit, words)
	case "split", "gsplit":
		s := grammar{
			short: "a:b:C:l:n:t:edux", long: "filter: suffix-length: bytes: line-bytes: lines: number: separator: additional-suffix: numeric-suffixes:: hex-suffixes:: elide-empty-files verbose unbuffered",
			anywhere: true,
		}.scan(words)
		c.strange(unit, scanned{strange: s.strange})
		if o, ok := s.get("filter"); ok {
			c.codeWord(unit, o.value, child)
		}
	case "parallel":
		c.parallel(unit, words)
	case "at", "batch":
		c.atCommand(unit, words, in)
	case "git":
		c.gitCode(unit, words)
	default:
		return c.otherCode(unit, name) || c.rareCode(unit, name, in)
	}
	return true
}

// otherCode reads programs that run code in ways which are not followed.
func (c *collector) otherCode(unit int, name string) bool {
	words := c.r.units[unit].Words
	switch name {
	case "crontab":
		if len(words) == 1 || words[1].Shape != "-l" {
			c.addUncertainty(unit, Uncertainty{Why: "commands that are run later"})
		}
	case "tmux", "tmate", "screen":
		if !looksOn(words) {
			c.addUncertainty(unit, Uncertainty{Why: "commands in another terminal"})
		}
	case "hyperfine":
		s := grammar{
			short: "w:m:M:r:s:p:c:P:D:L:S:i:u:N:n:",
			long: "warmup: min-runs: max-runs: runs: setup: prepare: conclude: cleanup: parameter-scan: parameter-step-size: parameter-list: shell: style: sort: " +
				"time-unit: export-json: export-markdown: export-csv: command-name: input: output: ignore-failure show-output reference:",
			anywhere: true,
		}.scan(words)
		c.strange(unit, s)
		for _, o := range s.options {
			switch o.name {
			case "setup", "prepare", "conclude", "cleanup", "s", "p", "c", "reference":
				c.codeWord(unit, o.value, child)
			}
		}
		for _, w := range s.operands(words) {
			c.codeWord(unit, w, child)
		}
	case "entr":
		s := grammar{short: "acdnprsxz"}.scan(words)
		c.strange(unit, s)
		if _, ok := s.get("s"); ok {
			c.codes(unit, s.operands(words), child)
		} else {
			c.payload(unit, fillHole(s.operands(words), "/_"), input{file: true})
		}
	case "npx", "pnpx", "npm":
		return c.npmCode(unit, words)
	case "perf":
		return c.perf(unit, words)
	default:
		return false
	}
	return true
}

// npmCode reads the code that npx -c or npm exec -c is handed.
func (c *collector) npmCode(unit int, words []Word) bool {
	rest := words[1:]
	if words[0].Value == "npm" {
		if len(rest) == 0 || rest[0].Shape != "exec" && rest[0].Shape != "x" {
			return false
		}
		rest = rest[1:]
	}
	shapes := shapesOf(rest)
	for i := 0; i < len(rest) && isOption(shapes[i]) && shapes[i] != "--"; {
		switch opt := shapes[i]; {
		case (opt == "-c" || opt == "--call") && i+1 < len(rest):
			c.codeWord(unit, rest[i+1], child)
			return true
		case strings.HasPrefix(opt, "--call="):
			_, value, _ := cutWord(rest[i], "=")
			c.codeWord(unit, value, child)
			return true
		}
		i += runnerOption(shapes[i], false)
	}
	return false
}

func shapesOf(words []Word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.Shape
	}
	return out
}

// perf reads what perf record and the like run.
func (c *collector) perf(unit int, words []Word) bool {
	top := grammar{short: "hv", long: "help version"}.scan(words)
	rest := top.operands(words)
	if len(rest) < 2 {
		return false
	}
	c.strange(unit, top, rest[0])
	switch rest[0].Shape {
	case "record", "stat", "trace", "top", "mem", "kmem", "lock", "sched", "c2c", "kvm", "ftrace":
	default:
		return true
	}
	if end := slices.IndexFunc(rest, func(w Word) bool { return w.Shape == "--" }); end >= 0 {
		c.payload(unit, rest[end+1:], input{file: true})
		return true
	}
	s := grammar{
		short: "e:o:F:c:p:t:C:m:r:D:G:u:x:I:j:k:w:g::adBAivqsSTn",
		long:  "event: output: freq: count: pid: tid: cpu: mmap-pages: repeat: delay: cgroup: uid: field-separator: interval-print: call-graph: all-cpus detailed verbose quiet no-inherit",
	}.scan(rest)
	c.strange(unit, s)
	c.payload(unit, s.operands(rest), input{file: true})
	return true
}

// looksOn reports whether the arguments of tmux or screen start nothing.
func looksOn(words []Word) bool {
	if len(words) == 1 {
		return true
	}
	if slices.ContainsFunc(words, func(w Word) bool { return strings.HasSuffix(w.Shape, ";") }) {
		return false // another command follows
	}
	for _, head := range []string{"ls", "list", "has", "kill", "show", "capture", "display", "attach", "info", "-V", "-ls", "-list", "-v", "-r"} {
		if rest, ok := strings.CutPrefix(words[1].Shape, head); ok && (rest == "" || rest[0] == '-') {
			return len(words) < 3 || words[0].Value != "screen"
		}
	}
	return false
}

func (c *collector) watch(unit int, words []Word) {
	s := grammar{
		short: "n:q:s:d::bcCefghprtvwx", long: "interval: equexit: shotsdir: differences:: beep color no-color errexit follow chgexit no-rerun precise no-title no-wrap exec help version",
	}.scan(words)
	c.strange(unit, s)
	rest := s.operands(words)
	if _, ok := s.get("x", "exec"); ok {
		c.payload(unit, rest, input{file: true})
		return
	}
	c.codes(unit, rest, child)
}

func (c *collector) flock(unit int, words []Word, in input) {
	s := grammar{
		short: "w:E:c:sxeunoFvhV", long: "timeout: wait: conflict-exit-code: command: shared exclusive unlock nonblock nb close no-fork verbose fcntl help version",
	}.scan(words)
	rest := s.operands(words)
	c.strange(unit, s, rest[:min(1, len(rest))]...)
	if len(rest) < 2 {
		return
	}
	if rest[1].Shape == "-c" || rest[1].Shape == "--command" {
		c.codes(unit, rest[2:min(3, len(rest))], child)
		return
	}
	if o, ok := s.get("c", "command"); ok {
		c.codeWord(unit, o.value, child)
		return
	}
	c.payload(unit, rest[1:], in)
}

func (c *collector) scriptCommand(unit int, words []Word, in input) {
	s := grammar{
		short: "c:E:I:O:B:T:m:o:t::aefqhVr", long: "command: echo: log-in: log-out: log-io: log-timing: logging-format: output-limit: timing:: append return flush force quiet help version",
		anywhere: true,
	}.scan(words)
	c.strange(unit, s, s.operands(words)...)
	if o, ok := s.get("c", "command"); ok {
		c.codeWord(unit, o.value, child)
		return
	}
	if rest := s.operands(words); len(rest) > 1 { // script file command …
		c.payload(unit, rest[1:], in)
		return
	}
	c.stdin(unit, in)
}

func (c *collector) su(unit int, words []Word, in input) {
	s := grammar{
		short: "c:s:g:G:w:T:flmpPhV", long: "command: session-command: shell: group: supp-group: whitelist-environment: login preserve-environment fast pty help version",
		anywhere: true,
	}.scan(words)
	c.strange(unit, s, s.operands(words)...)
	if _, ok := s.get("s", "shell"); ok {
		c.addUncertainty(unit, Uncertainty{Why: "a shell of its own", Flag: "-s"})
	}
	found := false
	for _, o := range s.options {
		if o.name == "c" || o.name == "command" || o.name == "session-command" {
			found = true
			c.codeWord(unit, o.value, child)
		}
	}
	// what stands behind the user is handed to the shell
	rest := s.operands(words)
	for i, w := range rest {
		if i > 0 && w.Shape == "-c" && i+1 < len(rest) {
			found = true
			c.codeWord(unit, rest[i+1], child)
		}
	}
	if !found {
		c.stdin(unit, in)
	}
}

// loginShell reads sudo -s and -i, which hand their words to a shell.
func (c *collector) loginShell(unit int, words []Word) bool {
	w, _ := wrapperOf(baseName(words[0].Value))
	s := w.scan(words)
	if _, ok := s.get("s", "i", "shell", "login"); !ok || len(s.operands(words)) == 0 {
		return false
	}
	c.codes(unit, s.operands(words), child)
	c.addUncertainty(unit, w.unwrap(words).uncertainties...)
	return true
}

func (c *collector) atCommand(unit int, words []Word, in input) {
	s := grammar{short: "q:f:t:mMVldbvcr", anywhere: true}.scan(words)
	c.strange(unit, scanned{strange: s.strange})
	if _, ok := s.get("l", "d", "r", "c"); ok {
		return
	}
	if o, ok := s.get("f"); ok {
		if !plainFile(o.value) {
			c.addUncertainty(unit, Uncertainty{Why: "code from something that is no plain file"})
		}
		return
	}
	c.stdin(unit, in)
}

// parallel reads what parallel runs: its words are code, into which its input is substituted.
func (c *collector) parallel(unit int, words []Word) {
	s := grammar{
		short: "a:C:d:E:I:j:J:l:L:n:N:P:s:S:U:0kmqtuvrxXiZ",
		long: "arg-file: colsep: delimiter: eof: jobs: max-procs: joblog: results: res: tmpdir: timeout: delay: retries: load: memfree: workdir: wd: env: tagstring: basefile: bf: " +
			"return: trc: transferfile: tf: block: recstart: recend: halt: nice: sshlogin: sshloginfile: slf: max-args: max-replace-args: max-lines: max-chars: limit: shebang: plus keep-order " +
			"null quote dry-run bar eta progress will-cite pipe pipepart xargs no-run-if-empty line-buffer lb tag ungroup group files fg bg semaphore no-notice citation shuf verbose link resume resume-failed " +
			"arg-sep: arg-file-sep: rpl: profile: compress-program: decompress-program: cat fifo",
	}.scan(words)
	c.strange(unit, s)
	if o, ok := s.get("compress-program", "decompress-program", "rpl", "profile"); ok {
		c.addUncertainty(unit, Uncertainty{Why: "parallel runs another program", Flag: "--" + o.name})
	}
	rest := s.operands(words)
	end := 0
	for end < len(rest) && !strings.HasPrefix(rest[end].Shape, ":::") {
		end++
	}
	args := rest[end:]
	if end == 0 {
		for _, w := range args {
			if !strings.HasPrefix(w.Shape, ":::") {
				c.codeWord(unit, w, child)
			}
		}
		if len(args) == 0 || strings.HasPrefix(args[0].Shape, "::::") {
			c.addUncertainty(unit, Uncertainty{Why: "code from its input"})
		}
		return
	}
	// The substituted text is quoted, so it cannot be more than words.
	hole := "{}"
	if o, ok := s.get("I"); ok {
		hole = o.value.Shape
	}
	c.codeWithArgs(unit, joinWords(rest[:end]), hole)
	if strings.Contains(strings.ReplaceAll(joinWords(rest[:end]).Shape, "{}", ""), "{") {
		c.addUncertainty(unit, Uncertainty{Why: "what parallel puts in is not followed"}) // {1}, {.}, {= perl =}
	}
}
