// Command docs-gen writes docs/commands.md and the manual pages from the
// command itself, and the manual page of the config file from docs/config.md.
//
//	bin/lab/docs-gen man DIR
//	bin/lab/docs-gen commands
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/helve-dev/helve/internal/cli"
	"github.com/helve-dev/helve/lab/internal/proof"
)

func main() { proof.Main("docs-gen", run) }

func run(_ context.Context, args []string, _, _ io.Writer) error {
	usage := errors.New("usage: docs-gen man [--root DIR] [--date YYYY-MM-DD] [--release NAME] DIR | docs-gen commands [--root DIR]")
	if len(args) == 0 {
		return usage
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	root := flags.String("root", ".", "the folder of the module")
	date := flags.String("date", time.Now().UTC().Format(time.DateOnly), "the date in the manual pages")
	release := flags.String("release", "helve", "what the manual pages say they belong to")
	if err := flags.Parse(args[1:]); err != nil {
		return errors.Join(err, usage)
	}
	switch {
	case args[0] == "man" && flags.NArg() == 1:
		return manual(*root, flags.Arg(0), *date, *release)
	case args[0] == "commands" && flags.NArg() == 0:
		page, err := reference(tree())
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(*root, "docs", "commands.md"), page, 0o644)
	}
	return usage
}

// tree is the command with all below it. What its texts indent is code in
// Markdown.
func tree() *cobra.Command {
	root := cli.Tree()
	root.InitDefaultCompletionCmd()
	walk(root, func(c *cobra.Command) {
		c.DisableAutoGenTag = true
		c.Long = strings.ReplaceAll(c.Long, "\n  ", "\n      ")
	})
	return root
}

// walk goes to every command that people are shown, those above first.
func walk(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, sub := range c.Commands() {
		if !sub.Hidden && sub.Deprecated == "" && sub.Name() != "help" {
			walk(sub, visit)
		}
	}
}

// manual writes the manual pages into dir.
func manual(root, dir, date, release string) error {
	at, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := doc.GenManTree(tree(), &doc.GenManHeader{Section: "1", Date: &at, Source: release, Manual: "helve manual"}, dir); err != nil {
		return err
	}
	config, err := os.ReadFile(filepath.Join(root, "docs", "config.md"))
	if err != nil {
		return err
	}
	title := fmt.Sprintf("%% \"HELVE.JSON\" \"5\" \"%s\" \"%s\" \"helve manual\"\n# NAME\nhelve.json - settings of helve\n\n", at.Format("Jan 2006"), release)
	return os.WriteFile(filepath.Join(dir, "helve.json.5"), md2man.Render([]byte(title+withoutTables(string(config)))), 0o644)
}

// withoutTables makes the rows of tables points of lists: as tables they are
// wider than a terminal.
func withoutTables(markdown string) string {
	markdown = regexp.MustCompile(`(?m)^\|.*\|\n\|[-|]+\|$`).ReplaceAllString(markdown, "")
	return regexp.MustCompile(`(?m)^\| (.*?[^\\]) \| (.*) \|$`).ReplaceAllString(markdown, "* $1: $2")
}

// reference is docs/commands.md: the page of every command, one below the
// other. Only the commands are headings, so that a search finds them.
func reference(root *cobra.Command) ([]byte, error) {
	var page bytes.Buffer
	page.WriteString("# Commands\n\nEvery command with its flags, as `--help` shows it too. Those of `helve` hold for all commands. `make commands` writes this page, and `make man` manual pages of the same.\n")
	link := func(file string) string {
		return "#" + strings.ReplaceAll(strings.TrimSuffix(file, ".md"), "_", "-")
	}
	var err error
	walk(root, func(c *cobra.Command) {
		page.WriteString("\n")
		err = errors.Join(err, doc.GenMarkdownCustom(c, &page, link))
	})
	tidy := strings.NewReplacer("\t - ", ": ", "\n\n\n", "\n\n", "### Synopsis\n\n", "", "### Examples", "**Examples**", "### Options", "**Options**", "### SEE ALSO", "**See also**")
	inherited := regexp.MustCompile("### Options inherited from parent commands\n\n```[^`]*```\n\n")
	return []byte(tidy.Replace(inherited.ReplaceAllString(page.String(), ""))), err
}
