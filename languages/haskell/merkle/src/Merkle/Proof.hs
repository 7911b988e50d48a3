{-# LANGUAGE BangPatterns #-}

-- |
-- Module      : Merkle.Proof
-- Description : Inclusion proofs: making and verifying
-- License     : MIT OR Apache-2.0
--
-- That some bytes are leaf number /i/ of a stream with a known root is shown by the digests beside the way from the
-- leaf up to the root: the /path/, one digest a level at most, the lowest first.
--
-- >>> let Just four = shape Rfc6962 4
-- >>> let bytes = "abcdefghijklmnopqr"
-- >>> let path = proof (feed (prover four 2) bytes)
-- >>> fmap (verify four (rootOf four bytes) 2 5 "ijkl") path
-- Just True
-- >>> fmap (verify four (rootOf four bytes) 3 5 "ijkl") path
-- Just False
--
-- In 'Plain' a proof is sound only if the number of leaves is known from a trusted source, not from whoever sends the
-- proof: there, the bytes of two digests are a leaf of a shorter stream with the same root. In 'Rfc6962' a wrong
-- number of leaves can show a leaf in a wrong place, but never bytes that are no leaf.
module Merkle.Proof
  ( -- * Making
    Prover,
    prover,
    feed,
    proof,

    -- * Verifying
    verify,
  )
where

import Data.Bits (shiftR, testBit)
import qualified Data.ByteString as B
import Data.Word (Word64)
import Merkle

-- $setup
-- >>> :set -XOverloadedStrings
-- >>> import Merkle

-- | What makes the path of one leaf, whose index is known beforehand, while the bytes pass. It keeps a few digests a
-- level.
--
-- Cut the leaves at leaf i. To its left there is one neighbour of the way for each bit that is set in i: just
-- the perfect subtrees over the first i leaves. To its right there is one for each bit k that is not set, over 2^k
-- leaves, one after another; the stream may end within one, which then stands for all of its leaves.
data Prover = Prover
  { _index :: !Word64,
    -- | The leaves before leaf i.
    _before :: !Tree,
    -- | How many bytes of leaf i have passed.
    _passed :: !Int,
    -- | The complete neighbours to the right, the highest first.
    _neighbours :: ![(Int, Digest)],
    -- | The level of the neighbour that is being read, and its leaves so far.
    _level :: !Int,
    _neighbour :: !Tree
  }

-- | The prover for the leaf with this index, counted from 0.
prover :: Shape -> Word64 -> Prover
prover s index = Prover index (empty s) 0 [] (nextLevel index 0) (empty s)

-- | The lowest level from the given one on at which the neighbour is on the right.
nextLevel :: Word64 -> Int -> Int
nextLevel index level = if testBit index level then nextLevel index (level + 1) else level

-- | The prover after these bytes.
feed :: Prover -> B.ByteString -> Prover
feed p@(Prover index before passed neighbours level neighbour) bytes
  | B.null bytes = p
  | leafCount before < index || unfinished before =
    let (now, later) = upTo (toInteger index) before
     in feed p {_before = update before now} later
  | passed < size =
    let (now, later) = B.splitAt (size - passed) bytes
     in feed p {_passed = passed + B.length now} later
  | full neighbour =
    let level' = nextLevel index (level + 1)
        !digest = root neighbour
     in feed p {_neighbours = (level, digest) : neighbours, _level = level', _neighbour = reset neighbour} bytes
  | otherwise =
    let (now, later) = upTo (2 ^ level) neighbour
     in feed p {_neighbour = update neighbour now} later
  where
    size = segment (treeShape before)
    full tree = toInteger (leafCount tree) == 2 ^ level && not (unfinished tree)
    -- The bytes up to the end of leaf n of a tree, and the others.
    upTo n tree = B.splitAt (fromInteger (min (toInteger (B.length bytes)) (n * toInteger size - toInteger (streamLength tree)))) bytes
    unfinished tree = streamLength tree `rem` fromIntegral size /= 0

-- | The path of the leaf in the tree over the bytes so far; nothing, if they do not reach the leaf. The prover can be fed
-- further: a later path is one in the longer tree.
proof :: Prover -> Maybe [Digest]
proof (Prover index before passed neighbours level neighbour)
  | passed == 0 = Nothing
  | otherwise = Just (merge lefts rights)
  where
    lefts = zip (filter (testBit index) [0 .. 63]) (reverse (perfectSubtrees before))
    rights = reverse ([(level, root neighbour) | leafCount neighbour > 0] ++ neighbours)
    merge (x : xs) (y : ys)
      | fst x < fst y = snd x : merge xs (y : ys)
      | otherwise = snd y : merge (x : xs) ys
    merge xs ys = map snd (xs ++ ys)

-- | Whether some bytes are the leaf with this index, in the tree of so many leaves with this root:
-- @verify shape root index leaves bytes path@ (RFC 9162, section 2.1.3.2).
--
-- The bytes must be a whole segment, or, if they are the last leaf, no more than one and not empty. See above
-- for what must be trusted in 'Plain'.
verify :: Shape -> Digest -> Word64 -> Word64 -> B.ByteString -> [Digest] -> Bool
verify s expected index leaves bytes path =
  index < leaves
    && sizeFits
    && all ((== 32) . B.length) path
    && climb index (leaves - 1) (hashLeaf (format s) bytes) path == Just expected
  where
    sizeFits
      | index + 1 < leaves = B.length bytes == segment s
      | otherwise = not (B.null bytes) && B.length bytes <= segment s
    -- The place on a level, the last place on that level, and the digest there.
    climb _ 0 digest [] = Just digest
    climb _ 0 _ _ = Nothing
    climb place end digest neighbours
      | even place && place == end = climb (place `shiftR` 1) (end `shiftR` 1) digest neighbours
      | neighbour : others <- neighbours =
        climb (place `shiftR` 1) (end `shiftR` 1) (if even place then node digest neighbour else node neighbour digest) others
      | otherwise = Nothing
    node = hashNode (format s)
