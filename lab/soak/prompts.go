package main

import (
	"context"
	"fmt"
	"time"

	"github.com/helve-dev/helve/client"
)

// promptDeeds are those of a person who lets agents work.
func promptDeeds() []deed {
	all := []deed{
		{"prompt", 6, func(w *hand, ctx context.Context) error { return w.prompt(ctx, "work alone") }},
		{"prompt with subagents", 4, func(w *hand, ctx context.Context) error { return w.prompt(ctx, "hand it on") }},
		{"prompt that writes", 3, func(w *hand, ctx context.Context) error { return w.prompt(ctx, "write something") }},
		{"prompt, cancelled", 3, (*hand).promptCancelled},
	}
	for _, s := range stumbles() {
		all = append(all, deed{"prompt, " + s.name, 1, func(w *hand, ctx context.Context) error {
			w.count.fault(s.name, nil)
			return w.prompt(ctx, fmt.Sprintf("%s %d.", s.name, w.rand.IntN(faultsOfOneKind)))
		}})
	}
	return all
}

// prompt lets an agent work in a session of its own, and sees it to its end.
func (w *hand) prompt(ctx context.Context, text string) error {
	ref := &client.MessageModelRef{ProviderID: []string{"open", "other"}[w.rand.IntN(2)], ModelID: "script"}
	turn, err := w.api.Prompt(ctx, client.PromptRequest{Text: text, Model: ref, Wait: true})
	if err != nil {
		return err
	}
	w.count.did("turn", turn.End)
	if _, err := w.api.ListMessages(ctx, turn.Session, client.ListMessagesQuery{}); err != nil {
		return err
	}
	if w.chance(3) {
		if _, err := w.api.Resume(ctx, turn.Session, client.TurnRequest{Wait: true}); err != nil {
			return err
		}
	}
	return w.api.EndSession(ctx, turn.Session)
}

// promptCancelled stops an agent at a moment that chance picks.
func (w *hand) promptCancelled(ctx context.Context) error {
	text := []string{"take long", "hand it on", "work alone"}[w.rand.IntN(3)]
	turn, err := w.api.Prompt(ctx, client.PromptRequest{Text: text})
	if err != nil {
		return err
	}
	w.pause(ctx, 600*time.Millisecond)
	if err := w.api.CancelTurn(ctx, turn.Session); err != nil && problem(err) == nil {
		return err
	}
	return w.api.EndSession(ctx, turn.Session)
}
