-- | Published vectors, borders, and properties.
module Main (main) where

import qualified Crypto.SHA256 as SHA256
import Crypto.SHA256.Block (finish, start, withScratch, writeDigest)
import Data.Bits (complementBit, xor)
import qualified Data.ByteString as B
import qualified Data.ByteString.Char8 as C
import qualified Data.ByteString.Internal as Internal
import qualified Data.ByteString.Lazy as L
import qualified Data.ByteString.Unsafe as Unsafe
import Data.Char (digitToInt)
import qualified Data.List as List
import Foreign.Ptr (castPtr)
import System.Environment (lookupEnv)
import Test.Tasty (TestTree, defaultMain, testGroup)
import Test.Tasty.HUnit (assertBool, assertEqual, testCase, (@?=))
import Test.Tasty.QuickCheck (Gen, choose, forAll, listOf, testProperty, vectorOf, (===))

main :: IO ()
main = do
  wycheproof <- lookupEnv "WYCHEPROOF_HMAC" >>= traverse readFile
  defaultMain $ testGroup "sha256" [monteCarlo, borders, macs (sha256Rows <$> wycheproof), properties]
  where
    sha256Rows text = [row | row@("sha256" : _) <- columns <$> lines text]
    columns line = case break (== '\t') line of
      (column, _ : rest) -> column : columns rest
      (column, []) -> [column]

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

unhex :: String -> B.ByteString
unhex = B.pack . bytesOf
  where
    bytesOf (a : b : rest) = fromIntegral (16 * digitToInt a + digitToInt b) : bytesOf rest
    bytesOf [] = []
    bytesOf odd' = error ("half a byte: " ++ odd')

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

-- | With the cases of Wycheproof, if there are any: hash, number, result, key, message and code.
macs :: Maybe [[String]] -> TestTree
macs wycheproof =
  testGroup
    "HMAC"
    [ testCase "RFC 4231, cases 1 to 4, 6 and 7" $ mapM_ both rfc4231,
      testCase "RFC 4231, case 5: 128 bits" $ do
        let SHA256.MAC code = SHA256.hmac (B.replicate 20 0x0c) (C.pack "Test With Truncation")
        SHA256.hex (B.take 16 code) @?= "a3b6167473100ee06e0c796c2955552b",
      case wycheproof of
        Nothing -> testCase "Wycheproof: NOT RUN, WYCHEPROOF_HMAC names no file" (pure ())
        Just cases -> testCase "Wycheproof, 66 cases" $ do
          length cases @?= 66
          mapM_ wycheproofCase cases,
      testCase "a key of 65 bytes is its hash, one of 64 is not" $ do
        SHA256.hmac (ramp 65) (ramp 5) @?= SHA256.hmac (SHA256.hash (ramp 65)) (ramp 5)
        assertBool "64" (SHA256.hmac (ramp 64) (ramp 5) /= SHA256.hmac (SHA256.hash (ramp 64)) (ramp 5)),
      testCase "codes that differ in any one bit, or in length, are not equal" $ do
        let code = SHA256.hash B.empty
            flipped i = B.pack [if k == i `div` 8 then complementBit b (i `mod` 8) else b | (k, b) <- zip [0 ..] (B.unpack code)]
        SHA256.MAC code @?= SHA256.MAC (B.copy code)
        sequence_ [assertBool (show i) (SHA256.MAC code /= SHA256.MAC (flipped i)) | i <- [0 .. 255 :: Int]]
        sequence_ [assertBool (show n) (SHA256.MAC code /= SHA256.MAC (B.take n code)) | n <- [0 .. 31]]
    ]
  where
    both (key, message, code) = do
      SHA256.hmac key message @?= SHA256.MAC (unhex code)
      SHA256.hmacLazy key (L.fromChunks [B.take 3 message, B.drop 3 message]) @?= SHA256.MAC (unhex code)
    -- Half of the codes are the first 128 bits.
    wycheproofCase [_, _, "valid", key, message, code] = do
      let SHA256.MAC whole = SHA256.hmac (unhex key) (unhex message)
      SHA256.hex (B.take (length code `div` 2) whole) @?= code
    wycheproofCase row = fail ("not a case: " ++ show row)
    rfc4231 =
      [ (B.replicate 20 0x0b, C.pack "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        (C.pack "Jefe", C.pack "what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
        (B.replicate 20 0xaa, B.replicate 50 0xdd, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
        (B.pack [1 .. 25], B.replicate 50 0xcd, "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
        (B.replicate 131 0xaa, C.pack "Test Using Larger Than Block-Size Key - Hash Key First", "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
        (B.replicate 131 0xaa, C.pack longer, "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2")
      ]
    longer =
      "This is a test using a larger than block-size key and a larger than block-size data. "
        ++ "The key needs to be hashed before being used by the HMAC algorithm."

properties :: TestTree
properties =
  testGroup
    "properties"
    [ testProperty "any split has the digest of the whole" $
        forAll chunks $ \cs -> pieces cs === SHA256.hash (B.concat cs),
      testProperty "lazy = strict" $
        forAll chunks $ \cs -> SHA256.hashLazy (L.fromChunks cs) === SHA256.hash (B.concat cs),
      testProperty "lazy HMAC = strict HMAC" $
        forAll bytes $ \key -> forAll chunks $ \cs -> SHA256.hmacLazy key (L.fromChunks cs) === SHA256.hmac key (B.concat cs),
      testProperty "HMAC is H(K ^ opad, H(K ^ ipad, text))" $
        forAll bytes $ \key -> forAll bytes $ \text ->
          let k = if B.length key > 64 then SHA256.hash key else key
              pad b = B.map (xor b) (k <> B.replicate (64 - B.length k) 0)
           in SHA256.hmac key text === SHA256.MAC (SHA256.hash (pad 0x5c <> SHA256.hash (pad 0x36 <> text)))
    ]

bytes :: Gen B.ByteString
bytes = do
  n <- choose (0, 200)
  B.pack <$> vectorOf n (toEnum <$> choose (0, 255))

chunks :: Gen [B.ByteString]
chunks = listOf bytes
