package skill

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func loaded(t *testing.T, y yard, opt Options, name string) (*Text, error) {
	t.Helper()
	k, ok := foundBy(opt).Get(name)
	if !ok {
		t.Fatalf("there is no skill %s", name)
	}
	return k.Load()
}

func TestLoad(t *testing.T) {
	y := newYard(t, map[string]string{
		"home/.claude/skills/a/SKILL.md":                "---\r\nname: a\r\ndescription: b\r\n---\r\n\r\none\r\ntwo\r\n",
		"home/.claude/skills/a/z.md":                    "",
		"home/.claude/skills/a/scripts/run.sh":          "",
		"home/.claude/skills/a/.hidden":                 "",
		"home/.claude/skills/a/node_modules/x/index.js": "",
		"home/.claude/skills/a/sub/SKILL.md":            text("sub"),
	})
	y.link("home/.claude/skills/a/linked", y.at("home"))
	got, err := loaded(t, y, y.options(), "a")
	y.check(err)
	want := &Text{Document: Document{Name: "a", Description: "b", Body: "one\r\ntwo"}, Files: []string{".hidden", "linked", "scripts/run.sh", "z.md"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestLoadManyFiles(t *testing.T) {
	files := map[string]string{"home/.claude/skills/a/SKILL.md": text("a")}
	for i := range 25 {
		files[fmt.Sprintf("home/.claude/skills/a/f%02d", i)] = ""
	}
	y := newYard(t, files)
	got, err := loaded(t, y, y.options(), "a")
	y.check(err)
	if len(got.Files) != 10 || got.Files[0] != "f00" || got.Files[9] != "f09" || got.More != 15 || got.Many {
		t.Errorf("got %q, %d more, %v", got.Files, got.More, got.Many)
	}
	for i := range listingSize {
		y.check(os.WriteFile(y.at(fmt.Sprintf("home/.claude/skills/a/g%04d", i)), nil, 0o644))
	}
	if got, err = loaded(t, y, y.options(), "a"); err != nil || len(got.Files) != 10 || !got.Many {
		t.Errorf("got %+v, %v", got, err)
	}
	y.check(os.MkdirAll(y.at("home/.claude/skills/b/"+strings.Repeat("d/", 12)), 0o755))
	y.write("home/.claude/skills/b/SKILL.md", text("b"))
	if got, err = loaded(t, y, y.options(), "b"); err != nil || len(got.Files) != 0 || !got.Many {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestLoadLater(t *testing.T) {
	y := newYard(t, map[string]string{"proj/.claude/skills/a/SKILL.md": text("a"), "secret/SKILL.md": text("a")})
	opt := y.options()
	opt.Trusted = nil
	k, _ := foundBy(opt).Get("a")
	path := "proj/.claude/skills/a/SKILL.md"
	y.write(path, text("a")+"more\n")
	if got, err := k.Load(); err != nil || got.Body != "text of a\nmore" {
		t.Errorf("got %+v, %v", got, err)
	}
	y.write(path, text("b"))
	if _, err := k.Load(); !errors.Is(err, ErrChanged) {
		t.Errorf("got %v", err)
	}
	y.write(path, "nothing")
	if fault, ok := errors.AsType[*FormatError](second(k.Load())); !ok || fault.Code != NoFrontMatter {
		t.Errorf("got %v", fault)
	}
	y.check(os.Remove(y.at(path)))
	if _, err := k.Load(); err == nil {
		t.Error("it was loaded when it was gone")
	}
	y.link(path, y.at("secret/SKILL.md"))
	if _, err := k.Load(); err == nil || !strings.Contains(err.Error(), "leads out") {
		t.Errorf("got %v", err)
	}
}

func second(_ *Text, err error) error { return err }
