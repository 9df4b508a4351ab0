package wire

import (
	"net/http"
	"testing"
	"time"

	"github.com/helve-dev/helve/model"
)

func TestOverflows(t *testing.T) {
	for _, words := range []string{
		"prompt is too long: 213462 tokens > 200000 maximum",
		"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length",
		`{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`,
		"Input is too long for requested model.",
		"This model's maximum context length is 8192 tokens. However, your messages resulted in 8545 tokens.",
		"Your input exceeds the context window of this model. Please adjust your input and try again.",
		`{"error":{"code":"context_length_exceeded"}}`,
		"This endpoint's maximum context length is 131072 tokens. However, you requested about 150000 tokens.",
		"Please reduce the length of the messages or completion.",
		"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
		"This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
		"prompt token count of 130000 exceeds the limit of 128000",
		"the request exceeds the available context size, try increasing it",
		"tokens to keep from the initial prompt is greater than the context length",
		"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens",
		"invalid params, context window exceeds limit",
		"Your request exceeded model token limit: 262144 (requested: 300000)",
		"Prompt contains 140000 tokens and 0 draft tokens, too large for model with 131072 maximum context length",
		"prompt too long; exceeded max context length by 5000 tokens",
		"the input length exceeds the context length",
		"Range of input length should be [1, 129024]",
		"The input (140000 tokens) is longer than the model's context length (131072 tokens).",
		"Requested token count exceeds the model's maximum context length of 32768 tokens.",
		"too many tokens: size limit exceeded by 300 tokens",
		"Prompt has 70000 tokens, but the configured context size is 65536 tokens",
		"litellm.ContextWindowExceededError: too much",
	} {
		if !Overflows(words) {
			t.Errorf("not seen as too long: %s", words)
		}
	}
	for _, words := range []string{
		"",
		"Rate limit reached: too many tokens per minute",
		"Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 9000",
		"Too many requests",
		"max_tokens: 300000 > 64000, which is the maximum allowed number of output tokens",
		"messages.1.content: field required",
		"ThrottlingException: Too many tokens, please wait before trying again.",
		"The model `gpt-9` does not exist",
	} {
		if Overflows(words) {
			t.Errorf("seen as too long: %s", words)
		}
	}
}

func TestKindOf(t *testing.T) {
	for _, c := range []struct {
		status int
		words  string
		want   model.ErrorKind
	}{
		{301, "", model.Invalid},
		{400, "messages: at least one is needed", model.Invalid},
		{400, "prompt is too long", model.Overflow},
		{400, "Your credit balance is too low to access the API", model.Quota},
		{400, "API key not valid. Please pass a valid API key.", model.Auth},
		{401, "", model.Auth},
		{402, "", model.Quota},
		{403, "", model.Auth},
		{404, "", model.Invalid},
		{405, "", model.Invalid},
		{408, "", model.Overloaded},
		{409, "", model.Overloaded},
		{413, "", model.Overflow},
		{413, `{"code":"rate_limit_exceeded"}`, model.RateLimit},
		{422, "context_length_exceeded", model.Overflow},
		{422, "", model.Invalid},
		{425, "", model.Overloaded},
		{429, "", model.RateLimit},
		{429, `{"code":"insufficient_quota"}`, model.Quota},
		{429, "You exceeded your current quota, please check your plan", model.RateLimit},
		{500, "", model.Overloaded},
		{500, "the request exceeds the available context size", model.Overflow},
		{502, "", model.Overloaded},
		{503, "", model.Overloaded},
		{504, "", model.Overloaded},
		{524, "", model.Overloaded},
		{529, "", model.Overloaded},
	} {
		if got := errorKind(c.status, c.words); got != c.want {
			t.Errorf("%d %q is %s, not %s", c.status, c.words, got, c.want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		header []string
		want   time.Duration
	}{
		"nothing":               {nil, 0},
		"seconds":               {[]string{"Retry-After", "20"}, 20 * time.Second},
		"part of a second":      {[]string{"retry-after", "0.5"}, 500 * time.Millisecond},
		"milliseconds first":    {[]string{"Retry-After", "20", "retry-after-ms", "1500"}, 1500 * time.Millisecond},
		"a date":                {[]string{"Retry-After", "Sun, 01 Mar 2026 12:01:00 GMT"}, time.Minute},
		"a date that is over":   {[]string{"Retry-After", "Sun, 01 Mar 2026 11:00:00 GMT"}, 0},
		"too long":              {[]string{"Retry-After", "86400"}, 10 * time.Minute},
		"less than nothing":     {[]string{"Retry-After", "-3"}, 0},
		"no number":             {[]string{"Retry-After", "NaN"}, 0},
		"endless":               {[]string{"Retry-After", "+Inf"}, 10 * time.Minute},
		"words":                 {[]string{"Retry-After", "soon"}, 0},
		"a duration":            {[]string{"x-ratelimit-reset-requests", "1m30s"}, 90 * time.Second},
		"the one used up":       {[]string{"x-ratelimit-reset-requests", "2m", "x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-tokens", "6s", "x-ratelimit-remaining-tokens", "10"}, 2 * time.Minute},
		"none used up":          {[]string{"x-ratelimit-reset-requests", "2m", "x-ratelimit-remaining-requests", "5", "x-ratelimit-reset-tokens", "6s", "x-ratelimit-remaining-tokens", "10"}, 6 * time.Second},
		"Unix seconds":          {[]string{"X-RateLimit-Reset", "1772366430"}, 30 * time.Second},
		"Unix milliseconds":     {[]string{"X-RateLimit-Reset", "1772366430000"}, 30 * time.Second},
		"RFC 3339":              {[]string{"anthropic-ratelimit-tokens-reset", "2026-03-01T12:00:07Z"}, 7 * time.Second},
		"a number out of range": {[]string{"X-RateLimit-Reset", "1e300"}, 0},
	} {
		h := http.Header{}
		for i := 0; i < len(c.header); i += 2 {
			h.Set(c.header[i], c.header[i+1])
		}
		got, ok := retryAfter(h, now)
		if !ok {
			got = reset(h, now)
		}
		if got != c.want {
			t.Errorf("%s: %v, not %v", name, got, c.want)
		}
	}
}
