package scripthost

import (
	"context"
	"errors"
	"testing"

	"github.com/helve-dev/helve/internal/plugins"
	"github.com/helve-dev/helve/internal/script"
	"github.com/helve-dev/helve/tool"
)

// A script that exits ends the work it is for, where that can be ended.
func TestExit(t *testing.T) {
	w := New(plugins.Services{})
	ctx, end := context.WithCancelCause(t.Context())
	defer end(nil)
	ctx = Ending(ctx, end, &tool.Call{}, "x")
	if _, err := w.Now(ctx, "proc.exit", script.Data{JSON: []byte(`{"code": 3}`)}); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	if exit, ok := errors.AsType[*Exit](context.Cause(ctx)); !ok || exit.Code != 3 {
		t.Errorf("the work ended with %v", context.Cause(ctx))
	}
	if _, err := w.Now(For(t.Context(), &tool.Call{}, "x"), "proc.exit", script.Data{JSON: []byte(`{}`)}); err != nil {
		t.Errorf("where nothing can be ended: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}
