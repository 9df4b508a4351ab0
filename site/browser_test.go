package site_test

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helve-dev/helve/internal/browsertest"
)

// A tab shows the site from the disk. A request for something that is no file
// of the site fails the test, and so does a word on its console.
type tab struct {
	*browsertest.Tab
	t   *testing.T
	top string // the address of the site's folder
}

func newTab(t *testing.T) *tab {
	t.Helper()
	top := (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(built(t)), "/") + "/"}).String()
	return &tab{t: t, top: top, Tab: shared.show.Open(t, browsertest.TabOptions{
		Silent: true, Pictures: "site-", Home: func(address string) bool { return strings.HasPrefix(address, top) },
	})}
}

// loaded counts how often a file was asked for.
func (b *tab) loaded(file string) (n int) {
	for _, r := range b.Asked() {
		if r.URL == b.top+file {
			n++
		}
	}
	return n
}

// open goes to a page of the site.
func (b *tab) open(place string) {
	b.t.Helper()
	b.Goto(b.top + place)
}

// eval calls a function of the page, whose answer is awaited, with values.
func eval[T any](b *tab, function string, args ...any) T {
	b.t.Helper()
	return browsertest.Eval[T](b.Tab, function, args...)
}
