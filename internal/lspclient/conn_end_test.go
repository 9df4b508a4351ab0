package lspclient

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/internal/lspclient/lsptest"
)

func TestBrokenStreamEnds(t *testing.T) {
	for _, c := range []struct {
		name, out string
		err       error
	}{
		{"broken frame", "Content-Length: twelve\r\n\r\n{]", errFrame},
		{"too large", "Content-Length: 67108865\r\n\r\n", errLarge},
		{"lost between", `Content-Length: 2` + "\r\n" + `{}`, errEnded},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, server := connect(t, &ear{})
			got := ask(t.Context(), conn, "m", nil)
			server.hear()
			server.print(c.out)
			server.out.Close()
			if r := <-got; !errors.Is(r.err, c.err) {
				t.Errorf("error %v", r.err)
			}
			if err := conn.notify("n", nil); !errors.Is(err, c.err) {
				t.Errorf("then: %v", err)
			}
			if _, err := conn.call(t.Context(), "m", nil); !errors.Is(err, c.err) {
				t.Errorf("then: %v", err)
			}
		})
	}
}

// A server may die after any byte: the call gets its answer if all of it is
// there, and fails at once if not.
func TestServerDiesAnywhere(t *testing.T) {
	stream := "log line\n" + string(appendFrame(nil, []byte(`{"method":"n"}`))) + string(appendFrame(nil, []byte(`{"id":1,"result":"answer"}`)))
	for n := range len(stream) + 1 {
		h := &ear{}
		c, server := connect(t, h)
		got := ask(t.Context(), c, "m", nil)
		server.hear()
		server.print(stream[:n])
		server.out.Close()
		server.raw.Close()
		r := <-got
		if n == len(stream) && (r.err != nil || string(r.raw) != `"answer"`) {
			t.Errorf("all of it: %s, %v", r.raw, r.err)
		}
		if n < len(stream) && !errors.Is(r.err, errEnded) {
			t.Errorf("cut at %d: %s, %v", n, r.raw, r.err)
		}
		<-c.done()
	}
}

func TestCloseEndsCalls(t *testing.T) {
	c, server := connect(t, &ear{})
	got := ask(t.Context(), c, "m", nil)
	server.hear()
	if err := c.err(); err != nil {
		t.Errorf("before the end: %v", err)
	}
	why := errors.New("nobody needs it")
	c.close(why)
	c.close(errors.New("again"))
	if r := <-got; !errors.Is(r.err, why) {
		t.Errorf("error %v", r.err)
	}
	<-c.done()
	if err := c.err(); !errors.Is(err, why) {
		t.Errorf("error %v", err)
	}
	if _, err := server.in.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("the server's input: %v", err)
	}
	for err := error(nil); err == nil; { // until nobody reads any more
		_, err = server.out.Write([]byte("x"))
	}
}

// A handler may end the connection itself.
func TestCloseInHandler(t *testing.T) {
	var c *conn
	made := make(chan struct{})
	h := &ear{answer: func(string, json.RawMessage) (any, error) {
		<-made
		c.close(nil)
		return nil, nil
	}}
	c, server := connect(t, h)
	close(made)
	server.say(`{"id":1,"method":"m"}`)
	<-c.done()
	if !errors.Is(c.err(), errClosed) {
		t.Error(c.err())
	}
}

// What a server said before it ended is heard, though it cannot be written to.
func TestLastWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, server := connect(t, &ear{})
		got := ask(t.Context(), c, "m", nil)
		server.hear()
		server.raw.Close()
		if err := c.notify("n", nil); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		server.say(`{"id":1,"result":"last"}`)
		if r := <-got; string(r.raw) != `"last"` {
			t.Errorf("%s, %v", r.raw, r.err)
		}
		server.out.Close()
		<-c.done()
		if !errors.Is(c.err(), errEnded) {
			t.Error(c.err())
		}
	})
}

// A server that only stops to listen is given up on.
func TestClosedInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, server := connect(t, &ear{})
		server.raw.Close()
		got := ask(t.Context(), c, "m", nil)
		if r := <-got; !errors.Is(r.err, io.ErrClosedPipe) {
			t.Errorf("error %v", r.err)
		}
	})
}

// Pipes of the system are what production uses: closing them must end a write
// and a read that are under way.
func TestCloseSystemPipes(t *testing.T) {
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer theirIn.Close()
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer theirOut.Close()
	h := &ear{}
	c := newConn(ourOut, ourIn, h)
	if err := c.notify("n", strings.Repeat("x", 1<<20)); err != nil {
		t.Fatal(err)
	}
	got := ask(t.Context(), c, "m", nil)
	if _, err := theirIn.Read(make([]byte, 1)); err != nil { // it is being written
		t.Fatal(err)
	}
	c.close(nil)
	if r := <-got; !errors.Is(r.err, errClosed) {
		t.Errorf("error %v", r.err)
	}
	// That both goroutines end is seen by the leak check of the package.
}

// The server for tests reads and writes messages by code of its own, so that
// both would have to be wrong alike.
func TestTalkToProcess(t *testing.T) {
	argv := lsptest.Command("--stray")
	cmd := exec.Command(argv[0], argv[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = theirOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirOut.Close()
	h := &ear{}
	c := newConn(in, out, h)
	for _, method := range []string{"initialize", "shutdown"} {
		if _, err := c.call(t.Context(), method, map[string]any{}); err != nil {
			t.Errorf("%s: %v", method, err)
		}
	}
	var refused *rpcError
	if _, err := c.call(t.Context(), "workspace/symbol", map[string]any{}); !errors.As(err, &refused) || refused.Code != -32002 {
		t.Errorf("after shutdown: %v", err)
	}
	if err := c.notify("exit", nil); err != nil {
		t.Error(err)
	}
	<-c.done()
	if err := c.err(); !errors.Is(err, errEnded) {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if _, strays := h.all(); !cmp.Equal(strays, []string{"stray line 1", "stray line 2", "stray line 3"}) {
		t.Errorf("printed: %q", strays)
	}
}

// Another process may hold the output of a server that has ended: a deadline
// ends the reading then.
func TestReadDeadline(t *testing.T) {
	out, held, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	theirIn, in := io.Pipe()
	defer theirIn.Close()
	c := newConn(in, out, &ear{})
	defer c.close(nil)
	if err := out.SetReadDeadline(time.Now()); err != nil {
		t.Skip("pipes have no deadlines here:", err)
	}
	<-c.done()
	if err := c.err(); !errors.Is(err, errEnded) {
		t.Error(err)
	}
}
