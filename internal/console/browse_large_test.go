package console_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"github.com/helve-dev/helve/internal/store"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

// many is how long the session is that has to stay smooth.
const many = 10000

// fillSession writes a session of many calls straight into the store, as a
// long day would have left it.
func fillSession(t *testing.T, h *host, session string) {
	t.Helper()
	s, err := store.Open(store.Options{Dir: filepath.Join(h.home, "data")})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now().Add(-time.Hour).UnixMilli()
	err = s.AddSession(t.Context(), record.Session{ID: session, Dir: h.dir, Project: "", Title: "A long day", Agent: "build", Time: record.SessionTime{Created: began}})
	if err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for w := range 32 {
		writers.Go(func() {
			for i := w; i < many; i += 32 {
				if err := s.Record(longCall(session, i, began)); err != nil {
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
}

// longCall is one call of the long session; every 50th failed.
func longCall(session string, i int, began int64) record.Call {
	at := began + int64(i)*300
	c := record.Call{
		ID: fmt.Sprintf("call_%05d", i), Session: session, Tool: []string{"read", "grep", "bash", "edit"}[i%4], Agent: "build",
		Input: fmt.Sprintf(`{"filePath":"file%d.go"}`, i), State: record.Completed, Started: at, Ended: at + int64(50+i%700),
		Result: &tool.Result{Title: fmt.Sprintf("number %05d", i), Output: fmt.Sprintf("output of %d\n", i)},
	}
	if i%50 == 49 {
		c.State, c.Result = record.Failed, nil
		c.Error = &record.Failure{Kind: tool.Failed, Code: "no-such-file", Message: fmt.Sprintf("there is no file%d.go", i)}
	}
	return c
}

// measure scrolls a list from where it is to its other end in steps of some
// pages, a step a frame, and tells what that was like.
const measure = `async down => {
	const list = document.querySelector('#main .vlist[aria-label=Calls]');
	const long = [], gaps = [];
	const watch = new PerformanceObserver(all => long.push(...all.getEntries().map(e => e.duration)));
	watch.observe({type: 'longtask'});
	let rows = 0, last = 0, blank = 0;
	const frame = () => new Promise(requestAnimationFrame);
	await frame();
	const step = list.clientHeight * 3 * (down ? 1 : -1), began = performance.now();
	for (let n = 0; n < 2000; n++) {
		const before = list.scrollTop;
		list.scrollTop += step;
		if (list.scrollTop === before) break;
		const now = await frame();
		if (last) gaps.push(now - last);
		last = now;
		rows = Math.max(rows, list.querySelectorAll('.vrow').length);
	}
	await frame(); await frame();
	const box = list.getBoundingClientRect();
	for (let y = box.top + 5; y < box.bottom - 5; y += 30) if (!document.elementFromPoint(box.left + 60, y)?.closest('.vrow')) blank++;
	watch.disconnect();
	gaps.sort((a, b) => a - b);
	return {frames: gaps.length, took: performance.now() - began, median: gaps[gaps.length >> 1], p95: gaps[Math.floor(gaps.length * .95)], worst: gaps.at(-1),
		long: long.length, longest: Math.max(0, ...long), rows, blank, nodes: document.querySelectorAll('*').length};
}`

// smoothness is what measure tells, in milliseconds and counts.
type smoothness struct {
	Frames, Long, Rows, Blank, Nodes  int
	Took, Median, P95, Worst, Longest float64
}

// TestBrowseLarge opens a session of very many calls and scrolls through all of
// it and back.
func TestBrowseLarge(t *testing.T) {
	h := newHost(t, `{"*": "allow"}`)
	const session = "ses_long"
	fillSession(t, h, session)
	h.start()
	b := newTab(t, h)
	b.enter("#/sessions")
	b.see("A long day")
	began := time.Now()
	b.visit("#/sessions/" + session)
	b.until("a row can be read", `() => [...document.querySelectorAll('#main .vrow')].some(r => !r.hidden && /number/.test(r.textContent))`)
	first := time.Since(began)
	b.see("10,000 calls")
	t.Logf("first rows after %d ms, all loaded after %d ms", first.Milliseconds(), time.Since(began).Milliseconds())
	b.focus("listbox", "Calls")
	b.key(kb.Home)
	b.until("the first call is in sight", inSight, "number 00000")
	for _, down := range []bool{true, false} {
		got := eval[smoothness](b, measure, down)
		t.Logf("down %v: %+v", down, got) // times are the machine's; counts are ours
		if got.Rows > 500 || got.Nodes > 5000 {
			t.Errorf("there are %d rows and %d elements", got.Rows, got.Nodes)
		}
		if got.Frames < 20 || got.Blank > 0 {
			t.Errorf("after %d frames %d places are blank", got.Frames, got.Blank)
		}
	}
	b.until("the first call is in sight", inSight, "number 00000")
	b.key(kb.End)
	b.until("the last call is in sight", inSight, "there is no file9999.go")
	b.key(kb.ArrowUp)
	b.key("\r")
	b.see("output of 9998")
	b.shot("")
	b.fill("searchbox", "Filter calls by text", "number 04321")
	b.see("1 of 10,000 calls")
}

// inSight tells whether a row with a text stands where it can be seen.
const inSight = `s => {
	const list = document.querySelector('#main .vlist[aria-label=Calls]'), box = list.getBoundingClientRect();
	return [...list.querySelectorAll('.vrow')].some(r => !r.hidden && r.textContent.includes(s) && r.getBoundingClientRect().top >= box.top - 2 && r.getBoundingClientRect().bottom <= box.bottom + 2);
}`
