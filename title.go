package helve

import (
	"context"
	"strings"
	"time"

	"helve/internal/prompt"
	"helve/internal/store"
	"helve/internal/text"
	"helve/message"
	"helve/model"
)

const (
	// titleTime is how long a title may take.
	titleTime = 30 * time.Second
	// titleGrace is how long the end of a turn waits for it.
	titleGrace = 2 * time.Second
	// titleFrom is how many bytes of a prompt a title is made from.
	titleFrom = 4000
)

// entitle lets the small model give a new session its title, beside the work.
// Where it can not, the first words of the prompt stay. The function that it
// returns waits for it, though not for long.
func (r *Runtime) entitle(ctx context.Context, o opening) (wait func()) {
	ref, agent := r.opt.Models.Small, r.agent("title")
	if ref == (message.ModelRef{}) || agent == nil || strings.TrimSpace(o.Untitled) == "" {
		return func() {}
	}
	ctx, cancel := context.WithTimeout(ctx, titleTime)
	done := make(chan struct{})
	go func() {
		defer close(done)
		title, err := r.askTitle(ctx, titling{session: o.ID, ref: ref, agent: agent, words: o.Untitled})
		if err == nil && title != "" {
			err = r.retitle(ctx, o.ID, title)
		}
		if err != nil && ctx.Err() == nil {
			r.log.Warn("the session keeps the beginning of its prompt for a title", "session", o.ID, "error", err)
		}
	}()
	return func() {
		defer cancel()
		timer := time.NewTimer(titleGrace)
		defer timer.Stop()
		select {
		case <-done:
		case <-timer.C:
		}
	}
}

// A titling is a session that is to be named.
type titling struct {
	session string
	ref     message.ModelRef
	agent   *Agent
	words   string
}

// askTitle asks the small model for a title of one line.
func (r *Runtime) askTitle(ctx context.Context, t titling) (string, error) {
	m, err := r.findModel(t.session, t.ref)
	if err != nil {
		return "", err
	}
	words, _ := text.Cut(t.words, titleFrom)
	req := model.Request{
		Model: t.ref.Model, System: prompt.System(prompt.Options{Agent: t.agent.Name, Own: t.agent.Prompt}), Temperature: t.agent.Temperature, Session: t.session,
		Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Text: prompt.TitleOf(words)}}}},
	}
	var said strings.Builder
	for e, err := range m.Provider.Stream(ctx, req) {
		if err != nil {
			return "", err
		}
		if e.Kind == model.TextDelta && said.Len() < titleFrom {
			said.WriteString(e.Text)
		}
	}
	return strings.Trim(titleOf(said.String()), "\"\x60* "), nil
}

func (r *Runtime) retitle(ctx context.Context, session, title string) error {
	s, err := r.vault.get()
	if err != nil {
		return err
	}
	row, err := s.UpdateSession(ctx, session, func(v *store.Session) { v.Title = title })
	if err == nil {
		r.feed.publish(SessionChanged{Info: sessionOf(row)})
	}
	return err
}
