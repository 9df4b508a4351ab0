package store

import (
	"context"
	"errors"
	"sync"
)

// maxReaders bounds the connections that read at once.
const maxReaders = 4

// readers are read-only connections, opened on first use. They see what is committed and never wait
// for the writer.
type readers struct {
	path  string
	slots chan struct{}

	mu     sync.Mutex
	free   []*conn
	closed bool
}

func newReaders(path string) *readers {
	return &readers{path: path, slots: make(chan struct{}, maxReaders)}
}

func (r *readers) do(ctx context.Context, fn func(*conn) error) error {
	select {
	case r.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-r.slots }()
	c, err := r.take()
	if err != nil {
		return err
	}
	defer r.give(c)
	return fn(c)
}

func (r *readers) take() (*conn, error) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil, ErrClosed
	}
	if n := len(r.free); n > 0 {
		c := r.free[n-1]
		r.free = r.free[:n-1]
		r.mu.Unlock()
		return c, nil
	}
	r.mu.Unlock()
	c, err := dial(r.path)
	if err != nil {
		return nil, err
	}
	for _, p := range []string{"PRAGMA busy_timeout=15000", "PRAGMA query_only=1"} {
		if _, err := c.exec(p); err != nil {
			return nil, errors.Join(err, c.close())
		}
	}
	return c, nil
}

func (r *readers) give(c *conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.free = append(r.free, c)
}

// close waits for the reads under way and closes every connection.
func (r *readers) close() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	for range maxReaders {
		r.slots <- struct{}{}
	}
	var errs []error
	for _, c := range r.free {
		errs = append(errs, c.close())
	}
	r.free = nil
	for range maxReaders {
		<-r.slots
	}
	return errors.Join(errs...)
}
