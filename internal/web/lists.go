package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// maxHits is how many results of a reply are looked at.
const maxHits = 200

// items is an array that skips invalid elements and keeps only the first ones, so that a reply
// takes no more memory than it has bytes.
type items[T any] []T

// UnmarshalJSON never fails: anything but an array is an empty one.
func (all *items[T]) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return nil
	}
	for dec.More() && len(*all) < maxHits {
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			break
		}
		var one T
		if json.Unmarshal(raw, &one) == nil {
			*all = append(*all, one)
		}
	}
	return nil
}

// searxng asks a SearXNG server.
type searxng struct{ *site }

func (s *searxng) search(ctx context.Context, q SearchQuery) (string, error) {
	r := request{query: url.Values{"q": {q.Text}, "format": {"json"}}}
	if q.Code {
		r.query.Set("categories", "it")
	}
	if s.key != "" {
		r.header = http.Header{"Accept": {"application/json"}, "Authorization": {"Bearer " + s.key}}
	}
	p, err := s.requestPage(ctx, r)
	if f, ok := err.(*rawSearchError); ok && f.status == http.StatusForbidden {
		f.code = "status"
		f.hint = "Most likely the JSON format is off in that server's settings.yml: search.formats has to list json."
	}
	if err != nil {
		return "", err
	}
	var reply struct {
		Results items[struct {
			Title   word `json:"title"`
			URL     word `json:"url"`
			Content word `json:"content"`
			Date    word `json:"publishedDate"`
		}] `json:"results"`
		Silent items[items[word]] `json:"unresponsive_engines"`
	}
	if err := s.decode(p, &reply); err != nil {
		return "", err
	}
	var hits []hit
	for _, r := range reply.Results {
		hits = append(hits, hit{string(r.Title), string(r.URL), day(r.Date), []string{string(r.Content)}})
	}
	found := render(hits, q, s.secret.hide)
	if found == "" && len(reply.Silent) > 0 {
		return s.silent(reply.Silent), nil
	}
	return found, nil
}

// silent says that nothing was found, and that the engines behind the server may not have answered
// it.
func (s *searxng) silent(engines items[items[word]]) string {
	var names []string
	for _, e := range engines {
		switch {
		case len(e) == 1:
			names = append(names, string(e[0]))
		case len(e) > 1:
			names = append(names, fmt.Sprintf("%s (%s)", e[0], e[1]))
		}
	}
	said := s.secret.errorText(oneLine(strings.Join(names, ", ")))
	return "No search results found. These engines of the server did not answer: " + said + "."
}

// brave asks the Brave Search API.
type brave struct{ *site }

func (b *brave) search(ctx context.Context, q SearchQuery) (string, error) {
	const most = 20
	p, err := b.requestPage(ctx, request{
		query: url.Values{
			"q": {q.Text}, "count": {strconv.Itoa(min(q.Count, most))},
			"result_filter": {"web"}, "text_decorations": {"false"},
		},
		header: http.Header{"Accept": {"application/json"}, "X-Subscription-Token": {b.key}},
	})
	if err != nil {
		return "", err
	}
	var reply struct {
		Web struct {
			Results items[struct {
				Title   word        `json:"title"`
				URL     word        `json:"url"`
				Content word        `json:"description"`
				More    items[word] `json:"extra_snippets"`
				Date    word        `json:"page_age"`
				Age     word        `json:"age"`
			}] `json:"results"`
		} `json:"web"`
	}
	if err := b.decode(p, &reply); err != nil {
		return "", err
	}
	var hits []hit
	for _, r := range reply.Web.Results {
		h := hit{unmarked(string(r.Title)), string(r.URL), day(r.Date), []string{unmarked(string(r.Content))}}
		if h.date == "" {
			h.date = string(r.Age)
		}
		for _, m := range r.More {
			h.parts = append(h.parts, "\n"+unmarked(string(m)))
		}
		hits = append(hits, h)
	}
	return render(hits, q, b.secret.hide), nil
}

// tavily asks the Tavily search API.
type tavily struct{ *site }

func (t *tavily) search(ctx context.Context, q SearchQuery) (string, error) {
	const most = 20
	body := struct {
		Query string `json:"query"`
		Depth string `json:"search_depth"`
		Count int    `json:"max_results"`
	}{q.Text, "basic", min(q.Count, most)}
	switch q.Depth {
	case "fast":
		body.Depth = "fast"
	case "deep":
		body.Depth = "advanced"
	}
	p, err := t.requestPage(ctx, request{
		header: http.Header{"Accept": {"application/json"}, "Authorization": {"Bearer " + t.key}},
		body:   body,
	})
	if err != nil {
		return "", err
	}
	var reply struct {
		Results items[struct {
			Title   word `json:"title"`
			URL     word `json:"url"`
			Content word `json:"content"`
			Date    word `json:"published_date"`
		}] `json:"results"`
	}
	if err := t.decode(p, &reply); err != nil {
		return "", err
	}
	var hits []hit
	for _, r := range reply.Results {
		hits = append(hits, hit{string(r.Title), string(r.URL), day(r.Date), []string{string(r.Content)}})
	}
	return render(hits, q, t.secret.hide), nil
}

// day returns the day of a date and a time, such as 2026-10-01T08:00:00; and
// any other date as it is.
func day(date word) string {
	if s := string(date); len(s) > 10 && s[4] == '-' && s[7] == '-' && s[10] == 'T' {
		return s[:10]
	}
	return string(date)
}
