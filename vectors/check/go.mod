module example.invalid/mksum/vectors/check

go 1.26.0

require (
	github.com/emmansun/gmsm v0.15.5
	github.com/transparency-dev/merkle v0.0.2
	golang.org/x/crypto v0.58.0
	golang.org/x/mod v0.42.0
	lukechampine.com/blake3 v1.4.1
)

require (
	github.com/klauspost/cpuid/v2 v2.0.9 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
