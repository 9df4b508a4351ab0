package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/helve-dev/helve/internal/page"
)

// A sample is a page to convert.
type sample struct {
	name     string // ARCHIVE/NAME
	html     string
	recorded string // what was seen to come out of turndown, "" where nobody looked
}

// samples reads the pages that helve is tested with.
func samples(folder string) ([]sample, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no archives of pages in %s (run this in the root of the module)", folder)
	}
	var all []sample
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			return nil, err
		}
		theme := strings.TrimSuffix(filepath.Base(file), ".txtar")
		for _, f := range archive.Files {
			name, isPage := strings.CutSuffix(f.Name, ".html")
			if !isPage {
				continue
			}
			text, err := expand(string(f.Data))
			if err != nil {
				return nil, fmt.Errorf("reading %s of %s: %w", f.Name, file, err)
			}
			text, _ = page.Decode([]byte(text), "")
			all = append(all, sample{name: theme + "/" + name, html: text})
		}
	}
	return all, nil
}

// expand replaces the marks of a page of an archive: $[repeat N]TEXT$[end] and
// $[hex 0d0a].
func expand(text string) (string, error) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "$[")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		mark, rest, _ := strings.Cut(rest, "]")
		word, value, _ := strings.Cut(mark, " ")
		switch word {
		case "repeat":
			times, err := strconv.Atoi(value)
			unit, after, ended := strings.Cut(rest, "$[end]")
			if err != nil || !ended {
				return "", fmt.Errorf("bad mark $[%s]", mark)
			}
			if unit, err = expand(unit); err != nil {
				return "", err
			}
			out.WriteString(strings.Repeat(unit, times))
			rest = after
		case "hex":
			b, err := hex.DecodeString(value)
			if err != nil {
				return "", fmt.Errorf("bad mark $[%s]: %w", mark, err)
			}
			out.Write(b)
		default:
			return "", fmt.Errorf("bad mark $[%s]", mark)
		}
		text = rest
	}
}

// recordings reads the pages and answers of a file of recorded calls: those
// that asked for Markdown and got HTML.
func recordings(file string) ([]sample, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all []struct {
		Name string
		HTTP []struct {
			Text    json.RawMessage
			Headers map[string]string
		}
		Expected struct {
			Calls []struct {
				Status string
				Output json.RawMessage // text, or what stands for a text that is too long
				Input  struct{ Format string }
			}
		}
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	var found []sample
	for _, r := range all {
		if len(r.HTTP) != 1 || len(r.Expected.Calls) != 1 {
			continue
		}
		call := r.Expected.Calls[0]
		var html, output string
		if call.Status == "completed" && call.Input.Format == "markdown" && strings.HasPrefix(r.HTTP[0].Headers["Content-Type"], "text/html") &&
			json.Unmarshal(call.Output, &output) == nil && json.Unmarshal(r.HTTP[0].Text, &html) == nil {
			found = append(found, sample{name: "recorded/" + r.Name, html: html, recorded: output})
		}
	}
	return found, nil
}
