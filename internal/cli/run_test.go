package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

// refused is the end of a call that nobody was there to allow.
func refused(name string, err error) event.Event {
	return event.Event{Type: "call.finished", Properties: event.CallFinished{
		Tool: name, State: "error", Error: &record.Failure{Kind: tool.Unattended, Code: "unattended", Message: err.Error()},
	}}
}

func unattended(name string, patterns ...string) *permission.UnattendedError {
	u := &permission.UnattendedError{Permission: name}
	for _, p := range patterns {
		u.Asked = append(u.Asked, permission.Decision{Pattern: p})
	}
	return u
}

func TestRefusals(t *testing.T) {
	ceiling := unattended("bash", `echo {"permission": {"bash": {"*": "allow"}}}`)
	ceiling.Asked[0].Rule, ceiling.Asked[0].Ceiling = &permission.Rule{Permission: "bash", Pattern: "*", Action: permission.Ask}, true
	for _, c := range []struct {
		name  string
		ends  []event.Event
		rules string
		holds []string
	}{
		{name: "none", ends: []event.Event{{Properties: event.CallFinished{Tool: "read", State: "completed"}}}},
		{
			name: "one", ends: []event.Event{refused("bash", unattended("bash", "git push"))},
			rules: `{"bash":{"git push":"allow"}}`, holds: []string{"1 call was refused", `bash: The bash permission for git push`, `{"permission": {"bash": {"git push": "allow"}}}`},
		},
		{
			name: "several, one of them twice", ends: []event.Event{
				refused("bash", unattended("bash", "git push")), refused("bash", unattended("bash", "git push")), refused("edit", unattended("edit", "a*\u200b", "b")),
			},
			rules: `{"bash":{"git push":"allow"},"edit":{"a*` + "\u200b" + `":"allow","b":"allow"}}`,
			holds: []string{"3 calls were refused", `all of it in one: {"permission":{"bash":{"git push":"allow"},"edit":{"a*\u200b":"allow","b":"allow"}}}`},
		},
		{
			name: "what looks like a rule is not taken for one", ends: []event.Event{
				refused("bash", unattended("bash", `echo : {"permission": {"bash": {"*": "allow"}}}`)),
			},
			rules: `{"bash":{"echo : {\"permission\": {\"bash\": {\"*\": \"allow\"}}}":"allow"}}`,
		},
		{name: "nor where there is none", ends: []event.Event{refused("bash", ceiling)}, rules: "null", holds: []string{"no rule of the user loosens"}},
		{
			name: "a question", ends: []event.Event{refused("question", fmt.Errorf("there is nobody to answer\nhere"))},
			rules: "null", holds: []string{`question: there is nobody to answer\nhere`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r refusals
			for _, e := range c.ends {
				r.handleEvent(e)
			}
			var out bytes.Buffer
			r.printSummary(&app{Env: Env{Stderr: &out}})
			if c.rules == "" {
				if out.Len() > 0 {
					t.Errorf("it says %s", out.String())
				}
				return
			}
			if got, err := text.EncodeLine(r.rules); err != nil || strings.TrimSpace(string(got)) != c.rules {
				t.Errorf("the rules are %s, not %s", got, c.rules)
			}
			for _, want := range c.holds {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is missing in:\n%s", want, out.String())
				}
			}
		})
	}
}

func TestPromptText(t *testing.T) {
	for _, c := range []struct {
		words       []string
		stdin, want string
		fails       bool
	}{
		{words: []string{"fix", "it"}, stdin: "ignored", want: "fix it"},
		{words: nil, stdin: "from there\n", want: "from there\n"},
		{words: []string{"-"}, stdin: "from there\n", want: "from there\n"},
		{words: []string{"review", "this", "-"}, stdin: "a diff\n", want: "review this\n\n<stdin>\na diff\n</stdin>"},
		{words: []string{"review", "-"}, stdin: " \n", want: "review"},
		{words: []string{"-"}, stdin: "\xff\xfe", fails: true},
		{words: []string{"-"}, stdin: strings.Repeat("x", maxPrompt+1), fails: true},
	} {
		a := &app{Env: Env{Stdin: strings.NewReader(c.stdin)}}
		got, err := a.promptText(t.Context(), c.words)
		if got != c.want || (err != nil) != c.fails {
			t.Errorf("%q with %.20q gives %.80q, %v", c.words, c.stdin, got, err)
		}
	}
}

