package builtin

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"helve/internal/workspace"
	"helve/tool"
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
	files := &workspace.Files{Worktree: top}
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
