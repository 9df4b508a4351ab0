package wire

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"

	"github.com/helve-dev/helve/model"
)

const (
	minSecret = 8   // shorter ones are placeholders that servers accept as a key
	maxBrief  = 200 // bytes of an id or a reason
)

// A scrubber finds secrets.
type scrubber struct {
	shortest int                   // no spelling of a secret is shorter
	pattern  func() *regexp.Regexp // compiled on first use; nil if there are no secrets
}

// Scrub removes the secrets from a text, however they are escaped.
func (c *Client) Scrub(text string) string {
	if c.secrets.pattern == nil || len(text) < c.secrets.shortest {
		return text
	}
	return c.secrets.pattern().ReplaceAllLiteralString(text, "[secret]")
}

// Brief returns a provider's text as one short line without secrets.
func (c *Client) Brief(text string) string {
	// The cut must not leave part of a secret.
	text = Plain(c.Scrub(text[:min(len(text), maxErrorBody)]))
	if len(text) > maxBrief {
		text = strings.ToValidUTF8(text[:maxBrief-len("…")], "") + "…"
	}
	return text
}

// Clean removes secrets from an error and shortens long fields.
func (c *Client) Clean(e *model.Error) {
	e.Message = c.Scrub(e.Message)
	e.RequestID = c.Brief(e.RequestID)
	if e.Err == nil {
		return
	}
	text := e.Err.Error()
	if clean := c.Scrub(text[:min(len(text), maxErrorBody)]); clean != text || len(text) > maxWords {
		e.Err = errors.New(Plain(clean))
	}
}

func newScrubber(secrets []string) scrubber {
	var all []string
	for _, s := range secrets {
		if s = strings.TrimSpace(s); len(s) >= minSecret {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return scrubber{}
	}
	// The longest first: of two with the same prefix, the shorter one would leave the end of the
	// other.
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	return scrubber{len(all[len(all)-1]), sync.OnceValue(func() *regexp.Regexp {
		var forms []string
		for _, s := range all {
			var form strings.Builder
			for _, r := range s {
				form.WriteString(spellings(r))
			}
			forms = append(forms, form.String())
		}
		return regexp.MustCompile(strings.Join(forms, "|")) // everything is quoted
	})}
}

// spellings returns a pattern for the ways to write a character: literally, after backslashes, as a
// number in JSON or Python, and URL-encoded. It also matches double escapes.
func spellings(r rune) string {
	percent := ""
	for _, b := range []byte(string(r)) {
		percent += fmt.Sprintf("%%(?:25)*%02x", b)
	}
	number := ""
	for _, unit := range utf16.Encode([]rune{r}) {
		number += fmt.Sprintf(`\\+u%04x`, unit)
	}
	escaped := number + "|" + percent
	if r < 0x100 {
		escaped += fmt.Sprintf(`|\\+x%02x`, r)
	}
	if r == ' ' {
		escaped += `|\+|%(?:25)*2b`
	}
	return `(?:\\*` + regexp.QuoteMeta(string(r)) + `|(?i:` + escaped + `))`
}
