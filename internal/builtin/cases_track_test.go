package builtin_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// TestCasesTracking are FT01 to FT08 and FT15, and EB19 and EB20, as a caller
// sees them: what a session has read decides what it may change.
func TestCasesTracking(t *testing.T) {
	const unread, stale = "You must read file", "modified since it was last read"
	t.Run("FT01 FT04", func(t *testing.T) {
		d := newDesk(t, permission.Allow)
		d.put("f.txt", "a")
		_, err := d.edit("f.txt", "a", "b")
		wantFail(t, err, "not-read", unread)
		d.mustRead("f.txt")
		if _, err := d.edit("f.txt", "a", "b"); err != nil || d.get("f.txt") != "b" {
			t.Errorf("after a read: %q: %v", d.get("f.txt"), err)
		}
	})
	t.Run("FT02", func(t *testing.T) {
		d := newDesk(t, permission.Allow)
		d.put("f.txt", "a")
		d.mustRead("f.txt")
		args := map[string]any{"filePath": "f.txt", "content": "b"}
		_, err := d.callIn("other", "write", args)
		wantFail(t, err, "not-read", unread)
		if _, err := d.call("write", args); err != nil {
			t.Error(err)
		}
	})
	t.Run("FT03 FT07", caseLastRead)
	for _, id := range []string{"FT05", "EB19"} {
		t.Run(id, func(t *testing.T) {
			d := newDesk(t, permission.Allow)
			d.put("f.txt", "a")
			_, err := d.edit("f.txt", "a", "b")
			wantFail(t, err, "not-read", unread)
			_, err = d.write("f.txt", "b")
			wantFail(t, err, "not-read", unread)
			_, err = d.call("multiedit", map[string]any{"filePath": "f.txt", "edits": []any{map[string]any{"oldString": "a", "newString": "b"}}})
			wantFail(t, err, "not-read", unread)
			d.wantFiles(map[string]string{"f.txt": "a"})
		})
	}
	for _, id := range []string{"FT06", "EB20"} {
		t.Run(id, func(t *testing.T) {
			d := newDesk(t, permission.Allow)
			d.put("f.txt", "a")
			d.mustRead("f.txt")
			d.put("f.txt", "a, and more")
			_, err := d.edit("f.txt", "a", "b")
			wantFail(t, err, "changed-on-disk", stale)
			_, err = d.write("f.txt", "b")
			wantFail(t, err, "changed-on-disk", stale)
			d.wantFiles(map[string]string{"f.txt": "a, and more"})
		})
	}
	t.Run("FT08", func(t *testing.T) {
		d := newDesk(t, permission.Allow, func(o *helve.Options) { o.Unread = true })
		d.put("f.txt", "a")
		if _, err := d.edit("f.txt", "a", "b"); err != nil || d.get("f.txt") != "b" {
			t.Errorf("unchecked: %q: %v", d.get("f.txt"), err)
		}
	})
	t.Run("FT15", caseContentsDecide)
}

// caseLastRead is FT03 and FT07: the error tells both times, and a second
// read counts anew.
func caseLastRead(t *testing.T) {
	d := newDesk(t, permission.Allow)
	times := regexp.MustCompile(`\nLast modification: (\S+)\nLast read: (\S+)\n`)
	var last time.Time
	for i := range 2 {
		d.put("f.txt", "a")
		d.mustRead("f.txt")
		path := d.put("f.txt", "b")
		when := time.Now().Add(time.Hour).Truncate(time.Millisecond)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
		_, err := d.edit("f.txt", "b", "c")
		wantFail(t, err, "changed-on-disk", "Last read: ")
		found := times.FindStringSubmatch(err.Error())
		if found == nil {
			t.Fatalf("no times in %q", err)
		}
		if modified, err := time.Parse(time.RFC3339Nano, found[1]); err != nil || !modified.Equal(when) {
			t.Errorf("modified at %v: %v", modified, err)
		}
		read, err := time.Parse(time.RFC3339Nano, found[2])
		if err != nil || read.Before(last) || read.IsZero() {
			t.Errorf("read %d was at %v, the one before at %v: %v", i+1, read, last, err)
		}
		last = read
	}
}

// caseContentsDecide is FT15. differs: write.contents_decide. A new time is
// no change, and a change with the old time is one.
func caseContentsDecide(t *testing.T) {
	d := newDesk(t, permission.Allow)
	path := d.put("f.txt", "a")
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	d.mustRead("f.txt")
	aged(t, path, -3600)
	if _, err := d.edit("f.txt", "a", "b"); err != nil {
		t.Errorf("only the time is another: %v", err)
	}
	d.put("f.txt", "c")
	if err := os.Chtimes(path, before.ModTime(), before.ModTime()); err != nil {
		t.Fatal(err)
	}
	_, err = d.edit("f.txt", "c", "d")
	wantFail(t, err, "changed-on-disk", "modified since it was last read")
}

// A queue is two edits that are made at one time, and a person who answers
// when it is told to. All of it runs in a bubble, so that what waits is known
// to wait.
type queue struct {
	*desk
	ends map[string]chan error
}

func newQueue(t *testing.T) *queue {
	t.Helper()
	dir := t.TempDir()
	user := permission.Ruleset{
		{Permission: "*", Pattern: "*", Action: permission.Allow},
		{Permission: "edit", Pattern: "*", Action: permission.Ask},
	}
	rt, err := helve.Open(helve.Options{Dir: dir, Worktree: dir, Agents: agent.Specs(agent.SpecOptions{Worktree: dir, User: user})})
	if err != nil {
		t.Fatal(err)
	}
	return &queue{desk: &desk{t: t, rt: rt, dir: dir}, ends: map[string]chan error{}}
}

