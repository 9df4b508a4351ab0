// Package tool says what a tool is.
//
// A tool is one value: a [Spec] and a function over a Go struct, joined by
// [New]. The struct is the input: its JSON Schema is derived from it, and
// what a model sends is checked against that schema and decoded, with
// coercions and defaults applied, before the function sees it.
//
// A tool knows nothing of registries, models or doors. It gets a [Call], asks
// for permission through it, and returns a [Result] or an error; an [Error]
// of one [Kind] is what callers see.
package tool
