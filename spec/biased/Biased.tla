------------------------------- MODULE Biased -------------------------------
(* The biased mutex of crates/ondeck/src/biased: its owner word, the slots of   *)
(* its owners, the inner mutex, the threads that sleep for an owner.            *)
(*                                                                              *)
(* Memory is that of x86: each thread has a buffer of stores to its slot that   *)
(* others do not see yet. A light fence is nothing. A heavy fence waits until   *)
(* what every thread had in its buffer when it began has become visible. The    *)
(* owner word and the marks are written by threads that make a heavy fence, a   *)
(* system call, or an unlock of the inner mutex next: they are written at once. *)
(*                                                                              *)
(* The inner mutex is taken in one step, by a read-modify-write. Each thread    *)
(* wants the lock Rounds times. Whether a thread becomes the owner, and whether *)
(* one that waits for the owner gives up, is left to chance.                    *)
(*                                                                              *)
(* Left out: a slot that is another lock's, attempts, rows that change their    *)
(* threads, heavy fences that are refused; loom or the tests have them.         *)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
    N,        \* how many threads there are
    Rounds,   \* how often each thread wants the lock
    GivesUp,  \* whether a thread may give up while it waits for the owner
    Mutant    \* which mistake is put in; "none" for none

Threads == 1..N

VARIABLES
    row,      \* the thread that the lock is or was biased to, or 0
    revoked,  \* whether it was revoked
    inner,    \* the thread that has the inner mutex, or 0
    slot,     \* slot[t]: whether the slot of t has the lock's address, as all threads see it
    buffer,   \* buffer[t]: stores of t to its slot that others do not see yet
    awaited,  \* awaited[t]: the mark of the slot of t
    pc,       \* what each thread does next
    fence,    \* fence[t][u]: how many stores of u the heavy fence of t waits for
    rounds    \* rounds[t]: how often t has yet to begin

vars == <<row, revoked, inner, slot, buffer, awaited, pc, fence, rounds>>

Init ==
    /\ row = 1
    /\ revoked = FALSE
    /\ inner = 0
    /\ slot = [t \in Threads |-> FALSE]
    /\ buffer = [t \in Threads |-> <<>>]
    /\ awaited = [t \in Threads |-> FALSE]
    /\ pc = [t \in Threads |-> "Idle"]
    /\ fence = [t \in Threads |-> [u \in Threads |-> 0]]
    /\ rounds = [t \in Threads |-> Rounds]

Goto(t, step) == pc' = [pc EXCEPT ![t] = step]

(* What t sees of its own slot. *)
OwnSlot(t) == IF buffer[t] = <<>> THEN slot[t] ELSE buffer[t][Len(buffer[t])]

Store(t, value) == buffer' = [buffer EXCEPT ![t] = Append(@, value)]

(* The heavy fence of t begins, or is left out. *)
Begins(t, without) ==
    fence' = [fence EXCEPT ![t] = [u \in Threads |-> IF Mutant = without THEN 0 ELSE Len(buffer[u])]]

Fenced(t) == \A u \in Threads : fence[t][u] = 0

Inside(t) == pc[t] \in {"BySlot", "ByInner"}

--------------------------------------------------------------------------------

\* models nothing: the oldest store of t becomes visible to all
Becomes(t) ==
    /\ buffer[t] # <<>>
    /\ slot' = [slot EXCEPT ![t] = Head(buffer[t])]
    /\ buffer' = [buffer EXCEPT ![t] = Tail(@)]
    /\ fence' = [u \in Threads |-> [fence[u] EXCEPT ![t] = IF @ > 0 THEN @ - 1 ELSE 0]]
    /\ UNCHANGED <<row, revoked, inner, awaited, pc, rounds>>

\* models crates/ondeck/src/biased/mod.rs try_biased
ReadOwner(t) ==
    /\ pc[t] = "Idle"
    /\ rounds[t] > 0
    /\ rounds' = [rounds EXCEPT ![t] = @ - 1]
    /\ Goto(t, IF row = t /\ ~revoked /\ ~OwnSlot(t) THEN "Publish" ELSE "Lock")
    /\ UNCHANGED <<row, revoked, inner, slot, buffer, awaited, fence>>

\* models crates/ondeck/src/biased/mod.rs try_biased
Publish(t) ==
    /\ pc[t] = "Publish"
    /\ Store(t, TRUE)
    /\ Goto(t, IF Mutant = "not_looked_again" THEN "BySlot" ELSE "LookAgain")
    /\ UNCHANGED <<row, revoked, inner, slot, awaited, fence, rounds>>

\* models crates/ondeck/src/biased/mod.rs try_biased
LookAgain(t) ==
    /\ pc[t] = "LookAgain"
    /\ Goto(t, IF row = t /\ ~revoked THEN "BySlot" ELSE "Failed")
    /\ UNCHANGED <<row, revoked, inner, slot, buffer, awaited, fence, rounds>>

\* models crates/ondeck/src/biased/mod.rs leave
Leave(t) ==
    /\ pc[t] \in {"BySlot", "Failed"}
    /\ Store(t, FALSE)
    /\ Goto(t, IF pc[t] = "BySlot" THEN "Left" ELSE "LeftFailed")
    /\ UNCHANGED <<row, revoked, inner, slot, awaited, fence, rounds>>

\* models crates/ondeck/src/biased/mod.rs leave
LookForSleepers(t) ==
    /\ pc[t] \in {"Left", "LeftFailed"}
    /\ LET wakes == awaited[t] /\ Mutant # "sleepers_not_asked"
       IN Goto(t, IF pc[t] = "Left" THEN IF wakes THEN "Wake" ELSE "Idle"
                  ELSE IF wakes THEN "WakeFailed" ELSE "Lock")
    /\ UNCHANGED <<row, revoked, inner, slot, buffer, awaited, fence, rounds>>

\* models crates/ondeck/src/biased/revoke.rs wake
Wake(t) ==
    /\ pc[t] \in {"Wake", "WakeFailed"}
    /\ awaited' = [awaited EXCEPT ![t] = FALSE]
    /\ pc' = [u \in Threads |->
                IF u = t THEN IF pc[t] = "Wake" THEN "Idle" ELSE "Lock"
                ELSE IF pc[u] = "Asleep" /\ row = t THEN "Watch" ELSE pc[u]]
    /\ UNCHANGED <<row, revoked, inner, slot, buffer, fence, rounds>>

