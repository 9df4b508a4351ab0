package command_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/helve-dev/helve/internal/command"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/permission"
)

// A vector is a command line with the rules in force, and what has to come of
// it.
type vector struct {
	ID        string          `json:"id"`
	Cat       string          `json:"cat"`
	Tier      string          `json:"tier"`
	Command   json.RawMessage `json:"command"`
	Rules     [][3]string     `json:"rules"`
	Cwd       string          `json:"cwd"`
	Expect    string          `json:"expect"`
	Accept    []string        `json:"accept"`
	Reference string          `json:"reference"`
	Unit      string          `json:"unit"`
	Mode      string          `json:"mode"`
	Files     []string        `json:"fs"`
	Platform  string          `json:"platform"`
	Reason    string          `json:"reason"`
}

func load(t testing.TB) []vector { return loadFrom(t, "bash-permission", 300) }

func loadFrom(t testing.TB, name string, least int) []vector {
	t.Helper()
	file, err := os.Open("testdata/judge/vectors/" + name + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []vector
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		if v.Platform == "" || v.Platform == runtime.GOOS {
			all = append(all, v)
		}
	}
	if err := lines.Err(); err != nil || len(all) < least {
		t.Fatalf("%d vectors were read: %v", len(all), err)
	}
	return all
}

// generated builds a text from a string, {"$repeat","times"} or {"$concat"}.
func generated(t testing.TB, raw json.RawMessage) string {
	t.Helper()
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var g struct {
		Repeat string            `json:"$repeat"`
		Times  int               `json:"times"`
		Concat []json.RawMessage `json:"$concat"`
	}
	if err := json.Unmarshal(raw, &g); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, part := range g.Concat {
		b.WriteString(generated(t, part))
	}
	b.WriteString(strings.Repeat(g.Repeat, g.Times))
	return b.String()
}

// A stage is a tree on the disk with the folders that vectors name.
type stage struct{ base string }

