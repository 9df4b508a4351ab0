package console_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/helve-dev/helve/internal/store"
	"github.com/helve-dev/helve/record"
)

// TestBrowseMoreSessions has more sessions than are loaded at once: the others
// come when they are asked for.
func TestBrowseMoreSessions(t *testing.T) {
	const all = 520
	h := newHost(t, `{"*": "allow"}`)
	s, err := store.Open(store.Options{Dir: filepath.Join(h.home, "data")})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now().Add(-time.Hour).UnixMilli()
	var writers sync.WaitGroup
	for w := range 16 {
		writers.Go(func() {
			for i := w; i < all; i += 16 {
				id := fmt.Sprintf("ses_%03d", i)
				if err := s.AddSession(t.Context(), record.Session{ID: id, Dir: h.dir, Title: "Session " + id, Agent: "build", Time: record.SessionTime{Created: began + int64(i)}}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	writers.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	h.start()
	b := newTab(t, h)
	b.enter("#/sessions")
	b.see("500 sessions of the newest")
	b.shot("")
	b.press("button", "Show more")
	b.see("520 sessions")
	b.none("button", "Show more")
	b.fill("searchbox", "Filter sessions", "ses_000")
	b.see("Session ses_000")
}

// TestBrowseBusyCard answers a request on the page of its session while the
// network is slow: the card stays until it is known how that ended, although
// the events tell of it before.
func TestBrowseBusyCard(t *testing.T) {
	h := newHost(t, removing).start()
	b := newTab(t, h)
	session, call := h.begin("bash", map[string]any{"command": "rm -rf build"})
	b.enter("#/sessions/" + session + "/calls/" + call)
	b.see("Permission needed")
	eval[any](b, `() => {
		const real = window.fetch, held = new Promise(done => { window.release = done });
		window.fetch = async (url, init) => {
			const answer = await real(url, init);
			if (init?.method === 'POST' && url.startsWith('/v1/permissions/')) await held;
			return answer;
		};
	}`)
	b.decide("Allow once.*")
	if state, _ := h.settled(session, call); state != "completed" {
		t.Errorf("the call is %s", state)
	}
	b.see("completed") // so the events have come
	if !eval[bool](b, `() => document.querySelector('#main [data-request]')?.getAttribute('aria-busy') === 'true'`) {
		t.Error("the card was taken away while it was answered")
	}
	eval[any](b, `() => release()`)
	b.until("the card says how it ended, or goes", `() => !document.querySelector('#main [data-request]:not(.settled)')`)
}
