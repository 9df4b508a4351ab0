package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/helve-dev/helve/internal/modeltest"
)

// A bench is a home, a folder to work in and a model, for helve as a process.
type bench struct {
	t         *testing.T
	bin       string
	home, dir string
	server    *modeltest.Server
}

// newBench configures a model of a protocol, "anthropic" or "openai", with
// rules.
func newBench(t *testing.T, protocol, rules string) *bench {
	t.Helper()
	b := &bench{t: t, home: t.TempDir(), dir: t.TempDir(), server: modeltest.Start(t)}
	npm := map[string]string{"anthropic": "@ai-sdk/anthropic", "openai": "@ai-sdk/openai-compatible"}[protocol]
	b.write(filepath.Join(b.home, ".config", "helve", "helve.json"), fmt.Sprintf(`{
		"model": "local/scripted", "permission": %s,
		"provider": {"local": {"npm": %q, "options": {"baseURL": %q, "apiKey": "none"}, "models": {"scripted": {
			"limit": {"context": 100000, "output": 4000}, "cost": {"input": 1, "output": 2}, "attachment": true}}}}
	}`, rules, npm, b.server.URL()))
	return b
}

func (b *bench) write(path, body string) {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// command is helve with some words, in the folder to work in.
func (b *bench) command(args ...string) *exec.Cmd {
	b.t.Helper()
	if b.bin == "" {
		b.bin = command(b.t)
	}
	cmd := exec.Command(b.bin, args...)
	cmd.Dir, cmd.Env = b.dir, b.env()
	return cmd
}

func (b *bench) env() []string {
	return []string{
		"HOME=" + b.home, "HELVE_DATA_DIR=" + filepath.Join(b.home, "data"), "PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0",
	}
}

// run runs helve to its end.
func (b *bench) run(args ...string) (stdout, stderr string, code int) {
	b.t.Helper()
	cmd := b.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		b.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// git runs git in the folder to work in.
func (b *bench) git(args ...string) string {
	b.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = b.dir, b.env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// built compiles the command itself, which is also the keeper of its commands.
func built(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "helve")
	if out, err := exec.Command("go", "build", "-o", bin, "../../cmd/helve").CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	return bin
}

// call is a reply of one call.
func call(name string, args map[string]any) modeltest.Reply {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return modeltest.Reply{Calls: []modeltest.Call{{Name: name, Args: string(raw)}}}
}

func saying(text string, r modeltest.Reply) modeltest.Reply {
	r.Text, r.Chunk, r.Usage = text, 3, modeltest.Usage{Input: 100, Output: 10}
	return r
}

// A streamed event, as far as the tests look into it.
type streamed struct {
	Seq        uint64
	Type       string
	Properties struct {
		Session   string
		SessionID string
		ID        string
		End       string
		Text      string
		Steps     int
		State     string
		Tool      string
		MessageID string
		PartID    string
		Delta     string
		Info      struct{ ID, SessionID, ParentID, Role string }
		Part      struct{ ID, SessionID, MessageID, Type, CallID, Text string }
	}
}

// stream reads the lines of --json and checks what holds for every stream.
func stream(t *testing.T, out string) []streamed {
	t.Helper()
	var all []streamed
	messages, parts, owed, started := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	session := ""
	for line := range strings.Lines(out) {
		var e streamed
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if len(all) > 0 && e.Type != "turn.finished" && e.Seq <= all[len(all)-1].Seq {
			t.Errorf("event %d comes after %d", e.Seq, all[len(all)-1].Seq)
		}
		all = append(all, e)
		p := e.Properties
		switch e.Type {
		case "session.created", "session.updated":
			if session == "" {
				session = p.Info.ID
			}
		case "message.updated":
			messages[p.Info.ID] = true
			if p.Info.SessionID != session {
				t.Errorf("a message of another session: %s", line)
			}
		case "message.part.updated":
			parts[p.Part.ID] = true
			owed[p.Part.MessageID] = true // a message may come after its parts
			if p.Part.SessionID != session {
				t.Errorf("a part of another session: %s", line)
			}
		case "message.part.delta":
			if !parts[p.PartID] || !messages[p.MessageID] || p.SessionID != session {
				t.Errorf("a piece of no part: %s", line)
			}
		case "call.started":
			var c struct {
				Properties struct{ Call struct{ ID string } }
			}
			if err := json.Unmarshal([]byte(line), &c); err != nil {
				t.Error(err)
			}
			started[c.Properties.Call.ID] = true
		case "call.finished":
			if !started[p.ID] || p.Session != session {
				t.Errorf("the end of no call: %s", line)
			}
		case "turn.finished":
			if p.Session != session {
				t.Errorf("the turn of another session: %s", line)
			}
		}
	}
	for id := range owed {
		if !messages[id] {
			t.Errorf("there are parts of %s, and no such message", id)
		}
	}
	if len(all) == 0 || all[len(all)-1].Type != "turn.finished" {
		t.Fatalf("the last line is not the end of the turn:\n%s", out)
	}
	return all
}

const (
	brokenSum = "#!/bin/sh\n# sum.sh adds its arguments.\necho $(($1 - $2))\n"
	sumTest   = "#!/bin/sh\ntest \"$(sh sum.sh 2 3)\" = 5 || { echo \"2 and 3 give $(sh sum.sh 2 3)\"; exit 1; }\necho ok\n"
)

// A task as people give it: read, search, edit, a test that fails, another
// edit, a test that passes, a commit.
func TestTask(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil || runtime.GOOS == "windows" {
		t.Skip("there is no git here")
	}
	bin := built(t)
	for _, protocol := range []string{"anthropic", "openai"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, protocol, `{"*": "allow"}`)
			b.bin = bin
			b.write(filepath.Join(b.dir, "sum.sh"), brokenSum)
			b.write(filepath.Join(b.dir, "test.sh"), sumTest)
			b.git("init", "-q", "-b", "main")
			b.git("config", "user.name", "a")
			b.git("config", "user.email", "a@example.org")
			b.git("add", ".")
			b.git("commit", "-q", "-m", "first")
			b.server.Script("mend the sum",
				saying("Let me look.\n", call("read", map[string]any{"filePath": "sum.sh"})),
				call("grep", map[string]any{"pattern": "sum.sh"}),
				call("edit", map[string]any{"filePath": "sum.sh", "oldString": "$1 - $2", "newString": "$1 * $2"}),
				call("bash", map[string]any{"command": "sh test.sh", "description": "Runs the test"}),
				saying("Not that.", call("edit", map[string]any{"filePath": "sum.sh", "oldString": "$1 * $2", "newString": "$1 + $2"})),
				call("bash", map[string]any{"command": "sh test.sh", "description": "Runs the test"}),
				call("bash", map[string]any{"command": "git commit -q -a -m 'sum.sh: add'", "description": "Commits"}),
				saying("It adds now.", modeltest.Reply{}),
			)
			out, errs, code := b.run("run", "--json", "mend", "the sum")
			if code != 0 {
				t.Fatalf("exit code %d:\n%s\n%s", code, errs, out)
			}
			all := stream(t, out)
			last := all[len(all)-1].Properties
			if last.End != "done" || last.Text != "It adds now." || last.Steps != 8 {
				t.Errorf("the turn ended as %+v", last)
			}
			var calls []string
			text := ""
			for _, e := range all {
				switch e.Type {
				case "call.finished":
					calls = append(calls, e.Properties.Tool+" "+e.Properties.State)
				case "message.part.delta":
					text += e.Properties.Delta
				}
			}
			if got, want := strings.Join(calls, ", "), "read completed, grep completed, edit completed, bash completed, edit completed, bash completed, bash completed"; got != want {
				t.Errorf("the calls were %s", got)
			}
			if want := "Let me look.\nNot that.It adds now."; text != want {
				t.Errorf("the pieces are %q", text)
			}
			if log := b.git("log", "--format=%s"); log != "sum.sh: add\nfirst\n" {
				t.Errorf("the log is %q", log)
			}
			if left := b.git("status", "--porcelain"); left != "" {
				t.Errorf("left behind: %s", left)
			}
			results := b.server.Requests()[7].Results()
			if !strings.Contains(results[3].Text, "2 and 3 give 6") || !strings.Contains(results[5].Text, "ok") {
				t.Errorf("the model read %+v", results)
			}
			b.goesOn(last.Session)
		})
	}
}

