// Package lsptest is a small language server for tests. It is a real one, a
// process that talks over its standard input and output, and it can be told to
// misbehave in most of the ways that servers do.
//
// The test binary is its own server: its TestMain calls [Main] first, and
// [Command] is what starts it.
package lsptest

import (
	"fmt"
	"os"
)

// word is the first argument of a test binary that is to be the server.
const word = "fake-language-server"

// Main returns at once, unless the program was started by a [Command]: then it
// is the server, and ends the program.
func Main() {
	if len(os.Args) < 2 || os.Args[1] != word {
		return
	}
	o, err := parseFlags(os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(serve(o, os.Stdin, os.Stdout))
}

// Command returns the command line that starts this program as the server. The
// flags are those of the list in flags.go.
func Command(flags ...string) []string {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return append([]string{self, word}, flags...)
}
