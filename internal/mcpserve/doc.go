// Package mcpserve serves a runtime's tools to MCP clients, over standard input and output or over
// streamable HTTP.
//
// One [Server] serves many clients. Each has a session of its own, with its own record of files
// read, its own approvals and its own jobs. A client that names roots works in them; clients that
// work in the same folders share a runtime. Permission requests are shown by the client, as a form.
// A client without forms gets an unattended runtime, whose errors name the rule to add.
package mcpserve
