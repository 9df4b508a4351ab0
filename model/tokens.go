package model

// A Ref identifies a model by its provider and its id.
type Ref struct {
	Provider string `json:"providerID"`
	Model    string `json:"modelID"`
}

// String returns the form that people write: provider/model.
func (m Ref) String() string {
	if m.Provider == "" {
		return m.Model
	}
	return m.Provider + "/" + m.Model
}

// Tokens are the tokens of an answer, in the form that is stored.
type Tokens struct {
	Input     int         `json:"input"`
	Output    int         `json:"output"`
	Reasoning int         `json:"reasoning"`
	Cache     CacheTokens `json:"cache"`
}

// CacheTokens are the tokens that the provider read from its cache or wrote to it.
type CacheTokens struct {
	Read  int `json:"read"`
	Write int `json:"write"`
}

// TokensOf converts a usage to the form that is stored.
func TokensOf(u Usage) Tokens {
	return Tokens{Input: u.Input, Output: u.Output, Reasoning: u.Reasoning, Cache: CacheTokens{Read: u.CacheRead, Write: u.CacheWrite}}
}

// Usage converts tokens back to a usage.
func (t Tokens) Usage() Usage {
	return Usage{Input: t.Input, Output: t.Output, Reasoning: t.Reasoning, CacheRead: t.Cache.Read, CacheWrite: t.Cache.Write}
}
