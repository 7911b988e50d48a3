-- | This package beside the pure SHA and the C of cryptohash-sha256, in one run.
--
-- > cabal bench --benchmark-options="--match prefix hash/32"
module Main (main) where

import Criterion.Main (Benchmark, bench, bgroup, defaultMain, env, nf)
import qualified Crypto.Hash.SHA256 as Cryptohash
import qualified Crypto.SHA256 as SHA256
import qualified Data.ByteString as B
import qualified Data.ByteString.Lazy as L
import qualified Data.Digest.Pure.SHA as SHA

main :: IO ()
main = defaultMain [bgroup "hash" (map hashes sizes), bgroup "lazy" [lazies 1048576], bgroup "hmac" (map macs [32, 1024])]
  where
    sizes = [32, 64, 256, 1024, 16384, 1048576]

message :: Int -> B.ByteString
message n = B.replicate n 0x5a

hashes :: Int -> Benchmark
hashes n = env (pure (message n)) $ \m ->
  bgroup
    (show n)
    [ bench "sha256" (nf SHA256.hash m),
      bench "cryptohash" (nf Cryptohash.hash m),
      bench "SHA" (nf (L.toStrict . SHA.bytestringDigest . SHA.sha256 . L.fromStrict) m)
    ]

lazies :: Int -> Benchmark
lazies n = env (pure (L.fromChunks (replicate (n `div` 32768) (message 32768)))) $ \m ->
  bgroup
    (show n)
    [ bench "sha256" (nf SHA256.hashLazy m),
      bench "cryptohash" (nf Cryptohash.hashlazy m),
      bench "SHA" (nf (L.toStrict . SHA.bytestringDigest . SHA.sha256) m)
    ]

macs :: Int -> Benchmark
macs n = env (pure (message n)) $ \m ->
  bgroup
    (show n)
    [ bench "sha256" (nf ((\(SHA256.MAC code) -> code) . SHA256.hmac key) m),
      bench "cryptohash" (nf (Cryptohash.hmac key) m),
      bench "SHA" (nf (L.toStrict . SHA.bytestringDigest . SHA.hmacSha256 (L.fromStrict key) . L.fromStrict) m)
    ]
  where
    key = message 32
