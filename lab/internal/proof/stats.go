package proof

import (
	"math"
	"slices"
	"time"
)

// Quantile is the value that a share q (0 to 1) of the list is not above, by
// the nearest rank; zero of none. The list may be in any order and stays so.
func Quantile[T time.Duration | float64](list []T, q float64) T {
	if len(list) == 0 {
		return 0
	}
	list = slices.Sorted(slices.Values(list))
	at := int(math.Ceil(q*float64(len(list)))) - 1
	return list[min(max(at, 0), len(list)-1)]
}

// Median is the middle of a list, or between the two that are.
func Median[T time.Duration | float64](list []T) T {
	if len(list) == 0 {
		return 0
	}
	list = slices.Sorted(slices.Values(list))
	n := len(list)
	return list[(n-1)/2] + (list[n/2]-list[(n-1)/2])/2
}

// Millis is a duration as a figure in ms.
func Millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// MiB is a number of bytes as a figure in MiB.
func MiB(bytes int64) float64 { return float64(bytes) / (1 << 20) }