\* models nothing: takes the inner mutex, and reads the owner word
Lock(t) ==
    /\ pc[t] = "Lock"
    /\ inner = 0
    /\ buffer[t] = <<>>
    /\ inner' = t
    /\ Goto(t, IF row = 0 THEN "ByInner" ELSE IF revoked THEN "Watch" ELSE "Revoke")
    /\ UNCHANGED <<row, revoked, slot, buffer, awaited, fence, rounds>>

\* models crates/ondeck/src/biased/mod.rs make_biased
Bias(t) ==
    /\ pc[t] = "ByInner"
    /\ slot' = [slot EXCEPT ![t] = TRUE]
    /\ row' = t
    /\ inner' = 0
    /\ Goto(t, "BySlot")
    /\ UNCHANGED <<revoked, buffer, awaited, fence, rounds>>

\* models nothing: unlocks the inner mutex
Unlock(t) ==
    /\ pc[t] = "ByInner"
    /\ inner' = 0
    /\ Goto(t, "Idle")
    /\ UNCHANGED <<row, revoked, slot, buffer, awaited, fence, rounds>>

\* models crates/ondeck/src/biased/revoke.rs shut
Revoke(t) ==
    /\ pc[t] = "Revoke"
    /\ revoked' = TRUE
    /\ Begins(t, "no_heavy_fence")
    /\ Goto(t, "HeavyFence")
    /\ UNCHANGED <<row, inner, slot, buffer, awaited, rounds>>

