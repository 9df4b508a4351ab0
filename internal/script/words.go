package script

import "regexp"

// inBunsWords rewrites the messages of errors that operators throw to those of Bun: models know
// them, and tools look for them. Those of functions are rewritten where they are thrown, by the
// globals.
func inBunsWords(message string) string {
	switch message {
	case "no setter for property":
		return "Attempted to assign to readonly property."
	case "object is not extensible":
		return "Attempting to define property on object that is not extensible."
	case "invalid array length":
		return "Invalid array length"
	case "cannot convert symbol to string":
		return "Cannot convert a symbol to a string"
	case "invalid 'instanceof' right operand":
		return "Right hand side of instanceof is not an object"
	}
	if parts := regexp.MustCompile(`^'([^']+)' is not defined$`).FindStringSubmatch(message); parts != nil {
		return parts[1] + " is not defined"
	}
	if regexp.MustCompile(`^'[^']+' is read-only$`).MatchString(message) {
		return "Attempted to assign to readonly property."
	}
	return message
}
