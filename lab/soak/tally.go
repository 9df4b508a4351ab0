//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"

	"github.com/helve-dev/helve/client"
)

// patience is how long anything may take before it counts as not answered.
const patience = 60 * time.Second

// An ending is how a call ended for who made it.
type ending string

const (
	completed ending = "completed"
	failed    ending = "error"
	unheard   ending = "unheard" // its connection or its process was ended on purpose
)

// A callKey is a call: its id is its own only within its session.
type callKey struct{ session, id string }

// A tally counts what was done, and what came of it, for all workers.
type tally struct {
	lock     sync.Mutex
	next     int
	ops      map[string]map[string]int // by kind of operation, then by outcome
	faults   map[string]int
	endings  map[callKey]ending
	answers  int            // of calls, through whichever door
	lost     []string       // what should have been answered once and was not
	internal map[string]int // answers that say that it is our fault
}

func newTally() *tally {
	return &tally{ops: map[string]map[string]int{}, faults: map[string]int{}, endings: map[callKey]ending{}, internal: map[string]int{}}
}

// id makes an id that no other call has.
func (t *tally) id() string {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.next++
	return fmt.Sprintf("soak_%d", t.next)
}

// did counts an operation.
func (t *tally) did(op, outcome string) {
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.ops[op] == nil {
		t.ops[op] = map[string]int{}
	}
	t.ops[op][outcome]++
}

// fault counts a fault that was made, or that could not be, and why.
func (t *tally) fault(name string, err error) {
	if err != nil {
		t.did(name, err.Error())
		return
	}
	t.did(name, "done")
	t.lock.Lock()
	defer t.lock.Unlock()
	t.faults[name]++
}

// lose notes that something was not answered, or more than once.
func (t *tally) lose(format string, args ...any) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.lost = append(t.lost, fmt.Sprintf(format, args...))
}

// ours notes an answer that says that the fault is helve's.
func (t *tally) ours(format string, args ...any) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.internal[plain(fmt.Sprintf(format, args...))]++
}

// plain is a text without numbers, ids and folders, which are never the same.
func plain(text string) string {
	text = regexp.MustCompile(`(soak|ses|call)_\S+`).ReplaceAllString(text, "${1}_…")
	text = regexp.MustCompile(`/\S*/`).ReplaceAllString(text, "…/")
	return regexp.MustCompile(`[0-9]+`).ReplaceAllString(text, "N")
}

// ended notes how a call ended, once.
func (t *tally) ended(at callKey, how ending) {
	t.lock.Lock()
	was, twice := t.endings[at]
	t.endings[at] = how
	t.lock.Unlock()
	if how != unheard {
		t.answered()
	}
	if twice {
		t.lose("%s of %s, twice: %s, then %s", at.id, at.session, was, how)
	}
}

// answered counts a call that was answered, with an id of ours or without.
func (t *tally) answered() {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.answers++
}

// problem is the server's no in an error, or nil.
func problem(err error) *client.Problem {
	p, _ := errors.AsType[*client.Problem](err)
	return p
}

// outcome says in a word what came of an operation over HTTP.
func (t *tally) outcome(ctx context.Context, op string, err error) string {
	p := problem(err)
	switch {
	case err == nil:
		return "ok"
	case p != nil && (p.Kind == "internal" || p.Status >= 500 && p.Status != 503):
		if p.Call == "" { // that of a call is noted where the call is
			t.ours("%s: %s %s %.300s", op, p.Kind, p.Code, p.Detail)
		}
		return "internal"
	case p != nil && p.Code != "":
		return p.Code
	case p != nil:
		return fmt.Sprintf("status %d", p.Status)
	case errors.Is(ctx.Err(), context.Canceled):
		return "ended by the client"
	}
	t.lose("%s: %.300s", op, err)
	return "no answer"
}
