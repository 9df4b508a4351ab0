package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// patience is how long one call may take, whatever the file.
const patience = 4 * time.Second

// errPatience is why a call was ended by us and not by the caller.
var errPatience = errors.New("it takes too long")

// limited returns a context that ends after [patience].
func limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, patience, errPatience)
}

// guarded runs work, which calls code of others, so that neither a panic nor a
// slow file reaches the caller. When ctx ends first, guarded returns at once;
// work goes on in its goroutine until it next reads from a [leashed] reader.
func guarded[T any](ctx context.Context, work func(context.Context) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var none T
	if ctx.Err() != nil {
		return none, context.Cause(ctx)
	}
	done := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if p := recover(); p != nil {
				a = answer{err: fmt.Errorf("decoder gave up: %v", p)}
			}
			done <- a
		}()
		a.value, a.err = work(ctx)
	}()
	select {
	case a := <-done:
		return a.value, a.err
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}

// readerFunc makes a function a reader.
type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// untilDone reads data until ctx ends, in small steps, so that a decoder which
// does much work for few bytes still notices.
func untilDone(ctx context.Context, data []byte) io.Reader {
	const step = 1024
	return readerFunc(func(p []byte) (int, error) {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		if len(data) == 0 {
			return 0, io.EOF
		}
		n := copy(p[:min(len(p), step)], data)
		data = data[n:]
		return n, nil
	})
}

// formatSize words a number of bytes for a message.
func formatSize(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 999_950:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	default:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
}
