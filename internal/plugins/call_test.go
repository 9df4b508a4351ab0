package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// answers is a script that does what its only argument says.
func (p *testProject) answers(t testing.TB, name, code string) tool.Tool {
	t.Helper()
	p.file(t, "tools/"+name+".tool.json", `{"description": "Answers.", "parameters": {"type": "object", "properties": {"word": {"type": "string"}}}}`, 0o644)
	return p.tool(t, p.script(t, name+".sh", "#!/bin/sh\n"+code))
}

// What a program gets: arguments, context, variables, folder.
func TestCallTells(t *testing.T) {
	p := newTestProject(t)
	tl := p.answers(t, "tells", `cat; echo "$1 $PWD $HELVE_TOOL $HELVE_SESSION_ID $HELVE_CALL_ID $HELVE_AGENT $HELVE_DIRECTORY $HELVE_WORKTREE $FROM_HOST $HELVE_ARG_word"`)
	res, err := tl.Run(t.Context(), p.call(t, tl, `{"word": "<a> & \"b\""}`))
	if err != nil {
		t.Fatal(err)
	}
	where := fmt.Sprintf(`{"sessionID":"ses_1","messageID":"msg_1","callID":"call_1","agent":"build","directory":%q,"worktree":%q}`, p.dir, p.dir)
	want := `{"tool":"tells","args":{"word":"<a> & \"b\""},"context":` + where + "}\n" +
		fmt.Sprintf("call %s tells ses_1 call_1 build %s %s 1 <a> & \"b\"\n", p.dir, p.dir, p.dir)
	if diff := cmp.Diff(want, res.Output); diff != "" {
		t.Error(diff)
	}
	asked := []permission.Request{{
		Permission: "tells", Patterns: []string{"*"}, Always: []string{"*"}, Metadata: map[string]any{"program": ".opencode/tools/tells.sh"},
	}}
	if diff := cmp.Diff(asked, p.host.asked); diff != "" {
		t.Error(diff)
	}
}

// Arguments are variables too, where a variable can hold them.
func TestArm(t *testing.T) {
	got := map[string]string{"KEPT": "1"}
	arm(got, json.RawMessage(`{"text": "a\nb $x", "n": 1.50, "yes": true, "none": null, "list": [1, 2], "empty": "", "a-b": "x", "": "x", "nul": "a\u0000", "long": "`+
		strings.Repeat("x", maxVariable+1)+`"}`))
	want := map[string]string{
		"KEPT": "1", "HELVE_ARG_text": "a\nb $x", "HELVE_ARG_n": "1.50", "HELVE_ARG_yes": "true", "HELVE_ARG_list": "[1,2]", "HELVE_ARG_empty": "",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got = map[string]string{}
	arm(got, json.RawMessage(`[]`))
	if len(got) > 0 {
		t.Errorf("got %q", got)
	}
	var many []string
	for i := range 100 {
		many = append(many, fmt.Sprintf(`"a%d": %q`, i, strings.Repeat("x", maxVariable)))
	}
	arm(got, json.RawMessage("{"+strings.Join(many, ",")+"}"))
	if len(got) != maxVariables/maxVariable {
		t.Errorf("%d are given", len(got))
	}
}

// One of several tools is told by which name it was described.
func TestCallOfSeveral(t *testing.T) {
	p := newTestProject(t)
	file := p.script(t, "many", `#!/bin/sh
case $1 in
describe) echo '{"tools": [{"name": "up", "description": "Up."}, {"name": "down", "description": "Down."}]}' ;;
call) sed 's/.*"name":"\([a-z]*\)".*/went \1/' ;;
esac
`)
	all, err := p.Describe(t.Context(), file)
	if err != nil || len(all) != 2 {
		t.Fatalf("%d tools, %v", len(all), err)
	}
	tl, err := p.Tool(all[1])
	if err != nil {
		t.Fatal(err)
	}
	res, err := tl.Run(t.Context(), p.call(t, tl, "{}"))
	if err != nil || res.Output != "went down\n" || tl.Spec().Name != "many_down" {
		t.Errorf("got %+v, %v", res, err)
	}
}

// Nothing runs that was not allowed.
func TestCallIsRefused(t *testing.T) {
	p := newTestProject(t)
	tl := p.answers(t, "refused", "touch ran")
	p.host.refuses = errors.New("no")
	if _, err := tl.Run(t.Context(), p.call(t, tl, "{}")); !errors.Is(err, p.host.refuses) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "ran")); err == nil {
		t.Error("it ran")
	}
}

