// Package helve is a tool runtime for coding agents: it defines, registers,
// validates, permission-checks, runs, bounds and records tools.
//
//	rt, err := helve.Open(helve.Options{Dir: "."})
//	…
//	defer rt.Close()
//	res, err := rt.Call(ctx, tool.Call{Tool: "read", Input: []byte(`{"filePath":"go.mod"}`)})
//
// A call takes one road, [Runtime.Call], whoever makes it and whatever kind
// of tool it names. A tool asks for permission while it runs; a request that
// no rule settles is told to whoever follows [Runtime.Events] and waits for
// [Requests.Reply]. With [Options.Unattended] it fails instead, naming the
// rule that would allow it.
//
// A Runtime is safe for concurrent use. Everything it starts ends in
// [Runtime.Close].
package helve
