// Command stand-in runs a command with a model that plays a script: to see an
// agent at work, or to test one, with no key and no network.
//
//	go run ./examples/stand-in helve run "Mend the typo in notes.txt."
//
// The model is no model. It says what the script says, whatever it is asked;
// the agent, its tools and its rules are real.
package main

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/helve-dev/helve/internal/modeltest"
)

//go:embed script.json
var script []byte

func main() {
	modeltest.Child() // the server is this program once more, and never comes back from here
	file := flag.String("script", "", "a script of your own; see script.json")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: stand-in [-script FILE] COMMAND [ARGUMENT …]")
		os.Exit(64)
	}
	// The command is to end in its own way. Ctrl-C comes to it from the terminal,
	// so it is passed over here; SIGTERM is handed on.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	code, err := run(ctx, *file, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "stand-in:", err)
		os.Exit(70)
	}
	os.Exit(code)
}

func run(ctx context.Context, file string, command []string) (int, error) {
	url, end, err := serve(file)
	if err != nil {
		return 0, err
	}
	defer end()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	// For helve a provider of one's own, as it could stand in a config file; for
	// other programs the two protocols' own variables.
	cmd.Env = append(os.Environ(), "HELVE_MODEL=stand-in/script",
		"ANTHROPIC_BASE_URL="+url, "ANTHROPIC_API_KEY=none", "OPENAI_BASE_URL="+url, "OPENAI_API_KEY=none",
		`HELVE_CONFIG_CONTENT={"provider":{"stand-in":{"options":{"baseURL":"`+url+`","apiKey":"none"},"models":{"script":{}}}}}`)
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// serve starts the model, and returns where it is and what ends it.
func serve(file string) (url string, end func(), err error) {
	dir, err := os.MkdirTemp("", "stand-in")
	if err != nil {
		return "", nil, err
	}
	clean := func() { os.RemoveAll(dir) }
	if file == "" {
		file = filepath.Join(dir, "script.json")
		if err := os.WriteFile(file, script, 0o600); err != nil {
			clean()
			return "", nil, err
		}
	}
	argv := modeltest.Command(file)
	server := exec.Command(argv[0], argv[1:]...)
	server.Stderr = os.Stderr
	out, err := server.StdoutPipe()
	if err != nil {
		clean()
		return "", nil, err
	}
	if err := server.Start(); err != nil {
		clean()
		return "", nil, err
	}
	end = func() {
		_ = server.Process.Kill()
		_ = server.Wait()
		clean()
	}
	line, err := bufio.NewReader(out).ReadString('\n') // it says where it is
	if err != nil {
		end()
		return "", nil, errors.New("the model did not start")
	}
	return strings.TrimSpace(line), end, nil
}
