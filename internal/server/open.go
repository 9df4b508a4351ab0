package server

import (
	"context"
	"net/http"
	"strings"
)

// A Link opens the console once, without a token.
type Link struct {
	URL     string `json:"url"`
	Expires int64  `json:"expires" doc:"when it stops working, if it was not used before"`
}

// Link makes a link that opens the console. It works once, within 10 minutes.
func (s *Server) Link() Link {
	code, expires := s.codes.Make()
	return Link{URL: strings.TrimSuffix(s.opt.URL, "/") + "/console/#open=" + code, Expires: millis(expires)}
}

// badCode is a code that is not good; of many that come in a burst it says to
// wait.
func badCode(flooded bool) *problem {
	const detail = "This link was used before, is too old, or never was one. Get another with 'helve open'."
	if flooded {
		return newProblem(http.StatusTooManyRequests, "bad-code", detail).withHeader("Retry-After", "1")
	}
	return newProblem(http.StatusForbidden, "bad-code", detail)
}

type openInput struct {
	Body struct {
		Code string `json:"code" minLength:"1" maxLength:"256" doc:"what follows #open= in a link"`
	} `nameHint:"OpenRequest"`
}

type token struct {
	Token string `json:"token" doc:"what to send as Authorization: Bearer from now on"`
}

func (s *Server) routeOpen() {
	route(s, about{at: "POST /v1/open", id: "open", tag: "server", open: true, fails: []int{403, 422, 429, 501},
		summary: "Exchange a one-time code for the token",
		text:    "Needs no token: the code is a secret itself. It works once, within 10 minutes after it was made.",
	}, func(_ context.Context, in *openInput) (*body[token], error) {
		if s.opt.Token == nil {
			return nil, absent("a token")
		}
		flooded := s.codes.Flooded()
		if !s.codes.Take(in.Body.Code) {
			return nil, badCode(flooded)
		}
		return answerOf(token{s.opt.Token()}), nil
	})
	route(s, about{at: "POST /v1/links", id: "createLink", tag: "server", fails: []int{501},
		summary: "Make a one-time link to the console",
		text:    "At most 16 links are open at once: the oldest stops working for another.",
	}, func(context.Context, *struct{}) (*body[Link], error) {
		if s.opt.Token == nil {
			return nil, absent("a token")
		}
		return answerOf(s.Link()), nil
	})
}
