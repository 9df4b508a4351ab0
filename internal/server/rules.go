package server

import (
	"context"

	"github.com/helve-dev/helve/permission"
)

type rulesInput struct {
	Agent   string `query:"agent" maxLength:"256" doc:"the default agent when absent"`
	Session string `query:"session" maxLength:"256" doc:"with the approvals that hold for this session; with all that are kept when absent"`
}

// sourcedRule is a rule with where it was written.
type sourcedRule struct {
	Permission string            `json:"permission"`
	Pattern    string            `json:"pattern"`
	Action     permission.Action `json:"action" enum:"allow,ask,deny"`
	From       permission.Source `json:"from"`
}

type rules struct {
	Agent     string                `json:"agent"`
	Rules     []sourcedRule         `json:"rules" doc:"the last one that matches decides"`
	Ceilings  [][]sourcedRule       `json:"ceilings" doc:"limits that no rule loosens"`
	Approvals []permission.Approval `json:"approvals" doc:"what people have answered with always"`
	Policy    string                `json:"policyError,omitempty" doc:"why the rules are broken; everything is denied then"`
}

type approvalInput struct {
	Approval string `path:"approval" maxLength:"256"`
}

type explainInput struct{ Body ExplainQuery }

func (s *Server) routeRules() {
	route(s, about{at: "GET /v1/rules", id: "getRules", tag: "rules", fails: []int{404, 422},
		summary: "The rules that hold for an agent, and what was approved"}, s.getRules)
	route(s, about{at: "POST /v1/explain", id: "explain", tag: "rules", fails: []int{404, 422, 501},
		summary: "What the rules would decide, and which one of them", text: "Nothing is asked and nothing is done."},
		func(ctx context.Context, in *explainInput) (*body[Explained], error) {
			if s.opt.Explain == nil {
				return nil, absent("a way to explain rules")
			}
			if _, err := s.agent(in.Body.Agent); err != nil {
				return nil, err
			}
			x, err := s.opt.Explain(ctx, in.Body)
			if err != nil {
				return nil, refusal(err)
			}
			return answerOf(x), nil
		})
	route(s, about{at: "DELETE /v1/approvals/{approval}", id: "revokeApproval", tag: "rules", fails: []int{404, 422},
		summary: "Take an approval back"},
		func(_ context.Context, in *approvalInput) (*nothing, error) {
			found, err := s.rt.Permissions().Revoke(in.Approval)
			if err == nil && !found {
				err = notFound("There is no approval %q.", in.Approval)
			}
			return &nothing{}, err
		})
}

func (s *Server) getRules(_ context.Context, in *rulesInput) (*body[rules], error) {
	who, err := s.agent(in.Agent)
	if err != nil {
		return nil, err
	}
	out := rules{Agent: who.Name, Rules: sourced(who.Policy.Rules), Ceilings: [][]sourcedRule{}}
	for _, c := range who.Policy.Ceilings {
		out.Ceilings = append(out.Ceilings, sourced(c))
	}
	if out.Approvals, err = s.approvals(in.Session); err != nil {
		return nil, err
	}
	out.Policy = s.rt.Permissions().Error()
	return answerOf(out), nil
}

func sourced(rs permission.Ruleset) []sourcedRule {
	out := make([]sourcedRule, len(rs))
	for i, r := range rs {
		out[i] = sourcedRule{Permission: r.Permission, Pattern: r.Pattern, Action: r.Action, From: r.From}
	}
	return out
}

// approvals are those that hold for a session, or all that are kept.
func (s *Server) approvals(session string) ([]permission.Approval, error) {
	if session == "" {
		kept, err := s.rt.Permissions().AllApprovals()
		return list(kept), err
	}
	held, err := s.rt.Permissions().Approvals(session)
	return list(held), err
}
