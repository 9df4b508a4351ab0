package builtin_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"helve"
	"helve/permission"
	"helve/tool"
)

// An approval of every edit does not cover what a rule has to name.
func TestAlwaysDoesNotCoverWhatHasToBeNamed(t *testing.T) {
	dir := t.TempDir()
	rules := permission.Ruleset{{Permission: "*", Pattern: "*", Action: permission.Allow}, {Permission: "edit", Pattern: "*", Action: permission.Ask}}
	rt, err := helve.New(helve.Options{Dir: dir, Worktree: dir, Agents: []helve.Agent{{Name: "a", Policy: permission.Policy{Rules: rules}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	asked := make(chan string, 10)
	go func() {
		for e := range rt.Events(ctx, 0) {
			if q, ok := e.Properties.(helve.PermissionAsked); ok {
				asked <- q.Patterns[0]
				_ = rt.Reply(q.ID, permission.Reply{Verdict: permission.ReplyAlways})
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
	rt, err := helve.New(helve.Options{Dir: dir, Worktree: dir, Agents: []helve.Agent{{Name: "a", Policy: permission.Policy{Rules: allow}}},
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

// An edit in a batch waits for the calls before it.
func TestBatchReadsBeforeItEdits(t *testing.T) {
	dir := t.TempDir()
	rt, err := helve.New(helve.Options{Dir: dir, Worktree: dir, Flags: map[string]bool{"batch": true}})
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
