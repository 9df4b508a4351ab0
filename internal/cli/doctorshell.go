package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/helve-dev/helve"
)

// examineShell reports how commands run, and tests the sandbox.
func (a *app) examineShell(ctx context.Context) []finding {
	s, err := a.load()
	if err != nil {
		return nil // the config was examined before
	}
	opt := a.options(s)
	opt.Unrecorded = true
	rt, err := helve.Open(opt)
	if err != nil {
		return []finding{{"fail", "shell", err.Error()}}
	}
	defer rt.Close()
	shell := rt.ShellInfo()
	if shell.Path == "" {
		return []finding{{"fail", "shell", shell.Why}}
	}
	all := []finding{{"ok", "shell", fmt.Sprintf("%s, %s; a command may take %s unless it says", shell.Path, shell.Why, shell.Timeout.Round(time.Millisecond))}}
	return append(all, examineWall(ctx, rt, opt.Shell)...)
}

func examineWall(ctx context.Context, rt *helve.Runtime, shell helve.Shell) []finding {
	state, err := rt.ProveWall(ctx)
	if state.Level == "off" && err == nil {
		says := `off: only the rules limit what commands do; {"wall": {"level": "write"}} in your helve.json switches it on`
		if missing := rt.ShellInfo().NoWall; missing != "" {
			says = "off, and there could be none: " + missing
		}
		return []finding{{"note", "wall", says}}
	}
	bad, what, broken := "fail", "; commands do not run", "; commands do not run"
	if shell.Wall.Optional {
		bad, what, broken = "warn", "; commands run without it", "; commands run behind the wall all the same, without this"
	}
	if err != nil {
		return []finding{{bad, "wall", state.Level + ": " + err.Error() + what}}
	}
	held := 0
	var out []finding
	for _, p := range state.Promises {
		switch p.Verdict {
		case "held":
			held++
		case "not held":
			out = append(out, finding{bad, "wall", fmt.Sprintf("%s: does not hold: %s (measured: %s)%s", state.Level, p.Text, p.Measured, broken)})
		}
	}
	if state.Reason != "" {
		out = append(out, finding{bad, "wall", state.Reason})
	}
	return append([]finding{{"ok", "wall", fmt.Sprintf("%s: %d promises tried and held", state.Level, held)}}, out...)
}
