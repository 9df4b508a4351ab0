package builtin_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// An approval of every edit does not cover what a rule has to name.
func TestAlwaysDoesNotCoverWhatHasToBeNamed(t *testing.T) {
	dir := t.TempDir()
	rules := permission.Ruleset{{Permission: "*", Pattern: "*", Action: permission.Allow}, {Permission: "edit", Pattern: "*", Action: permission.Ask}}
	rt, err := helve.Open(helve.Options{Dir: dir, Worktree: dir, Agents: []agent.Spec{{Name: "a", Policy: permission.Policy{Rules: rules}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	asked := make(chan string, 10)
	go func() {
		for e := range rt.Events(ctx, 0) {
			if q, ok := e.Properties.(event.PermissionAsked); ok {
				asked <- q.Patterns[0]
				_ = rt.Requests().Reply(q.ID, permission.Reply{Verdict: permission.ReplyAlways})
			}
		}
	}()
	for _, name := range []string{"a.txt", "b.txt", ".git/hooks/x", ".git/hooks/y", ".git/hooks/x"} {
		if _, err := rt.Call(t.Context(), tool.Call{Session: "s", Tool: "write", Input: asInput(t, map[string]any{"filePath": name, "content": name})}); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(filepath.Join(dir, name))
	}
	stop()
	var got []string
	for len(asked) > 0 {
		got = append(got, <-asked)
	}
	if want := "a.txt .git/hooks/x .git/hooks/y"; strings.Join(got, " ") != want {
		t.Errorf("asked about %q, want %q", got, want)
	}
}

// What was read as GBK is GBK for every later edit of the session, also when
// hardly any of it is left to tell it by.
func TestEncodingIsRemembered(t *testing.T) {
	d := newDesk(t, permission.Allow)
	d.put("f.txt", "\xd5\xe2\xca\xc7\xd2\xbb\xb8\xf6\xb2\xe2\xca\xd4\xce\xc4\xbc\xfe\nx = 1\n") // a sentence, and code
	d.mustRead("f.txt")
	for _, e := range [][2]string{{"\u8fd9\u662f\u4e00\u4e2a\u6d4b\u8bd5\u6587\u4ef6", "\u5143"}, {"x = 1", "x = \u5143"}} {
		if _, err := d.call("edit", map[string]any{"filePath": "f.txt", "oldString": e[0], "newString": e[1]}); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(filepath.Join(d.dir, "f.txt"))
	if err != nil || string(data) != "\xd4\xaa\nx = \xd4\xaa\n" {
		t.Errorf("got %q (%v)", data, err)
	}
}

// A formatter that fails leaves what was written.
func TestFormatterThatFailsChangesNothing(t *testing.T) {
	dir := t.TempDir()
	allow := permission.Ruleset{{Permission: "*", Pattern: "*", Action: permission.Allow}}
	rt, err := helve.Open(helve.Options{Dir: dir, Worktree: dir, Agents: []agent.Spec{{Name: "a", Policy: permission.Policy{Rules: allow}}},
		Formatters: &helve.Formatters{Own: []helve.Formatter{{Name: "bad", Command: []string{"sh", "-c", `: > "$0"; exit 1`, "$FILE"}, Extensions: []string{".txt"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	res, err := rt.Call(t.Context(), tool.Call{Tool: "write", Input: asInput(t, map[string]any{"filePath": "a.txt", "content": "kept"})})
	if err != nil || !strings.Contains(res.Output, "The formatter bad failed") {
		t.Fatalf("%v %v", res, err)
	}
	if data, _ := os.ReadFile(filepath.Join(dir, "a.txt")); string(data) != "kept" {
		t.Errorf("the file holds %q", data)
	}
}

// A file that is moved onto another is told as it becomes and as it was there,
// also when a formatter changes it on the way.
func TestFormattedMoveTellsWhatItReplaced(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the formatter is a shell script")
	}
	script := filepath.Join(t.TempDir(), "up.sh")
	write(t, script, []byte(`tr a-z A-Z < "$1" > "$1.tmp" && cat "$1.tmp" > "$1" && rm "$1.tmp"`))
	d := newDesk(t, permission.Allow, func(o *helve.Options) {
		o.Formatters = &helve.Formatters{Own: []helve.Formatter{{Name: "up", Command: []string{"sh", script, "$FILE"}, Extensions: []string{".txt"}}}}
	})
	d.put("from.txt", "one\n")
	d.put("to.txt", "replaced\n")
	d.mustRead("from.txt")
	d.mustRead("to.txt")
	res, err := d.patch("*** Begin Patch\n*** Update File: from.txt\n*** Move to: to.txt\n@@\n-one\n+two\n*** End Patch")
	if err != nil || d.get("to.txt") != "TWO\n" {
		t.Fatalf("the file is %q: %v", d.get("to.txt"), err)
	}
	told, _ := res.Metadata["diff"].(string)
	for _, want := range []string{"-one", "-replaced", "+TWO"} {
		if !strings.Contains(told, want) {
			t.Errorf("there is no %s in:\n%s", want, told)
		}
	}
}

// An edit in a batch waits for the calls before it.
func TestBatchReadsBeforeItEdits(t *testing.T) {
	dir := t.TempDir()
	rt, err := helve.Open(helve.Options{Dir: dir, Worktree: dir, Flags: map[string]bool{"batch": true}})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	for range 20 {
		write(t, filepath.Join(dir, "a.txt"), []byte("one"))
		res, err := rt.Call(t.Context(), tool.Call{Tool: "batch", Input: []byte(`{"tool_calls":[
			{"tool":"read","parameters":{"filePath":"a.txt"}},
			{"tool":"edit","parameters":{"filePath":"a.txt","oldString":"one","newString":"two"}}]}`)})
		if err != nil || res.Metadata["successful"] != 2 {
			t.Fatalf("%v %v", res, err)
		}
	}
}

// Edits can not blow a file up past what can be edited, nor eat the memory.
func TestEditsAreBounded(t *testing.T) {
	d := newDesk(t, permission.Allow)
	d.put("f.txt", strings.Repeat("a", 40))
	d.mustRead("f.txt")
	edits := []any{}
	for range 31 {
		edits = append(edits, map[string]any{"oldString": "a", "newString": "aa", "replaceAll": true})
	}
	_, err := d.call("multiedit", map[string]any{"filePath": "f.txt", "edits": edits})
	if codeOf(err) != "too-large" {
		t.Errorf("got %v", err)
	}
}

// What may not be read is not shown by a patch either, under any name of it.
func TestPatchShowsNothingThatMayNotBeRead(t *testing.T) {
	dir := t.TempDir()
	rules := permission.Ruleset{{Permission: "*", Pattern: "*", Action: permission.Allow}, {Permission: "read", Pattern: "*.env", Action: permission.Deny}}
	rt, err := helve.Open(helve.Options{Dir: dir, Worktree: dir, Agents: []agent.Spec{{Name: "a", Policy: permission.Policy{Rules: rules}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	for _, patch := range []string{
		"*** Delete File: x.env", "*** Add File: x.env\n+new", "*** Update File: x.env\n@@\n+more",
		"*** Update File: x.env\n@@\n-KEY=verysecre\n+x", "*** Update File: hard.txt\n@@\n-KEY=verysecre\n+x",
		"*** Update File: x.env\n*** Move to: y.txt", "*** Update File: hard.txt\n*** Move to: y.txt", "*** Delete File: hard.txt",
		"*** Update File: hard.txt\n@@\n+more", "*** Add File: hard.txt\n+new", "*** Update File: a.txt\n*** Move to: x.env",
	} {
		write(t, filepath.Join(dir, "x.env"), []byte("KEY=verysecret\n"))
		write(t, filepath.Join(dir, "a.txt"), []byte("a\n"))
		_ = os.Remove(filepath.Join(dir, "hard.txt"))
		if err := os.Link(filepath.Join(dir, "x.env"), filepath.Join(dir, "hard.txt")); err != nil {
			t.Skip("no hard links here")
		}
		res, err := rt.Call(t.Context(), tool.Call{Tool: "apply_patch", Input: asInput(t, map[string]any{"patchText": "*** Begin Patch\n" + patch + "\n*** End Patch"})})
		said := encoded(res)
		if e, ok := err.(*tool.Error); ok {
			said = e.Error() + e.Hint
		}
		if strings.Contains(said, "verysecret") {
			t.Errorf("%s shows it: %s", patch, said)
		}
		if data, err := os.ReadFile(filepath.Join(dir, "y.txt")); err == nil && strings.Contains(string(data), "verysecret") {
			t.Errorf("%s made it readable", patch)
		}
	}
}

// A person who is asked about a change is not shown what a rule denies to
// read: the request goes through programs that the rule keeps it from.
func TestRequestsShowNothingThatMayNotBeRead(t *testing.T) {
	const secret = "verysecret"
	run := func(t *testing.T, action permission.Action, pattern, change string) (asked, result string) {
		dir := t.TempDir()
		rules := permission.Ruleset{
			{Permission: "*", Pattern: "*", Action: permission.Allow}, {Permission: "edit", Pattern: "*", Action: permission.Ask},
			{Permission: "read", Pattern: pattern, Action: action},
		}
		rt, err := helve.Open(helve.Options{Dir: dir, Worktree: dir, Agents: []agent.Spec{{Name: "a", Policy: permission.Policy{Rules: rules}}}})
		if err != nil {
			t.Fatal(err)
		}
		defer rt.Close()
		write(t, filepath.Join(dir, "x.env"), []byte("KEY="+secret+"\nlast\n"))
		write(t, filepath.Join(dir, "a.txt"), []byte(secret))
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		requests := make(chan string, 10)
		go func() {
			for e := range rt.Events(ctx, 0) {
				if q, ok := e.Properties.(event.PermissionAsked); ok {
					requests <- encoded(q.Request)
					_ = rt.Requests().Reply(q.ID, permission.Reply{Verdict: permission.ReplyOnce})
				}
			}
		}()
		res, err := rt.Call(t.Context(), tool.Call{Tool: "apply_patch", Input: asInput(t, map[string]any{"patchText": patchOf(change)})})
		if err != nil {
			t.Fatal(err)
		}
		return <-requests, encoded(res)
	}
	for _, change := range []string{
		"*** Delete File: x.env", "*** Update File: x.env\n@@\n last\n+more", "*** Add File: x.env\n+more", "*** Update File: a.txt\n*** Move to: x.env\n@@\n-" + secret + "\n+more",
	} {
		asked, result := run(t, permission.Deny, "*.env", change)
		if strings.Contains(asked, "KEY="+secret) || strings.Contains(result, "KEY="+secret) {
			t.Errorf("%s shows it: %s %s", change, asked, result)
		}
		for _, want := range []string{"a rule denies reading this file", "x.env", `"deletions":`, `"type":`} {
			if !strings.Contains(asked, want) {
				t.Errorf("%s: %q is missing in %s", change, want, asked)
			}
		}
		if strings.Contains(change, "+more") && !strings.Contains(asked, `\n+more\n`) {
			t.Errorf("%s does not show what is put in: %s", change, asked)
		}
	}
	for _, pattern := range []string{"*.key", "*"} { // another file, and everything
		asked, _ := run(t, permission.Ask, pattern, "*** Delete File: x.env")
		if !strings.Contains(asked, "KEY="+secret) {
			t.Errorf("read %s is asked about, and the change is not shown: %s", pattern, asked)
		}
	}
	if asked, _ := run(t, permission.Deny, "*.env", "*** Add File: new.env\n+more"); !strings.Contains(asked, "+more") || strings.Contains(asked, "denies") {
		t.Errorf("what is new is not shown: %s", asked)
	}
}
