package lsptest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

const (
	// lifetime ends a server or its child that everybody has forgotten.
	lifetime = 5 * time.Minute
	// broken is the exit code for a client that breaks the protocol.
	broken = 3

	codeNoMethod  = -32601
	codeParams    = -32602
	codeNotReady  = -32002
	codeCancelled = -32800
	codeFailed    = -32803
)

// A server serves one client. All of it runs on one goroutine; only reading
// has one of its own.
type server struct {
	o   options
	out io.Writer
	log *os.File

	texts
	ready    bool // initialize was answered
	finished bool // shutdown was
	edits    bool // the client takes documentChanges
	deaf     bool
	told     bool // something was published
	lastID   int
	asked    map[int]func(Message)
	waiting  []delayed
	printed  int
	memory   []byte
}

// A delayed thing is done later.
type delayed struct {
	due time.Time
	id  string // of the request that it answers
	do  func()
}

// An over ends the server with a code.
type over struct{ code int }

// An rpcError is an error that is sent to the client.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (f *rpcError) Error() string { return f.Message }

// serve is the whole life of a server.
func serve(o options, in io.Reader, out io.Writer) (code int) {
	if o.sleep || o.never[exit] {
		signal.Ignore(syscall.SIGTERM)
	}
	if o.sleep {
		time.Sleep(lifetime)
		return 0
	}
	s := &server{o: o, out: out, texts: newTexts(), asked: map[int]func(Message){}}
	defer func() {
		switch end := recover().(type) {
		case nil:
		case over:
			code = end.code
		default:
			panic(end)
		}
	}()
	s.beforeFirstMessage()
	s.handleMessages(bufio.NewReader(in))
	return 0
}

// beforeFirstMessage does what is asked for the time before the first message.
func (s *server) beforeFirstMessage() {
	if s.o.log != "" {
		f, err := os.OpenFile(s.o.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		s.must(err)
		s.log = f
	}
	s.mayDie(atStart)
	if s.o.child {
		argv := Command("--sleep")
		child := exec.Command(argv[0], argv[1:]...)
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		s.must(child.Start())
		fmt.Fprintf(os.Stderr, "child %d\n", child.Process.Pid)
	}
}

// handleMessages handles messages and what is due, until something ends it.
func (s *server) handleMessages(in *bufio.Reader) {
	type read struct {
		body json.RawMessage
		err  error
	}
	messages := make(chan read)
	go func() {
		for {
			body, err := readMessage(in)
			messages <- read{body, err}
			if err != nil {
				return
			}
		}
	}()
	end := time.After(lifetime)
	for {
		from := messages
		if s.deaf {
			from = nil
		}
		var due <-chan time.Time
		if len(s.waiting) > 0 {
			due = time.After(time.Until(s.waiting[0].due))
		}
		select {
		case <-end:
			panic(over{2})
		case <-due:
			next := s.waiting[0]
			s.waiting = s.waiting[1:]
			next.do()
		case got := <-from:
			if got.err != nil {
				s.inputEnded(got.err)
				messages = nil
				continue
			}
			s.receive(got.body)
		}
	}
}

// inputEnded handles the end of the client's messages.
func (s *server) inputEnded(err error) {
	switch {
	case s.o.never[exit]:
	case errors.Is(err, io.EOF):
		panic(over{1})
	default:
		s.complain("read: %v", err)
	}
}

// complain ends the server: the client has broken the protocol.
func (s *server) complain(format string, args ...any) {
	fmt.Fprintf(os.Stderr, word+": "+format+"\n", args...)
	panic(over{broken})
}

func (s *server) must(err error) {
	if err != nil {
		s.complain("%v", err)
	}
}

// mayDie ends the server if it is to end here.
func (s *server) mayDie(when string) {
	if code, ok := s.o.die[when]; ok {
		fmt.Fprintf(os.Stderr, "%s: fatal at %s\n", word, when)
		panic(over{code})
	}
}

// receive handles one message of the client.
func (s *server) receive(body json.RawMessage) {
	if s.log != nil {
		_, err := s.log.Write(append(slices.Clone(body), '\n'))
		s.must(err)
	}
	var m Message
	if err := json.Unmarshal(body, &m); err != nil {
		s.complain("not a message: %.100q", body)
	}
	if m.Method == "" {
		s.handleResponse(m)
		return
	}
	s.mayDie(m.Method)
	if s.o.deaf[m.Method] {
		s.deaf = true
	}
	if m.ID == nil {
		s.notified(m)
		return
	}
	result, err := s.request(m)
	s.act(m.Method, string(m.ID), func() { s.send(reply(m.ID, result, err)) })
	if m.Method == "initialize" {
		s.mayDie(afterInitialize)
	}
}

// reply makes the message that answers a request.
func reply(id json.RawMessage, result any, err error) any {
	answer := map[string]any{"jsonrpc": "2.0", "id": id}
	var f *rpcError
	switch {
	case errors.As(err, &f):
		answer["error"] = f
	case err != nil:
		answer["error"] = &rpcError{codeFailed, err.Error()}
	default:
		answer["result"] = result
	}
	return answer
}

// act does what a method leads to, or what the flags say about it instead.
func (s *server) act(method, id string, do func()) {
	switch {
	case s.o.never[method]:
		return
	case s.o.garbage[method]:
		do = func() { s.write("Content-Length: twelve\r\n\r\n{]") }
	}
	if d := s.o.delay[method]; d > 0 {
		s.later(d, id, do)
		return
	}
	do()
}

// later does something after a while. What is due at once is done in order.
func (s *server) later(d time.Duration, id string, do func()) {
	next := delayed{time.Now().Add(d), id, do}
	at := len(s.waiting)
	for at > 0 && s.waiting[at-1].due.After(next.due) {
		at--
	}
	s.waiting = slices.Insert(s.waiting, at, next)
}

// cancel answers a request that waits, as the client does not.
func (s *server) cancel(id json.RawMessage) {
	at := slices.IndexFunc(s.waiting, func(d delayed) bool { return d.id != "" && d.id == string(id) })
	if at < 0 {
		return
	}
	s.waiting = slices.Delete(s.waiting, at, at+1)
	s.send(reply(id, nil, &rpcError{codeCancelled, "cancelled"}))
}

func (s *server) send(m any) {
	if s.o.stray {
		s.printed++
		s.write(fmt.Sprintf("stray line %d\n", s.printed))
	}
	if err := writeMessage(s.out, m); err != nil {
		panic(over{1})
	}
}

func (s *server) write(text string) {
	if _, err := io.WriteString(s.out, text); err != nil {
		panic(over{1})
	}
}

func (s *server) notify(method string, params any) {
	s.act(method, "", func() { s.send(map[string]any{"jsonrpc": "2.0", "method": method, "params": params}) })
}

// sendRequest sends a request to the client, and then is called with the answer.
func (s *server) sendRequest(method string, params any, then func(Message)) {
	s.lastID++
	s.asked[s.lastID] = then
	s.send(map[string]any{"jsonrpc": "2.0", "id": s.lastID, "method": method, "params": params})
}

func (s *server) handleResponse(m Message) {
	var id int
	if err := json.Unmarshal(m.ID, &id); err != nil || s.asked[id] == nil {
		s.complain("answer to nothing: %s", m.ID)
	}
	then := s.asked[id]
	delete(s.asked, id)
	then(m)
}

// logAnswer logs an answer of the client at the client.
func (s *server) logAnswer(what string, m Message) {
	text := string(m.Result)
	if m.Error != nil {
		text = "error " + string(m.Error)
	}
	s.notify("window/logMessage", map[string]any{"type": 3, "message": what + ": " + text})
}
