// Package auth authenticates in both directions: clients of our HTTP server, and
// the user at remote servers.
//
// # Clients of our server
//
// A [Guard] decides which requests reach our HTTP server. It wraps every route,
// so no handler has to check anything. It stops web pages open in the user's
// browser, other users of the machine, and host names rebound to our address.
//
// A request passes if, in this order,
//
//   - it uses TLS if there is a certificate, and its Host is one we serve
//     (else 421),
//   - its Origin, if any, is ours, and the browser reports that the request comes
//     from our own page or from the address bar (else 403),
//   - its method is known (else 405) and its header is small (else 414, 431),
//   - it carries the token in the Authorization header (else 401, or 429 after a
//     burst of wrong tokens), or needs no token (see GuardOptions.Public) and
//     carries none,
//   - its body, if any, is JSON (else 415), small (else 413) and arrives in time
//     (else 408),
//   - the server has capacity for it (else 503).
//
// The connection of a request without the token is closed after the response, so
// that unauthenticated clients cannot exhaust the connections. A few connections
// that ask for public resources stay open (see guests).
//
// A refusal is a problem document (RFC 9457) with a code that gives the reason.
// Codes never change their meaning.
//
// Session names are never a credential. The server sends no CORS headers, and
// removes any that a handler sets.
//
// # Remote servers
//
// [SignIns] sign the user in to remote MCP servers with OAuth 2.1 and store the
// tokens in one file that all processes of the user share. A token is renewed
// before it expires, under a lock and after rereading the file, and the new
// token is on disk before it is used. So a server that rotates refresh tokens,
// and revokes everything when an old one is used again, never sees an old one.
// A [SignIns.Handler] supplies tokens to the MCP transport; only an interactive
// one opens a browser.
//
// Addresses that a server names are restricted. A request may go to the server's
// own origin, to the public network by https, or to an address of the same kind
// as the server's own: this machine, a private network, or the local link. The
// rule holds for literal addresses and for what a name resolves to when it is
// dialed (a proxy from the environment resolves names itself). Plain http is
// allowed only for a server on this machine. The metadata that a 401 names must
// be at the server's origin or public, and a redirect must stay within its
// origin. Without a user present, requests outside the server's origin are
// limited to reading well-known paths on the public network, and to renewing a
// token at the token endpoint of an existing sign-in.
//
// A server is bound to the issuer of its last sign-in and to the origin of that
// issuer's token endpoint. If either changes, the user is told before the
// browser opens, and a non-interactive sign-in fails. The client secret from the
// config is not sent to the new issuer until the old sign-in is deleted.
//
// Errors and texts of this package never contain tokens, client secrets,
// authorization codes or responses of token endpoints.
package auth
