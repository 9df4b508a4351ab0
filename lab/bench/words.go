package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// A measureUnit is a kind of unit, and how large it is in the smallest of its kind.
type measureUnit struct {
	kind string
	size float64
}

func sizeOf(unit string) measureUnit {
	return map[string]measureUnit{
		"ns": {"time", 1}, "µs": {"time", 1e3}, "ms": {"time", 1e6}, "s": {"time", 1e9},
		"B": {"size", 1}, "KiB": {"size", 1 << 10}, "MB": {"size", 1e6}, "MiB": {"size", 1 << 20},
		"MB/s": {"rate", 1}, "MB a second": {"rate", 1},
	}[unit]
}

// words are a figure as a person reads it: a number with its unit, times in the
// unit that suits them.
func words(value float64, unit string) string {
	if m := sizeOf(unit); m.kind == "time" {
		value *= m.size
		switch abs := math.Abs(value); {
		case abs >= 1e9:
			value, unit = value/1e9, "s"
		case abs >= 3e5 || abs == 0:
			value, unit = value/1e6, "ms"
		case abs >= 1e3:
			value, unit = value/1e3, "µs"
		default:
			unit = "ns"
		}
	}
	return strings.TrimSpace(number(value) + " " + unit)
}

// number has as many digits as count, and a comma between the thousands.
func number(x float64) string {
	digits := 0
	switch abs := math.Abs(x); {
	case abs >= 100 || x == math.Trunc(x):
	case abs >= 10:
		digits = 1
	case abs >= 0.1:
		digits = 2
	default:
		return strconv.FormatFloat(x, 'g', 2, 64)
	}
	short, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'f', digits, 64), 64) // a number is one
	return humanize.Commaf(short)
}

// times are a ratio with two digits that count.
func times(x float64) string {
	switch {
	case x >= 10:
		return number(math.Round(x))
	case x >= 1:
		return fmt.Sprintf("%.1f", x)
	case x >= 0.1:
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("%.2g", x)
}
