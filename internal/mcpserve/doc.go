// Package mcpserve is the door for agents that speak the Model Context
// Protocol: it offers a runtime's tools to MCP clients, over standard input
// and output or over streamable HTTP.
//
// One [Server] serves many clients. Each has a session of its own, and with it
// its own record of what was read, its own approvals and its own jobs. A
// client that names roots works in them; clients that work in the same folders
// share a runtime. What a rule wants asked is asked through the client, by a
// form; a client that has no forms gets a runtime that knows that nobody is
// there, whose errors name the rule to add.
package mcpserve
