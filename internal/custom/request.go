package custom

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/helve-dev/helve/internal/script"
	"strings"
)

// maxTold bounds the size of one log message, in bytes.
const maxTold = 64 << 10

// logText passes on what files print and log.
func (w *Worker) logText(level, text string) {
	if w.opt.Tell == nil || text == "" {
		return
	}
	switch level {
	case "debug", "info", "warn", "error":
	default:
		level = "info"
	}
	w.telling.Lock()
	defer w.telling.Unlock()
	w.opt.Tell(level, strings.ToValidUTF8(text[:min(len(text), maxTold)], "\ufffd"))
}

// serveRequest serves a request of the process, or starts a goroutine for it.
func (l *workerProcess) serveRequest(f frame) {
	ctx, err := l.whom(f)
	if f.Ask == 0 { // nothing waits for it, and it must be delivered before the call's answer
		if err == nil && l.w.opt.Requests != nil {
			if _, err := l.w.opt.Requests(ctx, f.Op, f.Arg); err != nil {
				l.w.opt.Logger.Warn("worker: a request failed", "op", f.Op, "error", err)
			}
		}
		return
	}
	select {
	case l.slots <- struct{}{}:
	default:
		err = errors.New("too many requests are under way at once: wait for some of them first")
		l.w.work.Go(func() { l.reply(f.Ask, nil, err) })
		return
	}
	l.w.work.Go(func() {
		defer func() { <-l.slots }()
		var value json.RawMessage
		if err == nil {
			value, err = l.answerRequest(ctx, f)
		}
		l.reply(f.Ask, value, err)
	})
}

// whom returns the context of the call that a request works for.
func (l *workerProcess) whom(f frame) (context.Context, error) {
	l.mu.Lock()
	p := l.calls[f.For]
	l.mu.Unlock()
	switch f.Op {
	case "client", "ask", "meta":
	default: // a file can write what it likes to the descriptor, and the host can do more than this
		return nil, fmt.Errorf("%.40q is nothing that a worker may ask for", f.Op)
	}
	switch {
	case p != nil:
		return p.ctx, nil
	case f.Lasting:
		return l.w.calm(), nil
	}
	return nil, fmt.Errorf("the call that %s was made for is over: wait for it before the call returns", f.Op)
}

// calm is the context of what works for no call.
func (w *Worker) calm() context.Context {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.quiet
}

func (l *workerProcess) answerRequest(ctx context.Context, f frame) (json.RawMessage, error) {
	if l.w.opt.Requests == nil {
		return nil, fmt.Errorf("there is nobody here to answer %s", f.Op)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.ctx, cancel)()
	return l.w.opt.Requests(ctx, f.Op, f.Arg)
}

// reply sends what became of a request.
func (l *workerProcess) reply(ask uint64, value json.RawMessage, err error) {
	f := frame{Kind: kindReply, Ask: ask, OK: value}
	if err != nil {
		f.OK, f.Error = nil, fault(err)
	}
	line, err := encode(f, l.w.opt.frame)
	if err != nil {
		f.OK, f.Error = nil, fault(fmt.Errorf("the answer can not be sent: %w", err))
		if line, err = encode(f, l.w.opt.frame); err != nil {
			return
		}
	}
	select {
	case l.queue <- line:
	case <-l.doom:
	}
}

// fault is an error as a file gets it.
func fault(err error) *script.Fault {
	if f, ok := errors.AsType[*script.Fault](err); ok {
		return f
	}
	return &script.Fault{Name: "Error", Message: err.Error()}
}
