// Package tooltest helps to test tools, built-in ones and your own alike.
//
// [Scripts] runs test scripts: short texts that call tools, answer what they
// ask and look at what comes back. [Conform] holds a tool against what every
// tool promises. Both go through [helve.Runtime.Call], so what they see is
// what a model would see.
package tooltest
