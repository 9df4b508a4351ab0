package tooltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// A command is one line of a running script.
type command struct {
	*script
	ts   *testscript.TestScript
	neg  bool
	args []string
}

// commands returns the commands by name. Each checks its number of arguments and whether it may be
// negated.
func commands() map[string]func(*testscript.TestScript, bool, []string) {
	out := map[string]func(*testscript.TestScript, bool, []string){}
	add := func(name string, least, most int, run func(command)) {
		out[name] = func(ts *testscript.TestScript, neg bool, args []string) {
			c := command{script: ts.Value(scriptKey{}).(*script), ts: ts, neg: neg, args: args}
			if len(args) < least || most >= 0 && len(args) > most {
				c.fatalf("%s has %d arguments; see the comment of Scripts", name, len(args))
			}
			run(c)
		}
	}
	add("call", 1, 2, command.runCall)
	add("kind", 1, 2, command.kind)
	add("title", 1, 1, command.expectTitle)
	add("metadata", 1, 2, command.metadata)
	add("attached", 0, -1, command.attached)
	add("rule", 3, 3, command.rule)
	add("answer", 1, 2, command.answerWith)
	add("answers", 1, 1, command.answersWith)
	add("dismiss", 0, 0, command.dismiss)
	add("asked", 0, -1, command.wasAsked)
	add("agent", 1, 1, func(c command) { c.refuseNegation(); c.agent = c.args[0] })
	add("session", 1, 1, func(c command) { c.refuseNegation(); c.session = c.args[0] })
	add("flag", 1, 1, command.flag)
	add("age", 2, 2, command.age)
	return out
}

func (c command) fatalf(format string, args ...any) {
	c.failed = true
	c.ts.Fatalf(format, args...)
}

func (c command) check(err error) {
	if err != nil {
		c.fatalf("%v", err)
	}
}

// refuseNegation refuses a negation.
func (c command) refuseNegation() {
	if c.neg {
		c.fatalf("this command can not be negated")
	}
}

// expect fails the script unless ok is what the command expects.
func (c command) expect(ok bool, what string) {
	if ok == c.neg {
		c.fatalf("%s", what)
	}
}

func (c command) runCall() {
	c.check(c.open())
	call := tool.Call{Tool: c.args[0], Agent: c.agent, Session: c.session}
	if len(c.args) > 1 {
		call.Input = json.RawMessage(c.args[1])
	}
	res, err := c.rt.Call(context.Background(), call)
	c.res, c.err = res, nil
	if lost := c.takeLost(); len(lost) > 0 {
		c.fatalf("the script has no answer left, and was asked for %s", strings.Join(lost, ", "))
	}
	if err == nil {
		fmt.Fprintln(c.ts.Stdout(), strings.TrimSuffix(res.Output, "\n"))
		c.expect(true, "the call succeeded")
		return
	}
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		c.fatalf("the error of the call is no *tool.Error but %T: %v", err, err)
	}
	c.err = e
	fmt.Fprintln(c.ts.Stderr(), strings.TrimSuffix(e.Error(), "\n"))
	c.expect(false, fmt.Sprintf("the call failed (%s, %s): %v", e.Kind, e.Code, e))
}

// age sets a file's modification time some seconds back.
func (c command) age() {
	c.refuseNegation()
	seconds, err := strconv.Atoi(c.args[1])
	c.check(err)
	at := time.Now().Add(-time.Duration(seconds) * time.Second)
	c.check(os.Chtimes(c.ts.MkAbs(c.args[0]), at, at))
}

func (c command) kind() {
	if c.err == nil {
		c.fatalf("no call has failed")
	}
	ok := string(c.err.Kind) == c.args[0] && (len(c.args) == 1 || c.err.Code == c.args[1])
	c.expect(ok, fmt.Sprintf("the call failed with the kind %s and the code %s", c.err.Kind, c.err.Code))
}

// result returns the last result, which must be there.
func (c command) result() *tool.Result {
	if c.res == nil {
		c.fatalf("there is no result: the last call failed, or there was none")
	}
	return c.res
}

func (c command) expectTitle() {
	got := c.result().Title
	c.expect(got == c.args[0], fmt.Sprintf("the title is %q", got))
}

func (c command) metadata() {
	got, ok := c.result().Metadata[c.args[0]]
	if len(c.args) == 1 {
		c.expect(ok, fmt.Sprintf("the metadata is %v", c.res.Metadata))
		return
	}
	text, err := json.Marshal(got)
	c.check(err)
	same, err := sameJSON(text, []byte(c.args[1]))
	c.check(err)
	c.expect(ok && same, fmt.Sprintf("the metadata %s is %s", c.args[0], text))
}

func sameJSON(a, b []byte) (bool, error) {
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		return false, fmt.Errorf("%s is not JSON: %w", a, err)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		return false, fmt.Errorf("%s is not JSON: %w", b, err)
	}
	return reflect.DeepEqual(x, y), nil
}

func (c command) attached() {
	got := []string{}
	for _, a := range c.result().Attachments {
		got = append(got, a.Mime)
	}
	c.expect(slices.Equal(got, c.args), fmt.Sprintf("attached are %q", got))
}

func (c command) rule() {
	c.refuseNegation()
	r := permission.Rule{
		Permission: c.args[0], Pattern: c.args[1], Action: permission.Action(c.args[2]),
		From: permission.Source{File: "script"},
	}
	if !r.Action.Valid() {
		c.fatalf("%q is not one of allow, ask, deny", c.args[2])
	}
	c.rules = append(c.rules, r)
	c.check(c.close())
}

func (c command) flag() {
	c.refuseNegation()
	if c.opt.Flags == nil {
		c.opt.Flags = map[string]bool{}
	}
	c.opt.Flags[c.args[0]] = true
	c.check(c.close())
}

func (c command) answerWith() {
	c.refuseNegation()
	r := permission.Reply{Verdict: permission.Verdict(c.args[0])}
	if len(c.args) > 1 {
		r.Message = c.args[1]
	}
	switch {
	case r.Verdict != permission.ReplyOnce && r.Verdict != permission.ReplyAlways && r.Verdict != permission.ReplyReject:
		c.fatalf("%q is not one of once, always, reject", c.args[0])
	case r.Message != "" && r.Verdict != permission.ReplyReject:
		c.fatalf("only a reject has a message")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.replies = append(c.replies, r)
}

func (c command) answersWith() {
	c.refuseNegation()
	var words [][]string
	if err := json.Unmarshal([]byte(c.args[0]), &words); err != nil {
		c.fatalf("%s is not a list of lists of strings: %v", c.args[0], err)
	}
	c.queue(scriptedAnswer{words: words})
}

func (c command) dismiss() {
	c.refuseNegation()
	c.queue(scriptedAnswer{dismiss: true})
}

func (c command) queue(a scriptedAnswer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers = append(c.answers, a)
}

func (c command) wasAsked() {
	got := c.takeAsked()
	var names, said []string // also those of one question
	for _, req := range got {
		for _, part := range append(slices.Clone(req.Parts), permission.RelatedRequest{Permission: req.Permission, Patterns: req.Patterns}) {
			names, said = append(names, part.Permission), append(said, strings.Join(append([]string{part.Permission}, part.Patterns...), " "))
		}
	}
	ok := len(said) == len(c.args)
	for i := range said {
		ok = ok && (c.args[i] == names[i] || c.args[i] == said[i])
	}
	c.expect(ok, fmt.Sprintf("asked was %q", said))
}