func TestPromptCancelled(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := &app{Env: Env{Stdin: r}}
	if _, err := a.promptText(ctx, []string{"-"}); a.exitCode(err) != exitCanceled {
		t.Errorf("the error is %v", err)
	}
}

func TestEnclose(t *testing.T) {
	dir := t.TempDir()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewRGBA(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{
		"a.txt": "one\ntwo\n", "b.png": picture.String(), "c.bin": "a\x00b", "d.txt": strings.Repeat("x", maxTextFile+1), "e.txt": "",
		"f.pdf": "%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a := &app{Env: Env{Dir: dir}}
	said, files, err := a.enclose(t.Context(), "look", []string{"a.txt", "b.png", "e.txt", "f.pdf"})
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("look\n\n<file path=%q>\none\ntwo\n</file>\n\n<file path=%q>\n\n</file>", filepath.ToSlash(filepath.Join(dir, "a.txt")), filepath.ToSlash(filepath.Join(dir, "e.txt")))
	if said != want {
		t.Errorf("the prompt is %q", said)
	}
	if len(files) != 2 || files[0].Mime != "image/png" || files[0].Filename != "b.png" || !strings.HasPrefix(files[0].URL, "data:image/png;base64,") || files[1].Mime != "application/pdf" {
		t.Errorf("the files are %+v", files)
	}
	for _, name := range []string{"c.bin", "d.txt", "none.txt", "."} {
		if _, _, err := a.enclose(t.Context(), "look", []string{name}); a.exitCode(err) != exitUsage {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFindSessionAmong(t *testing.T) {
	with := model.Ref{Provider: "p", Model: "m"}
	all := []record.Session{
		{ID: "ses_c", Dir: "/a", Parent: "ses_b1", Model: with}, {ID: "other", Dir: "/a"}, {ID: "ses_b1", Dir: "/a", Model: with}, {ID: "ses_b2", Dir: "/b", Model: with},
	}
	if got := lastOf(all, "/a"); got.ID != "ses_b1" {
		t.Errorf("the last one of /a is %q", got.ID)
	}
	if got := lastOf(all, "/c"); got.ID != "" {
		t.Errorf("the last one of /c is %q", got.ID)
	}
	for word, want := range map[string]string{"ses_c": "ses_c", "o": "other", "ses_b2": "ses_b2", "x": "", "ses_b": "two"} {
		got, err := sessionByPrefix(all, word)
		if (err != nil) != (want == "two") || err == nil && got.ID != want {
			t.Errorf("%q finds %q, %v", word, got.ID, err)
		}
	}
}

// Every end of a turn has an exit code of its own kind and words of its own.
func TestTurnEnds(t *testing.T) {
	for end, want := range map[agent.End]int{
		agent.EndDone: 0, agent.EndRejected: 3, agent.EndCanceled: 130, agent.EndFailed: 5, agent.EndLength: 6, agent.EndSteps: 6,
		agent.EndBudget: 6, agent.EndRefused: 7, agent.EndRepeats: 7, "news": 70,
	} {
		var out bytes.Buffer
		a := &app{Env: Env{Stderr: &out, Getenv: func(string) string { return "" }}, ran: true}
		turn := &agent.Turn{Session: "ses_1", End: end, Error: &message.Failure{Data: message.FailureData{Message: "because\x1b[2J"}}}
		err := a.reportTurn(&runFlags{}, turn, &refusals{})
		if got := exitOfTurn(end); got != want || err == nil && want != 0 || err != nil && a.exitCode(err) != want {
			t.Errorf("%s: exit code %d, %v", end, got, err)
		}
		if said := out.String(); resumable(end) != strings.Contains(said, "helve sessions resume ses_1") || strings.Contains(said, "\x1b") {
			t.Errorf("%s: %q", end, said)
		}
	}
}

func TestStrict(t *testing.T) {
	var r refusals
	r.handleEvent(refused("bash", unattended("bash", "ls")))
	a := &app{Env: Env{Stderr: io.Discard}, ran: true}
	turn := &agent.Turn{Session: "ses_1", End: agent.EndDone}
	if err := a.reportTurn(&runFlags{}, turn, &r); err != nil {
		t.Error(err)
	}
	if err := a.reportTurn(&runFlags{strict: true}, turn, &r); a.exitCode(err) != 4 {
		t.Error(err)
	}
}

func TestEagerly(t *testing.T) {
	const many = 5000
	gone := make(chan struct{})
	events := eagerly(func(yield func(event.Event) bool) {
		for i := range many {
			yield(event.Event{Seq: uint64(i)})
		}
		close(gone)
	})
	<-gone // all are taken before one is read
	n := uint64(0)
	for e := range events {
		if e.Seq != n {
			t.Fatalf("event %d came as number %d", e.Seq, n)
		}
		n++
	}
	if n != many {
		t.Errorf("%d events came", n)
	}
}

func TestJSONView(t *testing.T) {
	var out bytes.Buffer
	v := jsonView{out: &out}
	v.Event(event.Event{Seq: 1, Type: "session.idle", Properties: event.SessionIdle{Session: "ses_1"}})
	v.Event(event.Event{Seq: 2, Type: "tools.changed", Properties: event.ToolsChanged{}})
	v.Event(event.Event{Seq: 3, Type: "call.progress", Properties: event.CallProgress{ID: "1", Metadata: map[string]any{"f": func() {}}}})
	v.write(finishedTurn{"turn.finished", &agent.Turn{Session: "ses_1", End: agent.EndDone}})
	var types []string
	for line := range strings.Lines(out.String()) {
		var e struct{ Type string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Errorf("%v: %s", err, line)
		}
		types = append(types, e.Type)
	}
	if diff := cmp.Diff([]string{"session.idle", "call.progress", "turn.finished"}, types); diff != "" {
		t.Error(diff)
	}
}

func TestMute(t *testing.T) {
	answer := func(id string) event.Event {
		return event.Event{Properties: event.MessageUpdated{Info: message.Info{ID: id, Session: "ses_1", Role: message.Assistant}}}
	}
	words := func(id, said string) event.Event {
		return event.Event{Properties: event.PartUpdated{Part: message.Part{Session: "ses_1", Message: id, Type: message.Text, Text: said}}}
	}
	done := agent.Turn{Session: "ses_1", End: agent.EndDone, Steps: 1, Text: "words"}
	empty, failed, nothing := done, done, done
	empty.Text, failed.End, nothing.Steps = " \n", agent.EndFailed, 0
	for _, c := range []struct {
		name   string
		turn   agent.Turn
		events []event.Event
		want   bool
	}{
		{"it spoke", done, []event.Event{words("a", "words"), answer("a")}, false},
		{"it spoke before its last answer", done, []event.Event{answer("a"), words("a", "words"), answer("b"), words("b", "\n")}, true},
		{"it never spoke", empty, []event.Event{answer("a")}, true},
		{"it failed", failed, []event.Event{answer("a")}, false},
		{"nothing was asked", nothing, nil, false},
		{"not all was heard", done, []event.Event{answer("a"), {Properties: event.Missed{Count: 3}}}, false},
	} {
		var r refusals
		for _, e := range c.events {
			r.handleEvent(e)
		}
		if got := r.mute(&c.turn); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestFamily(t *testing.T) {
	all := []record.Session{{ID: "b1", Parent: "b"}, {ID: "a"}, {ID: "b"}, {ID: "b11", Parent: "b1"}, {ID: "lost", Parent: "gone"}, {ID: "own", Parent: "own"}}
	names := func(list []kin) (out []string) {
		for _, k := range list {
			out = append(out, fmt.Sprintf("%d %s %d", k.depth, k.ID, k.below))
		}
		return out
	}
	if diff := cmp.Diff([]string{"0 a 0", "0 b 2", "0 lost 0", "0 own 0"}, names(family(all, false))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"0 a 0", "0 b 2", "1 b1 1", "2 b11 0", "0 lost 0", "0 own 0"}, names(family(all, true))); diff != "" {
		t.Error(diff)
	}
}
