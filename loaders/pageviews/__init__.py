"""Page views of entities' articles: from a file, or from Wikimedia's API.

``file``      tables of entity or title, month, views
``articles``  which article an entity has
``wikimedia`` the per-article monthly API, asked politely
``load``      either of them into a graph, with a report
"""
