package model

import "encoding/json"

// A Model is a model with who serves it and what is known of it. Packages such
// as model/anthropic make one.
type Model struct {
	Provider Provider
	// ProviderID and ID are what records call the provider and the model. ID is
	// also what the provider calls it.
	ProviderID, ID string
	Info           Info
	// Fit returns the schema of a tool as the provider takes it; an error
	// keeps that tool from this model. Schemas stay as they are when it is nil.
	Fit func(schema json.RawMessage) (json.RawMessage, error)
}

// Info is what is known of a model. Zero fields are not known.
type Info struct {
	Context int  // tokens that a request and its answer may take together
	Output  int  // tokens that an answer may take
	Images  bool // it takes images
	Price   Price
}

// A Price is in US dollars for a million tokens.
type Price struct {
	Input, Output, CacheRead, CacheWrite float64
}

// Cost is what usage costs, in US dollars; 0 where the price is not known.
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

// Total is every token of a usage.
func (u Usage) Total() int { return u.Input + u.Output + u.CacheRead + u.CacheWrite }
