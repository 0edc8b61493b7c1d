// Walks through trees that share nodes. The number of a node in its tree follows from the sizes of
// the subtrees that precede it.
#include "shared.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace crosscut {

void SharedTrees::check() const {
  const auto need = [](bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(std::string("forest: ") + what);
  };
  const std::int64_t* first = nodes.first_child;
  need(
      first[0] == 0 && first[n_nodes] == nodes.n_children && std::is_sorted(first, first + n_nodes),
      "first_child must run from 0 to the number of children");
  for (std::int64_t i = 0; i < n_nodes; i++) {
    const std::int64_t n = first[i + 1] - first[i];
    std::int64_t sum = 1;
    need(n >= 0, "first_child must not decrease");
    for (const std::int32_t* c = nodes.children + first[i]; c < nodes.children + first[i + 1];
         c++) {
      need(*c >= 0 && *c < n_nodes && depth[*c] > depth[i] && size[*c] > 0,
           "children must be deeper nodes");
      sum += size[*c];
    }
    need(size[i] == sum, "size must count the nodes of each subtree");
    if (!n) continue;
    need(tests.feature[i] >= 0, "a node with children must have a feature");
    need(tests.missing[i] >= 0 && tests.missing[i] < n, "missing must name a branch of its node");
    const bool nominal = tests.threshold[i] != tests.threshold[i];
    need(nominal || n == 2, "a numeric test needs two branches");
    const std::int64_t begin = tests.first_branch[i], end = tests.first_branch[i + 1];
    need(begin >= 0 && end >= begin && end <= tests.branch_start[1],
         "first_branch is out of range");
    if (nominal) check_entries(tests.branches + 2 * begin, end - begin, n);
  }
}

std::int32_t SharedTrees::largest_feature() const {
  return *std::max_element(tests.feature, tests.feature + n_nodes);
}

template <class T>
void SharedTrees::apply(const std::int32_t* root, std::int64_t n_trees, const Strided<T>& x,
                        const Request& request, std::int32_t* leaf) const {
  const std::int64_t* first = nodes.first_child;
  for (std::int64_t t = 0; t < n_trees; t++)
    for (std::int64_t r = request.row_start[t]; r < request.row_start[t + 1]; r++) {
      const T* row = x.data + request.rows[r] * x.row_stride;
      std::int32_t at = root[t], number = 0;
      while (first[at] < first[at + 1]) {
        const std::int32_t* child = nodes.children + first[at];
        const std::int64_t branch = branch_of(tests, at, row, x.column_stride);
        number++;
        for (std::int64_t j = 0; j < branch; j++) number += size[child[j]];
        at = child[branch];
      }
      leaf[r] = number;
    }
}

std::int32_t SharedTrees::node_of(std::int32_t root, std::int64_t number) const {
  std::int32_t at = root;
  while (number > 0) {
    const std::int32_t* child = nodes.children + nodes.first_child[at];
    for (number--; number >= size[*child]; child++) number -= size[*child];
    at = *child;
  }
  return at;
}

void SharedTrees::unfold(const std::int32_t* root, std::int64_t n_trees, std::int32_t* node,
                         std::int32_t* children) const {
  std::vector<std::pair<std::int32_t, std::int32_t*>> todo;  // node, place of its number
  for (std::int64_t t = 0; t < n_trees; t++) {
    std::int32_t number = 0, unused;
    todo.emplace_back(root[t], &unused);
    for (; !todo.empty(); number++) {
      const auto [at, place] = todo.back();
      todo.pop_back();
      *place = number;
      *node++ = at;
      const std::int64_t first = nodes.first_child[at], n = nodes.first_child[at + 1] - first;
      for (std::int64_t j = n; j-- > 0;) todo.emplace_back(nodes.children[first + j], children + j);
      children += n;
    }
  }
}

template void SharedTrees::apply(const std::int32_t*, std::int64_t, const Strided<float>&,
                                 const Request&, std::int32_t*) const;
template void SharedTrees::apply(const std::int32_t*, std::int64_t, const Strided<double>&,
                                 const Request&, std::int32_t*) const;
template void SharedTrees::apply(const std::int32_t*, std::int64_t, const Strided<std::int64_t>&,
                                 const Request&, std::int32_t*) const;
template void SharedTrees::apply(const std::int32_t*, std::int64_t, const Strided<std::uint8_t>&,
                                 const Request&, std::int32_t*) const;

}  // namespace crosscut
