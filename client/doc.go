// Package client talks to a helve server: the one that `helve serve` runs.
//
//	c, err := client.New("http://127.0.0.1:4096", token)
//	sessions, err := c.ListSessions(ctx, client.ListSessionsQuery{Limit: 10})
//
// There is a method for every operation of the API, and a type for all that is
// sent and answered; both are written from the server's OpenAPI document. Three
// things are more than that:
//
//   - [Client.Do] makes a call of a tool from beginning to end: it starts it, shows
//     its progress, has somebody answer what it asks, and returns its result.
//   - [Client.Events] follows what happens, over lost connections and restarts.
//   - [Local] finds the server that works on a folder of this machine.
//
// What the server refuses is a [*Problem]: what is wrong, and what to do next.
//
// A client can be used by several goroutines at once. The package needs nothing
// but the standard library.
package client
