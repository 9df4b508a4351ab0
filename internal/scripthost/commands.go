package scripthost

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/interp"
)

// A builtin is a running built-in command of Bun's shell. Permission for its files is requested by
// their expanded names.
type builtin struct {
	r    *bunshellRunning
	hc   interp.HandlerContext
	name string
	out  *bufio.Writer
	code int
}

// ownCommand returns the function of a built-in command of Bun's shell; nil for the programs of the
// machine.
func (r *bunshellRunning) ownCommand(name string) func(*builtin, context.Context, []string) error {
	switch name {
	case "basename":
		return (*builtin).basename
	case "dirname":
		return (*builtin).dirname
	case "seq":
		return (*builtin).seq
	}
	if r.set.Files == nil {
		return nil
	}
	switch name {
	case "ls":
		return (*builtin).ls
	case "rm":
		return (*builtin).rm
	case "mv":
		return (*builtin).mv
	case "mkdir":
		return (*builtin).mkdir
	case "touch":
		return (*builtin).touch
	}
	return nil
}

// errMachine says that the program of the machine must do it.
var errMachine = errors.New("this is for the program of the machine")

// perform runs a built-in command of Bun's shell.
func (r *bunshellRunning) perform(ctx context.Context, do func(*builtin, context.Context, []string) error, args []string) error {
	hc := interp.HandlerCtx(ctx)
	b := &builtin{r: r, hc: hc, name: args[0], out: bufio.NewWriter(r.limited(hc.Stdout))}
	err := do(b, ctx, args[1:])
	_ = b.out.Flush() // who reads it may have gone
	if err == nil && b.code != 0 {
		err = interp.ExitStatus(uint8(b.code))
	}
	return err
}

// fromDir is a name as seen from where the script is. What leads to it is left as
// it is written.
func (b *builtin) fromDir(name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return b.hc.Dir + string(filepath.Separator) + name
}

// absolute is the name of a file from the root on.
func (b *builtin) absolute(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(b.hc.Dir, name)
}

// complain prints an error; the command has failed.
func (b *builtin) complain(format string, words ...any) error {
	fmt.Fprintf(b.hc.Stderr, format, words...)
	b.code = 1
	return nil
}

// fileError prints the system's error about a file. A refusal of the rules ends the script.
func (b *builtin) fileError(ctx context.Context, name string, err error) error {
	words, refused := b.r.machine.Trouble(err)
	if refused {
		return err
	}
	if cause := ctx.Err(); cause != nil {
		return cause
	}
	if name != "" {
		name += ": "
	}
	return b.complain("%s: %s%s\n", b.name, name, words)
}

func (b *builtin) basename(_ context.Context, names []string) error {
	if len(names) == 0 {
		return b.complain("usage: basename string\n")
	}
	for _, name := range names {
		base := strings.TrimRight(name, "/")
		if base == "" && name != "" {
			base = "/"
		} else {
			base = base[strings.LastIndexByte(base, '/')+1:]
		}
		fmt.Fprintln(b.out, base)
	}
	return nil
}

func (b *builtin) dirname(_ context.Context, names []string) error {
	if len(names) == 0 {
		return b.complain("usage: dirname string\n")
	}
	for _, name := range names {
		dir := strings.TrimRight(name, "/")
		switch i := strings.LastIndexByte(dir, '/'); {
		case dir == "" && name != "", i == 0:
			dir = "/"
		case i < 0:
			dir = "."
		default:
			dir = dir[:i]
		}
		fmt.Fprintln(b.out, dir)
	}
	return nil
}

// A counting is what seq counts, and how it is written.
type counting struct {
	first, step, last float64
	between, end      string
}

func (b *builtin) seq(ctx context.Context, args []string) error {
	c := counting{first: 1, step: 1, between: "\n"}
	args, lacks := c.options(args)
	switch {
	case lacks != "":
		return b.complain("seq: option requires an argument -- %s\n", lacks)
	case len(args) == 0:
		return b.complain("usage: seq [-w] [-f format] [-s string] [-t string] [first [incr]] last\n")
	}
	if wrong := c.numbers(args); wrong != "" {
		return b.complain("seq: %s\n", wrong)
	}
	slack := math.Abs(c.step) * 1e-6 // sums of fractions are not exact
	for i := 0.0; ; i++ {
		n := c.first + i*c.step
		if c.step > 0 && n > c.last+slack || c.step < 0 && n < c.last-slack || ctx.Err() != nil {
			break
		}
		size := 64
		if n != math.Trunc(n) {
			size = 32
		}
		if _, err := b.out.WriteString(strconv.FormatFloat(n, 'f', -1, size) + c.between); err != nil {
			return nil // no reader any more
		}
	}
	_, _ = b.out.WriteString(c.end)
	return nil
}

