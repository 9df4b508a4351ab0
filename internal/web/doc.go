// Package web fetches pages and asks search services.
//
// # Fetching
//
// A [Client] fetches on behalf of somebody who may have been talked into it. A URL is read once, into an [Address]: what rules are matched
// on is what is resolved, dialled and sent. The [Client] then keeps to that:
// it connects only to the addresses it has looked at, judges every hop of a
// redirect anew, and bounds what an answer may cost.
//
// # Searching
//
// A [SearchEngine] turns a query into the request of the
// engine the user has chosen, and the engine's reply into text for a model.
//
// A server that the user's own config names may be anywhere, also on this
// machine; the usual one of a provider may not. A request never leaves for
// another origin than that one.
// What comes back is foreign: it is bounded, its control characters are made
// harmless, and the user's key never shows in it nor in an error, not even
// where a server sends it back.
package web
