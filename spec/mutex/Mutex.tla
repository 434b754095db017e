------------------------------- MODULE Mutex -------------------------------
(* The one-byte mutex of crates/ondeck as it ships: its byte, one bucket of the
   parking table, and threads that lock, wait, time out, hand over, release, and
   at last free the mutex.

   Memory is that of x86: each thread has a buffer of stores that others do not
   see yet (Sewell, Sarkar, Owens, Zappa Nardelli and Myreen, "x86-TSO: A
   Rigorous and Usable Programmer's Model for x86 Multiprocessors"). A
   read-modify-write and a full fence wait until the thread's own buffer is
   empty; a light fence is nothing; a heavy fence waits until every other buffer
   has been empty at some moment since it began, as membarrier(2) does. What only
   weaker machines reorder is not seen here: that is left to the loom tests.

   An action is one access that others can interfere with. Further accesses are
   part of it if they are stores, which go to the buffer in their order, or if the
   bucket's lock guards what they access. Above each action stands which Rust
   function it models; in that function a comment names the action.

   Left to chance: whether to poll and when to stop, which releases take a sample,
   when a sleeper is overdue, when attention is relaxed, when a deadline passes.
   So what holds here holds for all times and constants. *)
EXTENDS Naturals, Sequences, FiniteSets, TLC

CONSTANTS
    Threads,    \* a set
    Locks,      \* mutexes; all of them are in one bucket
    None,       \* no thread, no lock
    Rounds,     \* calls of each thread
    Polls,      \* whether an arriving waiter may go on deck
    Deadlines,  \* the threads whose waits may be given up
    Fair,       \* whether an owner may hand the lock over instead of releasing it
    Mutant      \* the mistake put in, or "none"

VARIABLES
    mem,        \* what all see
    buf,        \* of each thread, its stores that only it sees: <<cell, value>>, oldest first
    guard,      \* who has the bucket's lock
    list,       \* the linked nodes, newest first; a node is named by its thread
    demand,     \* whose next owner is to hand it over, and who came first all the same
    asleep,     \* who sleeps in the kernel
    me,         \* each thread's place and local variables
    program     \* what the threads are to do with the mutexes

table == <<guard, list, demand>>
vars == <<mem, buf, guard, list, demand, asleep, me, program>>

Mutation(name) == Mutant = name

-----------------------------------------------------------------------------
(* The words in memory. *)

Owned(l) == <<"owned", l>>          \* 0 free, 1 owned
Status(t) == <<"status", t>>        \* of t's node: "parked", "deck", "owner"
Attention == <<"attention", None>>  \* "fenced", "light", "skip", "hand over"
Deck == <<"deck", None>>            \* the lock that has an awake waiter, or None
Parked == <<"parked", None>>        \* how many sleep

(* What t reads: its own newest store, or what all see. *)
Read(t, c) ==
    LET own == {i \in 1..Len(buf[t]) : buf[t][i][1] = c}
    IN  IF own = {} THEN mem[c]
        ELSE buf[t][CHOOSE i \in own : \A j \in own : j <= i][2]

(* Stores of t, in their order: <<cell, value>> each. *)
Store(t, stores) == buf' = [buf EXCEPT ![t] = @ \o stores]

Quiet(t) == buf[t] = <<>>

(* The place of t, and where it goes. Places are named by what happens next. *)
At(t, place) == me[t].pc = place
Go(t, place) == me' = [me EXCEPT ![t].pc = place]

(* The bucket's lock is taken and given back by exchanges. *)
TakeGuard(t) == guard = None /\ Quiet(t) /\ guard' = t
LeaveGuard(t) == guard = t /\ Quiet(t) /\ guard' = None

-----------------------------------------------------------------------------
(* The list. *)

Linked == {list[i] : i \in 1..Len(list)}
Without(t) == SelectSeq(list, LAMBDA u : u # t)
Waiters(l) == SelectSeq(list, LAMBDA u : me[u].lk = l)

-----------------------------------------------------------------------------
Init ==
    /\ \E attention \in {"fenced", "light", "skip"} :
        mem = [c \in {Owned(l) : l \in Locks} \cup {Parked} |-> 0]
              @@ [c \in {Status(t) : t \in Threads} |-> "parked"]
              @@ (Deck :> None) @@ (Attention :> attention)
    /\ buf = [t \in Threads |-> <<>>]
    /\ guard = None
    /\ list = <<>>
    /\ demand = [lock |-> None, passed |-> 0]
    /\ asleep = {}
    /\ \E choice \in [Threads -> Locks] :
        me = [t \in Threads |->
                [pc |-> "TryLock",
                 lk |-> choice[t],    \* the mutex that it uses
                 onDeck |-> FALSE,    \* whether the mark is its own, as it believes
                 after |-> "Finish",  \* where it goes on after what several have in common
                 chosen |-> None,     \* whose node it has chosen
                 pending |-> {}]]     \* in a heavy fence: who was not quiet yet
    /\ program = [left |-> [t \in Threads |-> Rounds], out |-> {}, last |-> None, freed |-> {}]

-----------------------------------------------------------------------------
(* The machine. *)

(* The oldest of t's buffered stores is seen by all. If it is the last, heavy
   fences need not wait for t any more. *)
\* models nothing: the hardware
Drain(t) ==
    /\ ~Quiet(t)
    /\ mem' = [mem EXCEPT ![Head(buf[t])[1]] = Head(buf[t])[2]]
    /\ buf' = [buf EXCEPT ![t] = Tail(@)]
    /\ me' = IF Len(buf[t]) > 1 THEN me
             ELSE [u \in Threads |-> [me[u] EXCEPT !.pending = @ \ {t}]]
    /\ UNCHANGED <<table, asleep, program>>

-----------------------------------------------------------------------------
(* Acquiring. *)

(* Counts, for the property, who comes before a sleeper that all can know to be
   overdue. Not in the source. *)
Passes(t, owner) ==
    demand' = IF owner /\ demand.lock = me[t].lk /\ mem[Attention] = "hand over" /\ demand.passed < 2
              THEN [demand EXCEPT !.passed = @ + 1] ELSE demand

(* A test-and-set: t goes to one of two places. *)
TestAndSet(t, place, owner, other) ==
    /\ At(t, place)
    /\ Quiet(t)
    /\ mem' = [mem EXCEPT ![Owned(me[t].lk)] = 1]
    /\ Go(t, IF mem[Owned(me[t].lk)] = 0 THEN owner ELSE other)
    /\ Passes(t, mem[Owned(me[t].lk)] = 0)

\* models crates/ondeck/src/mutex/raw.rs try_lock
TryLock(t) ==
    /\ TestAndSet(t, "TryLock", "Section", "Arrive")
    /\ program' = [program EXCEPT !.left[t] = @ - 1]
    /\ UNCHANGED <<buf, guard, list, asleep>>

\* models crates/ondeck/src/mutex/deck.rs arrive
Arrive(t) ==
    /\ At(t, "Arrive")
    /\ Quiet(t)
    /\ \/ \* Another lock has the mark, or polling is off.
          /\ mem[Deck] # None \/ ~Polls
          /\ Go(t, "ParkLock")
          /\ UNCHANGED mem
       \/ /\ mem[Deck] = None /\ Polls
          /\ mem' = [mem EXCEPT ![Deck] = me[t].lk]
          /\ me' = [me EXCEPT ![t].pc = "Poll", ![t].onDeck = TRUE]
       \/ \* Another waiter has it: look once more.
          /\ mem[Deck] = me[t].lk /\ Polls
          /\ Go(t, "LookAgain")
          /\ UNCHANGED mem
    /\ UNCHANGED <<buf, table, asleep, program>>

\* models crates/ondeck/src/mutex/deck.rs arrive
LookAgain(t) ==
    /\ TestAndSet(t, "LookAgain", "Section", "ParkLock")
    /\ UNCHANGED <<buf, guard, list, asleep, program>>

\* models crates/ondeck/src/mutex/deck.rs poll
Poll(t) ==
    /\ TestAndSet(t, "Poll", "Leave", "ParkLock")
    /\ UNCHANGED <<buf, guard, list, asleep, program>>

(* Owner, it leaves the deck. *)
\* models crates/ondeck/src/mutex/deck.rs leave
Leave(t) ==
    /\ At(t, "Leave")
    /\ Store(t, <<<<Deck, None>>>>)
    /\ me' = [me EXCEPT ![t].pc = "Section", ![t].onDeck = FALSE]
    /\ UNCHANGED <<mem, table, asleep, program>>

-----------------------------------------------------------------------------
(* Parking. *)

\* models crates/ondeck/src/mutex/wait.rs wait_parked
ParkLock(t) ==
    /\ At(t, "ParkLock")
    /\ TakeGuard(t)
    /\ Go(t, "ParkLink")
    /\ UNCHANGED <<mem, buf, list, demand, asleep, program>>

\* models crates/ondeck/src/mutex/wait.rs park
ParkLink(t) ==
    /\ At(t, "ParkLink")
    /\ \/ list' = <<t>> \o list
       \/ \* It has waited before, and takes its place by age: anywhere.
          \E i \in 1..Len(list) :
            list' = SubSeq(list, 1, i) \o <<t>> \o SubSeq(list, i + 1, Len(list))
    /\ LET status == <<Status(t), "parked">>
           count == <<Parked, Read(t, Parked) + 1>>
           clear == <<Deck, None>>
       IN  Store(t, CASE Mutation("counted_after_the_fence") ->
                            IF me[t].onDeck THEN <<status, clear>> ELSE <<status>>
                      [] ~me[t].onDeck \/ Mutation("deck_cleared_after_last_look") -> <<status, count>>
                      [] Mutation("deck_cleared_before_counted") -> <<status, clear, count>>
                      [] OTHER -> <<status, count, clear>>)
    /\ me' = [me EXCEPT ![t].pc = "Announce",
                        ![t].onDeck = @ /\ Mutation("deck_cleared_after_last_look"),
                        ![t].after = "LastLook"]
    /\ UNCHANGED <<mem, guard, demand, asleep, program>>

(* What was just stored is to be seen by the releases to come. *)
\* models crates/ondeck/src/parking/attention.rs announce
Announce(t) ==
    /\ At(t, "Announce")
    /\ LET attention == Read(t, Attention) IN
       \/ /\ attention \in {"fenced", "hand over"}
          /\ Go(t, IF Mutation("no_fence_of_the_parker") THEN me[t].after ELSE "Fence")
          /\ UNCHANGED buf
       \/ /\ attention = "skip"
          /\ Go(t, "Heavy")
          /\ IF Mutation("attention_after_the_heavy_fence")
             THEN UNCHANGED buf
             ELSE Store(t, <<<<Attention, "light">>>>)
       \/ /\ attention = "light"
          /\ Go(t, "Heavy")
          /\ UNCHANGED buf
       \/ /\ attention = "light"
          /\ Go(t, IF Mutation("fenced_without_heavy_fence") THEN "Fence" ELSE "Heavy")
          /\ Store(t, <<<<Attention, "fenced">>>>)
    /\ UNCHANGED <<mem, table, asleep, program>>

\* models crates/ondeck/src/parking/attention.rs announce
Fence(t) ==
    /\ At(t, "Fence")
    /\ Quiet(t)
    /\ Go(t, me[t].after)
    /\ UNCHANGED <<mem, buf, table, asleep, program>>

(* A full fence of the caller, and one of everybody else sometime before it
   returns. Who is quiet when it begins has had it. *)
\* models crates/ondeck/src/parking/attention.rs announce
Heavy(t) ==
    /\ At(t, "Heavy")
    /\ IF Mutation("light_fences_on_both_sides")
       THEN Go(t, me[t].after)
       ELSE /\ Quiet(t)
            /\ me' = [me EXCEPT ![t].pc = "HeavyWait",
                                ![t].pending = {u \in Threads : ~Quiet(u)}]
    /\ UNCHANGED <<mem, buf, table, asleep, program>>

\* models crates/ondeck/src/parking/attention.rs announce
HeavyWait(t) ==
    /\ At(t, "HeavyWait")
    /\ me[t].pending = {}
    /\ Go(t, me[t].after)
    /\ IF Mutation("attention_after_the_heavy_fence") /\ Read(t, Attention) = "skip"
       THEN Store(t, <<<<Attention, "light">>>>)
       ELSE UNCHANGED buf
    /\ UNCHANGED <<mem, table, asleep, program>>

\* models crates/ondeck/src/mutex/wait.rs park
LastLook(t) ==
    /\ At(t, "LastLook")
    /\ IF Read(t, Owned(me[t].lk)) = 0 /\ ~Mutation("no_last_look")
       THEN Go(t, "LastTry") /\ UNCHANGED buf
       ELSE /\ me' = [me EXCEPT ![t].pc = "Unguard", ![t].after = "Sleep", ![t].onDeck = FALSE]
            /\ Store(t, CASE me[t].onDeck -> <<<<Deck, None>>>>
                           [] Mutation("counted_after_the_fence") -> <<<<Parked, Read(t, Parked) + 1>>>>
                           [] OTHER -> <<>>)
    /\ UNCHANGED <<mem, table, asleep, program>>

\* models crates/ondeck/src/mutex/wait.rs park
LastTry(t) ==
    /\ At(t, "LastTry")
    /\ Quiet(t)
    /\ mem' = [mem EXCEPT ![Owned(me[t].lk)] = 1]
    /\ LET free == mem[Owned(me[t].lk)] = 0 IN
        /\ list' = IF free THEN Without(t) ELSE list
        /\ Store(t, (IF free THEN <<<<Parked, Read(t, Parked) - 1>>>> ELSE <<>>)
                    \o (IF me[t].onDeck THEN <<<<Deck, None>>>> ELSE <<>>))
        /\ me' = [me EXCEPT ![t].pc = "Unguard", ![t].onDeck = FALSE,
                            ![t].after = IF free THEN "Section" ELSE "Sleep"]
    /\ Passes(t, mem[Owned(me[t].lk)] = 0)
    /\ UNCHANGED <<guard, asleep, program>>

