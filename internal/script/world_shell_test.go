//go:build unix

package script_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"github.com/helve-dev/helve/internal/script"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// runShell is proc.shell: a script of Bun.$, with what differs between Bun's shell and others done
// Bun's way.
func runShell(ctx context.Context, arg script.Data) (script.Data, error) {
	var a struct {
		Script, Cwd string
		Env         map[string]string
		Set         map[string]*string
		Quiet       bool
	}
	if err := json.Unmarshal(arg.JSON, &a); err != nil {
		return script.Data{}, err
	}
	if _, err := os.Stat(a.Cwd); err != nil {
		return script.Data{}, &script.Failure{Message: "No such file or directory", Code: "ENOENT", Errno: -2, Syscall: "open", Path: a.Cwd}
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(a.Script), "")
	if err != nil {
		return script.Data{}, &script.Failure{Message: err.Error()}
	}
	unsplit(file)
	var stdout, stderr bytes.Buffer
	runner, err := interp.New(
		interp.Env(expand.ListEnviron(environment(a.Env, a.Set)...)), interp.Dir(a.Cwd),
		interp.StdIO(bytes.NewReader(arg.Raw), &stdout, &stderr),
		interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc { return execute }),
	)
	if err != nil {
		return script.Data{}, err
	}
	code := 0
	if err := runner.Run(ctx, file); err != nil {
		status, ok := errors.AsType[interp.ExitStatus](err)
		if !ok {
			return script.Data{}, err
		}
		code = int(status)
	}
	text, err := json.Marshal(map[string]int{"code": code, "out": stdout.Len()})
	return script.Data{JSON: text, Raw: slices.Concat([]byte{}, stdout.Bytes(), stderr.Bytes())}, err
}

// execute runs one command of a script. Here the guarded world asks for permission.
func execute(ctx context.Context, args []string) error {
	hc := interp.HandlerCtx(ctx)
	path := hc.Env.Get("PATH").String()
	if path == "" {
		path = os.Getenv("PATH")
	}
	if args[0] == "which" && len(args) > 1 {
		return whichAll(hc, args[1:], path)
	}
	found := which(args[0], hc.Dir, path)
	if found == "" {
		fmt.Fprintf(hc.Stderr, "bun: command not found: %s\n", args[0])
		return interp.ExitStatus(1)
	}
	var env []string
	for name, variable := range hc.Env.Each {
		if variable.Exported && variable.IsSet() {
			env = append(env, name+"="+variable.String())
		}
	}
	cmd := exec.CommandContext(ctx, found, args[1:]...)
	cmd.Args[0], cmd.Dir, cmd.Env = args[0], hc.Dir, env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = hc.Stdin, hc.Stdout, hc.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err := cmd.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		code := ended.ExitCode()
		if code < 0 {
			if told, ok := outcome(cmd)["code"].(int); ok {
				code = told
			}
		}
		return interp.ExitStatus(uint8(code))
	}
	return err
}

func whichAll(hc interp.HandlerContext, names []string, path string) error {
	missing := false
	for _, name := range names {
		if found := which(name, hc.Dir, path); found != "" {
			fmt.Fprintln(hc.Stdout, found)
		} else {
			missing = true
			fmt.Fprintf(hc.Stdout, "which: %s not found\n", name)
		}
	}
	if missing {
		return interp.ExitStatus(1)
	}
	return nil
}

// unsplit makes variables outside of quotes one word, or none if they are not set: Bun does not
// split them. "${x[@]}" is that.
func unsplit(file *syntax.File) {
	syntax.Walk(file, func(node syntax.Node) bool {
		word, ok := node.(*syntax.Word)
		if !ok {
			return true
		}
		for i, part := range word.Parts {
			if p, ok := part.(*syntax.ParamExp); ok && p.Short && syntax.ValidName(p.Param.Value) {
				index := &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: "@"}}}
				word.Parts[i] = &syntax.DblQuoted{Parts: []syntax.WordPart{&syntax.ParamExp{Param: p.Param, Index: index}}}
			}
		}
		return true
	})
}
