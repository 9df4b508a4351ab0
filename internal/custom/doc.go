// Package custom loads tools, plugins and hooks from the user's config folders:
// JavaScript and TypeScript files, npm packages named in the config, and
// programs in any language.
//
// Files are read only when needed. In a folder that is not trusted, only file
// names are read. Each folder has one engine, so its files share their imports;
// an error in one file does not affect the others. A changed file takes effect
// at the next call.
//
// # Bun and Node
//
// A [Worker] runs tool and plugin files in Bun or Node, for what the embedded
// engine cannot do: native add-ons, WebAssembly, servers. A Worker has one
// process, which serves the files of one config folder, stays alive between
// calls, and is restarted when lost. It implements the same operations as a
// script.Driver, with the same types.
//
// The process runs in the sandbox that commands have, or not at all, with the
// variables that commands get. There are no permission requests for single files
// and programs, because nothing can intercept what the process does: the sandbox
// is the only restriction. Its memory is not bounded here, because both runtimes
// reserve far more address space than they use, and that is all that a limit of
// the shell could measure.
package custom
