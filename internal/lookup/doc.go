// Package lookup asks search engines: it turns a query into the request of the
// engine the user has chosen, and the engine's reply into text for a model.
//
// A server that the user's own config names may be anywhere, also on this
// machine; the usual one of a provider may not. A request never leaves for
// another origin than that one.
// What comes back is foreign: it is bounded, its control characters are made
// harmless, and the user's key never shows in it nor in an error, not even
// where a server sends it back.
package lookup
