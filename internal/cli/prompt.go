package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/terminal"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// A desk holds the pending requests: the runtime.
type desk interface {
	Pending() []permission.Request
	Reply(id string, reply permission.Reply) error
	Answer(id string, answers [][]string) error
	Dismiss(id string) error
}

// A prompter shows requests to a person, one after the other, and reads the answers line by line.
// Everything it shows is escaped, so that no request can look like something else; and on a
// terminal, anything typed before a request appears is ignored.
type prompter struct {
	out   io.Writer
	desk  desk
	style terminal.Style

	in      *text.LineReader
	forget  func()               // throws away what was typed; nil for what is no terminal
	reading chan typed           // the line that is being read; nil between lines
	stale   bool                 // that line may have been begun before the prompt
	calls   map[string]tool.Call // under way, by id
}

// A typed is a line that was typed, or an error.
type typed struct {
	line string
	err  error
}

// newPrompter returns a prompter that reads answers from in, a line when one is needed.
func newPrompter(in io.Reader, out io.Writer, d desk) *prompter {
	return &prompter{out: out, desk: d, in: text.NewLineReader(in, 1<<20), forget: forgetter(in), calls: map[string]tool.Call{}}
}

// handle shows the request of an event. It returns when there is an answer or ctx ends.
func (p *prompter) handle(ctx context.Context, e event.Event) {
	switch h := e.Properties.(type) {
	case event.CallStarted:
		p.calls[h.Call.ID] = h.Call
	case event.CallFinished:
		delete(p.calls, h.ID)
	case event.PermissionAsked:
		waits := func(r permission.Request) bool { return r.ID == h.ID }
		if slices.ContainsFunc(p.desk.Pending(), waits) { // it may be answered already
			p.permission(ctx, h.Request)
		}
	case event.QuestionAsked:
		p.questions(ctx, h.QuestionRequest)
	}
}

// errGone says that the person is gone, or that the request needs no answer any more.
var errGone = errors.New("no answer")

// line reads one line. At the end of the input it returns io.EOF.
func (p *prompter) line(ctx context.Context, prompt string) (string, error) {
	for {
		fmt.Fprint(p.out, p.style.Bold(prompt))
		if p.reading == nil {
			next := make(chan typed, 1)
			p.reading = next
			go func() {
				line, err := p.in.Next()
				next <- typed{string(line), err}
			}()
		}
		select {
		case got := <-p.reading:
			stale := p.stale
			p.reading, p.stale = nil, false
			switch {
			case got.err != nil:
				fmt.Fprintln(p.out)
				return "", io.EOF
			case !stale:
				return strings.TrimSpace(got.line), nil
			}
		case <-ctx.Done():
			fmt.Fprintln(p.out)
			return "", errGone
		}
	}
}

// discardTyped discards what was typed so far: it cannot be an answer to a prompt that was not
// shown. A script without a terminal answers in advance.
func (p *prompter) discardTyped() {
	if p.forget == nil {
		return
	}
	p.forget()
	if p.reading != nil { // it is unknown when its line was typed
		p.stale = true
		return
	}
	p.in.Drop()
}

// permission shows a request and answers it.
func (p *prompter) permission(ctx context.Context, req permission.Request) {
	p.showRequest(req)
	p.discardTyped()
	for {
		fmt.Fprintln(p.out, p.style.Bold("Allow? Type a letter, then Enter:"))
		word, err := p.line(ctx, "[o]nce, always: [s]ession [p]roject [e]verywhere, [r]eject, [f]eedback: ")
		if err == errGone {
			return
		}
		if err == io.EOF {
			word = "r"
		}
		reply, ok := verdict(word)
		if !ok {
			fmt.Fprintln(p.out, "Please answer with one letter, o, s, p, e, r or f, then Enter. It is about "+inShort(req)+".")
			continue
		}
		if reply.Verdict == permission.ReplyReject && strings.HasPrefix(strings.ToLower(word), "f") {
			said, err := p.line(ctx, "What should be done instead? ")
			if err == errGone {
				return
			}
			reply.Message = said
		}
		err = p.desk.Reply(req.ID, reply)
		if err == nil || errors.Is(err, permission.ErrNotFound) {
			return
		}
		fmt.Fprintln(p.out, safe(err.Error()))
	}
}

