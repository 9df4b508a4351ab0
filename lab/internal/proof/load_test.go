package proof

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

func TestPut(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // what is missing shows in the answer
		switch {
		case r.Header.Get("Authorization") != "Bearer secret":
			http.Error(w, "who are you", http.StatusUnauthorized)
		case r.Method == "POST" && r.Header.Get("Content-Type") == "application/json":
			_, _ = w.Write(append([]byte("told "), body...))
		case r.URL.Path == "/cut":
			panic(http.ErrAbortHandler)
		default:
			_, _ = io.WriteString(w, "here it is")
		}
	}))
	defer web.Close()
	s := Server{Name: "it", Addr: strings.TrimPrefix(web.URL, "http://"), Token: "secret", PID: os.Getpid()}
	stranger := s
	stranger.Token = "another"
	for _, c := range []struct {
		name  string
		plan  Plan
		asked int // 0: some
		good  bool
	}{
		{"at a rate", Plan{Wires: 4, Rate: 100, Last: time.Second / 2, Turns: []Request{s.Request("/", "", "here")}}, 50, true},
		{"with a body", Plan{Wires: 2, Rate: 100, Last: time.Second / 5, Turns: []Request{s.Request("/", `{"a":1}`, `told {"a":1}`)}}, 20, true},
		{"at once", Plan{Wires: 2, Last: time.Second / 10, Turns: []Request{s.Request("/", "", "")}}, 0, true},
		{"another answer", Plan{Wires: 2, Rate: 100, Last: time.Second / 5, Turns: []Request{s.Request("/", "", "no such text")}}, 20, false},
		{"cut", Plan{Wires: 2, Rate: 100, Last: time.Second / 5, Turns: []Request{s.Request("/cut", "", "")}}, 20, false},
		{"refused", Plan{Wires: 2, Rate: 100, Last: time.Second / 5, Turns: []Request{stranger.Request("/", "", "")}}, 20, false},
	} {
		l, err := s.Put(t.Context(), c.plan)
		if err != nil {
			t.Fatal(err)
		}
		if l.Asked == 0 || c.asked > 0 && l.Asked != c.asked || c.good != (l.Failed == 0) || c.good != (l.First == nil) || l.Failed+len(l.Times) != l.Asked {
			t.Errorf("%s: %d asked, %d answered, %d failed, %v", c.name, l.Asked, len(l.Times), l.Failed, l.First)
		}
		if c.good == (len(l.Times) == 0) {
			t.Errorf("%s: %d times", c.name, len(l.Times))
		}
	}
}

func TestPutNowhere(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	s := Server{Addr: strings.TrimPrefix(web.URL, "http://")}
	web.Close()
	if _, err := s.Put(t.Context(), Plan{Wires: 1, Last: time.Second, Turns: []Request{s.Request("/", "", "")}}); err == nil {
		t.Error("there was nobody, and nothing failed")
	}
}

func TestUntil(t *testing.T) {
	if err := Until(t.Context(), time.Now().Add(-time.Second)); err != nil {
		t.Error(err)
	}
	due := time.Now().Add(10 * time.Millisecond)
	if err := Until(t.Context(), due); err != nil || time.Now().Before(due) {
		t.Error(err, "or too early")
	}
}
