// Many tasks that hold out few rows each, such as leave-one-out: the paper's Figure 2 for any
// number of tasks. A group (group.hpp) is refined once. Only its members, the tasks with held-out
// rows in the node, are looked at, and each evaluates only the cuts that may beat the others
// without its rows (group_cut.hpp). Members that chose the same test go on together; a test of few
// members, and a node with few rows or members, is refined as bundles (large/refine.hpp). The trees
// are the same.
#pragma once
#include "grow/large/refine.hpp"
#include "choose_tests.hpp"
#include "entropy_bound.hpp"
#include "held_out.hpp"
#include "squares_bound.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// Measured: nodes with fewer rows, and fewer members, are refined faster as bundles.
constexpr u32 kGroupRows = 24, kGroupMembers = 6;

template <class Bound> class Groups {
  Block& block;
  Worker& w;
  const Problem& p;
  const Codes& table;
  const TaskLimits& limits;
  const std::size_t F, K;
  Bundle one;  // a bundle of one lane; the caller sets the node
  u8* held_out;
  std::int32_t* side;  // [row of the table] the branch of a test
  u32 least_rows = kGroupRows;
  CutBuffers<Bound> buffers;
  std::vector<std::pair<Node*, const Node*>> copies;

 public:
  // task: any of the tasks; all have the same limits
  Groups(Block& b, const Codes& codes, int task)
      : block(b),
        w(b.w()),
        p(w.run.p),
        table(codes),
        limits(p.limits[task]),
        F(static_cast<std::size_t>(p.n_features)),
        K(static_cast<std::size_t>(w.run.K())),
        held_out(w.scratch.take<u8>(p.n_rows)),
        side(w.scratch.take<std::int32_t>(p.n_rows)),
        buffers(F) {
    std::fill_n(held_out, p.n_rows, u8{0});
    one.n = 1;
    one.lanes = 1;
    one.task[0] = static_cast<u8>(task % kBlockTasks);
    one.min_leaf[0] = limits.min_leaf;
    for (const Column* c = p.columns; c < p.columns + F; c++)
      if (c->nominal) least_rows = std::max(least_rows, c->n_values);
  }

  void start(HeldOut& tasks, Node** roots) {
    const auto n_tasks = tasks.tasks.size();
    for (int i = 0; i < block.n_workers; i++)
      block.workers[i]->root_total[one.task[0]] = tasks.root_total;
    Group group{static_cast<u32>(tasks.rows.size()),
                tasks.rows.data(),
                nullptr,
                new_shared(0),
                false,
                w.scratch.take<Member>(n_tasks),
                0};
    sum_rows(group);
    for (std::size_t i = 0; i < n_tasks; i++) {
      u32* out = tasks.out.data() + tasks.first[i];
      const Member member{roots[tasks.tasks[i]] = w.new_nodes(1, 0), out,
                          static_cast<u32>(tasks.first[i + 1] - tasks.first[i])};
      set_statistics(group, member);
      if (member.n_out) group.members[group.n_members++] = member;
      else copy_later(group, member.node);
    }
    close_leaves(group);
    if (group.n_members || group.wanted) {
      sort_lists(group);
      refine(group);
    }
  }
  // Copies the nodes of tasks that agree with the others, when all nodes are finished.
  void finish() const {
    for (const auto& [to, from] : copies) *to = *from;
  }

 private:
  Node* new_shared(int depth) {
    Node* node = w.new_nodes(1, depth);
    node->stats = w.keep<double>(K);
    return node;
  }
  void copy_later(Group& group, Node* to) {
    group.wanted = true;
    copies.emplace_back(to, group.shared);
    block.done(static_cast<double>(group.n));
    w.level(group.shared->depth).known_nodes++;
  }
  void sum_rows(const Group& group) {
    std::fill_n(group.shared->stats, K, 0.0);
    group.shared->n_rows = group.n;
    for (u32 i = 0; i < group.n; i++) add_row(p, group.rows[i], 1, group.shared->stats);
  }
  void set_statistics(const Group& group, const Member& member) {
    Node& node = *member.node;
    node.n_rows = group.n - member.n_out;
    node.stats = w.keep<double>(K);
    std::copy_n(group.shared->stats, K, node.stats);
    for (u32 i = 0; i < member.n_out; i++) add_row(p, member.out[i], -1, node.stats);
  }
  void sort_lists(Group& group) {
    group.lists = w.scratch.take<u32*>(F);
    for (std::size_t f = 0; f < F; f++)
      group.lists[f] = p.columns[f].nominal ? nullptr : w.scratch.take<u32>(group.n);
    w.share(p.n_features, [&](Worker& worker, Parts& parts) {
      SortKey *a = worker.scratch.take<SortKey>(group.n),
              *b = worker.scratch.take<SortKey>(group.n);
      for (int f; (f = parts.take()) >= 0;) {
        const Column& column = p.columns[f];
        for (u32 i = 0; i < group.n; i++)
          a[i].v = static_cast<u64>(column.rank(group.rows[i])) << 32 | group.rows[i];
        const SortKey* sorted = sort_keys<32>(a, b, group.n, column.n_values);
        for (u32 i = 0; i < group.n && group.lists[f]; i++)
          group.lists[f][i] = static_cast<u32>(sorted[i].v);
      }
    });
  }

  // Nodes that need no test.

  // Does a member's node, or the group's own (no member), stay a leaf? All targets of a regression
  // may be the same.
  bool stays_leaf(const Group& group, const Node& node, const Member* member) {
    if (!wants_test(w.run, node, limits)) return true;
    if (p.n_classes) return false;
    const u32 n_out = member ? member->n_out : 0;
    for (u32 i = 0; i < n_out; i++) held_out[member->out[i]] = 1;
    u32 i = 0;
    while (held_out[group.rows[i]]) i++;
    const double first = p.target[group.rows[i]];
    while (i < group.n && (p.target[group.rows[i]] == first || held_out[group.rows[i]])) i++;
    for (u32 j = 0; j < n_out; j++) held_out[member->out[j]] = 0;
    return i == group.n;
  }
  void close(const Group& group, Node& leaf, const Member* member, const i64*& sums) {
    if (member) block.done(static_cast<double>(leaf.n_rows));
    if (w.run.counted) return;
    if (!sums) {
      i64* all = empty_sums(w);
      for (u32 i = 0; i < group.n; i++) add_exactly(w, one, 0, group.rows[i], all);
      sums = all;
    }
    const int T = p.n_sums();
    i64* removed = empty_sums(w);
    for (u32 i = 0; member && i < member->n_out; i++)
      add_exactly(w, one, 0, member->out[i], removed);
    start_sums(w, leaf);
    for (int d = 0; d < T; d++) leaf.exact[d] = sums[d] - removed[d];
  }
  // Closes leaves; the other members and, if it needs a test, the group's own node remain.
  void close_leaves(Group& group) {
    const auto mark = w.scratch.mark();
    const i64* sums = nullptr;
    if (group.wanted && stays_leaf(group, *group.shared, nullptr)) {
      close(group, *group.shared, nullptr, sums);
      group.wanted = false;
    }
    u32 kept = 0;
    for (u32 i = 0; i < group.n_members; i++) {
      Member& member = group.members[i];
      if (stays_leaf(group, *member.node, &member)) close(group, *member.node, &member, sums);
      else group.members[kept++] = member;
    }
    group.n_members = kept;
    w.scratch.release(mark);
  }

  // Refines members as bundles: this is today's path for up to 15 tasks.
  void refine_as_bundles(const Group& group, const Member* members, u32 n_members, bool shared) {
    for (u32 first = 0; first < n_members || shared; first += kBlockTasks) {
      Bundle bundle;
      bundle.depth = group.shared->depth;
      const Member* lane[kLanes];
      const auto add = [&](Node* node, const Member* member) {
        lane[bundle.n] = member;
        bundle.take_lane(bundle.n, one, 0);
        bundle.node[bundle.n++] = node;
      };
      u32 i = first;
      if (shared) add(group.shared, nullptr);
      for (; i < n_members && bundle.n < kBlockTasks; i++) add(members[i].node, members + i);
      if (shared) first--;  // one member fewer
      shared = false;
      WaitingBundle::Pointer later = WaitingBundle::make(w.run, bundle, HeldCodes(table), group.n);
      std::copy_n(group.rows, group.n, later->rows);
      std::fill_n(later->masks, group.n, static_cast<u16>(bundle.lanes));
      for (int k = 0; k < bundle.n; k++)
        for (u32 j = 0; lane[k] && j < lane[k]->n_out; j++)
          later->masks[std::lower_bound(group.rows, group.rows + group.n, lane[k]->out[j]) -
                       group.rows] &= static_cast<u16>(~(1u << k));
      u32 n = 0;
      for (u32 r = 0; r < group.n; r++) {
        later->rows[n] = later->rows[r];
        later->masks[n] = later->masks[r];
        n += later->masks[n] != 0;
      }
      later->n_rows = n;
      if (block.waiting.n_idle() && group.n > 256) block.waiting.add(block.me, std::move(later));
      else block.refine(*later);
    }
  }

  bool is_small(const Group& group) const {
    return group.n <= least_rows || group.n_members < kGroupMembers;
  }
  void refine(Group group) {
    const auto outer = w.scratch.mark();
    while (group.n_members || group.wanted) {
      if (is_small(group)) {
        refine_as_bundles(group, group.members, group.n_members, group.wanted);
        break;
      }
      w.poll();
      LevelCounts& level = w.count_visit(group.shared->depth, group.n);
      level.groups++;
      level.group_tasks += group.n_members;
      const auto mark = w.scratch.mark();
      GroupTests tests(p);
      int* test = w.scratch.take<int>(group.n_members);
      one.depth = group.shared->depth;
      ChooseTests<Bound>(w, group, one, held_out, tests, buffers).choose(test);
      refine_rare(group, tests.list, test);
      refine_common(group, tests.list, test);
      w.scratch.release(mark);
    }
    w.scratch.release(outer);
  }

  // Closes leaves and refines the members with rare tests as bundles.
  void refine_rare(const Group& group, const std::vector<GroupTest>& tests, const int* test) {
    const i64* sums = nullptr;
    Member* rare = w.scratch.take<Member>(group.n_members);
    u32 n = 0;
    bool shared_leaf = group.wanted;
    for (const GroupTest& t : tests) shared_leaf &= !t.shared;
    if (shared_leaf) close(group, *group.shared, nullptr, sums);
    for (u32 i = 0; i < group.n_members; i++) {
      const Member& member = group.members[i];
      if (test[i] < 0) close(group, *member.node, &member, sums);
      else if (is_rare(tests[static_cast<std::size_t>(test[i])])) rare[n++] = member;
    }
    refine_as_bundles(group, rare, n, false);
  }
  static bool is_rare(const GroupTest& t) { return !t.shared && t.n < kGroupMembers; }

  // Refines the children of the other tests. The largest child of the last test becomes `group`, in
  // place.
  void refine_common(Group& group, const std::vector<GroupTest>& tests, const int* test) {
    std::size_t main = tests.size();
    for (std::size_t t = 0; t < tests.size(); t++)
      if (!is_rare(tests[t]) && (main == tests.size() || tests[t].n > tests[main].n)) main = t;
    for (std::size_t t = 0; t < tests.size(); t++)
      if (t != main && !is_rare(tests[t]))
        refine_children(group, tests[t], test, static_cast<int>(t), false);
    if (main < tests.size())
      refine_children(group, tests[main], test, static_cast<int>(main), true);
    else group.n_members = group.wanted = 0;
  }
  void refine_children(Group& group, const GroupTest& t, const int* test, int number,
                       bool in_place) {
    const auto mark = w.scratch.mark();
    const auto n_branches = static_cast<std::size_t>(t.n_branches);
    // the branch of every row; n_branches if no member trains on it
    u32* count = w.scratch.take<u32>(n_branches + 1);
    std::fill_n(count, n_branches + 1, 0u);
    const Column& column = p.columns[t.feature];
    for (u32 i = 0; i < group.n; i++) {
      const std::int32_t b = t.branch(column.rank(group.rows[i]));
      side[group.rows[i]] = b < 0 ? t.n_branches : b;
      count[side[group.rows[i]]]++;
    }
    const std::size_t largest =
        static_cast<std::size_t>(std::max_element(count, count + n_branches) - count);
    const bool shared = group.wanted && t.shared;
    Group* child = w.scratch.take<Group>(n_branches);
    u32** to = w.scratch.take<u32*>(n_branches + 1);
    to[n_branches] = nullptr;
    for (std::size_t b = 0; b < n_branches; b++) {
      child[b] = {count[b], nullptr, nullptr, nullptr, false, nullptr, 0};
      if (!count[b]) continue;
      child[b].wanted = shared;
      child[b].shared = shared ? child_of(*group.shared, b) : new_shared(group.shared->depth + 1);
      child[b].members = w.scratch.take<Member>(t.n);
    }
    for (std::size_t b = 0; b < n_branches; b++)
      to[b] = child[b].rows = w.scratch.take<u32>(count[b]);
    distribute(group.rows, group.n, to);
    for (std::size_t b = 0; b < n_branches; b++)
      if (count[b] && !shared) sum_rows(child[b]);
    for (u32 i = 0; i < group.n_members; i++)
      if (test[i] == number) move_member(group.members[i], child, n_branches);
    for (std::size_t b = 0; b < n_branches; b++)
      if (count[b]) close_leaves(child[b]);
    bool listed = false;
    for (std::size_t b = 0; b < n_branches; b++) {
      if (!child[b].n_members && !child[b].wanted) child[b].n = 0;
      child[b].lists = is_small(child[b]) ? nullptr : w.scratch.take<u32*>(F);
      listed |= child[b].lists != nullptr;
    }
    for (std::size_t f = 0; f < F && listed; f++) {
      u32* const list = group.lists[f];
      for (std::size_t b = 0; b < n_branches; b++) {
        to[b] = nullptr;
        if (!child[b].lists) continue;
        if (list) to[b] = in_place && b == largest ? list : w.scratch.take<u32>(child[b].n);
        child[b].lists[f] = to[b];
      }
      if (list) distribute(list, group.n, to);
    }
    for (std::size_t b = 0; b < n_branches; b++)
      if (child[b].n && !(in_place && b == largest)) refine(child[b]);
    if (in_place) {
      const Group& next = child[largest];
      std::copy_n(next.rows, next.n, group.rows);
      std::copy_n(next.members, next.n_members, group.members);
      group.n = next.n;
      group.shared = next.shared;
      group.wanted = next.n && next.wanted;
      group.n_members = next.n ? next.n_members : 0;
    }
    w.scratch.release(mark);
  }
  // Writes the rows of a list one after the other to the place of their branch; null: nowhere.
  void distribute(const u32* list, u32 n, u32** to) const {
    for (u32 i = 0; i < n; i++) {
      const u32 row = list[i];
      if (u32*& at = to[side[row]]) *at++ = row;
    }
  }
  Node* child_of(const Node& node, std::size_t branch) const {
    if (!p.columns[node.feature].nominal || !p.multiway) return node.children + branch;
    using Entry = CategoryBranches::Entry;
    const Entry* e = std::lower_bound(
        node.branches->begin(), node.branches->end(), branch,
        [](const Entry& entry, std::size_t category) { return entry.category < category; });
    const bool found = e < node.branches->end() && e->category == branch;
    return found ? node.children + (e - node.branches->begin()) : nullptr;
  }
  // Divides the held-out rows of a member between its children.
  void move_member(const Member& member, Group* child, std::size_t n_branches) {
    u32* rest = member.out;
    u32* const end = member.out + member.n_out;
    for (std::size_t b = 0; b < n_branches; b++) {
      Node* node = child[b].n ? child_of(*member.node, b) : nullptr;
      u32* const first = rest;
      rest = std::partition(rest, end,
                            [&](u32 row) { return side[row] == static_cast<std::int32_t>(b); });
      if (!node) continue;
      if (rest == first) {
        copy_later(child[b], node);
        continue;
      }
      Member& moved = child[b].members[child[b].n_members++];
      moved = {node, first, static_cast<u32>(rest - first)};
    }
  }
};

// Returns use.operator()<Bound>() with the bound of a criterion; false if it has none.
template <class Use> bool with_removal_bound(const Criterion& criterion, const Use& use) {
  switch (criterion.removal) {
    case Removal::of_squares:
      return use.template operator()<SquaresBound>();
    case Removal::of_bits:
      return use.template operator()<EntropyBound>();
    case Removal::unknown:
      return false;
  }
  throw std::logic_error("unknown bound of removed rows");
}

}  // namespace crosscut::CROSSCUT_LEVEL
