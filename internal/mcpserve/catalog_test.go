package mcpserve

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/mcp"
)

func TestCouldBe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		template, uri string
		want          bool
	}{
		{"x://t/{id}/data", "x://t/7/data", true},
		{"x://t/{id}/data", "x://t/7/date", false},
		{"x://t/{id}/data", "y://t/7/data", false},
		{"x://{a}/{b}", "x://1/2", true},
		{"x://{a}/{b}", "x://12", false},
		{"x://{+path}", "x://a/b/c", true},
		{"x://t", "x://t", true},
		{"x://t", "x://tt", false},
		{"x://{broken", "x://1", false},
		{"{a}{b}", "anything", true},
	} {
		if got := couldBe(c.template, c.uri); got != c.want {
			t.Errorf("%s and %s: %v", c.template, c.uri, got)
		}
	}
}

func FuzzCouldBe(f *testing.F) {
	f.Add("x://t/{id}/data", "x://t/7/data")
	f.Add("{", "}")
	f.Add("{a}{b", "")
	f.Fuzz(func(t *testing.T, template, uri string) {
		if !strings.Contains(template, "{") && couldBe(template, uri) != (template == uri) {
			t.Errorf("%q without a variable is %q", template, uri)
		}
	})
}

func TestNameAll(t *testing.T) {
	t.Parallel()
	p := func(server, name string) mcp.Prompt { return mcp.Prompt{Server: server, Name: name} }
	all := nameAll([]mcp.Prompt{p("a", "x"), p("a", "x"), p("a", "y"), p("a", "b:z"), p("b", "y"), p("b", "z"), p("c", "z")})
	var got []string
	for _, n := range all {
		got = append(got, n.name+" is "+long(n.Prompt))
	}
	want := []string{"x is a:x", "a:x is a:x", "a:y is a:y", "b:z is a:b:z", "b:y is b:y", "c:z is c:z"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPage(t *testing.T) {
	t.Parallel()
	all := make([]listItem[int], 2*pageItems+1)
	for i := range all {
		all[i] = listItem[int]{i, 1}
	}
	all[pageItems+1].size, all[pageItems+2].size = pageBytes+1, pageBytes // each takes a page
	var sizes []int
	seen := 0
	for cursor := ""; ; {
		part, next, err := page(all, cursor)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range part {
			if i != seen {
				t.Fatalf("%d comes in the place of %d", i, seen)
			}
			seen++
		}
		sizes = append(sizes, len(part))
		if cursor = next; next == "" {
			break
		}
	}
	if diff := cmp.Diff([]int{pageItems, 1, 1, 1, pageItems - 2}, sizes); diff != "" || seen != len(all) {
		t.Errorf("%d entries: %s", seen, diff)
	}
	for _, cursor := range []string{"-1", "x", "99999"} {
		if _, _, err := page(all, cursor); err == nil {
			t.Errorf("there is a page %s", cursor)
		}
	}
	if part, _, err := page([]listItem[int]{}, ""); err != nil || part == nil {
		t.Errorf("an empty list is %v, %v", part, err)
	}
}

// A list that was asked for before a change, or that is not whole, is not kept.
func TestCatalogForgets(t *testing.T) {
	t.Parallel()
	var c catalog[int]
	asks := 0
	get := func(age time.Duration, during func() error) {
		t.Helper()
		_, _ = c.get(age, func() ([]int, error) { asks++; return []int{asks}, during() }) // the list alone matters
	}
	fine := func() error { return nil }
	get(time.Hour, func() error { c.stale(); return nil })
	get(time.Hour, func() error { return errors.New("one did not answer") })
	get(time.Hour, fine)
	get(time.Hour, fine)
	if asks != 3 {
		t.Errorf("servers were asked %d times", asks)
	}
	get(0, fine)
	c.stale()
	get(time.Hour, fine)
	if asks != 5 {
		t.Errorf("servers were asked %d times", asks)
	}
}
