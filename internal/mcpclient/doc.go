// Package mcpclient connects to MCP servers: it starts or dials them, supervises
// them, and registers their tools.
//
// A [Pool] holds all servers of a configuration. Servers are independent, so a
// slow, broken or hostile one does not affect the others: each has its own
// deadlines, bounded buffers and log, and its errors appear in its [Status]. A
// server that dies is restarted, and a call to one of its tools waits for that.
//
// Nothing a server sends is trusted. [Definition] and [ToolResult] bound and
// repair it, so that an invalid tool or result is dropped without affecting the
// rest. [Pins] remember tool definitions, so that a tool that changes after its
// approval is detected. A tool name that two servers claim is refused. Texts are
// treated as data, never as instructions.
package mcpclient
