"""What the pipeline starts from."""

import headwater

headwater.source(
    "page_views",
    rows=[
        (1, "ada", "/home", 12),
        (2, "ada", "/pricing", 48),
        (3, "ben", "/home", 7),
        (4, "cleo", "/docs", 95),
        (5, "cleo", "/home", None),
    ],
    schema="visit_id BIGINT, visitor STRING, page STRING, seconds INT",
)
