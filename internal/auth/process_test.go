package auth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/helve-dev/helve/mcp"
)

// child is another process that uses the store at path against the authority
// at addr. The clock is the authority's: each round starts when it says so.
func child(addr, path string) int {
	var clock atomic.Int64
	c := &http.Client{Timeout: time.Minute}
	s := OpenSignIns(path)
	s.now = func() time.Time { return time.Unix(0, clock.Load()).UTC() }
	h := s.Handler("srv", os.Getenv("HELVE_SIGNIN_TEST_URL"), mcp.OAuth{}, HandlerOptions{HTTP: c})
	for {
		resp, err := c.Get(addr)
		if err != nil {
			fmt.Println("tick:", err)
			return 1
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if string(text) == "end" {
			return 0
		}
		n, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			fmt.Println("tick:", err)
			return 1
		}
		clock.Store(n)
		var bad atomic.Bool
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				status, err := call(context.Background(), c, os.Getenv("HELVE_SIGNIN_TEST_URL"), h)
				if status != 200 || err != nil {
					fmt.Println("call:", status, err)
					bad.Store(true)
				}
			})
		}
		all.Wait()
		if bad.Load() {
			return 1
		}
	}
}

func startChild(ctx context.Context, s *SignIns, url, tick string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), "HELVE_SIGNIN_TEST_CHILD="+tick, "HELVE_SIGNIN_TEST_FILE="+s.path, "HELVE_SIGNIN_TEST_URL="+url)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	return cmd, &out
}

// A meeting lets processes start each round together.
type meeting struct {
	mu      sync.Mutex
	size    int
	waiting []chan string
	next    func() string
}

func (m *meeting) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	mine := make(chan string, 1)
	m.mu.Lock()
	m.waiting = append(m.waiting, mine)
	if len(m.waiting) == m.size {
		word := m.next()
		for _, c := range m.waiting {
			c <- word
		}
		m.waiting = nil
	}
	m.mu.Unlock()
	select {
	case word := <-mine:
		io.WriteString(w, word)
	case <-req.Context().Done():
	}
}

// Two processes with four users each share a file through a day in which the
// token ends every few minutes, for all of them at the same instant.
func TestADayOfTwoProcesses(t *testing.T) {
	const step = 4 * time.Minute
	a := newAuthority(t)
	a.life = 5 * time.Minute
	s := storeAt(t, a)
	if status, err := call(t.Context(), a.Client(), a.URL+"/mcp", s.Handler("srv", a.URL+"/mcp", mcp.OAuth{}, a.person())); status != 200 || err != nil {
		t.Fatalf("signing in: %d %v", status, err)
	}
	denied := a.count(&a.denied)
	rounds := int(24 * time.Hour / step)
	if testing.Short() {
		rounds /= 10
	}
	left := rounds
	tick := httptest.NewServer(&meeting{size: 2, next: func() string {
		if left--; left < 0 {
			return "end"
		}
		a.pass(step)
		return strconv.FormatInt(a.now().UnixNano(), 10)
	}})
	defer tick.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	ends := make(chan error, 2)
	for range 2 {
		cmd, out := startChild(ctx, s, a.URL+"/mcp", tick.URL)
		go func() {
			err := cmd.Run()
			if err != nil {
				err = fmt.Errorf("%w: %s", err, out)
			}
			ends <- err
		}()
	}
	for range 2 {
		if err := <-ends; err != nil {
			cancel() // the other one would wait for ever
			t.Error(err)
		}
	}
	if n := a.count(&a.rotated); n != rounds {
		t.Errorf("the token was renewed %d times, want once in each of %d rounds", n, rounds)
	}
	if n := a.count(&a.spent); n != 0 {
		t.Errorf("%d spent refresh tokens came back", n)
	}
	if n := a.count(&a.granted); n != 1 {
		t.Errorf("%d sign-ins, want the first only", n)
	}
	if n := a.count(&a.denied) - denied; n != 0 {
		t.Errorf("the resource refused %d requests", n)
	}
}

// A process that is killed while it renews holds up nobody.
func TestKilledWhileRenewing(t *testing.T) {
	a := newAuthority(t)
	s := storeAt(t, a)
	if _, err := call(t.Context(), a.Client(), a.URL+"/mcp", s.Handler("srv", a.URL+"/mcp", mcp.OAuth{}, a.person())); err != nil {
		t.Fatal(err)
	}
	arrived := make(chan struct{})
	a.token = func(w http.ResponseWriter, req *http.Request) {
		close(arrived)
		<-req.Context().Done()
	}
	a.pass(time.Hour)
	tick := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		io.WriteString(w, strconv.FormatInt(a.now().UnixNano(), 10))
	}))
	defer tick.Close()
	cmd, _ := startChild(t.Context(), s, a.URL+"/mcp", tick.URL)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-arrived
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) {
		t.Fatalf("the process ended with %v", err)
	}
	a.token = nil
	status, err := call(t.Context(), a.Client(), a.URL+"/mcp", s.Handler("srv", a.URL+"/mcp", mcp.OAuth{}, a.nobody()))
	if status != 200 || err != nil {
		t.Errorf("after the kill: %d %v", status, err)
	}
}
