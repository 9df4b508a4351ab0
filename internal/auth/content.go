package auth

import (
	"mime"
	"net/http"
)

// checkContent accepts JSON bodies only. A form of another origin can send every other type without
// a preflight request.
func checkContent(r *http.Request) *tokenError {
	switch r.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch:
		// also without a body
	default:
		if r.ContentLength == 0 {
			return nil
		}
	}
	if !isJSON(r.Header["Content-Type"]) {
		return wrongType()
	}
	for _, coding := range r.Header["Content-Encoding"] {
		if lower(coding) != "identity" {
			return wrongCoding()
		}
	}
	return nil
}

// isJSON reports whether a Content-Type header declares JSON in UTF-8.
func isJSON(values []string) bool {
	if len(values) != 1 {
		return false
	}
	if values[0] == "application/json" { // nearly always
		return true
	}
	kind, params, err := mime.ParseMediaType(values[0])
	if err != nil || kind != "application/json" {
		return false
	}
	for name, value := range params {
		if name != "charset" || lower(value) != "utf-8" {
			return false
		}
	}
	return true
}
