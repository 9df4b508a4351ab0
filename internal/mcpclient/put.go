package mcpclient

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/mcp"
)

// elicit shows a question of the server to the person, for the calls in progress. A server that
// asks too much is ignored.
func (l *connection) elicit(ctx context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	q, err := elicitation(req.Params)
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
	return l.put(ctx, q, l.mayAsk)
}

// put shows a question to the person when it is its turn, if may still allows it then.
func (l *connection) put(ctx context.Context, q form, may func() bool) (*sdk.ElicitResult, error) {
	dismissed := &sdk.ElicitResult{Action: "cancel"}
	if !l.queue() {
		return dismissed, nil
	}
	defer l.unqueue()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type reply struct {
		a   mcp.ElicitationAnswer
		err error
	}
	ch := make(chan reply, 1)
	put := l.e.pool.spawn(func() {
		select { // one question at a time
		case l.turn <- struct{}{}:
			defer func() { <-l.turn }()
		case <-ctx.Done():
			return
		}
		switch {
		case !may():
			ch <- reply{}
			return
		case q.URL != "" && !openable(q.URL):
			l.e.log.Add("helve", "a question was declined: what it wants opened is no plain web address")
			ch <- reply{}
			return
		}
		l.pauseCalls()
		a, err := l.e.pool.host.Ask(ctx, l.e.s.Name, q.Elicitation)
		l.resume(err == nil && a.Action == "accept")
		ch <- reply{a, err}
	})
	if !put {
		return dismissed, nil
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.dead:
		return dismissed, nil
	case r := <-ch:
		if r.err != nil {
			l.e.log.Add("helve", "a question could not be put: "+r.err.Error())
			return dismissed, nil
		}
		return q.result(r.a)
	}
}

// openable reports whether a person can be asked to open an address: a web address without user
// information.
func openable(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && u.User == nil
}

// queue counts one more question that waits, unless there are too many.
func (l *connection) queue() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting >= maxQuestions {
		return false
	}
	l.waiting++
	return true
}

func (l *connection) unqueue() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting--
}

// mayAsk reports whether a call is in progress for which the server may ask, and counts the
// question. A question does not name its call, so it counts for all.
func (l *connection) mayAsk() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	may, said := false, true
	for _, w := range l.calls {
		may = may || w.questions < maxAsked && w.declines < maxDeclines
		said = said && w.silenced
	}
	for _, w := range l.calls {
		w.questions++
		w.silenced = !may
	}
	if !may && !said {
		l.e.log.Add("helve", "the server asks too much: its questions are declined until its calls have ended")
	}
	return may
}

// pauseCalls pauses the time limits of calls while the person is being asked.
func (l *connection) pauseCalls() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asking = true
	l.notify()
}

// resume continues the time limits of calls, and tells them whether the person agreed.
func (l *connection) resume(accepted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asking = false
	for _, w := range l.calls {
		if w.answered = w.answered || accepted; !accepted {
			w.declines++
		}
	}
	l.notify()
}

// notify wakes the calls; l.mu is held.
func (l *connection) notify() {
	for _, w := range l.calls {
		select {
		case w.hold <- struct{}{}:
		default:
		}
	}
}

// paused reports whether time limits are paused, and whether there is an answer that this call has
// not seen.
func (l *connection) paused(w *pendingCall) (still, answered bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	answered, w.answered = w.answered, false
	return l.asking, answered
}

// visits asks the person to open the addresses that a server requires before it runs a call. It
// reports whether all were opened.
func (l *connection) visits(ctx context.Context, data json.RawMessage) bool {
	var wanted struct {
		Elicitations []*sdk.ElicitParams `json:"elicitations"`
	}
	if l.e.pool.host.Ask == nil || json.Unmarshal(data, &wanted) != nil {
		return false
	}
	if n := len(wanted.Elicitations); n == 0 || n > maxQuestions {
		return false
	}
	for _, p := range wanted.Elicitations {
		if p == nil || p.Mode != "url" || p.URL == "" {
			return false
		}
		q, err := elicitation(p)
		if err != nil {
			return false
		}
		res, err := l.put(ctx, q, func() bool { return true })
		if err != nil || res.Action != "accept" {
			return false
		}
	}
	return true
}
