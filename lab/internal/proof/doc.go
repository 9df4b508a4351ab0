// Package proof is what the programs that measure helve beside others have in
// common: figures as data, a folder without a way out of the machine to run
// programs in, what a process uses, and what the machine is.
//
// A program prints its report for people as it likes and adds its figures to a
// Sheet. What a figure should be, and what to say where it is not, is no
// business of those who measure: the page of all figures knows that.
package proof
