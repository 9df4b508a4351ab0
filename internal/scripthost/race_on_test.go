//go:build race

package scripthost

// raceDetector says that everything is many times slower.
const raceDetector = true
