// Package proof is what the programs of the lab have in common: figures as data,
// a folder without a way out of the machine to run programs in, what a process
// uses, and what the machine is.
package proof
