package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/helve-dev/helve/model"
)

const maxWords = 1000 // bytes of a provider's text in a message

// errorKind returns the kind of an error by its status and, where the status is ambiguous, its
// text.
func errorKind(status int, words string) model.ErrorKind {
	words = strings.ToLower(words)
	switch status {
	case 401, 403:
		return model.Auth
	case 402:
		return model.Quota
	case 404:
		return model.Invalid
	case 413:
		if tooMuchAtOnce(words) {
			return model.RateLimit
		}
		return model.Overflow
	case 429:
		if usedUp(words) {
			return model.Quota
		}
		return model.RateLimit
	}
	switch {
	case status < 400:
		return model.Invalid
	case Overflows(words): // some servers say so with 500
		return model.Overflow
	case status >= 500, status == 408, status == 409, status == 425:
		return model.Overloaded
	case usedUp(words):
		return model.Quota
	case wrongKey(words):
		return model.Auth
	}
	return model.Invalid
}

func usedUp(words string) bool {
	return hasAny(words, "insufficient_quota", "insufficient balance", "insufficient_balance", "insufficient credits",
		"credit balance is too low", "billing_hard_limit_reached", "exceeded_current_quota_error")
}

func wrongKey(words string) bool {
	return hasAny(words, "api key not valid", "api_key_invalid", "invalid api key", "invalid_api_key", "incorrect api key")
}

func tooMuchAtOnce(words string) bool {
	return hasAny(words, "rate_limit", "rate limit", "per minute", "per day")
}

func hasAny(text string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// errorText is the text of an error response.
type errorText struct {
	all   string // everything, including codes
	brief string // for people
	page  bool   // it is a web page, usually of a proxy
}

// spoken reads the body of an error, in the forms that providers use.
func spoken(h http.Header, body []byte) errorText {
	text := bytes.TrimSpace(body)
	var value any
	if json.Unmarshal(text, &value) == nil {
		return errorText{all: string(text), brief: Plain(messageIn(value))}
	}
	if bytes.HasPrefix(text, []byte("<")) || strings.Contains(strings.ToLower(h.Get("Content-Type")), "text/html") {
		return errorText{page: true}
	}
	return errorText{all: string(text), brief: Plain(string(text))}
}

// messageIn finds the sentence in a JSON error.
func messageIn(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case []any:
		if len(v) > 0 {
			return messageIn(v[0])
		}
	case map[string]any:
		for _, key := range []string{"error", "message", "msg", "detail", "errors", "error_description", "title", "type"} {
			if s := messageIn(v[key]); s != "" {
				return s
			}
		}
	}
	return ""
}

// Plain returns a provider's text as one line for a message: bounded, without control and
// bidirectional characters.
func Plain(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, text[:min(len(text), 4*maxWords)])
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxWords {
		text = strings.ToValidUTF8(text[:maxWords], "") + " …"
	}
	return text
}

// sentence returns what happened and what to do.
func (c *Client) sentence(resp *http.Response, kind model.ErrorKind, said errorText) string {
	what, todo := "does not take the request", "change what it complains about"
	switch kind {
	case model.Auth:
		what, todo = "does not accept the key", "check the key, and what it may be used for"
	case model.Quota:
		what, todo = "says that the account is used up", "add credit, or use another account"
	case model.RateLimit:
		what, todo = "takes no more requests for the moment", "try again later"
	case model.Overloaded:
		what, todo = "is busy or has a fault", "try again later"
	case model.Overflow:
		what, todo = "says that the request is too long for the model", "make the conversation shorter"
	}
	switch status := resp.StatusCode; {
	case status == 404:
		what, todo = "says that the endpoint or model does not exist", "check the base URL and the model's name"
	case status == 405:
		todo = "check the base URL"
	case status >= 300 && status < 400:
		what, todo = "sends elsewhere, where the key is not sent", "set the base URL to the new place"
		if to, err := resp.Location(); err == nil {
			what = fmt.Sprintf("sends to %s://%s, where the key is not sent", to.Scheme, to.Host)
		}
	}
	switch {
	case said.page:
		what += "; the answer is a web page, maybe of a proxy in between"
	case said.brief != "":
		what += ": " + strings.TrimSuffix(said.brief, ".")
	}
	return fmt.Sprintf("%s %s (HTTP %d): %s", c.name, what, resp.StatusCode, todo)
}
