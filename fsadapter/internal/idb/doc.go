// Package idb waits for requests and transactions of IndexedDB. It holds nothing on other platforms.
package idb
