package modeltest

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// word is the first argument of a test binary that is to be the server.
const word = "scripted-model-server"

// Child returns at once, unless the program was started by a [Command]: then
// it is the server, and ends the program. A TestMain calls it first.
func Child() {
	if len(os.Args) > 1 && os.Args[1] == word {
		os.Exit(Main(os.Args[2:]))
	}
}

// Command is the command line that starts this program as a server; the
// arguments are those of [Main].
func Command(args ...string) []string {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return append([]string{self, word}, args...)
}

// Main is the server as a program: [-listen address] [-requests file] script.
// The script is a file such as {"scripts":[{"match":"…","replies":[…]}]}. The
// URL is printed when requests can come; each is noted as a line of JSON in the
// file for them. It goes on until it is interrupted.
func Main(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, args, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("model server", flag.ContinueOnError)
	address := flags.String("listen", "127.0.0.1:0", "where to listen")
	requests := flags.String("requests", "", "a file for what was asked")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return fmt.Errorf("give one script, a file of JSON, not %d", flags.NArg())
	}
	data, err := os.ReadFile(flags.Arg(0))
	if err != nil {
		return err
	}
	var file struct {
		Scripts []struct {
			Match   string  `json:"match"`
			Replies []Reply `json:"replies"`
		} `json:"scripts"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return fmt.Errorf("the script %s can not be read: %w", flags.Arg(0), err)
	}
	note, err := noting(*requests)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", *address)
	if err != nil {
		return err
	}
	s := serve(l)
	defer s.Close()
	s.mu.Lock()
	s.note = note
	s.mu.Unlock()
	for _, sc := range file.Scripts {
		s.Script(sc.Match, sc.Replies...)
	}
	if _, err := fmt.Fprintln(out, s.URL()); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// noting returns what writes requests to a file.
func noting(name string) (func(Request), error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	return func(r Request) {
		mu.Lock()
		defer mu.Unlock()
		line := object{"path": r.Path, "model": r.Model, "system": r.System, "messages": r.Messages, "tools": r.Tools}
		_, _ = f.Write(append(encode(line), '\n'))
	}, nil
}
