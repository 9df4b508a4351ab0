package run

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
)

// maxComplaint is how much is kept of what a program says when it fails.
const maxComplaint = 1000

// A Refusal is the end of a program with another status than 0.
type Refusal struct {
	Program string
	Code    int    // -1 where a signal ended it
	Said    string // the beginning of what it said on standard error
}

// Error says all of it.
func (r *Refusal) Error() string {
	if r.Said == "" {
		return fmt.Sprintf("%s ended with code %d", r.Program, r.Code)
	}
	return fmt.Sprintf("%s ended with code %d: %s", r.Program, r.Code, r.Said)
}

// Answer runs a program to its end: it reads a text and prints one, of limit
// bytes at the most. All its processes end with it, and with ctx.
func (r *Room) Answer(ctx context.Context, p Program, question []byte, limit int64) ([]byte, error) {
	out, outW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer out.Close()
	said, saidW, err := os.Pipe()
	if err != nil {
		outW.Close()
		return nil, err
	}
	defer said.Close()
	p.Stderr = saidW
	program, err := r.Start(ctx, p, outW)
	outW.Close()
	saidW.Close()
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("starting %s: %w", p.Path, err)
	}
	ended := make(chan struct{})
	go func() { // with it ends whoever holds its pipes, and so all that is read and written below
		defer close(ended)
		select {
		case <-program.Done():
		case <-ctx.Done():
		}
		_, _ = program.End(0)
	}()
	asked, complaint := make(chan struct{}), make(chan string, 1)
	go func() {
		defer close(asked)
		_, _ = program.Stdin().Write(question) // a program need not read all of it
		program.Stdin().Close()
	}()
	go func() { complaint <- head(said) }()
	answer, err := io.ReadAll(io.LimitReader(out, limit+1))
	if err == nil && int64(len(answer)) > limit {
		err = fmt.Errorf("%s printed more than %d bytes", p.Path, limit)
		_, _ = program.End(0)
	}
	<-ended
	<-asked
	words := <-complaint
	switch status := program.Status(); {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, err
	case status.Err != nil:
		return nil, fmt.Errorf("%s: %w", p.Path, status.Err)
	case status.Code != 0:
		return nil, &Refusal{Program: p.Path, Code: status.Code, Said: words}
	}
	return answer, nil
}

// head is the beginning of what is read. All is read, so that who writes does
// not wait.
func head(r io.Reader) string {
	first, _ := io.ReadAll(io.LimitReader(r, maxComplaint))
	_, _ = io.Copy(io.Discard, r)
	return strings.TrimSpace(strings.ToValidUTF8(string(first), "\ufffd"))
}
