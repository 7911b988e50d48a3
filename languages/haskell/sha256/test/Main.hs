-- | Published vectors, borders, and properties.
module Main (main) where

import qualified Crypto.SHA256 as SHA256
import Crypto.SHA256.Block (finish, start, withScratch, writeDigest)
import qualified Data.ByteString as B
import qualified Data.ByteString.Char8 as C
import qualified Data.ByteString.Internal as Internal
import qualified Data.ByteString.Lazy as L
import qualified Data.ByteString.Unsafe as Unsafe
import Data.Char (digitToInt)
import qualified Data.List as List
import Foreign.Ptr (castPtr)
import Test.Tasty (TestTree, defaultMain, testGroup)
import Test.Tasty.HUnit (assertEqual, testCase, (@?=))
import Test.Tasty.QuickCheck (Gen, choose, forAll, listOf, testProperty, vectorOf, (===))

main :: IO ()
main = defaultMain $ testGroup "sha256" [monteCarlo, borders, properties]

-- | The Monte Carlo test of NIST's CAVP (SHAVS, section 6.4): 100 values, each the last of 1,000 digests, each of the three before it.
-- The last value has all others in it.
monteCarlo :: TestTree
monteCarlo =
  testCase "NIST CAVP, Monte Carlo: 100 values of 1,000 digests" $
    SHA256.hex (iterate value (unhex "6d1e72ad03ddeb5de891e572e2396f8da015d899ef0e79503152d6010a3fe691") !! 100)
      @?= "6a912ba4188391a78e6f13d88ed2d14e13afce9db6f7dcbf4a48c24f3db02778"
  where
    value seed = chain (1000 :: Int) seed seed seed
    chain 0 _ _ z = z
    chain n x y z = chain (n - 1) y z (SHA256.hash (B.concat [x, y, z]))
    unhex (a : b : rest) = B.cons (fromIntegral (16 * digitToInt a + digitToInt b)) (unhex rest)
    unhex _ = B.empty

-- | Where the padding goes from one block to two, and where a block begins. The expected value is one digest over
-- the digests of all lengths, as Python's hashlib computes it:
--
-- > h = hashlib.sha256()
-- > for n in range(0, 1025): h.update(hashlib.sha256(bytes(i % 251 for i in range(n))).digest())
borders :: TestTree
borders =
  testGroup
    "lengths"
    [ testCase "0 to 1024" $
        SHA256.hex (SHA256.hash (B.concat [SHA256.hash (ramp n) | n <- [0 .. 1024]]))
          @?= "519deb94c1301df549b1fc29841731b0ae12767da3cbddcd499f644ee77d4789",
      testCase "one million times a (FIPS 180-4)" $
        SHA256.hex (SHA256.hash (C.replicate 1000000 'a'))
          @?= "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
      -- A message of 0x5c0000043 bytes, of which only the last three are hashed. The digest is that of a SHA-256 in Python that takes
      -- the length as an argument.
      testCase "more than 2^32 bits" $ do
        digest <- Internal.create 32 $ \out -> withScratch $ \mem -> Unsafe.unsafeUseAsCStringLen (C.pack "abc") $ \(p, len) -> do
          start mem
          finish mem (castPtr p) len 0x5c0000043
          writeDigest mem out
        SHA256.hex digest @?= "6f4b2092600157b7435334d871afe0d90babaf5074a983495c504ad38b11e869",
      testCase "every split at 55, 56, 63, 64, 65, 119, 120, 127, 128, 129" $
        sequence_
          [ assertEqual (show (n, cut)) (SHA256.hash (ramp n)) (pieces [B.take cut (ramp n), B.drop cut (ramp n)])
            | n <- [55, 56, 63, 64, 65, 119, 120, 127, 128, 129],
              cut <- [0 .. n]
          ],
      testCase "byte by byte" $
        pieces (map B.singleton (B.unpack (ramp 1000))) @?= SHA256.hash (ramp 1000),
      testCase "an unaligned slice" $
        sequence_
          [ assertEqual (show k) (SHA256.hash (B.copy (B.drop k (ramp 300)))) (SHA256.hash (B.drop k (ramp 300)))
            | k <- [0 .. 70]
          ],
      testCase "a context is used twice" $ do
        let context = SHA256.update SHA256.init (ramp 100)
        SHA256.finalize (SHA256.update context (C.pack "x")) @?= SHA256.hash (ramp 100 <> C.pack "x")
        SHA256.finalize (SHA256.update context (C.pack "y")) @?= SHA256.hash (ramp 100 <> C.pack "y")
        SHA256.finalize context @?= SHA256.hash (ramp 100)
    ]

-- | Byte i is i mod 251.
ramp :: Int -> B.ByteString
ramp n = fst (B.unfoldrN n (\i -> Just (fromIntegral (i `mod` 251), i + 1)) (0 :: Int))

pieces :: [B.ByteString] -> B.ByteString
pieces = SHA256.finalize . List.foldl' SHA256.update SHA256.init

properties :: TestTree
properties =
  testGroup
    "properties"
    [ testProperty "any split has the digest of the whole" $
        forAll chunks $ \cs -> pieces cs === SHA256.hash (B.concat cs),
      testProperty "lazy = strict" $
        forAll chunks $ \cs -> SHA256.hashLazy (L.fromChunks cs) === SHA256.hash (B.concat cs)
    ]

bytes :: Gen B.ByteString
bytes = do
  n <- choose (0, 200)
  B.pack <$> vectorOf n (toEnum <$> choose (0, 255))

chunks :: Gen [B.ByteString]
chunks = listOf bytes
