package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
)

// Redaction removes secrets from what is shown: texts below names such as apiKey, arguments such as
// --token, passwords in URLs. It depends on names, and keeps everything else.

// redaction stands for what is not shown.
const redaction = "[redacted]"

// redactJSON replaces the strings of members whose name suggests a secret, at any depth, and
// secrets in URLs. Order and everything else stay.
func redactJSON(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return raw
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var out bytes.Buffer
	r := redactor{dec: dec, out: &out}
	if err := r.value(false); err != nil && err != io.EOF {
		return json.RawMessage(`"the config can not be shown"`)
	}
	return out.Bytes()
}

// redactMember redacts the value of a single member: if its name suggests a secret, nothing of it
// is kept. Nothing stays nothing.
func redactMember(name string, value json.RawMessage) json.RawMessage {
	if len(value) > 0 && secretName(name) {
		return quoted(redaction)
	}
	return redactJSON(value)
}

type redactor struct {
	dec     *json.Decoder
	out     *bytes.Buffer
	follows bool // the text before was an argument whose value comes next

	variables bool // the key before was that of variables
}

// argument redacts an argument of a command, such as --token=…. follows reports that the secret is
// the next argument.
func argument(v string) (shown string, follows bool) {
	if !strings.HasPrefix(v, "-") {
		return v, false
	}
	name, _, given := strings.Cut(v, "=")
	switch {
	case !secretParameter(name):
		return v, false
	case given:
		return name + "=" + redaction, false
	}
	return v, true
}

// value copies one value. Texts in a secret one are replaced.
func (r *redactor) value(secret bool) error {
	tok, err := r.dec.Token()
	if err != nil {
		return err
	}
	variables := r.variables
	r.variables = false
	switch v := tok.(type) {
	case json.Delim:
		// It is unknown which variables are secret; a list has only their names.
		return r.container(v, secret || variables && v == '{')
	case string:
		v, r.follows = argument(v)
		if secret {
			v, r.follows = redaction, false
		}
		r.out.Write(quoted(redactText(v)))
	case nil:
		r.out.WriteString("null")
	default:
		fmt.Fprint(r.out, v)
	}
	return nil
}

func (r *redactor) container(open json.Delim, secret bool) error {
	r.out.WriteRune(rune(open))
	r.follows = false
	for first := true; r.dec.More(); first = false {
		if !first {
			r.out.WriteByte(',')
		}
		inside := secret || open == '[' && r.follows
		if open == '{' {
			tok, err := r.dec.Token()
			if err != nil {
				return err
			}
			key := fmt.Sprint(tok)
			r.out.Write(quoted(key))
			r.out.WriteByte(':')
			inside = secret || secretName(key)
			r.variables = key == "environment" || key == "env"
		}
		if err := r.value(inside); err != nil {
			return err
		}
	}
	end, err := r.dec.Token()
	if err != nil {
		return err
	}
	fmt.Fprint(r.out, end)
	return nil
}

// secretName reports whether a name is that of something secret.
func secretName(name string) bool {
	name = strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
	if name == "headers" || name == "authorization" {
		return true
	}
	for _, word := range []string{"apikey", "token", "secret", "password", "credential", "privatekey", "accesskey"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return strings.HasSuffix(name, "key")
}

// redactText replaces in the URLs of a text who signs in, with a password
// or a name that may be one, and the values of parameters that are named like
// secrets.
func redactText(s string) string {
	const between = " \t\r\n\"'<>`"
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "://")
		out.WriteString(before)
		if !ok {
			return out.String()
		}
		out.WriteString("://")
		end := len(rest)
		if i := strings.IndexAny(rest, between); i >= 0 {
			end = i
		}
		out.WriteString(shownURL(rest[:end]))
		s = rest[end:]
	}
}

// shownURL is the rest of a URL, after its scheme, as it may be shown.
func shownURL(rest string) string {
	host := len(rest)
	if i := strings.IndexAny(rest, "/?#\\"); i >= 0 {
		host = i
	}
	var out strings.Builder
	if at := strings.LastIndexByte(rest[:host], '@'); at >= 0 {
		out.WriteString(redaction)
		rest, host = rest[at:], host-at
	} else if at := strings.LastIndexByte(rest, '@'); at >= 0 && !plainHost(rest[:host]) {
		out.WriteString(redaction) // a password that should have been escaped
		rest, host = rest[at:], 0
	}
	out.WriteString(rest[:host])
	for rest = rest[host:]; rest != ""; {
		end, next := len(rest), len(rest)
		if i := strings.IndexAny(rest[1:], "?&;#"); i >= 0 {
			end = i + 1
		}
		if i := strings.IndexAny(rest[1:], "&#"); i >= 0 {
			next = i + 1
		}
		name, _, valued := strings.Cut(rest[:end], "=")
		if !valued || name == "" || name[0] == '/' || !secretParameter(name[1:]) {
			out.WriteString(rest[:end])
			rest = rest[end:]
			continue
		}
		out.WriteString(name + "=" + redaction)
		rest = rest[next:]
	}
	return out.String()
}

// plainHost reports whether a host has no port, or one that is a number.
func plainHost(host string) bool {
	_, port, ok := strings.Cut(host, ":")
	return !ok || host[0] == '[' || strings.Trim(port, "0123456789") == ""
}

// secretParameter reports whether a parameter of a URL is named like a secret.
func secretParameter(name string) bool {
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	name = strings.ToLower(name)
	for _, word := range []string{"key", "token", "secret", "pass", "auth", "sig", "pwd", "credential"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}
