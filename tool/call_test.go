package tool_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/helve-dev/helve/tool"
)

// opener is a host with files.
type opener struct {
	tool.Host
	name string
}

func (o *opener) Open(_ context.Context, _ *tool.Call, name string) (*os.File, error) {
	o.name = name
	return nil, os.ErrNotExist
}

// A call opens files by its host, and none where the host has no door to them.
func TestCallOpens(t *testing.T) {
	h := &opener{}
	c := &tool.Call{Host: h}
	if _, err := c.Open(t.Context(), "a.txt"); !errors.Is(err, os.ErrNotExist) || h.name != "a.txt" {
		t.Errorf("%q, %v", h.name, err)
	}
	c.Host = struct{ tool.Host }{}
	if f, err := c.Open(t.Context(), "go.mod"); f != nil || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v, %v", f, err)
	}
}
