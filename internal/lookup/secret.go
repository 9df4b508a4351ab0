package lookup

import (
	"encoding/json"
	"html"
	"net/url"
	"strings"

	"helve/internal/text"
)

// maxBrief is how much of a server's words an error repeats, in characters.
const maxBrief = 1000

// A secret is what nobody may read, in all the ways it may be written.
type secret struct{ forms *strings.Replacer }

// secret is the key, and what looks like one in the endpoint's own query.
func (o Options) secret() secret {
	keys := []string{o.Key}
	if u, err := url.Parse(strings.TrimSpace(o.Endpoint)); err == nil {
		for name, values := range u.Query() {
			if secretName(name) {
				keys = append(keys, values...)
			}
		}
	}
	var pairs []string
	for _, key := range keys {
		if key == "" {
			continue
		}
		quoted, _ := json.Marshal(key) // a string can always be written
		for _, form := range []string{
			key, url.QueryEscape(key), url.PathEscape(key), strings.Trim(string(quoted), `"`),
			html.EscapeString(key), strings.ReplaceAll(html.EscapeString(key), "&#34;", "&quot;"),
		} {
			pairs = append(pairs, form, "[redacted]")
		}
	}
	if pairs == nil {
		return secret{}
	}
	return secret{strings.NewReplacer(pairs...)}
}

// secretName reports whether a parameter of that name holds a secret.
func secretName(name string) bool {
	name = strings.ToLower(name)
	for _, part := range []string{"key", "token", "secret", "auth", "pass"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// masked hides the values of secret parameters in the addresses an error
// names, for a long address may end in the middle of one.
func masked(s string) string {
	var out strings.Builder
	for {
		i := strings.IndexByte(s, '=')
		if i < 0 {
			return out.String() + s
		}
		out.WriteString(s[:i+1])
		name := s[strings.LastIndexAny(s[:i], "?&; \n\"")+1 : i]
		s = s[i+1:]
		if secretName(name) {
			out.WriteString("[redacted]")
			s = strings.TrimLeftFunc(s, func(r rune) bool { return !strings.ContainsRune("&; \n\"…", r) })
		}
	}
}

// hide returns s without the secret.
func (k secret) hide(s string) string {
	if k.forms == nil {
		return s
	}
	return k.forms.Replace(s)
}

// brief returns what a server said as the part of an error: harmless, without
// the secret, and not too long.
func (k secret) brief(s string) string {
	const enough = 64 << 10 // a page may be far longer than what is shown of it
	s, _ = text.Cut(s, enough)
	s, more := cut(k.hide(strings.TrimSpace(clean(s))), maxBrief)
	if more {
		s += "…"
	}
	return s
}
