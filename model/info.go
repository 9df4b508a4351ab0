package model

import "encoding/json"

// A Model is a provider's model with what is known about it. Packages such as model/anthropic
// return one.
type Model struct {
	Provider Provider
	// ProviderID and ID identify the provider and the model in records. ID is also the provider's
	// name for the model.
	ProviderID, ID string
	Info           Info
	// Fit converts the schema of a tool to what the provider accepts; an error hides the tool from
	// this model. When Fit is nil, schemas stay as they are.
	Fit func(schema json.RawMessage) (json.RawMessage, error)
}

// Info is what is known about a model. Zero fields are unknown.
type Info struct {
	Context int   `json:"context,omitempty"` // limit of tokens in a request and its answer together
	Output  int   `json:"output,omitempty"`  // limit of tokens in an answer
	Images  bool  `json:"images"`            // it accepts images
	Price   Price `json:"price,omitzero"`
}

// A Price is in US dollars per million tokens.
type Price struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cache_read"`
	CacheWrite float64 `json:"cache_write"`
}

// Cost returns the cost of usage in US dollars; 0 if the price is not known.
func (p Price) Cost(u Usage) float64 {
	return (p.Input*float64(u.Input) + p.Output*float64(u.Output) +
		p.CacheRead*float64(u.CacheRead) + p.CacheWrite*float64(u.CacheWrite)) / 1e6
}

// Add returns the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, Output: u.Output + v.Output, Reasoning: u.Reasoning + v.Reasoning,
		CacheRead: u.CacheRead + v.CacheRead, CacheWrite: u.CacheWrite + v.CacheWrite,
	}
}

// Total returns the number of all tokens.
func (u Usage) Total() int { return u.Input + u.Output + u.CacheRead + u.CacheWrite }
