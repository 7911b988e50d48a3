-- | What the functions allocate does not depend on the length of the message, a lazy message is never in memory as a whole, and a context
-- keeps no more of a piece than it needs.
module Main (main) where

import Control.Exception (evaluate)
import Control.Monad (replicateM_, unless)
import qualified Crypto.SHA256 as SHA256
import qualified Data.ByteString as B
import qualified Data.ByteString.Lazy as L
import Data.IORef (newIORef, readIORef)
import Data.Word (Word64)
import GHC.Stats (GCDetails (..), RTSStats (..), getRTSStats)
import System.Exit (exitFailure)
import System.Mem (performGC)

main :: IO ()
main = do
  -- First, while nothing else is alive.
  let mebibytes = 256
      message = L.fromChunks [B.replicate 32768 (fromIntegral i) | i <- [1 .. mebibytes * 32 :: Int]]
  _ <- evaluate (SHA256.hashLazy message)
  live <- max_live_bytes <$> getRTSStats
  putStrLn ("hashLazy of " ++ show mebibytes ++ " MiB: at most " ++ show live ++ " bytes alive")
  contexts <- mapM (evaluate . SHA256.update SHA256.init . B.take 10 . B.replicate 65536 . fromIntegral) [1 .. 4000 :: Int]
  performGC
  kept <- gcdetails_live_bytes . gc <$> getRTSStats
  ends <- evaluate (length (filter (/= SHA256.finalize SHA256.init) (map SHA256.finalize contexts)))
  putStrLn ("4000 contexts of ten bytes: " ++ show kept ++ " bytes alive")
  small <- mapM (evaluate . bytesOf) [64, 65]
  large <- mapM (evaluate . bytesOf) [1048576, 1048577]
  key <- evaluate (B.replicate 32 1)
  costs <- mapM (allocation SHA256.hash) (small ++ large)
  macCosts <- mapM (allocation ((\(SHA256.MAC code) -> code) . SHA256.hmac key)) (small ++ large)
  putStrLn ("hash of 64, 65, 1048576 and 1048577 bytes: " ++ show costs ++ " bytes allocated")
  putStrLn ("hmac of the same: " ++ show macCosts ++ " bytes allocated")
  unless (live < 200000 && kept < 8000000 && ends == 4000 && constant 4096 costs && constant 8192 macCosts) $ putStrLn "too much" >> exitFailure
  where
    bytesOf n = B.replicate n 7
    -- In a code are five digests.
    constant most counts = maximum counts - minimum counts < 256 && minimum counts > 32 && maximum counts < most

-- | The mean number of bytes that a call allocates.
allocation :: (B.ByteString -> B.ByteString) -> B.ByteString -> IO Word64
allocation f message = do
  reference <- newIORef message
  before <- allocated
  replicateM_ 100 (readIORef reference >>= evaluate . f)
  after <- allocated
  pure ((after - before) `div` 100)
  where
    allocated = performGC >> allocated_bytes <$> getRTSStats
{-# NOINLINE allocation #-}
