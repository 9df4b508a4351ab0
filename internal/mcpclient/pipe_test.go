//go:build unix

package mcpclient

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/helve-dev/helve/mcp"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// newTestPipe returns a pipe, what its server prints to, and what it reads.
func newTestPipe(t *testing.T) (p *pipe, prints, reads *os.File) {
	t.Helper()
	reads, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, prints, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p = newPipe(in, out, newLink(newPeer(New(mcp.Options{}, mcp.Host{}), mcp.Server{Name: "one"})))
	t.Cleanup(func() {
		prints.Close()
		reads.Close()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		<-p.wdone
	})
	return p, prints, reads
}

// stuff writes to the server until it takes nothing more.
func (p *pipe) stuff(t *testing.T) {
	t.Helper()
	if err := p.in.SetWriteDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.in.Write(make([]byte, 1<<20)); err == nil {
		t.Fatal("the pipe is not full")
	}
	if err := p.in.SetWriteDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
}

// A server that asks and does not read what it is answered costs no more than
// a few requests.
func TestUnreadAnswers(t *testing.T) {
	p, prints, _ := newTestPipe(t)
	p.stuff(t)
	go func() {
		for i := range 10 * maxRequests {
			fmt.Fprintf(prints, `{"jsonrpc":"2.0","id":"q%d","method":"ping"}`+"\n", i)
		}
		fmt.Fprintln(prints, `{"jsonrpc":"2.0","id":"`+strings.Repeat("x", 2*maxID)+`","method":"ping"}`)
		fmt.Fprintln(prints, `{"jsonrpc":"2.0","id":"m","method":"`+strings.Repeat("x", 2*maxID)+`"}`)
		fmt.Fprintln(prints, `{"jsonrpc":"2.0","id":"p","method":"ping","params":{"x":"`+strings.Repeat("x", 2*maxRequest)+`"}}`)
		prints.Close()
	}()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	admitted := 0
	for {
		m, err := p.Read(ctx)
		if err != nil {
			break
		}
		admitted++
		answered := make(chan struct{})
		go func() {
			close(answered)
			_ = p.Write(ctx, &jsonrpc.Response{ID: m.(*jsonrpc.Request).ID, Result: []byte(`{}`)})
		}()
		<-answered
		for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			p.mu.Lock()
			counted := p.replies
			p.mu.Unlock()
			if counted >= admitted*10 {
				break
			}
		}
	}
	if admitted != maxRequests {
		t.Errorf("%d requests were let in", admitted)
	}
	if log := strings.Join(p.l.e.log.Lines(), "\n"); strings.Count(log, "a request was dropped") != 2 {
		t.Errorf("the log is\n%s", log)
	}
}

// A request that is too large is refused, and the next one is not.
func TestLargeRequest(t *testing.T) {
	p, prints, reads := newTestPipe(t)
	go func() {
		fmt.Fprintln(prints, `{"jsonrpc":"2.0","id":"large","method":"ping","params":{"x":"`+strings.Repeat("x", maxRequest)+`"}}`)
		fmt.Fprintln(prints, `{"jsonrpc":"2.0","id":"small","method":"ping"}`)
	}()
	m, err := p.Read(t.Context())
	if r, ok := m.(*jsonrpc.Request); err != nil || !ok || r.ID.Raw() != "small" {
		t.Errorf("%+v, %v", m, err)
	}
	line, err := bufio.NewReader(reads).ReadString('\n')
	if err != nil || !strings.Contains(line, `"large"`) || !strings.Contains(line, "more than 1048576 bytes") {
		t.Errorf("%s, %v", line, err)
	}
}

// Answers that nobody reads are bounded in bytes, too.
func TestLargeAnswers(t *testing.T) {
	p, _, _ := newTestPipe(t)
	p.stuff(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	id, err := jsonrpc.MakeID("q")
	if err != nil {
		t.Fatal(err)
	}
	p.asked[id] = true
	big := []byte(`"` + strings.Repeat("x", maxReplies) + `"`)
	if err := p.Write(ctx, &jsonrpc.Response{ID: id, Result: big}); err != nil || len(p.asked) != 0 {
		t.Errorf("%v, %d are counted", err, len(p.asked))
	}
	if log := p.l.e.log.Lines(); len(log) != 1 {
		t.Errorf("the log is %q", log)
	}
}

// What is being written may have been read and done already.
func TestWrittenBeforeItReturns(t *testing.T) {
	p, _, reads := newTestPipe(t)
	id, err := jsonrpc.MakeID("c")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		done <- p.Write(t.Context(), &jsonrpc.Request{ID: id, Method: "x", Params: []byte(`"` + strings.Repeat("x", 1<<20) + `"`)})
	}()
	b := make([]byte, 100)
	if _, err := reads.Read(b); err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	end, written := p.ends[id], p.written
	p.mu.Unlock()
	if end == 0 || written < end {
		t.Errorf("%d bytes count as written, and the call ends at %d", written, end)
	}
	reads.Close()
	if err := <-done; !neverSent(err) {
		t.Errorf("%v", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.written >= end || p.written < int64(len(b)) {
		t.Errorf("after a short write %d bytes of %d count as written", p.written, end)
	}
}