// Whatever a program does, the call has an end that says what it was.
func TestCallEnds(t *testing.T) {
	t.Run("kept", func(t *testing.T) { callEnds(t, keptPlace(t)) })
	t.Run("direct", func(t *testing.T) { callEnds(t, newTestProject(t)) })
}

func callEnds(t *testing.T, p *testProject) {
	for _, c := range []struct {
		name, code   string
		output, fail string
		error        string // its code
	}{
		{name: "silent", code: ":"},
		{name: "text", code: "cat >/dev/null; echo plain", output: "plain\n"},
		{name: "object", code: `echo '{"output": "in an object", "title": "T"}'`, output: "in an object"},
		{name: "other", code: `echo '{"answer": 42}'`, output: "{\"answer\": 42}\n"},
		{name: "bytes", code: `printf 'a\377b'`, output: "a\ufffdb"},
		{name: "orphan", code: "sleep 600 & echo done", output: "done\n"},
		{name: "daemon", code: "setsid sleep 600 >/dev/null 2>&1 </dev/null & echo done", output: "done\n"},
		{name: "unread", code: "exec <&-; echo done", output: "done\n"},
		{name: "says", code: `echo '{"error": "There is no such word. Try another."}'`, error: "program-error", fail: "There is no such word. Try another."},
		{name: "saysbadly", code: `echo '{"error": "Said so."}'; echo noise >&2; exit 1`, error: "program-error", fail: "Said so."},
		{name: "code", code: "echo out; echo why >&2; exit 3", error: "program-failed", fail: ".opencode/tools/code.sh ended with code 3: why"},
		{name: "stdout", code: "echo only here; exit 3", error: "program-failed", fail: ".opencode/tools/stdout.sh ended with code 3: only here"},
		{name: "signal", code: "kill -ABRT $$", error: "program-failed", fail: ".opencode/tools/signal.sh was ended by the signal SIGABRT"},
		{name: "hidden", code: `printf 'a\342\200\256b\033c' >&2; exit 1`, error: "program-failed", fail: `.opencode/tools/hidden.sh ended with code 1: a\u{202e}b\x1bc`},
		{name: "endless", code: "exec yes", error: "program-too-much", fail: ".opencode/tools/endless.sh printed more than 16777216 bytes and was ended."},
		{name: "giant", code: `printf '{"output": "x", "metadata": {"a": "'; head -c 300000 /dev/zero | tr '\0' a; echo '"}}'`, error: "program-answer", fail: `.opencode/tools/giant.sh gave an answer that can not be used: its "metadata" has 300009 bytes, and 262144 are the most.`},
	} {
		t.Run(c.name, func(t *testing.T) {
			tl := p.answers(t, c.name, c.code)
			res, err := tl.Run(t.Context(), p.call(t, tl, fmt.Sprintf(`{"word": %q}`, strings.Repeat("w", 200_000))))
			var e *tool.Error
			switch {
			case c.error == "" && (err != nil || res.Output != c.output):
				t.Errorf("got %+v, %v", res, err)
			case c.error != "" && (!errors.As(err, &e) || e.Code != c.error || e.Kind != tool.Failed || !strings.HasPrefix(e.Error(), c.fail)):
				t.Errorf("got %v (%+v)", err, e)
			}
		})
	}
}

