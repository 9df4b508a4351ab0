package auth

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// canonical returns the form of a server's URL under which sign-ins are stored and which names the
// resource: without fragment, scheme and host in lower case. An invalid URL is returned unchanged.
func canonical(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	u.Fragment, u.RawFragment = "", ""
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	return u.String()
}

// withoutSecrets returns a URL without the parts that may contain secrets.
func withoutSecrets(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// rootless drops the slash of a URL whose path is only that.
func rootless(raw string) string {
	if u, err := url.Parse(raw); err == nil && u.Path == "/" {
		return strings.TrimSuffix(raw, "/")
	}
	return raw
}

// safe refuses a server's address that secrets must not be sent to.
func safe(raw string) error {
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Host == "":
		return errors.New("the address is malformed")
	case u.Scheme == "https":
		return nil
	case u.Scheme == "http" && loopback(u.Hostname()):
		return nil
	}
	return fmt.Errorf("%w: %s", errScheme, withoutSecrets(raw))
}

// origin is scheme, host and port of a URL in one form.
func origin(u *url.URL) string {
	return strings.ToLower(u.Scheme) + "://" + strings.ToLower(hostPort(u))
}

// originOf is origin for a text; "" if it is no URL.
func originOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return ""
	}
	return origin(u)
}

// hostPort is where to dial for a URL.
func hostPort(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case strings.EqualFold(u.Scheme, "https"):
		port = "443"
	default:
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port)
}
