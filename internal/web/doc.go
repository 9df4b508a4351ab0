// Package web fetches pages and queries search services.
//
// # Fetching
//
// A [Client] fetches URLs for a caller that may follow injected instructions. A
// URL is parsed once into an [Address], and the same Address is matched against
// rules, resolved, dialed and sent. The Client connects only to addresses it has
// checked, checks every redirect again, and bounds the cost of a response.
//
// # Searching
//
// A [SearchEngine] turns a query into a request to the search service that the
// user has chosen, and the reply into text for a model.
//
// A server named in the user's config may be anywhere, including on this
// machine; a provider's default server may not. A request never leaves for
// another origin than that server's. Replies are untrusted: they are bounded,
// control characters are neutralized, and the user's key appears in no result
// and no error, even if the server echoes it.
package web
