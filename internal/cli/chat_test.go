package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/helve-dev/helve/internal/modeltest"
)

// A room is helve chat in a terminal of tmux, and the person in front of it.
type room struct {
	t      *testing.T
	b      *bench
	socket string
	mark   int // how much of the screen was looked at
}

// enterRoom opens a conversation in the folder of a bench.
func enterRoom(t *testing.T, b *bench, args ...string) *room {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux, which is the terminal of this test, is not installed")
	}
	b.command() // there is a program to run
	r := &room{t: t, b: b, socket: filepath.Join(t.TempDir(), "tmux")}
	words := append([]string{"-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "50", "-c", b.dir, "env", "-i", "TERM=screen-256color", "LANG=C.UTF-8"}, b.env()...)
	words = append(words, "sh", "-c", `"$0" "$@"; echo "left with $?."; read again`, b.bin, "chat")
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", r.socket, "kill-server").Run() }) // it may have ended by itself
	r.tmux(append(words, args...)...)
	return r
}

func (r *room) tmux(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", r.socket, "-u"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("tmux %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// screen is all that was printed, without what was erased.
func (r *room) screen() string {
	r.t.Helper()
	return r.tmux("capture-pane", "-p", "-J", "-S", "-")
}

// sees waits until the screen shows a text, below what was seen before.
func (r *room) sees(want string) {
	r.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		shown := r.screen()
		if at := strings.Index(shown[min(r.mark, len(shown)):], want); at >= 0 {
			r.mark += at + len(want)
			return
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("the screen does not show %q:\n%s", want, shown)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// types types a text, and then keys by their names.
func (r *room) types(text string, keys ...string) {
	r.t.Helper()
	if text != "" {
		r.tmux("send-keys", "-l", text)
	}
	if len(keys) > 0 {
		r.tmux(append([]string{"send-keys"}, keys...)...)
	}
}

// says types a line once helve waits for one.
func (r *room) says(text string) {
	r.t.Helper()
	r.sees("> ")
	r.types(text, "Enter")
	r.sees(text)
}

// leaves waits for the end and returns the exit code.
func (r *room) leaves() string {
	r.t.Helper()
	r.sees("left with ")
	r.sees(".")
	_, after, _ := strings.Cut(r.screen(), "left with ")
	code, _, _ := strings.Cut(after, ".")
	return code
}

const adder = `# adds two numbers
add() {
  echo $(($1 - $2))
}
`

const adderTest = `. ./add.sh
[ "$(add 2 3)" = 5 ] && echo "ok: it adds" || { echo "FAIL: 2 and 3 are $(add 2 3)"; exit 1; }
`

// chatBench is a repository with a mistake in it.
func chatBench(t *testing.T, rules string) *bench {
	t.Helper()
	b := newBench(t, "anthropic", rules)
	b.write(filepath.Join(b.dir, "add.sh"), adder)
	b.write(filepath.Join(b.dir, "test.sh"), adderTest)
	b.git("init", "-q")
	b.git("config", "user.name", "Somebody")
	b.git("config", "user.email", "somebody@example.invalid")
	b.git("add", ".")
	b.git("commit", "-q", "-m", "begin")
	return b
}

func edits(file, old, with string) modeltest.Reply {
	return call("edit", map[string]any{"filePath": file, "oldString": old, "newString": with})
}

func runs(command string) modeltest.Reply {
	return call("bash", map[string]any{"command": command, "description": "Run " + command})
}

// A whole task: look, change with a permission, test, mend, commit.
func TestChatTask(t *testing.T) {
	t.Parallel()
	b := chatBench(t, `{"edit": "ask"}`)
	look := saying("# Plan\n\nI **look** first.", call("read", map[string]any{"filePath": "add.sh"}))
	look.Reasoning = "Where is the mistake?"
	look.Calls = append(look.Calls, call("grep", map[string]any{"pattern": "add"}).Calls...)
	b.server.Script("mend the adder", look,
		edits("add.sh", "$1 - $2", "$1 * $2"), runs("sh test.sh"),
		edits("add.sh", "$1 * $2", "$1 + $2"), runs("sh test.sh"),
		runs("git commit -qam 'Add for real' && git log --oneline"),
		saying("It *adds* now:\n\n- tested\n- committed\n", modeltest.Reply{}))
	r := enterRoom(t, b)
	r.says("mend the adder")
	r.sees("Where is the mistake?")
	r.sees("Plan")
	r.sees("I look first.")
	r.sees("✓ ") // the two of them end in any order
	r.sees("✓ ")
	r.sees("Permission needed: edit (tool edit, agent build)")
	r.sees("echo $(($1 * $2))")
	r.sees("[f]eedback: ")
	r.types("o", "Enter")
	r.sees("✓ edit add.sh")
	r.sees("✗ bash sh test.sh")
	r.sees("FAIL: 2 and 3 are 6")
	r.sees("exit code 1")
	r.sees("[f]eedback: ")
	r.types("s", "Enter")
	r.sees("✓ edit add.sh")
	r.sees("ok: it adds")
	r.sees("✓ bash git commit")
	r.sees("Add for real")
	r.sees("It adds now:")
	r.sees("• tested")
	r.sees("build · local/scripted · ")
	r.sees("% of the context")
	if log := b.git("log", "--oneline"); !strings.Contains(log, "Add for real") {
		t.Errorf("the log is\n%s", log)
	}
	r.says("/undo")
	r.sees("[y/N] ")
	r.types("y", "Enter")
	r.sees("Done.")
	if body, err := os.ReadFile(filepath.Join(b.dir, "add.sh")); err != nil || string(body) != adder {
		t.Errorf("after the undo: %q, %v", body, err)
	}
	r.says("/exit")
	r.sees("helve sessions resume ses_")
	if code := r.leaves(); code != "0" {
		t.Errorf("exit code %s:\n%s", code, r.screen())
	}
	if shown := r.screen(); strings.ContainsAny(shown, "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏") {
		t.Errorf("what went on was not erased:\n%s", shown)
	}
}

// Ctrl-C stops the model, and the session can go on.
func TestChatInterrupt(t *testing.T) {
	t.Parallel()
	b := chatBench(t, `{"bash": {"sleep 1000": "ask"}}`)
	slow := modeltest.Reply{Text: strings.Repeat("and so on ", 500), Chunk: 10, Pace: 20}
	b.server.Script("talk for long", slow, slow, saying("I was stopped.", modeltest.Reply{}))
	b.server.Script("wait", runs("sleep 1000"), saying("It is over.", modeltest.Reply{}))
	b.server.Script("loop", runs("while :; do echo tick-$((40+2)); sleep 0.1; done"))
	r := enterRoom(t, b, "talk", "for", "long")
	r.sees("and so on")
	r.types("typed", "Enter")
	r.types("aheax", "BSpace")
	r.types("d", "C-c")
	r.sees("Stopped.")
	r.sees("build · local/scripted")
	r.sees("build> typed\n  … ahead")
	r.types("", "C-c")
	r.types("/resume", "Enter")
	r.sees("and so on")
	r.types("", "C-c")
	r.sees("Stopped.")
	r.says("/new")
	r.says("wait")
	r.sees("Permission needed: bash")
	r.sees("[f]eedback: ")
	r.types("fo", "C-c")
	r.sees("Stopped.")
	r.says("/new")
	r.says("loop")
	r.sees("tick-42") // while it runs
	r.types("", "C-c")
	r.sees("Stopped.")
	if shown := r.screen(); !strings.Contains(shown, "sleep 0.1; done  stopped after") {
		t.Error(shown)
	}
	r.says("/new")
	r.says("talk for long")
	r.sees("and so on")
	r.types("", "C-c", "C-c")
	r.sees("helve sessions resume ses_")
	if code := r.leaves(); code != "0" {
		t.Errorf("exit code %s:\n%s", code, r.screen())
	}
}

// What a person says no to, with words or without.
func TestChatReject(t *testing.T) {
	t.Parallel()
	b := chatBench(t, `{"edit": "ask"}`)
	b.server.Script("spoil it", call("read", map[string]any{"filePath": "add.sh"}), edits("add.sh", "add()", "sub()"), saying("As you like.", modeltest.Reply{}))
	r := enterRoom(t, b)
	r.says("spoil it")
	r.sees("[f]eedback: ")
	r.types("what", "Enter")
	r.sees("Please answer with one letter")
	r.types("f", "Enter")
	r.sees("What should be done instead? ")
	r.types("leave it alone", "Enter")
	r.sees("✗ edit")
	r.sees("feedback: leave it")
	r.sees("As you like.")
	r.says("/new")
	r.says("spoil it")
	r.sees("[f]eedback: ")
	r.types("r", "Enter")
	r.sees("It stopped because you said no.")
	r.says("")
	r.types("", "C-d")
	if code := r.leaves(); code != "0" {
		t.Errorf("exit code %s:\n%s", code, r.screen())
	}
}

// The commands, questions, lists, agents below, and files.
func TestChatCommands(t *testing.T) {
	t.Parallel()
	b := chatBench(t, `{}`)
	b.server.Script("ask me", call("question", map[string]any{"questions": []any{map[string]any{
		"question": "Which?", "header": "Pick", "options": []any{
			map[string]any{"label": "red", "description": "hot"}, map[string]any{"label": "blue", "description": "cold"}}}}}),
		saying("So be it.", modeltest.Reply{}))
	b.server.Script("make a list", call("todowrite", map[string]any{"todos": []any{
		map[string]any{"content": "look around", "status": "completed", "priority": "high", "id": "1"},
		map[string]any{"content": "do it", "status": "in_progress", "priority": "high", "id": "2"}}}),
		saying("There it is.", modeltest.Reply{}))
	b.server.Script("delegate", call("task", map[string]any{"description": "Find the adder", "prompt": "where does it add", "subagent_type": "explore"}),
		saying("The other one found it.", modeltest.Reply{}))
	b.server.Script("where does it add", call("grep", map[string]any{"pattern": "echo"}), saying("In add.sh.", modeltest.Reply{}))
	r := enterRoom(t, b)
	r.says("/help")
	r.sees("/compact")
	r.says("/agnt")
	r.sees("Did you mean /agent?")
	r.says("ask me")
	r.sees("2. blue")
	r.sees("d: dismiss): ")
	r.types("2", "Enter")
	r.sees("So be it.")
	r.says("/new")
	r.says("make a list")
	r.sees("[x] look around")
	r.sees("[>] do it")
	r.sees("There it is.")
	r.says("/todos")
	r.sees("[>] do it")
	r.says("/cost")
	r.sees("tokens: ")
	r.says("/tools")
	r.sees("grep")
	r.says("/new")
	r.says("delegate")
	r.sees("▸ explore Find the adder")
	r.sees("  ✓ grep echo")
	r.sees("✓ task Find the adder")
	r.sees("The other one found it.")
	r.says("!echo from the shell; exit 3")
	r.sees("from the shell")
	r.sees("exit code 3")
	r.says("/sessions")
	r.sees("make a list")
	r.says("/reasoning")
	r.sees("is not shown")
	r.says("/model nobody/knows")
	r.sees("helve: ")
	r.says("/model local/scripted")
	r.sees("answers.")
	r.sees("> ")
	r.types("/ag", "Tab")
	r.types("pl", "Tab", "Enter")
	r.sees("From now on plan works.")
	r.sees("plan> ")
	r.types("read @add", "Tab", "Enter")
	r.sees("read @add.sh")
	r.sees("done")
	said := b.server.Requests()
	if got := fmt.Sprint(said[len(said)-1].Messages); !strings.Contains(got, "read add.sh") {
		t.Errorf("the model was told %s", got)
	}
	r.sees("plan> ")
	r.types("", "Up", "C-c")
	r.types("", "C-d")
	if code := r.leaves(); code != "0" {
		t.Errorf("exit code %s:\n%s", code, r.screen())
	}
}

// A session that was left goes on where it was.
func TestChatContinue(t *testing.T) {
	t.Parallel()
	b := chatBench(t, `{}`)
	b.server.Script("hello", saying("Good morning.", modeltest.Reply{}), saying("Good evening.", modeltest.Reply{}))
	r := enterRoom(t, b, "--agent", "plan", "hello")
	r.sees("Good morning.")
	r.says("/exit")
	r.leaves()
	r = enterRoom(t, b, "--continue")
	r.sees("Session ses_")
	r.sees("> hello")
	r.sees("Good morning.")
	r.sees("plan> ")
	r.types("", "Up") // the prompt of the command line was not typed
	r.sees("/exit")
	r.types("", "C-u", "C-c")
	r.sees("again leaves.")
	r.tmux("resize-window", "-x", "30", "-y", "20")
	r.types("hello again, ")
	r.tmux("set-buffer", "from a\nnarrow window")
	r.tmux("paste-buffer", "-p")
	r.sees("narrow window")
	r.types("", "Enter")
	r.sees("Good evening.")
	r.says("/resume")
	r.sees("Nothing had broken off.")
	said := b.server.Requests()
	if got := fmt.Sprint(said[len(said)-1].Messages); !strings.Contains(got, "hello again, from a\nnarrow window") {
		t.Errorf("the model was told %s", got)
	}
	r.says("/compact")
	r.sees("summed up")
	r.says("/exit")
	if code := r.leaves(); code != "0" {
		t.Errorf("exit code %s:\n%s", code, r.screen())
	}
}

func TestChatWithoutTerminal(t *testing.T) {
	t.Parallel()
	b := newBench(t, "anthropic", `{}`)
	if out, errs, code := b.run("chat", "hello"); code != 64 || out != "" || !strings.Contains(errs, "helve run") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
}

// Without a model it says how to set one.
func TestChatWithoutModel(t *testing.T) {
	t.Parallel()
	b := newBench(t, "anthropic", `{}`)
	b.write(filepath.Join(b.home, ".config", "helve", "helve.json"), "{}")
	r := enterRoom(t, b)
	r.sees("no model is set")
	if code := r.leaves(); code != "5" {
		t.Errorf("exit code %s", code)
	}
}

// Who begins with an agent of a project that is not trusted learns why there is
// none.
func TestChatUntrusted(t *testing.T) {
	t.Parallel()
	b := newBench(t, "anthropic", `{}`)
	b.write(filepath.Join(b.dir, "helve.json"), `{"agent": {"writer": {"mode": "primary", "prompt": "Write."}}}`)
	r := enterRoom(t, b, "--agent", "writer")
	r.sees("helve trust")
	r.sees(`there is no agent called "writer"`)
	if code := r.leaves(); code != "64" {
		t.Errorf("exit code %s", code)
	}
}
