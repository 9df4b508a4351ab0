package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/helve-dev/helve/client"
)

// A soaking is a run.
type soaking struct {
	*house
	began   time.Time
	hands   []*hand
	samples []look
	mu      sync.Mutex
	before  look
	after   look
	loads   int
}

// run does all of it: load to get warm, a rest, a look, the load, a rest, a look.
func run(ctx context.Context, args []string, mounts bool) (err error) {
	s, err := parse(args, os.Stderr)
	if err != nil {
		return err
	}
	s.mounts = mounts
	count := newTally()
	h, err := build(s, count)
	if err != nil {
		return err
	}
	k := &soaking{house: h, began: time.Now()}
	report, err := k.soak(ctx)
	if err != nil {
		err = errors.Join(err, k.lastWords())
	}
	if s.keep != "" {
		err = errors.Join(err, k.leave(s.keep))
	}
	err = errors.Join(err, writeSamples(s.samples, k.samples))
	if report == nil {
		return errors.Join(err, h.close())
	}
	err = errors.Join(err, k.examine(report), h.close(), report.sheet(k).WriteFile(s.figures))
	report.print(os.Stdout, k)
	if err == nil && len(report.failures) > 0 {
		err = errors.New("not everything came back: see what FAILED")
	}
	return err
}

// soak soaks the server.
func (k *soaking) soak(ctx context.Context) (*report, error) {
	k.say("seed %d, warming up for %s", k.s.seed, k.s.warm)
	if err := k.load(ctx, k.s.warm); err != nil {
		return nil, err
	}
	var err error
	if k.before, err = k.resting(ctx, nil); err != nil {
		return nil, err
	}
	if k.s.keep != "" {
		if err := errors.Join(os.MkdirAll(k.s.keep, 0o755), k.profile("heap", filepath.Join(k.s.keep, "heap-before"))); err != nil {
			return nil, err
		}
	}
	k.say("at rest: %s; the load for %s", k.before, k.s.length)
	if err := k.load(ctx, k.s.length); err != nil {
		return nil, err
	}
	if k.after, err = k.resting(ctx, &k.before); err != nil {
		return nil, err
	}
	k.say("at rest: %s", k.after)
	return newReport(), nil
}

func (k *soaking) say(format string, args ...any) {
	fmt.Fprintf(k.s.log, "%6.1fs %s\n", time.Since(k.began).Seconds(), fmt.Sprintf(format, args...))
}

// String is a look in a line.
func (l look) String() string {
	return fmt.Sprintf("%d goroutines, heap %.1f MiB, %d descriptors, %d children, %d threads, %.1f MiB resident, %d temporary files, store %.1f MiB",
		l.goroutines, float64(l.heap)/(1<<20), sum(l.descriptors), sum(l.children), l.threads, float64(l.resident)/(1<<20), sum(l.left), float64(l.store)/(1<<20))
}

// A trade is a kind of hands, and how many there are of it.
type trade struct {
	hands int
	deeds []deed
}

func crew() []trade {
	return []trade{
		{4, append(fileDeeds(), workDeeds()...)}, {2, mcpDeeds()}, {1, commandDeeds()}, {2, promptDeeds()}, {2, streamDeeds()}, {1, answerDeeds()},
	}
}

// load puts load on the server for some time.
func (k *soaking) load(ctx context.Context, long time.Duration) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	k.loads++
	ends := time.Now().Add(long)
	var working, watching sync.WaitGroup
	done := make(chan struct{})
	watching.Go(func() { k.watch(ctx, done, cancel) })
	for n, of := range crew() {
		first := &list{}
		for i := range of.hands {
			w, err := newHand(k.house, k.loads*100+n*10+i)
			if err != nil {
				cancel(err)
				break
			}
			if w.ends = ends; i == 0 {
				first.left = w.rand.Perm(len(of.deeds))
			}
			k.hands = append(k.hands, w)
			working.Go(func() { w.work(ctx, of.deeds, first) })
		}
	}
	b := newBreaker(k.house, k.loads)
	working.Go(func() { b.work(ctx, ends) })
	working.Wait()
	close(done)
	watching.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return b.mended(ctx)
}

// watch samples the server while it works, and ends the load when it is dead.
func (k *soaking) watch(ctx context.Context, done <-chan struct{}, cancel context.CancelCauseFunc) {
	t := time.NewTicker(k.s.every)
	defer t.Stop()
	for {
		select {
		case <-done:
			return
		case <-ctx.Done():
			return
		case <-k.subject.exited:
			cancel(k.subject.failed)
			return
		case <-t.C:
		}
		l, err := k.take("look", k.began)
		if err != nil {
			cancel(err)
			return
		}
		k.sample(l)
		if len(k.samples)%12 == 0 {
			k.say("%s", l)
		}
	}
}

func (k *soaking) sample(l look) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.samples = append(k.samples, l)
}

// resting leaves the server alone, and looks at it when nothing moves any more.
// With a look to compare with it waits longer for what has not come back.
func (k *soaking) resting(ctx context.Context, before *look) (l look, err error) {
	if err := k.settle(ctx); err != nil {
		return l, err
	}
	sleep(ctx, k.s.rest)
	var least look // what is resident goes up and down by what is just being done
	for range 45 {
		was := l
		if l, err = k.take("rest", k.began); err != nil {
			return l, err
		}
		if least.resident == 0 || l.resident < least.resident {
			least = l
		}
		l.resident, l.heap, l.memory = least.resident, least.heap, least.memory
		k.sample(l)
		same := l.goroutines == was.goroutines && sum(l.descriptors) == sum(was.descriptors) && sum(l.children) == sum(was.children)
		if same && (before == nil || back(*before, l)) {
			return l, ctx.Err()
		}
		sleep(ctx, time.Second)
		if ctx.Err() != nil {
			return l, ctx.Err()
		}
	}
	return l, nil
}

