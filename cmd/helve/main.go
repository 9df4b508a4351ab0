// Command helve runs the tools of a coding agent. See 'helve --help'.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/cli"
)

func main() {
	helve.RunHelper()
	shut()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	dir, _ := os.Getwd()         // where it is not known, relative paths fail by themselves
	self, _ := os.Executable()   // where it is not known, commands run without a keeper
	os.Exit(cli.Main(ctx, cli.Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Dir: dir, Self: self,
	}))
}
