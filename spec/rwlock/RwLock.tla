------------------------------- MODULE RwLock -------------------------------
(* The reader-writer lock of crates/ondeck/src/rwlock: its word, its bias, the  *)
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
(* `guard` where it can. Whether a parked thread is overdue is left to chance.  *)
(*                                                                              *)
(* A thread has one slot, because all that the other ones do is to make it      *)
(* count where this model lets it be visible.                                   *)
(*                                                                              *)
(* Left out: upgradable readers, recursive reads, deadlines, that the lock's    *)
(* memory is used again; loom has them.                                         *)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
    N,           \* how many threads there are
    Rounds,      \* how often each thread reads or writes
    Biased,      \* whether the lock is biased at the beginning, and may become so
    MayHandOver, \* whether an unlock may hand the lock over
    Mutant       \* which mistake is put in; "none" for none

Threads == 1..N

VARIABLES
    word,     \* writer, draining, parked, flight, asleep, biased, count
    slot,     \* slot[t]: whether the slot of t has the lock's address, as all threads see it
    buffer,   \* buffer[t]: stores of t to its slot that others do not see yet
    queue,    \* parked threads, the oldest first
    drainer,  \* the writers that sleep until readers have left: at most one
    sleepingWriters, \* how many writers sleep until readers have left, or are about to
    guard,    \* the thread that has locked the bucket, or 0
    pc,       \* what each thread does next
    want,     \* "read" or "write"
    mark,     \* whether the thread is in flight
    told,     \* what a parked thread was told: "", "has" or "compete"
    fence,    \* fence[t][u]: how many stores of u the heavy fence of t waits for
    left,     \* left[t]: the threads whose slots the writer t has not seen empty
    rounds    \* rounds[t]: how often t has yet to begin

vars == <<word, slot, buffer, queue, drainer, sleepingWriters, guard, pc, want, mark, told, fence, left, rounds>>

Free == [writer |-> FALSE, draining |-> FALSE, parked |-> FALSE, flight |-> FALSE,
         asleep |-> FALSE, biased |-> FALSE, count |-> 0]

Init ==
    /\ word = [Free EXCEPT !.biased = Biased]
    /\ slot = [t \in Threads |-> FALSE]
    /\ buffer = [t \in Threads |-> <<>>]
    /\ queue = <<>>
    /\ drainer = {}
    /\ sleepingWriters = 0
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

Reading(t) == pc[t] \in {"Counted", "Visible"}
Writing(t) == pc[t] = "Writes"

--------------------------------------------------------------------------------

\* models nothing: the oldest store of t becomes visible to all
Becomes(t) ==
    /\ buffer[t] # <<>>
    /\ slot' = [slot EXCEPT ![t] = Head(buffer[t])]
    /\ buffer' = [buffer EXCEPT ![t] = Tail(@)]
    /\ fence' = [u \in Threads |-> [fence[u] EXCEPT ![t] = IF @ > 0 THEN @ - 1 ELSE 0]]
    /\ UNCHANGED <<word, queue, drainer, sleepingWriters, guard, pc, want, mark, told, left, rounds>>

\* models nothing: a thread begins
Begin(t) ==
    /\ pc[t] = "Idle"
    /\ rounds[t] > 0
    /\ rounds' = [rounds EXCEPT ![t] = @ - 1]
    /\ \E what \in {"read", "write"} : want' = [want EXCEPT ![t] = what]
    /\ IF want'[t] = "read" /\ word.biased /\ ~word.writer
       THEN Goto(t, "Publish") ELSE Goto(t, "Attempt")
    /\ UNCHANGED <<word, slot, buffer, queue, drainer, sleepingWriters, guard, mark, told, fence, left>>

\* models crates/ondeck/src/rwlock/bias.rs try_visible
Publish(t) ==
    /\ pc[t] = "Publish"
    /\ ~OwnSlot(t)
    /\ Store(t, TRUE)
    /\ Goto(t, IF Mutant = "not_looked_again" THEN "Visible" ELSE "LookAgain")
    /\ UNCHANGED <<word, slot, queue, drainer, sleepingWriters, guard, want, mark, told, fence, left, rounds>>

\* models crates/ondeck/src/rwlock/bias.rs try_visible
LookAgain(t) ==
    /\ pc[t] = "LookAgain"
    /\ Goto(t, IF word.biased /\ (~word.writer \/ Mutant = "bias_looked_at_only") THEN "Visible" ELSE "Failed")
    /\ UNCHANGED <<word, slot, buffer, queue, drainer, sleepingWriters, guard, want, mark, told, fence, left, rounds>>

\* models crates/ondeck/src/rwlock/bias.rs retract
Retract(t) ==
    /\ pc[t] \in {"Visible", "Failed"}
    /\ Store(t, FALSE)
    /\ Goto(t, IF pc[t] = "Visible" THEN "LookLeft" ELSE "LookFailed")
    /\ UNCHANGED <<word, slot, queue, drainer, sleepingWriters, guard, want, mark, told, fence, left, rounds>>

\* models crates/ondeck/src/rwlock/bias.rs retract
LookForSleepingWriters(t) ==
    /\ pc[t] \in {"LookLeft", "LookFailed"}
    /\ LET wakes == sleepingWriters > 0 /\ Mutant # "sleeping_writers_not_asked"
           next == IF pc[t] = "LookLeft" THEN "Idle" ELSE "Attempt"
       IN Goto(t, IF ~wakes THEN next ELSE IF next = "Idle" THEN "Wake" ELSE "WakeFailed")
    /\ UNCHANGED <<word, slot, buffer, queue, drainer, sleepingWriters, guard, want, mark, told, fence, left, rounds>>

\* models crates/ondeck/src/rwlock/settle.rs wake_drainer
WakeDrainer(t) ==
    /\ pc[t] \in {"Wake", "WakeFailed"}
    /\ guard = 0
    /\ Fenced(t)
    /\ told' = [u \in Threads |-> IF u \in drainer THEN "has" ELSE told[u]]
    /\ drainer' = {}
    /\ Goto(t, IF pc[t] = "Wake" THEN "Idle" ELSE "Attempt")
    /\ UNCHANGED <<word, slot, buffer, queue, sleepingWriters, guard, want, mark, fence, left, rounds>>

\* models crates/ondeck/src/rwlock/wait.rs attempt
\* models crates/ondeck/src/rwlock/shared.rs count_at_once
\* models crates/ondeck/src/rwlock/exclusive.rs lock_exclusive_at_once
Attempt(t) ==
    /\ pc[t] = "Attempt"
    /\ Fenced(t)
    /\ IF word.writer
       THEN Goto(t, "Park") /\ UNCHANGED <<word, mark>>
       ELSE /\ word' = Acquired([word EXCEPT !.flight = @ /\ ~mark[t]], want[t])
            /\ mark' = [mark EXCEPT ![t] = FALSE]
            /\ IF mark[t] /\ want[t] = "read" /\ word.parked /\ Mutant # "woken_reader_wakes_no_other"
               THEN Goto(t, "Beside") ELSE Holds(t)
    /\ UNCHANGED <<slot, buffer, queue, drainer, sleepingWriters, guard, want, told, fence, left, rounds>>

\* models crates/ondeck/src/rwlock/bias.rs make_biased
Bias(t) ==
    /\ pc[t] = "Counted"
    /\ Biased
    /\ Fenced(t)
    /\ ~word.writer /\ ~word.parked /\ ~word.biased
    /\ word' = [word EXCEPT !.biased = TRUE]
    /\ UNCHANGED <<slot, buffer, queue, drainer, sleepingWriters, guard, pc, want, mark, told, fence, left, rounds>>

\* models crates/ondeck/src/rwlock/shared.rs unlock_shared
ReaderLeaves(t) ==
    /\ pc[t] = "Counted"
    /\ Fenced(t)
    /\ word' = [word EXCEPT !.count = @ - 1]
    /\ Goto(t, IF word.count = 1 /\ word.asleep /\ Mutant # "last_reader_wakes_no_writer"
               THEN "Wake" ELSE "Idle")
    /\ UNCHANGED <<slot, buffer, queue, drainer, sleepingWriters, guard, want, mark, told, fence, left, rounds>>

--------------------------------------------------------------------------------

(* The threads of the queue that are told what, if the word becomes w. *)
Readers(q) == {t \in Threads : want[t] = "read" /\ \E i \in 1..Len(q) : q[i] = t}
Without(q, gone) == SelectSeq(q, LAMBDA t : t \notin gone)
OldestWriter(q) == LET writers == SelectSeq(q, LAMBDA t : want[t] = "write")
                   IN IF writers = <<>> THEN {} ELSE {Head(writers)}

(* Under the lock of the bucket: has threads go on that may, in the queue q, if the word becomes w. *)
Settled(w, q, hands) ==
    IF w.writer \/ q = <<>> \/ (w.flight /\ ~hands)
    THEN /\ word' = [w EXCEPT !.parked = q # <<>>]
         /\ queue' = q
         /\ UNCHANGED told
    ELSE IF ~hands
    THEN /\ word' = [w EXCEPT !.flight = TRUE, !.parked = Len(q) > 1]
         /\ queue' = Tail(q)
         /\ told' = [told EXCEPT ![Head(q)] = "compete"]
    ELSE LET readers == IF want[Head(q)] = "read" THEN Readers(q) ELSE {}
             has == readers \cup OldestWriter(q)
             counted == [w EXCEPT !.count = @ + Cardinality(readers)]
             given == IF OldestWriter(q) = {} THEN counted
                      ELSE IF Mutant = "handed_without_draining"
                      THEN [counted EXCEPT !.writer = TRUE]
                      ELSE Acquired(counted, "write")
         IN /\ queue' = Without(q, has)
            /\ word' = [given EXCEPT !.parked = queue' # <<>>]
            /\ told' = [t \in Threads |-> IF t \in has THEN "has" ELSE told[t]]

Hand == IF MayHandOver THEN BOOLEAN ELSE {FALSE}

(* A thread that was linked before goes back by its age: its place is left to chance, which is at either end.  *)
\* models crates/ondeck/src/rwlock/wait.rs park
Park(t) ==
    /\ pc[t] = "Park"
    /\ guard = 0
    /\ Fenced(t)
    /\ IF ~word.writer /\ Mutant # "parked_without_asking_again"
       THEN /\ word' = Acquired([word EXCEPT !.flight = @ /\ ~mark[t]], want[t])
            /\ IF mark[t] /\ want[t] = "read" /\ word.parked
               THEN Goto(t, "Beside") ELSE Holds(t)
            /\ UNCHANGED <<queue, told>>
       ELSE /\ \E linked \in {Append(queue, t), <<t>> \o queue} :
               IF mark[t] /\ Mutant # "mark_kept"
               THEN Settled([word EXCEPT !.flight = FALSE], linked, FALSE)
               ELSE /\ word' = [word EXCEPT !.parked = TRUE]
                    /\ queue' = linked
                    /\ UNCHANGED told
            /\ Goto(t, "Asleep")
    /\ mark' = [mark EXCEPT ![t] = FALSE]
    /\ UNCHANGED <<slot, buffer, drainer, sleepingWriters, guard, want, fence, left, rounds>>

\* models crates/ondeck/src/rwlock/wait.rs park
Sleep(t) ==
    /\ pc[t] = "Asleep"
    /\ told[t] # ""
    /\ told' = [told EXCEPT ![t] = ""]
    /\ mark' = [mark EXCEPT ![t] = told[t] = "compete"]
    /\ IF told[t] = "has" THEN Holds(t) ELSE Goto(t, "Attempt")
    /\ UNCHANGED <<word, slot, buffer, queue, drainer, sleepingWriters, guard, want, fence, left, rounds>>

\* models crates/ondeck/src/rwlock/wait.rs pass_on
Beside(t) ==
    /\ pc[t] = "Beside"
    /\ guard = 0
    /\ \E hands \in Hand : Settled(word, queue, hands)
    /\ Goto(t, "Counted")
    /\ UNCHANGED <<slot, buffer, drainer, sleepingWriters, guard, want, mark, fence, left, rounds>>

\* models crates/ondeck/src/rwlock/exclusive.rs give_back
\* models crates/ondeck/src/rwlock/exclusive.rs unlock_exclusive
GiveBack(t) ==
    /\ pc[t] = "Writes"
    /\ Fenced(t)
    /\ LET free == [word EXCEPT !.writer = FALSE]
           settles == word.parked /\ ~word.flight
       IN /\ settles => guard = 0
          /\ IF settles /\ Mutant # "unlock_wakes_no_thread"
             THEN \E hands \in Hand : Settled(free, queue, hands)
             ELSE word' = free /\ UNCHANGED <<queue, told>>
    /\ Goto(t, "Idle")
    /\ UNCHANGED <<slot, buffer, drainer, sleepingWriters, guard, want, mark, fence, left, rounds>>

--------------------------------------------------------------------------------

BeginFence(t) == fence' = [fence EXCEPT ![t] = [u \in Threads |-> IF u = t THEN 0 ELSE Len(buffer[u])]]
FenceIsOver(t) == \A u \in Threads : fence[t][u] = 0

\* models crates/ondeck/src/rwlock/drain.rs drain
Drain(t) ==
    /\ pc[t] = "Drain"
    /\ IF ~word.draining
       THEN Goto(t, "Writes") /\ UNCHANGED <<fence, left>>
       ELSE IF word.biased
       THEN /\ Goto(t, "HeavyFence")
            /\ left' = [left EXCEPT ![t] = Threads]
            /\ BeginFence(t)
       ELSE /\ Goto(t, "Scan")
            /\ left' = [left EXCEPT ![t] = {}]
            /\ UNCHANGED fence
    /\ UNCHANGED <<word, slot, buffer, queue, drainer, sleepingWriters, guard, want, mark, told, rounds>>

\* models crates/ondeck/src/rwlock/bias.rs revoke
HeavyFence(t) ==
    /\ pc[t] = "HeavyFence"
    /\ FenceIsOver(t) \/ Mutant = "no_heavy_fence"
    /\ Goto(t, "Scan")
    /\ UNCHANGED <<word, slot, buffer, queue, drainer, sleepingWriters, guard, want, mark, told, fence, left, rounds>>

\* The slots, one after the other.
\* models crates/ondeck/src/rwlock/bias.rs have_left
Scan(t) ==
    /\ pc[t] = "Scan"
    /\ \E u \in left[t] :
        /\ \A v \in left[t] : u <= v
        /\ IF slot[u] /\ Mutant # "slots_overlooked"
           THEN Goto(t, "BeginSleep") /\ UNCHANGED left
           ELSE left' = [left EXCEPT ![t] = @ \ {u}] /\ UNCHANGED pc
    /\ UNCHANGED <<word, slot, buffer, queue, drainer, sleepingWriters, guard, want, mark, told, fence, rounds>>

\* models crates/ondeck/src/rwlock/drain.rs own
Own(t) ==
    /\ pc[t] = "Scan"
    /\ left[t] = {}
    /\ IF word.count = 0 \/ Mutant = "counted_overlooked"
       THEN /\ word' = [word EXCEPT !.draining = FALSE, !.asleep = FALSE, !.biased = FALSE]
            /\ Goto(t, "Writes")
       ELSE Goto(t, "BeginSleep") /\ UNCHANGED word
    /\ UNCHANGED <<slot, buffer, queue, drainer, sleepingWriters, guard, want, mark, told, fence, left, rounds>>

\* models crates/ondeck/src/rwlock/drain.rs sleep_beside_readers
BeginSleep(t) ==
    /\ pc[t] = "BeginSleep"
    /\ sleepingWriters' = IF left[t] = {} THEN sleepingWriters ELSE sleepingWriters + 1
    /\ IF left[t] = {} \/ Mutant = "no_fence_of_the_sleeping_writer"
       THEN Goto(t, "LookFirst") /\ UNCHANGED fence
       ELSE Goto(t, "FenceBeforeSleep") /\ BeginFence(t)
    /\ UNCHANGED <<word, slot, buffer, queue, drainer, guard, want, mark, told, left, rounds>>

\* models crates/ondeck/src/rwlock/drain.rs sleep_beside_readers
FenceBeforeSleep(t) ==
    /\ pc[t] = "FenceBeforeSleep"
    /\ FenceIsOver(t)
    /\ Goto(t, "LookFirst")
    /\ UNCHANGED <<word, slot, buffer, queue, drainer, sleepingWriters, guard, want, mark, told, fence, left, rounds>>

\* The look at the slots under the lock of the bucket, and then the change of the word.
\* models crates/ondeck/src/rwlock/drain.rs park_beside_readers
DrainerLooks(t) ==
    /\ pc[t] = "LookFirst"
    /\ guard = 0
    /\ guard' = t
    /\ Goto(t, IF \E u \in left[t] : slot[u] THEN "ParkVisible" ELSE "ParkCounted")
    /\ UNCHANGED <<word, slot, buffer, queue, drainer, sleepingWriters, want, mark, told, fence, left, rounds>>

\* models crates/ondeck/src/rwlock/drain.rs park_beside_readers
DrainerParks(t) ==
    /\ pc[t] \in {"ParkVisible", "ParkCounted"}
    /\ guard' = 0
    /\ IF pc[t] = "ParkVisible" \/ word.count > 0
       THEN /\ word' = [word EXCEPT !.asleep = TRUE]
            /\ drainer' = drainer \cup {t}
            /\ Goto(t, "DrainerSleeps")
       ELSE Goto(t, "EndSleep") /\ UNCHANGED <<word, drainer>>
    /\ UNCHANGED <<slot, buffer, queue, sleepingWriters, want, mark, told, fence, left, rounds>>

\* models crates/ondeck/src/rwlock/drain.rs park_beside_readers
DrainerSleeps(t) ==
    /\ pc[t] = "DrainerSleeps"
    /\ told[t] # ""
    /\ told' = [told EXCEPT ![t] = ""]
    /\ Goto(t, "EndSleep")
    /\ UNCHANGED <<word, slot, buffer, queue, drainer, sleepingWriters, guard, want, mark, fence, left, rounds>>

\* models crates/ondeck/src/rwlock/drain.rs sleep_beside_readers
EndSleep(t) ==
    /\ pc[t] = "EndSleep"
    /\ sleepingWriters' = IF left[t] = {} THEN sleepingWriters ELSE sleepingWriters - 1
    /\ Goto(t, "Scan")
    /\ UNCHANGED <<word, slot, buffer, queue, drainer, guard, want, mark, told, fence, left, rounds>>

--------------------------------------------------------------------------------

Step(t) ==
    \/ Begin(t) \/ Publish(t) \/ LookAgain(t) \/ Retract(t) \/ LookForSleepingWriters(t)
    \/ WakeDrainer(t) \/ Attempt(t) \/ Bias(t) \/ ReaderLeaves(t) \/ Park(t) \/ Sleep(t)
    \/ Beside(t) \/ GiveBack(t) \/ Drain(t) \/ HeavyFence(t) \/ Scan(t) \/ Own(t)
    \/ BeginSleep(t) \/ FenceBeforeSleep(t) \/ DrainerLooks(t) \/ DrainerParks(t)
    \/ DrainerSleeps(t) \/ EndSleep(t) \/ Becomes(t)

Over == \A t \in Threads : pc[t] = "Idle" /\ rounds[t] = 0 /\ buffer[t] = <<>>

\* models nothing: all have ended
End == Over /\ UNCHANGED vars

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
        \/ word.flight
        \/ word.writer
        \/ \E t \in Threads : pc[t] = "Beside"

(* PARKED says whether there are parked threads. *)
ParkedIsExact == word.parked = (queue # <<>>)

(* At the end nothing is left behind. *)
NothingIsLeft ==
    Over => /\ [word EXCEPT !.biased = FALSE] = Free
            /\ sleepingWriters = 0 /\ queue = <<>> /\ drainer = {}
            /\ \A t \in Threads : ~slot[t]

=============================================================================
