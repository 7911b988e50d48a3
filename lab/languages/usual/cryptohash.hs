-- | The usual way in Haskell: a digest at a time by cryptohash-sha256, which is C.
module Main (main) where

import Crypto.Hash.SHA256 (hash)
import qualified Data.ByteString as B
import qualified Data.ByteString.Char8 as C
import System.Environment (getArgs)
import System.IO
import Text.Printf (printf)

main :: IO ()
main = do
  [segment, name] <- getArgs
  withBinaryFile name ReadMode $ \file -> do
    subtrees <- go file (read segment) B.empty []
    C.putStrLn (hex (finish subtrees))

-- | The perfect subtrees, the last first, with their heights.
go :: Handle -> Int -> B.ByteString -> [(Int, B.ByteString)] -> IO [(Int, B.ByteString)]
go file segment rest subtrees = do
  piece <- B.hGetSome file 131072
  let bytes = rest <> piece
      (leaves, later) = if B.null piece then (bytes, B.empty) else B.splitAt (B.length bytes - B.length bytes `rem` segment) bytes
      subtrees' = push segment leaves subtrees
  subtrees' `seq` if B.null piece then pure subtrees' else go file segment later subtrees'

push :: Int -> B.ByteString -> [(Int, B.ByteString)] -> [(Int, B.ByteString)]
push segment bytes subtrees
  | B.null bytes = subtrees
  | otherwise =
    let (leaf, rest) = B.splitAt segment bytes
        digest = hash leaf
        next = digest `seq` carry 0 digest subtrees
     in next `seq` push segment rest next

carry :: Int -> B.ByteString -> [(Int, B.ByteString)] -> [(Int, B.ByteString)]
carry height digest ((other, left) : rest) | other == height = let node = hash (left <> digest) in node `seq` carry (height + 1) node rest
carry height digest subtrees = (height, digest) : subtrees

finish :: [(Int, B.ByteString)] -> B.ByteString
finish [] = hash B.empty
finish ((_, right) : rest) = foldl (\digest (_, left) -> hash (left <> digest)) right rest

hex :: B.ByteString -> B.ByteString
hex = C.pack . concatMap (printf "%02x") . B.unpack
