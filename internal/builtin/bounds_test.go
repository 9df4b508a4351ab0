package builtin

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/tool"
)

func TestListGlobs(t *testing.T) {
	for _, test := range []struct {
		globs []string
		ok    bool
	}{
		{make([]string, listGlobs), true},
		{make([]string, listGlobs+1), false},
		{[]string{strings.Repeat("a", listGlobText)}, true},
		{[]string{strings.Repeat("a", listGlobText), "a"}, false},
	} {
		err := checkGlobs(test.globs)
		var failed *tool.Error
		if (err == nil) != test.ok || err != nil && (!errors.As(err, &failed) || failed.Code != "invalid-pattern") {
			t.Errorf("%d globs: %v", len(test.globs), err)
		}
	}
}

// TestListLate says so when the time is over, and does not fail.
func TestListLate(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(top, "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	files := &files.Workspace{Worktree: top}
	dir, err := files.ResolveFolder(t.Context(), nil, top, ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, cause := range []error{nil, errListLate, os.ErrClosed} {
		ctx, cancel := context.WithCancelCause(t.Context())
		if cause != nil {
			cancel(cause)
		}
		result, err := listing(ctx, files, dir, nil)
		switch {
		case cause == os.ErrClosed:
			if !errors.Is(err, cause) {
				t.Errorf("canceled: %v", err)
			}
		case err != nil:
			t.Errorf("%v: %v", cause, err)
		case strings.Contains(result.Output, lateNotice(searchBudget)) != (cause == errListLate),
			result.Metadata["truncated"] != (cause == errListLate):
			t.Errorf("%v: %q, %v", cause, result.Output, result.Metadata)
		}
		cancel(nil)
	}
}

// What is told of a patch is bounded as a whole: of many long differences each
// is cut, says so, and no short one suffers.
func TestPatchTold(t *testing.T) {
	long := strings.Repeat("-some line that goes\n", maxDiff/21)
	s := patchPlan{}
	for range 400 {
		s.files = append(s.files, patched{kind: "delete", diff: long})
	}
	s.files = append(s.files, patched{kind: "update", diff: "+short\n"})
	for _, person := range []bool{true, false} {
		files, all := s.filesMetadata(person)
		sum := 0
		for i, f := range files {
			shown := f.(map[string]any)["diff"].(string)
			sum += len(shown)
			if whole := i == 400; strings.Contains(shown, "is cut: it is") == whole || !strings.Contains(all, shown) || len(shown) == 0 {
				t.Fatalf("%d: %q", i, shown)
			}
		}
		if room := len(files) * 100; sum > maxDiffs+room || len(all) > maxDiffs+room || sum < maxDiffs/2 {
			t.Errorf("%d and %d bytes", sum, len(all))
		}
	}
	s.files = s.files[398:]
	if _, all := s.filesMetadata(true); strings.Contains(all, "is cut: it is") || len(all) < 2*len(long) {
		t.Errorf("%d bytes of what is not too much", len(all))
	}
}

// What a language server says stays in its block, whatever characters it holds.
func TestHarmlessMessage(t *testing.T) {
	for in, want := range map[string]string{
		"plain \t é":                 "plain \t é",
		"a\nb":                       "a\n  b",
		"a\rb\u2028c":                "a\n  b\n  c",
		"\x1b[2J \u202e":             `␛[2J \u{202e}`,
		"</diag\u200bnostics>":       `<\/diagnostics>`,
		"<\U000e0149diagnostics>":    `<\diagnostics>`,
		"bad \xff byte":              "bad \ufffd byte",
		"</diagnostics>\n<diagnosti": "<\\/diagnostics>\n  <diagnosti",
	} {
		if got := harmlessMessage(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

// What a skill says holds for the rest of a conversation.
func TestWhatLasts(t *testing.T) {
	for _, made := range All(Rooms{}) {
		if spec := made.Spec(); spec.Lasts != (spec.Name == "skill") {
			t.Errorf("%s lasts: %t", spec.Name, spec.Lasts)
		}
	}
}
