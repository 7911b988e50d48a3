{-# LANGUAGE BangPatterns #-}
{-# OPTIONS_GHC -O2 #-}
-- As in Crypto.SHA256.Block: so that other threads and timeouts go on while a large piece is hashed.
{-# OPTIONS_GHC -fno-omit-yields #-}

-- |
-- Module      : Merkle
-- Description : The root of the Merkle tree over the segments of a byte stream
-- License     : MIT OR Apache-2.0
--
-- A stream of bytes is cut into segments of one size, the last of which may be shorter. Each is hashed: a leaf. Pairs of
-- neighbours are hashed together, level by level, up to the root; a node without a neighbour goes up as it is.
--
-- >>> let Just pairs = shape Plain 2
-- >>> hex (rootOf pairs "abc") == hex (hash (hash "ab" <> hash "c"))
-- True
--
-- A 'Tree' is what remains of the bytes so far: one digest for each perfect subtree, at most one a level. So the memory
-- for any stream is a few kilobytes. Trees are values: 'root' can be asked at any moment, and two streams
-- with the same beginning can go on from the same tree.
module Merkle
  ( -- * Formats
    Format (..),
    Shape,
    shape,
    maxSegment,
    format,
    segment,

    -- * The root of given bytes
    Digest,
    rootOf,
    rootOfLazy,
    rootOfAll,

    -- * The root of bytes that come in pieces
    Tree,
    empty,
    update,
    root,
    reset,
    treeShape,
    leafCount,
    streamLength,
    perfectSubtrees,

    -- * The hashes of the formats
    hashLeaf,
    hashNode,
  )
where

import Control.Monad (when)
import qualified Crypto.SHA256 as SHA256
import Crypto.SHA256.Block
import Data.Bits (countTrailingZeros, finiteBitSize, popCount)
import qualified Data.ByteString as B
import qualified Data.ByteString.Internal as Internal
import qualified Data.ByteString.Lazy as L
import qualified Data.ByteString.Unsafe as Unsafe
import qualified Data.Foldable as Foldable
import Data.Word (Word64, Word8)
import Foreign.Marshal.Alloc (allocaBytes)
import Foreign.Marshal.Utils (copyBytes)
import Foreign.Ptr (Ptr, castPtr, plusPtr)
import Foreign.Storable (poke)
import System.IO.Unsafe (unsafeDupablePerformIO)

-- $setup
-- >>> :set -XOverloadedStrings
-- >>> import Crypto.SHA256 (hash, hex)

-- | What is hashed for a leaf and for a node.
data Format
  = -- | @H(bytes)@ and @H(left ‖ right)@. A node can be passed off as a leaf of a shorter stream, so roots and proofs
    -- tell streams apart only where the length is known and trusted.
    Plain
  | -- | @H(00 ‖ bytes)@ and @H(01 ‖ left ‖ right)@, as in Certificate Transparency (RFC 6962, section 2.1).
    Rfc6962
  deriving (Eq, Show)

-- | A format and the size of a segment in bytes.
data Shape = Shape
  { -- | The format of a shape.
    format :: !Format,
    -- | The size of a segment in bytes, 1 or more.
    segment :: !Int
  }
  deriving (Eq, Show)

-- | The shape with segments of so many bytes; nothing, unless they are 1 to 'maxSegment'.
shape :: Format -> Int -> Maybe Shape
shape f size = if size >= 1 && size <= maxSegment then Just (Shape f size) else Nothing

-- | The size of the largest segment, 2^40 bytes.
maxSegment :: Int
maxSegment = 1099511627776

-- | 32 bytes.
type Digest = B.ByteString

-- | The root of some bytes. That of no bytes is the hash of no bytes.
rootOf :: Shape -> B.ByteString -> Digest
rootOf s = root . update (empty s)

-- | The root of bytes that are read as they are needed.
rootOfLazy :: Shape -> L.ByteString -> Digest
rootOfLazy s = root . L.foldlChunks update (empty s)

-- | The root of the pieces, one after another. It does not depend on where the pieces are cut.
--
-- >>> let Just sixtyFour = shape Rfc6962 64
-- >>> rootOfAll sixtyFour ["Mer", "kle"] == rootOf sixtyFour "Merkle"
-- True
rootOfAll :: Foldable pieces => Shape -> pieces B.ByteString -> Digest
rootOfAll s = root . Foldable.foldl' update (empty s)

-- | The tree over the bytes so far.
data Tree = Tree
  { -- | The shape of a tree.
    treeShape :: !Shape,
    -- | How many leaves are complete.
    _complete :: !Word64,
    -- | The digests of the perfect subtrees, left to right: one for each bit that is set in the count.
    _perfect :: !B.ByteString,
    -- | The bytes of the leaf that is not complete, fewer than a segment. It has no digest yet: it may be the last
    -- leaf or the beginning of a longer one.
    _started :: !Int,
    -- | Their hash so far, with the prefix of the format.
    _leaf :: !SHA256.Context,
    -- | What ends a complete leaf, where that is a block of its own.
    _padding :: !(Maybe Padding)
  }

-- | The tree over no bytes.
empty :: Shape -> Tree
empty s = Tree s 0 B.empty 0 (newLeaf (format s)) padding
  where
    padding = if format s == Plain && segment s `rem` 64 == 0 then Just (paddingOf (segment s)) else Nothing

-- | The tree over no bytes in the same shape.
reset :: Tree -> Tree
reset tree = tree {_complete = 0, _perfect = B.empty, _started = 0, _leaf = newLeaf (format (treeShape tree))}

-- | The number of leaves, the last one included if it is short.
leafCount :: Tree -> Word64
leafCount tree = _complete tree + (if _started tree > 0 then 1 else 0)

-- | The number of bytes so far.
streamLength :: Tree -> Word64
streamLength tree = _complete tree * fromIntegral (segment (treeShape tree)) + fromIntegral (_started tree)

-- | The digests of the perfect subtrees over the complete leaves, from the left, which is the largest, to the
-- right: one for each bit that is set in their number.
perfectSubtrees :: Tree -> [Digest]
perfectSubtrees = digests . _perfect

digests :: B.ByteString -> [Digest]
digests bytes
  | B.null bytes = []
  | otherwise = let (d, rest) = B.splitAt 32 bytes in d : digests rest

-- | The tree with these bytes at its end.
update :: Tree -> B.ByteString -> Tree
update tree bytes
  | B.null bytes = tree
  | started == 0 && B.length bytes >= size =
    let !whole = B.length bytes - B.length bytes `rem` size
        !(!complete', !perfect') = appendLeaves s padding complete perfect (Unsafe.unsafeTake whole bytes)
     in update tree {_complete = complete', _perfect = perfect'} (Unsafe.unsafeDrop whole bytes)
  | B.length bytes < missing = tree {_started = started + B.length bytes, _leaf = SHA256.update leaf bytes}
  | otherwise =
    let !digest = SHA256.finalize (SHA256.update leaf (Unsafe.unsafeTake missing bytes))
        !(!complete', !perfect') = appendDigest (format s) complete perfect digest
     in update (reset tree) {_complete = complete', _perfect = perfect'} (Unsafe.unsafeDrop missing bytes)
  where
    Tree s@(Shape _ size) complete perfect started leaf padding = tree
    missing = size - started

-- | The root of the tree over the bytes so far.
--
-- From the right: the short leaf, if there is one, then each perfect subtree joined to what is right of it.
root :: Tree -> Digest
root (Tree s _ perfect started leaf _) = case ragged ++ reverse (digests perfect) of
  [] -> SHA256.hash B.empty
  rightmost : others -> Foldable.foldl' (flip (hashNode (format s))) rightmost others
  where
    ragged = [SHA256.finalize leaf | started > 0]

newLeaf :: Format -> SHA256.Context
newLeaf Plain = SHA256.init
newLeaf Rfc6962 = SHA256.update SHA256.init (B.singleton 0)

-- | The digest of a leaf with these bytes.
hashLeaf :: Format -> B.ByteString -> Digest
hashLeaf f bytes = SHA256.finalize (SHA256.update (newLeaf f) bytes)

-- | The digest of the node over a left and a right digest.
hashNode :: Format -> Digest -> Digest -> Digest
hashNode Plain left right = SHA256.hash (left <> right)
hashNode Rfc6962 left right = SHA256.hash (B.concat [B.singleton 1, left, right])

----------------------------------------------------------------------------------------------------------------
-- Many leaves at once
--
-- Between two pieces the tree is an immutable value; within one it is a stack in memory. There, a leaf costs its hash and on
-- average one node, no list of leaves or digests is made, and nothing is allocated.

-- | The count and the perfect subtrees after whole segments.
appendLeaves :: Shape -> Maybe Padding -> Word64 -> B.ByteString -> B.ByteString -> (Word64, B.ByteString)
appendLeaves (Shape f size) padding count perfect bytes = withStack count perfect $ \mem stack ->
  Unsafe.unsafeUseAsCStringLen bytes $ \(start0, len) ->
    let end = start0 `plusPtr` len
        go !p !n !top
          | p == end = pure (n, top)
          | otherwise = do
            case padding of
              Nothing -> hashWith mem f 0 (castPtr p) size top
              Just known -> do
                start mem
                absorb mem (castPtr p) (size `quot` 64)
                absorbPadding mem known
                writeDigest mem top
            top' <- joinPairs mem f (n + 1) top
            go (p `plusPtr` size) (n + 1) top'
     in go start0 count stack

-- | The same after one digest of a leaf.
appendDigest :: Format -> Word64 -> B.ByteString -> Digest -> (Word64, B.ByteString)
appendDigest f count perfect digest = withStack count perfect $ \mem top ->
  Unsafe.unsafeUseAsCString digest $ \p -> do
    copyBytes top (castPtr p) 32
    top' <- joinPairs mem f (count + 1) top
    pure (count + 1, top')

-- | Runs an action on a copy of the perfect subtrees. It gets the place above the last of them, and returns the
-- new count and the place above the new last.
withStack :: Word64 -> B.ByteString -> (Scratch -> Ptr Word8 -> IO (Word64, Ptr Word8)) -> (Word64, B.ByteString)
withStack count perfect action = unsafeDupablePerformIO $
  withScratch $ \mem ->
    allocaBytes (32 * (finiteBitSize count + 1)) $ \stack ->
      Unsafe.unsafeUseAsCStringLen perfect $ \(p, len) -> do
        copyBytes stack (castPtr p) len
        (count', _) <- action mem (stack `plusPtr` len)
        perfect' <- Internal.create (32 * popCount count') $ \out -> copyBytes out stack (32 * popCount count')
        pure (count', perfect')
{-# INLINE withStack #-}

-- | A new leaf stands at the given place and makes the given count. Where that count is even, the leaf completes a pair; where it is a
-- multiple of four, a pair of pairs, and so on. Returns the place above the last digest.
joinPairs :: Scratch -> Format -> Word64 -> Ptr Word8 -> IO (Ptr Word8)
joinPairs mem f count = go (countTrailingZeros count)
  where
    go :: Int -> Ptr Word8 -> IO (Ptr Word8)
    go 0 !right = pure (right `plusPtr` 32)
    go n right = do
      let left = right `plusPtr` (-32)
      hashWith mem f 1 left 64 left
      go (n - 1) left
{-# INLINE joinPairs #-}

-- | Writes the digest of bytes, with the prefix if the format has any, to the last place, which may be that of the bytes.
hashWith :: Scratch -> Format -> Word8 -> Ptr Word8 -> Int -> Ptr Word8 -> IO ()
hashWith mem Plain _ p len out = hashTo mem p len out
hashWith mem Rfc6962 prefix p len out = allocaBytes 64 $ \first -> do
  -- The prefix shifts the bytes by one: the first block is put together, the others are read where they are.
  let ahead = min len 63
      rest = len - ahead
      whole = rest `quot` 64
      total = fromIntegral len + 1
  poke first prefix
  copyBytes (first `plusPtr` 1) p ahead
  start mem
  if ahead < 63
    then finish mem first (ahead + 1) total
    else do
      absorb mem first 1
      when (whole > 0) $ absorb mem (p `plusPtr` 63) whole
      finish mem (p `plusPtr` (63 + 64 * whole)) (rest - 64 * whole) total
  writeDigest mem out