// goesOn checks what can be done with a session that is over.
func (b *bench) goesOn(session string) {
	b.t.Helper()
	out, errs, code := b.run("run", "--continue", "and", "now?")
	if out != "done\n" || code != 0 {
		b.t.Errorf("exit code %d, %q, %s", code, out, errs)
	}
	if asked := b.server.Requests(); !strings.Contains(asked[len(asked)-1].First(), "mend the sum") {
		b.t.Error("it did not go on with the session")
	}
	out, errs, code = b.run("sessions", "show", session)
	for _, want := range []string{"mend the sum", "Let me look.", "✓ read sum.sh", "✗ bash sh test.sh (exit code 1)\n    2 and 3 give 6", "✓ bash sh test.sh\n    ok", "build (local/scripted)", " tokens, $", "It adds now.", "and now?"} {
		if !strings.Contains(out, want) {
			b.t.Errorf("%q is not in what is shown: exit code %d, %s\n%s", want, code, errs, out)
		}
	}
	out, _, _ = b.run("sessions")
	if !strings.Contains(out, session) || !strings.Contains(out, "local/scripted") || !strings.Contains(out, " tokens") {
		b.t.Errorf("the sessions are:\n%s", out)
	}
}

// until waits for something to become true.
func until(t *testing.T, what string, true func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !true(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not come about", what)
		}
	}
}

