-- | Readers of the vector files in @test/data@.
module Vectors (Record, records, field, unhex, rows) where

import qualified Data.ByteString as B
import Data.Char (digitToInt, isHexDigit, isSpace)
import Data.Maybe (fromMaybe)

-- | The @name = value@ lines of one case.
type Record = [(String, String)]

-- | The cases of a CAVP file: groups of @name = value@ lines between empty lines. Comments and headings in brackets are left out.
records :: String -> [Record]
records = filter (not . null) . map (concatMap pair) . paragraphs . map (filter (/= '\r')) . lines
  where
    paragraphs ls = case break null (dropWhile null ls) of
      ([], _) -> []
      (p, rest) -> p : paragraphs rest
    pair line = case break (== '=') line of
      (name@(c : _), '=' : value) | c `notElem` "#[" -> [(trim name, trim value)]
      _ -> []
    trim = reverse . dropWhile isSpace . reverse . dropWhile isSpace

-- | A field that must be there.
field :: String -> Record -> String
field name record = fromMaybe (error ("no " ++ name ++ " in " ++ show record)) (lookup name record)

-- | The bytes that are written in hexadecimal. Anything else is an error, so that no vector is passed over.
unhex :: String -> B.ByteString
unhex = B.pack . bytes
  where
    bytes (a : b : rest) | isHexDigit a, isHexDigit b = fromIntegral (16 * digitToInt a + digitToInt b) : bytes rest
    bytes [] = []
    bytes other = error ("not hexadecimal: " ++ take 20 other)

-- | The rows of a table with tabs between the columns, without comment lines.
rows :: String -> [[String]]
rows = map columns . filter (\line -> take 1 line /= "#") . lines
  where
    columns line = case break (== '\t') line of
      (column, _ : rest) -> column : columns rest
      (column, []) -> [column]
