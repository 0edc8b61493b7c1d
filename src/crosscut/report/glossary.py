"""The words of the page that a reader may not know; hovering over one explains it."""

TERMS = {
    "accuracy": "The share of rows for which the answer is right.",
    "calibration": "Whether answers that claim to be 80% sure are right 80% of the time.",
    "column": "One property of every row, such as an age or a contract.",
    "cross-validation": "The rows are dealt into parts. Each part in turn is held out: a model is made from "
    "the others and asked about it. So every row is judged by a model that had not seen it.",
    "fold": "One of the parts that are held out in turn.",
    "held out": "Not used to make the model that is asked about it, as a new row would be.",
    "importance": "A column's share in what the tree's questions contribute. It says what the model uses, "
    "not what causes what.",
    "interval": "Where the true figure probably lies: in about 90 of 100 such studies it would be inside.",
    "leaf": "The end of a path through the tree, where the answer is given.",
    "precision": "Of the rows that are answered so, the share for which that is true.",
    "prediction set": "All answers that cannot be ruled out for a row. In about 90 of 100 cases the true one "
    "is among them.",
    "R²": "The share of the target's variation that the answers explain: 1 is perfect, 0 is no better than "
    "always answering the mean.",
    "recall": "Of the rows for which it is true, the share that is answered so.",
    "ROC curve": "How many of the wanted rows are found for how many false alarms, as the model is made more "
    "or less strict. An area of 1 is perfect, 0.5 is chance.",
    "standard error": "How far a figure would typically be off if it were measured on other rows of the same "
    "kind.",
    "target": "What is predicted.",
    "tree": "A series of questions about a row. Each answer leads to the next question, and at the end to a "
    "prediction.",
}
