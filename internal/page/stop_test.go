package page

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// A countdown is a context that ends when it is looked at for so many times.
type countdown struct {
	context.Context
	left, looks int
	ended       func()
}

func (c *countdown) Err() error {
	c.looks++
	if c.left--; c.left > 0 {
		return nil
	}
	if c.left == 0 && c.ended != nil {
		c.ended()
	}
	return context.Canceled
}

// endless is more than anybody looks.
const endless = 1 << 30

// someOf picks some of the numbers from 1 to most: the first, the last, and
// those between in steps.
func someOf(most int) []int {
	some := []int{1, 2}
	for k := 3; k < most; k += 1 + most/12 {
		some = append(some, k)
	}
	return append(some, most)
}

func largePages() map[string]string {
	repeat := func(open, piece string) string { return open + strings.Repeat(piece, 10_000) }
	return map[string]string{
		"article":  article(1 << 18),
		"items":    repeat("<ol>", "<li>x"),
		"loose":    repeat("<ul>", "x<b>y</b>"),
		"rows":     repeat("<table>", "<tr><td>x<td>y"),
		"cells":    repeat("<table><tr>", "<td>x") + "<tr><td>x",
		"spans":    repeat("<pre>", "<i>x\n</i>"),
		"code":     repeat("<pre><code>", "<i>x\n</i>"),
		"words":    repeat("<p>", "x<b>y</b> "),
		"headings": repeat("", "<h1>x</h1>"),
		"heading":  repeat("<h1>", "<b>x</b> "),
		"links":    repeat("<a href=x><div>", "<p><img src=y></p>"),
		"quotes":   repeat(strings.Repeat("<blockquote>", 200), "x<br>"),
		"captions": repeat("<table><tr><td>x<td>y<tr><td>x<td>y<caption>", "<b>x</b>"),
		"texts":    repeat("", strings.Repeat("word ", 20)+"<br>"),
	}
}

// After its context has ended, nothing looks at more nodes than are open, in
// whatever it was.
func TestStops(t *testing.T) {
	jobs := map[string]func(*Doc, *stopCheck){
		"main part": func(d *Doc, look *stopCheck) { d.onlyMain(look) },
		"markdown":  func(d *Doc, look *stopCheck) { _, _ = d.markdown(look, 0) },
		"text":      func(d *Doc, look *stopCheck) { _, _ = d.text(look, d.skipsText) },
	}
	for name, src := range largePages() {
		d := mustParse(t, src)
		for job, do := range jobs {
			free := &countdown{Context: t.Context(), left: endless}
			all := newStopCheck(free)
			do(d, all)
			if passes := 4 * (len(d.nodes) - 1); job == "main part" && all.done < passes {
				t.Errorf("%s: some passes do not look: %d steps of %d", name, all.done, passes)
			}
			if free.looks < 5 {
				t.Fatalf("%s, %s: looks %d times only", name, job, free.looks)
			}
			for _, k := range someOf(free.looks) {
				at := 0
				var look *stopCheck
				ctx := &countdown{Context: t.Context(), left: k}
				ctx.ended = func() {
					if look != nil {
						at = look.done
					}
				}
				look = newStopCheck(ctx)
				do(d, look)
				if look.err() == nil {
					t.Fatalf("%s, %s: look %d is not believed", name, job, k)
				}
				if further := look.done - at; further > 4*maxDepth {
					t.Errorf("%s, %s: %d steps after look %d of %d", name, job, further, k, free.looks)
				}
			}
		}
	}
}

// Whatever is asked for is refused once the context has ended, and nothing is
// half done.
func TestStopped(t *testing.T) {
	src := article(1 << 18)
	d := mustParse(t, src)
	calls := map[string]func(context.Context) (string, error){
		"Parse": func(ctx context.Context) (string, error) { _, err := Parse(ctx, src); return "", err },
		"Markdown": func(ctx context.Context) (string, error) {
			s, partial, err := d.Markdown(ctx, false)
			if partial {
				s += "partial"
			}
			return s, err
		},
		"Markdown, whole": func(ctx context.Context) (string, error) { s, _, err := d.Markdown(ctx, true); return s, err },
		"Text":            d.Text,
	}
	for name, call := range calls {
		free := &countdown{Context: t.Context(), left: endless}
		if _, err := call(free); err != nil {
			t.Fatal(err)
		}
		for _, k := range someOf(free.looks) {
			ctx := &countdown{Context: t.Context(), left: k}
			if s, err := call(ctx); s != "" || !errors.Is(err, context.Canceled) {
				t.Fatalf("%s, stopped at look %d of %d: %d bytes, %v", name, k, free.looks, len(s), err)
			}
			if further := ctx.looks - k; further > 1 { // one to say why
				t.Errorf("%s, stopped at look %d: %d further ones", name, k, further)
			}
		}
		ended, stop := context.WithCancelCause(t.Context())
		cause := errors.New("enough")
		stop(cause)
		if n := testing.AllocsPerRun(1, func() {
			if _, err := call(ended); !errors.Is(err, cause) {
				t.Errorf("%s: %v", name, err)
			}
		}); n > 4 {
			t.Errorf("%s: %v allocations after the end", name, n)
		}
	}
}

// Parse reads no further than to its next look.
func TestParseStops(t *testing.T) {
	for name, src := range largePages() {
		b := newBuilder(src)
		ctx := &countdown{Context: t.Context(), left: 2}
		if err := b.run(ctx); len(src) > 2*stride && (err == nil || b.scan.pos > 2*stride) {
			t.Errorf("%s: %v at %d", name, err, b.scan.pos)
		}
	}
}
