package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/helve-dev/helve/internal/bundle"
	"github.com/helve-dev/helve/internal/plugins"
	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/internal/script"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// cases writes an example and reads its test.
func cases(t *testing.T, dir, lang string) []toolCase {
	t.Helper()
	if _, err := writeScaffold(dir, "say-it", lang); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "tool", caseFileName("say-it")))
	if err != nil {
		t.Fatal(err)
	}
	all, err := readToolCases(data)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// open allows everything.
type open struct{ titles []string }

func (*open) Ask(context.Context, *tool.Call, ...permission.Request) error { return nil }
func (*open) Allowed(*tool.Call, permission.Request) bool                  { return true }
func (*open) Filter(*tool.Call, string) (func(...string) bool, string)     { return nil, "" }
func (o *open) Progress(_ *tool.Call, title string, _ map[string]any) {
	o.titles = append(o.titles, title)
}

// The examples that are programs pass the tests they come with.
func TestProgramsWork(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are those of a Unix shell")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for lang, needs := range map[string]string{"sh": "sh", "py": "python3", "go": "go"} {
		t.Run(lang, func(t *testing.T) {
			if _, err := exec.LookPath(needs); err != nil {
				t.Skip(err)
			}
			dir, data := t.TempDir(), t.TempDir()
			all := cases(t, dir, lang)
			for _, line := range scaffoldNext(dir, "say-it", lang) {
				if strings.HasPrefix(line, "helve ") {
					continue // it is what this test does
				}
				if out, err := exec.CommandContext(t.Context(), "sh", "-c", line).CombinedOutput(); err != nil {
					t.Fatalf("%s: %v: %s", line, err, out)
				}
			}
			shell, err := process.NewExecutor(process.ExecutorOptions{
				Dir: dir, Helper: self, Jobs: process.JobsOptions{Dir: filepath.Join(data, "jobs")},
				Spill: func() (io.WriteCloser, string, error) { return nil, "", os.ErrInvalid },
			})
			if err != nil {
				t.Fatal(err)
			}
			defer shell.Close()
			programs := plugins.NewPrograms(plugins.Services{Shell: shell, Dir: dir, Worktree: dir})
			files := plugins.ProgramFiles(dir)
			if len(files) != 1 {
				t.Fatalf("the programs are %q", files)
			}
			defs, err := programs.Describe(t.Context(), files[0])
			if err != nil || len(defs) != 1 || defs[0].ID != "say-it" {
				t.Fatalf("%+v, %v", defs, err)
			}
			made, err := programs.Tool(defs[0])
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range all {
				host := &open{}
				output, err := callProgram(t.Context(), made, &tool.Call{ID: "call_1", Tool: "say-it", Input: c.Args, Dir: dir, Host: host})
				if err := c.Check(output, err); err != nil {
					t.Errorf("%s: %v", c, err)
				}
				if c.Error == nil && len(host.titles) == 0 {
					t.Errorf("%s: it told nothing on its way", c)
				}
			}
		})
	}
}

func callProgram(ctx context.Context, made tool.Tool, c *tool.Call) (string, error) {
	if _, err := made.Check(c, false); err != nil {
		return "", err
	}
	res, err := made.Run(ctx, c)
	if err != nil {
		return "", err
	}
	return res.Output, nil
}

// little answers what an engine cannot do without.
type little struct{ titles int }

func (l *little) Now(_ context.Context, op string, arg script.Data) (script.Data, error) {
	switch op {
	case "module.source":
		var a struct{ Name string }
		if err := json.Unmarshal(arg.JSON, &a); err != nil {
			return script.Data{}, err
		}
		source, ok := script.Source(a.Name)
		if !ok {
			return script.Data{}, errors.New("no module " + a.Name)
		}
		return script.Data{Raw: []byte(source)}, nil
	case "meta":
		l.titles++
		return script.Data{}, nil
	case "log":
		return script.Data{}, nil
	}
	return script.Data{}, errors.New("no such operation: " + op)
}

func (l *little) Later(ctx context.Context, op string, arg script.Data) (script.Data, error) {
	return l.Now(ctx, op, arg)
}

// The example that is a script passes the test it comes with.
func TestScriptWorks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	all := cases(t, dir, "ts")
	virtual := script.Modules()
	maps.Copy(virtual, script.PluginModules())
	const file = "tool/say-it.ts"
	built, err := bundle.Build(t.Context(), bundle.Options{Root: dir, Files: []string{file}, Virtual: virtual})
	if err != nil {
		t.Fatal(err)
	}
	host := &little{}
	engine, err := script.NewVM(script.VMOptions{Host: host})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	for _, s := range []struct{ name, source string }{
		{"prelude.js", script.Prelude()}, {"driver.js", script.DriverPart()}, {script.ProgramName, script.Program(built.Code)},
	} {
		if err := engine.Load(t.Context(), s.name, script.Code{Source: s.source}); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
	}
	driver := script.NewDriver(engine, built.Position)
	files, err := driver.Load(t.Context())
	if err != nil || len(files) != 1 || files[0].Error != nil || len(files[0].Tools) != 1 || files[0].Tools[0].ID != "say-it" {
		t.Fatalf("%+v, %v", files, err)
	}
	for _, c := range all {
		done, err := driver.Execute(t.Context(), script.ToolCall{File: file, Export: "default", Args: c.Args})
		if err := c.Check(done.Output, err); err != nil {
			t.Errorf("%s: %v", c, err)
		}
	}
	if host.titles == 0 {
		t.Error("it told nothing on its way")
	}
}
