// Package scripthost answers what scripts of tools and plugins ask of the
// machine: files, programs, the network, variables, databases, cryptography.
//
// Nothing is answered that the rules
// do not allow: each request is put to whoever the script works for, with the
// name of the tool in it, before anything is done.
//
// The requests are those of internal/script/OPS.md.
//
// # Bun.$
//
// [ParseShell] reads scripts of Bun.$: a script is read, told as the text
// that is to be judged, and run. What differs between Bun's shell and others is
// done Bun's way, down to the words of its own commands. What a script does to
// the machine goes through a [Machine] and its [Files], which know the rules;
// here is what is bounded: words, variables and outputs.
//
// # Databases
//
// [OpenDB] opens databases for scripts: each is kept to the one file that
// it was opened by, and bounded in memory. A statement takes as long as it takes,
// and ends with the context of the call that runs it. Values come and go as JSON,
// and mistakes are those of bun:sqlite. Who may open which file is not decided
// here.
//
// # Cryptography
//
// [CryptoOperations] need no permission, only bounds: sums of bytes, keys made
// of passwords, random bytes, and packing.
package scripthost
