package web

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/helve-dev/helve/internal/text"
)

// The defaults of a query, and their limits.
const (
	defaultCount  = 8
	maxCount      = 100
	defaultChars  = 10_000
	defaultTokens = 5_000
	charsPerToken = 4
)

// How long a search may take when the options say nothing.
const (
	webTimeout  = 25 * time.Second
	codeTimeout = 30 * time.Second
)

// A SearchQuery is what to search for. Zero fields mean the defaults.
type SearchQuery struct {
	Text      string
	Code      bool   // code and documentation are wanted, not pages of any kind
	Count     int    // results at most; 8
	Livecrawl string // fallback or preferred; only exa knows it
	Depth     string // auto, fast or deep, where the engine has such a thing
	MaxChars  int    // characters of the answer at most; 10,000 for lists of results
	Tokens    int    // the size of an answer about code; 5,000
}

// withDefaults returns the query with its defaults.
func (q SearchQuery) withDefaults() SearchQuery {
	if q.Count <= 0 {
		q.Count = defaultCount
	}
	q.Count = min(q.Count, maxCount)
	q.MaxChars = max(q.MaxChars, 0)
	switch {
	case !q.Code:
		q.Tokens = 0
	case q.Tokens <= 0:
		q.Tokens = defaultTokens
	}
	return q
}

// chars returns how many characters an answer may have whose size we choose.
func (q SearchQuery) chars() int {
	switch {
	case q.MaxChars > 0:
		return q.MaxChars
	case q.Code:
		return q.Tokens * charsPerToken
	}
	return defaultChars
}

// lead begins the message of an error.
func (q SearchQuery) lead() string {
	if q.Code {
		return "Code search"
	}
	return "Search"
}

// A SearchEngine answers queries. It may be used concurrently.
type SearchEngine interface {
	// Search returns the results as text, or "" if nothing was found. An error is an [*Error], or
	// the cause of ctx if it was cancelled.
	Search(ctx context.Context, q SearchQuery) (text string, err error)
	// Where says in a few words where a query is sent, for a permission request: "searxng at
	// http://localhost:8888". It contains no secret.
	Where() string
}

// SearchOptions choose an engine. They are the settings under websearch or codesearch in the
// config: provider, endpoint, key, command and timeout_ms.
type SearchOptions struct {
	// Section is the config section of these options: websearch when empty. Errors name it.
	Section string
	// Provider is one of exa, searxng, brave, tavily and command.
	Provider string
	// Endpoint is the address of the server where it is not the usual one.
	// searxng has no usual one.
	Endpoint string
	// Key identifies the user to the server. brave and tavily require it.
	Key string
	// Command is the program, with its arguments, of the provider command. It
	// is given the query as JSON and prints results as JSON, or any text.
	Command []string
	// Run runs a program for the provider command: it must end it when ctx ends and bound its
	// output.
	Run func(ctx context.Context, argv []string, stdin []byte) (stdout []byte, err error)
	// Client makes the requests; a plain one is made when nil.
	Client *Client
	// Timeout is for a whole search: 25 seconds, and 30 for code, when zero.
	Timeout time.Duration
}

// A SearchError is a search that failed. Its text does not contain the key.
type SearchError struct {
	// Code is the kind of failure: timeout, key (missing or refused), rate-limit, status (another
	// HTTP status), server (the engine itself reports a failure), reply (unreadable), command, or
	// one of the codes of [Error].
	Code string
	// Message is for the model and the user.
	Message string
	// Status is the HTTP status, where it is what failed.
	Status int
}

// Error is the message.
func (e *SearchError) Error() string { return e.Message }

// errTimeout is the cause of a search's own deadline.
var errTimeout = errors.New("the search took too long")

// A rawSearchError is a failure before it is worded: the message lacks the name of the search, and
// may contain secrets.
type rawSearchError struct {
	code   string
	status int
	text   string // after the lead and the status
	hint   string // what to do, a sentence or more
}

func (f *rawSearchError) Error() string { return f.text }

// A provider does one search. Its errors are faults, or errors of what it used.
type provider interface {
	search(ctx context.Context, q SearchQuery) (string, error)
	where() string
}

// engine puts around a provider what all searches share.
type engine struct {
	provider
	section string
	timeout time.Duration
	secret  secret
}

// NewSearchEngine returns the engine that the options choose. An error says which key of the config
// must be set.
func NewSearchEngine(o SearchOptions) (SearchEngine, error) {
	if o.Section == "" {
		o.Section = "websearch"
	}
	o.Key = strings.TrimSpace(o.Key)
	if strings.ContainsFunc(o.Key, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return nil, fmt.Errorf("%s.key holds a character that can not be part of a key", o.Section)
	}
	if o.Timeout < 0 {
		return nil, fmt.Errorf("%s.timeout_ms is negative", o.Section)
	}
	p, err := o.provider()
	if err != nil {
		return nil, err
	}
	return &engine{provider: p, section: o.Section, timeout: o.Timeout, secret: o.secret()}, nil
}

