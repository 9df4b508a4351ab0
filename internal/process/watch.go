package process

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"
)

// A JobCondition is what to wait for in the output of a job: a text, or any output if it is empty.
type JobCondition struct {
	Offset int64         // from where on; a negative one counts from the end
	Text   string        // to be seen
	Bound  time.Duration // how long to wait at most
}

// A JobView is what a Watch came to.
type JobView struct {
	JobInfo
	Seen bool   // what was waited for is there
	At   int64  // offset of it
	Line string // it is in, cut when long
	Next int64  // up to where was looked
}

const (
	mostText = 4096 // bytes of a text that is waited for
	mostLine = 512  // bytes of a line that is shown
)

// Watch returns when what is watched for was printed, when the job has ended
// or when the bound is over. Output that is no longer kept when it is looked
// for is not seen.
func (j *Jobs) Watch(ctx context.Context, id string, w JobCondition) (JobView, error) {
	b, info, err := j.find(id)
	if err != nil {
		return JobView{}, err
	}
	if len(w.Text) > mostText {
		return JobView{}, fmt.Errorf("watching job %s: a text of %d bytes, and %d are the most", id, len(w.Text), mostText)
	}
	limit := time.NewTimer(max(w.Bound, 0))
	defer limit.Stop()
	s := search{JobCondition: w, next: w.Offset}
	for {
		// Whatever comes after this look at the job will wake us.
		var change <-chan struct{}
		if b != nil {
			change, info = b.changed(), b.snapshot()
		} else if info, err = FindJob(j.opt.Dir, id); err != nil {
			return JobView{}, err
		}
		c, err := readOutput(j.opt.Dir, info, s.next, 0)
		if err != nil {
			return JobView{}, err
		}
		s.take(c)
		sight := JobView{JobInfo: info, Seen: s.seen, At: s.at, Line: s.line, Next: s.next}
		if s.seen || info.State != JobRunning && c.Next >= c.Total {
			return sight, nil
		}
		select {
		case <-limit.C:
			return sight, nil
		case <-ctx.Done():
			return sight, ctx.Err()
		case <-change:
		case <-more(c, b == nil):
		}
	}
}

// more returns when to read again after a chunk: at once if more is available, and periodically if
// changes are not notified.
func more(c JobOutput, poll bool) <-chan time.Time {
	switch {
	case c.Next < c.Total && len(c.Data) > 0:
		return time.After(0)
	case poll:
		return time.After(pollTime)
	}
	return nil
}

// A search goes through output as it comes.
type search struct {
	JobCondition
	next  int64
	carry []byte // the end of what was looked at, of which a match may begin
	seen  bool
	at    int64
	line  string
}

// take looks through a chunk.
func (s *search) take(c JobOutput) {
	if c.Offset != s.next || c.Skipped > 0 {
		s.carry = nil // what is not there cannot be matched across
	}
	s.next = c.Next
	if len(c.Data) == 0 {
		return
	}
	text := append(s.carry, c.Data...)
	begin := c.Offset - int64(len(s.carry))
	if from, to := s.match(text); from >= 0 {
		s.seen, s.at, s.line = true, begin+int64(from), lineOf(text, from, to)
		return
	}
	keep := min(max(len(s.Text)-1, 0), len(text))
	s.carry = bytes.Clone(text[len(text)-keep:])
}

// match returns where the first of what is searched for is, or -1.
func (s *search) match(text []byte) (from, to int) {
	if s.Text == "" {
		return 0, len(text)
	}
	from = bytes.Index(text, []byte(s.Text))
	return from, from + len(s.Text)
}

// lineOf is the line that a match begins in.
func lineOf(text []byte, from, to int) string {
	start := bytes.LastIndexByte(text[:from], '\n') + 1
	end := len(text)
	if n := bytes.IndexByte(text[to:], '\n'); n >= 0 {
		end = to + n
	}
	line := text[max(start, from-mostLine/2):min(end, from+mostLine)]
	return clip(strings.TrimRight(string(line), "\r\n"), mostLine)
}