func lines(path string) int {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	return bytes.Count(data, []byte("\n"))
}

// sleeper is a task whose only call takes a minute, after it has counted
// itself.
func (b *bench) sleeper() {
	b.server.Script("count once",
		call("bash", map[string]any{"command": "echo run >> counter; sleep 60", "description": "Counts"}),
		saying("It was cut short.", modeltest.Reply{}),
	)
}

// A process that is killed while a call runs has not lost its session, and the
// call is not made again.
func TestTaskKilled(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no bash here")
	}
	bin := built(t)
	for _, protocol := range []string{"anthropic", "openai"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, protocol, `{"*": "allow"}`)
			b.bin = bin
			b.sleeper()
			cmd := b.command("run", "--json", "count", "once")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			counter := filepath.Join(b.dir, "counter")
			until(t, "the call", func() bool { return lines(counter) > 0 })
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // it was killed
			listed, _, _ := b.run("sessions")
			id := regexp.MustCompile("ses_[0-9A-Za-z]+").FindString(listed)
			if out, errs, _ := b.run("sessions", "show", id); !strings.Contains(out, "interrupted: its process ended") || strings.Contains(out, "running") {
				t.Errorf("the session is shown as\n%s%s", out, errs)
			}
			out, errs, code := b.run("sessions", "resume", "--last", "--json")
			if code != 0 {
				t.Fatalf("exit code %d: %s", code, errs)
			}
			last := streamed{}
			for line := range strings.Lines(out) {
				if err := json.Unmarshal([]byte(line), &last); err != nil {
					t.Fatal(err)
				}
			}
			if last.Type != "turn.finished" || last.Properties.End != "done" || last.Properties.Text != "It was cut short." {
				t.Errorf("it ended as %+v", last)
			}
			if n := lines(counter); n != 1 {
				t.Errorf("the call was made %d times", n)
			}
			asked := b.server.Requests()
			results := asked[len(asked)-1].Results()
			if len(results) != 1 || !strings.Contains(results[0].Text, "nterrupted") {
				t.Errorf("the model was told %+v", results)
			}
			out, errs, code = b.run("sessions", "resume", last.Properties.Session)
			if n := len(b.server.Requests()); code != 0 || n != len(asked) {
				t.Errorf("a turn that is over was gone on with: exit code %d, %d requests, %q, %s", code, n, out, errs)
			}
		})
	}
}