// longAbout is how many bytes of a request's subject fit in a line.
const longAbout = 300

// inShort is what a request is about, in a line.
func inShort(req permission.Request) string {
	about, name := req.Patterns, req.Permission
	if len(req.Asked) > 0 {
		about, name = []string{req.Asked[0].Pattern}, req.Asked[0].Permission
	}
	if len(about) == 0 {
		return text.VisibleLine(name)
	}
	pattern, cut := text.Cut(about[0], longAbout)
	if pattern = shownPattern(pattern); cut || max(len(req.Asked), len(about)) > 1 {
		pattern += " …"
	}
	return text.VisibleLine(name) + " " + pattern
}

// verdict reads a choice.
func verdict(word string) (permission.Reply, bool) {
	switch strings.ToLower(word) {
	case "o", "once", "y", "yes":
		return permission.Reply{Verdict: permission.ReplyOnce}, true
	case "s", "session", "a", "always":
		return permission.Reply{Verdict: permission.ReplyAlways, Scope: permission.Session}, true
	case "p", "project":
		return permission.Reply{Verdict: permission.ReplyAlways, Scope: permission.Project}, true
	case "e", "everywhere":
		return permission.Reply{Verdict: permission.ReplyAlways, Scope: permission.User}, true
	case "r", "reject", "n", "no", "f", "feedback":
		return permission.Reply{Verdict: permission.ReplyReject}, true
	}
	return permission.Reply{}, false
}

func (p *prompter) showRequest(req permission.Request) {
	who := ""
	if req.Call != nil {
		if c, ok := p.calls[req.Call.Call]; ok {
			who = fmt.Sprintf(" (tool %s, agent %s)", text.VisibleLine(c.Tool), text.VisibleLine(c.Agent))
		}
	}
	needed := req.Permissions()
	fmt.Fprintf(p.out, "\n%s%s\n", p.style.Yellow("Permission needed: "+text.VisibleLine(strings.Join(needed, ", "))), who)
	if len(req.Asked) == 0 { // what is asked about is all of it
		for _, pattern := range req.Patterns {
			fmt.Fprintf(p.out, "  %s\n", shownPattern(pattern))
		}
	}
	for _, d := range req.Asked {
		what := ""
		if len(needed) > 1 {
			what = text.VisibleLine(d.Permission) + " "
		}
		fmt.Fprintf(p.out, "  %s%s\n", what, shownPattern(d.Pattern))
		if d.Opaque != "" {
			fmt.Fprintf(p.out, "    %s\n", p.style.Yellow("it is not known what it does: "+text.VisibleLine(d.Opaque)))
		}
	}
	if req.Changed != "" {
		fmt.Fprintln(p.out, p.style.Yellow("The tool is not what it was when it was first used:"))
		fmt.Fprintln(p.out, indent(safe(req.Changed)))
	}
	details := req.Details()
	for _, key := range slices.Sorted(maps.Keys(details)) {
		p.showDetail(detailName(key, req.Permission), details[key])
	}
	fmt.Fprintln(p.out, "Always would also allow, from now on:")
	for _, a := range req.Store {
		exact := ""
		if a.Exact {
			exact = " (exactly this text)"
		}
		fmt.Fprintf(p.out, "  %s %s%s\n", text.VisibleLine(a.Permission), shownPattern(a.Pattern), exact)
	}
}

// detailName is what a detail is called. A command that wants a file is no
// command that is asked about.
func detailName(key, permission string) string {
	switch {
	case key == "command" && permission != "bash":
		return "for the command"
	case key == "workdir":
		return "in the folder"
	}
	return key
}

