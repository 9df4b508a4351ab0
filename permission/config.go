package permission

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ConfigOptions are the settings of [ParseConfig].
type ConfigOptions struct {
	// Home replaces ~ and $HOME at the start of a pattern. If a pattern needs Home and it is empty,
	// that is an error, because a rule about the wrong folder is worse than none.
	Home string

	// At returns the place in the config file of an offset in the text. If it is nil, rules have no
	// source.
	At func(offset int) Source
}

// A ConfigError is a mistake in the config form of rules.
type ConfigError struct {
	Offset int    // where in the text, in bytes
	Key    string // the key at fault: "bash", or "bash" and a pattern joined by ": "
	Msg    string // what is wrong and what was expected
}

// Error returns the key and the message.
func (e *ConfigError) Error() string {
	if e.Key == "" {
		return e.Msg
	}
	return fmt.Sprintf("%q: %s", e.Key, e.Msg)
}

// maxConfigErrors limits how many mistakes are reported for one text.
const maxConfigErrors = 20

// ParseConfig reads the config form of rules, plain JSON: one action for everything, or an object
// that maps each permission to an action or to an object of patterns and actions. The rules keep
// the order of the text.
//
// ParseConfig guesses nothing: for an unknown word, a wrong type, a null, a list or a duplicate key
// it returns no rules and an error, a [*ConfigError] or several of them joined.
func ParseConfig(data []byte, opt ConfigOptions) (Ruleset, error) {
	p := configParser{data: data, opt: opt, dec: json.NewDecoder(bytes.NewReader(data))}
	p.dec.UseNumber()
	p.policy()
	switch len(p.errs) {
	case 0:
		return p.rules, nil
	case 1:
		return nil, p.errs[0]
	}
	return nil, errors.Join(p.errs...)
}

// configParser reads token by token, because a decoded map would lose the order and the offsets.
type configParser struct {
	data  []byte
	opt   ConfigOptions
	dec   *json.Decoder
	rules Ruleset
	errs  []error
	dead  bool // the text is not JSON: nothing can be read after this point
}

// policy reads the complete value.
func (p *configParser) policy() {
	at, tok := p.next("")
	if p.dead {
		return
	}
	switch v := tok.(type) {
	case string:
		if a, ok := p.action(at, "", v); ok {
			p.add(at, Rule{Permission: "*", Pattern: "*", Action: a})
		}
	case json.Delim:
		if v == '{' {
			p.eachMember("", p.permission)
			break
		}
		p.skipValue()
		p.addError(at, "", "a list is not a policy; "+wantPolicy)
	default:
		p.addError(at, "", configKind(tok)+" is not a policy; "+wantPolicy)
	}
	if p.dead {
		return
	}
	rest := p.start()
	if _, err := p.dec.Token(); err != io.EOF {
		p.addError(rest, "", "there is more text after the policy")
	}
}

const (
	wantAction = `want "allow", "ask" or "deny"`
	wantPolicy = wantAction + ", or an object of permissions"
	wantEntry  = wantAction + ", or an object of patterns"
)

// permission reads the value of one permission name.
func (p *configParser) permission(keyAt int, name string) {
	at, tok := p.next(name)
	if p.dead {
		return
	}
	switch v := tok.(type) {
	case string:
		if a, ok := p.action(at, name, v); ok {
			p.add(keyAt, Rule{Permission: name, Pattern: "*", Action: a})
		}
	case json.Delim:
		if v == '{' {
			if name == "permission" { // a complete config was passed, whose rules would all be ignored
				p.addError(keyAt, name, `this is the key that the rules stand under; give what is in it`)
			}
			p.eachMember(name, func(keyAt int, pattern string) { p.pattern(keyAt, name, pattern) })
			return
		}
		p.skipValue()
		p.addError(at, name, "a list is not an action; "+wantEntry)
	default:
		p.addError(at, name, configKind(tok)+" is not an action; "+wantEntry)
	}
}

// pattern reads the action of one pattern of a permission.
func (p *configParser) pattern(keyAt int, name, pattern string) {
	key := name + ": " + pattern
	at, tok := p.next(key)
	if p.dead {
		return
	}
	switch v := tok.(type) {
	case string:
		a, ok := p.action(at, key, v)
		if !ok {
			return
		}
		full, ok := expandHome(pattern, p.opt.Home)
		if !ok {
			p.addError(keyAt, key, "the home folder is not known, so the start of this pattern has no meaning; write the path out")
			return
		}
		p.add(keyAt, Rule{Permission: name, Pattern: full, Action: a})
	case json.Delim:
		p.skipValue()
		p.addError(at, key, configKind(tok)+" is not an action; "+wantAction)
	default:
		p.addError(at, key, configKind(tok)+" is not an action; "+wantAction)
	}
}

