"""Extension of Python-Markdown: lists are nested by two spaces, as GitHub has it."""

from markdown.extensions import Extension


class AsOnGitHub(Extension):
    def extendMarkdown(self, md):
        md.tab_length = 2


def makeExtension(**settings):
    return AsOnGitHub(**settings)
