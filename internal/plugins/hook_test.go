package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/helve-dev/helve/plugin"
	"github.com/helve-dev/helve/tool"
)

func TestApplies(t *testing.T) {
	for _, c := range []struct {
		patterns string
		name     string
		want     bool
	}{
		{"", "bash", true}, {"bash", "bash", true}, {"bash", "bash2", false}, {"edit*", "edit", true}, {"edit*", "multiedit", false},
		{"*edit", "multiedit", true}, {"?ash", "bash", true}, {"?ash", "ash", false}, {"read,bash", "bash", true}, {"*_?", "a_b", true},
		{"*a*b", "xaxxb", true}, {"*a*b", "xaxxbc", false}, {"**", "x", true}, {"*", "", true}, {"?", "ä", true}, {"b[a]sh", "bash", false},
	} {
		var h plugin.HookCommand
		if c.patterns != "" {
			h.Tools = strings.Split(c.patterns, ",")
			h.Events = h.Tools
		}
		if Matches(h.Tools, c.name) != c.want || Matches(h.Events, c.name) != c.want {
			t.Errorf("%q and %q: got %v", c.patterns, c.name, !c.want)
		}
	}
}

// A name fits itself, and a pattern that stars have taken parts of.
func TestFitsLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[ab_]{0,12}`).Draw(t, "name")
		from := rapid.IntRange(0, len(name)).Draw(t, "from")
		to := rapid.IntRange(from, len(name)).Draw(t, "to")
		for _, p := range []string{name, name[:from] + "*" + name[to:], name[:from] + strings.Repeat("?", to-from) + name[to:], "*" + name + "*"} {
			if !fits(p, name) {
				t.Fatalf("%q does not fit %q", p, name)
			}
		}
		if to > from && fits(name[:from]+name[to:], name) {
			t.Fatal("a part fits the whole")
		}
	})
}

func (p *testProject) hook(code string) plugin.HookCommand {
	return plugin.HookCommand{Command: []string{"sh", "-c", code}, From: "helve.json"}
}

func (p *testProject) about() *tool.Call {
	return &tool.Call{ID: "call_1", Session: "ses_1", Agent: "build", Tool: "bash", Input: json.RawMessage(`{"command":"ls"}`), Dir: p.dir, Host: p.host}
}

func TestBefore(t *testing.T) {
	p := newTestProject(t)
	for _, c := range []struct {
		name, code string
		want       HookVerdict
		late       bool
	}{
		{name: "nothing", code: "cat >/dev/null"},
		{name: "an empty object", code: "echo '{}'"},
		{name: "nothing of the kind", code: `echo '{"block": false, "args": null}'`},
		{name: "nothing at all", code: `echo '{"block": null}'`},
		{name: "more beside", code: `echo '{"args": {"a": 1}, "comment": "b"}'`, want: HookVerdict{Args: json.RawMessage(`{"a": 1}`)}},
		{name: "refused", code: `echo '{"block": "Not on Fridays.", "args": {}}'`, want: HookVerdict{Block: "Not on Fridays."}},
		{name: "refused without a reason", code: `echo '{"block": true}'`, want: HookVerdict{Block: "The hook 'sh -c echo '{\"block\": true}'' of helve.json refused the call and gave no reason."}},
		{name: "refused with an empty reason", code: `echo '{"block": ""}'`, want: HookVerdict{Block: "The hook 'sh -c echo '{\"block\": \"\"}'' of helve.json refused the call and gave no reason."}},
		{name: "refused by its code", code: `echo 'No\033[2J.' >&2; exit 2`, want: HookVerdict{Block: `No\x1b[2J.`}},
		{name: "refused by its code alone", code: `exit 2`, want: HookVerdict{Block: "The hook 'sh -c exit 2' of helve.json refused the call and gave no reason."}},
		{name: "other arguments", code: `sed 's/.*"args":\({[^}]*}\).*/{"args": \1}/; s/ls/ls -l/'`, want: HookVerdict{Args: json.RawMessage(`{"command":"ls -l"}`)}},
		{name: "an answer", code: `echo '{"result": {"output": "from the hook", "title": "T", "metadata": {"truncated": false}}}'`, want: HookVerdict{Result: &tool.Result{Output: "from the hook", Title: "T", Metadata: map[string]any{}}}},
		{name: "what it is told", code: `read -r q; printf '{"block": "%s %s %s"}' "$(echo "$q" | tr -d '"')" "$HELVE_TOOL" "$FROM_HOST"`,
			want: HookVerdict{Block: "{hook:before,tool:bash,args:{command:ls},context:{sessionID:ses_1,messageID:,callID:call_1,agent:build,directory:" + p.dir + ",worktree:" + p.dir + "}} bash 1"}},

		{name: "fails", code: "echo why >&2; exit 1", want: HookVerdict{Problem: "ended with code 1: why"}},
		{name: "prints no JSON", code: "echo ok", want: HookVerdict{Problem: "gave an answer that can not be used: it is no JSON object, but begins with ok"}},
		{name: "prints no text", code: `printf '{"block": "\377"}'`, want: HookVerdict{Problem: "it is not UTF-8"}},
		{name: "slips", code: `echo '{"blocked": "no"}'`, want: HookVerdict{Problem: `it has none of the keys ["block" "args" "result"]`}},
		{name: "slips beside nothing", code: `echo '{"blocked": true, "args": null}'`, want: HookVerdict{Problem: `it has none of the keys ["block" "args" "result"]`}},
		{name: "slips beside arguments", code: `echo '{"blocked": true, "args": {}}'`, want: HookVerdict{Problem: `it has the key "blocked", which means nothing here; "block" may be meant`}},
		{name: "slips beside an answer", code: `echo '{"Block": "no", "result": {"output": ""}}'`, want: HookVerdict{Problem: `it has the key "Block", which means nothing here; "block" may be meant`}},
		{name: "says it twice", code: `echo '{"block": "dup", "block": null}'`, want: HookVerdict{Problem: `it has the key "block" twice`}},
		{name: "says it twice within", code: `echo '{"result": {"output": "a", "output": "b"}}'`, want: HookVerdict{Problem: `its "result": it has the key "output" twice`}},
		{name: "refuses oddly", code: `echo '{"block": 5}'`, want: HookVerdict{Problem: `its "block" is a number, and a text is wanted`}},
		{name: "gives odd arguments", code: `echo '{"args": []}'`, want: HookVerdict{Problem: `its "args" are a list, and an object is wanted`}},
		{name: "gives no output", code: `echo '{"result": {"title": "T"}}'`, want: HookVerdict{Problem: `its "result" has no "output"`}},
		{name: "prints without end", code: "exec yes", want: HookVerdict{Problem: "printed more than 16777216 bytes"}},
		{name: "never ends", code: "trap '' TERM; while :; do sleep 1; done", want: HookVerdict{Problem: "took longer than 50ms"}, late: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := p.hook(c.code)
			if c.late {
				h.Timeout = 50 * time.Millisecond
			}
			got, err := p.Before(t.Context(), p.about(), h)
			if err != nil {
				t.Fatal(err)
			}
			if c.want.Problem == "" {
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Error(diff)
				}
				return
			}
			if !strings.HasPrefix(got.Problem, "the hook 'sh -c ") || !strings.Contains(got.Problem, c.want.Problem) || got.Block != "" {
				t.Errorf("got %+v", got)
			}
			h.Required = true
			got, err = p.Before(t.Context(), p.about(), h)
			if err != nil || got.Problem != "" || !strings.Contains(got.Block, c.want.Problem) || !strings.HasPrefix(got.Block, "The call is not made, because a hook that is required failed: ") {
				t.Errorf("required: got %+v, %v", got, err)
			}
		})
	}
}

