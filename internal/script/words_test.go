package script

import "testing"

func TestInBunsWords(t *testing.T) {
	for said, want := range map[string]string{
		"'x' is not defined":       "x is not defined",
		"'a' is read-only":         "Attempted to assign to readonly property.",
		"no setter for property":   "Attempted to assign to readonly property.",
		"object is not extensible": "Attempting to define property on object that is not extensible.",
		"invalid array length":     "Invalid array length",
		"the 'x' is not defined":   "the 'x' is not defined",
		"anything else":            "anything else",
	} {
		if got := inBunsWords(said); got != want {
			t.Errorf("%q becomes %q, not %q", said, got, want)
		}
	}
}