// shownPattern formats a pattern for display. It is quoted if its ends could not be seen otherwise,
// or if it looks quoted itself.
func shownPattern(pattern string) string {
	shown := text.VisibleLine(pattern)
	if shown == "" || strings.ContainsAny(shown[:1]+shown[len(shown)-1:], ` "`) {
		return `"` + shown + `"`
	}
	return shown
}

// showDetail shows a tool's details of its request: in one line if they fit, and otherwise in
// marked lines, so that they cannot imitate ours.
func (p *prompter) showDetail(key string, value any) {
	s, ok := value.(string)
	if !ok {
		b, err := text.EncodeLine(value)
		if err != nil {
			return
		}
		s = strings.TrimSuffix(string(b), "\n")
	}
	if !strings.Contains(s, "\n") {
		fmt.Fprintf(p.out, "  %s: %s\n", text.VisibleLine(key), text.VisibleLine(s))
		return
	}
	fmt.Fprintf(p.out, "  %s:\n", text.VisibleLine(key))
	for line := range strings.Lines(text.Visible(s)) {
		fmt.Fprintf(p.out, "  | %s\n", strings.TrimSuffix(line, "\n"))
	}
}

// questions shows a set of questions and answers them together.
func (p *prompter) questions(ctx context.Context, req tool.QuestionRequest) {
	answers := make([][]string, 0, len(req.Questions))
	for i, q := range req.Questions {
		p.showQuestion(q, i+1, len(req.Questions))
		p.discardTyped()
		picked, err := p.readAnswer(ctx, q)
		switch err {
		case nil:
			answers = append(answers, picked)
			continue
		case errGone:
			return
		}
		_ = p.desk.Dismiss(req.ID) // it may be answered already
		return
	}
	if err := p.desk.Answer(req.ID, answers); err != nil && !errors.Is(err, permission.ErrNotFound) {
		fmt.Fprintln(p.out, safe(err.Error()))
	}
}

func (p *prompter) showQuestion(q tool.Question, i, of int) {
	count := ""
	if of > 1 {
		count = fmt.Sprintf(" (%d of %d)", i, of)
	}
	fmt.Fprintf(p.out, "\n%s%s\n%s\n", p.style.Yellow(text.VisibleLine(q.Header)), count, text.VisibleLine(q.Question))
	for i, o := range q.Options {
		fmt.Fprintf(p.out, "  %d. %s  %s\n", i+1, text.VisibleLine(o.Label), p.style.Dim(text.VisibleLine(o.Description)))
	}
}

// errDismissed is the error for a person who does not want to answer.
var errDismissed = errors.New("dismissed")

// readAnswer reads the answer to one question.
func (p *prompter) readAnswer(ctx context.Context, q tool.Question) ([]string, error) {
	prompt := "A number or your own words, then Enter (empty: no answer, d: dismiss): "
	if q.Multiple {
		prompt = "Numbers, or your own words, then Enter (empty: no answer, d: dismiss): "
	}
	for {
		line, err := p.line(ctx, prompt)
		switch {
		case err != nil:
			return nil, err
		case line == "":
			return []string{}, nil
		case strings.EqualFold(line, "d"):
			return nil, errDismissed
		}
		picked, problem := pick(q, line)
		if problem == "" {
			return picked, nil
		}
		fmt.Fprintln(p.out, problem+" "+text.VisibleLine(q.Question))
	}
}

// pick parses the numbers of options. Any other line is an answer in the person's own words.
func pick(q tool.Question, line string) (picked []string, problem string) {
	fields := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' })
	for _, f := range fields {
		n, err := strconv.Atoi(f)
		if err != nil {
			return []string{line}, ""
		}
		if n < 1 || n > len(q.Options) {
			return nil, fmt.Sprintf("There is no option %d.", n)
		}
		if label := q.Options[n-1].Label; !slices.Contains(picked, label) {
			picked = append(picked, label)
		}
	}
	if len(picked) > 1 && !q.Multiple {
		return nil, "Please pick one."
	}
	if len(picked) == 0 { // commas only
		return []string{line}, ""
	}
	return picked, ""
}
