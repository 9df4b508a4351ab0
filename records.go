package helve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/helve-dev/helve/internal/store"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

// notFoundError says what was not found.
func notFoundError(what, id string, err error) error {
	if errors.Is(err, record.ErrNotFound) {
		return fmt.Errorf("%s %q: %w", what, id, record.ErrNotFound)
	}
	return err
}

// Calls returns the records of calls, newest first, without inputs and outputs.
func (r Records) Calls(ctx context.Context, q record.CallQuery) ([]record.Call, error) {
	s, err := r.rt.store.get()
	if err != nil {
		return nil, err
	}
	q.Brief = true
	rows, err := s.Calls(ctx, q)
	for i := range rows {
		rows[i].Result = nil
	}
	return rows, err
}

// Call returns the complete record of a call.
func (r Records) Call(ctx context.Context, session, id string) (record.Call, error) {
	s, err := r.rt.store.get()
	if err != nil {
		return record.Call{}, err
	}
	row, err := s.CallOf(ctx, session, id)
	return row, notFoundError("call", id, err)
}

// Cancel ends a call that is running in this runtime, whoever made it. It reports whether there was
// one.
func (r *Runtime) Cancel(session, call string) bool {
	end, ok := r.calls.Load([2]string{session, call})
	if ok {
		end.(context.CancelCauseFunc)(errStopped)
	}
	return ok
}

// Cancel ends the work on a session in this runtime.
func (r turns) Cancel(session string) bool {
	end, ok := r.Runtime.turns.Load(session)
	if ok {
		end.(context.CancelCauseFunc)(errStopped)
	}
	return ok
}

// registerTurn makes the work on a session cancellable.
func (r *Runtime) registerTurn(ctx context.Context, session string) (_ context.Context, done func()) {
	ctx, end := context.WithCancelCause(ctx)
	r.turns.Store(session, end)
	return ctx, func() {
		r.turns.Delete(session) // only one turn at a time works on a session
		end(nil)
	}
}

// Expire ends a single permission request that nobody has answered and tells the model why.
func (r Requests) Expire(id, why string) error { return r.rt.engine.Expire(id, why) }

// Decline rejects a permission request if it is not known whether a person said no or a program did
// not ask one. The model is told both, and which rule would allow it.
func (r Requests) Decline(id string) error { return r.rt.engine.Decline(id) }

// AllApprovals returns every kept approval of all sessions and projects, oldest first.
func (r Permissions) AllApprovals() ([]permission.Approval, error) { return r.rt.store.Approvals() }

// Error returns why the rules are invalid and everything is denied, or "" if they are valid.
func (r Permissions) Error() string { return r.rt.opt.PolicyError }

// Todos returns the todo list of a session.
func (r Records) Todos(ctx context.Context, session string) ([]tool.Todo, error) {
	s, err := r.rt.store.get()
	if err != nil {
		return nil, err
	}
	return s.Todos(ctx, session)
}

// MessagesBefore returns a page of a conversation, the oldest message first, and whether there are
// earlier messages.
func (r Records) MessagesBefore(ctx context.Context, q record.MessageQuery) (page []message.Message, more bool, err error) {
	s, err := r.rt.store.get()
	if err != nil {
		return nil, false, err
	}
	if _, err := s.Session(ctx, q.Session); err != nil {
		return nil, false, notFoundError("session", q.Session, err)
	}
	limit := cmp.Or(max(q.Limit, 0), 100)
	msgs, err := s.MessagesBefore(ctx, q.Session, q.Before, limit+1)
	if more = len(msgs) > limit; more {
		msgs = msgs[1:]
	}
	if err != nil {
		return nil, false, err
	}
	page = withReadableResults(msgs)
	return page, more, s.EndCalls(ctx, page)
}

// NewSession creates an empty session.
func (r Records) NewSession(ctx context.Context, title, agent string) (record.Session, error) {
	a := r.rt.agent(agent)
	if a == nil {
		return record.Session{}, fmt.Errorf("there is no agent called %q; there are %v", agent, r.rt.agentNames())
	}
	s, err := r.rt.store.get()
	if err != nil {
		return record.Session{}, err
	}
	row := r.rt.newSession()
	row.Agent, row.Title = a.Name, cmp.Or(title, row.Slug)
	row, err = r.rt.createSession(ctx, s, row)
	return row, err
}

