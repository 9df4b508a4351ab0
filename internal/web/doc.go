// Package web fetches from the web on behalf of somebody who may have been
// talked into it. A URL is read once, into an [Address]: what rules are matched
// on is what is resolved, dialled and sent. The [Client] then keeps to that:
// it connects only to the addresses it has looked at, judges every hop of a
// redirect anew, and bounds what an answer may cost.
package web
