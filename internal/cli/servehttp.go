package cli

import (
	"context"
	"encoding/json"

	"github.com/helve-dev/helve/internal/catalog"
	"github.com/helve-dev/helve/internal/server"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/permission"
)

// explainOverHTTP is 'helve permission explain' for the server.
func (a *app) explainOverHTTP(at site) func(context.Context, server.ExplainQuery) (server.Explained, error) {
	return func(_ context.Context, q server.ExplainQuery) (server.Explained, error) {
		who, err := at.agent(q.Agent)
		if err != nil {
			return server.Explained{}, err
		}
		x, err := at.explainIn(at.rt, who, permission.Request{Permission: q.Permission, Patterns: []string{q.Pattern}, Session: q.Session})
		if err != nil {
			return server.Explained{}, err
		}
		return *x, nil
	}
}

// modelsOverHTTP are the models that a prompt may name.
func (a *app) modelsOverHTTP(s *setup) func(context.Context) ([]server.ModelInfo, error) {
	return func(context.Context) ([]server.ModelInfo, error) {
		report := s.modelReport(a)
		out := []server.ModelInfo{}
		for _, p := range report.Providers {
			if p.State != catalog.Ready && p.State != catalog.Local {
				continue
			}
			for _, m := range p.Models {
				info := server.ModelInfo{
					Provider: p.ID, Model: m.ID, Name: m.Name, Context: m.Context, Output: m.Output, Images: m.Images,
					Default: report.Default == p.ID+"/"+m.ID,
				}
				if m.Price != (model.Price{}) {
					info.Price = new(server.Price(m.Price))
				}
				out = append(out, info)
			}
		}
		return out, nil
	}
}

// configOverHTTP is what 'helve config --json' prints, without secrets.
func (a *app) configOverHTTP(s *setup) func(context.Context) (json.RawMessage, error) {
	return func(context.Context) (json.RawMessage, error) {
		cfg := *s.cfg
		cfg.Withheld = redactedValues(cfg.Withheld)
		return json.Marshal(shownOf(&cfg, redactJSON(cfg.Raw)))
	}
}
