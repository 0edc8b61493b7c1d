# Predictions of rpart, pruned to the lowest cross-validated error ("min") or by the 1-SE rule ("1-SE").
# Arguments: CSV file with the columns train, y and the predictors; "class" or "anova"; file for the predictions of both.
suppressMessages(library(rpart))
given <- commandArgs(trailingOnly = TRUE)
data <- read.csv(given[1], stringsAsFactors = TRUE, na.strings = "")
train <- data$train == 1; data$train <- NULL
classes <- given[2] == "class"
if (classes) data$y <- factor(data$y)
set.seed(0)
tree <- rpart(y ~ ., data[train, ], method = given[2], control = rpart.control(cp = 0, xval = 10))
table <- tree$cptable
best <- which.min(table[, "xerror"])
within <- which(table[, "xerror"] <= table[best, "xerror"] + table[best, "xstd"])[1]
for (row in c(best, within)) {
  values <- predict(prune(tree, cp = table[row, "CP"]), data[!train, ], type = if (classes) "prob" else "vector")
  write.table(values, given[3], append = row != best || file.exists(given[3]), sep = ",", row.names = FALSE, col.names = FALSE)
}
