package helve_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

const scatterProject = `
-- .opencode/tool/scatter.ts --
import { writeFileSync } from "node:fs"
export default { description: "Writes three files", args: {}, async execute() {
  for (const n of ["1", "2", "3"]) writeFileSync(n + ".txt", n)
  return "done"
} }
-- .opencode/plugin/log.ts --
import { writeFileSync } from "node:fs"
export default async () => ({
  event: async ({ event }) => { if (event.type === "session.idle") writeFileSync("log.txt", "heard") },
})
`

// TestUndoTakesBackCalls takes back all that a call has written, and passes
// over what was written while an event was heard.
func TestUndoTakesBackCalls(t *testing.T) {
	rt, dir := owned(t, scatterProject, helve.Options{Unattended: true})
	call := func(id, name, args string) {
		t.Helper()
		if _, err := rt.Call(t.Context(), tool.Call{ID: id, Session: "s", Tool: name, Input: json.RawMessage(args)}); err != nil {
			t.Fatal(err)
		}
	}
	call("call_1", "write", `{"filePath": "mine.txt", "content": "mine"}`)
	call("call_2", "scatter", `{}`)
	rt.Plugins().Notify("session.idle", nil)
	var heard []record.ChangeSet
	until(t, func() bool {
		var err error
		if heard, err = rt.Records().Changes(t.Context(), record.ChangeQuery{File: filepath.Join(dir, "log.txt")}); err != nil {
			t.Fatal(err)
		}
		return len(heard) == 1
	})

	undo := func(req record.UndoRequest, sets int, left ...string) {
		t.Helper()
		report, err := rt.Records().Undo(t.Context(), req)
		if err != nil || len(report.Sets) != sets || report.Conflicts() {
			t.Fatalf("got %+v, %v", report, err)
		}
		have, err := filepath.Glob(filepath.Join(dir, "*.txt"))
		if err != nil || len(have) != len(left) {
			t.Fatalf("%q are left, %v", have, err)
		}
		for _, name := range left {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Error(err)
			}
		}
	}
	undo(record.UndoRequest{Last: 1}, 3, "log.txt", "mine.txt")
	undo(record.UndoRequest{Last: 1}, 1, "log.txt")
	if _, err := rt.Records().Undo(t.Context(), record.UndoRequest{Last: 1}); !errors.Is(err, helve.ErrNothingToUndo) {
		t.Errorf("got %v", err)
	}
	undo(record.UndoRequest{Call: heard[0].Call}, 1)
	all, err := rt.Records().Changes(t.Context(), record.ChangeQuery{Call: heard[0].Call})
	if err != nil || len(all) != 1 || all[0].UndoneBy == "" {
		t.Errorf("it is listed as %+v, %v", all, err)
	}
}

// Nobody's call passes for something that was done while hearing an event: undo
// would pass it over.
func TestCallsDoNotPassForEvents(t *testing.T) {
	rt := open(t, helve.Options{Unattended: true})
	_, err := rt.Call(t.Context(), tool.Call{ID: "event_1", Tool: "write", Input: json.RawMessage(`{"filePath": "a.txt", "content": "a"}`)})
	if e := kindOf(t, err); e.Kind != tool.InvalidInput || e.Code != "reserved-id" {
		t.Errorf("%+v", e)
	}
}

// An undo tells which records it could not read, and reads no older ones than it
// needs.
func TestUndoTellsWhatItCouldNotRead(t *testing.T) {
	data := t.TempDir()
	rt := open(t, helve.Options{Unattended: true, DataDir: data})
	for _, name := range []string{"a", "b", "c"} {
		if _, err := callJSON(t, rt, "write", `{"filePath": "`+name+`.txt", "content": "x"}`); err != nil {
			t.Fatal(err)
		}
	}
	sets, err := rt.Records().Changes(t.Context(), record.ChangeQuery{})
	if err != nil || len(sets) != 3 {
		t.Fatalf("%+v, %v", sets, err)
	}
	found, err := filepath.Glob(filepath.Join(data, "history", "sets", "*"+sets[2].ID+"*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("the record is in %q, %v", found, err)
	}
	if err := os.WriteFile(found[0], []byte(`{"v": 1, cut off`), 0o600); err != nil {
		t.Fatal(err)
	}
	undone := func(last int) *record.UndoReport {
		t.Helper()
		report, err := rt.Records().Undo(t.Context(), record.UndoRequest{Last: last, Preview: true})
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	if r := undone(1); len(r.Sets) != 1 || len(r.Problems) != 0 {
		t.Errorf("of the newest call: %+v", r)
	}
	if r := undone(2); len(r.Sets) != 2 || len(r.Problems) != 1 || !strings.Contains(r.Problems[0], sets[2].ID) {
		t.Errorf("of two calls: %+v", r)
	}
	_, err = rt.Records().Undo(t.Context(), record.UndoRequest{Sets: []string{sets[2].ID}})
	if !errors.Is(err, helve.ErrNothingToUndo) || !strings.Contains(err.Error(), "reading set") {
		t.Errorf("the set itself: %v", err)
	}
	if r, err := rt.Records().Undo(t.Context(), record.UndoRequest{Sets: []string{sets[0].ID}}); err != nil || len(r.Problems) != 0 || r.Files[0].Diff == "" {
		t.Errorf("one that is newer: %+v, %v", r, err)
	}
}
