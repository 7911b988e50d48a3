-- | Runs the GHCi sessions in the documentation of "Crypto.SHA256" and those in README.md.
module Main (main) where

import System.Directory (createDirectoryIfMissing)
import Test.DocTest (doctest)

main :: IO ()
main = do
  readme <- readFile "README.md"
  let session = blocks (lines readme)
      folder = "dist-newstyle/sessions"
      file = folder ++ "/Readme.hs"
  createDirectoryIfMissing True folder
  writeFile file (unlines (["-- |"] ++ map ("-- " ++) session ++ ["module Readme where", "import Crypto.SHA256 ()"]))
  if null session then fail "README.md has no session" else doctest ["-isrc", file]
  doctest ["-isrc", "src/Crypto/SHA256.hs"]

-- | The lines in fences that are marked @ghci@.
blocks :: [String] -> [String]
blocks ls = case dropWhile (/= "```ghci") ls of
  [] -> []
  _ : rest -> let (session, after) = break (== "```") rest in session ++ [""] ++ blocks after
