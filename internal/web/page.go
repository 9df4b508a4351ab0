package web

import (
	"mime"
	"net/http"
	"strings"
)

// A Page is a response, of any status. Pages are shared and must not be changed.
type Page struct {
	Address Address     // the last
	Chain   []Redirect  // the redirects that led there
	Status  int         // of the answer
	Header  http.Header // as it was sent
	Type    string      // the media type, in lower case, without parameters
	Charset string      // as announced, in lower case
	Body    []byte      // decompressed
	Size    int64       // as announced, -1 if it was not
	Cut     bool        // there was more, or should have been

	public bool // no hop was inside
	broken bool // the body ended before it should
}

// Cacheable reports whether the page may be given once more to the one who
// asked for it. Before that, the rules have to be asked about all of Chain and
// the address again.
func (p *Page) Cacheable() bool {
	if !p.public || p.broken || p.Status != http.StatusOK || strings.Contains(p.Header.Get("Vary"), "*") {
		return false
	}
	for _, value := range p.Header.Values("Cache-Control") {
		for word := range strings.SplitSeq(strings.ToLower(value), ",") {
			switch word = strings.TrimSpace(word); {
			case word == "no-store", word == "max-age=0", strings.HasPrefix(word, "private"), strings.HasPrefix(word, "no-cache"):
				return false
			}
		}
	}
	return true
}

// mediaType reads a Content-Type, also one that is not well formed.
func mediaType(header string) (media, charset string) {
	media, params, err := mime.ParseMediaType(header)
	if err == nil {
		return media, strings.ToLower(params["charset"])
	}
	media, rest, _ := strings.Cut(header, ";")
	for param := range strings.SplitSeq(rest, ";") {
		name, value, _ := strings.Cut(param, "=")
		if strings.EqualFold(strings.TrimSpace(name), "charset") && charset == "" {
			charset = strings.ToLower(strings.Trim(value, " \t\"'"))
		}
	}
	return strings.ToLower(strings.TrimSpace(media)), charset
}
