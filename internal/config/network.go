package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// network warns about web settings that cannot work, before a tool finds out. It never shows a
// value, which may contain a password.
func (l *loader) network() {
	if proxy := l.merged.get("web").get("proxy"); proxy != nil && !usableProxy(proxy.text) {
		l.doubt(proxy, "web.proxy", `is not the URL of a proxy; write http://, https:// or socks5:// with a host, or "environment"`)
	}
	for _, section := range []string{"websearch", "codesearch"} {
		if n := l.merged.get(section); n != nil {
			provider, key := n.get("provider"), n.get("key")
			if at := n.get("endpoint"); at != nil && strings.TrimSpace(at.text) != "" && !usableAddress(strings.TrimSpace(at.text)) {
				l.doubt(at, section+".endpoint", "is not the address of a server; write it as https://host or http://host:port, without a user name or password")
			}
			odd := func(r rune) bool { return r <= ' ' || r >= 0x7f }
			if key != nil && strings.ContainsFunc(strings.TrimSpace(key.text), odd) {
				l.doubt(key, section+".key", "holds a character that can not be part of a key")
			}
			switch textOf(provider) {
			case "brave":
				l.needs(provider, section, "key", `your key, such as "{env:BRAVE_API_KEY}"`)
			case "tavily":
				l.needs(provider, section, "key", `your key, such as "{env:TAVILY_API_KEY}"`)
			case "searxng":
				l.needs(provider, section, "endpoint", "the address of your server, such as http://localhost:8080")
			case "command":
				l.needs(provider, section, "command", `the program and its arguments, such as ["my-search", "--json"]`)
			}
		}
	}
}

// doubt warns of a value.
func (l *loader) doubt(n *node, key, what string) {
	l.addProblem(n.in, n.at, Problem{Key: key, Message: fmt.Sprintf("%q %s", key, what), Severity: Warning})
}

// needs warns where a provider lacks a setting.
func (l *loader) needs(provider *node, section, name, what string) {
	key := section + "." + name
	value := l.merged.get(section).get(name)
	given := textOf(value)
	if value != nil && len(value.elems) > 0 {
		given = value.elems[0].text
	}
	switch {
	case strings.TrimSpace(given) != "":
	case slices.ContainsFunc(l.cfg.Withheld, func(w Withheld) bool { return w.Key == "."+key && w.Why == whyReference }):
		// Its content is not known here, and may be complete.
	case value != nil:
		l.doubt(value, key, fmt.Sprintf("is empty, and the provider %s needs it: %s", provider.text, what))
	default:
		l.doubt(provider, section+".provider", fmt.Sprintf("is %s, which needs %q: %s", provider.text, key, what))
	}
}

// usableProxy reports whether a setting is a valid proxy.
func usableProxy(setting string) bool {
	if setting == "" || setting == "environment" {
		return true
	}
	u, err := url.Parse(setting)
	if err != nil || u.Hostname() == "" || !usablePort(u.Port()) {
		return false
	}
	return slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme)
}

// usableAddress reports whether all parsers read a URL alike, as far as its characters tell.
func usableAddress(raw string) bool {
	odd := func(r rune) bool { return r == '\\' || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }
	u, err := url.Parse(raw)
	if err != nil || !utf8.ValidString(raw) || strings.ContainsFunc(raw, odd) || strings.Contains(u.Host, "%") {
		return false
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Hostname() == "" || !usablePort(u.Port()) || strings.HasSuffix(u.Host, ":") {
		return false
	}
	host := strings.TrimSuffix(u.Hostname(), ".")
	last := host[strings.LastIndexByte(host, '.')+1:]
	if _, err := strconv.ParseUint(last, 0, 64); err == nil || strings.Trim(last, "0123456789") == "" {
		_, err := netip.ParseAddr(host) // a number that is no plain address means one thing here and another there
		return err == nil
	}
	return true
}

func usablePort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0 && port[0] != '0'
}
