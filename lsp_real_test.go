package helve_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

// TestRealEdits breaks and mends code by edits, again and again: each result
// tells of the text that this very edit has made.
func TestRealEdits(t *testing.T) {
	eachReal(t, func(p realProject) {
		line := fmt.Sprintf(p.sound, 0)
		for i := 1; i <= 50; i++ {
			shape := p.sound
			if i%2 == 1 {
				shape = p.broken
			}
			next := fmt.Sprintf(shape, i)
			output := p.swap(line, next)
			if what := fmt.Sprintf("edit %d", i); i%2 == 1 {
				p.wrong(what, output, fmt.Sprintf("missing_%d", i))
			} else {
				p.clean(what, output)
			}
			line = next
		}
		// From sound to sound, where some servers say nothing at all.
		for i := 51; i <= 55; i++ {
			next := fmt.Sprintf(p.sound, i)
			p.clean(fmt.Sprintf("edit %d", i), p.swap(line, next))
			line = next
		}
		// From one error to the next, and to the same one elsewhere.
		for i := 56; i <= 60; i++ {
			next := fmt.Sprintf(p.broken, i)
			p.wrong(fmt.Sprintf("edit %d", i), p.swap(line, next), fmt.Sprintf("missing_%d", i))
			line = next
		}
		p.wrong("moved", p.swap(line, "\n\n"+line), "missing_60")
	})
}

// TestRealOtherFile breaks a file by changing what it depends on: by a tool,
// which tells at once what that means for files that are open, and by a
// command that nobody tells about what it does.
func TestRealOtherFile(t *testing.T) {
	for _, way := range []string{"write", "bash"} {
		t.Run(way, func(t *testing.T) {
			eachReal(t, func(p realProject) {
				p.clean("the first edit", p.swap(fmt.Sprintf(p.sound, 0), fmt.Sprintf(p.sound, 1)))
				for i := 2; i <= 12; i++ {
					old, new, check := p.taking, p.wants, p.unfit
					if i%2 == 1 {
						old, new, check = new, old, p.clean
					}
					if way == "bash" {
						p.command(fmt.Sprintf("sed -i 's/%s/%s/' %s", old, new, p.used))
					} else if output := p.rewrite(old, new); p.server != "clangd" || i%2 == 1 { // clangd can not be asked, and may tell later
						check(fmt.Sprintf("write %d", i), output)
					}
					check(fmt.Sprintf("edit %d", i), p.swap(fmt.Sprintf(p.sound, i-1), fmt.Sprintf(p.sound, i)))
				}
			})
		})
	}
}

// unfit demands that a change shows that the user does not fit what it uses.
func (p realProject) unfit(what, output string) {
	p.t.Helper()
	if shown := errorsShown(output); len(shown) != 1 || strings.Contains(output, "pending") {
		p.t.Fatalf("%s: the call of %s does not fit any more, and the result says\n%s", what, p.name, output)
	}
}

// rewrite replaces text in the used file by writing it anew.
func (p realProject) rewrite(old, new string) string {
	p.t.Helper()
	p.call("read", map[string]any{"filePath": p.used})
	text := strings.Replace(p.content(p.used), old, new, 1)
	return p.call("write", map[string]any{"filePath": p.used, "content": text}).Output
}

// TestRealPatch changes both files at once: what fits then is not called broken
// because one came before the other.
func TestRealPatch(t *testing.T) {
	eachReal(t, func(p realProject) {
		p.clean("the first edit", p.swap(fmt.Sprintf(p.sound, 0), fmt.Sprintf(p.sound, 1)))
		p.call("read", map[string]any{"filePath": p.used})
		patched := func(file, old, new string) string {
			for line := range strings.Lines(p.content(file)) {
				if strings.Contains(line, old) {
					return fmt.Sprintf("*** Update File: %s\n@@\n-%s+%s", file, line, strings.Replace(line, old, new, 1))
				}
			}
			p.t.Fatalf("%s does not hold %s", file, old)
			return ""
		}
		patch := func(parts ...string) string {
			text := "*** Begin Patch\n" + strings.Join(parts, "") + "*** End Patch"
			return p.call("apply_patch", map[string]any{"patchText": text}).Output
		}
		for range 5 {
			p.clean("forth", patch(patched(p.used, p.taking, p.wants), patched(p.user, ", 2)", ", 2, 3)")))
			p.unfit("too far", patch(patched(p.user, ", 2, 3)", ", 2, 3, 4)")))
			p.clean("back", patch(patched(p.user, ", 2, 3, 4)", ", 2)"), patched(p.used, p.wants, p.taking)))
		}
	})
}