\* models crates/ondeck/src/parking/lock.rs release
Unguard(t) ==
    /\ At(t, "Unguard")
    /\ LeaveGuard(t)
    /\ Go(t, me[t].after)
    /\ list' = IF Mutation("status_before_unlink") /\ me[t].chosen # None
               THEN Without(me[t].chosen) ELSE list
    /\ UNCHANGED <<mem, buf, demand, asleep, program>>

(* It looks at its status, and the kernel compares it. *)
\* models crates/ondeck/src/mutex/wait.rs sleep
Sleep(t) ==
    /\ At(t, "Sleep")
    /\ LET status == Read(t, Status(t)) IN
        /\ asleep' = IF status = "parked" THEN asleep \cup {t} ELSE asleep
        /\ me' = [me EXCEPT ![t].pc = CASE status = "parked" -> "Asleep"
                                        [] status = "deck" -> "Poll"
                                        [] OTHER -> "Section",
                            ![t].onDeck = status = "deck"]
    /\ UNCHANGED <<mem, buf, table, program>>

\* models crates/ondeck/src/mutex/wait.rs sleep
Asleep(t) ==
    /\ At(t, "Asleep")
    /\ t \notin asleep
    /\ Go(t, "Sleep")
    /\ UNCHANGED <<mem, buf, table, asleep, program>>

