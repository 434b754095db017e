------------------------------- MODULE RwLock -------------------------------
(* The reader-writer lock of locks/ondeck/src/rwlock: its word, its bias, the  *)
(* slots of visible readers, the queue of parked threads.                       *)
(*                                                                              *)
(* Memory is that of x86: each thread has a buffer of stores that others do not *)
(* see yet. Only slots are stored to; everything else is changed by             *)
(* read-modify-writes, which wait until the thread's own buffer is empty. A     *)
(* light fence is nothing. A heavy fence waits until what every other thread    *)
(* had in its buffer when it began has become visible.                          *)
(*                                                                              *)
(* Each thread reads or writes Rounds times, as it likes. What is done under    *)
(* the lock of the bucket is one step where no other thread can tell, and       *)
(* `guard` where it can. Left to chance: whether a parked thread is overdue, or *)
(* has its turn because the owner wants that; whether a reserved turn is over;  *)
(* how long a thread tries before it parks or sleeps.                           *)
(*                                                                              *)
(* A thread has one slot, because all that the other ones do is to make it      *)
(* count where this model lets it be visible.                                   *)
(*                                                                              *)
(* Left out: upgradable readers, recursive reads, that the lock's memory is     *)
(* used again; loom has them.                                                   *)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
    N,           \* how many threads there are
    Rounds,      \* how often each thread reads or writes
    Biased,      \* whether the lock is biased at the beginning, and may become so
    MayReserve,  \* whether an unlock may reserve the turn of the oldest parked thread
    Ends,        \* what may end: "slices" of a sleep, waits that have "deadlines", reserved "turns"
    Mutant       \* which mistake is put in; "none" for none

Threads == 1..N

VARIABLES
    word,     \* writer, draining, parked, flight, reserved, asleep, biased, count
    slot,     \* slot[t]: whether the slot of t has the lock's address, as all threads see it
    buffer,   \* buffer[t]: stores of t to its slot that others do not see yet
    queue,    \* parked threads, the oldest first
    turns,    \* the threads that are linked with a reserved turn; the turn is that of the last one
    drainer,  \* the writers that sleep until readers have left: at most one
    sleepers, \* the writers that sleep until visible readers have left, or are about to
    guard,    \* the thread that has locked the bucket, or 0
    pc,       \* what each thread does next
    want,     \* "read" or "write"
    mark,     \* whether the thread is in flight
    told,     \* what a parked thread was told: "", "compete", or "beside" to compete unmarked; a drainer: "has"
    fence,    \* fence[t][u]: how many stores of u the heavy fence of t waits for
    left,     \* left[t]: the threads whose slots the writer t has not seen empty
    rounds    \* rounds[t]: how often t has yet to begin

vars == <<word, slot, buffer, queue, turns, drainer, sleepers, guard, pc, want, mark, told, fence, left, rounds>>

Free == [writer |-> FALSE, draining |-> FALSE, parked |-> FALSE, flight |-> FALSE, reserved |-> FALSE,
         asleep |-> FALSE, biased |-> FALSE, count |-> 0]

AtFirst == [Free EXCEPT !.biased = Biased]

Init ==
    /\ word = AtFirst
    /\ slot = [t \in Threads |-> FALSE]
    /\ buffer = [t \in Threads |-> <<>>]
    /\ queue = <<>>
    /\ turns = <<>>
    /\ drainer = {}
    /\ sleepers = {}
    /\ guard = 0
    /\ pc = [t \in Threads |-> "Idle"]
    /\ want = [t \in Threads |-> "read"]
    /\ mark = [t \in Threads |-> FALSE]
    /\ told = [t \in Threads |-> ""]
    /\ fence = [t \in Threads |-> [u \in Threads |-> 0]]
    /\ left = [t \in Threads |-> {}]
    /\ rounds = [t \in Threads |-> Rounds]

Goto(t, step) == pc' = [pc EXCEPT ![t] = step]

(* What t sees of its own slot. *)
OwnSlot(t) == IF buffer[t] = <<>> THEN slot[t] ELSE buffer[t][Len(buffer[t])]

Store(t, value) == buffer' = [buffer EXCEPT ![t] = Append(@, value)]

(* A read-modify-write of t can be made. *)
Fenced(t) == buffer[t] = <<>>

Acquired(w, what) ==
    IF what = "read" THEN [w EXCEPT !.count = @ + 1]
    ELSE [w EXCEPT !.writer = TRUE, !.draining = w.count > 0 \/ w.biased]

(* Where a thread goes on that has what it wants. *)
Holds(t) == Goto(t, IF want[t] = "read" THEN "Counted" ELSE "Drain")

Range(q) == {q[i] : i \in 1..Len(q)}
HasTurn(t) == t \in Range(turns)
Without(q, gone) == SelectSeq(q, LAMBDA t : t \notin gone)

MayEnd(what) == what \in Ends
(* Whether a thread finds that a reserved turn is over. *)
Over(w) == IF w.reserved /\ MayEnd("turns") THEN BOOLEAN ELSE {FALSE}
(* The word without the marks of t, and without those of a turn that is over. *)
Unmarked(t, w, over) ==
    [w EXCEPT !.flight = @ /\ ~mark[t] /\ ~over, !.reserved = @ /\ ~(mark[t] /\ HasTurn(t)) /\ ~over]
(* A reserved turn keeps other writers out, and no reader. *)
May(t, w) == ~w.writer /\ (want[t] = "read" \/ ~w.reserved \/ Mutant = "turn_taken_by_another")

(* t takes what it wants, and its marks off. *)
Takes(t, over) ==
    /\ word' = Acquired(Unmarked(t, word, over), want[t])
    /\ mark' = [mark EXCEPT ![t] = FALSE]
    /\ IF (mark[t] \/ over) /\ want[t] = "read" /\ Mutant # "woken_reader_wakes_no_other" THEN Goto(t, "PassOn") ELSE Holds(t)

Reading(t) == pc[t] \in {"Counted", "Visible"}
Writing(t) == pc[t] = "Writes"

--------------------------------------------------------------------------------

\* models nothing: the oldest store of t becomes visible to all
Becomes(t) ==
    /\ buffer[t] # <<>>
    /\ slot' = [slot EXCEPT ![t] = Head(buffer[t])]
    /\ buffer' = [buffer EXCEPT ![t] = Tail(@)]
    /\ fence' = [u \in Threads |-> [fence[u] EXCEPT ![t] = IF @ > 0 THEN @ - 1 ELSE 0]]
    /\ UNCHANGED <<turns, word, queue, drainer, sleepers, guard, pc, want, mark, told, left, rounds>>

(* A reader of a biased lock may be counted all the same: its slot is taken.    *)
\* models locks/ondeck/src/rwlock/shared.rs lock_shared
Begin(t) ==
    /\ pc[t] = "Idle"
    /\ rounds[t] > 0
    /\ rounds' = [rounds EXCEPT ![t] = @ - 1]
    /\ \E what \in {"read", "write"} : want' = [want EXCEPT ![t] = what]
    /\ \/ Goto(t, "Attempt")
       \/ want'[t] = "read" /\ word.biased /\ ~word.writer /\ Goto(t, "Publish")
    /\ UNCHANGED <<turns, word, slot, buffer, queue, drainer, sleepers, guard, mark, told, fence, left>>

\* models locks/ondeck/src/rwlock/bias.rs try_visible
Publish(t) ==
    /\ pc[t] = "Publish"
    /\ ~OwnSlot(t)
    /\ Store(t, TRUE)
    /\ Goto(t, IF Mutant = "not_looked_again" THEN "Visible" ELSE "LookAgain")
    /\ UNCHANGED <<turns, word, slot, queue, drainer, sleepers, guard, want, mark, told, fence, left, rounds>>

\* models locks/ondeck/src/rwlock/bias.rs try_visible
LookAgain(t) ==
    /\ pc[t] = "LookAgain"
    /\ Goto(t, IF word.biased /\ (~word.writer \/ Mutant = "bias_looked_at_only") THEN "Visible" ELSE "Failed")
    /\ UNCHANGED <<turns, word, slot, buffer, queue, drainer, sleepers, guard, want, mark, told, fence, left, rounds>>

\* models locks/ondeck/src/rwlock/bias.rs retract
Retract(t) ==
    /\ pc[t] \in {"Visible", "Failed"}
    /\ Store(t, FALSE)
    /\ Goto(t, IF pc[t] = "Visible" THEN "LookLeft" ELSE "LookFailed")
    /\ UNCHANGED <<turns, word, slot, queue, drainer, sleepers, guard, want, mark, told, fence, left, rounds>>

\* models locks/ondeck/src/rwlock/bias.rs retract
LookForSleepingWriters(t) ==
    /\ pc[t] \in {"LookLeft", "LookFailed"}
    /\ LET wakes == sleepers # {} /\ Mutant # "sleeping_writers_not_asked"
           next == IF pc[t] = "LookLeft" THEN "Idle" ELSE "Attempt"
       IN Goto(t, IF ~wakes THEN next ELSE IF next = "Idle" THEN "Wake" ELSE "WakeFailed")
    /\ UNCHANGED <<turns, word, slot, buffer, queue, drainer, sleepers, guard, want, mark, told, fence, left, rounds>>

\* models locks/ondeck/src/rwlock/settle.rs wake_drainer
WakeDrainer(t) ==
    /\ pc[t] \in {"Wake", "WakeFailed"}
    /\ guard = 0
    /\ Fenced(t)
    /\ told' = [u \in Threads |-> IF u \in drainer THEN "has" ELSE told[u]]
    /\ drainer' = {}
    /\ Goto(t, IF pc[t] = "Wake" THEN "Idle" ELSE "Attempt")
    /\ UNCHANGED <<turns, word, slot, buffer, queue, sleepers, guard, want, mark, fence, left, rounds>>

(* It parks as soon as it has tried for long: there is a writer, or others      *)
(* change the word each time.                                                   *)
\* models locks/ondeck/src/rwlock/wait.rs attempt
\* models locks/ondeck/src/rwlock/shared.rs count_at_once
\* models locks/ondeck/src/rwlock/exclusive.rs lock_exclusive_at_once
Attempt(t) ==
    /\ pc[t] = "Attempt"
    /\ Fenced(t)
    /\ \/ Goto(t, "Park") /\ UNCHANGED <<word, mark>>
       \/ \E over \in Over(word) : May(t, Unmarked(t, word, over)) /\ Takes(t, over)
    /\ UNCHANGED <<slot, buffer, queue, turns, drainer, sleepers, guard, want, told, fence, left, rounds>>

(* A thread that has the lock is linked no more. *)
\* models locks/ondeck/src/rwlock/wait.rs end_turn
EndTurn(t) ==
    /\ HasTurn(t)
    /\ pc[t] \in {"PassOn", "Counted", "Drain"}
    /\ guard = 0
    /\ turns' = Without(turns, {t})
    /\ UNCHANGED <<word, slot, buffer, queue, drainer, sleepers, guard, pc, want, mark, told, fence, left, rounds>>

\* models locks/ondeck/src/rwlock/bias.rs make_biased
Bias(t) ==
    /\ pc[t] = "Counted"
    /\ ~HasTurn(t)
    /\ Biased
    /\ Fenced(t)
    /\ ~word.writer /\ ~word.parked /\ ~word.biased
    /\ word' = [word EXCEPT !.biased = TRUE]
    /\ UNCHANGED <<turns, slot, buffer, queue, drainer, sleepers, guard, pc, want, mark, told, fence, left, rounds>>

\* models locks/ondeck/src/rwlock/shared.rs unlock_shared
ReaderLeaves(t) ==
    /\ pc[t] = "Counted"
    /\ ~HasTurn(t)
    /\ Fenced(t)
    /\ word' = [word EXCEPT !.count = @ - 1]
    /\ Goto(t, IF word.count = 1 /\ word.asleep /\ Mutant # "last_reader_wakes_no_writer"
               THEN "Wake" ELSE "Idle")
    /\ UNCHANGED <<turns, slot, buffer, queue, drainer, sleepers, guard, want, mark, told, fence, left, rounds>>

--------------------------------------------------------------------------------

(* The readers that parked right behind the oldest, if that is one. *)
Behind(q) == {q[i] : i \in {j \in 2..Len(q) : \A k \in 1..j : want[q[k]] = "read"}}

(* Under the lock of the bucket: has threads go on that may, in the queue q, if the word becomes w. The turn of the oldest may
   be reserved. *)
Settled(w, q, linked, reserves) ==
    IF w.writer \/ w.reserved \/ q = <<>> \/ (w.flight /\ ~reserves)
    THEN /\ word' = [w EXCEPT !.parked = q # <<>>]
         /\ queue' = q
         /\ turns' = linked
         /\ UNCHANGED told
    ELSE LET others == Behind(q)
         IN /\ queue' = Without(Tail(q), others)
            /\ word' = [w EXCEPT !.flight = TRUE, !.reserved = reserves, !.parked = queue' # <<>>]
            /\ told' = [t \in Threads |-> IF t = Head(q) THEN "compete" ELSE IF t \in others THEN "beside" ELSE told[t]]
            /\ turns' = IF reserves THEN Append(linked, Head(q)) ELSE linked

Reserve == IF MayReserve THEN BOOLEAN ELSE {FALSE}

(* At its deadline a thread gives up that does not sleep: one with a mark leaves to another what unlocks have left to *)
(* it. Without a mark that is also an attempt that failed.                      *)
\* models locks/ondeck/src/rwlock/wait.rs wait
GiveUp(t) ==
    /\ pc[t] = "Attempt"
    /\ MayEnd("deadlines")
    /\ IF mark[t] /\ Mutant # "mark_kept_at_the_deadline"
       THEN /\ guard = 0
            /\ Fenced(t)
            /\ \E reserves \in Reserve :
                Settled([Unmarked(t, word, FALSE) EXCEPT !.flight = FALSE], queue, Without(turns, {t}), reserves)
       ELSE UNCHANGED <<word, queue, turns, told>>
    /\ mark' = [mark EXCEPT ![t] = FALSE]
    /\ Goto(t, "Idle")
    /\ UNCHANGED <<slot, buffer, drainer, sleepers, guard, want, fence, left, rounds>>

(* A thread that was linked before goes back by its age: its place is left to chance. *)
Linked(t) == {SubSeq(queue, 1, i) \o <<t>> \o SubSeq(queue, i + 1, Len(queue)) : i \in 0..Len(queue)}

\* models locks/ondeck/src/rwlock/wait.rs park
Park(t) ==
    /\ pc[t] = "Park"
    /\ guard = 0
    /\ Fenced(t)
    /\ \E over \in Over(word) :
       IF May(t, Unmarked(t, word, over)) /\ Mutant # "parked_without_asking_again"
       THEN Takes(t, over) /\ turns' = Without(turns, {t}) /\ UNCHANGED <<queue, guard>>
       ELSE /\ word' = [word EXCEPT !.parked = TRUE]
            /\ UNCHANGED turns
            /\ queue' \in Linked(t)
            /\ mark' = [mark EXCEPT ![t] = FALSE]
            /\ IF mark[t] /\ Mutant # "mark_kept" THEN Goto(t, "GiveMark") /\ guard' = t
               ELSE Goto(t, "Asleep") /\ UNCHANGED guard
    /\ UNCHANGED <<slot, buffer, drainer, sleepers, want, told, fence, left, rounds>>

(* What unlocks have left to it, another is to do. *)
\* models locks/ondeck/src/rwlock/wait.rs park
GiveMark(t) ==
    /\ pc[t] = "GiveMark"
    /\ \E reserves \in Reserve : 
        Settled([word EXCEPT !.flight = FALSE, !.reserved = @ /\ ~HasTurn(t)], queue,
                IF Mutant = "turn_kept_by_a_parked_thread" THEN turns ELSE Without(turns, {t}), reserves)
    /\ guard' = 0
    /\ Goto(t, "Asleep")
    /\ UNCHANGED <<slot, buffer, drainer, sleepers, want, mark, fence, left, rounds>>

\* models locks/ondeck/src/rwlock/wait.rs park
Sleep(t) ==
    /\ pc[t] = "Asleep"
    /\ told[t] # ""
    /\ told' = [told EXCEPT ![t] = ""]
    /\ mark' = [mark EXCEPT ![t] = told[t] = "compete"]
    /\ Goto(t, "Attempt")
    /\ UNCHANGED <<turns, word, slot, buffer, queue, drainer, sleepers, guard, want, fence, left, rounds>>

(* The end of a slice or the deadline, and no thread has chosen it: it takes what it wants, if that can be had.    *)
(* Otherwise the next unlock is to wake another thread, because the one in flight may get no CPU.                  *)
\* models locks/ondeck/src/rwlock/wait.rs park
LookItself(t) ==
    /\ pc[t] = "Asleep"
    /\ Ends # {}
    /\ told[t] = ""
    /\ guard = 0
    /\ \E over \in Over(word) :
        LET free == IF word.reserved /\ ~over THEN word ELSE [word EXCEPT !.flight = FALSE, !.reserved = FALSE]
        IN  IF May(t, free)
            THEN word' = Acquired(free, want[t]) /\ Goto(t, "UnlinkHolder") /\ guard' = t
            ELSE /\ word' = free
                 /\ \/ MayEnd("slices") /\ UNCHANGED <<pc, guard>>
                    \/ MayEnd("deadlines") /\ Goto(t, "Unlink") /\ guard' = t
    /\ UNCHANGED <<turns, slot, buffer, queue, drainer, sleepers, want, mark, told, fence, left, rounds>>

\* models locks/ondeck/src/rwlock/wait.rs park
Unlink(t) ==
    /\ pc[t] \in {"UnlinkHolder", "Unlink"}
    /\ guard' = 0
    /\ queue' = Without(queue, {t})
    /\ word' = IF queue' = <<>> \/ Mutant = "gave_up_forgets_the_others" THEN [word EXCEPT !.parked = FALSE] ELSE word
    /\ Goto(t, CASE pc[t] = "Unlink" -> "Idle" [] want[t] = "read" -> "PassOn" [] OTHER -> "Drain")
    /\ UNCHANGED <<turns, slot, buffer, drainer, sleepers, want, mark, told, fence, left, rounds>>

\* models locks/ondeck/src/rwlock/wait.rs pass_on
PassOn(t) ==
    /\ pc[t] = "PassOn"
    /\ ~HasTurn(t)
    /\ Goto(t, IF word.parked THEN "Beside" ELSE "Counted")
    /\ UNCHANGED <<turns, word, slot, buffer, queue, drainer, sleepers, guard, want, mark, told, fence, left, rounds>>

\* models locks/ondeck/src/rwlock/wait.rs pass_on
Beside(t) ==
    /\ pc[t] = "Beside"
    /\ guard = 0
    /\ \E reserves \in Reserve : Settled(word, queue, turns, reserves)
    /\ Goto(t, "Counted")
    /\ UNCHANGED <<slot, buffer, drainer, sleepers, guard, want, mark, fence, left, rounds>>

(* The word becomes `free`, and if threads are parked and none is in flight, some go on. *)
GivesBack(t, free) ==
    /\ Fenced(t)
    /\ \E reserves \in Reserve :
        IF word.parked /\ (reserves \/ ~word.flight) /\ Mutant # "unlock_wakes_no_thread"
        THEN guard = 0 /\ Settled(free, queue, turns, reserves)
        ELSE word' = free /\ UNCHANGED <<queue, turns, told>>
    /\ Goto(t, "Idle")

\* models locks/ondeck/src/rwlock/exclusive.rs give_back
\* models locks/ondeck/src/rwlock/exclusive.rs unlock_exclusive
GiveBack(t) ==
    /\ pc[t] = "Writes"
    /\ GivesBack(t, [word EXCEPT !.writer = FALSE])
    /\ UNCHANGED <<slot, buffer, drainer, sleepers, guard, want, mark, fence, left, rounds>>

--------------------------------------------------------------------------------

BeginFence(t) == fence' = [fence EXCEPT ![t] = [u \in Threads |-> IF u = t THEN 0 ELSE Len(buffer[u])]]
FenceIsOver(t) == \A u \in Threads : fence[t][u] = 0

\* models locks/ondeck/src/rwlock/drain.rs drain
Drain(t) ==
    /\ pc[t] = "Drain"
    /\ ~HasTurn(t)
    /\ IF ~word.draining
       THEN Goto(t, "Writes") /\ UNCHANGED <<fence, left>>
       ELSE IF word.biased
       THEN /\ Goto(t, "HeavyFence")
            /\ left' = [left EXCEPT ![t] = Threads]
            /\ BeginFence(t)
       ELSE /\ Goto(t, "Scan")
            /\ left' = [left EXCEPT ![t] = {}]
            /\ UNCHANGED fence
    /\ UNCHANGED <<turns, word, slot, buffer, queue, drainer, sleepers, guard, want, mark, told, rounds>>

\* models locks/ondeck/src/rwlock/bias.rs revoke
HeavyFence(t) ==
    /\ pc[t] = "HeavyFence"
    /\ FenceIsOver(t) \/ Mutant = "no_heavy_fence"
    /\ Goto(t, "Scan")
    /\ UNCHANGED <<turns, word, slot, buffer, queue, drainer, sleepers, guard, want, mark, told, fence, left, rounds>>

(* The slots, one after the other: also under the lock of the bucket. *)
\* models locks/ondeck/src/rwlock/bias.rs have_left
Scan(t) ==
    /\ pc[t] \in {"Scan", "LookAtLast"}
    /\ \E u \in left[t] :
        /\ \A v \in left[t] : u <= v
        /\ IF slot[u] /\ Mutant # "slots_overlooked"
           THEN Goto(t, IF pc[t] = "Scan" THEN "BeginSleep" ELSE "DrainerParks") /\ UNCHANGED left
           ELSE left' = [left EXCEPT ![t] = @ \ {u}] /\ UNCHANGED pc
    /\ UNCHANGED <<turns, word, slot, buffer, queue, drainer, sleepers, guard, want, mark, told, fence, rounds>>

(* The look before its sleep may be the one that finds that all have left. *)
\* models locks/ondeck/src/rwlock/drain.rs own
Own(t) ==
    /\ pc[t] = "Scan"
    /\ left[t] = {}
    /\ \/ /\ word.count = 0 \/ Mutant = "counted_overlooked"
          /\ word' = [word EXCEPT !.draining = FALSE, !.asleep = FALSE, !.biased = FALSE]
          /\ Goto(t, "Writes")
       \/ Goto(t, "BeginSleep") /\ UNCHANGED word
    /\ UNCHANGED <<turns, slot, buffer, queue, drainer, sleepers, guard, want, mark, told, fence, left, rounds>>

(* Or it looks again. *)
\* models locks/ondeck/src/rwlock/drain.rs sleep_beside_readers
BeginSleep(t) ==
    /\ pc[t] = "BeginSleep"
    /\ \/ Goto(t, "Scan") /\ UNCHANGED <<sleepers, fence>>
       \/ /\ sleepers' = IF left[t] = {} THEN sleepers ELSE sleepers \cup {t}
          /\ IF left[t] = {} \/ Mutant = "no_fence_of_the_sleeping_writer"
             THEN Goto(t, "LookFirst") /\ UNCHANGED fence
             ELSE Goto(t, "FenceBeforeSleep") /\ BeginFence(t)
    /\ UNCHANGED <<turns, word, slot, buffer, queue, drainer, guard, want, mark, told, left, rounds>>

\* models locks/ondeck/src/rwlock/drain.rs sleep_beside_readers
FenceBeforeSleep(t) ==
    /\ pc[t] = "FenceBeforeSleep"
    /\ FenceIsOver(t)
    /\ Goto(t, "LookFirst")
    /\ UNCHANGED <<turns, word, slot, buffer, queue, drainer, sleepers, guard, want, mark, told, fence, left, rounds>>

\* models locks/ondeck/src/rwlock/drain.rs park_beside_readers
DrainerLooks(t) ==
    /\ pc[t] = "LookFirst"
    /\ guard = 0
    /\ guard' = t
    /\ Goto(t, "LookAtLast")
    /\ UNCHANGED <<turns, word, slot, buffer, queue, drainer, sleepers, want, mark, told, fence, left, rounds>>

(* A visible reader was seen, or none: then it sleeps if readers are counted. *)
\* models locks/ondeck/src/rwlock/drain.rs park_beside_readers
DrainerParks(t) ==
    /\ pc[t] = "DrainerParks" \/ (pc[t] = "LookAtLast" /\ left[t] = {})
    /\ guard' = 0
    /\ IF pc[t] = "DrainerParks" \/ word.count > 0
       THEN /\ word' = [word EXCEPT !.asleep = TRUE]
            /\ drainer' = drainer \cup {t}
            /\ Goto(t, "DrainerSleeps")
       ELSE Goto(t, "EndSleep") /\ UNCHANGED <<word, drainer>>
    /\ UNCHANGED <<turns, slot, buffer, queue, sleepers, want, mark, told, fence, left, rounds>>

\* models locks/ondeck/src/rwlock/drain.rs park_beside_readers
DrainerSleeps(t) ==
    /\ pc[t] = "DrainerSleeps"
    /\ told[t] # ""
    /\ told' = [told EXCEPT ![t] = ""]
    /\ Goto(t, "EndSleep")
    /\ UNCHANGED <<turns, word, slot, buffer, queue, drainer, sleepers, guard, want, mark, fence, left, rounds>>

\* models locks/ondeck/src/rwlock/drain.rs park_beside_readers
DrainerLeaves(t) ==
    /\ pc[t] = "DrainerSleeps"
    /\ Ends # {}
    /\ told[t] = ""
    /\ guard = 0
    /\ drainer' = drainer \ {t}
    /\ Goto(t, "EndSleep")
    /\ UNCHANGED <<turns, word, slot, buffer, queue, sleepers, guard, want, mark, told, fence, left, rounds>>

(* A writer that waits for readers gives up. *)
\* models locks/ondeck/src/rwlock/exclusive.rs drain_or_leave
DrainerGivesUp(t) ==
    /\ pc[t] \in {"Scan", "BeginSleep"}
    /\ MayEnd("deadlines")
    /\ LET free == [word EXCEPT !.writer = FALSE, !.draining = FALSE, !.asleep = FALSE]
       IN IF Mutant = "gives_up_still_a_writer" THEN Goto(t, "Idle") /\ UNCHANGED <<word, queue, turns, told>>
          ELSE GivesBack(t, free)
    /\ UNCHANGED <<slot, buffer, drainer, sleepers, guard, want, mark, fence, left, rounds>>

\* models locks/ondeck/src/rwlock/drain.rs sleep_beside_readers
EndSleep(t) ==
    /\ pc[t] = "EndSleep"
    /\ sleepers' = sleepers \ {t}
    /\ Goto(t, "Scan")
    /\ UNCHANGED <<turns, word, slot, buffer, queue, drainer, guard, want, mark, told, fence, left, rounds>>

--------------------------------------------------------------------------------

Step(t) ==
    \/ Begin(t) \/ Publish(t) \/ LookAgain(t) \/ Retract(t) \/ LookForSleepingWriters(t)
    \/ WakeDrainer(t) \/ Attempt(t) \/ Bias(t) \/ ReaderLeaves(t) \/ Park(t) \/ GiveMark(t) \/ Sleep(t)
    \/ GiveUp(t) \/ LookItself(t) \/ Unlink(t) \/ DrainerLeaves(t) \/ DrainerGivesUp(t)
    \/ EndTurn(t) \/ PassOn(t) \/ Beside(t) \/ GiveBack(t) \/ Drain(t) \/ HeavyFence(t) \/ Scan(t) \/ Own(t)
    \/ BeginSleep(t) \/ FenceBeforeSleep(t) \/ DrainerLooks(t) \/ DrainerParks(t)
    \/ DrainerSleeps(t) \/ EndSleep(t) \/ Becomes(t)

AllOver == \A t \in Threads : pc[t] = "Idle" /\ rounds[t] = 0 /\ buffer[t] = <<>>

\* models nothing: all have ended
End == AllOver /\ UNCHANGED vars

Next == (\E t \in Threads : Step(t)) \/ End

Spec == Init /\ [][Next]_vars

--------------------------------------------------------------------------------

(* A writer is alone. *)
Exclusion ==
    \A t, u \in Threads : Writing(t) /\ t # u => ~Writing(u) /\ ~Reading(u)

(* If a thread is parked and none is in flight, there is a writer, which looks after it, or a reader that is *)
(* about to. *)
NoThreadIsForgotten ==
    queue # <<>> =>
        \/ word.flight \/ word.reserved
        \/ word.writer
        \/ \E t \in Threads : pc[t] \in {"UnlinkHolder", "PassOn", "Beside"}

(* A turn is reserved while there is no writer, for a thread that is linked, and is not parked as well. *)
TurnsAreReserved ==
    /\ word.reserved => ~word.writer /\ turns # <<>>
    /\ guard = 0 => Range(turns) \cap Range(queue) = {}

(* PARKED says whether there are parked threads. *)
ParkedIsExact == guard = 0 => word.parked = (queue # <<>>)

(* At the end nothing is left behind. *)
NothingIsLeft ==
    AllOver =>
            /\ [word EXCEPT !.biased = FALSE] = Free
            /\ sleepers = {} /\ queue = <<>> /\ turns = <<>> /\ drainer = {}
            /\ \A t \in Threads : ~slot[t]

=============================================================================
