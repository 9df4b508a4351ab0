package helve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// questions holds the questions that wait for a person.
type questions struct {
	unattended bool
	newID      func() string
	publish    func(event.Payload)

	mu      sync.Mutex
	waiting map[string]*pendingQuestion
}

type pendingQuestion struct {
	req    tool.QuestionRequest
	answer chan questionReply // has room for one, so that an answer never blocks
}

type questionReply struct {
	answers [][]string
	err     error
}

// Question asks the person and waits. The question tool calls it.
func (v *questions) Question(ctx context.Context, c *tool.Call, qs []tool.Question) ([][]string, error) {
	a := &pendingQuestion{
		req: tool.QuestionRequest{ID: v.newID(), Session: c.Session, Questions: qs,
			Call: &permission.CallRef{Message: c.Message, Call: c.ID}},
		answer: make(chan questionReply, 1),
	}
	if !v.wait(a) {
		return nil, errNobody()
	}
	select {
	case got := <-a.answer:
		return got.answers, got.err
	case <-ctx.Done():
		if v.cancel(a) {
			return nil, context.Cause(ctx)
		}
		got := <-a.answer // the answer came first and counts
		return got.answers, got.err
	}
}

func errNobody() error {
	return &tool.Error{Kind: tool.Unattended, Code: "unattended",
		Err: fmt.Errorf("there is nobody to answer a question here: decide without one, or say in your reply what you need to know")}
}

func (v *questions) wait(a *pendingQuestion) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.unattended {
		return false
	}
	v.waiting[a.req.ID] = a
	v.publish(event.QuestionAsked{QuestionRequest: a.req})
	return true
}

// cancel removes questions that nobody has answered yet.
func (v *questions) cancel(a *pendingQuestion) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.waiting[a.req.ID] != a {
		return false
	}
	v.reject(a, nil)
	return true
}

// reject ends a waiting set without an answer. The caller holds the lock.
func (v *questions) reject(a *pendingQuestion, err error) {
	delete(v.waiting, a.req.ID)
	a.answer <- questionReply{err: err}
	v.publish(event.QuestionRejected{Session: a.req.Session, Request: a.req.ID})
}

// resolve ends a waiting set of questions and publishes that.
func (v *questions) resolve(id string, got questionReply, tell func(tool.QuestionRequest) event.Payload) error {
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

func (v *questions) markUnattended() { v.rejectAll(errNobody()) }
func (v *questions) close()          { v.rejectAll(permission.ErrClosed) }

func (v *questions) rejectAll(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.unattended = true
	for _, a := range v.waiting {
		v.reject(a, err)
	}
}

func (v *questions) endSession(session string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, a := range v.waiting {
		if a.req.Session == session {
			v.reject(a, errDismissed())
		}
	}
}

// Answer answers a set of questions: for each question, in order, the chosen labels or the person's
// own words.
func (r Requests) Answer(id string, answers [][]string) error {
	return r.rt.questions.resolve(id, questionReply{answers: answers}, func(q tool.QuestionRequest) event.Payload {
		return event.QuestionReplied{Session: q.Session, Request: id, Answers: answers}
	})
}

// Dismiss ends a set of questions without an answer.
func (r Requests) Dismiss(id string) error { return r.rt.dismiss(id, errDismissed()) }

// ExpireQuestion ends a set of questions that nobody has answered and tells the model why.
func (r Requests) ExpireQuestion(id, why string) error {
	return r.rt.dismiss(id, &tool.Error{Kind: tool.Unattended, Code: "expired", Err: errors.New(why)})
}

func (r *Runtime) dismiss(id string, err error) error {
	return r.questions.resolve(id, questionReply{err: err}, func(q tool.QuestionRequest) event.Payload {
		return event.QuestionRejected{Session: q.Session, Request: id}
	})
}

func errDismissed() error {
	err := tool.Fail("rejected", "The user dismissed this question")
	err.Kind = tool.Rejected
	return err
}

// Questions returns the sets of questions that wait for an answer, oldest
// first.
func (r Requests) Questions() []tool.QuestionRequest {
	r.rt.questions.mu.Lock()
	defer r.rt.questions.mu.Unlock()
	out := make([]tool.QuestionRequest, 0, len(r.rt.questions.waiting))
	for _, a := range r.rt.questions.waiting {
		out = append(out, a.req)
	}
	slices.SortFunc(out, func(a, b tool.QuestionRequest) int { return cmp.Compare(a.ID, b.ID) })
	return out
}
