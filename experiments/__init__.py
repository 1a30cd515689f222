"""The paper's experiments again: `python -m experiments NAME`, one module per table or figure.

Not part of the package: these modules print, take hours if asked to, and write what they find to
`experiments/results`, from where the page docs/reproduction.md is made.
"""
