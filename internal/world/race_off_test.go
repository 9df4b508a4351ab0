//go:build !race

package world

// raceDetector says that everything is many times slower.
const raceDetector = false
