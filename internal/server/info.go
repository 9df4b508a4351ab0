package server

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/tool"
)

type info struct {
	Version   string   `json:"version"`
	Instance  string   `json:"instance" doc:"of this process; the ids of events begin with it"`
	Directory string   `json:"directory" doc:"where relative paths begin"`
	Worktree  string   `json:"worktree" doc:"the root of the project"`
	Started   int64    `json:"started"`
	Agents    []string `json:"agents" doc:"who can be talked to"`
	Default   string   `json:"defaultAgent"`
	TokenFile string   `json:"tokenFile,omitempty" doc:"where the token is kept; absent where that is not known"`
}

type agentInfo struct {
	Name        string     `json:"name"`
	Description string     `json:"description"`
	Mode        string     `json:"mode" doc:"primary, subagent or all"`
	Hidden      bool       `json:"hidden"`
	Native      bool       `json:"native,omitempty" doc:"it comes with helve"`
	ReadOnly    bool       `json:"readOnly,omitempty" doc:"it changes nothing in the worktree"`
	Model       *model.Ref `json:"model,omitempty" doc:"what it works with; the session's when absent"`
	Steps       int        `json:"steps,omitempty" doc:"how often its model may answer in one turn"`
	Color       string     `json:"color,omitempty"`
}

type toolInfo struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Schema      object `json:"schema" doc:"the JSON Schema of its input"`
	Permission  string `json:"permission" doc:"what it asks for"`
	ReadOnly    bool   `json:"readOnly"`
	Destructive bool   `json:"destructive" doc:"it may overwrite or delete"`
	External    bool   `json:"external" doc:"it comes from another program"`
}

// Lists are objects, so that more can be said of them one day.
type (
	agents struct {
		Agents []agentInfo `json:"agents" doc:"the default one first"`
	}
	tools struct {
		Tools []toolInfo `json:"tools"`
	}
	models struct {
		Models []ModelInfo `json:"models"`
	}
)

type toolsInput struct {
	Agent    string `query:"agent" maxLength:"256" doc:"as this agent is offered them; the default one when absent"`
	Provider string `query:"provider" maxLength:"256" doc:"for a model of this provider"`
	Model    string `query:"model" maxLength:"256" doc:"for this model"`
}

func (s *Server) routeInfo() {
	route(s, about{at: "GET /v1", id: "getInfo", tag: "server", summary: "What runs here, and where"}, s.info)
	route(s, about{at: "GET /v1/agents", id: "listAgents", tag: "server", summary: "The agents, the default one first"}, s.agents)
	route(s, about{at: "GET /v1/tools", id: "listTools", tag: "calls", fails: []int{404, 422},
		summary: "The tools that an agent is offered"}, s.tools)
	route(s, about{at: "GET /v1/models", id: "listModels", tag: "server", fails: []int{501}, summary: "The models that can be prompted"},
		func(ctx context.Context, _ *struct{}) (*body[models], error) {
			if s.opt.Models == nil {
				return nil, absent("a list of models")
			}
			all, err := s.opt.Models(ctx)
			if err != nil {
				return nil, err
			}
			return answerOf(models{list(all)}), nil
		})
	route(s, about{at: "GET /v1/config", id: "getConfig", tag: "server", fails: []int{501},
		summary: "The configuration that is in force", text: "What looks like a secret is left out."},
		func(ctx context.Context, _ *struct{}) (*body[object], error) {
			if s.opt.Config == nil {
				return nil, absent("a configuration")
			}
			raw, err := s.opt.Config(ctx)
			if err != nil {
				return nil, err
			}
			return answerOf(object(raw)), nil
		})
}

func (s *Server) info(context.Context, *struct{}) (*body[info], error) {
	out := info{
		Version: s.opt.Version, Instance: s.instance, Directory: s.opt.Dir, Worktree: s.opt.Worktree,
		Started: millis(s.started), Agents: []string{}, TokenFile: s.opt.TokenFile,
	}
	for i, a := range s.rt.Agents() {
		if i == 0 {
			out.Default = a.Name
		}
		if !a.Hidden {
			out.Agents = append(out.Agents, a.Name)
		}
	}
	return answerOf(out), nil
}

func (s *Server) agents(context.Context, *struct{}) (*body[agents], error) {
	var out []agentInfo
	for _, a := range s.rt.Agents() {
		shown := agentInfo{
			Name: a.Name, Description: a.Description, Mode: a.Mode, Hidden: a.Hidden, Native: a.Native,
			ReadOnly: a.ReadOnly || a.Locked, Steps: a.Steps, Color: a.Color,
		}
		if a.Model != (model.Ref{}) {
			shown.Model = &a.Model
		}
		out = append(out, shown)
	}
	return answerOf(agents{list(out)}), nil
}

// agent finds an agent, the default one for "".
func (s *Server) agent(name string) (agent.Spec, error) {
	for _, a := range s.rt.Agents() {
		if name == "" || a.Name == name {
			return a, nil
		}
	}
	return agent.Spec{}, notFound("There is no agent called %q. GET /v1/agents lists them.", name)
}

func (s *Server) tools(_ context.Context, in *toolsInput) (*body[tools], error) {
	who, err := s.agent(in.Agent)
	if err != nil {
		return nil, err
	}
	// What other programs have and is not there in time follows, and an event tells so.
	s.gathered.Do(func() { s.rt.Ready(s.life) })
	var out []toolInfo
	for _, spec := range s.rt.Tools(tool.Audience{Agent: who.Name, Provider: in.Provider, Model: in.Model}) {
		schema := object(`{"type":"object"}`)
		if spec.Schema != nil {
			if schema, err = json.Marshal(spec.Schema); err != nil {
				return nil, fmt.Errorf("encoding the schema of %s: %w", spec.Name, err)
			}
		}
		out = append(out, toolInfo{
			Name: spec.Name, Description: spec.Description, Schema: schema, Permission: spec.Permission,
			ReadOnly: spec.ReadOnly, Destructive: spec.Destructive, External: spec.External,
		})
	}
	return answerOf(tools{list(out)}), nil
}
