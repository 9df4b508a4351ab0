package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// How long connecting to an address may take, if another one is left to try, and if none is.
const (
	dialTimeout     = 5 * time.Second
	lastDialTimeout = 30 * time.Second
)

// A way is how a hop is reached.
type way struct {
	place Place
	ips   []netip.Addr // looked at; none if a proxy goes there
	proxy *url.URL
}

// ofLiteral is the address that a host is by itself, if it is one.
func ofLiteral(at Address) []netip.Addr {
	if !at.ip.IsValid() {
		return nil
	}
	return []netip.Addr{at.ip}
}

// looksInside reports whether a name is typical of a local network. It is looked up here, because a
// proxy would look it up without any check.
func looksInside(host string) bool {
	i := strings.LastIndexByte(host, '.')
	switch host[i+1:] {
	case "internal", "local", "localdomain", "localdomain6", "lan", "home", "corp", "intranet", "private", "test":
		return true
	}
	return i < 0 || strings.HasSuffix(host, ".home.arpa")
}

// A verdict is Judge's error, which distinguishes it from our own.
type verdict struct{ err error }

func (v *verdict) Error() string { return v.err.Error() }

func (v *verdict) Unwrap() error { return v.err }

// resolveRoute finds the way to an address, or who is against it.
func (f *fetch) resolveRoute(ctx context.Context, at Address) (way, error) {
	place := at.Place()
	if err := f.checkPlace(at, place); err != nil {
		return way{}, err
	}
	if err := f.askJudge(ctx, Hop{Address: at, Place: place, IPs: ofLiteral(at), Via: f.chain}); err != nil {
		return way{}, err
	}
	w := way{place: place}
	if !place.Inside() && f.c.proxy != nil && (at.ip.IsValid() || !looksInside(at.host)) {
		var err error
		if w.proxy, err = f.c.proxy(&url.URL{Scheme: at.scheme, Host: at.Host()}); err != nil {
			return way{}, proxyWrong(err)
		}
		if w.proxy != nil {
			w.place = Public
			return w, nil
		}
	}
	switch {
	case at.ip.IsValid():
		w.ips = []netip.Addr{at.ip}
		return w, nil
	case place == Machine:
		w.ips = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}
		return w, nil
	}
	var err error
	if w.ips, w.place, err = f.c.resolve(ctx, at); err != nil {
		return way{}, err
	}
	if err := f.checkPlace(at, w.place); err != nil {
		return way{}, err
	}
	if w.place.Inside() {
		return w, f.askJudge(ctx, Hop{Address: at, Place: w.place, IPs: w.ips, Via: f.chain})
	}
	return w, nil
}

// checkPlace refuses a place that Judge cannot allow.
func (f *fetch) checkPlace(at Address, place Place) error {
	switch {
	case place.Never():
		return blocked("%s is %s, which is never fetched from", at.Host(), place.Says())
	case place.Inside() && len(f.chain) > 0 && !f.from.Inside():
		return &Error{Code: CodeRedirectRefused, Message: fmt.Sprintf("a redirect from the internet to %s is not followed, since that is %s; fetch the URL itself if it is what you want", shortenText(at.String()), place.Says())}
	}
	return nil
}

func (f *fetch) askJudge(ctx context.Context, h Hop) error {
	if f.g.Judge == nil {
		if h.Place.Inside() {
			return blocked("%s is %s, and nobody allowed to fetch from there", h.Address.Host(), h.Place.Says())
		}
		return nil
	}
	if err := f.g.Judge(ctx, h); err != nil {
		return &verdict{err}
	}
	return nil
}

func blocked(format string, args ...any) *Error {
	return &Error{Code: CodeBlockedAddress, Message: fmt.Sprintf(format, args...)}
}

// resolve looks a name up, once. All addresses must be in one place, because it is unknown which of
// them would be used.
func (c *Client) resolve(ctx context.Context, at Address) ([]netip.Addr, Place, error) {
	found, err := c.opts.Resolver.LookupNetIP(ctx, "ip", at.host)
	if err != nil {
		return nil, Unknown, lookupFailure(at, err)
	}
	if len(found) == 0 {
		return nil, Unknown, &Error{Code: CodeUnknownHost, Message: fmt.Sprintf("the host %s has no address; check its spelling", at.host)}
	}
	place := PlaceOf(found[0])
	ips := make([]netip.Addr, 0, len(found))
	for _, ip := range found {
		here := PlaceOf(ip)
		if here.Never() {
			return nil, here, blocked("%s leads to %s, which is %s and never fetched from", at.Host(), ip, here.Says())
		}
		if here != place {
			return nil, here, blocked("%s leads to different places: %s is %s, and %s is %s", at.Host(), found[0], place.Says(), ip, here.Says())
		}
		ips = append(ips, ip.Unmap())
	}
	return ips, place, nil
}