// OpenSession creates a session with the given id and title, for later calls. An existing one stays
// unchanged.
func (r Records) OpenSession(ctx context.Context, id, title string) error {
	s, err := r.rt.store.get()
	if err != nil {
		return err
	}
	return r.rt.useSession(ctx, s, record.Session{ID: id, Dir: r.rt.dir, Title: title, Time: record.SessionTime{Created: r.rt.now().UnixMilli()}})
}

// SessionsBefore returns a page of sessions and the cursor for the next page, "" if there is none.
func (r Records) SessionsBefore(ctx context.Context, q record.SessionQuery) (page []record.Session, next string, err error) {
	s, err := r.rt.store.get()
	if err != nil {
		return nil, "", err
	}
	limit := cmp.Or(max(q.Limit, 0), 100)
	sq := store.SessionQuery{Limit: limit + 1, Dir: q.Dir}
	if q.Before != "" {
		at, id, _ := strings.Cut(q.Before, ".")
		if sq.Updated, err = strconv.ParseInt(at, 10, 64); err != nil || id == "" {
			return nil, "", fmt.Errorf("the cursor %q is none that a page had: %w", q.Before, record.ErrNotFound)
		}
		sq.ID = id
	}
	page, err = s.SessionsAfter(ctx, sq)
	if len(page) > limit {
		page = page[:limit]
		last := page[limit-1]
		next = strconv.FormatInt(last.Time.Updated, 10) + "." + last.ID
	}
	return page, next, err
}

// maxFileText limits how much of a file is returned.
const maxFileText = 1 << 20

// A FileText is the text of a file, to show to a person.
type FileText struct {
	Path      string `json:"path"` // absolute
	Mime      string `json:"mime"`
	Size      int64  `json:"size"`
	Text      string `json:"text"`
	Binary    bool   `json:"binary,omitempty"` // not text; Text is empty
	Truncated bool   `json:"truncated,omitempty"`
}

// File returns a file if the rules of an agent allow reading it without asking. What would have to
// be asked about is denied.
func (r *Runtime) File(ctx context.Context, agent, path string) (FileText, error) {
	a := r.agent(agent)
	if a == nil {
		return FileText{}, fmt.Errorf("there is no agent called %q; there are %v", agent, r.agentNames())
	}
	if err := r.policyError(""); err != nil {
		return FileText{}, err
	}
	by := readOnlyHost{*newHost(r, a)}
	p, err := r.files.Resolve(ctx, by, r.dir, path)
	if err != nil {
		return FileText{}, err
	}
	file, info, err := r.files.OpenRead(ctx, by, p)
	if errors.Is(err, fs.ErrNotExist) {
		return FileText{}, fmt.Errorf("file %q: %w", path, record.ErrNotFound)
	}
	if err != nil {
		return FileText{}, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFileText))
	if err != nil {
		return FileText{}, fmt.Errorf("reading %s: %w", p, err)
	}
	out := FileText{Path: p.String(), Size: info.Size(), Mime: http.DetectContentType(data), Truncated: info.Size() > int64(len(data))}
	shown := string(data)
	if out.Truncated {
		shown, _ = text.Cut(shown, len(shown)-1) // do not end within a character
	}
	if out.Binary = !utf8.ValidString(shown) || strings.ContainsRune(shown, 0); !out.Binary {
		out.Text = shown
	}
	return out, nil
}

// A readOnlyHost allows only what needs no asking.
type readOnlyHost struct{ host }

// Ask returns nil for what is allowed.
func (o readOnlyHost) Ask(_ context.Context, reqs ...permission.Request) error {
	for _, req := range reqs {
		if !o.Allowed(&tool.Call{}, req) {
			return &tool.Error{Kind: tool.Denied, Code: "denied",
				Err: fmt.Errorf("the rules do not let %s be looked at without asking: %v", req.Permission, req.Patterns)}
		}
	}
	return nil
}
