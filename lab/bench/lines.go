package main

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"regexp"
	"runtime"
	"slices"
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
			value, unit := v.Value, v.Unit
			if v.OrigUnit != "" {
				value, unit = v.OrigValue, v.OrigUnit
			}
			all[[2]string{name, unit}] = append(all[[2]string{name, unit}], value)
		}
	}
	return all, r.Err()
}

// value is the median of a benchmark's runs, the highest where the name means several.
func (r readings) value(name, metric string) (value float64, runs []float64, err error) {
	found := false
	for key, list := range r {
		if ok, err := path.Match(name, key[0]); err != nil {
			return 0, nil, err
		} else if !ok || key[1] != metric {
			continue
		}
		if m := median(list); !found || m > value {
			value, runs = m, list
		}
		found = true
	}
	if !found {
		return 0, nil, fmt.Errorf("no benchmark %s told %s", name, metric)
	}
	return value, runs, nil
}

// figure makes the figure of a take.
func (r readings) figure(t take) (f proof.Figure, err error) {
	f = proof.Figure{ID: t.ID, Unit: t.Unit, Note: t.Note}
	metric := cmp.Or(t.Metric, "ns/op")
	value, runs, err := r.value(t.From, metric)
	if err != nil {
		return f, err
	}
	scale := 1.0
	switch {
	case t.Over != "":
		other, err := r.other(t.Over, t.From, metric)
		if err != nil {
			return f, err
		}
		if other == 0 {
			return f, fmt.Errorf("%s can not be divided by nothing", t.ID)
		}
		scale = 1 / other
	case t.Minus != "":
		other, err := r.other(t.Minus, t.From, metric)
		if err != nil {
			return f, err
		}
		value -= other
		runs = nil
		fallthrough
	default:
		if scale, err = factor(metric, t.Unit); err != nil {
			return f, fmt.Errorf("%s: %w", t.ID, err)
		}
	}
	f.Value = value * scale
	if len(runs) > 1 && f.Note == "" {
		f.Note = fmt.Sprintf("%s to %s in %d runs", words(slices.Min(runs)*scale, t.Unit), words(slices.Max(runs)*scale, t.Unit), len(runs))
	}
	if t.Peer == "" {
		return f, nil
	}
	f.Peer, metric = t.Peer, cmp.Or(t.PeerMetric, metric)
	peers, _, err := r.value(cmp.Or(t.PeerFrom, t.From), metric)
	if err != nil {
		return f, err
	}
	if scale, err = factor(metric, t.Unit); err != nil {
		return f, fmt.Errorf("%s: %w", t.ID, err)
	}
	f.PeerValue = peers * scale
	return f, nil
}

// other is the value of what a take names beside its own: another benchmark by
// the same metric, or another metric of the same.
func (r readings) other(name, from, metric string) (float64, error) {
	value, _, err := r.value(name, metric)
	if err != nil {
		value, _, err = r.value(from, name)
	}
	return value, err
}

// factor is what a metric's value is multiplied by to be in a unit.
func factor(metric, unit string) (float64, error) {
	had, wants := sizeOf(unitOf(metric)), sizeOf(unit)
	if unitOf(metric) == unit || metric == unit {
		return 1, nil
	}
	if had.kind == "" || had.kind != wants.kind {
		return 0, fmt.Errorf("%s can not be told in %q", metric, unit)
	}
	return had.size / wants.size, nil
}

// unitOf is the unit in the name of a metric: "ns/op", "p50-µs", "µs/call".
func unitOf(metric string) string {
	if before, _, ok := strings.Cut(metric, "/"); ok && !strings.HasSuffix(metric, "/s") {
		return before
	}
	return metric[strings.LastIndexByte(metric, '-')+1:]
}

// A measureUnit is a kind of unit, and how large it is in the smallest of its kind.
type measureUnit struct {
	kind string
	size float64
}

func sizeOf(unit string) measureUnit {
	switch unit {
	case "ns":
		return measureUnit{"time", 1}
	case "µs":
		return measureUnit{"time", 1e3}
	case "ms":
		return measureUnit{"time", 1e6}
	case "s":
		return measureUnit{"time", 1e9}
	case "B":
		return measureUnit{"size", 1}
	case "KiB":
		return measureUnit{"size", 1 << 10}
	case "MB":
		return measureUnit{"size", 1e6}
	case "MiB":
		return measureUnit{"size", 1 << 20}
	case "MB/s":
		return measureUnit{"rate", 1}
	case "MB a second":
		return measureUnit{"rate", 1}
	case "ratio", "times":
		return measureUnit{"times", 1}
	}
	return measureUnit{}
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
