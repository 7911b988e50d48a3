module example.org/mksum/merkle

go 1.19
