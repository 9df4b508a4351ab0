package cli_test

import (
	"strings"
	"testing"

	"github.com/helve-dev/helve/internal/modeltest"
)

// Whatever the model says, the person can stop it and leave.
func TestChatHostile(t *testing.T) {
	t.Parallel()
	b := chatBench(t, `{}`)
	hostile := strings.Repeat("[", 400_000) + strings.Repeat("*a ", 200_000)
	b.server.Script("say much", modeltest.Reply{Text: hostile}, modeltest.Reply{Text: hostile, Chunk: 1000, Pace: 5})
	r := enterRoom(t, b, "say", "much")
	r.sees("build · local/scripted")
	r.says("say much")
	r.sees("[[[[[")
	r.types("", "C-c", "C-c")
	if code := r.leaves(); code != "0" {
		t.Errorf("exit code %s", code)
	}
}

// An answer that broke off is not taken for one.
func TestBrokenOff(t *testing.T) {
	t.Parallel()
	b := chatBench(t, `{}`)
	b.server.Script("go on", modeltest.Reply{Text: "Broken words, and whole ones.", Chunk: 7, Fault: &modeltest.Fault{DropAfter: 4}})
	b.server.Script("once more", modeltest.Reply{Text: "Broken words, and whole ones.", Chunk: 7, Fault: &modeltest.Fault{DropAfter: 4}})
	out, errs, code := b.run("run", "go", "on")
	if first, last, ok := strings.Cut(out, "\n"); !ok || code != 0 || first == "" || !strings.HasPrefix("Broken words", first) || last != "Broken words, and whole ones.\n" {
		t.Errorf("exit code %d: %q\n%s", code, out, errs)
	}
	if !strings.Contains(errs, "The answer broke off and is asked for again.") {
		t.Error(errs)
	}
	r := enterRoom(t, b, "once", "more")
	r.sees("Broken words, and whole ones.")
	if n := strings.Count(r.screen(), "Broken"); n != 1 {
		t.Errorf("what broke off is still there:\n%s", r.screen())
	}
	r.sees("> ")
	r.types("", "C-d")
	if code := r.leaves(); code != "0" {
		t.Errorf("exit code %s", code)
	}
}

// What broke off is shown again, and goes on when it is asked for. Calls that
// did not run are failures.
func TestChatGoesOn(t *testing.T) {
	t.Parallel()
	b := chatBench(t, `{"bash": {"rm *": "deny", "touch *": "ask"}}`)
	slow := modeltest.Reply{Text: strings.Repeat("and so on ", 500), Chunk: 10, Pace: 20}
	b.server.Script("try it",
		call("nope", map[string]any{}), runs("rm add.sh"), call("read", map[string]any{}),
		call("bash", map[string]any{"command": "echo begun; sleep 1000", "description": "wait", "timeout": 500}),
		call("task", map[string]any{"description": "touch a file", "prompt": "touch it", "subagent_type": "general"}),
		slow, saying("I was stopped.", modeltest.Reply{}))
	b.server.Script("touch it", runs("touch x"), saying("Touched.", modeltest.Reply{}))
	r := enterRoom(t, b, "try", "it", "@nope.txt")
	r.sees("There is no such file: @nope.txt.")
	r.sees("✗ nope there is no tool of this name")
	r.sees("✗ bash rm add.sh")
	r.sees("refused by the rule bash rm *")
	r.sees("✗ read")
	r.sees("wrong arguments: filePath: missing")
	r.sees("✗ bash echo begun; sleep 1000  stopped after")
	r.sees("begun")
	r.sees("▸ general touch a file")
	r.sees("Permission needed: bash")
	r.sees("[f]eedback: ")
	r.types("o", "Enter")
	r.sees("and so on")
	r.types("", "C-c")
	r.sees("Stopped.")
	r.says("/exit")
	r.leaves()
	if shown := r.screen(); strings.Contains(shown, "bash_metadata") || strings.Count(shown, "▸ general") != 1 {
		t.Error(shown)
	}
	r = enterRoom(t, b, "--continue", "/resume")
	r.sees("> try it @nope.txt")
	r.sees("and so on")
	r.sees("This broke off (it was stopped) and goes on now.")
	r.sees("I was stopped.")
	r.says("/exit")
	r.leaves()
	r = enterRoom(t, b, "--agent", "title", "hello")
	r.sees(`the agent "title"`)
	r.sees("> ")
	r.types("", "C-c", "C-c")
	if code := r.leaves(); code != "0" {
		t.Errorf("exit code %s", code)
	}
}