\* models crates/ondeck/src/biased/revoke.rs shut
HeavyFence(t) ==
    /\ pc[t] = "HeavyFence"
    /\ Fenced(t)
    /\ Goto(t, "Watch")
    /\ UNCHANGED <<row, revoked, inner, slot, buffer, awaited, fence, rounds>>

(* A thread that waits for the owner looks whether it has left. *)
Looks(t, otherwise) == Goto(t, IF slot[row] THEN otherwise ELSE "Clear")

\* models crates/ondeck/src/biased/revoke.rs is_inside
LookAtSlot(t) ==
    /\ \/ pc[t] = "Watch" /\ Looks(t, "Mark")
       \/ pc[t] = "LastLook" /\ Looks(t, "Sleep")
    /\ UNCHANGED <<row, revoked, inner, slot, buffer, awaited, fence, rounds>>

\* models crates/ondeck/src/biased/revoke.rs wait_outside
Mark(t) ==
    /\ pc[t] = "Mark"
    /\ awaited' = [awaited EXCEPT ![row] = TRUE]
    /\ Begins(t, "no_fence_of_the_sleeper")
    /\ Goto(t, "FenceBeforeSleep")
    /\ UNCHANGED <<row, revoked, inner, slot, buffer, rounds>>

\* models crates/ondeck/src/biased/revoke.rs wait_outside
FenceBeforeSleep(t) ==
    /\ pc[t] = "FenceBeforeSleep"
    /\ Fenced(t)
    /\ Goto(t, "LastLook")
    /\ UNCHANGED <<row, revoked, inner, slot, buffer, awaited, fence, rounds>>

\* models crates/ondeck/src/biased/revoke.rs wait_outside
Sleep(t) ==
    /\ pc[t] = "Sleep"
    /\ Goto(t, IF awaited[row] THEN "Asleep" ELSE "Watch")
    /\ UNCHANGED <<row, revoked, inner, slot, buffer, awaited, fence, rounds>>

\* models nothing: a deadline passes while the owner is inside
GiveUp(t) ==
    /\ GivesUp
    /\ pc[t] \in {"Mark", "Asleep"}
    /\ row' = IF Mutant = "gave_up_and_cleared" THEN 0 ELSE row
    /\ revoked' = IF Mutant = "gave_up_and_cleared" THEN FALSE ELSE revoked
    /\ inner' = 0
    /\ Goto(t, "Idle")
    /\ UNCHANGED <<slot, buffer, awaited, fence, rounds>>

\* models crates/ondeck/src/biased/revoke.rs revoke
Clear(t) ==
    /\ pc[t] = "Clear"
    /\ row' = 0
    /\ revoked' = FALSE
    /\ Goto(t, "ByInner")
    /\ UNCHANGED <<inner, slot, buffer, awaited, fence, rounds>>

--------------------------------------------------------------------------------

Step(t) ==
    \/ Becomes(t) \/ ReadOwner(t) \/ Publish(t) \/ LookAgain(t) \/ Leave(t) \/ LookForSleepers(t)
    \/ Wake(t) \/ Lock(t) \/ Bias(t) \/ Unlock(t) \/ Revoke(t) \/ HeavyFence(t) \/ LookAtSlot(t)
    \/ Mark(t) \/ FenceBeforeSleep(t) \/ Sleep(t) \/ GiveUp(t) \/ Clear(t)

Over == \A t \in Threads : pc[t] = "Idle" /\ rounds[t] = 0 /\ buffer[t] = <<>>

\* models nothing: all threads have had the lock as often as they wanted it
End == Over /\ UNCHANGED vars

Next == (\E t \in Threads : Step(t)) \/ End

Spec == Init /\ [][Next]_vars

--------------------------------------------------------------------------------

(* One thread is inside. *)
Exclusion == \A t, u \in Threads : Inside(t) /\ Inside(u) => t = u

(* While the lock is biased, the thread that has the inner mutex is not inside. *)
BiasedOrInner == \A t \in Threads : pc[t] = "ByInner" => row = 0

(* At the end nothing is left behind. *)
NothingIsLeft == Over => inner = 0 /\ \A t \in Threads : ~slot[t]

=============================================================================
