package wire

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const maxWait = 10 * time.Minute

// retryAfter reads the two headers that ask the client to wait.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	if ms, err := strconv.ParseFloat(strings.TrimSpace(h.Get("Retry-After-Ms")), 64); err == nil {
		return seconds(ms / 1000), true
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(value, 64); err == nil {
		return seconds(s), true
	}
	if at, err := http.ParseTime(value); err == nil {
		return bounded(at.Sub(now)), true
	}
	return 0, false
}

// reset returns when rate limits reset: the last reset of the exhausted limits or, if none is
// marked as exhausted, the first.
func reset(h http.Header, now time.Time) time.Duration {
	var last, first time.Duration
	for key, values := range h {
		key = strings.ToLower(key)
		if len(values) == 0 || !strings.Contains(key, "ratelimit") || !strings.Contains(key, "reset") {
			continue
		}
		d := until(strings.TrimSpace(values[0]), now)
		if d <= 0 {
			continue
		}
		if left := h.Get(strings.Replace(key, "reset", "remaining", 1)); left == "0" {
			last = max(last, d)
		}
		if first == 0 || d < first {
			first = d
		}
	}
	if last > 0 {
		return last
	}
	return first
}

// until parses a time in one of the usual forms: seconds, a Unix time in seconds or milliseconds, a
// Go duration, a date.
func until(value string, now time.Time) time.Duration {
	if n, err := strconv.ParseFloat(value, 64); err == nil {
		switch {
		case n >= 1e15:
			return 0
		case n > 1e11:
			return bounded(time.UnixMilli(int64(n)).Sub(now))
		case n > 1e9:
			return bounded(time.Unix(int64(n), 0).Sub(now))
		}
		return seconds(n)
	}
	if d, err := time.ParseDuration(value); err == nil {
		return bounded(d)
	}
	if at, err := time.Parse(time.RFC3339, value); err == nil {
		return bounded(at.Sub(now))
	}
	if at, err := http.ParseTime(value); err == nil {
		return bounded(at.Sub(now))
	}
	return 0
}

func seconds(s float64) time.Duration {
	if math.IsNaN(s) {
		return 0
	}
	return bounded(time.Duration(max(0, min(s, maxWait.Seconds())) * float64(time.Second)))
}

func bounded(d time.Duration) time.Duration { return max(0, min(d, maxWait)) }
