package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// bigName is the large file's name.
const bigName = "big.log"

// A lot is a world with a large file in it.
type lot struct {
	*proof.World
	lines int
	bytes int64
}

// bigLine is a line of the large file.
func bigLine(n int) string {
	return fmt.Sprintf("%012d is a line of the large file, as a log may have\n", n)
}

// newLot makes the file, all of it written.
func newLot(size int64) (l *lot, err error) {
	w, err := proof.NewWorld()
	if err != nil {
		return nil, err
	}
	l = &lot{World: w}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	f, err := os.Create(filepath.Join(w.Project, bigName))
	if err != nil {
		return nil, err
	}
	out := bufio.NewWriterSize(f, 1<<20)
	for ; l.bytes < size; l.lines++ {
		n, _ := out.WriteString(bigLine(l.lines)) // Flush says what went wrong
		l.bytes += int64(n)
	}
	return l, errors.Join(out.Flush(), f.Sync(), f.Close(), permit(w))
}

// tails measures looking at the end of a large file.
func (s *settings) tails(ctx context.Context) (err error) {
	fmt.Fprintf(s.log, "tail: making a file of %d MiB\n", s.sizes.big>>20)
	l, err := newLot(s.sizes.big)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	const shown = 10
	args := map[string]any{"filePath": bigName, "offset": l.lines - shown, "limit": shown}
	command, err := s.command(l.World, "read", args)
	if err != nil {
		return err
	}
	rt, err := s.newRuntime(l.World, filepath.Join(l.Home, "records"), nil)
	if err != nil {
		return err
	}
	process, call := ofProgram("helve call read", command), ofCall("Runtime.Call read", rt, "read", args)
	defer func() { err = errors.Join(err, call.close()) }()
	all := []*way{process, call}
	var from, end *way
	if path, err := exec.LookPath("tail"); err != nil {
		s.missing("tail", err.Error())
	} else {
		in := func(args ...string) program {
			return program{argv: append([]string{path}, args...), dir: l.Project, env: l.Env()}
		}
		from = ofProgram(fmt.Sprintf("tail -n +%d", l.lines-shown+1), in("-n", fmt.Sprintf("+%d", l.lines-shown+1), bigName))
		end = ofProgram("tail -n 10", in("-n", fmt.Sprint(shown), bigName))
		end.peak = nil // it is gone before it can be looked at
		all = append(all, from, end)
	}
	for _, w := range all {
		w.check = l.isEnd
	}
	fmt.Fprintf(s.log, "tail: %d goes\n", s.sizes.bigs)
	if err := s.race(ctx, s.sizes.bigs, all); err != nil {
		return err
	}
	s.table(fmt.Sprintf("The last lines of %d MiB", s.sizes.big>>20), all)
	s.add("tail.process", process, from)
	s.add("tail.call", call, from)
	if end != nil {
		s.add("tail.process.end", process, end)
		s.add("tail.call.end", call, end)
	}
	return nil
}

// isEnd makes sure of the last ten lines, and that there are no others.
func (l *lot) isEnd(said string) error {
	for n := l.lines - 11; n < l.lines; n++ {
		if has := strings.Contains(said, strings.TrimSpace(bigLine(n))); has != (n >= l.lines-10) {
			return fmt.Errorf("line %d of %d shown: %v: %.300s", n, l.lines, has, said)
		}
	}
	return nil
}
