// Package auth holds credentials on both sides: it decides who may talk to our
// HTTP server, and signs people in to the servers of others.
//
// # Our server
//
// A [Guard] decides who may talk to our HTTP server. It stands in front of
// every route, so that no handler has to remember a rule: a web page in the
// person's browser, another user of the machine and a name that was rebound to
// our address all end here.
//
// A request passes if, in this order,
//
//   - it came by TLS where there is a certificate, and its Host is one we serve
//     (else 421),
//   - its Origin, if it has one, is ours, and the browser says that the request
//     is of our own page or was typed in (else 403),
//   - its method is one we know (else 405) and its head is small (else 414, 431),
//   - it carries the token in the Authorization header (else 401, or 429 when
//     wrong ones come in bursts), or needs none (see GuardOptions.Public) and
//     carries none,
//   - its body, if it has one, is JSON (else 415), small (else 413) and comes
//     in time (else 408),
//   - there is room for it (else 503).
//
// A connection whose request does not show the token is closed with the
// answer, so that strangers do not take the places of others; a few of those
// that ask for public things are kept (see guests).
//
// What is refused is answered with a problem (RFC 9457) whose code says why;
// codes never change their meaning.
//
// Names of sessions are never a credential. There are no CORS headers, and
// those a handler sets are taken off.
//
// # Servers of others
//
// [SignIns] sign a person in to remote MCP servers with OAuth 2.1 and keep the
// tokens. They are one file that every process of the person shares. A token is
// renewed before it ends, under a lock, after a look at what another process
// wrote meanwhile, and the answer is on disk before it is used: a server that
// hands out a new refresh token each time and revokes everything when an old
// one comes back never sees an old one. A [SignIns.Handler] is what the MCP
// transport asks for tokens; only an interactive one ever opens a browser.
//
// What a server names is not simply asked. Every request goes to the server's
// own origin, to the public network by https, or to an address of the kind that
// the server's own has: this machine, a private network, the local link. That
// holds for the text of an address and for what a name resolves to when it is
// dialed (a proxy of the environment resolves for itself). Only for a server on
// this machine may it be http. The metadata that a 401 names has to be at the
// server's origin or public, and a redirect stays in its origin. Without a
// person nothing but well-known paths is asked outside the server's origin,
// only on the public network, and only to read; the one other request is the
// renewal at the token endpoint of a sign-in.
//
// A server is tied to the issuer, and to the origin of the token endpoint, of
// its last sign-in. A person hears of a change before the browser opens, nobody
// else signs in there, and the secret of the config is not sent there before
// the old sign-in is forgotten.
//
// Tokens, client secrets, codes and answers of token endpoints appear in no
// error and no text this package gives.
package auth
