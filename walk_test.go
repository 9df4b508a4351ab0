package helve_test

import (
	"flag"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestWalk follows the links of ARCHITECTURE.md into the code: the file is there,
// and on the line that is named stands the name that is linked.
func TestWalk(t *testing.T) {
	const page = "ARCHITECTURE.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile("\\[`([^`]+)`\\]\\(([^)#]+)(?:#L(\\d+))?\\)")
	followed := 0
	mended := links.ReplaceAllStringFunc(string(text), func(link string) string {
		m := links.FindStringSubmatch(link)
		file, err := os.ReadFile(m[2])
		if err != nil {
			t.Errorf("%s: %v", m[1], err)
			return link
		}
		if m[3] == "" {
			return link
		}
		followed++
		if at := lineOf(string(file), m[1]); strconv.Itoa(at) != m[3] {
			if at == 0 {
				t.Errorf("%s has no %s", m[2], m[1])
				return link
			}
			if !*walkAnew {
				t.Errorf("%s stands in line %d of %s, not in %s; `go test -run TestWalk -walk-anew .` mends all of them", m[1], at, m[2], m[3])
			}
			return "[`" + m[1] + "`](" + m[2] + "#L" + strconv.Itoa(at) + ")"
		}
		return link
	})
	if followed < 30 {
		t.Errorf("only %d links lead to a line", followed)
	}
	if *walkAnew {
		if err := os.WriteFile(page, []byte(mended), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

var walkAnew = flag.Bool("walk-anew", false, "write the lines of the links in ARCHITECTURE.md anew")

// lineOf finds where something is declared: a function, Type.method or type. It
// is 0 where that is nowhere.
func lineOf(file, name string) int {
	declared := `func ` + regexp.QuoteMeta(name) + `\b|type ` + regexp.QuoteMeta(name) + `\b`
	if of, method, ok := strings.Cut(name, "."); ok {
		declared = `func \(\w+ \*?` + of + `\) ` + method + `\(|func ` + method + `\(`
	}
	at := regexp.MustCompile(`(?m)^(?:` + declared + `)`).FindStringIndex(file)
	if at == nil {
		return 0
	}
	return 1 + strings.Count(file[:at[0]], "\n")
}
