//go:build !race

package custom

// raceDetector is off.
const raceDetector = false
