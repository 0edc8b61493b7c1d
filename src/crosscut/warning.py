"""The warning class of crosscut."""


class CrosscutWarning(UserWarning):
    """A property of the data or of the folds that makes results less reliable, or an argument without effect.

    Examples
    --------
    >>> import warnings
    >>> from crosscut import CrosscutWarning
    >>> warnings.filterwarnings("ignore", category=CrosscutWarning)
    """
