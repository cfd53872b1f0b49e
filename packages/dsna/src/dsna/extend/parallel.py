"""Work in chunks on several threads, with progress."""

from .._utils.parallel import chunks, in_parallel, one_blas_thread, writable
from .._utils.progress import parts_shown, tracked_parts

__all__ = ["chunks", "in_parallel", "one_blas_thread", "parts_shown", "tracked_parts", "writable"]
