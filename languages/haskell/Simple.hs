-- | Prints the Merkle root of a file: @runghc Simple.hs SEGMENT FILE@
--
-- The whole idea of this folder in one file, with the SHA-256 of cryptohash-sha256. A leaf is the hash of one segment, a node the
-- hash of its two children's digests, and neither has a prefix (the format @plain@).
module Main (main) where

import Crypto.Hash.SHA256 (hash)
import qualified Data.ByteString as B
import qualified Data.ByteString.Builder as Builder
import Data.List (foldl')
import System.Environment (getArgs)
import System.Exit (die)
import System.IO
import Text.Read (readMaybe)

-- | A height, and the root of 2^height leaves.
data Subtree = Subtree !Int !B.ByteString

-- | Perfect subtrees, the last and smallest first, no two of one height: the binary digits of the number of leaves.
type Tree = [Subtree]

-- | Appends a subtree as one is added to a binary number: each carry joins two of equal height.
push :: Tree -> Subtree -> Tree
push (Subtree other left : rest) (Subtree height right)
  | other == height = push rest (Subtree (height + 1) (hash (left <> right)))
push tree subtree = subtree : tree

-- | Joins the subtrees along the right edge, the smallest first. A tree without leaves has the hash of no bytes.
root :: Tree -> B.ByteString
root [] = hash B.empty
root (Subtree _ edge : rest) = foldl' (\right (Subtree _ left) -> hash (left <> right)) edge rest

-- | Appends all bytes as leaves, the last of which may be shorter.
pushLeaves :: Int -> Tree -> B.ByteString -> Tree
pushLeaves segment tree bytes
  | B.null bytes = tree
  | otherwise = next `seq` pushLeaves segment next rest
  where
    (leaf, rest) = B.splitAt segment bytes
    next = push tree (Subtree 0 (hash leaf))

-- | Reads to the end, whole segments at a time. Only the last one may be shorter.
rootOf :: Int -> Handle -> IO B.ByteString
rootOf segment file = go []
  where
    go tree = do
      bytes <- B.hGet file (segment * max 1 (131072 `div` segment))
      if B.null bytes then pure (root tree) else go $! pushLeaves segment tree bytes

main :: IO ()
main = do
  arguments <- getArgs
  case arguments of
    [size, name]
      | Just segment <- readMaybe size,
        segment > 0 && segment <= (2 :: Integer) ^ (40 :: Int) -> do
        digest <- withBinaryFile name ReadMode (rootOf (fromInteger segment))
        Builder.hPutBuilder stdout (Builder.byteStringHex digest <> Builder.char7 '\n')
        hFlush stdout
    _ -> die "usage: simple SEGMENT FILE"