// TestRealTogether makes many edits at the same time: each result is about its
// own file.
func TestRealTogether(t *testing.T) {
	eachReal(t, func(p realProject) {
		const files = 8
		name := func(i int) string { return fmt.Sprintf("many%d%s", i, filepath.Ext(p.user)) }
		line := func(shape string, i, n int) string {
			return strings.Replace(fmt.Sprintf(shape, n), "value", fmt.Sprint("value", i), 1)
		}
		for i := range files {
			p.clean("a new file", p.call("write", map[string]any{"filePath": name(i), "content": p.heads + line(p.sound, i, i) + "\n"}).Output)
		}
		now, next := p.sound, p.broken
		for round := range 6 {
			outputs := make([]string, files)
			var wg sync.WaitGroup
			for i := range files {
				wg.Go(func() {
					input, err := json.Marshal(map[string]any{"filePath": name(i), "oldString": line(now, i, 10*round+i), "newString": line(next, i, 10*(round+1)+i)})
					if err != nil {
						p.t.Error(err)
						return
					}
					res, err := p.rt.Call(p.t.Context(), tool.Call{Tool: "edit", Session: "s", Input: input})
					if err != nil {
						p.t.Error(err)
						return
					}
					outputs[i] = res.Output
				})
			}
			wg.Wait()
			for i, output := range outputs {
				if what := fmt.Sprintf("round %d, file %d", round, i); next == p.broken {
					p.wrong(what, output, fmt.Sprintf("missing_%d", 10*(round+1)+i))
				} else {
					p.clean(what, output)
				}
			}
			now, next = next, now
		}
	})
}

// TestRealCommandOnOpenFile changes a file by commands that its server has
// open, between edits.
func TestRealCommandOnOpenFile(t *testing.T) {
	eachReal(t, func(p realProject) {
		line := fmt.Sprintf(p.sound, 0)
		p.clean("the first edit", p.swap(line, fmt.Sprintf(p.sound, 1)))
		for i := 1; i <= 5; i++ {
			sound, broken := fmt.Sprintf(p.sound, i), fmt.Sprintf(p.broken, i)
			p.command(fmt.Sprintf("sed -i 's/%s/%s/' %s", sound, broken, p.user))
			if rep, err := p.rt.LSP().Diagnostics(p.t.Context(), p.user); err != nil || len(rep.Pending) > 0 || len(rep.Files) != 1 || len(rep.Files[0].Diagnostics) == 0 {
				p.t.Fatalf("after command %d: %+v, %v", i, rep, err)
			}
			p.call("read", map[string]any{"filePath": p.user})
			p.wrong(fmt.Sprintf("edit %d", i), p.swap(broken, "\n"+broken), fmt.Sprintf("missing_%d", i))
			p.clean(fmt.Sprintf("mending edit %d", i), p.swap("\n"+broken, fmt.Sprintf(p.sound, i+1)))
		}
	})
}

// TestRealNewFile uses a file that comes and goes, by tools and by commands.
func TestRealNewFile(t *testing.T) {
	eachReal(t, func(p realProject) {
		line := fmt.Sprintf(p.sound, 0)
		edit := func(i int) string {
			p.t.Helper()
			next := fmt.Sprintf(p.using, i)
			output := p.swap(line, next)
			line = next
			return output
		}
		missing := func(what, output string) {
			p.t.Helper()
			if len(errorsShown(output)) == 0 || strings.Contains(output, "pending") {
				p.t.Fatalf("%s: %s is not there, and the result says\n%s", what, p.added, output)
			}
		}
		if err := os.WriteFile(filepath.Join(p.dir, "aside"), []byte(p.adds), 0o600); err != nil {
			p.t.Fatal(err)
		}
		for i := 0; i < 15; i += 5 {
			missing("before", edit(i))
			p.clean("the new file", p.call("write", map[string]any{"filePath": p.added, "content": p.adds}).Output)
			p.clean("written", edit(i+1))
			p.command("rm " + p.added)
			missing("removed", edit(i+2))
			p.command("cp aside " + p.added)
			p.clean("copied", edit(i+3))
			p.command("mv " + p.added + " elsewhere")
			missing("moved away", edit(i+4))
		}
	})
}

