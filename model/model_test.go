package model_test

import (
	"errors"
	"testing"

	"github.com/helve-dev/helve/model"
)

func TestCost(t *testing.T) {
	p := model.Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75}
	u := model.Usage{Input: 1000, Output: 200, Reasoning: 50, CacheRead: 10_000, CacheWrite: 400}
	if got, want := p.Cost(u), 0.003+0.003+0.003+0.0015; got-want > 1e-12 || want-got > 1e-12 {
		t.Errorf("cost %v, want %v", got, want)
	}
	if twice := u.Add(u); p.Cost(twice) != 2*p.Cost(u) || twice.Total() != 2*11_600 {
		t.Errorf("twice %+v", twice)
	}
	if (model.Price{}).Cost(u) != 0 {
		t.Error("a price that is not known costs something")
	}
}

// Which errors are worth another attempt.
func TestAgain(t *testing.T) {
	for kind, want := range map[model.ErrorKind]bool{
		model.RateLimit: true, model.Overloaded: true, model.Network: true, model.Broken: true,
		model.Auth: false, model.Overflow: false, model.Invalid: false, model.Quota: false,
	} {
		cause := errors.New("cause")
		e := &model.Error{Kind: kind, Message: "words", Err: cause}
		if e.Again() != want || e.Error() != "words" || !errors.Is(e, cause) {
			t.Errorf("%s: %v %q", kind, e.Again(), e.Error())
		}
	}
}