-----------------------------------------------------------------------------
(* Deadlines. *)

\* models crates/ondeck/src/mutex/wait.rs wait_parked
PassedAwake(t) ==
    /\ At(t, "ParkLock")
    /\ t \in Deadlines
    /\ Go(t, IF me[t].onDeck THEN "GiveUpLock" ELSE "Finish")
    /\ UNCHANGED <<mem, buf, table, asleep, program>>

\* models crates/ondeck/src/mutex/wait.rs sleep
PassedAsleep(t) ==
    /\ At(t, "Asleep")
    /\ t \in Deadlines
    /\ asleep' = asleep \ {t}
    /\ Go(t, "PassedLock")
    /\ UNCHANGED <<mem, buf, table, program>>

\* models crates/ondeck/src/mutex/wait.rs sleep
PassedLock(t) ==
    /\ At(t, "PassedLock")
    /\ TakeGuard(t)
    /\ Go(t, "PassedAsk")
    /\ UNCHANGED <<mem, buf, list, demand, asleep, program>>

(* It may have been chosen meanwhile, and then goes on as such. *)
\* models crates/ondeck/src/mutex/wait.rs sleep
PassedAsk(t) ==
    /\ At(t, "PassedAsk")
    /\ LET linked == Read(t, Status(t)) = "parked" IN
        /\ list' = IF linked /\ ~Mutation("timed_out_still_linked") THEN Without(t) ELSE list
        /\ Store(t, IF linked THEN <<<<Parked, Read(t, Parked) - 1>>>> ELSE <<>>)
        /\ me' = [me EXCEPT ![t].pc = "Unguard",
                            ![t].after = IF linked \/ Mutation("timed_out_without_asking")
                                         THEN "Finish" ELSE "Sleep"]
    /\ UNCHANGED <<mem, guard, demand, asleep, program>>

