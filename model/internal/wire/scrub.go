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
	minSecret = 8   // shorter ones are words that servers take for a key
	maxBrief  = 200 // bytes of an id or a reason
)

// A scrubber finds secrets.
type scrubber struct {
	shortest int                   // no way to write a secret is shorter
	pattern  func() *regexp.Regexp // made when it is first needed; nil: there are none
}

// Scrub takes the secrets out of a text, however they are escaped there.
func (c *Client) Scrub(text string) string {
	if c.secrets.pattern == nil || len(text) < c.secrets.shortest {
		return text
	}
	return c.secrets.pattern().ReplaceAllLiteralString(text, "[secret]")
}

// Brief makes of a provider's word one short line without secrets.
func (c *Client) Brief(text string) string {
	// at the cut no half of a secret may stay
	text = Plain(c.Scrub(text[:min(len(text), maxErrorBody)]))
	if len(text) > maxBrief {
		text = strings.ToValidUTF8(text[:maxBrief-len("…")], "") + "…"
	}
	return text
}

// Clean takes the secrets out of an error, and what is too long.
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
	// the longest first: of two that begin alike the shorter one would leave
	// the end of the other
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
		return regexp.MustCompile(strings.Join(forms, "|")) // all of it is quoted
	})}
}

// spellings is a pattern for the ways to write a character: as it is, behind
// backslashes, by its number as JSON and Python do, and as in a URL. What was
// escaped twice is found too.
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
