package store

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

// touchEvery is how old, in milliseconds, the time of a session's last use
// may get before a call writes it anew.
const touchEvery = 5000

const insertCall = `INSERT INTO call(id, session, parent, tool, agent, model, state, owner, started, ended,
	kind, code, message, hint, title, input, output, metadata, attachments)
	VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`

const finishCall = `UPDATE call SET state = ?, ended = ?, kind = ?, code = ?, message = ?, hint = ?, title = ?,
	output = ?, metadata = ?, attachments = ? WHERE id = ? AND session = ? AND owner = ? AND state = 'running'`

// Begin records that c is about to run; State, Result, Error and Ended are
// not looked at. An id that its session used before is ErrDuplicate. When ctx ends
// before the write has started, nothing is recorded.
func (s *Store) Begin(ctx context.Context, c record.Call) error {
	c.State, c.Result, c.Error, c.Ended = record.Running, nil, nil, 0
	return s.insert(ctx, c)
}

// Record records a call that ended before it ran, in its final state. It takes no context, because
// the record is needed even if the caller is gone. The wait for other processes is bounded.
func (s *Store) Record(c record.Call) error {
	if err := final(c); err != nil {
		return err
	}
	return s.insert(context.Background(), c)
}

func (s *Store) insert(ctx context.Context, c record.Call) error {
	doing := "recording call " + c.ID
	if c.ID == "" {
		return fmt.Errorf("recording a call of %s: it has no id", c.Tool)
	}
	own, err := s.ownerName()
	if err != nil {
		return s.fault(doing, err)
	}
	e := ending(c)
	stale := s.stale(c.Session, c.Started)
	return s.write(ctx, doing, &op{single: !stale, size: len(c.Input) + e.size, run: func(db *conn) error {
		n, err := db.exec(insertCall, c.ID, c.Session, c.Parent, c.Tool, c.Agent, c.Model, c.State, own, c.Started, c.Ended,
			e.kind, e.code, e.message, e.hint, e.title, c.Input, e.output, e.metadata, e.attachments)
		if err == nil && n == 0 {
			err = ErrDuplicate
		}
		if err == nil && stale {
			err = touch(db, c.Session, c.Started)
		}
		return err
	}})
}

// Finish records how a call that this store began has ended: ID, Session, State, Result, Error and
// Ended of c. Only the first end counts: for a call that is unknown or has ended it returns
// ErrNotRunning. Like Record it takes no context.
func (s *Store) Finish(c record.Call) error {
	if err := final(c); err != nil {
		return err
	}
	doing := "finishing call " + c.ID
	own, err := s.ownerName()
	if err != nil {
		return s.fault(doing, err)
	}
	e := ending(c)
	return s.write(context.Background(), doing, &op{single: true, size: e.size, run: func(db *conn) error {
		n, err := db.exec(finishCall, c.State, c.Ended, e.kind, e.code, e.message, e.hint, e.title,
			e.output, e.metadata, e.attachments, c.ID, c.Session, own)
		if err == nil && n == 0 {
			err = ErrNotRunning
		}
		return err
	}})
}

func final(c record.Call) error {
	switch c.State {
	case record.Completed, record.Failed, record.Interrupted:
		return nil
	}
	return fmt.Errorf("recording call %s: %q is not a final state", c.ID, c.State)
}

// columns are the nullable columns of a call as SQLite takes them.
type columns struct {
	kind, code, message, hint            any
	title, output, metadata, attachments any

	size int // of the wide ones
}

// exitOf is the code of a command, -1 where a signal ended it, and 0 where there
// was no command.
func exitOf(metadata map[string]any) int {
	code, ended := metadata["exit"]
	if _, signal := metadata["signal"].(string); signal && ended && code == nil {
		return -1
	}
	n, _ := code.(int)
	return n
}

// ending encodes the result and the failure of c. What cannot be encoded is
// replaced: a record never fails for what a tool put into it.
func ending(c record.Call) columns {
	var e columns
	if f := c.Error; f != nil {
		e.kind, e.code, e.message, e.hint = string(f.Kind), f.Code, f.Message, f.Hint
	}
	if r := c.Result; r != nil {
		e.title, e.output, e.size = r.Title, r.Output, len(r.Output)
		if r.Metadata != nil {
			text := metadataText(r.Metadata)
			e.metadata, e.size = text, e.size+len(text)
			if code := exitOf(r.Metadata); code != 0 && c.Error == nil {
				e.code = strconv.Itoa(code) // what has not failed has no code of its own
			}
		}
		if r.Attachments != nil {
			b, _ := json.Marshal(r.Attachments) // strings only: cannot fail
			e.attachments, e.size = string(b), e.size+len(b)
		}
	}
	return e
}

func metadataText(m map[string]any) string {
	if len(m) == 0 {
		return "{}"
	}
	b, err := json.Marshal(m)
	if err != nil {
		safe := make(map[string]json.RawMessage, len(m))
		for k, v := range m {
			one, err := json.Marshal(v)
			if err != nil {
				one, _ = json.Marshal("cannot be kept: " + err.Error())
			}
			safe[k] = one
		}
		b, _ = json.Marshal(safe)
	}
	return string(b)
}

