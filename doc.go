// Package helve is a tool runtime for coding agents: it defines, registers,
// validates, permission-checks, runs and records tools, and bounds their output.
//
//	rt, err := helve.Open(helve.Options{Dir: "."})
//	…
//	defer rt.Close()
//	res, err := rt.Call(ctx, tool.Call{Tool: "read", Input: []byte(`{"filePath":"go.mod"}`)})
//
// Every call goes through [Runtime.Call], whoever makes it and whatever kind
// of tool it names. A tool asks for permission while it runs. A request that
// the rules neither allow nor deny is published to [Runtime.Events] and waits
// for [Requests.Reply]. With [Options.Unattended] it fails instead, with an
// error that names the rule that would allow it.
//
// A Runtime is safe for concurrent use. [Runtime.Close] ends everything that
// it has started.
package helve
