# SPDX-License-Identifier: GPL-2.0
"""What live tests share; the tests of situations and of guests, and bench/, use it, as well."""
