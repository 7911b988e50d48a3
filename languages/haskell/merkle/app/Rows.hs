-- | Rows of test vectors: columns with tabs between them, completed with what is computed here.
module Rows (completeRoot, completeProof, completeVerdict) where

import Args (wholeNumber)
import qualified Crypto.SHA256 as SHA256
import qualified Data.ByteString as B
import qualified Data.ByteString.Lazy as L
import Data.Char (digitToInt, isDigit)
import Data.List (intercalate)
import Data.Word (Word8)
import Merkle
import Merkle.Proof

-- | format input length root source
completeRoot :: String -> Either String String
completeRoot line = case columns '\t' line of
  [name, input, size, _, source] -> do
    s <- shapeOf name
    bytes <- inputOf input size
    Right (joined [name, input, size, SHA256.hex (rootOfLazy s bytes), source])
  other -> wrongCount 5 other

-- | format input length index root path source
completeProof :: String -> Either String String
completeProof line = case columns '\t' line of
  [name, input, size, number, _, _, source] -> do
    s <- shapeOf name
    bytes <- inputOf input size
    index <- wholeNumber 0 number
    path <- maybe (Left ("there is no leaf " ++ number)) Right (proof (L.foldlChunks feed (prover s (fromIntegral index)) bytes))
    let shown = if null path then "-" else intercalate "," (map SHA256.hex path)
    Right (joined [name, input, size, number, SHA256.hex (rootOfLazy s bytes), shown, source])
  other -> wrongCount 7 other

-- | format leaves index leaf root path verdict source
completeVerdict :: String -> Either String String
completeVerdict line = case columns '\t' line of
  [name, leaves, number, leaf, expected, path, _, source] -> do
    s <- shapeOf name
    count <- wholeNumber 0 leaves
    index <- wholeNumber 0 number
    bytes <- unhex leaf
    digest <- unhex expected
    digests <- if path == "-" then Right [] else mapM unhex (columns ',' path)
    let valid = verify s digest (fromIntegral index) (fromIntegral count) bytes digests
    Right (joined [name, leaves, number, leaf, expected, path, if valid then "valid" else "invalid", source])
  other -> wrongCount 8 other

joined :: [String] -> String
joined = intercalate "\t"

wrongCount :: Int -> [String] -> Either String a
wrongCount expected found = Left (show (length found) ++ " columns, expected " ++ show expected)

-- | A shape by its name, as in @rfc6962:sha256:4KiB@.
shapeOf :: String -> Either String Shape
shapeOf name = case columns ':' name of
  [f, "sha256", size] | Just f' <- lookup f [("plain", Plain), ("rfc6962", Rfc6962)] -> do
    bytes <- bytesOf size
    maybe (Left ("'" ++ size ++ "' is not a segment size")) Right (shape f' bytes)
  _ -> Left ("'" ++ name ++ "' is not a format of this program")

bytesOf :: String -> Either String Int
bytesOf text = case lookup unit [("", 1), ("KiB", 1024), ("MiB", 1048576), ("GiB", 1073741824), ("TiB", 1099511627776)] of
  Just factor -> do
    count <- wholeNumber 1 digits
    if count > maxSegment `div` factor then Left ("'" ++ text ++ "' is more than 1TiB") else Right (count * factor)
  Nothing -> Left ("'" ++ text ++ "' is not a size")
  where
    (digits, unit) = span isDigit text

-- | The first bytes of the pattern with this name.
inputOf :: String -> String -> Either String L.ByteString
inputOf name size = do
  n <- wholeNumber 0 size
  bytes <- case name of
    "mod251" -> Right (endless [fromIntegral (i `mod` 251) | i <- [0 .. 251 * 256 - 1 :: Int]])
    "pat" -> Right (endless [fromIntegral (i * 131 + i `div` 256 * 17) | i <- [0 .. 65535 :: Int]])
    _ -> Left ("unknown input '" ++ name ++ "'")
  Right (L.take (fromIntegral n) bytes)

endless :: [Word8] -> L.ByteString
endless = L.cycle . L.fromStrict . B.pack

-- | The bytes of lowercase hexadecimal; "-" is no bytes.
unhex :: String -> Either String B.ByteString
unhex "-" = Right B.empty
unhex text = if null text then bad else B.pack <$> bytes text
  where
    bytes (a : b : rest) | all (`elem` "0123456789abcdef") [a, b] = (fromIntegral (16 * digitToInt a + digitToInt b) :) <$> bytes rest
    bytes [] = Right []
    bytes _ = bad
    bad = Left ("'" ++ text ++ "' is not lowercase hex")

columns :: Char -> String -> [String]
columns separator text = case break (== separator) text of
  (column, _ : rest) -> column : columns separator rest
  (column, []) -> [column]
