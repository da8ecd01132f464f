// Package model holds the view models of the user interface: everything that can be
// computed without a browser. Layouts of timelines and of log files, the state that
// lives in the URL fragment, virtual scrolling, hex rows, JSON trees and the way
// numbers are written. All of it is plain data in, plain data out, and is tested natively.
package model
