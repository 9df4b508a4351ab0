package signin

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// canonical is the form of a server's URL that sign-ins are kept under and
// that names the resource: without fragment, scheme and host in lower case.
// What is no URL stays as it is.
func canonical(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	u.Fragment, u.RawFragment = "", ""
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	return u.String()
}

// bare is a URL without the parts in which people put secrets.
func bare(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// safe refuses addresses that secrets must not be sent to.
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
	return errors.New("the address has to be https, or http on this machine: " + bare(raw))
}

// loopback reports whether a host name stands for this machine.
func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// outward is the client that talks to the authorization server. What a server
// names as its authorization server is only reached if it is on the public
// network, unless the server the person named is itself in a private one.
func outward(ctx context.Context, c *http.Client, server string) *http.Client {
	if c == nil {
		c = &http.Client{Timeout: tokenTimeout}
	}
	base, plain := c.Transport.(*http.Transport)
	if c.Transport == nil {
		base, plain = http.DefaultTransport.(*http.Transport)
		if plain {
			base = base.Clone()
			base.DialContext = nil
		}
	}
	if !plain || base.DialContext != nil || base.DialTLSContext != nil || !private(ctx, server) {
		return c
	}
	own := *c
	t := base.Clone()
	t.DialContext = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	t.DisableKeepAlives = true // nobody would close what is left
	own.Transport = t
	return &own
}

// private reports whether the host of a URL is in a private network.
func private(ctx context.Context, raw string) bool {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || loopback(u.Hostname()) {
		return false
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil {
		return false
	}
	for _, ip := range ips {
		if ip.Unmap().IsPrivate() {
			return true
		}
	}
	return false
}
