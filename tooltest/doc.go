// Package tooltest helps to test tools, built-in ones and your own.
//
// [Scripts] runs test scripts: short texts that call tools, answer their requests and check the
// results. [Conform] checks a tool against what every tool promises. Both use [helve.Runtime.Call],
// so they see what a model would see.
package tooltest