func TestTaskCancelled(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no bash here")
	}
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "openai", `{"*": "allow"}`)
			b.sleeper()
			cmd := b.command("run", "--json", "count", "once")
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			until(t, "the call", func() bool { return lines(filepath.Join(b.dir, "counter")) > 0 })
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // the exit code is looked at
			last := stream(t, out.String())
			turn := last[len(last)-1].Properties
			if code := cmd.ProcessState.ExitCode(); code != 130 || turn.End != "canceled" || !strings.Contains(errs.String(), "helve sessions resume "+turn.Session) {
				t.Errorf("exit code %d, end %s, standard error %q", code, turn.End, errs.String())
			}
			if out, errs, code := b.run("sessions", "resume", turn.Session); code != 0 || out != "It was cut short.\n" {
				t.Errorf("exit code %d, %q, %s", code, out, errs)
			}
			if n := lines(filepath.Join(b.dir, "counter")); n != 1 {
				t.Errorf("the call was made %d times", n)
			}
		})
	}
}

// Files go to the model with the prompt, and standard input where it is asked
// for.
func TestTaskFiles(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"anthropic", "openai"} {
		b := newBench(t, protocol, `{}`)
		b.write(filepath.Join(b.dir, "note.txt"), "a note\n")
		var picture bytes.Buffer
		if err := png.Encode(&picture, image.NewRGBA(image.Rect(0, 0, 2, 2))); err != nil {
			t.Fatal(err)
		}
		b.write(filepath.Join(b.dir, "dot.png"), picture.String())
		cmd := b.command("run", "--file", "note.txt", "--file", "dot.png", "what is", "this?", "-")
		cmd.Stdin = strings.NewReader("from elsewhere\n")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		asked := b.server.Requests()[0]
		for _, want := range []string{"what is this?", "<stdin>\nfrom elsewhere\n</stdin>", "a note\n</file>"} {
			if !strings.Contains(asked.First(), want) {
				t.Errorf("%s: %q is not in %q", protocol, want, asked.First())
			}
		}
		if files := asked.Messages[0].Files; len(files) != 1 || files[0] != "image/png" {
			t.Errorf("%s: the files are %q", protocol, files)
		}
	}
}

// A reader that goes away ends the run without a word.
func TestTaskReaderGoesAway(t *testing.T) {
	t.Parallel()
	b := newBench(t, "anthropic", `{"*": "allow"}`)
	b.server.Script("talk", modeltest.Reply{Text: strings.Repeat("and so on ", 50), Chunk: 10, Pace: 50})
	cmd := b.command("run", "talk")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = w, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if _, err := r.Read(make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	r.Close()
	_ = cmd.Wait() // the exit code is looked at
	if code := cmd.ProcessState.ExitCode(); code != 1 || strings.Contains(errs.String(), "helve:") {
		t.Errorf("exit code %d, standard error %q", code, errs.String())
	}
}

// Where nobody can answer, nothing is offered that asks.
func TestTaskUnattended(t *testing.T) {
	t.Parallel()
	offered := func(env ...string) string {
		b := newBench(t, "openai", `{"*": "allow"}`)
		cmd := b.command("run", "hello")
		cmd.Env = append(cmd.Env, append(env, "HELVE_EXPERIMENTAL_PLAN_MODE=1")...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return fmt.Sprint(b.server.Requests()[0].Tools)
	}
	for _, name := range []string{"question", "plan_enter", "plan_exit"} {
		if got := offered(); strings.Contains(got, name) {
			t.Errorf("%s is offered: %s", name, got)
		}
	}
	if got := offered("HELVE_ENABLE_QUESTION_TOOL=1"); !strings.Contains(got, "question") {
		t.Errorf("what was asked for is not offered: %s", got)
	}
	if got := offered("HELVE_CLIENT=app"); !strings.Contains(got, "question") {
		t.Errorf("the client has its question: %s", got)
	}
}

// A session that somebody works on is not worked on twice.
func TestTaskBusy(t *testing.T) {
	t.Parallel()
	b := newBench(t, "openai", `{}`)
	free := make(chan struct{})
	b.server.Script("wait", modeltest.Reply{Text: "It was long.", Hold: free})
	cmd := b.command("run", "wait")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the question to the model", func() bool { return len(b.server.Requests()) > 0 })
	out, errs, code := b.run("run", "--continue", "and now")
	if code != 1 || out != "" || strings.Count(errs, "busy") != 1 || strings.Count(errs, "\n") != 1 {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
	close(free)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
