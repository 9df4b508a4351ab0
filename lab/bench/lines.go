package main

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// readings are what benchmarks have printed: by name and metric, one value a run.
type readings map[[2]string][]float64

// readBench reads the lines of "go test -bench".
func readBench(text []byte) (readings, error) {
	all := readings{}
	r := benchfmt.NewReader(bytes.NewReader(text), "go test")
	for r.Scan() {
		res, ok := r.Result().(*benchfmt.Result)
		if !ok {
			continue // a unit's description, or a line that is none
		}
		name := strings.TrimSuffix(res.Name.String(), "-"+strconv.Itoa(runtime.GOMAXPROCS(0)))
		for _, v := range res.Values {
			if v.OrigUnit != "" {
				v.Value, v.Unit = v.OrigValue, v.OrigUnit
			}
			all[[2]string{name, v.Unit}] = append(all[[2]string{name, v.Unit}], v.Value)
		}
	}
	return all, r.Err()
}

// value is the median of a benchmark's runs in a unit, the highest where the
// name means several.
func (r readings) value(name, metric, unit string) (highest float64, err error) {
	err = fmt.Errorf("no benchmark %s told %s", name, metric)
	for key, list := range r {
		if ok, bad := path.Match(name, key[0]); bad == nil && ok && key[1] == metric {
			highest, err = max(highest, median(list)), nil
		}
	}
	had := metric[strings.LastIndexByte(metric, '-')+1:] // "ns/op", "p50-µs", "µs/call"
	if before, _, ok := strings.Cut(had, "/"); ok && had != "MB/s" {
		had = before
	}
	from, to := sizeOf(had), sizeOf(unit)
	if had != unit && (from.kind == "" || from.kind != to.kind) {
		return 0, fmt.Errorf("%s cannot be told in %q", metric, unit)
	} else if had != unit {
		highest *= from.size / to.size
	}
	return highest, err
}

// figure makes the figure of a take.
func (r readings) figure(t take) (f proof.Figure, err error) {
	f = proof.Figure{ID: t.ID, Unit: t.Unit, Note: t.Note, Peer: t.Peer}
	metric := cmp.Or(t.Metric, "ns/op")
	if f.Value, err = r.value(t.From, metric, t.Unit); err == nil && t.Peer != "" {
		f.PeerValue, err = r.value(cmp.Or(t.PeerFrom, t.From), cmp.Or(t.PeerMetric, metric), t.Unit)
	}
	return f, err
}

// fromLine reads a figure out of what a test has logged.
func fromLine(text []byte, t take) (proof.Figure, error) {
	f := proof.Figure{ID: t.ID, Unit: t.Unit, Note: t.Note}
	re, err := regexp.Compile(t.Line)
	if err != nil {
		return f, err
	}
	if t.Count {
		f.Value = float64(len(re.FindAll(text, -1)))
		return f, nil
	}
	found := re.FindSubmatch(text)
	if len(found) != 2 {
		return f, fmt.Errorf("no line for %s: %s", t.ID, t.Line)
	}
	f.Value, err = strconv.ParseFloat(strings.ReplaceAll(string(found[1]), ",", ""), 64)
	return f, err
}