// start begins an edit and returns when it can not go on by itself.
func (q *queue) start(session, file, old, new string) {
	q.t.Helper()
	end := make(chan error, 1)
	q.ends[new] = end
	input := asInput(q.t, map[string]any{"filePath": file, "oldString": old, "newString": new})
	go func() {
		_, err := q.rt.Call(q.t.Context(), tool.Call{ID: new, Session: session, Tool: "edit", Input: input})
		end <- err
	}()
	synctest.Wait()
}

// waiting returns the edits that wait for the person, in order.
func (q *queue) waiting() (calls []string) {
	for _, req := range q.rt.Requests().Pending() {
		calls = append(calls, req.Call.Call)
	}
	return calls
}

// answer answers the edit that waits longest, and returns how it ended.
func (q *queue) answer(v permission.Verdict) error {
	q.t.Helper()
	req := q.rt.Requests().Pending()[0]
	if err := q.rt.Requests().Reply(req.ID, permission.Reply{Verdict: v}); err != nil {
		q.t.Fatal(err)
	}
	err := <-q.ends[req.Call.Call]
	synctest.Wait()
	return err
}

func (q *queue) wantWaiting(want ...string) {
	q.t.Helper()
	if got := q.waiting(); encoded(got) != encoded(want) {
		q.t.Fatalf("%v wait for the person, and not %v", got, want)
	}
}

// TestCasesTogether are FT09 to FT13, EB21 and EB22. FT14, a lock within a
// lock on the same file, does not apply: a call claims all of its files once,
// each only once, and no tool has a way to claim another.
func TestCasesTogether(t *testing.T) {
	bubble := func(f func(q *queue)) func(*testing.T) {
		return func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue(t)
				defer q.rt.Close()
				q.put("f.txt", "top = 0\nbottom = 0\n")
				q.put("g.txt", "top = 0\n")
				for _, session := range []string{"s", "other"} {
					for _, file := range []string{"f.txt", "g.txt"} {
						if _, err := q.callIn(session, "read", map[string]any{"filePath": file}); err != nil {
							t.Fatal(err)
						}
					}
				}
				f(q)
			})
		}
	}
	t.Run("FT09 FT10 FT11 EB22", bubble(func(q *queue) {
		q.start("s", "f.txt", "top = 0", "top = 1")
		q.start("s", "f.txt", "bottom = 0", "bottom = 2")
		q.wantWaiting("top = 1") // the other waits for the file, not for the person
		if err := q.answer(permission.ReplyOnce); err != nil {
			q.t.Error(err)
		}
		q.wantWaiting("bottom = 2")
		if err := q.answer(permission.ReplyOnce); err != nil {
			q.t.Error(err)
		}
		if got := q.get("f.txt"); got != "top = 1\nbottom = 2\n" {
			q.t.Errorf("the file is %q", got)
		}
	}))
	t.Run("EB22 of two sessions", bubble(func(q *queue) {
		q.start("s", "f.txt", "top = 0", "top = 1")
		q.start("other", "f.txt", "bottom = 0", "bottom = 2")
		if err := q.answer(permission.ReplyOnce); err != nil {
			q.t.Error(err)
		}
		q.wantWaiting() // it has not read what is there now
		wantFail(q.t, <-q.ends["bottom = 2"], "changed-on-disk", "modified since it was last read")
	}))
	t.Run("FT12", bubble(func(q *queue) {
		q.start("s", "f.txt", "top = 0", "top = 1")
		q.start("s", "g.txt", "top = 0", "top = 2")
		q.wantWaiting("top = 1", "top = 2")
		for range 2 {
			if err := q.answer(permission.ReplyOnce); err != nil {
				q.t.Error(err)
			}
		}
	}))
	t.Run("FT13", bubble(func(q *queue) {
		q.start("s", "f.txt", "top = 0", "top = 1")
		q.start("other", "f.txt", "bottom = 0", "bottom = 2")
		if err := q.answer(permission.ReplyReject); tool.KindOf(err) != tool.Rejected {
			q.t.Errorf("the first ended with %v", err)
		}
		q.wantWaiting("bottom = 2")
		if err := q.answer(permission.ReplyOnce); err != nil {
			q.t.Error(err)
		}
		if got := q.get("f.txt"); got != "top = 0\nbottom = 2\n" {
			q.t.Errorf("the file is %q", got)
		}
	}))
	t.Run("EB21", caseAtOnce)
}

// caseAtOnce is EB21, with eight edits of the same text: the first to come
// wins, and the others are told.
func caseAtOnce(t *testing.T) {
	d := newDesk(t, permission.Allow)
	d.put("f.txt", "value: zero\n")
	d.mustRead("f.txt")
	names := []string{"one", "two", "three", "four", "five", "six", "seven", "eight"}
	ends := make(chan error, len(names))
	for _, name := range names {
		input := asInput(t, map[string]any{"filePath": "f.txt", "oldString": "zero", "newString": name})
		go func() {
			_, err := d.rt.Call(t.Context(), tool.Call{Session: "s", Tool: "edit", Input: input})
			ends <- err
		}()
	}
	won := 0
	for range names {
		err := <-ends
		if err == nil {
			won++
			continue
		}
		wantFail(t, err, "context-not-found", "Could not find oldString")
	}
	got := d.get("f.txt")
	whole := false
	for _, name := range names {
		whole = whole || got == "value: "+name+"\n"
	}
	if won != 1 || !whole {
		t.Errorf("%d edits were made, and the file is %q", won, got)
	}
	if left, err := filepath.Glob(filepath.Join(d.dir, "*")); err != nil || len(left) != 1 {
		t.Errorf("in the folder are %v: %v", left, err)
	}
}
