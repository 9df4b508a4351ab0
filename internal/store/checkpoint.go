package store

import (
	"context"
	"database/sql/driver"
	"log/slog"
	"sync"
)

const (
	// pagesPerCheckpoint is about how many pages the log takes before they
	// are carried over into the database.
	pagesPerCheckpoint = 4000
	// maxLogPages is the length at which writers are made to wait so that the
	// log can begin anew. It does so by itself whenever they pause.
	maxLogPages = 10000
	// hardLogPages is where the writer carries the log over itself, if the
	// checkpointer does not get to it.
	hardLogPages = 20000
	pageSize     = 4096
)

// A checkpointer carries the log over into the database beside the writer,
// so that no call waits for the syncing which that takes. Its one goroutine
// ends in close.
type checkpointer struct {
	path string
	log  *slog.Logger
	due  chan struct{} // holds one
	done sync.WaitGroup
}

func newCheckpointer(path string, log *slog.Logger) *checkpointer {
	k := &checkpointer{path: path, log: log, due: make(chan struct{}, 1)}
	k.done.Go(k.run)
	return k
}

// wake asks for a checkpoint and returns at once.
func (k *checkpointer) wake() {
	select {
	case k.due <- struct{}{}:
	default:
	}
}

// close waits for the checkpoint in progress. wake must not be called any more.
func (k *checkpointer) close() {
	close(k.due)
	k.done.Wait()
}

func (k *checkpointer) run() {
	var c *conn
	defer func() { _ = c.close() }()
	for range k.due {
		if c == nil {
			var err error
			if c, err = dial(k.path); err != nil {
				k.log.Debug("checkpoint", "error", err)
				continue
			}
		}
		pages, err := checkpoint(c, "PASSIVE")
		if err == nil && pages > maxLogPages {
			_, err = checkpoint(c, "RESTART")
		}
		if err != nil { // the next one, or the writer, makes up for it
			k.log.Debug("checkpoint", "error", err)
		}
	}
}

// checkpoint returns the length of the log in pages, 0 when all of it was
// carried over.
func checkpoint(c *conn, mode string) (pages int64, err error) {
	err = c.query(context.Background(), func(row []driver.Value) error {
		if log, moved := intOf(row[1]), intOf(row[2]); moved < log {
			pages = log
		}
		return nil
	}, "PRAGMA wal_checkpoint("+mode+")")
	return pages, err
}
