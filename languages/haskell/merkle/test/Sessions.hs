-- | Runs the GHCi sessions in the documentation of the modules and those in README.md.
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
  writeFile file (unlines (["-- |"] ++ map ("-- " ++) session ++ ["module Readme where", "import Merkle.Proof ()"]))
  if null session then fail "README.md has no session" else doctest ["-isrc", "-i../sha256/src", "-i../sha256/native", file]
  doctest ["-isrc", "-i../sha256/src", "-i../sha256/native", "src/Merkle.hs", "src/Merkle/Proof.hs"]

-- | The lines in fences that are marked @ghci@.
blocks :: [String] -> [String]
blocks ls = case dropWhile (/= "```ghci") ls of
  [] -> []
  _ : rest -> let (session, after) = break (== "```") rest in session ++ [""] ++ blocks after
