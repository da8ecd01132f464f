//go:build !race && !js

package tabletest

// Every is the step of Some: of so many tables it gives one.
const Every = 1