(* A waiter on deck goes without the lock. *)
\* models crates/ondeck/src/mutex/wait.rs give_up_deck
GiveUpLock(t) ==
    /\ At(t, "GiveUpLock")
    /\ IF Mutation("given_up_but_marked")
       THEN /\ me' = [me EXCEPT ![t].pc = "Finish", ![t].onDeck = FALSE]
            /\ UNCHANGED <<buf, guard>>
       ELSE /\ TakeGuard(t)
            /\ Store(t, <<<<Deck, None>>>>)
            /\ me' = [me EXCEPT ![t].pc = "Announce", ![t].onDeck = FALSE, ![t].after = "GiveUpLook"]
    /\ UNCHANGED <<mem, list, demand, asleep, program>>

(* Releases relied on it: it does what they would have done. *)
\* models crates/ondeck/src/mutex/wait.rs give_up_deck
GiveUpLook(t) ==
    /\ At(t, "GiveUpLook")
    /\ me' = [me EXCEPT ![t].pc = "Unguard",
                        ![t].after = IF Read(t, Owned(me[t].lk)) = 0
                                        /\ ~Mutation("given_up_without_a_look")
                                     THEN "LookAttention" ELSE "Finish"]
    /\ UNCHANGED <<mem, buf, table, asleep, program>>

