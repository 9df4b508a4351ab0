package server

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"

	"github.com/danielgtaylor/huma/v2"
)

// A proofInput asks a server to show that it knows the token.
type proofInput struct {
	Nonce string `query:"nonce" required:"true" minLength:"16" maxLength:"128" doc:"anything that was never sent before"`

	host string
}

// Resolve notes who was asked: a proof is good for that address alone, so that
// another program there can not fetch it from us.
func (p *proofInput) Resolve(ctx huma.Context) []error {
	p.host = ctx.Host()
	return nil
}

type proof struct {
	Proof string `json:"proof" doc:"HMAC-SHA256 with the token as key, in hexadecimal, of \"helve\", the Host header and the nonce, a line each"`
}

// routeProof is for clients that come back to an address: the server may have
// gone, and whoever listens there now is not to be told the token.
func (s *Server) routeProof() {
	route(s, about{at: "GET /v1/proof", id: "prove", tag: "server", open: true, fails: []int{422, 501},
		summary: "Show that this is a server that knows the token",
		text:    "Needs no token, so that a client can ask before it sends it.",
	}, func(_ context.Context, in *proofInput) (*body[proof], error) {
		if s.opt.Token == nil {
			return nil, absent("a token")
		}
		return answerOf(proof{proofOf(s.opt.Token(), in.host, in.Nonce)}), nil
	})
}

func proofOf(token, host, nonce string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("helve\n" + host + "\n" + nonce))
	return hex.EncodeToString(mac.Sum(nil))
}
