package builtin_test

// lspDifferences are those of the lsp tool and of diagnostics. Where we differ
// from the reference, see docs/divergence.md, no recording shows it: all of
// them come out the same.
func lspDifferences() []difference { return nil }
