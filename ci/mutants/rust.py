"""What a hazard has to know of a Rust file: its code as tokens, its functions, and its named steps.

This is no parser. Comments and white space fall away, so that text which differs only in them has the
same tokens; braces are matched, so that a function's body is known from its end; the rest is left to
the compiler.
"""

import bisect
import dataclasses
import functools
import itertools
import re

TOKEN = re.compile(
    r"""
    (?P<space> \s+ )
  | (?P<comment> //[^\n]* )
  | (?P<block> /\* )
  | (?P<code>
        [bc]?r(?P<hashes>\#*)".*?"(?P=hashes)
      | [bc]?"(?:\\.|[^"\\])*"
      | b?'(?:\\u\{[^}]*\}|\\x..|\\.|[^\\'])'
      | '\w+
      | (?:r\#)?[^\W\d]\w*
      | \d\w*(?:\.\d\w*)?
      | \.\.= | \.\.\. | \.\. | :: | -> | => | [-+*/%^&|=!<>]= | && | \|\|
      | .
    )
    """,
    re.VERBOSE | re.DOTALL,
)
BLOCK_EDGE = re.compile(r"/\*|\*/")
STEP = re.compile(r"//\s*(?:spec|step):\s*(\S.*?)\s*$")
PAIRS = {"(": ")", "[": "]", "{": "}"}
CLOSERS = set(PAIRS.values())
# What stands before the `impl` of an item. Elsewhere the word is part of a type.
BEFORE_AN_ITEM = {"{", "}", ";", "]", "unsafe"}


@dataclasses.dataclass(frozen=True)
class Token:
    text: str
    start: int
    end: int


@dataclasses.dataclass(frozen=True)
class Step:
    """A comment `// spec: Module!Action` or `// step: name`."""

    name: str
    start: int


@dataclasses.dataclass(frozen=True)
class Function:
    name: str
    # The type, trait or module around it, if there is one.
    owner: str
    # Its body, from brace to brace.
    start: int
    end: int

    def is_called(self, name):
        return name in (self.name, f"{self.owner}::{self.name}")


