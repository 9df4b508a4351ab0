// Package mcpclient brings the tools of MCP servers in: it starts or reaches
// the servers, watches over them, and registers what they offer.
//
// A [Pool] holds all servers of a configuration. Each server has a life of its
// own, so that one that is slow, broken or hostile costs nobody else anything:
// it has its deadlines, its bounded buffers and its log, and what goes wrong
// ends up in its [Status]. A server that dies is started again, and a call to
// one of its tools waits for that.
//
// What a server says about itself is not trusted. Tool definitions are bounded
// and pinned, texts are data, and a joined name that
// two servers claim is refused.
//
// # What servers say
//
// What a server says is made safe first. [Definition] and [ToolResult] bound and repair it, so that a bad tool is one tool less and a
// bad result is one result less, and [Pins] remember what tools looked like, so
// that one that changes after it was approved is found out.
//
// It talks to nobody: whoever holds the connection brings what came over it.
package mcpclient
