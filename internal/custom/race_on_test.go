//go:build race

package custom

// raceDetector is on: the engine is many times slower.
const raceDetector = true
