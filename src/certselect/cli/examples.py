"""What the help shows to try: a line each, what to type, two spaces or more, and what it does.

Tests run them all, on tables with these names and columns.
"""

SELECT = """\
certselect select patients.csv --target diagnosis -k 5  The 5 columns that predict the diagnosis best together.
certselect select patients.csv -t diagnosis -k auto --exclude id  As many as add more than chance, but never the id.
certselect select patients.csv -t diagnosis -k 5 --strategy exact --json chosen.json  The optimal 5, saved with a proof.
certselect select patients.csv -t diagnosis -k 5 --report report.html  With a page for people who were not there.
zcat patients.csv.gz | certselect select - -t diagnosis --format csv --quiet > chosen.csv  From one program to another.
"""
CHOOSE = """\
certselect choose patients.csv -t diagnosis --estimator svm --max-size 8  How many columns an SVM needs.
certselect choose patients.csv -t diagnosis --estimator lda --sizes 1-3,5 --criterion jmi,mrmr  And by which criterion.
"""
PATH = """\
certselect path patients.csv -t diagnosis --max-size 8  What the best 1, 2, ... 8 columns are worth.
certselect path patients.csv -t diagnosis --max-size 8 --format markdown  The same for a report of your own.
"""
REPORT = """\
certselect report chosen.json  A page that people can read: chosen.html.
certselect report chosen.json --table patients.csv --out report.html  With the table, which is checked: more to see.
"""
VERIFY = """\
certselect verify chosen.json patients.csv  Check a saved result against its table.
certselect verify chosen.json patients.csv --quiet && echo good  The same in a script: the exit code says it.
certselect select patients.csv -t diagnosis -k 5 --json - | certselect verify - patients.csv  Without a file between.
"""
EVERYTHING = """\
certselect demo  A first look: no table needed.
certselect select patients.csv --target diagnosis -k 5  The 5 columns that predict the diagnosis best together.
certselect select --help  All about a command.
"""