func lookupFailure(at Address, err error) *Error {
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsTimeout {
		return &Error{Code: CodeTimeout, Message: fmt.Sprintf("Request timed out: looking up the host %s took too long; try again", at.host), Err: err}
	}
	if errors.As(err, &dns) && dns.IsNotFound {
		return &Error{Code: CodeUnknownHost, Message: fmt.Sprintf("there is no host %s; check its spelling", at.host), Err: err}
	}
	return &Error{Code: CodeUnknownHost, Message: fmt.Sprintf("the host %s could not be looked up: %v", at.host, err), Err: err}
}

// dial connects to the first address that responds. Each has its share of the remaining time.
func (c *Client) dial(ctx context.Context, w way, port uint16) (net.Conn, error) {
	var first error
	for i, ip := range alternate(w.ips) {
		conn, err := c.dialOne(ctx, netip.AddrPortFrom(ip, port), dialShare(ctx, len(w.ips)-i))
		if err == nil {
			return conn, nil
		}
		if first == nil {
			first = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, first
}

func (c *Client) dialOne(ctx context.Context, to netip.AddrPort, share time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, share)
	defer cancel()
	if c.opts.Dial != nil {
		return c.opts.Dial(ctx, "tcp", to.String())
	}
	d := net.Dialer{ControlContext: only(to)}
	return d.DialContext(ctx, "tcp", to.String())
}

// only makes a dialer check, just before it connects, that it connects to the address that was
// checked.
func only(to netip.AddrPort) func(context.Context, string, string, syscall.RawConn) error {
	return func(_ context.Context, _, addr string, _ syscall.RawConn) error {
		got, err := netip.ParseAddrPort(addr)
		if err != nil || netip.AddrPortFrom(got.Addr().Unmap(), got.Port()) != to || PlaceOf(to.Addr()).Never() {
			return blocked("%s would have been dialled, and only %s was looked at", addr, to)
		}
		return nil
	}
}

// alternate alternates the address families, so that one without a route does not delay the other.
// The first stays first.
func alternate(ips []netip.Addr) []netip.Addr {
	var six, four []netip.Addr
	for _, ip := range ips {
		if ip.Is4() {
			four = append(four, ip)
		} else {
			six = append(six, ip)
		}
	}
	if ips[0].Is4() {
		six, four = four, six
	}
	turns := make([]netip.Addr, 0, len(ips))
	for i := range ips {
		if i < len(six) {
			turns = append(turns, six[i])
		}
		if i < len(four) {
			turns = append(turns, four[i])
		}
	}
	return turns
}

func dialShare(ctx context.Context, left int) time.Duration {
	most := dialTimeout
	if left == 1 {
		most = lastDialTimeout
	}
	if end, ok := ctx.Deadline(); ok {
		most = min(most, time.Until(end)/time.Duration(left))
	}
	return most
}

// dialProxy connects to a proxy, which was named by the user and may be
// anywhere.
func (c *Client) dialProxy(ctx context.Context, network, addr string) (net.Conn, error) {
	if c.opts.Dial != nil {
		return c.opts.Dial(ctx, network, addr)
	}
	return new(net.Dialer).DialContext(ctx, network, addr)
}

// proxyOf reads the setting.
func proxyOf(setting string) (func(*url.URL) (*url.URL, error), error) {
	switch setting {
	case "":
		return nil, nil
	case environment:
		found := httpproxy.FromEnvironment()
		for _, set := range []string{found.HTTPProxy, found.HTTPSProxy} {
			if err := usableProxy(set); err != nil {
				return nil, err
			}
		}
		return found.ProxyFunc(), nil
	}
	u, err := url.Parse(setting)
	if err != nil || u.Hostname() == "" {
		return nil, proxyWrong(errors.New("write it as scheme://host:port"))
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return nil, proxyWrong(errors.New("its port is not a number from 1 to 65535"))
		}
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https", "socks5", "socks5h":
		return func(*url.URL) (*url.URL, error) { return u, nil }, nil
	}
	return nil, proxyWrong(errors.New("its scheme has to be http, https or socks5"))
}

// usableProxy refuses what would be passed over in silence, so that requests
// went out directly. The scheme may be missing.
func usableProxy(set string) error {
	if set == "" {
		return nil
	}
	if u, err := url.Parse(set); err == nil && u.Scheme != "" && u.Hostname() != "" {
		return nil
	}
	if u, err := url.Parse("http://" + set); err == nil && u.Hostname() != "" && !strings.Contains(set, "://") {
		return nil
	}
	return proxyWrong(errors.New("what the environment says is no URL"))
}

// proxyWrong does not show the setting, which may contain a password.
func proxyWrong(err error) *Error {
	return &Error{Code: CodeConnection, Message: fmt.Sprintf("the proxy setting can not be used: %v", err), Err: err}
}
