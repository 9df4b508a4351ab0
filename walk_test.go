package helve_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestWalk follows the links of ARCHITECTURE.md into the code: the file is there,
// and declares the function, method or type that the link names.
func TestWalk(t *testing.T) {
	const page = "ARCHITECTURE.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile("\\[`([^`/]+)`\\]\\(([^)#]+\\.go)\\)").FindAllStringSubmatch(string(text), -1)
	if len(links) < 30 {
		t.Errorf("only %d links lead to a declaration", len(links))
	}
	for _, link := range links {
		name, path := link[1], link[2]
		file, err := os.ReadFile(path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !declares(string(file), name) {
			t.Errorf("%s declares no %s", path, name)
		}
	}
}

// declares reports whether a file declares a package, function, Type.method or type.
func declares(file, name string) bool {
	declared := `package ` + regexp.QuoteMeta(name) + `$|func ` + regexp.QuoteMeta(name) + `\b|type ` + regexp.QuoteMeta(name) + `\b`
	if of, method, ok := strings.Cut(name, "."); ok {
		declared = `func \(\w+ \*?` + of + `\) ` + method + `\(|func ` + method + `\(`
	}
	return regexp.MustCompile(`(?m)^(?:` + declared + `)`).MatchString(file)
}
