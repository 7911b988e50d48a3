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
import qualified Data.List as List
import Foreign.Ptr (castPtr)
import Test.Tasty (TestTree, defaultMain, testGroup)
import Test.Tasty.HUnit (assertBool, assertEqual, testCase, (@?=))
import Test.Tasty.QuickCheck (Gen, choose, forAll, listOf, testProperty, vectorOf, (===))
import Vectors

main :: IO ()
main = do
  short <- records <$> readFile "test/data/SHA256ShortMsg.rsp"
  long <- records <$> readFile "test/data/SHA256LongMsg.rsp"
  monte <- records <$> readFile "test/data/SHA256Monte.rsp"
  rfc4231 <- records <$> readFile "test/data/rfc4231.txt"
  wycheproof <- rows <$> readFile "test/data/wycheproof_hmac_sha256.tsv"
  defaultMain $
    testGroup
      "sha256"
      [ testGroup "NIST CAVP" [messages "short" 65 short, messages "long" 64 long, monteCarlo monte],
        borders,
        macs rfc4231 wycheproof,
        properties
      ]

messages :: String -> Int -> [Record] -> TestTree
messages name count vectors = testCase (name ++ ", " ++ show count ++ " messages") $ do
  length vectors @?= count
  mapM_ check vectors
  where
    check v = do
      let bits = read (field "Len" v)
          message = B.take (bits `div` 8) (unhex (field "Msg" v))
      assertEqual (show bits ++ " bits") (field "MD" v) (SHA256.hex (SHA256.hash message))
      assertEqual (show bits ++ " bits, lazy") (field "MD" v) (SHA256.hex (SHA256.hashLazy (L.fromStrict message)))

-- | SHAVS, section 6.4: each value is the last of 1,000 digests, each of the three before it.
monteCarlo :: [Record] -> TestTree
monteCarlo vectors = testCase "Monte Carlo, 100 values of 1,000 digests" $ case vectors of
  seed : values -> do
    length values @?= 100
    go (unhex (field "Seed" seed)) values
  [] -> fail "no seed"
  where
    go _ [] = pure ()
    go seed (v : rest) = do
      let value = chain (1000 :: Int) seed seed seed
      assertEqual ("COUNT " ++ field "COUNT" v) (field "MD" v) (SHA256.hex value)
      go value rest
    chain 0 _ _ z = z
    chain n x y z = chain (n - 1) y z (SHA256.hash (B.concat [x, y, z]))

-- | Where the padding goes from one block to two, and where a block begins. The expected value is one digest over
-- the digests of all lengths, as Python's hashlib computes it:
--
-- > h = hashlib.sha256()
-- > for n in range(0, 321): h.update(hashlib.sha256(bytes(i % 251 for i in range(n))).digest())
borders :: TestTree
borders =
  testGroup
    "lengths"
    [ testCase "0 to 320" $
        SHA256.hex (SHA256.hash (B.concat [SHA256.hash (ramp n) | n <- [0 .. 320]]))
          @?= "372cafb34ed1c019aa4a6b34126992760b927c973f51349d3c903a4b10d81193",
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

macs :: [Record] -> [[String]] -> TestTree
macs rfc4231 wycheproof =
  testGroup
    "HMAC"
    [ testCase "RFC 4231, cases 1 to 4, 6 and 7" $ do
        length rfc4231 @?= 6
        sequence_
          [ both (unhex (field "Key" v)) (unhex (field "Msg" v)) (SHA256.MAC (unhex (field "MD" v)))
            | v <- rfc4231
          ],
      testCase "RFC 4231, case 5: 128 bits" $ do
        let SHA256.MAC code = SHA256.hmac (B.replicate 20 0x0c) (C.pack "Test With Truncation")
        SHA256.hex (B.take 16 code) @?= "a3b6167473100ee06e0c796c2955552b",
      testCase "Wycheproof, 174 cases" $ do
        length wycheproof @?= 174
        mapM_ wycheproofCase wycheproof,
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
    both key message code = do
      SHA256.hmac key message @?= code
      SHA256.hmacLazy key (L.fromChunks [B.take 3 message, B.drop 3 message]) @?= code
    wycheproofCase [name, bits, result, key, message, tag, comment] = do
      let SHA256.MAC full = SHA256.hmac (unhex key) (unhex message)
          valid = SHA256.MAC (B.take (read bits `div` 8) full) == SHA256.MAC (unhex tag)
      expected <- case result of
        "valid" -> pure True
        "invalid" -> pure False
        other -> fail ("unknown result " ++ other)
      assertEqual (name ++ ": " ++ comment) expected valid
    wycheproofCase row = fail ("not a row of seven columns: " ++ show row)

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
