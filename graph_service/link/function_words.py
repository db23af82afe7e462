"""Words that are no names by themselves, beside function words: short lists of the linker's."""

from __future__ import annotations

from graph_service.text.fold import fold

_GERMAN = """
    ist sind wer wann warum welche welcher welches welchem und oder im vom zur zum mit auf ein eine
    einer eines einem einen wie wurde wurden hat haben
"""
GERMAN_WORDS = frozenset(_GERMAN.split())
"""Words that only German has: it writes every noun with a capital."""

_COMMON = """
    actor actress age album animal area artist author award band battle birth birthday body book born
    brother building business capital career century character child children church city club
    college color company composer continent country creator currency date daughter day death died
    director discovery district editor event family father film founder friend game genre government
    group head height history home house husband island job king lake language law leader length life
    location man manager material member military minister month mother mountain movement movie music
    nation nationality nickname novel number occupation office official organization origin owner
    parent parents part party people period person place planet play player population position
    president prize producer product profession program programme publisher queen relative religion river role school
    science season series sex show sibling singer sister site son song source spouse star state
    station story street student style surname symbol system teacher team time title town type
    university village war website week wife woman women word work works world writer year years
    men famous first last second third new old early late main national
"""
COMMON_NOUNS = frozenset(fold(word) for word in _COMMON.split())
"""Nouns that questions ask with rather than about; English, folded."""

_TITLES = """
    admiral archbishop archduke baron baroness bishop brother caliph captain cardinal chancellor chief
    colonel commander count countess czar dame doctor dr duchess duke earl emir emperor empress father
    general governor honourable judge justice kaiser king lady lieutenant lord madame mahatma major marquis
    marshal mayor minister miss mother mr mrs ms pharaoh philosopher pope premier president prime
    prince princess prof professor queen rabbi reverend saint sergeant shah sheikh sheriff sir sister
    st sultan tsar uncle viceroy
    herr frau könig kaiserin papst señor don doña madame monsieur signor roi reine rey reina
    король царь император князь президент
"""
TITLES = frozenset(fold(word) for word in _TITLES.split())
"""Words before a name that say what its bearer is, folded."""

_CONJUNCTIONS = """
    and or nor vs versus but und oder et ou y o e и или
"""
CONJUNCTIONS = frozenset(fold(word) for word in _CONJUNCTIONS.split())
"""Words that part two names, folded."""

_PARTICLES = """
    af al ap auf aus av bar bat bin bint da dal de degli dei del della den der des di do dos du e el ibn la
    las le los san santa ten ter the und van ver vom von y zu zum zur
"""
NAME_PARTICLES = frozenset(_PARTICLES.split())
"""Words without a capital inside names of people, folded."""