-----------------------------------------------------------------------------
(* Releasing. In its last section a thread counts itself out. *)

CountedOut(t) ==
    LET out == IF program.left[t] = 0 THEN program.out \cup {t} ELSE program.out
    IN  [program EXCEPT !.out = out,
                        !.last = IF out = Threads /\ program.last = None THEN t ELSE @]

(* A look before the release: whether a sleeper has waited for so long that it is
   to be handed the lock. *)
\* models crates/ondeck/src/mutex/raw.rs unlock
Section(t) ==
    /\ At(t, "Section")
    /\ Go(t, IF Read(t, Attention) = "hand over" /\ ~Mutation("demand_ignored")
             THEN "DemandLock" ELSE "Release")
    /\ UNCHANGED <<mem, buf, table, asleep, program>>

\* models crates/ondeck/src/mutex/raw.rs unlock
Release(t) ==
    /\ At(t, "Release")
    /\ Store(t, <<<<Owned(me[t].lk), 0>>>>)
    /\ program' = CountedOut(t)
    /\ Go(t, IF Mutation("release_touches_the_mutex") THEN "LookAtMutex" ELSE "ReadAttention")
    /\ UNCHANGED <<mem, table, asleep>>

\* models crates/ondeck/src/mutex/raw.rs unlock
ReadAttention(t) ==
    /\ At(t, "ReadAttention") \/ At(t, "LookAtMutex")
    /\ Go(t, IF Read(t, Attention) = "skip" THEN "Finish" ELSE "LookAttention")
    /\ UNCHANGED <<mem, buf, table, asleep, program>>

\* models crates/ondeck/src/mutex/release.rs look_around
LookAttention(t) ==
    /\ At(t, "LookAttention")
    /\ Go(t, IF Read(t, Attention) \in {"fenced", "hand over"}
                /\ ~Mutation("no_fence_of_the_release")
             THEN "LookFence" ELSE "LookDeck")
    /\ UNCHANGED <<mem, buf, table, asleep, program>>

\* models crates/ondeck/src/mutex/release.rs look_around
LookFence(t) ==
    /\ At(t, "LookFence")
    /\ Quiet(t)
    /\ Go(t, "LookDeck")
    /\ UNCHANGED <<mem, buf, table, asleep, program>>

\* models crates/ondeck/src/mutex/release.rs look_around
LookDeck(t) ==
    /\ At(t, "LookDeck")
    /\ LET awake == IF Mutation("mark_of_another_lock")
                    THEN Read(t, Deck) # None ELSE Read(t, Deck) = me[t].lk
       IN  \E next \in IF awake THEN {"Sample", "Finish"} ELSE {"LookParked"} : Go(t, next)
    /\ UNCHANGED <<mem, buf, table, asleep, program>>

\* models crates/ondeck/src/mutex/release.rs look_around
LookParked(t) ==
    /\ At(t, "LookParked")
    /\ \E next \in IF Read(t, Parked) # 0 THEN {"WakeLock"} ELSE {"Sample", "Finish"} : Go(t, next)
    /\ UNCHANGED <<mem, buf, table, asleep, program>>

