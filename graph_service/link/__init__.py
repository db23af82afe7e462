"""The entity linker: which entities a question names.

One linker serves KaLMA's disambiguation (K2), the tagger of LTGen (L4) and the linking to
DBpedia of OKGQA (O1). It reads a question and a graph in memory and needs no model.

1. **Names.** Every run of words of the question is looked up among the labels and aliases of all
   languages, in their normal form: no case, no accents, no punctuation, so that the possessive in
   ``Obama's`` is a word of its own. In scripts without spaces every run of characters is.
2. **Is it meant as a name?** What is written like a name (a capital inside the sentence), or is a
   proper name in the graph where the question has no capitals to tell, is a mention. Function
   words (``Who``, ``The``) are none unless capitals inside the sentence say so, and a common noun
   (``mother``, ``film``) is one only where the question has nothing better.
3. **Names in names.** The longest run wins; mentions never overlap.
4. **Misspelt names.** Only for a capitalised run that no exact name covers; in a question without
   capitals, for two to four words of which no exact name of several words is part (``misspelt``).
5. **Which of those with that name** (K2): most neighbours, either direction and literals too,
   whose value stands in the question outside the mention, word for word. Ties: label over alias,
   higher degree, then the smaller key of the id. (Of misspelt names only the nearest are
   candidates, and only if they are one name.)

No mention is an answer: nothing is guessed.
"""

from graph_service.link.linker import link
from graph_service.link.mention import Candidate, Mention
from graph_service.link.title import link_title

__all__ = ["Candidate", "Mention", "link", "link_title"]
