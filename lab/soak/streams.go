package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/helve-dev/helve/client"
)

func (c *cutter) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err == nil {
		c.mu.Lock()
		c.open = append(c.open, conn)
		c.mu.Unlock()
	}
	return conn, err
}

// cut closes all connections so far.
func (c *cutter) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.open {
		_ = conn.Close() // it may be closed already
	}
	c.open = nil
}

// streamDeeds are about connections that are held, lost and cut.
func streamDeeds() []deed {
	return []deed{
		{"subscriber", 6, (*hand).subscribe},
		{"subscriber that resumes", 4, (*hand).resume},
		{"subscriber that lags", 1, (*hand).lag},
		{"cut in the request", 4, (*hand).cutRequest},
		{"cut in the answer", 4, (*hand).cutAnswer},
		{"wrong token", 1, (*hand).wrongToken},
		{"too much", 1, (*hand).tooMuch},
	}
}

// subscribe follows events for a while.
func (w *hand) subscribe(ctx context.Context) error {
	_, err := w.follow(ctx, client.EventQuery{}, time.Duration(w.rand.IntN(1500))*time.Millisecond)
	return err
}

// resume follows events, goes, and comes back to where it was.
func (w *hand) resume(ctx context.Context) error {
	last, err := w.follow(ctx, client.EventQuery{}, 500*time.Millisecond)
	if err != nil {
		return err
	}
	w.pause(ctx, 500*time.Millisecond)
	_, err = w.follow(ctx, client.EventQuery{After: last}, 500*time.Millisecond)
	return err
}

// follow reads events for some time, and returns the last one's id. They have
// to come in order.
func (w *hand) follow(ctx context.Context, q client.EventQuery, long time.Duration) (last string, err error) {
	ctx, cancel := context.WithTimeout(ctx, long)
	defer cancel()
	seq := uint64(0)
	for e, err := range w.api.Events(ctx, q) {
		switch {
		case err != nil && ctx.Err() != nil:
			return last, nil
		case err != nil:
			return last, err
		}
		if e.Type == client.EventReload || e.Type == client.EventMissed {
			seq = 0
		} else if e.Seq <= seq {
			return last, fmt.Errorf("event %d came after %d", e.Seq, seq)
		}
		last, seq = e.ID, max(seq, e.Seq)
	}
	return last, nil
}

// lag opens a stream, reads its first line, and then nothing for a while.
func (w *hand) lag(ctx context.Context) error {
	conn, err := w.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := w.send(conn, "GET", "/v1/events", ""); err != nil {
		return err
	}
	if _, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil {
		return err
	}
	w.pause(ctx, 3*time.Second)
	return nil
}

// send writes a request to a bare connection.
func (w *hand) send(conn net.Conn, method, path, body string) error {
	_, err := fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		method, path, strings.TrimPrefix(w.subject.url, "http://"), w.subject.token, len(body), body)
	return err
}

// cutRequest hangs up in the midst of saying what is wanted.
func (w *hand) cutRequest(ctx context.Context) error {
	conn, err := w.dial(ctx)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("POST /v1/calls HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{\"tool\":\"re",
		strings.TrimPrefix(w.subject.url, "http://"), w.subject.token)
	_, err = io.WriteString(conn, text[:w.rand.IntN(len(text))+1])
	w.pause(ctx, 50*time.Millisecond)
	w.count.fault("connection cut", nil)
	return errors.Join(err, conn.Close())
}

// cutAnswer hangs up while the call is under way, or its answer on the way.
func (w *hand) cutAnswer(ctx context.Context) error {
	conn, err := w.dial(ctx)
	if err != nil {
		return err
	}
	at := callKey{w.session, w.count.id()}
	body := []string{
		`{"tool":"bash","input":{"command":"yes | head -c 100000","description":"Says yes"},`,
		`{"tool":"bash","input":{"command":"sleep 1; echo late","description":"Waits"},`,
		`{"tool":"read","input":{"filePath":"` + w.source() + `"},`,
	}[w.rand.IntN(3)] + fmt.Sprintf(`"session":%q,"id":%q}`, at.session, at.id)
	err = w.send(conn, "POST", "/v1/calls", body)
	w.pause(ctx, 200*time.Millisecond)
	if w.chance(2) {
		_ = conn.SetReadDeadline(time.Now().Add(300 * time.Millisecond)) // a closed one says so when it is read
		_, _ = conn.Read(make([]byte, 50))                               // the beginning of it, if there is one
	}
	if tcp, ok := conn.(*net.TCPConn); ok && w.chance(2) {
		_ = tcp.SetLinger(0) // as one does whose process has crashed
	}
	w.count.ended(at, unheard)
	w.count.fault("connection cut", nil)
	return errors.Join(err, conn.Close())
}

// raw sends a body that is not to be understood.
func (w *hand) raw(ctx context.Context, body string) error {
	return w.exchange(ctx, w.subject.token, strings.NewReader(body))
}

func (w *hand) wrongToken(ctx context.Context) error {
	return w.exchange(ctx, "wrong", strings.NewReader(`{"tool":"read"}`))
}

// tooMuch sends more than is taken.
func (w *hand) tooMuch(ctx context.Context) error {
	return w.exchange(ctx, w.subject.token, io.LimitReader(noEnd{}, 17<<20))
}

// exchange sends a body that has to be refused.
func (w *hand) exchange(ctx context.Context, token string, body io.Reader) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.subject.url+"/v1/calls", body)
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	c := &http.Client{Transport: bearer{token, &http.Transport{DisableKeepAlives: true}}}
	res, err := c.Do(r)
	if err != nil {
		if _, long := body.(*io.LimitedReader); long {
			return nil // it may hang up on who sends too much
		}
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode < 400 || res.StatusCode >= 500 {
		return fmt.Errorf("what is to be refused was answered %s", res.Status)
	}
	return nil
}

// noEnd is spaces.
type noEnd struct{}

func (noEnd) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// answerDeeds are those of the person who is asked.
func answerDeeds() []deed {
	return []deed{{"answer", 1, (*hand).answer}}
}

// answer answers some of what waits, in all ways, and leaves the rest.
func (w *hand) answer(ctx context.Context) error {
	waiting, err := w.api.ListRequests(ctx)
	if err != nil {
		return err
	}
	for _, p := range waiting.Permissions {
		reply := client.PermissionReply{Reply: []string{"once", "once", "always", "reject", "left"}[w.rand.IntN(5)]}
		if reply.Reply == "reject" {
			reply.Message = "not now"
		}
		if reply.Reply == "left" {
			w.count.did("permission left", "ok")
			continue
		}
		err := w.api.ReplyPermission(ctx, p.ID, reply)
		w.count.did("permission "+reply.Reply, w.count.judge(ctx, "reply", err))
	}
	for _, q := range waiting.Questions {
		var err error
		how := []string{"answered", "dismissed", "left"}[w.rand.IntN(3)]
		switch how {
		case "answered":
			err = w.api.AnswerQuestion(ctx, q.ID, client.QuestionAnswer{Answers: [][]string{{"Tea"}}})
		case "dismissed":
			err = w.api.DismissQuestion(ctx, q.ID)
		}
		w.count.did("question "+how, w.count.judge(ctx, "answer", err))
	}
	w.pause(ctx, 300*time.Millisecond)
	return nil
}
