"""The paper in plain Python: "Efficient algorithms for decision tree cross-validation".

This implementation of Blockeel and Struyf (2001) is simple and slow. Every engine must return the same trees,
bit for bit. ``docs/semantics.md`` has the rules for tests, qualities and ties that the paper leaves open.
Parts of the paper and their code, in reading order:

==========================================  ==========================================================
Figure 1, ``grow_tree``                     ``tree.grow_tree``; ``must_stop``, ``partition``
2.1, refining a node in two phases          ``refine.refine``: ``update_statistics``, then ``best_test``
compute_quality                             ``quality``: Gini, information, gain ratio, variance
the tests that can be put in a node         ``test.column_tests``: ``thresholds``, ``multiway``, ``subsets``
info(T)                                     ``node.info``
2.2.1, overlapping data sets                ``refine.refine_overlapping``
2.2.2, S(T_i) = S(D) - S(D_i)               ``refine.FoldStatistics.of_training_set``; ``task.Folds``
2.2.3 and Figure 2, with virtual fold 0     ``refine.refine_folds``, and ``grow`` in ``forest.grow_forest``
3.1 and Figure 3, the forest with forks     ``forest.ForestNode``, ``Fork``, ``different_tests``
3.2.1, depth-first growth                   ``forest.grow_forest``
3.2.2, level-wise growth                    ``forest.grow_forest_level_wise``
2.3 and 3.2.1, costs                        ``count.Counts``; formulas: ``crosscut.forest.cost``
==========================================  ==========================================================

``tree.grow`` grows each task separately (the paper's serial algorithm) and returns a ``Forest``.

Examples
--------
Three-fold cross-validation and the tree from all examples, in parallel and one by one:

>>> import numpy as np
>>> from crosscut.data.target import Target
>>> from crosscut.tasks.growth import Growth
>>> from crosscut.data.table import Table
>>> from crosscut.tasks import Tasks
>>> from crosscut.reference.count import Counts
>>> from crosscut.reference.examples import Examples
>>> from crosscut.reference.forest import grow_forest
>>> from crosscut.reference.task import tasks_of
>>> from crosscut.reference.tree import grow_tree
>>> X = np.arange(12, dtype=np.float32)[:, None]
>>> target = Target(np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1], np.int32), n_classes=2)
>>> examples = Examples.of(Table.from_data(X), target, Growth("gini"))
>>> tasks = tasks_of(Tasks.from_folds(np.arange(12) % 3), examples)
>>> serial, parallel = Counts(), Counts()
>>> trees = [grow_tree(examples, task, serial) for task in tasks]
>>> forest = grow_forest(examples, tasks, parallel)
>>> [tree.test.threshold for tree in trees] == [forest.tree(i).test.threshold for i in range(4)]
True
>>> serial.total("updates"), parallel.total("updates")
(36, 12)
"""
