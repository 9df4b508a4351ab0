//go:build race

package search

// raceDetector says that everything takes many times as long.
const raceDetector = true
