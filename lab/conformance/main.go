// Command conformance holds helve's MCP server and client against programs that
// other people wrote: the public conformance suite, the inspector, and agents
// and servers that people use.
//
// The programs come from npm, in the folders that .ci/mcp-tools prints. Nothing leaves the machine: models are played by this program, and what
// else the programs want from the network goes to a proxy that is not there.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

const usage = "usage: conformance suites|servers|clients|all --tools FOLDER[:FOLDER] [--helve PATH] [--out FILE]"

//go:embed preface.md
var preface string

func main() { proof.Main("conformance", run) }

func run(ctx context.Context, args []string, out, log io.Writer) error {
	switch {
	case len(args) == 0:
		return errors.New(usage)
	case args[0] == "client" && len(args) == 2: // what the suite for clients starts
		return suiteClient(ctx, args[1], log)
	}
	flags := flag.NewFlagSet("conformance "+args[0], flag.ContinueOnError)
	flags.SetOutput(log)
	tools := flags.String("tools", "", "folders of the programs from npm, as .ci/mcp-tools prints them")
	helve := flags.String("helve", filepath.Join("bin", "helve"), "the helve command")
	file := flags.String("out", "", "file for the report; none prints it")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	p, err := openPrograms(*tools)
	if err != nil || flags.NArg() > 0 {
		return errors.Join(err, errors.New(usage))
	}
	if *helve, err = filepath.Abs(*helve); err != nil {
		return err
	}
	servers := func(ctx context.Context) section { return suite(ctx, p, "server") }
	asClient := func(ctx context.Context) section { return suite(ctx, p, "client") }
	real := func(ctx context.Context) section { return tryServers(ctx, p) }
	inspector := func(ctx context.Context) section { return inspect(ctx, p, *helve) }
	agents := func(ctx context.Context) section { return driveAgents(ctx, p, *helve) }
	parts, ok := map[string][]func(context.Context) section{
		"suites": {servers, asClient, inspector}, "servers": {real}, "clients": {agents}, "all": {servers, asClient, real, inspector, agents},
	}[args[0]]
	if !ok {
		return errors.New(usage)
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	var text strings.Builder
	if args[0] == "all" {
		text.WriteString(preface)
	}
	var bad []string
	for _, part := range parts {
		began := time.Now()
		s := part(ctx)
		fmt.Fprintf(log, "%s: %s\n", s.title, time.Since(began).Round(time.Second))
		fmt.Fprintf(&text, "## %s\n\n%s\n", s.title, s.text)
		bad = append(bad, s.bad...)
	}
	if len(bad) > 0 {
		fmt.Fprintf(&text, "## Not as it should be\n\n- %s\n", strings.Join(bad, "\n- "))
		err = fmt.Errorf("%d things are not as they should be", len(bad))
	}
	if *file != "" {
		return errors.Join(os.WriteFile(*file, []byte(text.String()), 0o644), err)
	}
	_, print := io.WriteString(out, text.String())
	return errors.Join(print, err)
}

// A section is one part of the report: a text for people, and what of it is not
// as it should be.
type section struct {
	title string
	text  string
	bad   []string
}

// head begins a table, row adds to it.
func (s *section) head(cells ...string) {
	s.row(cells...)
	s.text += strings.Repeat("|---", len(cells)) + "|\n"
}

func (s *section) row(cells ...string) {
	for _, c := range cells {
		s.text += "| " + strings.NewReplacer("|", "\\|", "<", "&lt;").Replace(clip(c, 300)) + " "
	}
	s.text += "|\n"
}

func (s *section) fail(format string, args ...any) {
	s.bad = append(s.bad, clip(s.title+": "+fmt.Sprintf(format, args...), 500))
}

// broken is the section of a part that could not be run.
func (s section) broken(err error) section {
	s.text = "It could not be run: " + clip(err.Error(), 300) + "\n"
	s.fail("%v", err)
	return s
}

func tick(ok bool) string {
	if ok {
		return "yes"
	}
	return "**no**"
}

// clip puts a text on one line, and shortens it.
func clip(text string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > n {
		return strings.ToValidUTF8(text[:n], "") + "…"
	}
	return text
}