\* models crates/ondeck/src/mutex/release.rs sample
Sample(t) ==
    /\ At(t, "Sample")
    /\ \E next \in {"RelaxLock", "Finish"} \cup (IF Read(t, Parked) # 0 THEN {"WakeLock"} ELSE {}) :
        Go(t, next)
    /\ UNCHANGED <<mem, buf, table, asleep, program>>

\* models crates/ondeck/src/parking/attention.rs relax
RelaxLock(t) ==
    /\ At(t, "RelaxLock")
    /\ IF guard = None
       THEN TakeGuard(t) /\ Go(t, "Relax")
       ELSE Go(t, "Finish") /\ UNCHANGED guard
    /\ UNCHANGED <<mem, buf, list, demand, asleep, program>>

\* models crates/ondeck/src/parking/attention.rs relax
Relax(t) ==
    /\ At(t, "Relax")
    /\ \/ /\ Read(t, Attention) # "hand over"
          /\ Read(t, Parked) = 0 \/ Mutation("skips_while_somebody_sleeps")
          /\ Store(t, <<<<Attention, "skip">>>>)
       \/ /\ Read(t, Attention) = "fenced"
          /\ Store(t, <<<<Attention, "light">>>>)
       \/ UNCHANGED buf
    /\ me' = [me EXCEPT ![t].pc = "Unguard", ![t].after = "Finish"]
    /\ UNCHANGED <<mem, table, asleep, program>>

-----------------------------------------------------------------------------
(* Choosing whom to wake. *)

\* models crates/ondeck/src/mutex/release.rs wake
WakeLock(t) ==
    /\ At(t, "WakeLock")
    /\ TakeGuard(t)
    /\ Go(t, "Choose")
    /\ UNCHANGED <<mem, buf, list, demand, asleep, program>>

(* u leaves the list and is told what it is, last of all. *)
\* models crates/ondeck/src/parking/bucket.rs release
Dismiss(t, u, status, first) ==
    /\ list' = IF Mutation("status_before_unlink") THEN list ELSE Without(u)
    /\ Store(t, first \o <<<<Parked, Read(t, Parked) - 1>>, <<Status(u), status>>>>)
    /\ me' = [me EXCEPT ![t].pc = "Unguard", ![t].after = "FutexWake", ![t].chosen = u]

NobodyToWake(t) == me' = [me EXCEPT ![t].pc = "Unguard", ![t].after = "Finish", ![t].chosen = None]

\* models crates/ondeck/src/mutex/release.rs choose
Choose(t) ==
    /\ At(t, "Choose")
    /\ LET waiters == Waiters(me[t].lk) IN
       \/ \* The oldest has waited for too long.
          /\ waiters # <<>>
          /\ me' = [me EXCEPT ![t].pc = "HandOverdue", ![t].chosen = waiters[Len(waiters)]]
          /\ UNCHANGED <<mem, buf, list>>
       \/ \* Somebody is awake, or nobody sleeps.
          /\ Read(t, Deck) = me[t].lk \/ waiters = <<>>
          /\ NobodyToWake(t)
          /\ UNCHANGED <<mem, buf, list>>
       \/ \* One of the newest goes on deck.
          /\ Quiet(t)
          /\ mem[Deck] = None
          /\ \E i \in 1..Len(waiters) : Dismiss(t, waiters[i], "deck", <<>>)
          /\ mem' = IF Mutation("woken_not_marked") THEN mem ELSE [mem EXCEPT ![Deck] = me[t].lk]
       \/ \* Another lock has the mark: one is handed the lock.
          /\ mem[Deck] \notin {None, me[t].lk}
          /\ \E i \in 1..Len(waiters) :
                me' = [me EXCEPT ![t].pc = "HandOver", ![t].chosen = waiters[i]]
          /\ UNCHANGED <<mem, buf, list>>
    /\ UNCHANGED <<guard, demand, asleep, program>>

(* The lock is taken again, for the one chosen, unless somebody else was faster.
   For a sleeper that has waited for too long, that one's release is then to hand
   it over. *)
\* models crates/ondeck/src/mutex/release.rs hand_over
HandOver(t) ==
    /\ At(t, "HandOver") \/ At(t, "HandOverdue")
    /\ Quiet(t)
    /\ LET owned == Owned(me[t].lk) IN
        IF mem[owned] = 0
        THEN /\ mem' = IF Mutation("handover_takes_nothing") THEN mem ELSE [mem EXCEPT ![owned] = 1]
             /\ Dismiss(t, me[t].chosen, "owner", <<>>)
        ELSE /\ IF At(t, "HandOver") THEN NobodyToWake(t) ELSE Go(t, "Demand")
             /\ UNCHANGED <<mem, buf, list>>
    /\ UNCHANGED <<guard, demand, asleep, program>>

\* models crates/ondeck/src/parking/attention.rs demand
Demand(t) ==
    /\ At(t, "Demand")
    /\ demand' = [lock |-> me[t].lk, passed |-> 0]
    /\ Store(t, <<<<Attention, "hand over">>>>)
    /\ IF Read(t, Attention) = "light" /\ ~Mutation("demand_without_heavy_fence")
       THEN me' = [me EXCEPT ![t].pc = "Heavy", ![t].after = "Demanded"]
       ELSE Go(t, "Demanded")
    /\ UNCHANGED <<mem, guard, list, asleep, program>>

\* models nothing: the end of two ways
Demanded(t) ==
    /\ At(t, "Demanded")
    /\ NobodyToWake(t)
    /\ UNCHANGED <<mem, buf, table, asleep, program>>

(* By address: the node may be gone, and its thread sleep at another. *)
\* models crates/ondeck/src/mutex/release.rs wake
\* models crates/ondeck/src/mutex/release.rs hand_to_oldest
\* models crates/ondeck/src/mutex/release.rs hand_over_on_demand
FutexWake(t) ==
    /\ At(t, "FutexWake")
    /\ asleep' = IF Mutation("no_futex_wake") THEN asleep ELSE asleep \ {me[t].chosen}
    /\ me' = [me EXCEPT ![t].pc = "Finish", ![t].chosen = None]
    /\ UNCHANGED <<mem, buf, table, program>>

(* An owner hands the lock over instead of releasing it: unlock_fair, and bump. *)
\* models crates/ondeck/src/mutex/release.rs hand_to_oldest
FairLock(t) ==
    /\ Fair
    /\ At(t, "Section")
    /\ Read(t, Attention) # "skip" /\ Read(t, Parked) # 0
    /\ TakeGuard(t)
    /\ Go(t, "FairChoose")
    /\ UNCHANGED <<mem, buf, list, demand, asleep, program>>

\* models crates/ondeck/src/mutex/release.rs hand_to_oldest
FairChoose(t) ==
    /\ At(t, "FairChoose")
    /\ LET waiters == Waiters(me[t].lk) IN
        IF waiters = <<>>
        THEN /\ me' = [me EXCEPT ![t].pc = "Unguard", ![t].after = "Release"]
             /\ UNCHANGED <<buf, list, program>>
        ELSE /\ Dismiss(t, waiters[Len(waiters)], "owner", <<>>)
             /\ program' = CountedOut(t)
    /\ UNCHANGED <<mem, guard, demand, asleep>>

(* An owner is asked to hand a lock over: its own, another of the bucket, or one
   for which nobody sleeps any more. *)
\* models crates/ondeck/src/mutex/release.rs hand_over_on_demand
DemandLock(t) ==
    /\ At(t, "DemandLock")
    /\ TakeGuard(t)
    /\ Go(t, "DemandChoose")
    /\ UNCHANGED <<mem, buf, list, demand, asleep, program>>

\* models crates/ondeck/src/mutex/release.rs hand_over_on_demand
DemandChoose(t) ==
    /\ At(t, "DemandChoose")
    /\ LET waiters == IF demand.lock = None THEN <<>> ELSE Waiters(demand.lock)
           met == <<<<Attention, "fenced">>>>
       IN  IF waiters = <<>> \/ demand.lock = me[t].lk
           THEN /\ demand' = [lock |-> None, passed |-> 0]
                /\ IF waiters = <<>>
                   THEN /\ me' = [me EXCEPT ![t].pc = "Unguard", ![t].after = "Release"]
                        /\ Store(t, IF Read(t, Attention) = "hand over" THEN met ELSE <<>>)
                        /\ UNCHANGED <<list, program>>
                   ELSE /\ Dismiss(t, waiters[Len(waiters)], "owner", met)
                        /\ program' = CountedOut(t)
           ELSE /\ me' = [me EXCEPT ![t].pc = "Unguard", ![t].after = "Release"]
                /\ UNCHANGED <<buf, list, demand, program>>
    /\ UNCHANGED <<mem, guard, asleep>>

-----------------------------------------------------------------------------
(* The program around. Who finds in its last section that all others are out
   frees the mutexes as soon as its own call has returned. *)

\* models nothing: what the program does when a call has returned
Finish(t) ==
    /\ At(t, "Finish")
    /\ IF program.left[t] > 0
       THEN /\ \E l \in Locks : me' = [me EXCEPT ![t].pc = "TryLock", ![t].lk = l, ![t].after = "Finish"]
            /\ UNCHANGED program
       ELSE /\ me' = [me EXCEPT ![t].pc = "Done", ![t].after = "Finish"]
            /\ LET counted == CountedOut(t) IN
                IF counted.last = t
                THEN Quiet(t) /\ program' = [counted EXCEPT !.freed = Locks]
                ELSE program' = counted
    /\ UNCHANGED <<mem, buf, table, asleep>>

\* models nothing: the end
Terminated ==
    /\ \A t \in Threads : At(t, "Done")
    /\ UNCHANGED vars

-----------------------------------------------------------------------------
Step(t) ==
    \/ TryLock(t) \/ Arrive(t) \/ LookAgain(t) \/ Poll(t) \/ Leave(t)
    \/ ParkLock(t) \/ ParkLink(t) \/ Announce(t) \/ Fence(t) \/ Heavy(t) \/ HeavyWait(t)
    \/ LastLook(t) \/ LastTry(t) \/ Unguard(t) \/ Sleep(t) \/ Asleep(t)
    \/ PassedLock(t) \/ PassedAsk(t) \/ GiveUpLock(t) \/ GiveUpLook(t)
    \/ Section(t) \/ Release(t) \/ ReadAttention(t) \/ LookAttention(t) \/ LookFence(t)
    \/ LookDeck(t) \/ LookParked(t) \/ Sample(t) \/ RelaxLock(t) \/ Relax(t)
    \/ WakeLock(t) \/ Choose(t) \/ HandOver(t) \/ Demand(t) \/ Demanded(t) \/ FutexWake(t)
    \/ FairLock(t) \/ FairChoose(t) \/ DemandLock(t) \/ DemandChoose(t) \/ Finish(t)

Next ==
    \/ \E t \in Threads : Step(t) \/ Drain(t) \/ PassedAwake(t) \/ PassedAsleep(t)
    \/ Terminated

(* Threads run and buffers drain. Nobody promises that a deadline passes. *)
Spec == Init /\ [][Next]_vars /\ \A t \in Threads : WF_vars(Step(t)) /\ WF_vars(Drain(t))

Symmetry == Permutations(Threads)

-----------------------------------------------------------------------------
(* What must hold. *)

(* A cell's newest value, seen by all or not yet. Of the cells that this is asked
   of, one thread at a time has unseen stores. *)
Newest(c) ==
    LET writers == {t \in Threads : \E i \in 1..Len(buf[t]) : buf[t][i][1] = c}
    IN  IF writers = {} THEN mem[c] ELSE Read(CHOOSE t \in writers : TRUE, c)

(* t was taken out of the list, and is what it may not have seen yet. *)
Told(t, status) ==
    /\ \/ me[t].pc \in {"Sleep", "Asleep", "PassedLock", "PassedAsk"}
       \/ At(t, "Unguard") /\ me[t].after = "Sleep"
    /\ t \notin Linked
    /\ Newest(Status(t)) = status

Owner(t) ==
    \/ me[t].pc \in {"Leave", "Section", "Release", "FairChoose", "DemandLock", "DemandChoose"}
    \/ At(t, "Unguard") /\ me[t].after \in {"Section", "Release"}
    \/ Told(t, "owner")

Awake(t) == me[t].onDeck \/ Told(t, "deck")

Exclusion == \A l \in Locks : Cardinality({t \in Threads : me[t].lk = l /\ Owner(t)}) <= 1

AtMostOneAwake == \A l \in Locks : Cardinality({t \in Threads : me[t].lk = l /\ Awake(t)}) <= 1

(* The mark names a lock if, and only if, that has an awake waiter. *)
MarkIsExact ==
    \A l \in Locks : Newest(Deck) = l <=> \E t \in Threads : me[t].lk = l /\ Awake(t)

(* A node lives until its thread has the lock or gives up. *)
LinkedNodesLive ==
    \A t \in Linked :
        \/ me[t].pc \in {"Announce", "Fence", "Heavy", "HeavyWait", "LastLook", "LastTry",
                         "Sleep", "Asleep", "PassedLock", "PassedAsk"}
        \/ At(t, "Unguard") /\ me[t].after = "Sleep"

(* Who is at one of these places accesses its mutex next. *)
NothingFreedIsTouched ==
    \A t \in Threads :
        me[t].pc \in {"TryLock", "LookAgain", "Poll", "LastLook", "LastTry", "GiveUpLook",
                      "Release", "LookAtMutex", "HandOver", "HandOverdue"}
            => me[t].lk \notin program.freed

NothingIsLeft ==
    (\A t \in Threads : At(t, "Done")) =>
        /\ list = <<>> /\ guard = None
        /\ Newest(Parked) = 0 /\ Newest(Deck) = None
        /\ \A l \in Locks : Newest(Owned(l)) = 0

(* The byte and the word change together. *)
DemandIsKnown == demand.lock # None <=> Newest(Attention) = "hand over"

(* Once all can know that a sleeper is overdue, at most one thread comes before it:
   one whose last owner had looked before. *)
BypassIsBounded == demand.passed <= 1

(* No wake is lost: while somebody sleeps for a free lock, another is awake for it,
   or is about to look whether it is free, or whom to wake. *)
SleepsForGood(t) ==
    /\ t \in Linked
    /\ me[t].pc \in {"Sleep", "Asleep"} \/ (At(t, "Unguard") /\ me[t].after = "Sleep")

LooksAround(t) ==
    \/ me[t].pc \in {"ReadAttention", "LookAttention", "LookFence", "LookDeck", "LookParked",
                     "Sample", "WakeLock", "Choose", "HandOver", "HandOverdue", "GiveUpLook",
                     "Announce", "Fence", "Heavy", "HeavyWait", "LastLook", "LastTry"}
    \/ At(t, "Unguard") /\ me[t].after = "LookAttention"

NobodyIsForgotten ==
    \A l \in Locks :
        Newest(Owned(l)) = 0 /\ (\E t \in Threads : me[t].lk = l /\ SleepsForGood(t))
            => \E t \in Threads : me[t].lk = l /\ (Awake(t) \/ LooksAround(t))

(* Neither is a wake itself: everybody comes to an end. *)
AllComeToAnEnd == <>(\A t \in Threads : At(t, "Done"))
=============================================================================
