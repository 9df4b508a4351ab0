package script_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/helve-dev/helve/internal/bundle"
	"github.com/helve-dev/helve/internal/script"
)

// TestDriver loads and calls the tools and plugins of the config folders in testdata/driver. Lines
// of an archive's comment:
//
//	bun                                  Bun gives the same answers, but for the places of errors
//	load                                 what the tool files define
//	execute FILE EXPORT[/TOOL] ARGS      calls a tool
//	cancel FILE EXPORT ARGS              calls a tool and ends the call when it tells metadata
//	plugins                              starts the plugins
//	hook NAME INPUT | OUTPUT             runs hooks
//	event EVENT                          tells of an event
//	dispose
//
// The want section is what came of each, and what the host was asked meanwhile.
// HELVE_DRIVER_UPDATE=1 writes it anew.
func TestDriver(t *testing.T) {
	archives, err := filepath.Glob("testdata/driver/*.txtar")
	if err != nil || len(archives) < 25 {
		t.Fatal(len(archives), err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			if raceDetector && !slices.Contains([]string{"context-abort.txtar", "plugin-client.txtar", "plugin-event.txtar"}, filepath.Base(name)) {
				t.Skip("nothing in it is at once, and the engine is a hundred times slower under the race detector")
			}
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			root, want := plantConfig(t, a)
			steps, _ := readSteps(t, string(a.Comment))
			h := &recorder{}
			d := newDriver(t, root, h)
			var b strings.Builder
			for _, s := range steps {
				answer := s.run(t.Context(), d, h)
				answer.Requests = h.take()
				b.WriteString("> " + s.line + "\n" + answer.String())
			}
			got := strings.ReplaceAll(b.String(), root, "$ROOT")
			if os.Getenv("HELVE_DRIVER_UPDATE") != "" {
				a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return f.Name == "want" })
				a.Files = append(a.Files, txtar.File{Name: "want", Data: []byte(got)})
				if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// plantConfig writes the files of an archive into a folder and gives what is wanted of them.
func plantConfig(t testing.TB, a *txtar.Archive) (root, want string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Files {
		if f.Name == "want" {
			want = string(f.Data)
			continue
		}
		path := filepath.Join(root, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root, want
}

// configFiles are the tool and plugin files of a folder.
func configFiles(t testing.TB, root string) []string {
	t.Helper()
	var all []string
	for _, dir := range []string{"plugin", "plugins", "tool", "tools"} {
		for _, ext := range []string{"js", "ts"} {
			found, err := filepath.Glob(filepath.Join(root, dir, "*."+ext))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range found {
				all = append(all, dir+"/"+filepath.Base(f))
			}
		}
	}
	slices.Sort(all)
	return all
}

// newDriver makes an engine with the program of a folder in it, and with no globals.
func newDriver(t testing.TB, root string, host script.Host) *script.Driver {
	t.Helper()
	prelude, err := os.ReadFile("js/prelude.js")
	if err != nil {
		t.Fatal(err)
	}
	return driverAfter(t, root, host, string(prelude)+script.Parts("helve:host"))
}

func driverAfter(t testing.TB, root string, host script.Host, prelude string) *script.Driver {
	t.Helper()
	virtual := script.Modules()
	for name, source := range script.PluginModules() {
		virtual[name] = source
	}
	r, err := bundle.Build(t.Context(), bundle.Options{Root: root, Files: configFiles(t, root), Virtual: virtual})
	if err != nil {
		t.Fatal(err)
	}
	v, err := script.NewVM(script.VMOptions{Host: host, Turn: time.Minute}) // however slow the machine is
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, s := range []struct{ name, source string }{
		{"prelude.js", prelude}, {"driver.js", script.DriverPart()}, {script.ProgramName, script.Program(r.Code)},
	} {
		if err := v.Load(t.Context(), s.name, script.Code{Source: s.source}); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
	}
	return script.NewDriver(v, r.Position)
}

// A recorder is a host that keeps what it was asked.
type recorder struct {
	mu    sync.Mutex
	asked []string
	onAsk func(op string)
}

func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	asked := r.asked
	r.asked = nil
	return asked
}

func (r *recorder) Now(_ context.Context, op string, arg script.Data) (script.Data, error) {
	if op == "module.source" {
		var a struct{ Name string }
		if err := json.Unmarshal(arg.JSON, &a); err != nil {
			return script.Data{}, err
		}
		text, ok := script.Source(a.Name)
		if !ok {
			return script.Data{}, errors.New("no module " + a.Name)
		}
		return script.Data{Raw: []byte(text)}, nil
	}
	r.mu.Lock()
	r.asked = append(r.asked, op+" "+string(arg.JSON))
	onAsk := r.onAsk
	r.mu.Unlock()
	if onAsk != nil {
		onAsk(op)
	}
	return r.answer(op, arg.JSON)
}

func (r *recorder) Later(ctx context.Context, op string, arg script.Data) (script.Data, error) {
	return r.Now(ctx, op, arg)
}

func (r *recorder) answer(op string, arg []byte) (script.Data, error) {
	switch op {
	case "log", "meta":
		return script.Data{}, nil
	case "ask":
		if strings.Contains(string(arg), "secret") {
			return script.Data{}, &script.Failure{Name: "PermissionRejectedError", Message: "The user rejected permission"}
		}
		return script.Data{}, nil
	case "client":
		var a struct{ Method string }
		if err := json.Unmarshal(arg, &a); err != nil {
			return script.Data{}, err
		}
		switch a.Method {
		case "session.missing":
			return script.Data{JSON: []byte(`{"error":{"name":"NotFoundError","data":{"message":"no such session"}},"response":{"status":404,"ok":false}}`)}, nil
		case "no.such.method":
			return script.Data{}, errors.New("unknown method no.such.method")
		}
		text, err := json.Marshal(map[string]any{"data": a})
		return script.Data{JSON: []byte(strings.ReplaceAll(string(text), `"Method"`, `"method"`))}, err
	}
	return script.Data{}, errors.New("no such operation: " + op)
}

// A step is a line of a comment.
type step struct {
	line, action string
	call         script.ToolCall
	name         string
	input        json.RawMessage
	output       json.RawMessage
}

func readSteps(t testing.TB, comment string) (steps []step, bun bool) {
	t.Helper()
	for line := range strings.Lines(comment) {
		s := step{line: strings.TrimSpace(line)}
		var rest string
		s.action, rest, _ = strings.Cut(s.line, " ")
		switch s.action {
		case "bun":
			bun = true
			continue
		case "load", "plugins", "dispose":
		case "execute", "cancel":
			file, rest, _ := strings.Cut(rest, " ")
			export, args, _ := strings.Cut(rest, " ")
			export, tool, _ := strings.Cut(export, "/")
			s.call = script.ToolCall{File: file, Export: export, Tool: tool, Args: json.RawMessage(args), Context: script.ToolContext{
				SessionID: "ses_1", MessageID: "msg_1", Agent: "build", CallID: "call_1", Directory: "/dir", Worktree: "/tree",
			}}
		case "hook":
			name, rest, _ := strings.Cut(rest, " ")
			input, output, _ := strings.Cut(rest, " | ")
			s.name, s.input, s.output = name, json.RawMessage(input), json.RawMessage(output)
		case "event":
			s.input = json.RawMessage(rest)
		default: // prose
			continue
		}
		steps = append(steps, s)
	}
	if len(steps) == 0 {
		t.Fatal("an archive without steps")
	}
	return steps, bun
}

func (s step) run(ctx context.Context, d *script.Driver, h *recorder) (a answer) {
	var err error
	switch s.action {
	case "load":
		a.Files, err = d.Load(ctx)
	case "execute":
		a.Outcome = &script.Outcome{}
		*a.Outcome, err = d.Execute(ctx, s.call)
		a.Output = a.Outcome.Output
	case "cancel":
		ctx, cancel := context.WithCancel(ctx)
		h.onAsk = func(op string) {
			if op == "meta" {
				cancel()
			}
		}
		_, err = d.Execute(ctx, s.call)
		h.onAsk = nil
		cancel()
	case "plugins":
		a.Plugins, err = d.Plugins(ctx, script.PluginInput{Project: json.RawMessage(`{"id":"p"}`), Directory: "/dir", Worktree: "/tree"})
	case "hook":
		a.Hook = &script.HookResult{}
		*a.Hook, err = d.Hook(ctx, s.name, s.input, s.output)
		a.Output = string(a.Hook.Output)
	case "event":
		if err = d.Event(ctx, s.input); err == nil {
			_, err = d.Load(ctx, "nothing") // the engine gets to it when it is done with the event
		}
	case "dispose":
		a.Hook = &script.HookResult{}
		a.Hook.Runs, err = d.Dispose(ctx)
	}
	if fault, ok := errors.AsType[*script.Fault](err); ok {
		a.Fault = fault
	} else if err != nil {
		a.Fault = &script.Fault{Message: err.Error()}
	}
	return a
}

// An answer is what came of a step.
type answer struct {
	Files    []script.ToolFile
	Plugins  []script.PluginFile
	Outcome  *script.Outcome
	Hook     *script.HookResult
	Output   string
	Fault    *script.Fault
	Requests []string
}

func (a answer) String() string {
	var b strings.Builder
	for _, r := range a.Requests {
		fmt.Fprintf(&b, "asked %s\n", r)
	}
	for _, f := range a.Files {
		fmt.Fprintf(&b, "%s: exports %s\n", f.File, strings.Join(f.Exports, ", "))
		writeFault(&b, "  ", f.Error)
		writeTools(&b, f.Tools)
	}
	for _, f := range a.Plugins {
		fmt.Fprintf(&b, "%s:\n", f.File)
		for _, p := range f.Plugins {
			fmt.Fprintf(&b, "  %s has %s\n", p.Export, strings.Join(p.Hooks, ", "))
			if len(p.Unknown) > 0 {
				fmt.Fprintf(&b, "  and unknown %s\n", strings.Join(p.Unknown, ", "))
			}
			writeTools(&b, p.Tools)
		}
		writeFault(&b, "  ", f.Error)
	}
	if a.Hook != nil {
		for _, r := range a.Hook.Runs {
			fmt.Fprintf(&b, "ran %s %s\n", r.File, r.Export)
			writeFault(&b, "  ", r.Error)
		}
	}
	writeFault(&b, "", a.Fault)
	if a.Fault != nil {
		return b.String()
	}
	if a.Outcome != nil {
		for _, field := range []struct {
			name string
			text string
		}{{"title", a.Outcome.Title}, {"metadata", string(a.Outcome.Metadata)}, {"attachments", string(a.Outcome.Attachments)}} {
			if field.text != "" {
				fmt.Fprintf(&b, "%s %s\n", field.name, field.text)
			}
		}
	}
	if a.Outcome != nil || a.Hook != nil {
		fmt.Fprintf(&b, "= %s\n", strings.ReplaceAll(a.Output, "\n", "\n  "))
	}
	return b.String()
}

func writeTools(b *strings.Builder, tools []script.Tool) {
	for _, t := range tools {
		fmt.Fprintf(b, "  %s: %q", t.ID, t.Description)
		if t.Raw {
			b.WriteString(" raw")
		}
		fmt.Fprintf(b, " %s\n", t.Schema)
		writeFault(b, "    ", t.Error)
	}
}

func writeFault(b *strings.Builder, indent string, f *script.Fault) {
	if f == nil {
		return
	}
	fmt.Fprintf(b, "%sthrows %s", indent, strings.ReplaceAll(f.Error(), "\n", "\n"+indent+"  "))
	if f.Code != "" {
		fmt.Fprintf(b, " [%s]", f.Code)
	}
	b.WriteString("\n")
	if f.File != "" {
		fmt.Fprintf(b, "%s  at %s:%d:%d\n", indent, f.File, f.Line, f.Column)
	}
	if more := f.More(); more != "" {
		fmt.Fprintf(b, "%s  and says %q\n", indent, more)
	}
}
