package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/terminal"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/tool"
)

// attach finds the files that words with an @ name in a prompt. Text files stay names, which the
// model can read; images and PDFs are attached.
func (c *chat) attach(ctx context.Context, line string) (said string, files []tool.Attachment, err error) {
	var missing []string
	for _, word := range strings.Fields(line) {
		name, ok := strings.CutPrefix(word, "@")
		name = strings.TrimRight(name, ".,;:!?)")
		if !ok || name == "" {
			continue
		}
		path := c.app.absIn(name)
		info, err := os.Stat(path)
		if err != nil {
			missing = append(missing, "@"+name)
			continue // it may be a name of something else
		}
		line = strings.Replace(line, "@"+name, name, 1)
		if !info.Mode().IsRegular() {
			continue
		}
		if _, kind, err := readAttached(path); err != nil || kind == "" {
			continue // the model reads what it needs of it
		}
		_, got, err := c.app.enclose(ctx, "", []string{path})
		if err != nil {
			return "", nil, err
		}
		files = append(files, got...)
	}
	if n := len(missing); n > 0 {
		if n > mostMissing {
			missing = append(missing[:mostMissing], fmt.Sprintf("and %d more", n-mostMissing))
		}
		c.printLine(c.con.style.Yellow(terminal.Safe("There is no such file: " + strings.Join(missing, ", ") + ". The words are sent as they are.")))
	}
	return line, files, nil
}

// mostMissing is how many names without a file are reported.
const mostMissing = 3

// completions completes the word at the end of a line: a command, its argument, or a file.
func (c *chat) completions(before string) (start int, options []string) {
	start = strings.LastIndexAny(before, " \n\t") + 1
	word := before[start:]
	switch {
	case strings.HasPrefix(word, "@"):
		options = c.completeFile(word[1:])
		for i := range options {
			options[i] = "@" + options[i]
		}
	case start == 0 && strings.HasPrefix(word, "/"):
		for _, d := range deeds() {
			options = append(options, d.name+" ")
		}
	case strings.HasPrefix(before, "/agent "):
		for _, a := range c.agents {
			if a.Mode != "subagent" && !a.Hidden {
				options = append(options, a.Name)
			}
		}
	case strings.HasPrefix(before, "!"):
		options = c.completeFile(strings.TrimPrefix(word, "!"))
	}
	options = slices.DeleteFunc(options, func(o string) bool { return !strings.HasPrefix(o, word) })
	return start, options
}

// mostOffered bounds the files that are offered.
const mostOffered = 200

// completeFile offers the files of a folder.
func (c *chat) completeFile(word string) (out []string) {
	dir, base := filepath.Split(word)
	entries, err := os.ReadDir(c.app.absIn(dir))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		name := e.Name()
		switch {
		case !strings.HasPrefix(name, base), name == ".git", strings.HasPrefix(name, ".") && base == "":
			continue
		case text.HasHidden(name) || strings.ContainsAny(name, " \t\n"):
			continue // it cannot be written as a word
		case e.IsDir():
			name += "/"
		}
		if out = append(out, dir+name); len(out) == mostOffered {
			break
		}
	}
	return out
}