// TestRealEnd looks for processes of servers after a runtime has closed.
func TestRealEnd(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("there is no /proc here to look for processes in")
	}
	eachReal(t, func(p realProject) {
		p.clean("edit", p.swap(fmt.Sprintf(p.sound, 0), fmt.Sprintf(p.sound, 1)))
		var pids []string
		for _, s := range p.rt.LSP().Status() {
			if s.PID > 0 {
				pids = append(pids, family(fmt.Sprint(s.PID))...)
			}
		}
		if len(pids) == 0 {
			p.t.Fatalf("no server runs: %+v", p.rt.LSP().Status())
		}
		p.t.Logf("%d processes", len(pids))
		if err := p.rt.Close(); err != nil {
			p.t.Fatal(err)
		}
		for _, pid := range pids {
			if state := processState(pid); state != "" && state != "Z" {
				p.t.Errorf("process %s is left, in state %s", pid, state)
			}
		}
	})
}

// TestRealQuestions asks about a name that one file takes from the other.
func TestRealQuestions(t *testing.T) {
	eachReal(t, func(p realProject) {
		p.clean("edit", p.swap(fmt.Sprintf(p.sound, 0), fmt.Sprintf(p.sound, 1)))
		// Of a file that is in no list and not open, clangd knows but the names.
		p.lsp("diagnostics", map[string]any{"filePath": p.used})
		for _, test := range []struct {
			operation string
			more      map[string]any
			wants     []string
		}{
			{"goToDefinition", nil, []string{filepath.Base(p.used)}},
			{"findReferences", nil, []string{filepath.Base(p.used), filepath.Base(p.user)}},
			{"hover", nil, []string{p.name}},
			{"documentSymbol", map[string]any{"filePath": p.used}, []string{p.name}},
			{"workspaceSymbol", map[string]any{"query": p.name}, []string{p.name, filepath.Base(p.used)}},
			{"prepareCallHierarchy", nil, []string{p.name}},
		} {
			output := p.lsp(test.operation, test.more).Output
			for _, want := range test.wants {
				if !strings.Contains(output, want) {
					p.t.Errorf("%s: %q is not in\n%s", test.operation, want, output)
				}
			}
		}
		p.clean("diagnostics", p.lsp("diagnostics", nil).Output)
		p.wrong("edit", p.swap(fmt.Sprintf(p.sound, 1), fmt.Sprintf(p.broken, 2)), "missing_2")
		if output := p.lsp("diagnostics", nil).Output; !strings.Contains(output, "missing_2") {
			p.t.Errorf("diagnostics: got\n%s", output)
		}
	})
}

// TestRealRename renames across files, as one change that is taken back whole.
func TestRealRename(t *testing.T) {
	eachReal(t, func(p realProject) {
		p.clean("edit", p.swap(fmt.Sprintf(p.sound, 0), fmt.Sprintf(p.sound, 1)))
		before := map[string]string{p.user: p.content(p.user), p.used: p.content(p.used)}
		const name = "Total_of_two"
		p.clean("rename", p.lsp("rename", map[string]any{"newName": name}).Output)
		for file, old := range before {
			if text := p.content(file); text != strings.ReplaceAll(old, p.name+"(", name+"(") && text != regexp.MustCompile(`\b`+p.name+`\b`).ReplaceAllString(old, name) {
				p.t.Errorf("%s is now\n%s", file, text)
			}
		}
		report, err := p.rt.Records().Undo(p.t.Context(), record.UndoRequest{Last: 1})
		if err != nil || len(report.Sets) != 1 || report.Conflicts() {
			p.t.Fatalf("undo: %+v, %v", report, err)
		}
		for file, old := range before {
			if text := p.content(file); text != old {
				p.t.Errorf("after the undo %s is\n%s", file, text)
			}
		}
		p.call("read", map[string]any{"filePath": p.user})
		p.clean("an edit after the undo", p.swap(fmt.Sprintf(p.sound, 1), fmt.Sprintf(p.sound, 3)))
	})
}
