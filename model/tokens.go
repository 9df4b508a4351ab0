package model

// A Ref names a model and who serves it.
type Ref struct {
	Provider string `json:"providerID"`
	Model    string `json:"modelID"`
}

// String is the form that people write: provider/model.
func (m Ref) String() string {
	if m.Provider == "" {
		return m.Model
	}
	return m.Provider + "/" + m.Model
}

// Tokens are what an answer took.
type Tokens struct {
	Input     int         `json:"input"`
	Output    int         `json:"output"`
	Reasoning int         `json:"reasoning"`
	Cache     CacheTokens `json:"cache"`
}

// CacheTokens are the tokens that a provider had kept, or keeps from now on.
type CacheTokens struct {
	Read  int `json:"read"`
	Write int `json:"write"`
}

// TokensOf is a usage in the form that is kept.
func TokensOf(u Usage) Tokens {
	return Tokens{Input: u.Input, Output: u.Output, Reasoning: u.Reasoning, Cache: CacheTokens{Read: u.CacheRead, Write: u.CacheWrite}}
}

// Usage is the way back.
func (t Tokens) Usage() Usage {
	return Usage{Input: t.Input, Output: t.Output, Reasoning: t.Reasoning, CacheRead: t.Cache.Read, CacheWrite: t.Cache.Write}
}
