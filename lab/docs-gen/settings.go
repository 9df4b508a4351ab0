package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/config"
)

// A configDoc is what docs/config.md says in its tables.
type configDoc struct {
	places    [][]string // where settings are looked for
	keys      [][]string // what they mean
	variables [][]string
}

func readConfigDoc(text string) (doc configDoc, err error) {
	doc.places = tableBelow(text, "Where")
	doc.keys = tableBelow(text, "Keys that matter to tools")
	for _, row := range tableBelow(text, "Other settings") {
		if strings.ContainsAny(row[0], "ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
			doc.variables = append(doc.variables, row)
		}
	}
	if len(doc.places) == 0 || len(doc.keys) == 0 || len(doc.variables) == 0 {
		return doc, errors.New(`docs/config.md has no table below "Where", "Keys that matter to tools" or "Other settings"`)
	}
	return doc, nil
}

// tableBelow gives the rows of the first table below a heading of Markdown,
// with two cells each.
func tableBelow(text, heading string) (rows [][]string) {
	_, text, _ = strings.Cut(text, "\n## "+heading+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	lines := strings.Split(text, "\n")
	first := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "|") })
	if first < 0 {
		return nil
	}
	for _, line := range lines[min(first+2, len(lines)):] { // without the head and the line below it
		if !strings.HasPrefix(line, "|") {
			break
		}
		line = strings.ReplaceAll(strings.Trim(line, "| "), `\|`, "\x00")
		cells := strings.SplitN(line, "|", 2)
		for i, c := range cells {
			cells[i] = strings.TrimSpace(strings.ReplaceAll(c, "\x00", "|"))
		}
		if len(cells) == 2 {
			rows = append(rows, cells)
		}
	}
	return rows
}

// markdown is a piece of Markdown as roff: code and links. A link to a page of
// the documentation names the page.
func markdown(text string) string {
	text = regexp.MustCompile(`\[([^\]]*)\]\(([^)]*)\)`).ReplaceAllStringFunc(text, func(link string) string {
		name, to, _ := strings.Cut(strings.Trim(link, "[)"), "](")
		if strings.HasSuffix(to, ".md") && !strings.Contains(to, "/") {
			return "docs/" + to
		}
		return name
	})
	text = strings.ReplaceAll(text, "**", "")
	var list []span
	for i, part := range strings.Split(text, "`") {
		list = append(list, span{part, i%2 == 1})
	}
	return roffSpans(list)
}

// A key is one that a config file may have.
type key struct {
	path, want string
	own        bool // it has an effect in helve's own files only
}

func allKeys() (list []key) {
	config.Options{}.Keys(func(path, want string, own bool) { list = append(list, key{path, want, own}) })
	return list
}

// configPage is the page of the config file: every key that is checked, with
// what is said of it.
func configPage(doc configDoc, at stamp) (string, error) {
	s := newSheet(settings, 5, at)
	s.name(settings, "settings of helve")
	s.heading("DESCRIPTION")
	s.paragraph(markdown("helve reads `helve.json` and `helve.jsonc`, and `opencode.json`, `opencode.jsonc` and `config.json` of OpenCode, as JSON with comments. `helve config` shows what holds and from where; `helve config check` finds mistakes."))
	s.heading("FILES")
	s.files(doc)
	s.heading("KEYS")
	s.paragraph(markdown("`NAME` stands for any name, and `[]` for the elements of a list. Keys marked with * have an effect in helve's own files only."))
	all := allKeys()
	var quiet []string
	for len(all) > 0 {
		top := all[0].path
		n := slices.IndexFunc(all, func(k key) bool {
			return k.path != top && !strings.HasPrefix(k.path, top+".") && !strings.HasPrefix(k.path, top+"[")
		})
		if n < 0 {
			n = len(all)
		}
		said := doc.about(top)
		switch {
		case len(said) > 0:
			s.setting(all[:n], said)
		case all[0].own:
			return "", fmt.Errorf("docs/config.md does not say what the key %s means", top)
		default:
			quiet = append(quiet, top)
		}
		all = all[n:]
	}
	s.heading("KEYS WITHOUT EFFECT")
	s.paragraph(markdown("Known, so that a file written for OpenCode is read without complaint: `" + strings.Join(quiet, "`, `") + "`."))
	s.heading("EXAMPLES")
	s.lines("{\n  \"permission\": {\n    \"edit\": \"ask\",\n    \"bash\": { \"*\": \"ask\", \"git status *\": \"allow\" },\n    \"read\": { \"*.env\": \"deny\" }\n  },\n  \"default_agent\": \"build\"\n}")
	s.heading("SEE ALSO")
	s.paragraph(pageRef("helve", 1) + ", " + pageRef("helve-config", 1) + ", " + pageRef("helve-trust", 1))
	return s.String(), nil
}

// about gives the rows that a key at the top, or one within it, is named in.
func (d configDoc) about(top string) (rows [][]string) {
	for _, row := range d.keys {
		for i, part := range strings.Split(row[0], "`") {
			if name, _, _ := strings.Cut(part, "."); i%2 == 1 && name == top {
				rows = append(rows, row)
				break
			}
		}
	}
	return rows
}

// setting writes a key with those within it.
func (s *sheet) setting(keys []key, said [][]string) {
	s.part(keys[0].path)
	for _, row := range said {
		s.paragraph(markdown(row[0] + ": " + row[1]))
	}
	for _, k := range keys {
		if len(keys) > 1 && k.path == keys[0].path && k.want == "an object" {
			continue // that is what the others say
		}
		tag := bold(k.path)
		if k.own {
			tag += " *"
		}
		want := k.want
		if want == "" {
			want = "anything"
		}
		s.item(tag, roff(want))
	}
}