// provider reads the options.
func (o SearchOptions) provider() (provider, error) {
	switch o.Provider {
	case "exa":
		at, err := o.site("https://mcp.exa.ai", "/mcp")
		return &exa{site: at}, err
	case "searxng":
		if o.Endpoint == "" {
			return nil, o.missingKey("endpoint", "the address of your SearXNG server, such as http://localhost:8080")
		}
		at, err := o.site("", "/search")
		return &searxng{site: at}, err
	case "brave":
		if o.Key == "" {
			return nil, o.missingKey("key", `your key for the Brave Search API, such as "{env:BRAVE_API_KEY}"`)
		}
		at, err := o.site("https://api.search.brave.com", "/res/v1/web/search")
		return &brave{site: at}, err
	case "tavily":
		if o.Key == "" {
			return nil, o.missingKey("key", `your key for Tavily, such as "{env:TAVILY_API_KEY}"`)
		}
		at, err := o.site("https://api.tavily.com", "/search")
		return &tavily{site: at}, err
	case "command":
		if len(o.Command) == 0 || strings.TrimSpace(o.Command[0]) == "" {
			return nil, o.missingKey("command", `the program and its arguments, such as ["my-search", "--json"]`)
		}
		if o.Run == nil {
			return nil, fmt.Errorf("%s.provider command can not be used here, for nothing runs programs", o.Section)
		}
		return &command{argv: append([]string(nil), o.Command...), run: o.Run, section: o.Section, secret: o.secret()}, nil
	}
	const known = "exa, searxng, brave, tavily and command"
	if o.Provider == "" {
		return nil, fmt.Errorf("%s.provider is not set; the providers are %s", o.Section, known)
	}
	return nil, fmt.Errorf("%s.provider %q is not known; the providers are %s", o.Section, text.VisibleLine(o.Provider), known)
}

// missingKey is the error for a missing key of the config.
func (o SearchOptions) missingKey(key, what string) error {
	return fmt.Errorf("%s.provider %s needs %s.%s: %s", o.Section, o.Provider, o.Section, key, what)
}

// Where is the provider and its server or program.
func (e *engine) Where() string { return e.secret.hide(e.where()) }

// searchTimeout is how long a search may take.
func (e *engine) searchTimeout(q SearchQuery) time.Duration {
	switch {
	case e.timeout > 0:
		return e.timeout
	case q.Code:
		return codeTimeout
	}
	return webTimeout
}

// Search bounds the duration of the provider's search and words its errors.
func (e *engine) Search(ctx context.Context, q SearchQuery) (string, error) {
	if ctx.Err() != nil {
		return "", e.searchFailure(ctx, q, ctx.Err())
	}
	if strings.TrimSpace(q.Text) == "" {
		return "", e.searchFailure(ctx, q, &rawSearchError{code: "server", text: "the query is empty"})
	}
	timed, stop := context.WithTimeoutCause(ctx, e.searchTimeout(q), errTimeout)
	defer stop()
	found, err := e.search(timed, q.withDefaults())
	if err == nil {
		return e.secret.hide(found), nil
	}
	if timed.Err() != nil && ctx.Err() == nil {
		err = errTimeout
	}
	return "", e.searchFailure(ctx, q, err)
}

// searchFailure words an error; ctx is the caller's.
func (e *engine) searchFailure(ctx context.Context, q SearchQuery, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return context.Cause(ctx)
	}
	var f *rawSearchError
	var w *Error
	switch {
	case ctx.Err() != nil:
		return timedOut(q, "")
	case errors.Is(err, errTimeout):
		return timedOut(q, fmt.Sprintf(" after %v seconds; %s.timeout_ms in the config allows more", e.searchTimeout(q).Seconds(), e.section))
	case errors.As(err, &w) && w.Code == CodeTimeout: // before our time was over
		return timedOut(q, strings.TrimPrefix(w.Message, "Request timed out"))
	case errors.As(err, &f):
	case w != nil:
		f = &rawSearchError{code: w.Code, text: masked(w.Error())}
	default:
		f = &rawSearchError{code: "server", text: err.Error()}
	}
	message := q.lead() + " error"
	if f.status != 0 {
		message += fmt.Sprintf(" (%d)", f.status)
	}
	message += ": " + e.secret.errorText(f.text)
	if f.hint != "" {
		message += "\n" + e.secret.hide(f.hint)
	}
	return &SearchError{Code: f.code, Message: message, Status: f.status}
}

// timedOut is the error of a search that took too long.
func timedOut(q SearchQuery, more string) *SearchError {
	return &SearchError{Code: "timeout", Message: q.lead() + " request timed out" + more}
}
