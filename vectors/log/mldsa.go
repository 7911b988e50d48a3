package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"filippo.io/mldsa"
	"filippo.io/torchwood"
)

// algMLDSA44 is the type of ML-DSA-44 cosignatures in keys (c2sp.org/tlog-cosignature).
const algMLDSA44 = 6

// mldsaWitness is a note.Signer of ML-DSA-44 cosignatures.
type mldsaWitness struct {
	name string
	key  *mldsa.PrivateKey
}

func newMLDSAWitness(name string, seed []byte) (*mldsaWitness, error) {
	key, err := mldsa.NewPrivateKey(mldsa.MLDSA44(), seed)
	return &mldsaWitness{name, key}, err
}

func (w *mldsaWitness) Name() string { return w.name }

// public is the key with its type.
func (w *mldsaWitness) public() []byte {
	return append([]byte{algMLDSA44}, w.key.PublicKey().Bytes()...)
}

func (w *mldsaWitness) KeyHash() uint32 {
	hash := sha256.Sum256(append([]byte(w.name+"\n"), w.public()...))
	return binary.BigEndian.Uint32(hash[:])
}

func (w *mldsaWitness) String() string {
	return fmt.Sprintf("%s+%08x+%s", w.name, w.KeyHash(), base64.StdEncoding.EncodeToString(w.public()))
}

func (w *mldsaWitness) Sign(text []byte) ([]byte, error) {
	return w.signAt(text, uint64(time.Now().Unix()))
}

// signAt signs without randomness, so that equal texts have equal signatures.
func (w *mldsaWitness) signAt(text []byte, at uint64) ([]byte, error) {
	checkpoint, err := torchwood.ParseCheckpoint(string(text))
	if err != nil {
		return nil, err
	}
	var message strings.Builder
	message.WriteString("subtree/v1\n\x00")
	message.WriteByte(byte(len(w.name)))
	message.WriteString(w.name)
	binary.Write(&message, binary.BigEndian, at)
	message.WriteByte(byte(len(checkpoint.Origin)))
	message.WriteString(checkpoint.Origin)
	binary.Write(&message, binary.BigEndian, []uint64{0, uint64(checkpoint.N)})
	message.Write(checkpoint.Hash[:])
	signature, err := w.key.SignDeterministic([]byte(message.String()), nil)
	return append(binary.BigEndian.AppendUint64(nil, at), signature...), err
}