// back says whether all that is counted has come back.
func back(before, after look) bool {
	return after.goroutines <= before.goroutines && more(after.descriptors, pooled(before.descriptors)) == "" &&
		more(after.children, before.children) == "" && more(after.left, before.left) == ""
}

// settle ends what was begun, and uses everything once that is started when it
// is needed, so that both looks see it.
func (k *soaking) settle(ctx context.Context) error {
	for _, w := range k.hands {
		if err := w.endSession(ctx); err != nil {
			return fmt.Errorf("ending a session: %w", err)
		}
		w.api.Close()
	}
	k.hands = nil
	api, err := client.New(k.subject.url, k.subject.token)
	if err != nil {
		return err
	}
	defer api.Close()
	jobs, err := api.ListJobs(ctx, client.ListJobsQuery{})
	if err != nil {
		return err
	}
	for _, j := range jobs.Jobs {
		if j.State == "running" {
			if _, err := api.StopJob(ctx, j.ID); err != nil && problem(err) == nil {
				return err
			}
		}
	}
	if k.s.rest < longRest {
		k.killChildren(keeperWords, 1000) // they would stay for longer than the rest
	}
	// What commands leave that were killed, the next one removes that needs the
	// same itself.
	if out, err := k.command(ctx, "call", "sulk", "how=wait").CombinedOutput(); err != nil {
		return fmt.Errorf("helve call does not work after the load: %w: %s", err, out)
	}
	// Connections to the model that are kept for the next prompt go with it.
	k.endModel()
	if err := k.startModel(); err != nil {
		return err
	}
	for _, r := range []client.CallRequest{
		{Tool: "read", Input: input{"filePath": "src/d1/f1.go"}}, {Tool: "grep", Input: input{"pattern": "needle-1"}},
		{Tool: "lines", Input: input{"path": "src/d1/f1.go"}}, {Tool: "shout", Input: input{"text": "x"}},
		{Tool: "things_echo", Input: input{"text": "x"}}, {Tool: "bash", Input: input{"command": "echo x", "description": "Says x"}},
		{Tool: "bash", Agent: "plan", Input: input{"command": "echo x", "description": "Says x"}},
		{Tool: "write", Input: input{"filePath": "settled.foo", "content": "def settled\n"}},
	} {
		r.Session = "ses_settle"
		if err := k.eventually(ctx, api, r); err != nil {
			return fmt.Errorf("%s does not work after the load: %w", r.Tool, err)
		}
	}
	if err := k.fillStream(ctx, api); err != nil {
		return err
	}
	return api.EndSession(ctx, "ses_settle")
}

// fillStream makes more events than the server keeps, so that it keeps as much
// in both looks.
func (k *soaking) fillStream(ctx context.Context, api *client.Client) error {
	if k.s.quick {
		return nil // memory is not compared
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	heard, calls, limit := 0, 0, time.Now().Add(3*time.Minute)
	var asking sync.WaitGroup
	for e, err := range api.Events(ctx, client.EventQuery{}) {
		if err != nil {
			return fmt.Errorf("filling the stream of events: %w", err)
		}
		if calls == 0 { // the stream is open
			for calls = range 4 {
				asking.Go(func() {
					for ctx.Err() == nil {
						_, _ = api.Call(ctx, client.CallRequest{Tool: "read", Session: "ses_settle", Input: input{"filePath": "large.txt"}}) // events tell
					}
				})
			}
		}
		if heard += len(e.Properties); heard > eventsKept || time.Now().After(limit) {
			break
		}
	}
	cancel()
	asking.Wait()
	k.say("%.0f MiB of events were made to fill the stream", float64(heard)/(1<<20))
	return nil
}

// eventually makes a call that has to succeed, if not at once.
func (k *soaking) eventually(ctx context.Context, api *client.Client, r client.CallRequest) (err error) {
	for range 20 {
		if _, err = api.Call(ctx, r); err == nil || ctx.Err() != nil {
			return err
		}
		sleep(ctx, time.Second)
	}
	return err
}

// lastWords is how the server ended, if it did, and the end of its log.
func (k *soaking) lastWords() error {
	select {
	case <-k.subject.exited:
	case <-time.After(time.Second):
		return nil
	}
	text, err := os.ReadFile(filepath.Join(k.Root, "server.log"))
	return errors.Join(k.subject.failed, err, fmt.Errorf("its last words:\n%s", text[max(0, len(text)-16_000):]))
}

// leave writes what the server logged, and who is in it, into a folder.
func (k *soaking) leave(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(k.Root, "server.log"))
	if err != nil {
		return err
	}
	err = os.WriteFile(filepath.Join(dir, "server.log"), text, 0o644)
	var said strings.Builder
	for _, at := range slices.Sorted(maps.Keys(k.count.examples)) {
		fmt.Fprintf(&said, "%s\n\t%s\n", at, strings.ReplaceAll(k.count.examples[at], "\n", "\n\t"))
	}
	err = errors.Join(err, os.WriteFile(filepath.Join(dir, "outcomes.txt"), []byte(said.String()), 0o644))
	for _, name := range []string{"goroutine", "heap"} {
		err = errors.Join(err, k.profile(name, filepath.Join(dir, name+"-after")))
	}
	return err
}

// profile writes what the server's process knows of itself.
func (k *soaking) profile(name, path string) error {
	r, err := k.subject.ask(name)
	if err != nil {
		return err
	}
	return os.WriteFile(path, r.Profile, 0o644)
}
