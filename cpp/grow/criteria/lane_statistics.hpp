// The running statistics of a scan, all tasks at once. Each struct answers one question quickly: in which lanes might the
// cut reached now beat the best test so far? It may say yes too often (its limit is lowered by a slack that covers rounding),
// never no too often; whatever passes is judged by the exact formula. No division in the loop: with l, r the sides' weights
// and A, B their Σ of squares, Gini's quality A/l + B/r > limit  ⇔  A·r + B·l > limit·l·r.
#pragma once
#include "any_classes.hpp"
#include "binary_gini.hpp"
#include "many_gini.hpp"
#include "moments.hpp"
