"""Which of the caller's arguments go to fit, to the scorer and to the splitter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn import get_config
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

if TYPE_CHECKING:
    from collections.abc import Mapping


def route(
    owner: str,
    params: Mapping[str, Any] | None,
    groups: Any,
    *,
    splitter: Any,
    estimator: Any,
    scorer: Any = None,
) -> Any:
    """Return ``.estimator.fit``, ``.scorer.score`` and ``.splitter.split`` as scikit-learn routes them."""
    params = {} if params is None else params
    if not get_config()["enable_metadata_routing"]:
        return Bunch(
            splitter=Bunch(split={"groups": groups}), estimator=Bunch(fit=params), scorer=Bunch(score={})
        )
    if groups is not None:
        raise ValueError(
            "`groups` can only be passed if metadata routing is not enabled via"
            " `sklearn.set_config(enable_metadata_routing=True)`. When routing is"
            " enabled, pass `groups` alongside other metadata via the `params` argument"
            " instead."
        )
    router = (
        MetadataRouter(owner=owner)
        .add(splitter=splitter, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        .add(estimator=estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
    )
    if scorer is not None:
        router.add(scorer=scorer, method_mapping=MethodMapping().add(caller="fit", callee="score"))
    try:
        return process_routing(router, "fit", **params)
    except UnsetMetadataPassedError as error:
        # the user called the function, not a fit
        raise UnsetMetadataPassedError(
            message=str(error).replace(f"{owner}.fit", owner),
            unrequested_params=error.unrequested_params,
            routed_params=error.routed_params,
        ) from None
