package catalog

import (
	"errors"
	"testing"

	"github.com/helve-dev/helve/model"
)

// A plugin that is late is asked again, one that has answered is not, and
// nobody is asked for a provider that has a key or needs none.
func TestSignIn(t *testing.T) {
	c := New(Options{Providers: []Provider{{ID: "anthropic"}, {ID: "openai", Key: "k"}, {ID: "ollama"}}})
	asked := 0
	ask := func(l Login, err error) func() (Login, error) {
		return func() (Login, error) { asked++; return l, err }
	}
	if err := c.SignIn("anthropic", ask(Login{}, errors.New("late"))); err == nil {
		t.Error("a provider without a key can be used")
	}
	for range 2 {
		if err := c.SignIn("anthropic", ask(Login{Key: "a"}, nil)); err != nil {
			t.Error(err)
		}
	}
	if _, _, _, err := c.Find(model.Ref{Provider: "anthropic", Model: "m"}); err != nil {
		t.Error(err)
	}
	for _, id := range []string{"openai", "ollama", "nobody"} {
		if err := c.SignIn(id, ask(Login{}, errors.New("asked"))); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}