const narrow = "id, session, parent, tool, agent, model, state, started, ended, kind, code, message, hint, title"

const wide = ", output IS NOT NULL, input, output, metadata, attachments"

// Call returns the newest call of an id, or ErrNotFound.
func (s *Store) Call(ctx context.Context, id string) (record.Call, error) {
	return s.oneCall(ctx, id, "id = ?", id)
}

// CallOf returns the call of an id in a session, or ErrNotFound.
func (s *Store) CallOf(ctx context.Context, session, id string) (record.Call, error) {
	return s.oneCall(ctx, id, "id = ? AND session = ?", id, session)
}

func (s *Store) oneCall(ctx context.Context, id, which string, args ...any) (out record.Call, err error) {
	look := func(c *conn) error {
		found := false
		err := c.query(ctx, func(row []driver.Value) error {
			found = true
			out = callOf(row)
			return nil
		}, "SELECT "+narrow+wide+" FROM call WHERE "+which+" ORDER BY seq DESC LIMIT 1", args...)
		if err == nil && !found {
			err = record.ErrNotFound
		}
		return err
	}
	err = s.read(ctx, "reading call "+id, look)
	if err == nil && out.State == record.Running && s.recovered() {
		err = s.read(ctx, "reading call "+id, look)
	}
	return out, err
}

// Calls returns the calls that q chooses, newest first.
func (s *Store) Calls(ctx context.Context, q record.CallQuery) (out []record.Call, err error) {
	text, args, err := callsSQL(q)
	if err != nil {
		return nil, err
	}
	look := func(c *conn) error {
		out = nil
		return c.query(ctx, func(row []driver.Value) error {
			last := len(row) - 1
			c := callOf(row[:last])
			c.Cursor = strconv.FormatInt(intOf(row[last]), 10)
			out = append(out, c)
			return nil
		}, text, args...)
	}
	err = s.read(ctx, "listing calls", look)
	running := func(c record.Call) bool { return c.State == record.Running }
	if err == nil && slices.ContainsFunc(out, running) && s.recovered() {
		err = s.read(ctx, "listing calls", look)
	}
	return out, err
}

// callsSQL builds a query. There are few variants, so each stays prepared.
func callsSQL(q record.CallQuery) (string, []any, error) {
	text := "SELECT " + narrow + wide + ", seq FROM call WHERE 1"
	if q.Brief {
		text = "SELECT " + narrow + ", output IS NOT NULL, seq FROM call WHERE 1"
	}
	var args []any
	if q.Session != "" {
		text, args = text+" AND session = ?", append(args, q.Session)
	}
	if q.Tool != "" {
		text, args = text+" AND tool = ?", append(args, q.Tool)
	}
	switch q.State {
	case "":
	case record.Running:
		text += " AND state = 'running'" // spelled out, to use the index
	default:
		text, args = text+" AND state = ?", append(args, q.State)
	}
	if q.Before != "" {
		before, err := strconv.ParseInt(q.Before, 10, 64)
		if err != nil || before <= 0 {
			return "", nil, fmt.Errorf("the cursor %q is none that a call had: %w", q.Before, record.ErrNotFound)
		}
		text, args = text+" AND seq < ?", append(args, before)
	}
	if q.Limit <= 0 {
		q.Limit = 100
	}
	return text + " ORDER BY seq DESC LIMIT ?", append(args, int64(q.Limit)), nil
}

// callOf decodes a row: the narrow columns, whether there is a result, and
// the wide columns unless the query was brief.
func callOf(row []driver.Value) record.Call {
	c := record.Call{
		ID: textOf(row[0]), Session: textOf(row[1]), Parent: textOf(row[2]), Tool: textOf(row[3]),
		Agent: textOf(row[4]), Model: textOf(row[5]), State: textOf(row[6]),
		Started: intOf(row[7]), Ended: intOf(row[8]),
	}
	if row[9] != nil {
		c.Error = &record.Failure{Kind: tool.Kind(textOf(row[9])), Code: textOf(row[10]), Message: textOf(row[11]), Hint: textOf(row[12])}
	} else if row[10] != nil {
		c.Exit, _ = strconv.ParseInt(textOf(row[10]), 10, 64) // we wrote it
	}
	if intOf(row[14]) != 0 {
		c.Title = textOf(row[13])
		c.Result = &tool.Result{Title: c.Title}
	}
	if len(row) < 19 {
		return c
	}
	c.Input = textOf(row[15])
	if c.Result != nil {
		c.Result.Output = textOf(row[16])
		// We wrote these: what does not decode was damaged, and is left out.
		if row[17] != nil {
			_ = json.Unmarshal([]byte(textOf(row[17])), &c.Result.Metadata)
		}
		if row[18] != nil {
			_ = json.Unmarshal([]byte(textOf(row[18])), &c.Result.Attachments)
		}
	}
	return c
}