// A hook that cannot be started fails as any other.
func TestHookIsNotThere(t *testing.T) {
	p := newTestProject(t)
	p.file(t, "hooks/lost", "#!/usr/bin/env no-such-language\n", 0o755)
	for _, c := range []struct {
		command []string
		want    string
	}{
		{nil, "has no command"},
		{[]string{"no-such-program"}, "because no program of that name is in PATH"},
		{[]string{"./hooks/none"}, "the hook './hooks/none' could not be started, because it or"},
		{[]string{"./hooks/lost"}, "what its first line names is not installed (/usr/bin/env no-such-language)"},
	} {
		got, err := p.Before(t.Context(), p.about(), plugin.HookCommand{Command: c.command, Required: true, Dir: p.config})
		if err != nil || !strings.Contains(got.Block, c.want) || strings.Contains(got.Block, "..") || !strings.Contains(got.Block, ". Mend the hook") {
			t.Errorf("%q: got %+v, %v", c.command, got, err)
		}
	}
}

func TestHookCalled(t *testing.T) {
	p := newTestProject(t)
	file := p.file(t, "hooks/guard.py", "", 0o755)
	for _, c := range []struct {
		command []string
		want    string
	}{
		{[]string{"./hooks/guard.py", "x"}, "./hooks/guard.py"},
		{[]string{"python3", "-u", "hooks/guard.py", "x"}, "hooks/guard.py"},
		{[]string{"/usr/bin/python3.12", file}, file},
		{[]string{"env", "A=b", "node", "hooks/guard.py"}, "hooks/guard.py"},
		{[]string{"python3", "-m", "guard"}, "python3 -m guard"},
		{[]string{"/bin/sh", "-c", "grep -q x && exit 2"}, "/bin/sh -c grep -q x && exit 2"},
		{[]string{"linter", "hooks/guard.py"}, "linter hooks/guard.py"},
		{[]string{"sh", "-c", strings.Repeat("x", 200)}, "sh -c " + strings.Repeat("x", 74) + "…"},
		{nil, "without a command"},
	} {
		if got := HookName(plugin.HookCommand{Command: c.command, Dir: p.config}); got != line(c.want, maxQuote) {
			t.Errorf("%q: got %q", c.command, got)
		}
	}
}

