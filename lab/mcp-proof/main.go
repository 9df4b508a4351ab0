// Command mcp-proof shows that helve's MCP server and client work with the
// programs that other people wrote: the public conformance suite, the
// inspector, agents that people use, and servers that people use.
//
// The programs come from npm, in the folders that .ci/mcp-tools prints. Nothing
// of a proof leaves the machine: models are played by this program, and what
// else the programs want from the network goes to a proxy that is not there.
package main

import (
	"context"
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

const usage = `usage: mcp-proof PART --tools FOLDER[:FOLDER] [--helve PATH] [--out FILE]
parts: conformance, servers, inspector, clients, all`

// settings are what the command line says.
type settings struct {
	tools string
	helve string
	out   string
	only  string
	box   *toolbox
	log   io.Writer
}

func main() {
	proof.Main("mcp-proof", run)
}

func run(ctx context.Context, args []string, out, log io.Writer) error {
	switch {
	case len(args) == 0:
		return errors.New(usage)
	case args[0] == "serve-fixtures": // what the suite for servers talks to
		return serveFixtures(ctx, out, ".")
	case args[0] == "conformance-client" && len(args) == 2: // what the suite for clients starts
		return conformanceClient(ctx, args[1], log)
	}
	s, err := parse(args[0], args[1:], log)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	var all []section
	for _, part := range strings.Fields(partsOf(args[0])) {
		began := time.Now()
		made := prove(ctx, s, part)
		all = append(all, made...)
		fmt.Fprintf(log, "%s: %s\n", part, time.Since(began).Round(time.Second))
	}
	if len(all) == 0 {
		return errors.New(usage)
	}
	var text strings.Builder
	if args[0] == "all" {
		text.WriteString(preface)
	}
	verdict := report(&text, all)
	if s.out == "" {
		_, err := io.WriteString(out, text.String())
		return errors.Join(err, verdict)
	}
	return errors.Join(os.WriteFile(s.out, []byte(text.String()), 0o644), verdict)
}

// partsOf names the parts that a word stands for.
func partsOf(word string) string {
	switch word {
	case "all":
		return "server-suite client-suite servers inspector clients"
	case "conformance":
		return "server-suite client-suite inspector"
	case "servers", "inspector", "clients":
		return word
	}
	return ""
}

func parse(name string, args []string, log io.Writer) (*settings, error) {
	s := &settings{log: log}
	flags := flag.NewFlagSet("mcp-proof "+name, flag.ContinueOnError)
	flags.SetOutput(log)
	flags.StringVar(&s.tools, "tools", "", "folders of the programs from npm, as .ci/mcp-tools prints them")
	flags.StringVar(&s.helve, "helve", filepath.Join("bin", "helve"), "the helve command")
	flags.StringVar(&s.out, "out", "", "file for the report; none prints it")
	flags.StringVar(&s.only, "only", "", "only clients with this in their name")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, errors.New(usage)
	}
	var err error
	if s.box, err = openToolbox(s.tools); err != nil {
		return nil, err
	}
	s.helve, err = filepath.Abs(s.helve)
	return s, err
}

// prove runs one part.
func prove(ctx context.Context, s *settings, part string) []section {
	one := func(title string, made section, err error) []section {
		if err != nil {
			return []section{failedSection(title, err)}
		}
		return []section{made}
	}
	suite := "Conformance suite " + s.box.version("@modelcontextprotocol/conformance")
	switch part {
	case "server-suite":
		all, err := conformServer(ctx, s.box, s.log)
		return one(suite+", servers", conformSection(suite+", servers", all), err)
	case "client-suite":
		all, err := conformClient(ctx, s.box, s.log)
		return one(suite+", clients", conformSection(suite+", clients", all), err)
	case "servers":
		rows, err := proveServers(ctx, s.box, s.log)
		made := serverSection(rows)
		made.text = fmt.Sprintf("server-everything %s and server-filesystem %s, through helve's client.\n\n%s",
			s.box.version("@modelcontextprotocol/server-everything"), s.box.version("@modelcontextprotocol/server-filesystem"), made.text)
		return one("Real servers", made, err)
	case "inspector":
		made, err := inspect(ctx, s.box, s.helve)
		return one("Inspector", made, err)
	case "clients":
		var rows []clientRow
		for _, c := range clients() {
			if s.only != "" && !strings.Contains(strings.ToLower(c.name), strings.ToLower(s.only)) {
				continue
			}
			fmt.Fprintf(s.log, "clients: %s\n", c.name)
			row := driveClient(ctx, s.box, c, []string{s.helve, "mcp"})
			fmt.Fprintf(s.log, "clients: %s took %s\n", c.name, row.Took.Round(100*time.Millisecond))
			rows = append(rows, row)
		}
		return []section{clientSection(rows)}
	}
	return nil
}
