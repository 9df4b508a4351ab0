package console_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Things are found as a screen reader finds them: by what they are and what
// they are called.

// find returns the things of a role whose whole name fits a pattern, in the
// order of the page.
func (b *tab) find(role, name string) ([]cdp.BackendNodeID, error) {
	fits := regexp.MustCompile("(?is)^(?:" + name + ")$")
	root, err := chromedp.Call(b.ctx, dom.GetDocument, dom.GetDocumentParams{})
	if err != nil {
		return nil, err
	}
	found, err := chromedp.Call(b.ctx, accessibility.QueryAXTree, accessibility.QueryAXTreeParams{
		BackendNodeID: root.Root.BackendNodeID, Role: role,
	})
	if err != nil {
		return nil, err
	}
	var all []cdp.BackendNodeID
	for _, n := range found.Nodes {
		if n.Ignored || n.Name == nil {
			continue
		}
		if called := strings.TrimSpace(unquote(n.Name)); fits.MatchString(called) {
			all = append(all, n.BackendDOMNodeID)
		}
	}
	return all, nil
}

// the waits until there is a thing of a role and name, and returns the first.
func (b *tab) the(role, name string) cdp.BackendNodeID {
	b.t.Helper()
	var found []cdp.BackendNodeID
	var last error
	if !poll(b.ctx, func() bool {
		found, last = b.find(role, name)
		return last == nil && len(found) > 0
	}) {
		b.t.Fatalf("there is no %s %q (%v); there are: %s", role, name, last, strings.Join(b.names(role), " | "))
	}
	return found[0]
}

// none says that there is nothing of a role and name.
func (b *tab) none(role, name string) {
	b.t.Helper()
	if !poll(b.ctx, func() bool {
		found, err := b.find(role, name)
		return err == nil && len(found) == 0
	}) {
		b.t.Fatalf("there is still a %s %q", role, name)
	}
}

// names are what the things of a role are called.
func (b *tab) names(role string) (all []string) {
	root, err := chromedp.Call(b.ctx, dom.GetDocument, dom.GetDocumentParams{})
	if err != nil {
		return nil
	}
	found, err := chromedp.Call(b.ctx, accessibility.QueryAXTree, accessibility.QueryAXTreeParams{
		BackendNodeID: root.Root.BackendNodeID, Role: role,
	})
	if err != nil {
		return nil
	}
	for _, n := range found.Nodes {
		if !n.Ignored && n.Name != nil {
			all = append(all, fmt.Sprintf("%.80s", unquote(n.Name)))
		}
	}
	return all
}

// on calls a function of the page with a thing as its this.
func (b *tab) on(thing cdp.BackendNodeID, function string) error {
	object, err := chromedp.Call(b.ctx, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: thing})
	if err != nil {
		return err
	}
	answer, err := chromedp.Call(b.ctx, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
		ObjectID: object.Object.ObjectID, FunctionDeclaration: function,
	})
	if err == nil && answer.ExceptionDetails != nil {
		return errors.New(answer.ExceptionDetails.Text)
	}
	return err
}

// press clicks the middle of a thing with the mouse. It waits until the thing
// is what is hit there, and is not disabled.
func (b *tab) press(role, name string) {
	b.t.Helper()
	x, y := b.middle(role, name)
	b.must(chromedp.MouseClickXY(x, y))
}

// pressLast clicks the last of the things of a role and name.
func (b *tab) pressLast(role, name string) {
	b.t.Helper()
	b.the(role, name)
	found, err := b.find(role, name)
	if err != nil {
		b.t.Fatal(err)
	}
	x, y, err := b.point(found[len(found)-1])
	if err != nil {
		b.t.Fatal(err)
	}
	b.must(chromedp.MouseClickXY(x, y))
}

// tap touches the middle of a thing.
func (b *tab) tap(role, name string) {
	b.t.Helper()
	x, y := b.middle(role, name)
	b.must(chromedp.TapXY(x, y))
}

// middle is where a thing can be hit.
func (b *tab) middle(role, name string) (x, y float64) {
	b.t.Helper()
	var last error
	if !poll(b.ctx, func() bool {
		x, y, last = b.point(b.the(role, name))
		return last == nil
	}) {
		b.t.Fatalf("the %s %q can not be hit: %v", role, name, last)
	}
	return x, y
}

func (b *tab) point(thing cdp.BackendNodeID) (x, y float64, err error) {
	_, err = chromedp.Call(b.ctx, dom.ScrollIntoViewIfNeeded, dom.ScrollIntoViewIfNeededParams{BackendNodeID: thing})
	if err != nil {
		return 0, 0, err
	}
	quads, err := chromedp.Call(b.ctx, dom.GetContentQuads, dom.GetContentQuadsParams{BackendNodeID: thing})
	if err != nil {
		return 0, 0, err
	}
	if len(quads.Quads) == 0 || len(quads.Quads[0]) < 8 {
		return 0, 0, errors.New("it has no place on the page")
	}
	q := quads.Quads[0]
	x, y = (q[0]+q[4])/2, (q[1]+q[5])/2
	return x, y, b.on(thing, fmt.Sprintf(`function() {
		if (this.disabled || this.getAttribute?.('aria-disabled') === 'true') throw 'it is disabled';
		const me = this.nodeType === 1 ? this : this.parentElement;
		const hit = document.elementFromPoint(%f, %f);
		const label = hit?.closest('label');
		if (!hit || !(me.contains(hit) || hit.contains(me) && hit !== document.body || label?.control === me)) throw 'something lies above it';
	}`, x, y))
}

// fill puts a text into a field, in the place of what is there, as a person
// types it.
func (b *tab) fill(role, name, text string) {
	b.t.Helper()
	b.press(role, name)
	if err := b.on(b.the(role, name), `function() { this.select?.() }`); err != nil {
		b.t.Fatal(err)
	}
	if text == "" {
		b.key("\b")
		return
	}
	b.insert(text)
}

// focus moves the focus to a thing.
func (b *tab) focus(role, name string) {
	b.t.Helper()
	if err := b.on(b.the(role, name), `function() { this.focus() }`); err != nil {
		b.t.Fatal(err)
	}
}

// key presses keys, one after the other; "\r" is Enter, "\t" is Tab.
func (b *tab) key(keys string, options ...chromedp.KeyOption) {
	b.t.Helper()
	b.must(chromedp.KeyEvent(keys, options...))
}

// insert types a text into what has the focus, as an input method does, at
// once.
func (b *tab) insert(text string) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, input.InsertText, input.InsertTextParams{Text: text}); err != nil {
		b.t.Fatal(err)
	}
}

// unquote is the text of a value, which is written as JSON.
func unquote(v *accessibility.Value) (text string) {
	if json.Unmarshal(v.Value, &text) != nil {
		return string(v.Value)
	}
	return text
}
