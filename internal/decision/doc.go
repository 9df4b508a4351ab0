// Package decision says what the rules would decide about calls that nobody
// makes: about a command line with all it runs and touches ([Reader]), about a
// file, about a URL ([Address]). A [Table] holds a line that expects an answer
// against what comes out, so that rules can be tested.
package decision
