package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// thought is what the model says when it is done.
const thought = "That is what I think."

// A thinker is a model server that speaks OpenAI's protocol. A model there
// reads a file first, and then thinks until all may go on.
type thinker struct {
	url      string
	web      *http.Server
	thinking atomic.Int32

	mu sync.Mutex
	on chan struct{} // closed when those who think may go on
}

func newThinker() (*thinker, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &thinker{url: "http://" + l.Addr().String() + "/v1", on: make(chan struct{})}
	m.web = &http.Server{Handler: m, ReadHeaderTimeout: time.Minute}
	go func() { _ = m.web.Serve(l) }() // until it is closed
	return m, nil
}

// Close ends the server.
func (m *thinker) Close() error {
	m.release()
	return m.web.Close()
}

// release lets all who think go on; who comes later thinks again.
func (m *thinker) release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.on)
	m.on = make(chan struct{})
	m.thinking.Store(0)
}

// await waits until so many think at once.
func (m *thinker) await(ctx context.Context, count int) error {
	return until(ctx, 5*time.Minute, func() (bool, error) { return int(m.thinking.Load()) == count, nil })
}

// ServeHTTP answers a request of a model's client.
func (m *thinker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	switch {
	case !bytes.Contains(body, []byte(`"tools":[`)): // a title is wanted
		err = speak(w, `{"content":"A title"}`, "stop")
	case !bytes.Contains(body, []byte(`"role":"tool"`)):
		err = speak(w, fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"read","arguments":"{\"filePath\":\"%s\"}"}}]}`, longFile), "tool_calls")
	default:
		m.mu.Lock()
		on := m.on
		m.thinking.Add(1)
		m.mu.Unlock()
		select {
		case <-on:
		case <-r.Context().Done():
			return
		}
		err = speak(w, fmt.Sprintf(`{"content":%q}`, thought), "stop")
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		return // whoever asked is gone
	}
}

// speak says one thing and ends.
func speak(w io.Writer, delta, reason string) error {
	const frame = `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"thinker","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}` + "\n\n"
	_, err := fmt.Fprintf(w, frame+frame+"data: [DONE]\n\n", delta, "null", "{}", `"`+reason+`"`)
	return err
}