// eachMember calls member for each key of the object whose opening brace was just read.
func (p *configParser) eachMember(owner string, member func(keyAt int, key string)) {
	seen := map[string]bool{}
	for p.dec.More() {
		at, tok := p.next(owner)
		if p.dead {
			return
		}
		key := tok.(string) // the decoder accepts nothing else here
		if seen[key] {
			full := key
			if owner != "" {
				full = owner + ": " + key
			}
			p.addError(at, full, "this key stands twice, so the order of the rules is unclear; keep one")
		}
		seen[key] = true
		member(at, key)
		if p.dead {
			return
		}
	}
	p.next(owner) // the closing brace
}

// action checks an action word.
func (p *configParser) action(at int, key, word string) (Action, bool) {
	if a := Action(word); a.Valid() {
		return a, true
	}
	shown := word
	if len(shown) > 40 {
		shown = strings.ToValidUTF8(shown[:40], "") + "…"
	}
	msg := fmt.Sprintf("%q is not an action; %s", shown, wantAction)
	if near := nearestAction(word); near != "" {
		msg = fmt.Sprintf("%q is not an action; did you mean %q? (%s)", shown, near, wantAction)
	}
	p.addError(at, key, msg)
	return "", false
}

// nearestAction returns the action that a misspelled word probably means, or "".
func nearestAction(word string) Action {
	w := strings.ToLower(strings.TrimSpace(word))
	for _, near := range []struct {
		start string
		a     Action
	}{{"al", Allow}, {"as", Ask}, {"prompt", Ask}, {"de", Deny}, {"block", Deny}, {"reject", Deny}, {"forbid", Deny}} {
		if strings.HasPrefix(w, near.start) {
			return near.a
		}
	}
	return ""
}

// next reads a token and returns the offset where it starts.
func (p *configParser) next(key string) (int, json.Token) {
	at := p.start()
	tok, err := p.dec.Token()
	if err == nil {
		return at, tok
	}
	p.dead = true
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		p.addError(min(max(int(syntax.Offset)-1, 0), len(p.data)), key, "not JSON: "+syntax.Error())
	default: // the text ends too early
		p.addError(len(p.data), key, "not JSON: the text ends too early")
	}
	return at, nil
}

// start returns the offset of the next token.
func (p *configParser) start() int {
	i := int(p.dec.InputOffset())
	for i < len(p.data) && strings.IndexByte(" \t\r\n,:", p.data[i]) >= 0 {
		i++
	}
	return i
}

// skipValue skips the rest of a list or object that is not expected here.
func (p *configParser) skipValue() {
	for depth := 1; depth > 0 && !p.dead; {
		switch _, tok := p.next(""); tok {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
}

func (p *configParser) addError(at int, key, msg string) {
	if len(p.errs) < maxConfigErrors {
		p.errs = append(p.errs, &ConfigError{Offset: at, Key: key, Msg: msg})
	}
}

func (p *configParser) add(at int, r Rule) {
	if p.opt.At != nil {
		r.From = p.opt.At(at)
	}
	p.rules = append(p.rules, r)
}

func configKind(tok json.Token) string {
	switch v := tok.(type) {
	case nil:
		return "null"
	case bool:
		return fmt.Sprint(v)
	case json.Number:
		return "a number"
	case json.Delim:
		if v == '[' {
			return "a list"
		}
		return "an object"
	}
	return "this"
}

// expandHome replaces ~ or $HOME at the start of a pattern by home. It returns false if home is
// needed and not known. A longer name ($HOMEX) is another variable and stays unchanged, as does a ~
// that is not followed by a slash.
func expandHome(pattern, home string) (string, bool) {
	rest, ok := strings.CutPrefix(pattern, "~")
	if ok {
		ok = rest == "" || rest[0] == '/' || rest[0] == '\\'
	} else if rest, ok = strings.CutPrefix(pattern, "$HOME"); ok {
		ok = rest == "" || !nameByte(rest[0])
	}
	if !ok {
		return pattern, true
	}
	if home == "" {
		return "", false
	}
	if rest != "" && (rest[0] == '/' || rest[0] == '\\') {
		home = strings.TrimRight(home, `/\`)
	}
	return home + rest, true
}

// nameByte reports whether c can be part of the name of a variable.
func nameByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}
