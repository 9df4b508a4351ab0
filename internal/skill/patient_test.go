package skill

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A disk that does not answer takes a part of the time, and the search is
// like one that ran out of it.
func TestPatient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		never := make(chan int)
		defer close(never)
		s := &search{opt: Options{Limits: Limits{}.withDefaults()}, start: time.Now()}
		ask := func() (int, error) { return <-never, nil }
		for i, want := range []time.Duration{time.Second, time.Second, time.Second, 50 * time.Millisecond} {
			began := time.Now()
			if _, err := patient(s, ask); !errors.Is(err, errSlow) || time.Since(began) != want {
				t.Error(i, err, time.Since(began))
			}
		}
		if !s.late || !s.limitReached(root{}) || s.stableMarks() != nil {
			t.Error("the search does not know that it is late")
		}
	})
}

// A file that can be read when the others are takes none of their time.
func TestPatientAnswer(t *testing.T) {
	s := &search{opt: Options{Limits: Limits{}.withDefaults()}, start: time.Now()}
	no := errors.New("no")
	if got, err := patient(s, func() (int, error) { return 7, no }); got != 7 || !errors.Is(err, no) || s.late {
		t.Error(got, err, s.late)
	}
}
