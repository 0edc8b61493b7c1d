# One rpart process: reads the table, then runs rpart once for every line it is sent (see child.py for the protocol).
# Arguments: file of float32 columns, file of the target as float64, rows, columns, classes (0: regression),
# most levels (0: rpart's limit of 30), least rows in a leaf.
options(warn = -1)
given <- commandArgs(trailingOnly = TRUE)
n <- as.integer(given[3]); f <- as.integer(given[4]); classes <- as.integer(given[5])
suppressMessages(library(rpart))
x <- as.data.frame(matrix(readBin(given[1], "numeric", n * f, size = 4), n, f))
y <- readBin(given[2], "numeric", n, size = 8)
x$y <- if (classes > 0) factor(y) else y
depth <- as.integer(given[6]); leaf <- as.integer(given[7])
control <- rpart.control(cp = 0, xval = 10, minsplit = max(2, 2 * leaf), minbucket = leaf,
                         maxdepth = if (depth > 0) depth else 30, maxsurrogate = 0, maxcompete = 0, usesurrogate = 0)
input <- file("stdin"); open(input)
cat("ready\n"); flush(stdout())
while (length(readLines(input, 1)) > 0) {
  set.seed(0)
  gc(FALSE)
  time <- system.time(rpart(y ~ ., x, method = if (classes > 0) "class" else "anova", control = control), gcFirst = FALSE)
  cat(sprintf('{"wall": %f, "cpu": %f}\n', time[["elapsed"]], time[["user.self"]] + time[["sys.self"]])); flush(stdout())
}
