package helve_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"helve"
	"helve/tool"
)

const scatterProject = `
-- .opencode/tool/scatter.ts --
import { writeFileSync } from "node:fs"
export default { description: "Writes three files", args: {}, async execute() {
  for (const n of ["1", "2", "3"]) writeFileSync(n + ".txt", n)
  return "done"
} }
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
	call("event_1", "write", `{"filePath": "log.txt", "content": "heard"}`)

	undo := func(req helve.UndoRequest, sets int, left ...string) {
		t.Helper()
		report, err := rt.Undo(t.Context(), req)
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
	undo(helve.UndoRequest{Last: 1}, 3, "log.txt", "mine.txt")
	undo(helve.UndoRequest{Last: 1}, 1, "log.txt")
	if _, err := rt.Undo(t.Context(), helve.UndoRequest{Last: 1}); !errors.Is(err, helve.ErrNothingToUndo) {
		t.Errorf("got %v", err)
	}
	undo(helve.UndoRequest{Call: "event_1"}, 1)
	all, err := rt.Changes(t.Context(), helve.ChangeQuery{Call: "event_1"})
	if err != nil || len(all) != 1 || all[0].UndoneBy == "" {
		t.Errorf("it is listed as %+v, %v", all, err)
	}
}