func newStage(t testing.TB, files ...string) stage {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"/ws/sub", "/out", "/home/u"} {
		if err := os.MkdirAll(base+dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := stage{base}
	for _, name := range files {
		s.write(t, "/ws/"+name)
	}
	return s
}

func (s stage) write(t testing.TB, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(s.base+name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.base+name, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// here maps the symbolic folders of a text below the stage.
func (s stage) here(text string) string {
	return regexp.MustCompile(`(^|[^\w./])(/ws|/out|/home/u)\b`).ReplaceAllString(text, "${1}"+s.base+"${2}")
}

func (s stage) line(line string) *command.Judged {
	place := command.Location{Dir: s.base + "/ws", Home: s.base + "/home/u"}
	return command.ReadLineIn(&files.Workspace{Worktree: s.base + "/ws"}, place, s.here(line))
}

// A verdict is what became of a command line.
type verdict struct {
	action    permission.Action
	opaque    bool // what is asked about may be what a rule denies
	decisions []permission.Decision
}

// A court decides as a call would: it notes every decision and lets all pass.
type court struct {
	policy permission.Policy
	verdict
}

func (c *court) Ask(_ context.Context, reqs ...permission.Request) error {
	for _, req := range reqs {
		err := func() error {
			for _, p := range req.Patterns {
				d := c.policy.Judge(req, p)
				c.decisions = append(c.decisions, d)
				c.action = c.action.Stricter(d.Action)
				c.opaque = c.opaque || d.Action == permission.Ask && d.Opaque != "" && c.mayDeny(req, p)
			}
			return nil
		}()
		if err != nil {
			return err
		}
	}
	return nil
}

// mayDeny reports whether what is not known about a pattern may be something
// that a rule denies: any command, or a file.
func (c *court) mayDeny(req permission.Request, pattern string) bool {
	return slices.ContainsFunc(c.policy.Rules, func(r permission.Rule) bool {
		file := func(d permission.Uncertainty) bool {
			return d.Permission != "" && permission.Match(d.Permission, r.Permission)
		}
		return r.Action == permission.Deny && (permission.Match("bash", r.Permission) || slices.ContainsFunc(req.Uncertainties[pattern], file))
	})
}

// A knowing court tells which files its rules single out.
type knowing struct{ court }

func (k *knowing) Filter(name string) (func(names ...string) bool, string) {
	return k.policy.Filter(name)
}

func rulesOf(triples [][3]string) permission.Ruleset {
	var rules permission.Ruleset
	for _, r := range triples {
		rules = append(rules, permission.Rule{Permission: r[0], Pattern: r[1], Action: permission.Action(r[2])})
	}
	return rules
}

// decide judges a command line. What can not be run at all is denied.
func (s stage) decide(t testing.TB, rules permission.Ruleset, command string) verdict {
	t.Helper()
	c := &court{policy: permission.Policy{Rules: rules}, verdict: verdict{action: permission.Allow}}
	reqs, err := s.line(command).Requests(t.Context(), nil)
	if err != nil {
		return verdict{action: permission.Deny}
	}
	for _, req := range reqs {
		c.Ask(t.Context(), req)
	}
	k := &knowing{court{policy: c.policy, verdict: verdict{action: permission.Allow}}}
	if err := s.line(command).Ask(t.Context(), k); err != nil || k.action != c.action {
		t.Errorf("%.200q: asked by one who knows the rules %s (%v), by another %s", command, k.action, err, c.action)
	}
	return c.verdict
}

// outcome is what becomes of a verdict where nobody is asked.
func (v vector) outcome(got verdict) permission.Action {
	if got.action != permission.Ask {
		return got.action
	}
	switch {
	case v.Mode == "headless", v.Mode == "auto" && got.opaque:
		return permission.Deny
	case v.Mode == "auto":
		return permission.Allow
	}
	return permission.Ask
}

func (v vector) accepts(got permission.Action) bool {
	if len(v.Accept) > 0 {
		return slices.Contains(v.Accept, string(got))
	}
	return v.Expect == string(got)
}

func TestVectors(t *testing.T) {
	missed := 0
	for _, v := range load(t) {
		command := generated(t, v.Command)
		s := newStage(t, v.Files...)
		got := s.decide(t, rulesOf(v.Rules), command)
		answer := v.outcome(got)
		fail := t.Errorf
		if v.Tier == "should" {
			fail = func(format string, args ...any) { missed++; t.Logf("not yet, which is allowed: "+format, args...) }
		}
		if !v.accepts(answer) {
			fail("%s %.120q: got %s, want %s (%s)\n%s", v.ID, command, answer, v.Expect, v.Reason, shown(got))
			continue
		}
		if v.Cat == "benign" && answer != permission.Allow {
			t.Errorf("%s %q: a harmless command is held up", v.ID, command)
		}
		if looser(answer, permission.Action(v.Reference)) && v.ID != "bash-059" && v.ID != "bash-339" && !slices.Contains(v.Accept, string(answer)) {
			t.Errorf("%s %.120q: %s is looser than %s", v.ID, command, answer, v.Reference)
		}
		named := func(d permission.Decision) bool { return d.Pattern == s.here(v.Unit) && d.Action == got.action }
		if v.Unit != "" && !slices.ContainsFunc(got.decisions, named) {
			t.Errorf("%s %.120q: %q is not named as what decides\n%s", v.ID, command, v.Unit, shown(got))
		}
	}
	t.Logf("%d lines that should come out otherwise", missed)
}

// Lines by which other agents were got round, and programs that run another one
// because of an option. What is an interpreter or runs others by nature is
// allowed by a rule about it.
func TestBypasses(t *testing.T) {
	natural := strings.Fields("R codex docker podman jrunscript julia minicom node perl ruby slsh ssh tclsh uv")
	files := []string{"sub/HEAD", "sub/objects/x", "sub/refs/x", "sub/config"} // a repository that lies in wait
	for name, least := range map[string]int{"bypasses": 100, "gtfobins": 100} {
		for _, v := range loadFrom(t, name, least) {
			program, _, _ := strings.Cut(v.ID, "/")
			got := newStage(t, files...).decide(t, rulesOf(v.Rules), generated(t, v.Command))
			v.Accept = append(v.Accept, v.Expect)
			if !v.accepts(got.action) && !(name == "gtfobins" && slices.Contains(natural, program)) {
				t.Errorf("%s %q: got %s (%s)\n%s", v.ID, generated(t, v.Command), got.action, v.Reason, shown(got))
			}
		}
	}
}

func looser(a, b permission.Action) bool { return a.Stricter(b) != a }

func shown(got verdict) string {
	var b strings.Builder
	for _, d := range got.decisions {
		b.WriteString("    " + string(d.Action) + " " + d.Permission + " " + d.Pattern)
		if d.Rule != nil {
			b.WriteString("  by " + d.Rule.Pattern)
		}
		if d.Opaque != "" {
			b.WriteString("  opaque: " + d.Opaque)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// Rewriting a command line never makes the answer looser.
func TestRewritten(t *testing.T) {
	tried := 0
	for _, v := range load(t) {
		command := generated(t, v.Command)
		if broken(v, command) {
			continue
		}
		s := newStage(t, v.Files...)
		rules := rulesOf(v.Rules)
		plain := s.decide(t, rules, command)
		for how, text := range rewritten(command) {
			tried++
			if got := s.decide(t, rules, text); looser(got.action, plain.action) {
				t.Errorf("%s %s: %q is %s, and %q only %s\n%s", v.ID, how, command, plain.action, text, got.action, shown(got))
			}
		}
	}
	if tried < 1500 {
		t.Errorf("only %d rewritten", tried)
	}
}

// broken reports whether a rewriting would break the syntax, or it is broken
// already.
func broken(v vector, command string) bool {
	heredoc := strings.Contains(strings.ReplaceAll(command, "<<<", ""), "<<")
	return heredoc || len(command) > 4000 || strings.Trim(command, " ") == "" || strings.Contains(command, "\x00") ||
		strings.Contains(v.Reason, "syntax error") || strings.Contains(v.Reason, "untermin") || strings.Contains(command, "&&&")
}

func rewritten(command string) map[string]string {
	quoted := strings.ReplaceAll(command, "'", `'\''`)
	out := map[string]string{
		"spaces":       "  " + command + "  ",
		"shell":        "sh -c '" + quoted + "'",
		"group":        "{ " + command + "\n}",
		"subshell":     "(" + command + "\n)",
		"function":     "f() { " + command + "\n}; f",
		"list":         "true && " + command,
		"substitution": "echo \"$(" + command + "\n)\"",
	}
	first, rest, _ := strings.Cut(command, " ")
	word := regexp.MustCompile(`^[\w./-]+$`).MatchString(first)
	switch first {
	case "if", "for", "while", "until", "select", "coproc", "time", "case", "function", "f()", "ls()":
		word = false
	}
	if word {
		out["quotes"] = `"` + first + `" ` + rest
		out["half quotes"] = first[:1] + `''` + first[1:] + " " + rest
		out["variable"] = "FOO=1 " + command
		out["more space"] = first + "   " + rest
	}
	return out
}

// The folder a command starts in is asked about as any other.
func TestWorkdirVectors(t *testing.T) {
	for _, c := range []struct{ cwd, link, want string }{
		{"/out", "", "deny"},
		{"/ws/dir", "/out", "deny"},
		{"/ws/sub", "", "allow"},
	} {
		s := newStage(t)
		if c.link != "" {
			if err := os.Symlink(s.base+c.link, s.base+c.cwd); err != nil {
				t.Fatal(err)
			}
		}
		rules := rulesOf([][3]string{{"*", "*", "allow"}, {"external_directory", "*", "deny"}})
		k := &court{policy: permission.Policy{Rules: rules}, verdict: verdict{action: permission.Allow}}
		place := command.Location{Dir: s.base + "/ws", Cwd: s.base + c.cwd}
		err := command.ReadLineIn(&files.Workspace{Worktree: s.base + "/ws"}, place, "ls").Ask(t.Context(), k)
		if err != nil || string(k.action) != c.want {
			t.Errorf("in %s: got %s (%v), want %s", c.cwd, k.action, err, c.want)
		}
	}
}
