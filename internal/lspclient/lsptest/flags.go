package lsptest

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// options are what the flags ask for. Where a METHOD is named it is one that
// the client sends, or textDocument/publishDiagnostics.
type options struct {
	noVersion    bool // diagnostics do not say which text they are about
	pull         bool // diagnostics are only given when asked for
	registerPull bool // the same, said after initialized
	utf8         bool // positions count bytes, if the client can do that
	fullSync     bool // changes must be whole texts
	modest       bool // it does not say what it can do
	late         bool // it knows the symbols of the project once it has said what is wrong with a file
	near         int  // so many renames only reach the file that they are asked in
	watch        string
	config       []string
	log          string

	delay   map[string]time.Duration
	never   map[string]bool
	garbage map[string]bool
	deaf    map[string]bool
	die     map[string]int // when, and with which exit code
	once    string

	flood int
	stale time.Duration
	grow  int
	child bool
	stray bool
	sleep bool // it is the child
}

const (
	publish = "textDocument/publishDiagnostics"
	exit    = "exit"

	atStart         = "start"
	afterInitialize = "after-initialize"
)

func parseFlags(args []string) (options, error) {
	o := options{
		delay: map[string]time.Duration{}, never: map[string]bool{}, garbage: map[string]bool{},
		deaf: map[string]bool{}, die: map[string]int{},
	}
	f := flag.NewFlagSet(word, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.BoolVar(&o.noVersion, "no-version", false, "publish without a version")
	f.BoolVar(&o.pull, "pull", false, "give diagnostics only when asked (diagnosticProvider)")
	f.BoolVar(&o.registerPull, "register-pull", false, "the same by client/registerCapability")
	f.BoolVar(&o.utf8, "utf8", false, "count bytes")
	f.BoolVar(&o.fullSync, "full-sync", false, "take only whole texts")
	f.BoolVar(&o.modest, "no-capabilities", false, "claim to be able to do nothing, and do it all the same")
	f.BoolVar(&o.late, "late-symbols", false, "know no symbols of the project before anything was published")
	f.IntVar(&o.near, "near", 0, "change only the file itself in the first N renames")
	f.StringVar(&o.watch, "watch", "", "a GLOB of files to be told about, by client/registerCapability")
	f.StringVar(&o.log, "log", "", "append every message received to this FILE")
	f.StringVar(&o.once, "once", "", "die only in the process that creates this FILE")
	f.IntVar(&o.flood, "flood", 0, "publish for N other files after each change")
	f.IntVar(&o.grow, "grow", 0, "take so many MB after initialized")
	f.BoolVar(&o.child, "child", false, "start a process that holds the standard output and ignores SIGTERM")
	f.BoolVar(&o.stray, "stray", false, "print a line before every message")
	f.BoolVar(&o.sleep, "sleep", false, "be that child")
	f.Func("config", "ask for these sections (a,b.c) after initialized and log the answer", func(s string) error {
		o.config = strings.Split(s, ",")
		return nil
	})
	f.Func("stale", "MS after a change publish what was true before it, and only three times MS later what is", func(s string) (err error) {
		o.stale, err = milliseconds(s)
		return err
	})
	f.Func("delay", "METHOD=MS: answer so much later", func(s string) (err error) {
		method, ms, _ := strings.Cut(s, "=")
		o.delay[method], err = milliseconds(ms)
		return err
	})
	f.Func("die", "start, after-initialize or METHOD, and =CODE if not 1: end without an answer", func(s string) (err error) {
		when, code, ok := strings.Cut(s, "=")
		o.die[when] = 1
		if ok {
			o.die[when], err = strconv.Atoi(code)
		}
		return err
	})
	f.Func("never", "METHOD that is not answered; exit: also go on when told to end by other means", setter(o.never))
	f.Func("garbage", "METHOD that is answered by a broken message", setter(o.garbage))
	f.Func("deaf", "METHOD after which nothing is read any more", setter(o.deaf))
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unknown argument %q", f.Arg(0))
	}
	if len(o.die) > 0 && o.once != "" {
		mark, err := os.OpenFile(o.once, os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			clear(o.die)
			return o, nil
		}
		return o, mark.Close()
	}
	return o, nil
}

func setter(m map[string]bool) func(string) error {
	return func(method string) error {
		m[method] = true
		return nil
	}
}

func milliseconds(s string) (time.Duration, error) {
	n, err := strconv.Atoi(s)
	return time.Duration(n) * time.Millisecond, err
}
