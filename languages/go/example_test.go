package merkle_test

import (
	"fmt"
	"io"
	"strings"

	merkle "example.org/mksum/languages/go"
)

func Example() {
	tree := merkle.New(merkle.RFC6962, 4)
	io.Copy(tree, strings.NewReader("abcdefghijklmnopqr"))
	fmt.Printf("%x\n", tree.Sum(nil))
	// Output: 1b74633241a74d51e2843cff6143f6d31c9dcf0c41f35f0a7448696d165a5f90
}

func ExampleProver() {
	prover := merkle.NewProver(merkle.RFC6962, 4, 2) // the third leaf: "ijkl"
	io.Copy(prover, strings.NewReader("abcdefghijklmnopqr"))
	root := prover.Sum(nil)
	proof, err := prover.Proof()
	if err != nil {
		panic(err)
	}
	fmt.Println("siblings:", len(proof.Path))
	fmt.Println(merkle.Verify(merkle.RFC6962, 4, root, proof, []byte("ijkl")))
	fmt.Println(merkle.Verify(merkle.RFC6962, 4, root, proof, []byte("IJKL")))
	// Output:
	// siblings: 3
	// <nil>
	// merkle: the proof is not valid
}
