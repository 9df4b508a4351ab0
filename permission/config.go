package permission

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ConfigOptions says what [ParseConfig] needs to know besides the text.
type ConfigOptions struct {
	// Home stands for ~ and $HOME at the start of a pattern. A pattern that
	// needs it while it is empty is an error: a rule about the wrong folder
	// is worse than none.
	Home string

	// At turns an offset in the text into the place a reader would look
	// for; it may be nil, and rules then carry no source.
	At func(offset int) Source
}

// A ConfigError is one mistake in the config form of rules.
type ConfigError struct {
	Offset int    // where in the text, in bytes
	Key    string // what it is about: "bash", or "bash" and a pattern joined by ": "
	Msg    string // what is wrong and what was wanted
}

// Error gives the key and the message.
func (e *ConfigError) Error() string {
	if e.Key == "" {
		return e.Msg
	}
	return fmt.Sprintf("%q: %s", e.Key, e.Msg)
}

// maxConfigErrors bounds how many mistakes one text reports.
const maxConfigErrors = 20

// ParseConfig reads the config form of rules, plain JSON: one action for
// everything, or an object that gives each permission an action or an object
// of patterns and actions. The written order is the order of the rules.
//
// Nothing is guessed: an unknown word, a wrong type, a null, a list or a key
// that stands twice gives no rules and an error, a [*ConfigError] or several
// of them joined.
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

// configParser reads token by token, because a decoded map would lose the
// order and the places.
type configParser struct {
	data  []byte
	opt   ConfigOptions
	dec   *json.Decoder
	rules Ruleset
	errs  []error
	dead  bool // the text is not JSON: nothing after this point can be read
}

// policy reads the whole value.
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

// permission reads what stands behind one permission name.
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
			if name == "permission" { // a whole config, whose rules would all be missed
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

// pattern reads the action behind one pattern of a permission.
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

// eachMember calls member for each key of the object whose brace was just read.
func (p *configParser) eachMember(owner string, member func(keyAt int, key string)) {
	seen := map[string]bool{}
	for p.dec.More() {
		at, tok := p.next(owner)
		if p.dead {
			return
		}
		key := tok.(string) // the decoder lets nothing else stand here
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

// action checks one action word.
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

// nearestAction gives the action a word was probably meant to be, or "".
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

// next reads a token and says where it starts.
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

// start is the offset of the next token.
func (p *configParser) start() int {
	i := int(p.dec.InputOffset())
	for i < len(p.data) && strings.IndexByte(" \t\r\n,:", p.data[i]) >= 0 {
		i++
	}
	return i
}

// skipValue passes over the rest of a list or object that has no business here.
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

// expandHome puts home for ~ or $HOME at the start of a pattern; it reports
// false when home is needed and not known. A longer name ($HOMEX) is another
// variable and stays as it is, and so does ~ before anything but a slash.
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

// nameByte reports whether c may stand in the name of a variable.
func nameByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}
