package store

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"

	"github.com/helve-dev/helve/tool"
)

// A Todo is one item of a session's to-do list.
type Todo = tool.Todo

// Todos returns a session's list in its order; it is empty when none was set.
func (s *Store) Todos(ctx context.Context, session string) ([]Todo, error) {
	var text string
	err := s.read(ctx, "reading todos", func(c *conn) error {
		return c.query(ctx, func(row []driver.Value) error {
			text = textOf(row[0])
			return nil
		}, "SELECT items FROM todo WHERE session = ?", session)
	})
	if err != nil || text == "" {
		return nil, err
	}
	var out []Todo
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		return nil, fmt.Errorf("reading todos of %s: %w", session, err)
	}
	return out, nil
}

// SetTodos replaces a session's list as a whole.
func (s *Store) SetTodos(ctx context.Context, session string, items []Todo) error {
	b, err := json.Marshal(items)
	if err != nil { // strings only: cannot fail
		return fmt.Errorf("writing todos: %w", err)
	}
	return s.write(ctx, "writing todos", &op{single: true, run: func(c *conn) error {
		_, err := c.exec("INSERT INTO todo(session, items) VALUES(?, ?) ON CONFLICT DO UPDATE SET items = excluded.items", session, string(b))
		return err
	}})
}