// Where there is no project around, a program is named by its whole path.
func TestShown(t *testing.T) {
	root := filepath.VolumeName(t.TempDir()) + string(filepath.Separator)
	file := filepath.Join(root, "tmp", "p", "tools", "slow.sh")
	for worktree, want := range map[string]string{
		root: file, "": file, filepath.Join(root, "tmp", "p"): filepath.Join("tools", "slow.sh"), filepath.Join(root, "home"): file,
	} {
		if got := NewPrograms(Services{Worktree: worktree}).shown(file); got != want {
			t.Errorf("%q: got %s", worktree, got)
		}
	}
}

// A program that cannot begin, because its language is not there, says so in
// a call too.
func TestCallWithoutLanguage(t *testing.T) {
	p := newTestProject(t)
	p.file(t, "tools/lost.tool.json", `{"description": "Lost."}`, 0o644)
	tl := p.tool(t, p.script(t, "lost", "#!/usr/bin/env no-such-language\n"))
	_, err := tl.Run(t.Context(), p.call(t, tl, "{}"))
	var e *tool.Error
	if !errors.As(err, &e) || e.Code != "program-start" || !strings.HasPrefix(e.Error(), ".opencode/tools/lost could not be started: what its first line names is not installed") {
		t.Errorf("got %v", err)
	}
}

// A program that is too slow is ended with all that it has started, deaf or
// not.
func TestCallIsLate(t *testing.T) {
	p := keptPlace(t)
	p.file(t, "tools/slow.tool.json", `{"description": "Slow.", "timeout": 200}`, 0o644)
	tl := p.tool(t, p.script(t, "slow", "#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 1; done\n"))
	_, err := tl.Run(t.Context(), p.call(t, tl, "{}"))
	var e *tool.Error
	if !errors.As(err, &e) || e.Code != "program-timeout" || !strings.HasPrefix(e.Error(), ".opencode/tools/slow took longer than 200ms and was ended.") {
		t.Errorf("got %v", err)
	}
	err = p.unanswered(t.Context(), ProgramTool{}, process.Reply{Said: "half way"}, process.ErrLate)
	if !strings.HasSuffix(err.Error(), " It said: half way") {
		t.Errorf("got %v", err)
	}
}

// A call that is given up ends its program.
func TestCallIsCancelled(t *testing.T) {
	p := keptPlace(t)
	tl := p.answers(t, "waits", `
echo '{"progress": "ready"}' >&2
while :; do sleep 0.01; done`)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	why := errors.New("given up")
	p.host.heard = func(report) { cancel(why) }
	if _, err := tl.Run(ctx, p.call(t, tl, "{}")); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}

// Reports come while the program runs, and the last always does.
func TestCallReports(t *testing.T) {
	p := newTestProject(t)
	tl := p.answers(t, "reports", `
echo '{"progress": {"title": "first", "metadata": {"n": 1}}}' >&2
until [ -e seen ]; do sleep 0.01; done
i=0; while [ $i -lt 500 ]; do i=$((i+1)); echo "{\"progress\": {\"title\": \"no $i\"}}"; done >&2
echo noise >&2
echo '{"progress": {"title": "last\u0007"}}' >&2
echo ok`)
	p.host.heard = func(r report) {
		if r.title == "first" {
			_ = os.WriteFile(filepath.Join(p.dir, "seen"), nil, 0o600)
		}
	}
	res, err := tl.Run(t.Context(), p.call(t, tl, "{}"))
	if err != nil || res.Output != "ok\n" {
		t.Fatalf("got %+v, %v", res, err)
	}
	got := p.host.reports
	if len(got) < 2 || len(got) > 50 || got[0].title != "first" || got[0].metadata["n"] != 1.0 || got[len(got)-1].title != `last\x07` {
		t.Errorf("%d reports: %+v", len(got), got)
	}
}

