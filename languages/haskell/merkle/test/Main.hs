-- | The tree against its definition, its examples, and proofs.
module Main (main) where

import qualified Crypto.SHA256 as SHA256
import Data.Bits (complementBit, shiftL)
import qualified Data.ByteString as B
import qualified Data.ByteString.Char8 as C
import qualified Data.ByteString.Lazy as L
import Data.Maybe (fromJust, isNothing)
import Merkle
import Merkle.Proof
import Test.Tasty (TestTree, defaultMain, testGroup)
import Test.Tasty.HUnit (assertBool, assertEqual, testCase, (@?=))
import Test.Tasty.QuickCheck

main :: IO ()
main = defaultMain $ testGroup "merkle" [examples, roots, proofs]

-- | The definition (RFC 6962, section 2.1): the tree over several leaves splits at the largest power of two below
-- their number.
definition :: Shape -> B.ByteString -> Digest
definition s bytes = case leaves s bytes of
  [] -> SHA256.hash B.empty
  ls -> subtree ls
  where
    subtree [leaf] = hashLeaf (format s) leaf
    subtree ls =
      let k = last (takeWhile (< length ls) (iterate (* 2) 1))
          (left, right) = splitAt k ls
       in hashNode (format s) (subtree left) (subtree right)

leaves :: Shape -> B.ByteString -> [B.ByteString]
leaves s bytes
  | B.null bytes = []
  | otherwise = let (leaf, rest) = B.splitAt (segment s) bytes in leaf : leaves s rest

shaped :: Format -> Int -> Shape
shaped f = fromJust . shape f

examples :: TestTree
examples =
  testGroup
    "examples"
    [ testCase "spec/plain.md: abcdefghijklmnopqr in fours" $
        hexRoot Plain 4 (C.pack "abcdefghijklmnopqr") @?= "e30f1444ac52d1ee4c9101fc5e6f8af497f0075606d2513a3af0f44cf9c11318",
      testCase "spec/rfc6962.md: the same" $
        hexRoot Rfc6962 4 (C.pack "abcdefghijklmnopqr") @?= "1b74633241a74d51e2843cff6143f6d31c9dcf0c41f35f0a7448696d165a5f90",
      testCase "2^22 + 32 zeros" $
        hexRoot Plain 64 (B.replicate 4194336 0) @?= "e9683665a90bd70aabd7705cba57c2be2a4e913a0ca1a14d765497112c178120",
      testCase "no bytes" $
        [hexRoot f n B.empty | f <- [Plain, Rfc6962], n <- [1, 64, 8388608]]
          @?= replicate 6 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
      testCase "a segment has 1 to 2^40 bytes" $
        map (isNothing . shape Plain) [-1, 0, 1, maxSegment, maxSegment + 1] @?= [True, True, False, False, True],
      testCase "a node shown as a leaf: plain has the same root, rfc6962 has not" $ do
        let bytes = B.replicate 128 1
            nodes f = B.concat (map (hashLeaf f) (leaves (shaped f 64) bytes))
            forged f = rootOf (shaped f 64) (nodes f) == rootOf (shaped f 64) bytes
        (forged Plain, forged Rfc6962) @?= (True, False)
    ]
  where
    hexRoot f n = SHA256.hex . rootOf (shaped f n)

roots :: TestTree
roots =
  testGroup
    "roots"
    [ testProperty "are those of the definition, for any pieces, strict and lazy" $
        forAll shapes $ \s -> forAll pieces $ \ps ->
          let expected = definition s (B.concat ps)
           in rootOfAll s ps === expected
                .&&. rootOf s (B.concat ps) === expected
                .&&. rootOfLazy s (L.fromChunks ps) === expected,
      testCase "of every length up to 70 leaves" $
        sequence_
          [ assertEqual (show (f, size, n)) (definition (shaped f size) (bytesOf n)) (rootOf (shaped f size) (bytesOf n))
            | f <- [Plain, Rfc6962],
              (size, most) <- [(1, 70), (3, 210), (63, 400), (64, 400), (65, 400)],
              n <- [0 .. most]
          ],
      testProperty "can be asked at any moment, and change nothing" $
        forAll shapes $ \s -> forAll pieces $ \ps ->
          let prefixes = scanl (<>) B.empty ps
              trees = scanl update (empty s) ps
           in map root trees === map (definition s) prefixes
                .&&. map leafCount trees === map (fromIntegral . length . leaves s) prefixes
                .&&. map streamLength trees === map (fromIntegral . B.length) prefixes
                .&&. root (reset (last trees)) === rootOf s B.empty
    ]

proofs :: TestTree
proofs =
  testGroup
    "proofs"
    [ testProperty "of any leaf are right, and of other bytes, places, paths and roots wrong" $
        forAll shapes $ \s -> forAll pieces $ \ps ->
          let ls = leaves s (B.concat ps)
              r = rootOfAll s ps
              n = fromIntegral (length ls)
           in n > 0 ==> forAll (choose (0, n - 1)) $ \i ->
                let leaf = ls !! fromIntegral i
                    path = fromJust (proof (foldl feed (prover s i) ps))
                    flipped = B.cons (B.head leaf `complementBit` 3) (B.tail leaf)
                 in verify s r i n leaf path
                      && not (verify s r i n flipped path)
                      && not (verify s r i n (leaf <> B.singleton 0) path)
                      && not (verify s r n n leaf path)
                      && not (verify s (SHA256.hash r) i n leaf path)
                      && not (verify s r i n leaf (path ++ [r]))
                      && (null path || not (verify s r i n leaf (init path)))
                      && and [j == i || ls !! fromIntegral j == leaf || not (verify s r j n leaf path) | j <- [0 .. n - 1]],
      testProperty "grow with the tree" $
        forAll shapes $ \s -> forAll (choose (0, 20)) $ \i -> forAll pieces $ \ps ->
          let check prefix p = case drop (fromIntegral i) (leaves s prefix) of
                [] -> isNothing (proof p)
                leaf : _ -> fmap (verify s (rootOf s prefix) i (fromIntegral (length (leaves s prefix))) leaf) (proof p) == Just True
           in and (zipWith check (scanl (<>) B.empty ps) (scanl feed (prover s i) ps)),
      testCase "have at most one digest a level" $ do
        let n = 1000 :: Int
            path i = length <$> proof (feed (prover (shaped Plain 1) (fromIntegral i)) (bytesOf n))
        assertBool "10 levels" (all (maybe False (<= 10)) [path i | i <- [0, 7 .. n - 1]]),
      testCase "indices near 2^63" $
        assertBool "no such leaf" (isNothing (proof (feed (prover (shaped Plain 1) (1 `shiftL` 63)) (bytesOf 10))))
    ]

bytesOf :: Int -> B.ByteString
bytesOf n = fst (B.unfoldrN n (\i -> Just (fromIntegral (i `mod` 251), i + 1)) (0 :: Int))

shapes :: Gen Shape
shapes = shaped <$> elements [Plain, Rfc6962] <*> frequency [(3, choose (1, 9)), (2, choose (60, 68)), (1, choose (1, 300))]

pieces :: Gen [B.ByteString]
pieces = listOf $ do
  n <- oneof [choose (0, 9), choose (0, 150)]
  B.pack <$> vectorOf n (toEnum <$> choose (0, 255))
