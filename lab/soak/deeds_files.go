package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/helve-dev/helve/client"
)

// problem is the server's no in an error, or nil.
func problem(err error) *client.Problem {
	p, _ := errors.AsType[*client.Problem](err)
	return p
}

// fileDeeds are about files.
func fileDeeds() []deed {
	return []deed{
		{"read", 12, (*hand).read},
		{"write", 6, (*hand).write},
		{"edit", 8, (*hand).edit},
		{"edit shared", 6, (*hand).editShared},
		{"multiedit", 3, (*hand).multiedit},
		{"apply_patch", 3, (*hand).patch},
		{"write to the small disk", 4, (*hand).writeBox},
		{"grep", 8, (*hand).grep},
		{"glob", 4, (*hand).glob},
		{"list", 2, (*hand).list},
		{"undo", 4, (*hand).undo},
		{"language server", 4, (*hand).language},
		{"batch", 2, (*hand).batch},
	}
}

// just is a call of which only the end matters.
func (w *hand) just(ctx context.Context, tool string, in input) error {
	_, err := w.call(ctx, tool, in)
	return err
}

// source is one of the files that nobody changes.
func (w *hand) source() string {
	i := w.rand.IntN(sources)
	return fmt.Sprintf("src/d%d/f%d.go", i%12, i)
}

func (w *hand) read(ctx context.Context) error {
	return w.just(ctx, "read", input{"filePath": w.source(), "limit": 20 + w.rand.IntN(100)})
}

func (w *hand) write(ctx context.Context) error {
	name := w.own(fmt.Sprintf("w%d.txt", w.rand.IntN(20)))
	_, _ = w.call(ctx, "read", input{"filePath": name}) // may not be there
	return w.just(ctx, "write", input{"filePath": name, "content": w.words(1 + w.rand.IntN(200))})
}

func (w *hand) edit(ctx context.Context) error {
	name := w.own("edit.txt")
	if _, err := w.call(ctx, "write", input{"filePath": name, "content": "before\nvalue: one\nafter\n"}); err != nil {
		_, _ = w.call(ctx, "read", input{"filePath": name}) // it has to be read first
	}
	if err := w.just(ctx, "edit", input{"filePath": name, "oldString": "value: one", "newString": "value: two"}); err != nil {
		return err
	}
	return w.just(ctx, "edit", input{"filePath": name, "oldString": "value: two", "newString": "value: one"})
}

// editShared changes a file that others change at the same time.
func (w *hand) editShared(ctx context.Context) error {
	i := w.rand.IntN(shared)
	if _, err := w.call(ctx, "read", input{"filePath": sharedName(i)}); err != nil {
		return err
	}
	return w.just(ctx, "edit", input{
		"filePath": sharedName(i), "oldString": fmt.Sprintf("value of %d:", i), "newString": fmt.Sprintf("value of %d: %d, then", i, w.rand.IntN(10)),
	})
}

func (w *hand) multiedit(ctx context.Context) error {
	name := w.own("multi.txt")
	_, _ = w.call(ctx, "read", input{"filePath": name}) // may not be there
	if err := w.just(ctx, "write", input{"filePath": name, "content": "a\nb\nc\nd\n"}); err != nil {
		return err
	}
	return w.just(ctx, "multiedit", input{"filePath": name, "edits": []input{
		{"oldString": "a\n", "newString": "A\n"}, {"oldString": "c\n", "newString": w.words(3)},
	}})
}

func (w *hand) patch(ctx context.Context) error {
	name := w.own("patched.txt")
	_, _ = w.call(ctx, "apply_patch", input{"patchText": "*** Begin Patch\n*** Delete File: " + name + "\n*** End Patch"}) // may not be there
	if err := w.just(ctx, "apply_patch", input{"patchText": "*** Begin Patch\n*** Add File: " + name + "\n+one\n+two\n*** End Patch"}); err != nil {
		return err
	}
	return w.just(ctx, "apply_patch", input{"patchText": "*** Begin Patch\n*** Update File: " + name + "\n@@\n one\n-two\n+2\n*** End Patch"})
}

// writeBox writes where there is no room at times, and no writing at others.
func (w *hand) writeBox(ctx context.Context) error {
	name := fmt.Sprintf("box/%d-%d.txt", w.number, w.rand.IntN(3))
	_, _ = w.call(ctx, "read", input{"filePath": name}) // may not be there
	return w.just(ctx, "write", input{"filePath": name, "content": strings.Repeat("x", w.rand.IntN(60_000))})
}

func (w *hand) grep(ctx context.Context) error {
	pattern := []string{"needle-\\d+7", "func f1", "value", "(", "no such thing"}[w.rand.IntN(5)]
	return w.just(ctx, "grep", input{"pattern": pattern})
}

func (w *hand) glob(ctx context.Context) error {
	return w.just(ctx, "glob", input{"pattern": []string{"**/*.go", "hands/**", "src/d1/*", "["}[w.rand.IntN(4)]})
}

func (w *hand) list(ctx context.Context) error { return w.just(ctx, "list", input{"path": "src"}) }

// undo takes back what this hand did last, if it did something.
func (w *hand) undo(ctx context.Context) error {
	_, err := w.api.Undo(ctx, client.UndoRequest{Session: w.session, Last: 1, Preview: w.chance(3)})
	return err
}

// language changes a file that a language server looks at, and asks it.
func (w *hand) language(ctx context.Context) error {
	name := w.own("a.foo")
	_, _ = w.call(ctx, "read", input{"filePath": name}) // may not be there
	if err := w.just(ctx, "write", input{"filePath": name, "content": "def thing\nERROR " + w.words(1) + "thing\n"}); err != nil {
		return err
	}
	operation := []string{"hover", "goToDefinition", "documentSymbol", "diagnostics", "findReferences"}[w.rand.IntN(5)]
	err := w.just(ctx, "lsp", input{"operation": operation, "filePath": name, "line": 1, "character": 5})
	if p := problem(err); p != nil && p.Code == "server-unavailable" && w.chance(2) { // killed too often: given up
		return w.just(ctx, "lsp", input{"operation": "restart", "filePath": name})
	}
	return err
}

func (w *hand) batch(ctx context.Context) error {
	return w.just(ctx, "batch", input{"tool_calls": []input{
		{"tool": "read", "parameters": input{"filePath": w.source()}}, {"tool": "glob", "parameters": input{"pattern": "src/d2/*"}},
		{"tool": "nothing", "parameters": input{}},
	}})
}
