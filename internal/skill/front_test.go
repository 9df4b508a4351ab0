package skill

import (
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	const noBody = "it has no text below the front matter"
	noAbout := "it has no description: it is not listed, and loaded only by who knows its name"
	for name, c := range map[string]struct {
		file string
		want Document
	}{
		"plain":           {"---\nname: a\ndescription: b\n---\n\n# Text\n\nDo it.\n\n", Document{Name: "a", Description: "b", Body: "# Text\n\nDo it."}},
		"mark and CRLF":   {"\ufeff---\r\nname: a\r\ndescription: b\r\n---\r\nx\r\ny\r\n", Document{Name: "a", Description: "b", Body: "x\r\ny"}},
		"no final line":   {"---\nname: a\ndescription: b\n---\nx", Document{Name: "a", Description: "b", Body: "x"}},
		"nothing below":   {"---\nname: a\ndescription: b\n---", Document{Name: "a", Description: "b", Notes: []string{noBody}}},
		"never closed":    {"---\nname: a\ndescription: b\n", Document{Name: "a", Description: "b", Notes: []string{noBody}}},
		"closed by more":  {"---\nname: a\ndescription: b\n-----\nx", Document{Name: "a", Description: "b", Body: "--\nx"}},
		"language":        {"--- YAML\nname: a\ndescription: b\n---\nx", Document{Name: "a", Description: "b", Body: "x"}},
		"fence in text":   {"---\nname: a\ndescription: b\n---\nx\n---\nname: c\n", Document{Name: "a", Description: "b", Body: "x\n---\nname: c"}},
		"colon":           {"---\nname: a\ndescription: Use for: this, at 12:30:00 PM\n---\nx", Document{Name: "a", Description: "Use for: this, at 12:30:00 PM", Body: "x"}},
		"colons, CRLF":    {"---\r\nname: a\r\ndescription: First: Second: Third\r\n---\r\nx", Document{Name: "a", Description: "First: Second: Third", Body: "x"}},
		"colon in quotes": {"---\nname: a\ndescription: \"one: two\"\nother: a: b\n---\nx", Document{Name: "a", Description: "one: two", Body: "x"}},
		"quotes inside":   {"---\nname: a\ndescription: He said \"hello: world\" and then left: gone\n---\nx", Document{Name: "a", Description: `He said "hello: world" and then left: gone`, Body: "x"}},
		"mended, dashes":  {"---\nname: a\nallowed-tools: Bash(git: *)\ndescription: b: c\n---\nx", Document{Name: "a", Description: "b: c", Body: "x", Notes: []string{"allowed-tools neither grants nor limits anything here: the permission rules do"}}},
		"apostrophe":      {"---\nname: a\ndescription: it's: 'so'\n---\nx", Document{Name: "a", Description: "it's: 'so'", Body: "x"}},
		"address":         {"---\nname: a\ndescription: https://example.com:8080/p?q=v\n---\nx", Document{Name: "a", Description: "https://example.com:8080/p?q=v", Body: "x"}},
		"folded":          {"---\nname: a\ndescription: >\n  one\n  two\n---\nx", Document{Name: "a", Description: "one two", Body: "x"}},
		"lines":           {"---\nname: a\ndescription: |\n  one: 1\n  two\n---\nx", Document{Name: "a", Description: "one: 1\ntwo", Body: "x"}},
		"block and colon": {"---\nname: a: b\ndescription: |\n  one: 1\n---\nx", Document{Name: "a: b", Description: "one: 1", Body: "x"}},
		"comments":        {"---\n# a comment: with a colon\nname: a # behind\ndescription: b\n---\nx", Document{Name: "a", Description: "b", Body: "x"}},
		"nested":          {"---\nname: a\nmetadata:\n  name: other\n  list: [1, 2]\ndescription: b\n---\nx", Document{Name: "a", Description: "b", Body: "x"}},
		"alias":           {"---\ntext: &t b\nname: a\ndescription: *t\n---\nx", Document{Name: "a", Description: "b", Body: "x"}},
		"yes is a word":   {"---\nname: yes\ndescription: b\n---\nx", Document{Name: "yes", Description: "b", Body: "x"}},
		"quoted number":   {"---\nname: '12'\ndescription: b\n---\nx", Document{Name: "12", Description: "b", Body: "x"}},
		"dollars":         {"---\nname: a\ndescription: $& and $': x\n---\nx", Document{Name: "a", Description: "$& and $': x", Body: "x"}},
		"no description":  {"---\nname: a\n---\nx", Document{Name: "a", Body: "x", Notes: []string{noAbout}}},
		"blank one":       {"---\nname: a\ndescription: ' '\n---\nx", Document{Name: "a", Body: "x", Notes: []string{noAbout}}},
		"long one": {"---\nname: a\ndescription: " + strings.Repeat("é", 3000) + "\n---\nx",
			Document{Name: "a", Description: strings.Repeat("é", 2048), Body: "x", Notes: []string{"its description is cut at 4096 bytes"}}},
		"letters": {"---\nname: größe 日本/x_1\ndescription: b\n---\nx", Document{Name: "größe 日本/x_1", Description: "b", Body: "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Read([]byte(c.file))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestReadFaults(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		code string
		line int
		says string
	}{
		"empty":             {"", NoFrontMatter, 0, "first line"},
		"only text":         {"# Skill\n\nname: a\n", NoFrontMatter, 0, "first line"},
		"blank line before": {"\n---\nname: a\n---\n", NoFrontMatter, 0, "first line"},
		"four dashes":       {"----\nname: a\n----\n", NoFrontMatter, 0, "first line"},
		"another language":  {"---js\nprocess.exit(1)\n---\n", NoFrontMatter, 1, `"js"`},
		"old line ends":     {"---\rname: a\r---\rx", NoFrontMatter, 1, "only YAML"},
		"nothing in it":     {"---\n---\nx", NoName, 0, "no name"},
		"only a comment":    {"---\n# name: a\n---\nx", NoName, 0, "no name"},
		"null":              {"---\n~\n---\nx", NoName, 0, "no name"},
		"no name":           {"---\ndescription: b\n---\nx", NoName, 0, "no name"},
		"blank name":        {"---\nname: ''\n---\nx", NoName, 0, "no name"},
		"empty name":        {"---\ntitle: x\nname:\n---\nx", NoName, 3, "quotes"},
		"number":            {"---\nname: 12\ndescription: b\n---\nx", NoName, 2, "quotes"},
		"date":              {"---\nname: 2024-01-02\ndescription: b\n---\nx", NoName, 2, "quotes"},
		"list as name":      {"---\nname: [a]\ndescription: b\n---\nx", NoName, 2, "quotes"},
		"list":              {"---\n- name\n---\nx", BadYAML, 2, "no keys"},
		"bad indent":        {"---\nname: a\n  description: b\n---\nx", BadYAML, 3, "no YAML"},
		"open quote":        {"---\nname: a\ndescription: \"b\n---\nx", BadYAML, 3, "no YAML"},
		"tab":               {"---\nname: a\n\tdescription: b\n---\nx", BadYAML, 0, "tab character"},
		"bad and colon":     {"---\nname: a: b\ndescription: [x\n---\nx", BadYAML, 2, "mapping values"},
		"twice":             {"---\nname: a\ndescription: b\nname: c\n---\nx", BadYAML, 4, `"name" stands twice`},
		"text below":        {"---\nname: a\ndescription: b\n\n# Text: `x\n`not closed\n", BadYAML, 0, "the closing --- is missing, or"},
		"number about":      {"---\nname: a\ndescription: 3\n---\nx", BadDescription, 3, "quotes"},
		"pattern":           {"---\nname: '*'\ndescription: b\n---\nx", BadName, 2, "rules"},
		"backslash":         {"---\nname: a\\b\ndescription: b\n---\nx", BadName, 2, "rules"},
		"line in name":      {"---\nname: \"a\\nb\"\ndescription: b\n---\nx", BadName, 2, "U+000A"},
		"direction":         {"---\nname: \"a\\u202eb\"\ndescription: b\n---\nx", BadName, 2, "U+202E"},
		"mended before":     {"---\nother: a: b\nname: 'c*'\n---\nx", BadName, 3, "rules"},
		"long name":         {"---\nname: " + strings.Repeat("a", 129) + "\n---\nx", BadName, 2, "129 bytes"},
		"huge":              {"---\nname: a\nx: " + strings.Repeat("a", maxFront) + "\n---\nx", BadYAML, 0, "too large"},
		"huge and open":     {"---\nname: a\n" + strings.Repeat("word\n", maxFront), BadYAML, 0, "closing ---"},
		"not text":          {"---\nname: a\xff\n---\nx", NotUTF8, 0, "UTF-8"},
		"text of two bytes": {"\xff\xfe-\x00-\x00-\x00", NotUTF8, 0, "UTF-8"},
		"deep":              {"---\nname: " + strings.Repeat("[", 30_000) + "\n---\nx", BadYAML, 0, "depth"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Read([]byte(c.file))
			fault, ok := errors.AsType[*FormatError](err)
			if !ok {
				t.Fatalf("got %+v and %v, and want a fault", got, err)
			}
			if fault.Code != c.code || c.line > 0 && fault.Line != c.line || !strings.Contains(fault.Error(), c.says) {
				t.Errorf("got %s, line %d, %q; want %s, line %d, %q", fault.Code, fault.Line, fault, c.code, c.line, c.says)
			}
		})
	}
}

// TestAliases reads what grows beyond all bounds when aliases are multiplied
// out.
func TestAliases(t *testing.T) {
	var b strings.Builder
	b.WriteString("---\nname: a\ndescription: b\nl0: &l0 [x, x]\n")
	for i := range 60 {
		level := string(rune('A' + i%26))
		prev := "l0"
		if i > 0 {
			prev = strings.Repeat(string(rune('A'+(i-1)%26)), (i-1)/26+1)
		}
		level = strings.Repeat(level, i/26+1)
		b.WriteString(level + ": &" + level + " [*" + prev + ", *" + prev + "]\n")
	}
	b.WriteString("---\nx")
	if doc, err := Read([]byte(b.String())); err != nil || doc.Name != "a" {
		t.Errorf("got %+v, %v", doc, err)
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"---\nname: a\ndescription: b\n---\nx", "\ufeff---\r\nname: a\r\ndescription: c: d\r\n---\r\nx\r\n", "---\n---\n", "---yaml\nname: &a x\ndescription: *a\n---",
		"---\nname: >-\n  a\ndescription: |+\n  b\n\n---\nx", "---\n? [a, b]\n: c\nname: x\n---\n", "---\n<<: {a: b}\nname: !!binary YQ==\n---\n", "---\nname: 'a''b'\n---\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := Read(data)
		if err != nil {
			fault, ok := errors.AsType[*FormatError](err)
			if !ok || fault.Code == "" || fault.Why == "" || doc != nil {
				t.Fatalf("%+v, %#v", doc, err)
			}
			if lines := strings.Count(string(data), "\n") + 1; fault.Line < 0 || fault.Line > lines {
				t.Errorf("line %d of %d: %s", fault.Line, lines, fault)
			}
			return
		}
		if doc.Name == "" || len(doc.Name) > maxName || strings.ContainsAny(doc.Name, "*?\\\n") || strings.IndexFunc(doc.Name, func(r rune) bool { return !unicode.IsPrint(r) }) >= 0 {
			t.Errorf("name %q", doc.Name)
		}
		if len(doc.Description) > maxAbout || !utf8.ValidString(doc.Description) || strings.TrimSpace(doc.Body) != doc.Body {
			t.Errorf("description %q, body %q", doc.Description, doc.Body)
		}
		if !strings.Contains(string(data), doc.Body) {
			t.Errorf("the body %q is not of the file", doc.Body)
		}
	})
}
