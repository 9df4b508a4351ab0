// Package custom makes tools, plugins and hooks of what users put into their
// config folders: JavaScript and TypeScript files, npm packages that are named
// in the config, and programs of any language.
//
// Nothing is read before it is needed, and nothing of a folder that is not
// trusted is read at all but the names of its files. Each folder has one engine,
// so that its files share what they import; files do not share their mistakes.
// A file that changes is there, in its new form, at the next call.
//
// # Programs
//
// [Programs] are tools and hooks in any language: JSON in, JSON or text out.
//
// A program is a stranger even where its folder is trusted. It may say nothing
// or too much, never end, leave others behind or lie about what it is; whatever
// it does becomes a result within bounds, or an error that says what it did.
//
// # bun and node
//
// A [Worker] runs tool and plugin files in bun or node, for what the embedded engine can not do: native add-ons, WebAssembly,
// servers. A [Worker] has one process, which serves the files of one config folder, stays between calls, and is started again when
// it was lost. It answers what a script.Driver answers, in the same types.
//
// The process runs behind the wall that commands have, or not at all, with the variables that commands get. Nothing asks about the
// single files and programs it touches, as there is nobody in between: the wall is what holds it. Its memory is not bounded here,
// because both runtimes reserve far more addresses than they use, which is all that a limit of the shell could count.
package custom
