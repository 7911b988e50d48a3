//go:build !amd64 || purego

package merkle

const hasPairs = false

func inPairs(one manyFunc) manyFunc { return one }