// options takes the options away; lacks is one that lacks its text.
func (c *counting) options(args []string) (rest []string, lacks string) {
	for ; len(args) > 0; args = args[1:] {
		var to *string
		switch word := args[0]; {
		case word == "-w", word == "--fixed-width":
			continue
		case strings.HasPrefix(word, "-s"), word == "--separator":
			to = &c.between
		case strings.HasPrefix(word, "-t"), word == "--terminator":
			to = &c.end
		default:
			return args, ""
		}
		if len(args[0]) > 2 && args[0][1] != '-' {
			*to = args[0][2:]
			continue
		}
		if len(args) == 1 {
			return nil, strings.TrimLeft(args[0], "-")
		}
		*to = args[1]
		args = args[1:]
	}
	return nil, ""
}

// numbers parses the range to count; wrong describes the error in it.
func (c *counting) numbers(args []string) (wrong string) {
	args = args[:min(len(args), 3)]
	var n [3]float64
	for i, word := range args {
		var err error
		if n[i], err = strconv.ParseFloat(word, 64); err != nil || math.IsInf(n[i], 0) || math.IsNaN(n[i]) {
			return "invalid argument"
		}
	}
	given := false
	switch len(args) {
	case 1:
		c.last = n[0]
	case 2:
		c.first, c.last = n[0], n[1]
	default:
		c.first, c.step, c.last, given = n[0], n[1], n[2], true
	}
	if !given && c.first > c.last {
		c.step = -1
	}
	switch {
	case c.step == 0:
		return "zero increment"
	case c.first < c.last && c.step < 0:
		return "needs positive increment"
	case c.first > c.last && c.step > 0:
		return "needs negative decrement"
	}
	return ""
}

// ownWords rewrites a command of the interpreter into a form that behaves as in Bun's shell, or
// into another command that says why it cannot.
func ownWords(hc interp.HandlerContext, args []string) []string {
	switch {
	case args[0] == "pwd" && len(args) > 1:
		return []string{bunshellSaying, "pwd: too many arguments\n"}
	case args[0] == "exit" && len(args) > 2:
		return []string{bunshellSaying, "exit: too many arguments\n"}
	case args[0] == "exit" && len(args) == 2:
		code, err := strconv.ParseUint(args[1], 10, 64)
		if err != nil {
			return []string{bunshellSaying, "exit: numeric argument required\n"}
		}
		return []string{"exit", strconv.FormatUint(code%256, 10)}
	case args[0] == "cd" && len(args) > 2:
		return []string{bunshellSaying, "cd: too many arguments\n"}
	case args[0] == "cd" && len(args) == 2:
		return goTo(hc, args[1])
	}
	return args
}

// goTo is the cd to a folder.
func goTo(hc interp.HandlerContext, name string) []string {
	to := name
	if name == "-" {
		to = hc.Env.Get("OLDPWD").String()
	}
	if to == "" {
		return []string{"true"}
	}
	at := to
	if !filepath.IsAbs(at) {
		at = filepath.Join(hc.Dir, at)
	}
	if info, err := os.Stat(at); err != nil || !info.IsDir() {
		return []string{bunshellSaying, "cd: not a directory: " + name + "\n"}
	}
	return []string{"cd", to}
}

// flags parses the words that begin with a dash up to the first that does not. A letter, or a long
// name with its dashes, that take does not accept is returned with its word.
func flags(args []string, take func(flag string) bool) (rest []string, unknown, word string) {
	for i, arg := range args {
		switch {
		case arg == "" || arg[0] != '-':
			return args[i:], "", ""
		case strings.HasPrefix(arg, "--"), arg == "-":
			if !take(arg) {
				return nil, arg, arg
			}
		default:
			for _, letter := range arg[1:] {
				if !take(string(letter)) {
					return nil, string(letter), arg
				}
			}
		}
	}
	return nil, "", ""
}

// oneOf takes the flags of a list, and notes them.
func oneOf(noted map[string]bool, known ...string) func(string) bool {
	return func(flag string) bool {
		noted[flag] = true
		return slices.Contains(known, flag)
	}
}

// bunshellSaying is the name of an internal command, which no script can write: it prints a text
// and fails.
const bunshellSaying = "\x00\x00\x00\x00"
