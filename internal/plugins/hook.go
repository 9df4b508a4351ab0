package plugins

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/plugin"
	"github.com/helve-dev/helve/tool"
)

const (
	hookTime  = 10 * time.Second
	exitBlock = 2  // the code of a hook that refuses
	maxCalled = 80 // bytes of the short name of a hook
)

// describeHook describes a hook to people: the command, and where it is configured.
func describeHook(h plugin.HookCommand) string {
	s := "the hook '" + line(strings.Join(h.Command, " "), 100) + "'"
	if h.From != "" {
		s += " of " + line(h.From, maxQuote)
	}
	return s
}

// HookName returns a short name of a hook: the script, if the command is one or passes one to an
// interpreter, and else the command line.
func HookName(h plugin.HookCommand) string {
	if len(h.Command) == 0 {
		return "without a command"
	}
	first := h.Command[0]
	if !interprets(first) && strings.ContainsAny(first, `/\`) {
		return line(first, maxCalled)
	}
	for _, arg := range h.Command[1:] {
		if interprets(first) && !strings.HasPrefix(arg, "-") && isFileOf(h, arg) {
			return line(arg, maxCalled)
		}
	}
	return line(strings.Join(h.Command, " "), maxCalled)
}

// isFileOf reports whether an argument names a file, as seen from where the hook runs.
func isFileOf(h plugin.HookCommand, arg string) bool {
	if !filepath.IsAbs(arg) {
		if h.Dir == "" {
			return false
		}
		arg = filepath.Join(h.Dir, arg)
	}
	info, err := os.Stat(arg)
	return err == nil && info.Mode().IsRegular()
}

// interprets reports whether a program runs scripts that others have written.
func interprets(program string) bool {
	name := strings.ToLower(strings.TrimSuffix(filepath.Base(program), ".exe"))
	switch strings.TrimRight(name, ".0123456789") {
	case "sh", "bash", "dash", "zsh", "ksh", "fish", "pwsh", "powershell", "cmd", "env",
		"python", "node", "bun", "deno", "tsx", "ruby", "perl", "php", "lua", "uv":
		return true
	}
	return false
}

// Matches reports whether one of the patterns of a hook, with * for any text and ? for any
// character, matches a name; without patterns, all names match.
func Matches(patterns []string, name string) bool {
	for _, p := range patterns {
		if fits(p, name) {
			return true
		}
	}
	return len(patterns) == 0
}

// fits reports whether a pattern with * for any text and ? for any character
// fits the whole of a name.
func fits(pattern, name string) bool {
	p, s := []rune(pattern), []rune(name)
	i, j, star, from := 0, 0, -1, 0
	for j < len(s) {
		switch {
		case i < len(p) && p[i] == '*':
			star, from = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == s[j]):
			i, j = i+1, j+1
		case star >= 0: // the last star takes one more
			from++
			i, j = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(string(p[i:]), "*") == ""
}

// A HookVerdict is the decision of a hook on a call. At most one of Block, Result and Args is set;
// none means that the call proceeds unchanged.
type HookVerdict struct {
	Block  string          // why the call is refused
	Args   json.RawMessage // an object in place of the arguments
	Result *tool.Result    // in place of running the tool, or of its result
	// Problem says how the hook failed if the call proceeds without it: for the log.
	Problem string
}

// A hookInput is the JSON that a hook reads.
type hookInput struct {
	Hook    string          `json:"hook"`
	Tool    string          `json:"tool,omitempty"`
	Args    json.RawMessage `json:"args,omitempty"`
	Result  *hookResult     `json:"result,omitempty"`
	Event   json.RawMessage `json:"event,omitempty"`
	Context *hookContext    `json:"context,omitempty"`
}

// A hookResult is a result as hooks see it: attachments by name only.
type hookResult struct {
	Title       string         `json:"title"`
	Output      string         `json:"output"`
	Metadata    map[string]any `json:"metadata"`
	Attachments []attachment   `json:"attachments,omitempty"`
}

type attachment struct {
	Mime     string `json:"mime"`
	Filename string `json:"filename,omitempty"`
}

// Before lets a hook see a call before it is run. The error is the end of ctx
// and nothing else: a hook that fails blocks the call if it is required, and is
// passed over otherwise.
func (r *Programs) Before(ctx context.Context, c *tool.Call, h plugin.HookCommand) (HookVerdict, error) {
	where := r.context(c)
	v, err := r.consult(ctx, c, h, hookInput{Hook: "before", Tool: c.Tool, Args: argumentsOf(c), Context: &where})
	return v.HookVerdict, err
}

// After runs the hooks that see the result of a call. A result in the verdict is the given one with
// the changes of the hook; it must be bounded again. Otherwise After is like [Programs.Before].
func (r *Programs) After(ctx context.Context, c *tool.Call, res *tool.Result, h plugin.HookCommand) (HookVerdict, error) {
	seen := &hookResult{Title: res.Title, Output: res.Output, Metadata: res.Metadata}
	for _, a := range res.Attachments {
		seen.Attachments = append(seen.Attachments, attachment{Mime: a.Mime, Filename: a.Filename})
	}
	where := r.context(c)
	v, err := r.consult(ctx, c, h, hookInput{Hook: "after", Tool: c.Tool, Args: argumentsOf(c), Result: seen, Context: &where})
	if v.Result != nil {
		v.Result = v.merge(res)
	}
	return v.HookVerdict, err
}

// Event sends an event to a hook: an object with type and properties. It waits for the command.
func (r *Programs) Event(ctx context.Context, event json.RawMessage, h plugin.HookCommand) error {
	asked, err := encodeJSON(hookInput{Hook: "event", Event: event})
	if err != nil {
		return fmt.Errorf("%s: %w", describeHook(h), err)
	}
	reply, err := r.put(ctx, r.quiet(""), h, process.Dialog{Question: asked, Time: cmp.Or(max(h.Timeout, 0), hookTime)})
	if err == nil && reply.Code != 0 {
		err = fmt.Errorf("%s %s", describeHook(h), programEndText(reply))
	}
	return err
}

// consult asks a hook about a call.
func (r *Programs) consult(ctx context.Context, c *tool.Call, h plugin.HookCommand, o hookInput) (word, error) {
	v, err := r.hear(ctx, c, h, o)
	switch {
	case ctx.Err() != nil:
		return word{}, context.Cause(ctx)
	case err == nil && v.blocked && v.Block == "":
		v.Block = "T" + strings.TrimPrefix(describeHook(h), "t") + " refused the call and gave no reason."
		return v, nil
	case err == nil:
		return v, nil
	case h.Required:
		v = word{}
		v.Block = "The call is not made, because a hook that is required failed: " + asSentence(err.Error()) + " Mend the hook, or do not mark it as required."
		return v, nil
	}
	v = word{}
	v.Problem = err.Error()
	return v, nil
}

// asSentence is a sentence with a full stop, whether it has one or not.
func asSentence(s string) string {
	s = strings.TrimSpace(s)
	if s != "" && strings.ContainsRune(".!?", rune(s[len(s)-1])) {
		return s
	}
	return s + "."
}

// hear runs the command of a hook and parses its decision.
func (r *Programs) hear(ctx context.Context, c *tool.Call, h plugin.HookCommand, o hookInput) (word, error) {
	asked, err := encodeJSON(o)
	if err != nil {
		return word{}, fmt.Errorf("%s can not be told of the call: %w", describeHook(h), err)
	}
	reply, err := r.put(ctx, c, h, process.Dialog{Question: asked, Limit: maxAnswer, Time: cmp.Or(max(h.Timeout, 0), hookTime)})
	switch {
	case err != nil:
		return word{}, err
	case reply.Code == exitBlock:
		return word{HookVerdict: HookVerdict{Block: readable(reply.Said, maxComplaint)}, blocked: true}, nil
	case reply.Code != 0:
		return word{}, fmt.Errorf("%s %s", describeHook(h), programEndText(reply))
	}
	v, err := readWord(reply.Out, o.Hook)
	if err != nil {
		err = fmt.Errorf("%s gave an answer that can not be used: %w", describeHook(h), err)
	}
	return v, err
}

// put runs the command of a hook. The error is a sentence that names the hook.
func (r *Programs) put(ctx context.Context, c *tool.Call, h plugin.HookCommand, t process.Dialog) (process.Reply, error) {
	if len(h.Command) == 0 || h.Command[0] == "" {
		return process.Reply{}, fmt.Errorf("%s has no command", describeHook(h))
	}
	p := r.prepare(c, h.Command[0], h.Command[1:]...)
	if h.Dir != "" {
		p.Dir = h.Dir
	}
	if strings.ContainsAny(p.Path, `/\`) && !filepath.IsAbs(p.Path) {
		p.Path = filepath.Join(p.Dir, p.Path)
	}
	reply, err := r.opt.Shell.Converse(ctx, p, t)
	switch {
	case err == nil && unknownToEnv(p.Path, reply):
		err = fs.ErrNotExist
	case err == nil:
		return reply, nil
	case ctx.Err() != nil:
		return reply, context.Cause(ctx)
	case errors.Is(err, process.ErrLate):
		return reply, fmt.Errorf("%s took longer than %s", describeHook(h), t.Time)
	case errors.Is(err, process.ErrTooMuch):
		return reply, fmt.Errorf("%s printed more than %d bytes", describeHook(h), t.Limit)
	}
	return reply, errors.New(unstarted(describeHook(h), p.Path, err))
}
