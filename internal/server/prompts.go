package server

import (
	"cmp"
	"context"
	"net/http"
	"reflect"

	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/tool"
)

type promptInput struct {
	Body struct {
		Text    string            `json:"text" maxLength:"1048576" doc:"what is to be done"`
		Session string            `json:"session,omitempty" maxLength:"256" doc:"to go on with; a new one when absent"`
		Agent   string            `json:"agent,omitempty" maxLength:"256" doc:"the session's last one, or the default one, when absent"`
		Model   *model.Ref        `json:"model,omitempty" doc:"the agent's, the session's last one, or the default one, when absent"`
		Files   []tool.Attachment `json:"files,omitempty" maxItems:"64" doc:"images and files to look at"`
		Title   string            `json:"title,omitempty" maxLength:"200" doc:"of a new session"`
		Wait    bool              `json:"wait,omitempty" doc:"answer when the turn is over, and end it when the client leaves"`
	} `nameHint:"PromptRequest"`
}

type turnInput struct {
	Session string `path:"session" maxLength:"256"`
	Body    *struct {
		Wait bool `json:"wait,omitempty" doc:"answer when the turn is over, and end it when the client leaves"`
	} `nameHint:"TurnRequest"`
}

// started is a turn that goes on.
type started struct {
	Session string `json:"session"`
}

func (s *Server) routePrompts() {
	answers := map[int]reflect.Type{200: reflect.TypeFor[agent.Turn](), 202: reflect.TypeFor[started]()}
	const text = "Answers at once with the session, and events tell how it goes on; with wait, answers with the turn when it is over."
	fails := []int{404, 409, 422, 503}
	route(s, about{at: "POST /v1/prompts", id: "prompt", tag: "prompts", fails: fails, status: 202, answers: answers,
		summary: "Let an agent work on a prompt", text: text},
		func(ctx context.Context, in *promptInput) (*reply, error) {
			b := in.Body
			p := agent.Prompt{Session: b.Session, Agent: b.Agent, Text: b.Text, Files: b.Files, Title: b.Title}
			if b.Model != nil {
				p.Model = *b.Model
			}
			if p.Session == "" {
				p.New = s.rt.NewID("ses")
			}
			return s.turn(ctx, cmp.Or(p.Session, p.New), b.Wait, func(ctx context.Context) (*agent.Turn, error) { return s.rt.Turns().Prompt(ctx, p) })
		})
	route(s, about{at: "POST /v1/sessions/{session}/resume", id: "resume", tag: "prompts", fails: fails, status: 202, answers: answers,
		summary: "Go on with a turn that broke off", text: text + " Calls that had begun are not made again."},
		func(ctx context.Context, in *turnInput) (*reply, error) {
			return s.turn(ctx, in.Session, in.Body != nil && in.Body.Wait,
				func(ctx context.Context) (*agent.Turn, error) { return s.rt.Turns().Resume(ctx, in.Session) })
		})
	route(s, about{at: "POST /v1/sessions/{session}/compact", id: "compact", tag: "prompts", fails: fails, status: 202, answers: answers,
		summary: "Sum a conversation up, so that it takes less of the model's room", text: text},
		func(ctx context.Context, in *turnInput) (*reply, error) {
			return s.turn(ctx, in.Session, in.Body != nil && in.Body.Wait,
				func(ctx context.Context) (*agent.Turn, error) { return s.rt.Turns().Compact(ctx, in.Session) })
		})
	route(s, about{at: "POST /v1/sessions/{session}/cancel", id: "cancelTurn", tag: "prompts", fails: []int{404, 422},
		summary: "End the turn on a session, whoever started it", text: "Also one of a subagent, or of an agent over MCP. It can be resumed."},
		func(_ context.Context, in *sessionInput) (*nothing, error) {
			if !s.stopTurn(in.Session) {
				return nil, notFound("Nobody works on the session %q here.", in.Session)
			}
			return &nothing{}, nil
		})
}

// turn starts a turn and waits until it works, or for its end where that is
// wanted: then it ends when the client leaves.
func (s *Server) turn(ctx context.Context, session string, wait bool, run func(context.Context) (*agent.Turn, error)) (*reply, error) {
	t, err := s.launch(session, run)
	if err != nil {
		return nil, err
	}
	over := t.began
	if wait {
		over = t.done
	}
	select {
	case <-over:
	case <-ctx.Done():
		if wait {
			t.end(context.Cause(ctx))
			<-t.done // within a second or so
		}
		return nil, context.Cause(ctx)
	}
	select {
	case <-t.done:
	default:
		return &reply{Status: http.StatusAccepted, Body: started{t.session}}, nil
	}
	if t.out == nil {
		return nil, refusal(t.err)
	}
	if t.err != nil {
		s.log.Error("a turn was not kept whole", "session", t.out.Session, "error", t.err)
	}
	if !wait {
		return &reply{Status: http.StatusAccepted, Body: started{t.out.Session}}, nil
	}
	return &reply{Status: http.StatusOK, Body: t.out}, nil
}
