package files

import (
	"path/filepath"
	"strconv"
	"testing"
)

func TestInquiryIsBounded(t *testing.T) {
	dir, q := realName(t.TempDir()), (&Workspace{}).WithCache().cache
	for i := range maxInquiry + 100 {
		name := filepath.Join(dir, strconv.Itoa(i), "below", "nothing")
		if got := q.real(name); got != name {
			t.Fatalf("%s became %s", name, got)
		}
	}
	if len(q.reals) != maxInquiry || len(q.entries) != maxInquiry {
		t.Errorf("it remembers %d names and %d entries, and %d are the most", len(q.reals), len(q.entries), maxInquiry)
	}
}
