// Package tool defines tools, the calls of them, and their results and errors.
//
// A tool is one value: a [Spec] and a function over a Go struct, joined by [New]. The struct is the
// input: its JSON Schema is derived from it, and what a model sends is checked against that schema
// and decoded, with coercions and defaults applied, before the function sees it.
//
// A tool knows nothing about registries, models or the interface that a call came through. It gets
// a [Call], asks for permission through it, and returns a [Result] or an error. Callers get every
// error as an [Error] of one [Kind].
package tool