// A hook runs where its config says, and its program is found from there.
func TestHookFolder(t *testing.T) {
	p := newTestProject(t)
	p.file(t, "hooks/here", "#!/bin/sh\nbasename \"$PWD\" >&2\nexit 2\n", 0o755)
	got, err := p.Before(t.Context(), p.about(), plugin.HookCommand{Command: []string{"./hooks/here"}, Dir: p.config})
	if err != nil || got.Block != ".opencode" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestAfter(t *testing.T) {
	p := newTestProject(t)
	old := tool.Result{
		Title: "Old", Output: "old", Metadata: map[string]any{"exit": 0, "truncated": true, "outputPath": "/kept"}, Data: "data",
		Attachments: []tool.Attachment{{Type: "file", Mime: "image/png", URL: "data:image/png;base64,AAAA", Filename: "a.png"}},
	}
	change := func(f func(*tool.Result)) *tool.Result {
		res := old
		f(&res)
		return &res
	}
	for _, c := range []struct {
		name, code string
		want       HookVerdict
	}{
		{name: "nothing", code: ":"},
		{name: "refused", code: `echo '{"block": "No."}'`, want: HookVerdict{Block: "No."}},
		{name: "refused by its code", code: `echo No. >&2; exit 2`, want: HookVerdict{Block: "No."}},
		{name: "another output", code: `echo '{"result": {"output": "new"}}'`, want: HookVerdict{Result: change(func(r *tool.Result) { r.Output, r.Data = "new", nil })}},
		{name: "the same output", code: `echo '{"result": {"output": "old"}}'`, want: HookVerdict{Result: &old}},
		{name: "another title", code: `echo '{"result": {"title": "New"}}'`, want: HookVerdict{Result: change(func(r *tool.Result) { r.Title = "New" })}},
		{name: "other metadata", code: `echo '{"result": {"metadata": {"a": "b", "truncated": false}}}'`, want: HookVerdict{Result: change(func(r *tool.Result) {
			r.Metadata = map[string]any{"a": "b", "truncated": true, "outputPath": "/kept"}
		})}},
		{name: "no attachments", code: `echo '{"result": {"attachments": []}}'`, want: HookVerdict{Result: change(func(r *tool.Result) { r.Attachments = nil })}},
		{name: "what it is told", code: `read -r q; printf '{"block": "%s"}' "$(echo "$q" | tr -d '"' | sed 's/,context.*//')"`,
			want: HookVerdict{Block: "{hook:after,tool:bash,args:{command:ls},result:{title:Old,output:old,metadata:{exit:0,outputPath:/kept,truncated:true},attachments:[{mime:image/png,filename:a.png}]}"}},
		{name: "arguments", code: `echo '{"args": {}}'`, want: HookVerdict{Problem: `the hook 'sh -c echo '{"args": {}}'' of helve.json gave an answer that can not be used: it has none of the keys ["block" "result"]`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			given := old
			got, err := p.After(t.Context(), p.about(), &given, p.hook(c.code))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(old, given); diff != "" {
				t.Errorf("the result itself has changed: %s", diff)
			}
		})
	}
}

// What ends a call ends its hooks, and that is no refusal.
func TestHookIsCancelled(t *testing.T) {
	p := newTestProject(t)
	why := errors.New("given up")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	go cancel(why)
	h := p.hook("exec sleep 600")
	h.Required = true
	if got, err := p.Before(ctx, p.about(), h); !errors.Is(err, why) || got.Block != "" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestEvent(t *testing.T) {
	p := newTestProject(t)
	event := json.RawMessage(`{"type":"file.edited","properties":{"file":"a.go"}}`)
	if err := p.Event(t.Context(), event, p.hook("cat > seen; yes | head -c 1000000")); err != nil {
		t.Error(err)
	}
	got, err := os.ReadFile(filepath.Join(p.dir, "seen"))
	if want := `{"hook":"event","event":` + string(event) + "}\n"; err != nil || string(got) != want {
		t.Errorf("it saw %s, %v", got, err)
	}
	if err := p.Event(t.Context(), event, p.hook("echo why >&2; exit 2")); err == nil || err.Error() != "the hook 'sh -c echo why >&2; exit 2' of helve.json ended with code 2: why" {
		t.Errorf("got %v", err)
	}
	late := p.hook("exec sleep 600")
	late.Timeout = time.Millisecond
	if err := p.Event(t.Context(), event, late); err == nil || !strings.HasSuffix(err.Error(), "took longer than 1ms") {
		t.Errorf("got %v", err)
	}
}
