"""GPUs: whether there is one, and the memory that is kept there."""

from kith import _core


def has_cuda() -> bool:
    """Whether calls can run on a GPU: kith was built with CUDA, and the driver finds a device.

    >>> kith.has_cuda() in (True, False)
    True
    """
    return _core.has_cuda()


def release_memory(device: str = "cuda") -> None:
    """Return to the driver the memory of a GPU that kith keeps for later calls.

    Freed memory stays in a pool, since mapping it again takes longer than a small search, and so do pinned buffers of
    the host, 16 MiB, through which large arrays are copied. Call this when other programs or libraries need it. What
    trees and results hold is not touched; the next call takes longer. On the CPU nothing is kept.

    Parameters
    ----------
    device : str
        "cuda", or one of several GPUs: "cuda:1".

    Raises
    ------
    RuntimeError
        If there is no such GPU.
    NotImplementedError
        If kith was built without CUDA.
    """
    _core.release_memory(device)
