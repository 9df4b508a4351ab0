// Package proof is what the programs of the lab have in common: figures as data,
// a folder without a way out of the machine to run programs in, what a process
// uses, and what the machine is.
package proof

// A Figure is one number that was measured, and what a peer did in the same run.
type Figure struct {
	ID    string  `json:"id"`    // words with dots between them, from the general to the special: "mcp.read.p50"
	Value float64 `json:"value"` // helve's
	Unit  string  `json:"unit"`  // "ms", "µs", "s", "MiB", "KiB", "a second", "times", "%", or empty for a count
	// Peer is whom helve was measured beside, with the version, and PeerValue
	// what came of it, in the same unit. Empty where there is nobody.
	Peer      string  `json:"peer,omitempty"`
	PeerValue float64 `json:"peerValue,omitempty"`
	Note      string  `json:"note,omitempty"` // what a reader has to know of this run, in a sentence
}
