package mcpclient

import (
	"errors"
	"regexp/syntax"
)

// What patterns may weigh once they are compiled, in instructions. A short one
// can become very large.
const (
	maxPattern  = 5_000
	maxPatterns = 50_000
)

// A dialect says how a pattern can be used.
type dialect int

const (
	foreignBroken dialect = iota // it cannot be parsed, or is too large
	other                        // it is of a dialect that Go does not have
	checked                      // values can be held against it
)

// pattern returns how a pattern can be used, and counts its weight.
func (r *reader) pattern(expr string) dialect {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		var bad *syntax.Error
		if errors.As(err, &bad) && len(expr) <= maxPattern {
			switch bad.Code {
			case syntax.ErrInvalidPerlOp, syntax.ErrInvalidEscape, syntax.ErrInvalidNamedCapture, syntax.ErrInvalidRepeatSize:
				return other
			}
		}
		return foreignBroken
	}
	n := weigh(re)
	if n > maxPattern || r.weight+n > maxPatterns {
		return foreignBroken
	}
	r.weight += n
	return checked
}

// weigh estimates how many instructions a pattern compiles to. The parser bounds nesting to 1000.
func weigh(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		n = min(n+weigh(sub), 2*maxPattern)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return min(n, 2*maxPattern)
}
