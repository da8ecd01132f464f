// Package jswait waits for JavaScript promises. It holds nothing on other platforms.
package jswait
