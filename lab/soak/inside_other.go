//go:build !linux

package main

import (
	"context"
	"errors"
)

// runInside runs the soak without mounts.
func runInside(ctx context.Context, args []string) error { return run(ctx, args, false) }

func mountSmall(string, int64) error { return errors.ErrUnsupported }
func resize(string, int64) error     { return errors.ErrUnsupported }
func readOnly(string, bool) error    { return errors.ErrUnsupported }
func held(string) (int64, error)     { return 0, errors.ErrUnsupported }
func unmount(string) error           { return errors.ErrUnsupported }
