"""The entity linker: which entities a question names.

One linker serves KaLMA's disambiguation (K2), the tagger of LTGen (L4) and the linking to
DBpedia of OKGQA (O1). It reads a question and a graph in memory and needs no model.

1. **Names.** Every run of words of the question is looked up among the labels and aliases of all
   languages, in their normal form: no case, no accents, no punctuation, so that the possessive in
   ``Obama's`` is a word of its own. In scripts without spaces every run of characters is.
2. **Other forms.** A run that is no name is tried in the base forms that it may come from
   (``inflection``: Russian cases, particles of Korean, Arabic and Hebrew, an English ``s``), and
   with an article: ``Beatles`` is The Beatles too.
3. **Is it meant as a name?** What is written like a name (a capital inside the sentence), or is a
   proper name in the graph where the question has no capitals to tell, is a mention (``naming``).
   Function words (``Who``, ``The``) are none unless capitals inside the sentence say so. A common
   noun (``government``) is one only where the question has no name, whether the graph has it or
   not; one that questions ask with (``mother``, ``film``) only where it has no other noun.
4. **Names in names.** The longest run wins; mentions never overlap. One word of a longer name that
   the graph lacks is not who is meant (``capitals``): Jason in Jason Donovan.
5. **Misspelt names.** Only for a capitalised run that no exact name covers; in a question without
   capitals, for two to four words of which no exact name of several words is part (``misspelt``).
   Only the nearest are candidates, and only if they are one name.
6. **Which of those with that name** (K2, ``disambiguation``): most neighbours, either direction and
   literals too, whose value stands in the question outside the mention, word for word. Ties: the
   longer values, the label written just as in the question, label over alias, higher degree, then
   the smaller key of the id.

No mention is an answer: nothing is guessed.
"""

from graph_service.link.linker import link
from graph_service.link.mention import Candidate, Mention
from graph_service.link.rules import LINKING_RULES, LinkingRules
from graph_service.link.tagging import surest_entities
from graph_service.link.title import link_title

__all__ = [
    "LINKING_RULES",
    "Candidate",
    "LinkingRules",
    "Mention",
    "link",
    "link_title",
    "surest_entities",
]
