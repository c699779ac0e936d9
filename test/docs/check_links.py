"""Checks that relative links in the pages lead somewhere, and that every page under docs is linked from another.

usage: check_links.py <source tree>
"""

import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    pages = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    problems, targets = [], set()
    for page in pages:
        for link in LINK.findall(re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)):
            if "://" in link:
                continue
            target = (page.parent / link).resolve()
            if target.exists():
                targets.add(target)
            else:
                problems.append(f"{page.relative_to(root)}: no such file: {link}")
    problems += [f"{page.relative_to(root)} is linked from nowhere" for page in pages[1:] if page not in targets]
    print("\n".join(problems) or f"{len(pages)} pages are fine")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
