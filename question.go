package helve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// A QuestionRequest is a set of questions that a call waits on.
type QuestionRequest struct {
	ID        string              `json:"id"`
	Session   string              `json:"sessionID"`
	Questions []tool.Question     `json:"questions"`
	Call      *permission.CallRef `json:"tool,omitempty"`
}

// An interview holds the questions that wait for a person.
type interview struct {
	unattended bool
	newID      func() string
	publish    func(Happening)

	mu      sync.Mutex
	waiting map[string]*asked
}

type asked struct {
	req    QuestionRequest
	answer chan answer // holds one, so that who answers never waits
}

type answer struct {
	answers [][]string
	err     error
}

// Question asks the person and waits. It is how the question tool reaches
// whoever watches the runtime.
func (v *interview) Question(ctx context.Context, c *tool.Call, qs []tool.Question) ([][]string, error) {
	a := &asked{
		req: QuestionRequest{ID: v.newID(), Session: c.Session, Questions: qs,
			Call: &permission.CallRef{Message: c.Message, Call: c.ID}},
		answer: make(chan answer, 1),
	}
	if !v.wait(a) {
		return nil, errNobody()
	}
	select {
	case got := <-a.answer:
		return got.answers, got.err
	case <-ctx.Done():
		if v.withdraw(a) {
			return nil, context.Cause(ctx)
		}
		got := <-a.answer // the answer came first: it stands
		return got.answers, got.err
	}
}

func errNobody() error {
	return &tool.Error{Kind: tool.Unattended, Code: "unattended",
		Err: fmt.Errorf("there is nobody to answer a question here: decide without one, or say in your reply what you need to know")}
}

func (v *interview) wait(a *asked) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.unattended {
		return false
	}
	v.waiting[a.req.ID] = a
	v.publish(QuestionAsked{a.req})
	return true
}

// withdraw takes questions back that nobody has answered yet.
func (v *interview) withdraw(a *asked) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.waiting[a.req.ID] != a {
		return false
	}
	v.drop(a, nil)
	return true
}

// drop ends a waiting set without an answer. The caller holds the lock.
func (v *interview) drop(a *asked, err error) {
	delete(v.waiting, a.req.ID)
	a.answer <- answer{err: err}
	v.publish(QuestionRejected{Session: a.req.Session, Request: a.req.ID})
}

// settle gives a waiting set of questions its end and tells who watches.
func (v *interview) settle(id string, got answer, tell func(QuestionRequest) Happening) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	a, ok := v.waiting[id]
	if !ok {
		return fmt.Errorf("question %q: %w", id, permission.ErrNotFound)
	}
	delete(v.waiting, id)
	a.answer <- got
	v.publish(tell(a.req))
	return nil
}

func (v *interview) leave() { v.fail(errNobody()) }
func (v *interview) close() { v.fail(permission.ErrClosed) }

func (v *interview) fail(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.unattended = true
	for _, a := range v.waiting {
		v.drop(a, err)
	}
}

func (v *interview) endSession(session string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, a := range v.waiting {
		if a.req.Session == session {
			v.drop(a, errDismissed())
		}
	}
}

// Answer gives the answers to a set of questions: for each question, in
// order, the labels picked or the person's own words.
func (r *Runtime) Answer(id string, answers [][]string) error {
	return r.interview.settle(id, answer{answers: answers}, func(q QuestionRequest) Happening {
		return QuestionReplied{Session: q.Session, Request: id, Answers: answers}
	})
}

// Dismiss ends a set of questions without an answer.
func (r *Runtime) Dismiss(id string) error { return r.dismiss(id, errDismissed()) }

// Expire ends a set of questions that nobody has answered; the model is told
// why.
func (r *Runtime) Expire(id, why string) error {
	return r.dismiss(id, &tool.Error{Kind: tool.Unattended, Code: "expired", Err: errors.New(why)})
}

func (r *Runtime) dismiss(id string, err error) error {
	return r.interview.settle(id, answer{err: err}, func(q QuestionRequest) Happening {
		return QuestionRejected{Session: q.Session, Request: id}
	})
}

func errDismissed() error {
	err := tool.Fail("rejected", "The user dismissed this question")
	err.Kind = tool.Rejected
	return err
}

// Questions returns the sets of questions that wait for an answer, oldest
// first.
func (r *Runtime) Questions() []QuestionRequest {
	r.interview.mu.Lock()
	defer r.interview.mu.Unlock()
	out := make([]QuestionRequest, 0, len(r.interview.waiting))
	for _, a := range r.interview.waiting {
		out = append(out, a.req)
	}
	slices.SortFunc(out, func(a, b QuestionRequest) int { return cmp.Compare(a.ID, b.ID) })
	return out
}
