package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// A figure is what came of a plan, and whose it is.
type figure struct {
	name string
	proof.Load
}

// figures writes a table of what came of the same plan with each server. due is
// how many requests there should have been; 0 where as many as possible.
func figures(out io.Writer, due int, rows []figure) {
	fmt.Fprintln(out, "| server | answered | a second | failed | p50 | p99 | max | processor for one | memory at most |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|---|---|")
	for _, f := range rows {
		answered := fmt.Sprint(len(f.Times))
		if due > 0 {
			answered = fmt.Sprintf("%d of %d", len(f.Times), due)
		}
		work := "–"
		if one := f.workForOne(); one > 0 {
			work = ms(one)
		}
		fmt.Fprintf(out, "| %s | %s | %.0f | %d | %s | %s | %s | %s | %s |\n", f.name, answered,
			f.rate(), f.Failed,
			ms(proof.Median(f.Times)), ms(proof.Quantile(f.Times, 0.99)), ms(proof.Quantile(f.Times, 1)), work, mib(f.Used.Peak))
	}
	for _, f := range rows {
		if f.First != nil {
			fmt.Fprintf(out, "\nThe first failure of %s: %s\n", f.name, strings.ReplaceAll(f.First.Error(), "\n", " "))
		}
	}
	fmt.Fprintln(out)
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d)/1e6) }
func mib(n int64) string        { return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20)) }

// newWorld makes the folder that the servers live in, with the file that is read.
func newWorld() (*proof.World, error) {
	w, err := proof.NewWorld()
	if err != nil {
		return nil, err
	}
	if err := w.Write("small.txt", smallText()); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// smallText is what the small file holds: a hundred bytes.
func smallText() string { return strings.Repeat("all of it is read. ", 5) + "end.\n" }

// sockets counts the connections that a process has open.
func sockets(pid int) (n int) {
	for _, to := range proof.Descriptors(pid) {
		if strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}