def lexed(text):
    """The tokens of the code, and the comments of whole lines as pairs of text and place."""
    tokens, comments, at = [], [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        at = match.end()
        if match["code"]:
            tokens.append(Token(match["code"], match.start(), at))
        elif match["comment"]:
            comments.append((match["comment"], match.start()))
        elif match["block"]:
            depth = 1
            while depth and (edge := BLOCK_EDGE.search(text, at)):
                depth += 1 if edge[0] == "/*" else -1
                at = edge.end()
            if depth:
                at = len(text)
    return tokens, comments


@dataclasses.dataclass(frozen=True)
class Match:
    """Where some code was found: first and last character."""

    start: int
    end: int
    # What has to go with it, elsewhere: start, end, and what is to stand there instead.
    rest: tuple[tuple[int, int, str], ...]


class Source:
    """A Rust file, or a part of one."""

    def __init__(self, text):
        self.text = text
        self.tokens, comments = lexed(text)
        self.words = [token.text for token in self.tokens]
        self.steps = [
            Step(said[1], place) for comment, place in comments if (said := STEP.match(comment))
        ]

    @functools.cached_property
    def partners(self):
        """For each opening brace, bracket and parenthesis the closing one, and the other way round."""
        partners, opened = {}, []
        for at, word in enumerate(self.words):
            if word in PAIRS:
                opened.append(at)
            elif word in CLOSERS and opened:
                partners[at] = opened.pop()
                partners[partners[at]] = at
        return partners

    @functools.cached_property
    def layout(self):
        """The tokens that rustfmt writes or leaves out as lines are long: commas and semicolons before
        a closing bracket, and braces around the one expression of a match arm or a closure."""
        found = set()
        for at, (word, after) in enumerate(itertools.pairwise(self.words)):
            if word == "," and after in CLOSERS | {">"} or word == ";" and after == "}":
                found.add(at)
            elif word in ("=>", "|", "||") and after == "{" and self._is_one_expression(at + 1):
                found |= {at + 1, self.partners[at + 1]}
        return found

    @functools.cached_property
    def functions(self):
        """All functions that have a body, those inside of others too."""
        found, around = [], []
        for at, word in enumerate(self.words):
            while around and around[-1][1] < at:
                around.pop()
            if word == "fn" and self._is_name(at + 1):
                body = self._body(at + 2)
                if body in self.partners:
                    found.append(
                        Function(
                            self.words[at + 1],
                            around[-1][0] if around else "",
                            self.tokens[body].start,
                            self.tokens[self.partners[body]].end,
                        )
                    )
            elif owner := self._owner(at):
                body = self._body(at + 1)
                if body in self.partners:
                    around.append((owner, self.partners[body]))
        return found

    def function_around(self, place):
        """The innermost function in whose body the place is; None outside of all."""
        around = [each for each in self.functions if each.start < place < each.end]
        return max(around, key=lambda each: each.start, default=None)

    def matches(self, wanted, start, end):
        """Where this code, itself a source, is in this part of the text."""
        first = bisect.bisect_left(self.tokens, start, key=lambda token: token.start)
        last = bisect.bisect_right(self.tokens, end, key=lambda token: token.end)
        found = (self._match(wanted, at, last) for at in range(first, last))
        return [match for match in found if match]

    def _match(self, wanted, first, end):
        """The match that begins with that token and ends before the other; None if there is none."""
        at, its, skipped = first, 0, []
        while its < len(wanted.words):
            word = self.words[at] if at < end else None
            its_word = wanted.words[its]
            if word == its_word:
                last = at
                at, its = at + 1, its + 1
            elif at == first or word is None and its not in wanted.layout:
                return None
            elif word and at in self.layout:
                # An arm in braces has no comma.
                its += word == "}" and its_word == ","
                skipped.append(at)
                at += 1
            elif its in wanted.layout:
                its += 1
                at += its_word == "}" and word == "," and its < len(wanted.words)
            else:
                return None
        rest = tuple(self._without_its_partner(each, first, last) for each in skipped)
        return Match(self.tokens[first].start, self.tokens[last].end, tuple(filter(None, rest)))

    def _without_its_partner(self, at, first, last):
        """What a brace that is replaced with these tokens leaves behind: its partner, if that is not."""
        partner = self.partners.get(at, first)
        if first <= partner <= last:
            return None
        start, end, after = self.tokens[partner].start, self.tokens[partner].end, ""
        if partner > last:
            if self.words[at - 1] == "=>" and self.words[partner + 1] != ",":
                after = ","
            if partner - 1 > last and self.words[partner - 1] == ";":
                start = self.tokens[partner - 1].start
        return start, end, after

    def line(self, place):
        return self.text.count("\n", 0, place) + 1

    def _is_name(self, at):
        return at < len(self.words) and re.match(r"[^\W\d]|r#", self.words[at])

    def _is_one_expression(self, brace):
        """Whether the block that begins there has something in it that needs no block."""
        end = self.partners.get(brace, brace + 1)
        at = brace + 1
        while at < end and self.words[at] != ";":
            at = self.partners.get(at, at) + 1
        if at + 1 == end and self.words[brace + 1] in ("return", "break", "continue"):
            # Where it is without braces it is without a semicolon.
            at = end
        return at == end > brace + 1

    def _body(self, head):
        """The brace that begins the body of the item whose head goes on there; None without a body."""
        depth = 0
        for at, word in enumerate(self.words[head:], start=head):
            if depth == 0 and word in "{;":
                return at if word == "{" else None
            depth += (word in "([") - (word in ")]")
        return None

    def _owner(self, at):
        """The name of the module, trait or implemented type that is declared here, if one is."""
        word = self.words[at]
        if word in ("mod", "trait") and self._is_name(at + 1):
            return self.words[at + 1]
        if word != "impl" or at and self.words[at - 1] not in BEFORE_AN_ITEM:
            return None
        # The last name outside of angle brackets, of what follows `for` if there is one.
        depth, name = 0, None
        for word in self.words[at + 1 : self._body(at + 1)]:
            if word == "where":
                break
            depth += (word == "<") - (word == ">")
            if depth == 0 and re.match(r"[^\W\d]", word):
                name = word
        return name
