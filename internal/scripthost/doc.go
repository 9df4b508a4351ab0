// Package scripthost serves what tool and plugin scripts request from the
// machine: files, programs, the network, environment variables, databases,
// cryptography.
//
// Before it acts, it submits each request, with the name of the tool, to the
// permission rules of the caller that the script works for. The requests are
// listed in internal/script/OPS.md.
//
// # Bun.$
//
// [ParseShell] parses scripts of Bun.$. A parsed script can be rendered as the
// text that the rules check, and run. Where Bun's shell differs from others, it
// behaves like Bun's, including its built-in commands and their messages. A
// script acts on the machine through a [ShellMachine] and its [ShellFiles], which check
// the rules; the size of words, variables and outputs is bounded here.
//
// # Databases
//
// [OpenDB] opens a database for a script. It is confined to the file it was
// opened with and bounded in memory. A statement has no time limit of its own:
// it ends with the context of the call that runs it. Values are passed as JSON,
// and errors are those of bun:sqlite. Permission to open the file is checked by
// the caller.
//
// # Cryptography
//
// [CryptoOperations] need no permission, only bounds: hashes, key derivation,
// random bytes and compression.
package scripthost
