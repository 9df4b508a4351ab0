package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// words are a figure as a person reads it: a number with its unit, times and
// sizes in the unit that suits them.
func words(value float64, unit string) string {
	if m := sizeOf(unit); m.kind == "time" {
		value, unit = suited(value * m.size)
	}
	switch unit {
	case "":
		return number(value)
	case "%":
		return number(value) + " %"
	}
	return number(value) + " " + unit
}

// suited is a number of nanoseconds in the unit in which it reads best.
func suited(ns float64) (float64, string) {
	switch abs := math.Abs(ns); {
	case abs >= 1e9:
		return ns / 1e9, "s"
	case abs >= 3e5 || abs == 0:
		return ns / 1e6, "ms"
	case abs >= 1e3:
		return ns / 1e3, "µs"
	}
	return ns, "ns"
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
	text := strconv.FormatFloat(x, 'f', digits, 64)
	if digits > 0 {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	whole, rest, dot := strings.Cut(text, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if dot {
		whole += "." + rest
	}
	return sign + whole
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
