//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
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
	unkept    ending = "unkept"  // it was answered that nothing could be recorded, while that was so
)

// A callKey is a call: its id is its own only within its session.
type callKey struct{ session, id string }

// A tally counts what was done, and what came of it.
type tally struct {
	lock     sync.Mutex
	next     int
	ops      map[string]map[string]int // by kind of operation, then by outcome
	faults   map[string]int
	endings  map[callKey]ending
	answers  int            // of calls, through whichever door
	lost     []string       // what should have been answered and was not
	twice    []string       // what was answered more than once
	internal map[string]int // answers that say that it is our fault
	excused  map[string]int // such answers while the disk was full on purpose
	full     int            // how many disks of records are full just now
	freed    time.Time      // when the last of them was not any more
}

func newTally() *tally {
	return &tally{
		ops: map[string]map[string]int{}, faults: map[string]int{},
		endings: map[callKey]ending{}, internal: map[string]int{}, excused: map[string]int{},
	}
}

// note changes the tally, of which there is one for all workers.
func (t *tally) note(change func()) {
	t.lock.Lock()
	defer t.lock.Unlock()
	change()
}

// id makes an id that no other call has.
func (t *tally) id() (id string) {
	t.note(func() {
		t.next++
		id = fmt.Sprintf("soak_%d", t.next)
	})
	return id
}

// did counts an operation.
func (t *tally) did(op, outcome string) {
	t.note(func() {
		if t.ops[op] == nil {
			t.ops[op] = map[string]int{}
		}
		t.ops[op][outcome]++
	})
}

// fault counts a fault that was made, or that could not be, and why.
func (t *tally) fault(name string, err error) {
	if err != nil {
		t.did(name, err.Error())
		return
	}
	t.did(name, "done")
	t.note(func() { t.faults[name]++ })
}

// lose notes that something was not answered.
func (t *tally) lose(what string) { t.note(func() { t.lost = append(t.lost, what) }) }

// ours notes an answer that says that the fault is helve's, and whether it is
// excused: the disk of records is full, or was when a call began whose answer
// comes now. It is never full but on purpose.
func (t *tally) ours(what string) (excused bool) {
	t.lock.Lock()
	defer t.lock.Unlock()
	what = plain(what)
	full := t.full > 0 || !t.freed.IsZero() && time.Since(t.freed) < patience
	if full && (strings.Contains(what, "is full") || strings.Contains(what, "no space left")) {
		t.excused[what]++
		return true
	}
	t.internal[what]++
	return false
}

// plain is a text without numbers, ids and folders, which are never the same.
func plain(text string) string {
	text = regexp.MustCompile(`(soak|ses|call)_\S+`).ReplaceAllString(text, "${1}_…")
	text = regexp.MustCompile(`/\S*/`).ReplaceAllString(text, "…/")
	return regexp.MustCompile(`[0-9]+`).ReplaceAllString(text, "N")
}

// filled notes that records can not be kept from now on, or can again.
func (t *tally) filled(by int) {
	t.note(func() {
		if t.full += by; t.full == 0 {
			t.freed = time.Now()
		}
	})
}

// ended notes how a call ended, once.
func (t *tally) ended(at callKey, how ending) {
	t.lock.Lock()
	defer t.lock.Unlock()
	if how != unheard {
		t.answers++
	}
	if was, ok := t.endings[at]; ok {
		t.twice = append(t.twice, fmt.Sprintf("%s of %s: %s, then %s", at.id, at.session, was, how))
		return
	}
	t.endings[at] = how
}

// answered counts a call without an id of ours, such as one by MCP.
func (t *tally) answered() { t.note(func() { t.answers++ }) }

// problem is the server's no in an error, or nil.
func problem(err error) *client.Problem {
	p, _ := errors.AsType[*client.Problem](err)
	return p
}

// judge says in a word what came of an operation over HTTP. An internal error of
// a call is noted where the call is.
func (t *tally) judge(ctx context.Context, op string, err error) string {
	p := problem(err)
	switch {
	case err == nil:
		return "ok"
	case p != nil && (p.Kind == "internal" || p.Status >= 500 && p.Status != 503):
		if p.Call == "" {
			t.ours(fmt.Sprintf("%s: %s %s %.300s", op, p.Kind, p.Code, p.Detail))
		}
		return "internal"
	case p != nil && p.Code != "":
		return p.Code
	case p != nil:
		return fmt.Sprintf("status %d", p.Status)
	case errors.Is(ctx.Err(), context.Canceled):
		return "ended by the client"
	}
	t.lose(fmt.Sprintf("%s: %.300s", op, err))
	return "no answer"
}