func TestReadAnswer(t *testing.T) {
	for _, c := range []struct {
		name, out string
		want      *tool.Result
		said      string
		fails     string
	}{
		{name: "all", out: `{"output": "o", "title": " T\u001b ", "metadata": {"k": [1]}, "attachments": [{"url": "data:image/png;base64,AAAA", "filename": "../a.png"}]}`, want: &tool.Result{
			Title: `T\x1b`, Output: "o", Metadata: map[string]any{"k": []any{1.0}},
			Attachments: []tool.Attachment{{Type: "file", Mime: "image/png", URL: "data:image/png;base64,AAAA", Filename: "a.png"}},
		}},
		{name: "nothing", want: &tool.Result{}},
		{name: "null", out: `{"output": null, "error": null, "title": null, "metadata": null, "attachments": null}`, want: &tool.Result{}},
		{name: "an output of another kind", out: `{"output": {"a": [1, 2]}}`, want: &tool.Result{Output: `{"a":[1,2]}`}},
		{name: "an output of no text", out: "{\"output\": \"a\xff\"}", want: &tool.Result{Output: "a\ufffd"}},
		{name: "no word about being cut", out: `{"output": "o", "metadata": {"truncated": true, "outputPath": "/etc/passwd", "k": 1}}`, want: &tool.Result{Output: "o", Metadata: map[string]any{"k": 1.0}}},
		{name: "a list", out: `["output"]`, want: &tool.Result{Output: `["output"]`}},
		{name: "no JSON", out: `{"output": "o"`, want: &tool.Result{Output: `{"output": "o"`}},
		{name: "two objects", out: `{"output": "o"}{"output": "p"}`, want: &tool.Result{Output: `{"output": "o"}{"output": "p"}`}},
		{name: "another case", out: `{"Output": "o"}`, want: &tool.Result{Output: `{"Output": "o"}`}},
		{name: "an error", out: `{"error": "no", "output": "o"}`, said: "no"},
		{name: "an error of another kind", out: `{"error": {"code": 5}}`, said: `{"code":5}`},
		{name: "no error", out: `{"error": "", "output": "o"}`, want: &tool.Result{Output: "o"}},
		{name: "not an error", out: `{"error": false}`, want: &tool.Result{Output: `{"error": false}`}},
		{name: "a long error", out: `{"error": "` + strings.Repeat("x", 10_000) + `"}`, said: strings.Repeat("x", maxComplaint) + "\n… (cut)"},
		{name: "a title of another kind", out: `{"output": "o", "title": 5}`, fails: `its "title" is a number, and a text is wanted`},
		{name: "a long title", out: `{"output": "o", "title": "` + strings.Repeat("t", 300) + `"}`, want: &tool.Result{Output: "o", Title: strings.Repeat("t", 200) + "…"}},
		{name: "metadata of another kind", out: `{"output": "o", "metadata": []}`, fails: `its "metadata" is a list, and an object is wanted`},
		{name: "attachments of another kind", out: `{"output": "o", "attachments": {}}`, fails: `its "attachments" is an object, and a list is wanted`},
		{name: "a file that is elsewhere", out: `{"output": "o", "attachments": [{"mime": "image/png", "url": "https://example.com/a.png"}]}`, fails: `attachments[0]: its "url" is not of the form data:image/png;base64,…`},
		{name: "a file that is broken", out: `{"output": "o", "attachments": [{"mime": "image/png", "url": "data:image/png;base64,?"}]}`, fails: `attachments[0]: what its "url" holds is not base64`},
		{name: "a file of no kind", out: `{"output": "o", "attachments": [{"mime": "png", "url": "data:;base64,AAAA"}]}`, fails: `attachments[0]: png is not a kind of file such as image/png`},
		{name: "very many files", out: `{"output": "o", "attachments": [` + strings.Repeat("1,", 99) + `1]}`, fails: `it has 100 attachments, and 16 are the most`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.want != nil && c.want.Metadata == nil {
				c.want.Metadata = map[string]any{}
			}
			res, said, err := readAnswer([]byte(c.out))
			if c.fails != "" {
				if err == nil || err.Error() != c.fails {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || said != c.said {
				t.Errorf("got %q, %v", said, err)
			}
			if diff := cmp.Diff(c.want, res); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadReport(t *testing.T) {
	for said, want := range map[string]report{
		`{"progress": {"title": "a", "metadata": {"n": 1}}}`: {"a", map[string]any{"n": 1.0}},
		` {"progress": {"metadata": {}}} `:                   {"", map[string]any{}},
		`{"progress": "a\u202e\nb"}`:                         {`a\u{202e}\nb`, nil},
		`{"progress": {}}`:                                   {},
		`{"progress": null}`:                                 {},
		`{"progress": 5}`:                                    {},
		`{"progress": {"title": 5}}`:                         {},
		`{"progress": {"title": "a", "metadata": []}}`:       {},
		`{"level": "info", "msg": "progress"}`:               {},
		`{"progress": {"metadata": {"a": "` + strings.Repeat("x", maxReport) + `"}}}`: {},
		`making "progress"`: {},
		``:                  {},
	} {
		got, ok := readReport([]byte(said))
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(report{})); diff != "" || ok != (want.title != "" || want.metadata != nil) {
			t.Errorf("%.80s: %v\n%s", said, ok, diff)
		}
	}
}

// As many variables as are given can be given.
func TestCallWithLongArguments(t *testing.T) {
	p := keptPlace(t)
	p.file(t, "tools/long.tool.json", `{"description": "Long.", "parameters": {"properties": {"a": {}, "b": {}, "c": {}, "d": {}, "e": {}}}}`, 0o644)
	tl := p.tool(t, p.script(t, "long", "#!/bin/sh\nprintf '%s' \"$HELVE_ARG_a$HELVE_ARG_b$HELVE_ARG_c$HELVE_ARG_d$HELVE_ARG_e\" | wc -c; wc -c\n"))
	word := strings.Repeat("ä", maxVariable/2)
	args := fmt.Sprintf(`{"a": %[1]q, "b": %[1]q, "c": %[1]q, "d": %[1]q, "e": %[1]q}`, word)
	res, err := tl.Run(t.Context(), p.call(t, tl, args))
	if err != nil {
		t.Fatal(err)
	}
	var variables, all int
	if _, err := fmt.Sscan(res.Output, &variables, &all); err != nil || variables != maxVariables || all < 5*maxVariable {
		t.Errorf("got %q, %v", res.Output, err)
	}
}

func BenchmarkProgramCall(b *testing.B) {
	p := keptPlace(b)
	tl := p.answers(b, "quick", "echo done")
	c := p.call(b, tl, `{"word": "w"}`)
	for b.Loop() {
		if _, err := tl.Run(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDescribe(b *testing.B) {
	p := newTestProject(b)
	file := p.script(b, "count.sh", describer)
	for b.Loop() {
		if _, err := p.Describe(b.Context(), file); err != nil {
			b.Fatal(err)
		}
	}
}

// A program may be compiled.
func TestCallOfABinary(t *testing.T) {
	p := newTestProject(t)
	source := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(source, []byte(`package main

import (
	"encoding/json"
	"os"
)

func main() {
	out := json.NewEncoder(os.Stdout)
	if os.Args[1] == "describe" {
		out.Encode(map[string]any{"description": "Doubles.", "parameters": map[string]any{
			"type": "object", "properties": map[string]any{"n": map[string]string{"type": "integer"}}, "required": []string{"n"},
		}})
		return
	}
	var q struct{ Args struct{ N int } }
	if err := json.NewDecoder(os.Stdin).Decode(&q); err != nil {
		panic(err)
	}
	out.Encode(map[string]any{"output": q.Args.N * 2, "title": "Doubled"})
}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(p.config, "tool", "double")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", file, source)
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("there is no Go here: %v: %s", err, out)
	}
	tl := p.tool(t, file)
	res, err := tl.Run(t.Context(), p.call(t, tl, `{"n": 21}`))
	if err != nil || res.Output != "42" || res.Title != "Doubled" {
		t.Errorf("got %+v, %v", res, err)
	}
	c := &tool.Call{Input: json.RawMessage(`{}`)}
	if _, err := tl.Check(c, false); tool.KindOf(err) != tool.InvalidInput {
		t.Errorf("arguments that do not fit: %v", err)
	}
}
