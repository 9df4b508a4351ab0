package custom

import (
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
	"github.com/helve-dev/helve/tool"
)

const (
	hookTime  = 10 * time.Second
	exitBlock = 2  // the code of a hook that refuses
	maxCalled = 80 // bytes of the short name of a hook
)

// A ProgramHook is a command that sees calls or events.
type ProgramHook struct {
	Command  []string      // a program and its arguments
	Tools    []string      // whose calls it sees, with * and ?; all when empty
	Events   []string      // the events it sees, likewise
	Timeout  time.Duration // 10 seconds when 0
	Required bool          // without its word no call goes on
	Dir      string        // where it runs; the folder of the call when empty
	From     string        // the config file it stands in, for messages
}

// Applies reports whether the hook sees calls of a tool.
func (h ProgramHook) Applies(name string) bool { return among(h.Tools, name) }

// Hears reports whether the hook receives events of a type.
func (h ProgramHook) Hears(event string) bool { return among(h.Events, event) }

// String describes the hook to people: the command, and where it is configured.
func (h ProgramHook) String() string {
	s := "the hook '" + line(strings.Join(h.Command, " "), 100) + "'"
	if h.From != "" {
		s += " of " + line(h.From, maxQuote)
	}
	return s
}

// Called is a short name of it: the script, where the command is one or hands
// one to what runs it, and the line that it is otherwise.
func (h ProgramHook) Called() string {
	if len(h.Command) == 0 {
		return "without a command"
	}
	first := h.Command[0]
	if !interprets(first) && strings.ContainsAny(first, `/\`) {
		return line(first, maxCalled)
	}
	for _, arg := range h.Command[1:] {
		if interprets(first) && !strings.HasPrefix(arg, "-") && h.isFile(arg) {
			return line(arg, maxCalled)
		}
	}
	return line(strings.Join(h.Command, " "), maxCalled)
}

// isFile reports whether an argument names a file, as seen from where the hook
// runs.
func (h ProgramHook) isFile(arg string) bool {
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

// capital is the same at the beginning of a sentence.
func (h ProgramHook) capital() string { return "T" + strings.TrimPrefix(h.String(), "t") }

// among reports whether one of the patterns matches; without patterns, all names match.
func among(patterns []string, name string) bool {
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
func (r *Programs) Before(ctx context.Context, c *tool.Call, h ProgramHook) (HookVerdict, error) {
	where := r.context(c)
	v, err := r.consult(ctx, c, h, hookInput{Hook: "before", Tool: c.Tool, Args: argumentsOf(c), Context: &where})
	return v.HookVerdict, err
}

// After runs the hooks that see the result of a call. A result in the verdict is the given one with
// the changes of the hook; it must be bounded again. Otherwise After is like [Programs.Before].
func (r *Programs) After(ctx context.Context, c *tool.Call, res *tool.Result, h ProgramHook) (HookVerdict, error) {
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
func (r *Programs) Event(ctx context.Context, event json.RawMessage, h ProgramHook) error {
	asked, err := encodeJSON(hookInput{Hook: "event", Event: event})
	if err != nil {
		return fmt.Errorf("%s: %w", h, err)
	}
	reply, err := r.put(ctx, r.quiet(""), h, process.Dialog{Question: asked, Time: h.time()})
	if err == nil && reply.Code != 0 {
		err = fmt.Errorf("%s %s", h, programEndText(reply))
	}
	return err
}

func (h ProgramHook) time() time.Duration {
	if h.Timeout <= 0 {
		return hookTime
	}
	return h.Timeout
}

// consult asks a hook about a call.
func (r *Programs) consult(ctx context.Context, c *tool.Call, h ProgramHook, o hookInput) (word, error) {
	v, err := r.hear(ctx, c, h, o)
	switch {
	case ctx.Err() != nil:
		return word{}, context.Cause(ctx)
	case err == nil && v.blocked && v.Block == "":
		v.Block = h.capital() + " refused the call and gave no reason."
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
func (r *Programs) hear(ctx context.Context, c *tool.Call, h ProgramHook, o hookInput) (word, error) {
	asked, err := encodeJSON(o)
	if err != nil {
		return word{}, fmt.Errorf("%s can not be told of the call: %w", h, err)
	}
	reply, err := r.put(ctx, c, h, process.Dialog{Question: asked, Limit: maxAnswer, Time: h.time()})
	switch {
	case err != nil:
		return word{}, err
	case reply.Code == exitBlock:
		return word{HookVerdict: HookVerdict{Block: readable(reply.Said, maxComplaint)}, blocked: true}, nil
	case reply.Code != 0:
		return word{}, fmt.Errorf("%s %s", h, programEndText(reply))
	}
	v, err := readWord(reply.Out, o.Hook)
	if err != nil {
		err = fmt.Errorf("%s gave an answer that can not be used: %w", h, err)
	}
	return v, err
}

// put runs the command of a hook. The error is a sentence that names the hook.
func (r *Programs) put(ctx context.Context, c *tool.Call, h ProgramHook, t process.Dialog) (process.Reply, error) {
	if len(h.Command) == 0 || h.Command[0] == "" {
		return process.Reply{}, fmt.Errorf("%s has no command", h)
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
		return reply, fmt.Errorf("%s took longer than %s", h, t.Time)
	case errors.Is(err, process.ErrTooMuch):
		return reply, fmt.Errorf("%s printed more than %d bytes", h, t.Limit)
	}
	return reply, errors.New(unstarted(h.String(), p.Path, err))
}
