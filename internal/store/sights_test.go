package store_test

import (
	"testing"
	"time"

	"github.com/helve-dev/helve/internal/store"
)

func TestSights(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	when := time.UnixMilli(1_700_000_000_123)
	s.See("a", "/x", store.Sight{Hash: "1", When: when, Encoding: "gbk"})
	s.See("a", "/x", store.Sight{Hash: "2", When: when, Encoding: "gbk"})
	s.See("b", "/x", store.Sight{Hash: "3", When: when})
	if err := s.Turn(t.Context(), "/x", "3", "2"); err != nil { // takes the others along
		t.Fatal(err)
	}
	s.See("b", "/y", store.Sight{Hash: "4", When: when})
	if err := s.Close(); err != nil { // and so does the end
		t.Fatal(err)
	}
	s, err = store.Open(store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, c := range []struct {
		session, file string
		want          store.Sight
		ok            bool
	}{
		{"a", "/x", store.Sight{Hash: "2", When: when, Encoding: "gbk"}, true},
		{"b", "/x", store.Sight{Hash: "2", When: when}, true},
		{"b", "/y", store.Sight{Hash: "4", When: when}, true},
		{"a", "/y", store.Sight{}, false},
	} {
		got, ok, err := s.Sight(t.Context(), c.session, c.file)
		if err != nil || ok != c.ok || got != c.want {
			t.Errorf("%s %s: got %v %v %v, want %v %v", c.session, c.file, got, ok, err, c.want, c.ok)
		}
	}
}
