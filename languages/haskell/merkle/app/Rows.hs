-- | Vector rows: format, input, length, root, source, with tabs between them.
module Rows (completeRow, wholeNumber) where

import qualified Crypto.SHA256 as SHA256
import qualified Data.ByteString as B
import qualified Data.ByteString.Lazy as L
import Data.Char (isDigit)
import Data.List (intercalate)
import Data.Word (Word8)
import Merkle
import Text.Read (readMaybe)

-- | The row with the root that is computed here. A comment stays as it is; anything else that is not a row, or one of another
-- format, is an error.
completeRow :: String -> Either String String
completeRow line@('#' : _) = Right line
completeRow line = case columns '\t' line of
  [name, input, size, _, source] -> do
    s <- shapeOf name
    bytes <- inputOf input
    n <- maybe (Left ("not a length: " ++ size)) Right (wholeNumber size)
    let digest = rootOfLazy s (L.take (fromIntegral n) bytes)
    Right (intercalate "\t" [name, input, size, SHA256.hex digest, source])
  _ -> Left ("not five columns: " ++ line)

-- | A shape by its name, as in @rfc6962:sha256:4KiB@.
shapeOf :: String -> Either String Shape
shapeOf name = maybe (Left ("not a format of this program: " ++ name)) Right $ case columns ':' name of
  ["plain", "sha256", size] -> bytesOf size >>= shape Plain
  ["rfc6962", "sha256", size] -> bytesOf size >>= shape Rfc6962
  _ -> Nothing

bytesOf :: String -> Maybe Int
bytesOf text = case span isDigit text of
  (digits, "") -> wholeNumber digits
  (digits, "KiB") -> (* 1024) <$> wholeNumber digits
  (digits, "MiB") -> (* 1048576) <$> wholeNumber digits
  (digits, "GiB") -> (* 1073741824) <$> wholeNumber digits
  _ -> Nothing

-- | The endless bytes with this name.
inputOf :: String -> Either String L.ByteString
inputOf "mod251" = Right (endless [fromIntegral (i `mod` 251) | i <- [0 .. 251 * 256 - 1 :: Int]])
inputOf "pat" = Right (endless [fromIntegral (i * 131 + i `div` 256 * 17) | i <- [0 .. 65535 :: Int]])
inputOf name = Left ("unknown input: " ++ name)

endless :: [Word8] -> L.ByteString
endless = L.cycle . L.fromStrict . B.pack

-- | Decimal digits only, and a number that fits.
wholeNumber :: String -> Maybe Int
wholeNumber text
  | null text || not (all isDigit text) = Nothing
  | otherwise = do
    n <- readMaybe text :: Maybe Integer
    if n <= toInteger (maxBound :: Int) then Just (fromInteger n) else Nothing

columns :: Char -> String -> [String]
columns separator text = case break (== separator) text of
  (column, _ : rest) -> column : columns separator rest
  (column, []) -> [column]
