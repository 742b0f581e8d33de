"""Threads that share the work of one step (see `saltus.number.threads.team`)."""

from saltus.number.structs import ints

MODEL = {  # fixed
    **ints("nshared"),  # fewest objects that several threads share
}

DATA = {
    **ints("part", "team_yield"),  # this thread's part; address of the system's function that lets other threads run
    **ints("acting", shape=(1,)),  # number of threads that act together
    **ints("own_count", shape=(16,)),  # counts of a helper: see `saltus.contact.counts`
    # this part's places in the lists of contacts and of found pairs: the first, and one past the last
    **ints("contact_first", "contact_end", "found_end"),
    **ints("team", shape=("nteam",)),
}

#: Rooms whose kernels read these fields; `saltus.number.threads.team` reads and writes them.
READ_BY = {"MODEL": ("contact", "solve"), "DATA": ("contact", "solve")}
WRITTEN_BY = {"DATA": ("contact",)}  # counts of a helper
