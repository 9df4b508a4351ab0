package search

import (
	"cmp"
	"time"
)

// A stamp is the time of a file's last change. Unlike a count of nanoseconds it can represent all
// times of a file system.
type stamp struct {
	sec  int64
	nsec int64
}

func (s stamp) compare(o stamp) int {
	if s.sec != o.sec {
		return cmp.Compare(s.sec, o.sec)
	}
	return cmp.Compare(s.nsec, o.nsec)
}

func (s stamp) time() time.Time { return time.Unix(s.sec, s.nsec) }

// A stat is what is known of a regular file.
type stat struct {
	size  int64
	time  stamp
	links uint64 // how many names it has; 1 where that is not known
}
