package helve

import (
	"context"
	"errors"
	"sync"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/store"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// A lazyStore opens the store when something first needs it.
type lazyStore struct {
	open func() (*store.Store, error)

	mu     sync.Mutex
	store  *store.Store
	closed bool
}

var errClosed = errors.New("the runtime is closed")

func (v *lazyStore) get() (*store.Store, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return nil, errClosed
	}
	if v.store == nil {
		s, err := v.open()
		if err != nil {
			return nil, err
		}
		v.store = s
	}
	return v.store, nil
}

func (v *lazyStore) close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	if v.store == nil {
		return nil
	}
	s := v.store
	v.store = nil
	return s.Close()
}

// KeepApproval, Approvals and ForgetApproval implement permission.ApprovalStore.
func (v *lazyStore) KeepApproval(a permission.Approval) error {
	s, err := v.get()
	if err != nil {
		return err
	}
	return s.KeepApproval(a)
}

// Approvals returns all kept approvals.
func (v *lazyStore) Approvals() ([]permission.Approval, error) {
	s, err := v.get()
	if err != nil {
		return nil, err
	}
	return s.Approvals()
}

// ForgetApproval removes an approval and reports whether it existed.
func (v *lazyStore) ForgetApproval(id string) (bool, error) {
	s, err := v.get()
	if err != nil {
		return false, err
	}
	return s.ForgetApproval(id)
}

// todoHost keeps the lists of the todo tools.
type todoHost struct{ r *Runtime }

// Todos returns a session's list.
func (t todoHost) Todos(session string) ([]tool.Todo, error) {
	s, err := t.r.store.get()
	if err != nil {
		return nil, err
	}
	return s.Todos(context.Background(), session)
}

// SetTodos replaces a session's list and publishes the change.
func (t todoHost) SetTodos(session string, todos []tool.Todo) error {
	s, err := t.r.store.get()
	if err != nil {
		return err
	}
	if err := s.SetTodos(context.Background(), session, todos); err != nil {
		return err
	}
	t.r.events.publish(event.TodosChanged{Session: session, Todos: todos})
	return nil
}

// readMarks keeps what sessions have read of files, for the workspace.
type readMarks struct{ v *lazyStore }

// Sight returns what a session has read of a file.
func (m readMarks) Sight(session, file string) (files.ReadMark, bool, error) {
	s, err := m.v.get()
	if err != nil {
		return files.ReadMark{}, false, err
	}
	sight, ok, err := s.Sight(context.Background(), session, file)
	return files.ReadMark(sight), ok, err
}

// See stores a read mark along with the next write.
func (m readMarks) See(session, file string, sight files.ReadMark) {
	if s, err := m.v.get(); err == nil {
		s.See(session, file, store.Sight(sight))
	}
}

// Turned records that a file has its earlier contents again.
func (m readMarks) Turned(file, from, to string) error {
	s, err := m.v.get()
	if err != nil {
		return err
	}
	return s.Turn(context.Background(), file, from, to)
}
