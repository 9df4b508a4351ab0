package modeltest_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/internal/modeltest"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/model/anthropic"
	"github.com/helve-dev/helve/model/openai"
)

// clients are the real clients of the server, by protocol.
func clients(t *testing.T, url string) map[string]model.Provider {
	t.Helper()
	a, err := anthropic.NewProvider(anthropic.Options{Key: "k", BaseURL: url})
	if err != nil {
		t.Fatal(err)
	}
	o, err := openai.NewProvider(openai.Options{Key: "k", BaseURL: url, ReplayReasoning: true})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]model.Provider{"anthropic": a, "openai": o}
}

// heard is an answer put together again.
type heard struct {
	Text, Reasoning string
	Calls           []model.Call
	Reason          model.Reason
	Usage           model.Usage
}

func listen(t *testing.T, p model.Provider, req model.Request) (h heard, seal string) {
	t.Helper()
	for e, err := range p.Stream(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
		switch e.Kind {
		case model.TextDelta:
			h.Text += e.Text
		case model.ReasoningDelta:
			h.Reasoning += e.Text
		case model.ReasoningEnd:
			seal = e.Seal
		case model.CallEnd:
			h.Calls = append(h.Calls, *e.Call)
		case model.Done:
			h.Reason, h.Usage = e.Reason, e.Usage
		}
	}
	return h, seal
}

// What a script says is what the clients hear, however it is cut, and what
// they send back is taken.
func TestClientsHearWhatIsSaid(t *testing.T) {
	for _, chunk := range []int{0, 1, 4} {
		s := modeltest.Start(t)
		s.Script("go",
			modeltest.Reply{
				Text: "héllo 世界", Reasoning: "hm …", Chunk: chunk, Usage: modeltest.Usage{Input: 7, Output: 5, CacheRead: 3},
				Calls: []modeltest.Call{{ID: "a", Name: "read", Args: `{"x":"😀"}`}, {ID: "b", Name: "read", Args: `{}`}},
			},
			modeltest.Reply{Text: "cut", Stop: "length"}, modeltest.Reply{Text: "no", Stop: "content-filter"})
		for name, p := range clients(t, s.URL()) {
			t.Run(fmt.Sprintf("%s in pieces of %d", name, chunk), func(t *testing.T) {
				req := model.Request{
					Model: "m", MaxTokens: 100, System: []string{"be good"},
					Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Text: "go"}}}},
					Tools:    []model.Tool{{Name: "read", Description: "reads", Schema: []byte(`{"type":"object","properties":{"x":{"type":"string"}}}`)}},
				}
				got, seal := listen(t, p, req)
				want := heard{
					Text: "héllo 世界", Reasoning: "hm …", Reason: model.Calls, Usage: model.Usage{Input: 7, Output: 5, CacheRead: 3},
					Calls: []model.Call{{ID: "a", Name: "read", Input: []byte(`{"x":"😀"}`)}, {ID: "b", Name: "read", Input: []byte(`{}`)}},
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Fatal(d)
				}
				req.Messages = append(req.Messages,
					model.Message{Role: model.Assistant, Parts: []model.Part{
						{Reasoning: &model.Reasoning{Text: got.Reasoning, Seal: seal}}, {Text: got.Text}, {Call: &got.Calls[0]}, {Call: &got.Calls[1]},
					}},
					model.Message{Role: model.User, Parts: []model.Part{
						{Result: &model.Result{ID: "a", Name: "read", Output: "one"}}, {Result: &model.Result{ID: "b", Name: "read", Output: "two", Failed: true}},
					}})
				if got, _ := listen(t, p, req); got.Text != "cut" || got.Reason != model.Length {
					t.Errorf("then it was %+v", got)
				}
				asked := s.Requests()
				last := asked[len(asked)-1]
				if r := last.Results(); len(r) != 2 || r[0].Text != "one" || last.System != "be good" || len(last.Messages[1].Calls) != 2 {
					t.Errorf("it was asked %+v", last)
				}
				req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Parts: []model.Part{{Text: "cut"}}},
					model.Message{Role: model.User, Parts: []model.Part{{Text: "more"}}})
				if got, _ := listen(t, p, req); got.Reason != model.Refused {
					t.Errorf("at last it was %+v", got)
				}
			})
		}
	}
}
