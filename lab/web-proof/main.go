// Command web-proof holds the Markdown that helve makes of web pages against
// that of turndown, the converter that agents commonly use: by structure,
// over all the pages that helve is tested with.
//
// turndown comes from npm into the folder that is named; nothing else leaves
// the machine.
package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"path/filepath"

	"github.com/helve-dev/helve/lab/internal/proof"
)

const usage = `usage: web-proof structure DIR [--pages FOLDER] [--recordings FILE]
DIR is where turndown is, or is put by npm`

// settings are what the command line says.
type settings struct {
	dir        string
	pages      string
	recordings string
	out        io.Writer
}

func main() {
	proof.Main("web-proof", run)
}

func run(ctx context.Context, args []string, out, log io.Writer) error {
	if len(args) < 2 {
		return errors.New(usage)
	}
	s := &settings{out: out}
	flags := flag.NewFlagSet("web-proof "+args[0], flag.ContinueOnError)
	flags.SetOutput(log)
	flags.StringVar(&s.pages, "pages", filepath.FromSlash("internal/page/testdata/pages"), "folder of the archives of pages")
	flags.StringVar(&s.recordings, "recordings", "", "file of webfetch recordings to compare as well")
	if err := flags.Parse(args[2:]); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return errors.New(usage)
	}
	var err error
	if s.dir, err = filepath.Abs(args[1]); err != nil {
		return err
	}
	if args[0] == "structure" {
		return structure(ctx, s)
	}
	return errors.New(usage)
}
