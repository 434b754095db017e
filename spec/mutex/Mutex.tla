------------------------------- MODULE Mutex -------------------------------
(* The one-byte mutex of crates/ondeck as it ships: bytes, one bucket of the parking
   table with its unlock mode and its records, and threads that lock, poll, wait near,
   park, time out, unlock, hand over, and at last free the mutex, whose address is then
   used for something else.

   Memory is that of x86: each thread has a buffer of stores that others do not
   see yet (Sewell, Sarkar, Owens, Zappa Nardelli and Myreen, "x86-TSO: A
   Rigorous and Usable Programmer's Model for x86 Multiprocessors"). A
   read-modify-write and a full fence wait until the thread's own buffer is
   empty; a light fence is nothing; a heavy fence waits until every other buffer
   has been empty at some moment since it began, as membarrier(2) does. What only
   weaker machines reorder is not seen here: that is left to the loom tests. One thing
   is weaker, where a configuration says so: the exchange that gives the bucket's lock
   back is a store like another, as Rust's `Release` allows.

   An action is one access that others can interfere with. Further accesses are
   part of it if they are stores, which go to the buffer in their order, or if the
   bucket's lock guards what they access. A line above each action names the Rust
   function that it models; in that function a comment names the action.

   Left to chance: whether to poll and when to stop, when a poller is stale, whether a
   thread is near, which unlocks take a sample, which parked thread is the oldest and
   when it is overdue, when unlocks are relaxed, when a deadline passes. So what holds
   here holds for all times and constants. *)
EXTENDS Naturals, Sequences, FiniteSets, TLC

CONSTANTS
    Threads,    \* a set
    None,       \* no thread, no record
    OwnRecords, \* how many locks can have a record of their own
    Plays,      \* of each thread, what it does: see Play below
    Starts,     \* how the bucket may be at first: see Init
    Deadlines,  \* the threads whose waits may be given up
    Ways,       \* what may happen: see May
    Mutant      \* the mistake put in, or "none"

VARIABLES
    mem,        \* what all threads see
    buf,        \* of each thread, the stores that only it sees: <<cell, value>>, oldest first
    awake,      \* of each record, the marks; only read-modify-writes change them
    linked,     \* the nodes in the queues; a node is named by its thread
    asleep,     \* which threads sleep in the kernel
    me,         \* each thread's place and local variables
    program     \* what the threads are to do, and what has become of the addresses

vars == <<mem, buf, awake, linked, asleep, me, program>>

Mutation(name) == Mutant = name

(* "poll"    threads poll for a lock before they park
   "stale"   and take the place of a poller that lost its CPU
   "stay"    and try a lock that has a poller more than once
   "near"    and wait near
   "overdue" a parked thread may have waited for too long
   "tried"   and has competed in vain before
   "fair"    an owner may hand the lock over instead of unlocking
   "relax"   unlocks are relaxed after a while: they make no fence, or do not look
   "refuse"  the kernel begins to refuse heavy fences
   "weak"    an exchange that only releases is a store like another *)
May(way) == way \in Ways

-----------------------------------------------------------------------------
(* What threads do. A call is [do, at, era]: what it does, at which address, in which of the
   address's lives. An address has its next life when the calls of the one before are over. *)

Lock(a, era) == [do |-> "lock", at |-> a, era |-> era]
Park(a, era) == [do |-> "park", at |-> a, era |-> era]
Unpark(a, era) == [do |-> "unpark", at |-> a, era |-> era]

Once == [t \in Threads |-> <<Lock("a", 1)>>]
Twice == [t \in Threads |-> <<Lock("a", 1), Lock("a", 1)>>]
OneTwice == <<<<Lock("a", 1), Lock("a", 1)>>, <<Lock("a", 1)>>, <<Lock("a", 1)>>>>
BothTwice == <<<<Lock("a", 1), Lock("a", 1)>>, <<Lock("a", 1)>>, <<Lock("a", 1), Lock("a", 1)>>>>
TwoLocks == [t \in Threads |-> <<Lock("a", 1), Lock("c", 1)>>]

(* For threads that are numbers. While the unlock of one thread is between its store and its
   look, the mutex is freed, and another object is at its address: another mutex, or a thread
   that waits for something of another kind. *)
ThenAnother == <<<<Lock("a", 1)>>, <<Lock("a", 1), Lock("a", 2)>>, <<Lock("a", 2)>>>>
ThenOthers == <<<<Lock("a", 1), Unpark("a", 2)>>, <<Lock("a", 1), Park("a", 2)>>>>
ThenOthersLate == <<<<Lock("a", 1)>>, <<Lock("a", 1), Park("a", 2)>>, <<Lock("a", 1), Unpark("a", 2)>>>>

(* For threads 1 to 3: there is one record, for two locks. *)
Evicted == <<<<Lock("a", 1)>>, <<Lock("c", 1), Lock("a", 1)>>, <<Lock("c", 1)>>>>

(* For threads 1 to 3, which have begun: see InitLandsLate and InitLeavesLate. *)
LandsLate == <<<<Lock("a", 1)>>, <<Lock("c", 1)>>, <<Lock("c", 1)>>>>

(* For threads 1 to 3, which have begun: see InitTwoRecords. *)
TwoRecords == <<<<Lock("a", 1)>>, <<Lock("e", 1), Lock("c", 1)>>, <<Lock("c", 1)>>>>

(* The threads of a real-time scheduling class. A configuration may replace the set. *)
RealTime == {}
TheThird == {3}

-----------------------------------------------------------------------------
(* The words in memory. *)

Own == 1..OwnRecords
Shared == 0
Records == 0..OwnRecords
Addresses == UNION {{Plays[t][i].at : i \in 1..Len(Plays[t])} : t \in Threads}

Byte(a) == <<"byte", a>>            \* 0 free, 1 locked
Status(t) == <<"status", t>>        \* of t's node: "parked", "near", "poller", "flight", "compete", "done"
Guard == <<"guard", 0>>             \* which thread has the bucket's lock
Mode == <<"mode", 0>>               \* "look", "skip", "some" or "asked"
Left(r) == <<"left", r>>            \* the last turn that has ended with the lock, [tenancy, turn]
Armed(r) == <<"armed", r>>          \* whether unlocks look there
Address(r) == <<"address", r>>      \* "none", "shared" or an address
Parked(r) == <<"parked", r>>
Fences(r) == <<"fence", r>>         \* <<"not yet", "fenced" or "light", generation, whether a handoff is requested,
                                    \*   whether a real-time thread is parked>>

(* What t reads: its own newest store, or what all threads see. *)
Read(t, c) ==
    IF buf[t] = <<>> THEN mem[c[1]][c[2]]
    ELSE LET own == {i \in 1..Len(buf[t]) : buf[t][i][1] = c}
         IN  IF own = {} THEN mem[c[1]][c[2]]
             ELSE buf[t][CHOOSE i \in own : \A j \in own : j <= i][2]

(* Stores of t, in their order: <<cell, value>> each. A store of the value that a cell already
   has is left out: only the holder of the bucket's lock stores to such cells. *)
Store(t, stores) == buf' = [buf EXCEPT ![t] = @ \o SelectSeq(stores, LAMBDA s : Read(t, s[1]) # s[2])]

(* What t reads after these stores of its own. *)
ReadBehind(t, stores, c) ==
    LET own == {i \in 1..Len(stores) : stores[i][1] = c}
    IN  IF own = {} THEN Read(t, c) ELSE stores[CHOOSE i \in own : \A j \in own : j <= i][2]

Quiet(t) == buf[t] = <<>>

(* The place of t, and where it goes. Places are named by what happens next. *)
At(t, place) == me[t].pc = place
Go(t, place) == me' = [me EXCEPT ![t].pc = place]

Call(t) == Plays[t][me[t].call]
Here(t) == Call(t).at

(* The bucket's lock is taken by an exchange. *)
CanTakeGuard(t) == Quiet(t) /\ mem.guard[0] = None
Guarded(t) == [mem EXCEPT !.guard[0] = t]

-----------------------------------------------------------------------------
(* Records and queues. *)

Waiters(a) == {t \in linked : Here(t) = a /\ (Call(t).do = "lock" \/ Mutation("kinds_ignored"))}

OwnRecord(t, a) ==
    LET its == {r \in Own : Read(t, Address(r)) = a}
    IN  IF its = {} THEN None ELSE CHOOSE r \in its : TRUE

RecordOf(t, a) ==
    LET own == OwnRecord(t, a)
    IN  CASE own # None -> own
          [] Read(t, Address(Shared)) = "shared" -> Shared
          [] OTHER -> None

(* Marks are [poller, turn, flight, tenancy]: the thread that has begun the turn of this number, unless it has taken
   its mark away. It may have become the owner, and its turn be the last that has ended with the lock.
   TLC knows the thread, the source only the number. *)
Turn(marks) == [tenancy |-> marks.tenancy, turn |-> marks.turn]

(* By these marks, and what t reads of the last turn. *)
HasPoller(t, r, marks) ==
    LET left == Read(t, Left(r))
    IN  /\ marks.poller # None
        /\ left.tenancy = marks.tenancy \/ Mutation("turn_of_another_tenancy")
        /\ left # Turn(marks) \/ Mutation("turn_not_compared")

Marked(t, r) == HasPoller(t, r, awake[r]) \/ awake[r].flight

(* Whether the turn is still t's own. *)
Polls(t, r) == awake[r].poller = t /\ Read(t, Left(r)) # Turn(awake[r])

(* A number that no thread can mistake for one that it has seen. *)
Fresh(used) == CHOOSE n \in 0..Cardinality(used) : n \notin used

(* The last turns that threads read, or will. *)
Lefts(r) == {mem.left[r]} \cup UNION {{buf[t][i][2] : i \in {i \in 1..Len(buf[t]) : buf[t][i][1] = Left(r)}} : t \in Threads}

NextTenancy(r) ==
    Fresh({awake[r].tenancy : u \in {u \in Threads : me[u].record = r /\ me[u].seen = awake[r]}}
          \cup {me[u].seen.tenancy : u \in {u \in Threads : me[u].record = r /\ me[u].seen # None}}
          \cup {left.tenancy : left \in Lefts(r)})

(* The source counts. *)
NextTurn(r) ==
    Fresh({awake[r].turn} \cup {left.turn : left \in Lefts(r)}
          \cup {me[u].seen.turn : u \in {u \in Threads : me[u].record = r /\ me[u].seen # None}})

(* Whether no thread remembers an older turn. The model then gives the same names to the same turns: fewer states. *)
Forgotten(r, t) ==
    /\ \A u \in Threads : me[u].record = r => me[u].seen = None
    /\ \A u \in Threads : \A i \in 1..Len(buf[u]) : buf[u][i][1] = Left(r) => u = t /\ i = 1

(* t becomes the poller. *)
Polled(r, t) == [awake EXCEPT ![r].poller = t, ![r].turn = NextTurn(r)]

Kind(t, r) == Read(t, Fences(r))[1]
Requested(t, r) == Read(t, Fences(r))[3]
Urgent(t, r) == Read(t, Fences(r))[4]
Requests(t, r, wanted) == <<Fences(r), [Read(t, Fences(r)) EXCEPT ![3] = wanted]>>

NextGeneration(r) ==
    Fresh({mem.fence[r][2]} \cup {me[u].fence[2] : u \in {u \in Threads : me[u].record = r /\ me[u].fence # None}})

SteppedBackAs(t, r, urgent) == <<Fences(r), <<"not yet", NextGeneration(r), Requested(t, r), Urgent(t, r) \/ urgent>>>>
SteppedBack(t, r) == SteppedBackAs(t, r, FALSE)

Quits(t, r) == (Read(t, Parked(r)) = 0 \/ Mutation("evicted_while_parked")) /\ ~Marked(t, r)

(* The unlock mode that suits the records, after these stores of t. *)
BestMode(t, stores) ==
    CASE \E r \in Records : ReadBehind(t, stores, Fences(r))[3] -> "asked"
      [] \E r \in Records : ReadBehind(t, stores, Armed(r)) -> "some"
      [] OTHER -> "skip"
ModeStore(t, stores) == IF Read(t, Mode) = "look" THEN <<>> ELSE <<<<Mode, BestMode(t, stores)>>>>
WithMode(t, stores) == stores \o ModeStore(t, stores)

(* Unlocks of a lock that gets a record have no fence, unless nothing is known of the bucket. *)
GiveTo(t, r, address) ==
    <<<<Fences(r), <<IF Read(t, Mode) = "look" THEN "not yet" ELSE "light", NextGeneration(r), FALSE, FALSE>>>>,
      <<Address(r), address>>>>

(* From now on unlocks look at this record, if they did not before: these stores, and then those of that. *)
ArmedToo(t, r, given, stores) ==
    IF Read(t, Armed(r)) /\ ~given THEN stores
    ELSE WithMode(t, stores
         \o (IF given \/ Kind(t, r) = "light" \/ Mutation("armed_though_fenced") THEN <<>>
             ELSE <<SteppedBackAs(t, r, t \in RealTime)>>)
         \o <<<<Armed(r), TRUE>>>>)

(* t is counted after these stores. The source counts threads of a real-time class separately. *)
Count(t, r, stores) ==
    <<<<Parked(r), Read(t, Parked(r)) + 1>>>>
    \o (IF t \in RealTime THEN <<<<Fences(r), [ReadBehind(t, stores, Fences(r)) EXCEPT ![4] = TRUE]>>>> ELSE <<>>)

(* u is not counted any more: the first stores of t, and then those of that. *)
Uncount(t, u, r, first) ==
    LET parked == Read(t, Parked(r)) - 1
        others == {v \in RealTime \cap linked : v # u /\ Call(v).do = "lock" /\ RecordOf(t, Here(v)) = r}
        fence == ReadBehind(t, first, Fences(r))
        flags == [fence EXCEPT ![3] = @ /\ parked # 0, ![4] = others # {}]
        uncounted == first \o <<<<Parked(r), parked>>>> \o (IF flags = fence THEN <<>> ELSE <<<<Fences(r), flags>>>>)
    IN  IF flags[3] = fence[3] THEN uncounted ELSE WithMode(t, uncounted)

(* Whether an unlock has to look. *)
Concerns(t) ==
    CASE Read(t, Mode) = "skip" -> FALSE
      [] Read(t, Mode) = "look" -> TRUE
      [] OTHER -> RecordOf(t, Here(t)) # None

-----------------------------------------------------------------------------
Idle == [pc |-> "Call",
         call |-> 1,
         record |-> None,   \* the record that it has in hand
         seen |-> None,     \* marks that it has read
         fence |-> None,    \* the fence that it owes, with the earlier state of its record: <<"full", 0>> or that state
         after |-> "Finish",\* where it goes on after an action that several places share
         chosen |-> None,   \* the thread that it has chosen
         tell |-> "",       \* and what to tell that thread
         back |-> "Finish", \* where it goes on after it has looked after parked threads: "Poll" if it polls
         owes |-> FALSE,    \* whether it has had a mark since it last parked
         tried |-> May("tried"), \* whether it was overdue, and competed
         timed |-> FALSE,   \* whether it sleeps for a while only
         pending |-> {}]    \* in a heavy fence: the threads that were not quiet yet; otherwise records to ask

Uses(a, era) == {t \in Threads : \E i \in 1..Len(Plays[t]) : Plays[t][i].at = a /\ Plays[t][i].era = era}
CallsOf(a, era) ==
    LET calls(t) == Cardinality({i \in 1..Len(Plays[t]) : Plays[t][i].at = a /\ Plays[t][i].era = era})
        RECURSIVE Sum(_)
        Sum(ts) == IF ts = {} THEN 0 ELSE LET t == CHOOSE t \in ts : TRUE IN calls(t) + Sum(ts \ {t})
    IN  Sum(Threads)

(* How the bucket is at first:
   "look"      nothing is known
   "skip"      no lock has a record
   "polled"    the lock at a has a record, which is light, because a thread has polled
   "fenced"    a thread has parked, too
   "light"     and that was long ago
   "shared"    the same, and another record is shared, and fenced *)
Start(start) ==
    LET given == start \notin {"look", "skip"}
        armed == start \notin {"look", "skip", "polled"}
        shared == start = "shared"
        kind == IF start = "fenced" THEN "fenced" ELSE IF given THEN "light" ELSE "not yet"
    IN  [byte |-> [a \in Addresses |-> 0],
         status |-> [t \in Threads |-> "parked"],
         parked |-> [r \in Records |-> 0],
         armed |-> [r \in Records |-> (r = 1 /\ armed) \/ (r = Shared /\ shared)],
         address |-> [r \in Records |-> IF r = 1 /\ given THEN "a" ELSE IF r = Shared /\ shared THEN "shared" ELSE "none"],
         fence |-> [r \in Records |-> <<IF r = 1 THEN kind ELSE IF r = Shared /\ shared THEN "fenced" ELSE "not yet", 0, FALSE, FALSE>>],
         left |-> [r \in Records |-> [tenancy |-> 0, turn |-> 0]],
         mode |-> [i \in {0} |-> IF armed THEN "some" ELSE IF given THEN "skip" ELSE start],
         guard |-> [i \in {0} |-> None]]

(* The beginning, with these words in memory, marks, and threads in these places. *)
Begin(words, marks, threads) ==
    /\ mem = words
    /\ buf = [t \in Threads |-> <<>>]
    /\ awake = marks
    /\ linked = {}
    /\ asleep = {}
    /\ me = threads
    /\ program = [era |-> [a \in Addresses |-> 1],
                  left |-> [a \in Addresses |-> CallsOf(a, 1)], \* calls that have not counted themselves out
                  out |-> {},               \* threads whose call has counted itself out
                  last |-> {},              \* threads whose call was the last: they free what is at the address
                  passed |-> 0,             \* how many locked first although a handoff was requested
                  refused |-> FALSE]        \* whether heavy fences are refused

NoMarks == [r \in Records |-> [poller |-> None, turn |-> 0, flight |-> FALSE, tenancy |-> 0]]
PolledBy(t) == [NoMarks EXCEPT ![1].poller = t, ![1].turn = 1]

Init == \E start \in Starts : Begin(Start(start), NoMarks, [t \in Threads |-> Idle])

(* A state that from the start needs more threads than TLC can follow. Threads 1 to 4: 1 owns the lock at a. 2 is about
   to take the record from that lock, and has cleared its address. 3 has given up: its heavy fence began when the
   record was not fenced yet. 4 has begun to poll, so that the record cannot be taken. *)
InitTakenInVain ==
    Begin([Start("light") EXCEPT !.byte["a"] = 1, !.guard[0] = 2, !.address[1] = "none",
                                 !.fence[1] = <<"not yet", 0, FALSE, FALSE>>],
          PolledBy(4),
          [t \in Threads |->
              CASE t = 1 -> [Idle EXCEPT !.pc = "Section"]
                [] t = 2 -> [Idle EXCEPT !.pc = "TakeAway", !.record = 1, !.after = "TakeQuiet", !.tell = "a"]
                [] t = 3 -> [Idle EXCEPT !.pc = "HeavyWait", !.record = 1, !.fence = <<"not yet", 0>>, !.after = "GiveUpLook"]
                [] t = 4 -> [Idle EXCEPT !.pc = "Poll", !.record = 1]])

(* There are two records, for three locks. Threads 1 to 3: 1 has begun to poll for the lock at a, and 3 owns the lock
   at c. 2 wants the lock at e, and is about to take the record from the lock at a for that. *)
InitTwoRecords ==
    Begin([Start("fenced") EXCEPT !.byte["c"] = 1, !.guard[0] = 2, !.armed[2] = TRUE,
                                  !.address = [@ EXCEPT ![1] = "none", ![2] = "c"],
                                  !.fence[2] = <<"light", 0, FALSE, FALSE>>],
          PolledBy(1),
          [t \in Threads |->
              CASE t = 1 -> [Idle EXCEPT !.pc = "Poll", !.record = 1]
                [] t = 2 -> [Idle EXCEPT !.pc = "TakeAway", !.record = 1, !.after = "ArriveSee", !.tell = "a"]
                [] t = 3 -> [Idle EXCEPT !.pc = "Section"]])

(* There is one record, for two locks. Threads 1 to 3: 1 was woken for the lock at a, and found its record. But another
   thread took its mark away, and then the record has gone to the lock at c. 2 owns that one, and 3 is about to park
   for it. *)
InitLandsLate ==
    Begin([Start("light") EXCEPT !.byte["c"] = 1, !.address[1] = "c"],
          NoMarks,
          [t \in Threads |->
              CASE t = 1 -> [Idle EXCEPT !.pc = "Land", !.record = 1]
                [] t = 2 -> [Idle EXCEPT !.pc = "Section"]
                [] t = 3 -> [Idle EXCEPT !.pc = "ParkLock"]])

(* There is one record, for two locks. Threads 1 to 3: 1 has polled for the lock at a and owns it. It is about to store
   its turn, but another thread has taken its place, and then the record has gone to the lock at c. 2 polls for that one,
   and 3 is about to park for it. *)
InitLeavesLate ==
    Begin([Start("light") EXCEPT !.byte["a"] = 1, !.address[1] = "c", !.left[1] = [tenancy |-> 1, turn |-> 0]],
          [NoMarks EXCEPT ![1] = [poller |-> 2, turn |-> 2, flight |-> FALSE, tenancy |-> 1]],
          [t \in Threads |->
              CASE t = 1 -> [Idle EXCEPT !.pc = "StoreTurn", !.record = 1, !.seen = [tenancy |-> 0, turn |-> 1]]
                [] t = 2 -> [Idle EXCEPT !.pc = "Poll", !.record = 1]
                [] t = 3 -> [Idle EXCEPT !.pc = "ParkLock"]])

-----------------------------------------------------------------------------
(* The machine. *)

(* The oldest of t's buffered stores becomes visible to all. If it was the last one, heavy
   fences need not wait for t any more. *)
\* models nothing: the hardware
Drain(t) ==
    /\ ~Quiet(t)
    /\ LET store == Head(buf[t])
           r == store[1][2]
           ends == store[1][1] = "left" /\ store[2] = Turn(awake[r]) /\ Forgotten(r, t)
       IN  IF ends
           THEN /\ mem' = [mem EXCEPT !.left[r] = [store[2] EXCEPT !.turn = 0]]
                /\ awake' = [awake EXCEPT ![r].turn = 0, ![r].poller = None]
           ELSE /\ mem' = [mem EXCEPT ![store[1][1]][r] = store[2]]
                /\ UNCHANGED awake
    /\ buf' = [buf EXCEPT ![t] = Tail(@)]
    /\ me' = IF Len(buf[t]) > 1 THEN me
             ELSE [u \in Threads |-> [me[u] EXCEPT !.pending = @ \ {t}]]
    /\ UNCHANGED <<linked, asleep, program>>

-----------------------------------------------------------------------------
(* Acquiring. *)

(* In the last section at an address the thread knows that it is the last one. *)
CountedOut(t) ==
    LET a == Here(t)
        left == program.left[a] - 1
    IN  IF t \in program.out THEN program
        ELSE [program EXCEPT !.left[a] = left, !.out = @ \cup {t}, !.last = IF left = 0 THEN @ \cup {t} ELSE @]

(* Counts, for the property, the threads that lock before a thread that all threads can know to be overdue.
   Not in the source. *)
Passes(t) ==
    program' = IF /\ mem.byte[Here(t)] = 0 /\ program.passed < 2
                  /\ mem.mode[0] \in {"asked", "look"} \/ Mutation("request_without_the_mode")
                  /\ \E r \in Own : mem.address[r] = Here(t) /\ mem.fence[r][3]
               THEN [program EXCEPT !.passed = @ + 1] ELSE program

(* For an owner it does not matter how it became the owner. *)
Become(t, place) ==
    IF place = "Section"
    THEN [me EXCEPT ![t] = [Idle EXCEPT !.pc = place, !.call = me[t].call]]
    ELSE [me EXCEPT ![t].pc = place]

(* A test-and-set: t goes to one of two places. *)
TestAndSet(t, place, owner, others) ==
    /\ At(t, place)
    /\ Quiet(t)
    /\ mem' = [mem EXCEPT !.byte[Here(t)] = 1]
    /\ IF mem.byte[Here(t)] = 0 THEN me' = Become(t, owner) ELSE \E other \in others : Go(t, other)
    /\ Passes(t)
    /\ UNCHANGED <<buf, awake, linked, asleep>>

(* A failed attempt changes nothing. So the repeated attempts that the source makes at first are this one, later. *)
\* models crates/ondeck/src/mutex/lock.rs try_lock
TryLock(t) ==
    /\ At(t, "Call")
    /\ Call(t).do = "lock" /\ Call(t).era = program.era[Here(t)]
    /\ TestAndSet(t, "Call", "Section", {"Arrive"})

(* A thread that found the lock locked looks for its record. *)
\* models crates/ondeck/src/mutex/lock.rs arrive
ArriveFind(t) ==
    /\ At(t, "Arrive")
    /\ LET own == OwnRecord(t, Here(t)) IN
        me' = CASE ~May("poll") -> [me EXCEPT ![t].pc = "ParkLock"]
                [] own = None -> [me EXCEPT ![t].pc = "ArriveClaim"]
                [] OTHER -> [me EXCEPT ![t].pc = "ArriveSee", ![t].record = own]
    /\ UNCHANGED <<mem, buf, awake, linked, asleep, program>>

\* models crates/ondeck/src/mutex/lock.rs arrive
Arrive(t) ==
    /\ At(t, "ArriveSee")
    /\ me' = [me EXCEPT ![t].pc = "ArriveOf", ![t].seen = awake[me[t].record]]
    /\ UNCHANGED <<mem, buf, awake, linked, asleep, program>>

(* Where a thread goes that is neither the poller nor linked. *)
Arrived(t) == [me EXCEPT ![t].pc = "ParkLock", ![t].record = None, ![t].seen = None]

\* models crates/ondeck/src/mutex/lock.rs arrive
ArriveOf(t) ==
    /\ At(t, "ArriveOf")
    /\ IF Read(t, Address(me[t].record)) # Here(t) /\ ~Mutation("polls_for_another_lock")
       THEN me' = Arrived(t)
       ELSE \/ /\ ~HasPoller(t, me[t].record, me[t].seen) \/ May("stale")
               /\ Go(t, "ArriveTake")
            \/ /\ HasPoller(t, me[t].record, me[t].seen)
               /\ me' = [me EXCEPT ![t].pc = "ArriveTry", ![t].seen = None]
    /\ UNCHANGED <<mem, buf, awake, linked, asleep, program>>

\* models crates/ondeck/src/parking/record/marks.rs take_poll
ArriveTake(t) ==
    /\ At(t, "ArriveTake")
    /\ Quiet(t)
    /\ LET r == me[t].record
           taken == awake[r] = me[t].seen
       IN  /\ awake' = IF taken THEN Polled(r, t) ELSE awake
           /\ me' = [me EXCEPT ![t].pc = IF taken THEN "Poll" ELSE "ArriveTry", ![t].seen = None]
    /\ UNCHANGED <<mem, buf, linked, asleep, program>>

\* models crates/ondeck/src/mutex/lock.rs arrive
ArriveTry(t) ==
    \/ TestAndSet(t, "ArriveTry", "Section", {"ParkLock"} \cup IF May("stay") THEN {"ArriveSee"} ELSE {})
    \/ \* Its deadline has passed.
       /\ At(t, "ArriveTry")
       /\ me' = Arrived(t)
       /\ UNCHANGED <<mem, buf, awake, linked, asleep, program>>

\* models crates/ondeck/src/mutex/lock.rs poll
Poll(t) == TestAndSet(t, "Poll", "Leave", {"PollerReplaced"})

(* If it stops polling, it owes what its mark promised. If another took its place, its mark may have gone before
   that. While it polls, it looks after the parked threads now and then. *)
\* models crates/ondeck/src/mutex/lock.rs poll
PollerReplaced(t) ==
    /\ At(t, "PollerReplaced")
    /\ \/ me' = [me EXCEPT ![t].pc = "ParkLock", ![t].record = None, ![t].back = "Finish",
                           ![t].owes = TRUE]
       \/ /\ Polls(t, me[t].record)
          /\ May("overdue") \/ May("relax")
          /\ me' = [me EXCEPT ![t].pc = "Tend", ![t].back = "Poll"]
    /\ UNCHANGED <<mem, buf, awake, linked, asleep, program>>

WithoutPoller(r, t) ==
    IF Polls(t, r) \/ Mutation("mark_of_another_taken_away")
    THEN [awake EXCEPT ![r].poller = None, ![r].turn = IF Forgotten(r, t) THEN mem.left[r].turn ELSE @] ELSE awake

(* The new owner looks whether its turn is still its own. *)
\* models crates/ondeck/src/mutex/lock.rs leave
Leave(t) ==
    /\ At(t, "Leave")
    /\ LET r == me[t].record
           old == [tenancy |-> awake[r].tenancy, turn |-> NextTurn(r)]
           replaced == ~Polls(t, r) /\ ~Mutation("mark_of_another_taken_away")
       IN  me' = CASE ~replaced -> [me EXCEPT ![t].pc = "StoreTurn", ![t].seen = Turn(awake[r])]
                   [] replaced /\ Mutation("turn_stored_though_replaced") -> [me EXCEPT ![t].pc = "StoreTurn", ![t].seen = old]
                   [] OTHER -> Become(t, "Section")
    /\ UNCHANGED <<mem, buf, awake, linked, asleep, program>>

(* Another may take its place in between, and the record be another lock's. *)
\* models crates/ondeck/src/parking/record/marks.rs store_left
StoreTurn(t) ==
    /\ At(t, "StoreTurn")
    /\ Store(t, <<<<Left(me[t].record), me[t].seen>>>>)
    /\ me' = Become(t, "Section")
    /\ UNCHANGED <<mem, awake, linked, asleep, program>>

-----------------------------------------------------------------------------
(* Claiming a record, under the bucket's lock. `next` says for what: "ArriveSee",
   "ParkLink", "GiveUpLook". The memory is then m, except for the thread's own status. *)

\* models crates/ondeck/src/mutex/lock.rs park
ParkLink(t, r, stores, given, m) ==
    \E status \in IF May("near") THEN {"near", "parked"} ELSE {"parked"} :
        /\ linked' = linked \cup {t}
        /\ mem' = [m EXCEPT !.status[t] = status]
        /\ Store(t, ArmedToo(t, r, given, stores \o Count(t, r, stores)))
        /\ me' = [me EXCEPT ![t].pc = IF Polls(t, r) /\ ~Mutation("mark_left_after_the_last_look")
                                     THEN "ParkLeave" ELSE "Publish",
                            ![t].record = r,
                            ![t].owes = FALSE,
                            ![t].after = IF status = "near" THEN "Near" ELSE "LastLook"]

Claimed(t, next, r, stores, given, m) ==
    IF next = "ParkLink" THEN ParkLink(t, r, stores, given, m)
    ELSE /\ mem' = m
         /\ Store(t, stores)
         /\ me' = IF next = "ArriveSee"
                  THEN [me EXCEPT ![t].pc = "Unguard",
                                  ![t].record = IF r = Shared THEN None ELSE r,
                                  ![t].after = IF r = Shared THEN "ParkLock" ELSE next]
                  ELSE [me EXCEPT ![t].pc = "ParkLeave", ![t].record = r, ![t].after = next]
         /\ UNCHANGED linked

ClaimShared(t, next, stores, m) ==
    LET is == Read(t, Address(Shared)) = "shared"
    IN  Claimed(t, next, Shared, stores \o (IF is THEN <<>> ELSE GiveTo(t, Shared, "shared")), ~is, m)

Claim(t, next, m) ==
    LET a == Here(t)
        own == OwnRecord(t, a)
        free == {r \in Own : Read(t, Address(r)) = "none"}
        quiet == {r \in Own : Quits(t, r)}
    IN  CASE own # None -> Claimed(t, next, own, <<>>, FALSE, m)
          [] own = None /\ Read(t, Address(Shared)) = "shared" /\ Waiters(a) # {} -> ClaimShared(t, next, <<>>, m)
          [] OTHER ->
                IF free # {} THEN LET r == CHOOSE r \in free : TRUE IN Claimed(t, next, r, GiveTo(t, r, a), TRUE, m)
                ELSE IF quiet = {} THEN ClaimShared(t, next, <<>>, m)
                ELSE LET r == CHOOSE r \in quiet : \A q \in quiet : r <= q IN
                        /\ mem' = m
                        /\ Store(t, IF Mutation("tenancy_before_address") THEN <<>> ELSE <<<<Address(r), "none">>>>)
                        /\ me' = [me EXCEPT ![t].pc = "TakeAway", ![t].record = r, ![t].after = next,
                                            ![t].tell = Read(t, Address(r))]
                        /\ UNCHANGED linked

(* Unlocks of the lock that loses its record may be under way without a fence. *)
\* models crates/ondeck/src/parking/bucket.rs take_from_its_lock
EvictStepsBack(t) ==
    IF mem.address[Shared] = "shared" /\ mem.fence[Shared][1] # "light" /\ ~Mutation("evicted_without_a_step_back")
    THEN <<SteppedBack(t, Shared)>> ELSE <<>>

\* models crates/ondeck/src/parking/record.rs take_away
TakeAway(t) ==
    /\ At(t, "TakeAway")
    /\ Quiet(t)
    /\ LET r == me[t].record
           next == me[t].after
           taken == ~Marked(t, r) \/ Mutation("evicted_while_polled")
           tenancy == IF Mutation("tenancy_stays") THEN awake[r].tenancy ELSE NextTenancy(r)
           keeps == Mutation("tenancy_stays") \/ Mutation("evicted_while_polled")
           left == IF keeps THEN <<>> ELSE <<<<Left(r), [tenancy |-> tenancy, turn |-> awake[r].turn]>>>>
           \* An unlock that found no record in between has not looked at this one.
           restored == (IF Kind(t, r) = "light" \/ Mutation("restored_without_a_step_back") THEN <<>> ELSE <<SteppedBack(t, r)>>)
                       \o <<<<Address(r), me[t].tell>>>>
           \* The records behind it that may be asked next.
           more == {q \in Own : q > r /\ Quits(t, q)}
       IN  /\ awake' = IF taken THEN [awake EXCEPT ![r].tenancy = tenancy, ![r].poller = IF keeps THEN @ ELSE None] ELSE awake
           /\ CASE next = "TakeQuiet" ->
                    /\ me' = [me EXCEPT ![t].pc = next, ![t].record = None, ![t].tell = ""]
                    /\ Store(t, IF taken THEN left \o <<<<Armed(r), FALSE>>>> \o EvictStepsBack(t) ELSE restored)
                    /\ UNCHANGED <<mem, linked>>
                [] next # "TakeQuiet" /\ taken ->
                    LET given == EvictStepsBack(t) \o GiveTo(t, r, Here(t)) IN
                    Claimed(t, next, r, IF next = "ParkLink" THEN left \o given
                                        ELSE WithMode(t, left \o <<<<Armed(r), FALSE>>>> \o given), TRUE, mem)
                [] ~taken /\ more = {} -> ClaimShared(t, next, restored, mem)
                [] OTHER ->
                    LET q == CHOOSE q \in more : \A p \in more : q <= p IN
                    /\ me' = [me EXCEPT ![t].record = q, ![t].tell = Read(t, Address(q))]
                    /\ Store(t, restored \o <<<<Address(q), "none">>>>)
                    /\ UNCHANGED <<mem, linked>>
    /\ UNCHANGED <<asleep, program>>

-----------------------------------------------------------------------------
(* Parking. *)

\* models crates/ondeck/src/mutex/lock.rs arrive
ArriveClaim(t) ==
    /\ At(t, "ArriveClaim")
    /\ CanTakeGuard(t)
    /\ Claim(t, "ArriveSee", Guarded(t))
    /\ UNCHANGED <<awake, asleep, program>>

\* models crates/ondeck/src/mutex/lock.rs park
ParkLock(t) ==
    /\ At(t, "ParkLock")
    /\ CanTakeGuard(t)
    /\ Claim(t, "ParkLink", Guarded(t))
    /\ UNCHANGED <<awake, asleep, program>>

(* After it is counted, and before its last look, it clears its mark. *)
\* models crates/ondeck/src/mutex/lock.rs park
\* models crates/ondeck/src/mutex/withdraw.rs give_up
ParkLeave(t) ==
    /\ At(t, "ParkLeave")
    /\ Quiet(t)
    /\ awake' = WithoutPoller(me[t].record, t)
    /\ Go(t, "Publish")
    /\ UNCHANGED <<mem, buf, linked, asleep, program>>

(* Later unlocks must see what was just stored. *)
\* models crates/ondeck/src/parking/publish.rs publish
Publish(t) ==
    /\ At(t, "Publish")
    /\ LET r == me[t].record
           fence == Read(t, Fences(r))
           Owe(owed, stores) ==
                /\ me' = [me EXCEPT ![t].pc = "Unguard", ![t].fence = owed]
                /\ Store(t, stores)
       IN  IF program.refused \/ Read(t, Mode) = "look"
           THEN Owe(<<"full", 0>>, <<<<Mode, "look">>>> \o IF fence[1] = "light" THEN <<SteppedBack(t, r)>> ELSE <<>>)
           ELSE CASE fence[1] = "fenced" \/ Mutation("full_while_not_yet") -> Owe(<<"full", 0>>, <<>>)
                  [] fence[1] = "not yet" -> Owe(<<fence[1], fence[2]>>, <<>>)
                  [] OTHER -> \/ Owe(<<fence[1], fence[2]>>, <<>>)
                              \/ LET back == SteppedBack(t, r) IN Owe(<<back[2][1], back[2][2]>>, <<back>>)
    /\ UNCHANGED <<mem, awake, linked, asleep, program>>

(* Where a thread goes that has a fence to make, and where it goes after the fence. *)
Fenced(t) == [me EXCEPT ![t].pc = me[t].after, ![t].fence = None, ![t].record = None]

\* models crates/ondeck/src/parking/publish.rs complete
Fence(t) ==
    /\ At(t, "Complete")
    /\ me[t].fence[1] = "full"
    /\ Quiet(t) \/ Mutation("no_fence_of_the_parker")
    /\ me' = Fenced(t)
    /\ UNCHANGED <<mem, buf, awake, linked, asleep, program>>

(* A full fence of the caller, and one of each other thread at some time before the call
   returns. A thread that is quiet when the call begins has had its fence. *)
\* models crates/ondeck/src/parking/publish.rs complete
Heavy(t) ==
    /\ At(t, "Complete")
    /\ me[t].fence[1] # "full"
    /\ Quiet(t)
    /\ \/ /\ ~program.refused
          /\ me' = [me EXCEPT ![t].pc = "HeavyWait", ![t].pending = IF Mutation("light_fences_on_both_sides") THEN {} ELSE {u \in Threads : ~Quiet(u)}]
          /\ UNCHANGED program
       \/ /\ May("refuse")
          /\ me' = Fenced(t)
          /\ program' = [program EXCEPT !.refused = TRUE]
    /\ UNCHANGED <<mem, buf, awake, linked, asleep>>

\* models crates/ondeck/src/parking/publish.rs complete
HeavyWait(t) ==
    /\ At(t, "HeavyWait")
    /\ me[t].pending = {}
    /\ LET r == me[t].record
           seen == me[t].fence
           same == mem.fence[r][2] = seen[2] \/ Mutation("fence_without_generation")
       IN  mem' = IF seen[1] = "not yet" /\ mem.fence[r][1] = "not yet" /\ same /\ ~program.refused
                  THEN [mem EXCEPT !.fence[r][1] = "fenced"] ELSE mem
    /\ me' = Fenced(t)
    /\ UNCHANGED <<buf, awake, linked, asleep, program>>

(* Where the thread goes after its node was unlinked, by what it was told. *)
Told(t, status) ==
    LET own == OwnRecord(t, Here(t))
    IN  me' = CASE status = "done" -> Become(t, "Section")
                [] status = "unparked" -> [me EXCEPT ![t].pc = "Finish"]
                [] status = "poller" /\ own # None -> [me EXCEPT ![t].pc = "Poll", ![t].record = own]
                [] status = "flight" /\ own # None -> [me EXCEPT ![t].pc = "Land", ![t].record = own]
                [] OTHER -> [me EXCEPT ![t].pc = "CompeteTry"]

(* A near thread reads its own node, which an unlock may change. *)
\* models crates/ondeck/src/mutex/lock.rs stay_near
StayNear(t) ==
    /\ At(t, "Near")
    /\ Read(t, Status(t)) # "near"
    /\ Told(t, Read(t, Status(t)))
    /\ UNCHANGED <<mem, buf, awake, linked, asleep, program>>

\* models crates/ondeck/src/mutex/lock.rs park
LeaveNear(t) ==
    /\ At(t, "Near")
    /\ Quiet(t)
    /\ mem.status[t] = "near"
    /\ mem' = [mem EXCEPT !.status[t] = "parked"]
    /\ me' = [me EXCEPT ![t].pc = "Complete", ![t].after = "LastLook"]
    /\ UNCHANGED <<buf, awake, linked, asleep, program>>

\* models crates/ondeck/src/mutex/lock.rs park
LastLook(t) ==
    /\ At(t, "LastLook")
    /\ Go(t, IF Read(t, Byte(Here(t))) = 0 /\ ~Mutation("no_last_look") THEN "LastTry" ELSE "Sleep")
    /\ UNCHANGED <<mem, buf, awake, linked, asleep, program>>

\* models crates/ondeck/src/mutex/lock.rs park
LastTry(t) == TestAndSet(t, "LastTry", "Withdraw", {"Sleep"})

(* The exchange that gives the bucket's lock back makes all stores before it visible. *)
\* models crates/ondeck/src/parking/lock.rs release
Unguard(t) ==
    /\ At(t, "Unguard")
    /\ IF May("weak")
       THEN buf' = [buf EXCEPT ![t] = Append(@, <<Guard, None>>)] /\ UNCHANGED mem
       ELSE Quiet(t) /\ mem' = [mem EXCEPT !.guard[0] = None] /\ UNCHANGED buf
    /\ me' = [me EXCEPT ![t].pc = IF me[t].after \in {"LastLook", "GiveUpLook"} THEN "Complete" ELSE me[t].after]
    /\ linked' = IF Mutation("told_before_unlinked") THEN {u \in linked : mem.status[u] \in {"near", "parked"}} ELSE linked
    /\ UNCHANGED <<awake, asleep, program>>

(* The thread looks at its status, and the kernel compares it. *)
\* models crates/ondeck/src/mutex/lock.rs sleep
Sleep(t) ==
    /\ At(t, "Sleep")
    /\ t \notin asleep
    /\ LET status == Read(t, Status(t)) IN
        IF status = "parked"
        THEN /\ asleep' = asleep \cup {t}
             /\ me' = [me EXCEPT ![t].timed = program.refused]
        ELSE /\ Told(t, status)
             /\ UNCHANGED asleep
    /\ awake' = IF Mutation("mark_left_after_the_last_look") /\ Call(t).do = "lock"
                THEN WithoutPoller(OwnRecord(t, Here(t)), t) ELSE awake
    /\ UNCHANGED <<mem, buf, linked, program>>

(* An unlock may have missed the thread, or no mark tells whether the thread that was woken last gets a CPU. *)
\* models crates/ondeck/src/mutex/lock.rs sleep
LookAgain(t) ==
    /\ At(t, "Sleep")
    /\ t \in asleep
    /\ me[t].timed \/ (May("rescue") /\ Call(t).do = "lock" /\ OwnRecord(t, Here(t)) = None)
    /\ asleep' = asleep \ {t}
    /\ Go(t, IF Read(t, Byte(Here(t))) = 0 THEN "LastTry" ELSE "Sleep")
    /\ UNCHANGED <<mem, buf, awake, linked, program>>

(* The thread that looks after the parked ones may get no CPU: a parked thread takes its place. *)
\* models crates/ondeck/src/mutex/lock.rs sleep
Rescue(t) ==
    /\ At(t, "Sleep")
    /\ t \in asleep /\ May("rescue")
    /\ LET own == OwnRecord(t, Here(t)) IN own # None /\ Marked(t, own)
    /\ asleep' = asleep \ {t}
    /\ Go(t, "RescueLock")
    /\ UNCHANGED <<mem, buf, awake, linked, program>>

(* It goes on as if that one's mark were its own. *)
\* models crates/ondeck/src/mutex/lock.rs sleep
Rescued(t) ==
    /\ At(t, "Rescued")
    /\ Told(t, "flight")
    /\ UNCHANGED <<mem, buf, awake, linked, asleep, program>>

-----------------------------------------------------------------------------
(* Told to compete. *)

\* models crates/ondeck/src/mutex/lock.rs told
Land(t) ==
    /\ At(t, "Land")
    /\ Quiet(t)
    /\ LET r == me[t].record
           \* Another may have taken its mark away, and the record be another lock's.
           its == Read(t, Address(r)) = Here(t) \/ Mutation("lands_in_another_record")
           may == its /\ ~HasPoller(t, r, awake[r]) /\ May("poll")
       \* The poller may have left between the load and the exchange.
       IN  \E polls \in {may} \cup (IF awake[r].poller = None THEN {} ELSE {FALSE}) :
           /\ awake' = IF its THEN [(IF polls THEN Polled(r, t) ELSE awake) EXCEPT ![r].flight = FALSE] ELSE awake
           /\ me' = IF polls THEN [me EXCEPT ![t].pc = "Poll"]
                    ELSE [me EXCEPT ![t].pc = "LandTry", ![t].record = None]
    /\ UNCHANGED <<mem, buf, linked, asleep, program>>

\* models crates/ondeck/src/mutex/lock.rs told
LandTry(t) ==
    /\ At(t, "LandTry")
    /\ Quiet(t)
    /\ mem' = [mem EXCEPT !.byte[Here(t)] = 1]
    /\ me' = IF mem.byte[Here(t)] = 0 THEN Become(t, "Section")
             ELSE [me EXCEPT ![t].pc = "Arrive", ![t].owes = ~Mutation("landed_without_owing")]
    /\ Passes(t)
    /\ UNCHANGED <<buf, awake, linked, asleep>>

\* models crates/ondeck/src/mutex/lock.rs told
CompeteTry(t) == TestAndSet(t, "CompeteTry", "Section", {"Arrive"})

(* The thread acquired the lock by itself, and its node is or was linked. *)
\* models crates/ondeck/src/mutex/withdraw.rs withdraw
Withdraw(t) ==
    /\ At(t, "Withdraw")
    /\ CanTakeGuard(t)
    /\ mem' = Guarded(t)
    /\ linked' = linked \ {t}
    /\ Store(t, IF t \in linked THEN Uncount(t, t, RecordOf(t, Here(t)), <<>>) ELSE <<>>)
    /\ me' = [me EXCEPT ![t].pc = "Unguard",
                        ![t].after = IF t \in linked \/ mem.status[t] = "compete" THEN "Section" ELSE "WithdrawTold"]
    /\ UNCHANGED <<awake, asleep, program>>

\* models crates/ondeck/src/mutex/withdraw.rs withdraw
WithdrawTold(t) ==
    /\ At(t, "WithdrawTold")
    /\ Quiet(t)
    /\ LET r == OwnRecord(t, Here(t)) IN
        awake' = CASE r = None -> awake
                   [] mem.status[t] = "flight" -> [awake EXCEPT ![r].flight = FALSE]
                   [] OTHER -> WithoutPoller(r, t)
    /\ me' = Become(t, "Section")
    /\ UNCHANGED <<mem, buf, linked, asleep, program>>

-----------------------------------------------------------------------------
(* Deadlines. *)

\* models crates/ondeck/src/mutex/lock.rs wait
PassedAwake(t) ==
    /\ At(t, "ParkLock")
    /\ t \in Deadlines
    /\ LET owes == me[t].owes /\ ~Mutation("given_up_but_marked") /\ ~Mutation("given_up_without_a_look")
       IN  me' = [me EXCEPT ![t].pc = IF owes THEN "GiveUpLock" ELSE "Finish", ![t].owes = owes]
    /\ LET own == OwnRecord(t, Here(t)) IN
        awake' = IF Mutation("given_up_without_a_look") /\ own # None THEN WithoutPoller(own, t) ELSE awake
    /\ UNCHANGED <<mem, buf, linked, asleep, program>>

\* models crates/ondeck/src/mutex/lock.rs sleep
Asleep(t) ==
    /\ At(t, "Sleep")
    /\ t \in asleep /\ t \in Deadlines
    /\ asleep' = asleep \ {t}
    /\ Go(t, "PassedLock")
    /\ UNCHANGED <<mem, buf, awake, linked, program>>

(* The thread may have been chosen meanwhile, and then goes on as it was told. *)
\* models crates/ondeck/src/mutex/withdraw.rs unlink_if_parked
PassedAsk(t) ==
    LET parked == mem.status[t] = "parked" IN
    /\ linked' = IF parked /\ ~Mutation("timed_out_still_linked") THEN linked \ {t} ELSE linked
    /\ Store(t, IF parked THEN Uncount(t, t, RecordOf(t, Here(t)), <<>>) ELSE <<>>)
    /\ me' = [me EXCEPT ![t].pc = "Unguard",
                        ![t].after = IF ~parked /\ ~Mutation("timed_out_without_asking") THEN "Sleep" ELSE IF At(t, "PassedLock") THEN "Finish" ELSE "Rescued"]

\* models crates/ondeck/src/mutex/lock.rs sleep
PassedLock(t) ==
    /\ At(t, "PassedLock") \/ At(t, "RescueLock")
    /\ CanTakeGuard(t)
    /\ mem' = Guarded(t)
    /\ PassedAsk(t)
    /\ UNCHANGED <<awake, asleep, program>>

(* A thread that has had a mark leaves without the lock. *)
\* models crates/ondeck/src/mutex/withdraw.rs give_up
GiveUpLock(t) ==
    /\ At(t, "GiveUpLock")
    /\ CanTakeGuard(t)
    /\ Claim(t, "GiveUpLook", Guarded(t))
    /\ UNCHANGED <<awake, asleep, program>>

(* Unlocks relied on the thread: it does what they would have done. *)
\* models crates/ondeck/src/mutex/withdraw.rs give_up
GiveUpLook(t) ==
    /\ At(t, "GiveUpLook")
    /\ Go(t, IF Read(t, Byte(Here(t))) = 0 THEN "LookRecord" ELSE "Finish")
    /\ UNCHANGED <<mem, buf, awake, linked, asleep, program>>

-----------------------------------------------------------------------------
(* Unlocking. In its last section a thread counts itself out. *)

\* models crates/ondeck/src/mutex/unlock.rs unlock
ReadModeBefore(t) ==
    /\ At(t, "Section")
    /\ Go(t, IF Read(t, Mode) # "skip" THEN "ReadModeBeside" ELSE "Release")
    /\ UNCHANGED <<mem, buf, awake, linked, asleep, program>>

(* The store that ends a section. *)
Clears(t, place, next) ==
    /\ At(t, place)
    /\ Store(t, <<<<Byte(Here(t)), 0>>>>)
    /\ program' = CountedOut(t)
    /\ Go(t, next)
    /\ UNCHANGED <<mem, awake, linked, asleep>>

\* models crates/ondeck/src/mutex/unlock.rs unlock
Release(t) == Clears(t, "Release", "ReadModeAfter")

\* models crates/ondeck/src/mutex/unlock.rs unlock
ReadModeAfter(t) ==
    /\ At(t, "ReadModeAfter")
    /\ Go(t, IF Read(t, Mode) # "skip" THEN "LookLate" ELSE "Finish")
    /\ UNCHANGED <<mem, buf, awake, linked, asleep, program>>

\* models crates/ondeck/src/mutex/unlock.rs unlock_slow
ReadModeBeside(t) ==
    /\ At(t, "ReadModeBeside")
    /\ LET own == OwnRecord(t, Here(t))
           light == Mutation("light_not_asked_again") /\ own # None /\ Kind(t, own) = "light"
       IN  me' = [me EXCEPT ![t].pc = IF Read(t, Mode) = "some" THEN "ReleaseBeside" ELSE "ReadRequest",
                            ![t].tell = IF light THEN "light" ELSE ""]
    /\ UNCHANGED <<mem, buf, awake, linked, asleep, program>>

\* models crates/ondeck/src/mutex/unlock.rs unlock_slow
ReadRequest(t) ==
    /\ At(t, "ReadRequest")
    /\ LET r == RecordOf(t, Here(t)) IN
        Go(t, IF r # None /\ Requested(t, r) /\ ~Mutation("request_ignored") THEN "HandOverLock" ELSE "ReleaseBeside")
    /\ UNCHANGED <<mem, buf, awake, linked, asleep, program>>

\* models crates/ondeck/src/mutex/unlock.rs unlock_slow
ReleaseBeside(t) == Clears(t, "ReleaseBeside", IF me[t].tell = "light" THEN "LookRecord" ELSE "FindLight")

(* Most often there is a poller or a thread in flight, and nothing to do. From here on the mutex may be gone. *)
\* models crates/ondeck/src/mutex/unlock.rs unlock_slow
FindLight(t) ==
    /\ At(t, "FindLight")
    /\ LET own == OwnRecord(t, Here(t))
           calm == ~Urgent(t, own) \/ Mutation("calm_not_asked_again")
           light == own # None /\ Kind(t, own) = "light" /\ calm
       IN  me' = [me EXCEPT ![t].pc = IF light THEN "LookAwakeLight" ELSE "LookLate",
                            ![t].record = IF light THEN own ELSE None]
    /\ UNCHANGED <<mem, buf, awake, linked, asleep, program>>

(* In `seen` are the marks, while the last turn is still to be read. *)
\* models crates/ondeck/src/mutex/unlock.rs unlock_slow
LookAwakeLight(t) ==
    /\ At(t, "LookAwakeLight")
    /\ me' = [me EXCEPT ![t].pc = "LookOfLight", ![t].seen = awake[me[t].record]]
    /\ UNCHANGED <<mem, buf, awake, linked, asleep, program>>

\* models crates/ondeck/src/mutex/unlock.rs unlock_slow
LookOfLight(t) ==
    /\ At(t, "LookOfLight")
    /\ LET r == me[t].record
           polled == HasPoller(t, r, me[t].seen)
           is == Read(t, Address(r)) = Here(t) \/ Mutation("mark_of_another_lock")
           rests == is /\ (polled \/ me[t].seen.flight)
       IN  \/ me' = [me EXCEPT ![t].pc = IF rests THEN "Finish" ELSE "LookLate", ![t].record = None, ![t].seen = None]
           \/ /\ rests /\ ~polled
              /\ May("overdue") \/ May("relax")
              /\ me' = [me EXCEPT ![t].pc = "Tend", ![t].seen = None]
    /\ UNCHANGED <<mem, buf, awake, linked, asleep, program>>

\* models crates/ondeck/src/mutex/unlock.rs look_late
LookLate(t) ==
    /\ At(t, "LookLate")
    /\ Go(t, IF Concerns(t) THEN "ReadFenceLate" ELSE "Finish")
    /\ UNCHANGED <<mem, buf, awake, linked, asleep, program>>

\* models crates/ondeck/src/mutex/unlock.rs look_late
ReadFenceLate(t) ==
    /\ At(t, "ReadFenceLate")
    /\ LET r == RecordOf(t, Here(t)) IN
        Go(t, IF (r # None /\ Kind(t, r) = "light") \/ Mutation("no_fence_of_the_unlock") THEN "LookRecord" ELSE "LateFence")
    /\ UNCHANGED <<mem, buf, awake, linked, asleep, program>>

\* models crates/ondeck/src/mutex/unlock.rs look_late
LateFence(t) ==
    /\ At(t, "LateFence")
    /\ Quiet(t)
    /\ Go(t, "LookRecord")
    /\ UNCHANGED <<mem, buf, awake, linked, asleep, program>>

\* models crates/ondeck/src/mutex/unlock.rs look
LookRecord(t) ==
    /\ At(t, "LookRecord")
    /\ LET r == RecordOf(t, Here(t)) IN
        me' = [me EXCEPT ![t].pc = IF r # None THEN "LookAwake"
                                   ELSE IF Read(t, Mode) = "look" /\ May("relax") THEN "RelaxLock" ELSE "Finish",
                         ![t].record = r]
    /\ UNCHANGED <<mem, buf, awake, linked, asleep, program>>

\* models crates/ondeck/src/mutex/unlock.rs look
LookAwake(t) ==
    /\ At(t, "LookAwake")
    /\ me' = [me EXCEPT ![t].pc = "LookLeft", ![t].seen = awake[me[t].record]]
    /\ UNCHANGED <<mem, buf, awake, linked, asleep, program>>

(* Elsewhere both words are read in one action: a thread that then changes the marks finds out if they have changed
   between the two. *)
\* models crates/ondeck/src/parking/record/marks.rs awake
LookLeft(t) ==
    /\ At(t, "LookLeft")
    /\ LET r == me[t].record
           polled == HasPoller(t, r, me[t].seen)
       IN  IF (polled \/ me[t].seen.flight) /\ (~Urgent(t, r) \/ Mutation("urgent_waits_for_the_awake"))
           THEN \/ me' = [me EXCEPT ![t].pc = "Finish", ![t].record = None, ![t].seen = None]
                \/ /\ ~polled
                   /\ May("overdue") \/ May("relax")
                   /\ me' = [me EXCEPT ![t].pc = "Tend", ![t].seen = None]
           ELSE me' = [me EXCEPT ![t].pc = "LookParked", ![t].seen = None]
    /\ UNCHANGED <<mem, buf, awake, linked, asleep, program>>

(* One of many unlocks that find no parked thread relaxes later unlocks. *)
\* models crates/ondeck/src/mutex/unlock.rs look
LookParked(t) ==
    /\ At(t, "LookParked")
    /\ LET parked == Read(t, Parked(me[t].record)) # 0 IN
        \E next \in IF parked THEN {"WakeLock"} ELSE {"Finish"} \cup (IF May("relax") THEN {"RelaxLock"} ELSE {}) :
            me' = [me EXCEPT ![t].pc = next, ![t].record = None]
    /\ UNCHANGED <<mem, buf, awake, linked, asleep, program>>

Lighten(t, r) ==
    Store(t, IF r # None /\ Kind(t, r) = "fenced"
             THEN <<<<Fences(r), [Read(t, Fences(r)) EXCEPT ![1] = "light"]>>>> ELSE <<>>)

(* Nothing was known of the bucket so far. *)
Known(t) == IF program.refused THEN <<>> ELSE <<<<Mode, BestMode(t, <<>>)>>>>

\* models crates/ondeck/src/parking/publish.rs relax
Relax(t) ==
    IF Read(t, Mode) = "look"
    THEN /\ Store(t, Known(t))
         /\ me' = [me EXCEPT ![t].pc = "Unguard", ![t].after = "Finish"]
    ELSE \/ /\ Lighten(t, OwnRecord(t, Here(t)))
            /\ me' = [me EXCEPT ![t].pc = "Unguard", ![t].after = "Finish"]
         \/ /\ me' = [me EXCEPT ![t].pc = "TakeQuiet", ![t].pending = Records, ![t].after = "TakeQuiet"]
            /\ UNCHANGED buf

\* models crates/ondeck/src/parking/publish.rs relax
RelaxLock(t) ==
    /\ At(t, "RelaxLock")
    /\ Quiet(t)
    /\ IF mem.guard[0] = None
       THEN mem' = Guarded(t) /\ Relax(t)
       ELSE Go(t, "Finish") /\ UNCHANGED <<mem, buf>>
    /\ UNCHANGED <<awake, linked, asleep, program>>

(* One record after the other. *)
\* models crates/ondeck/src/parking/bucket.rs take_quiet_records
TakeQuiet(t) ==
    /\ At(t, "TakeQuiet")
    /\ LET quiet(r) == Read(t, Address(r)) # "none" /\ Quits(t, r)
           left == {r \in me[t].pending : quiet(r)}
       IN  IF left = {}
           THEN /\ me' = [me EXCEPT ![t].pc = "Unguard", ![t].after = "Finish", ![t].pending = {}]
                /\ Store(t, ModeStore(t, <<>>))
           ELSE LET r == CHOOSE r \in left : \A q \in left : r >= q IN
                /\ me' = [me EXCEPT ![t].pc = "TakeAway", ![t].record = r, ![t].pending = @ \ {r},
                                    ![t].tell = Read(t, Address(r))]
                /\ Store(t, <<<<Address(r), "none">>>>)
    /\ UNCHANGED <<mem, awake, linked, asleep, program>>

-----------------------------------------------------------------------------
(* Choosing a thread to wake. *)

(* u leaves its queue, and is about to be told what to do. *)
Dismissing(t, u, status, r, first) ==
    /\ linked' = IF Mutation("told_before_unlinked") THEN linked ELSE linked \ {u}
    /\ Store(t, Uncount(t, u, r, first))
    /\ me' = [me EXCEPT ![t].pc = "Dismiss", ![t].chosen = u, ![t].tell = status, ![t].record = None,
                        ![u].tried = @ \/ (status = "flight" /\ May("overdue"))]

NoThreadToWake(t) ==
    me' = [me EXCEPT ![t].pc = "Unguard", ![t].after = me[t].back, ![t].chosen = None,
                     ![t].record = IF me[t].back = "Poll" THEN OwnRecord(t, Here(t)) ELSE None]

(* The oldest thread is woken to compete. If it has competed in vain, or if the thread in flight gets
   no CPU, it is handed the lock. *)
\* models crates/ondeck/src/mutex/unlock.rs serve_overdue
WakeOverdue(t, u, r) ==
    IF me[u].tried \/ awake[r].flight
    THEN /\ \/ me' = [me EXCEPT ![t].pc = "HandOver", ![t].chosen = u, ![t].record = r]
            \/ ~me[u].tried /\ NoThreadToWake(t)
         /\ UNCHANGED <<buf, awake, linked>>
    ELSE /\ awake' = [awake EXCEPT ![r].flight = TRUE]
         /\ Dismissing(t, u, "flight", r, <<>>)

\* models crates/ondeck/src/mutex/unlock.rs choose
Choose(t) ==
    LET waiters == Waiters(Here(t))
        r == RecordOf(t, Here(t))
        near == {u \in waiters : mem.status[u] = "near"}
        urgent == waiters \cap RealTime
    IN  CASE waiters = {} -> NoThreadToWake(t) /\ UNCHANGED <<buf, awake, linked>>
          [] waiters # {} /\ r = Shared ->
                /\ \E u \in waiters :
                    \/ Dismissing(t, u, "compete", r, <<>>)
                    \/ /\ May("overdue")
                       /\ me' = [me EXCEPT ![t].pc = "HandOver", ![t].chosen = u, ![t].record = r]
                       /\ UNCHANGED <<buf, linked>>
                /\ UNCHANGED awake
          [] waiters # {} /\ r # Shared /\ Urgent(t, r) /\ ~Mutation("urgent_in_turn") ->
                \* There is a poller, or a thread in flight.
                \E u \in urgent :
                    \/ /\ awake' = [awake EXCEPT ![r].flight = TRUE]
                       /\ Dismissing(t, u, "flight", r, <<>>)
                    \/ /\ May("overdue") /\ me[u].tried
                       /\ me' = [me EXCEPT ![t].pc = "HandOver", ![t].chosen = u, ![t].record = r]
                       /\ UNCHANGED <<buf, awake, linked>>
          [] OTHER ->
                \/ /\ May("overdue")
                   /\ \E u \in waiters : WakeOverdue(t, u, r)
                \/ IF Marked(t, r) THEN NoThreadToWake(t) /\ UNCHANGED <<buf, awake, linked>>
                   ELSE IF near # {}
                   THEN \E u \in near :
                        /\ awake' = Polled(r, u)
                        /\ linked' = linked \ {u}
                        /\ Store(t, Uncount(t, u, r, <<>>))
                        /\ me' = [me EXCEPT ![t].pc = "Promote", ![t].chosen = u, ![t].record = r]
                   ELSE \E u \in waiters :
                        /\ awake' = [awake EXCEPT ![r].flight = ~Mutation("woken_not_marked")]
                        /\ Dismissing(t, u, "flight", r, <<>>)

\* models crates/ondeck/src/mutex/unlock.rs wake
WakeLock(t) ==
    /\ At(t, "WakeLock")
    /\ CanTakeGuard(t)
    /\ mem' = Guarded(t)
    /\ Choose(t)
    /\ UNCHANGED <<asleep, program>>

(* What unlocks leave to the poller, or, while a thread is in flight, to one unlock of many. *)
\* models crates/ondeck/src/mutex/unlock.rs tend
TendLock(t) ==
    /\ At(t, "Tend")
    /\ Quiet(t)
    /\ May("overdue") /\ Read(t, Parked(me[t].record)) # 0
    /\ IF mem.guard[0] = None
       THEN mem' = Guarded(t) /\ Choose(t)
       ELSE Go(t, me[t].back) /\ UNCHANGED <<mem, buf, awake, linked>>
    /\ UNCHANGED <<asleep, program>>

(* The poller relaxes unlocks, too: where nothing was known, the lock was contended from the first. *)
\* models crates/ondeck/src/parking/publish.rs relax_by_time
PollerKnows(t) ==
    /\ At(t, "Tend")
    /\ Quiet(t)
    /\ May("relax") /\ Read(t, Mode) = "look" /\ ~program.refused
    /\ IF mem.guard[0] = None
       THEN mem' = Guarded(t) /\ Store(t, Known(t)) /\ NoThreadToWake(t)
       ELSE Go(t, me[t].back) /\ UNCHANGED <<mem, buf>>
    /\ UNCHANGED <<awake, linked, asleep, program>>

\* models crates/ondeck/src/parking/publish.rs relax_by_time
PollerRelax(t) ==
    /\ Lighten(t, me[t].record)
    /\ NoThreadToWake(t)

\* models crates/ondeck/src/parking/publish.rs relax_by_time
PollerRelaxLock(t) ==
    /\ At(t, "Tend")
    /\ Quiet(t)
    /\ IF mem.guard[0] = None /\ May("relax") /\ (Read(t, Mode) # "look" \/ program.refused)
       THEN mem' = Guarded(t) /\ PollerRelax(t)
       ELSE Go(t, me[t].back) /\ UNCHANGED <<mem, buf>>
    /\ UNCHANGED <<awake, linked, asleep, program>>

(* The near thread is marked as the poller, and told so if it is still near. *)
\* models crates/ondeck/src/mutex/unlock.rs choose
Promote(t) ==
    /\ At(t, "Promote")
    /\ Quiet(t)
    /\ LET u == me[t].chosen IN
        IF mem.status[u] = "near"
        THEN /\ mem' = [mem EXCEPT !.status[u] = "poller"]
             /\ NoThreadToWake(t)
        ELSE /\ Go(t, "PromoteLeave")
             /\ UNCHANGED mem
    /\ UNCHANGED <<buf, awake, linked, asleep, program>>

\* models crates/ondeck/src/mutex/unlock.rs choose
PromoteLeave(t) ==
    /\ At(t, "PromoteLeave")
    /\ awake' = WithoutPoller(me[t].record, me[t].chosen)
    /\ Go(t, "PromoteMark")
    /\ UNCHANGED <<mem, buf, linked, asleep, program>>

\* models crates/ondeck/src/mutex/unlock.rs choose
PromoteMark(t) ==
    /\ At(t, "PromoteMark")
    /\ LET r == me[t].record
           marked == ~Marked(t, r)
       IN  /\ awake' = IF marked THEN [awake EXCEPT ![r].flight = TRUE] ELSE awake
           /\ me' = [me EXCEPT ![t].pc = "Dismiss", ![t].tell = IF marked THEN "flight" ELSE "compete",
                               ![t].record = None]
    /\ UNCHANGED <<mem, buf, linked, asleep, program>>

\* models crates/ondeck/src/parking/node.rs tell
Tell(t) == mem' = [mem EXCEPT !.status[me[t].chosen] = me[t].tell]

(* The chosen thread is told what to do, last of all. *)
\* models crates/ondeck/src/mutex/unlock.rs dismiss
Dismiss(t) ==
    /\ At(t, "Dismiss")
    /\ Quiet(t)
    /\ LET u == me[t].chosen
           near == mem.status[u] = "near"
       IN  /\ Tell(t)
           /\ me' = [me EXCEPT ![t].pc = "Unguard", ![t].after = IF near THEN me[t].back ELSE "FutexWake",
                               ![t].chosen = IF near THEN None ELSE u, ![t].tell = "",
                               ![t].record = IF me[t].back = "Poll" THEN OwnRecord(t, Here(t)) ELSE None]
    /\ UNCHANGED <<buf, awake, linked, asleep, program>>

\* models crates/ondeck/src/mutex/unlock.rs hand_to
Request(t, r) == Requests(t, r, TRUE)

(* The lock is acquired for the chosen thread. If another thread locked first, a handoff is requested
   of that owner's unlock. *)
\* models crates/ondeck/src/mutex/unlock.rs acquire_for
HandOver(t) ==
    /\ At(t, "HandOver")
    /\ Quiet(t)
    /\ LET r == me[t].record
       IN  /\ mem' = IF Mutation("handoff_takes_nothing") THEN mem ELSE [mem EXCEPT !.byte[Here(t)] = 1]
           /\ IF mem.byte[Here(t)] = 0
              THEN Dismissing(t, me[t].chosen, "done", r, <<>>) /\ UNCHANGED program
              ELSE IF r = Shared THEN Dismissing(t, me[t].chosen, "compete", r, <<>>) /\ UNCHANGED program
              ELSE /\ Store(t, IF Mutation("request_without_the_mode") THEN <<Request(t, r)>> ELSE WithMode(t, <<Request(t, r)>>))
                   /\ NoThreadToWake(t)
                   /\ program' = IF mem.fence[r][3] THEN program ELSE [program EXCEPT !.passed = 0]
                   /\ UNCHANGED linked
    /\ UNCHANGED <<awake, asleep>>

(* The wake uses an address only: the node may be gone, and its thread may sleep at another address. *)
\* models crates/ondeck/src/mutex/unlock.rs wake
\* models crates/ondeck/src/mutex/unlock.rs tend
\* models crates/ondeck/src/mutex/unlock.rs hand_over
FutexWake(t) ==
    /\ At(t, "FutexWake")
    /\ asleep' = IF Mutation("no_futex_wake") THEN asleep ELSE asleep \ {me[t].chosen}
    /\ me' = [me EXCEPT ![t].pc = me[t].back, ![t].chosen = None]
    /\ UNCHANGED <<mem, buf, awake, linked, program>>

(* An owner hands the lock over instead of clearing its byte: because of a request, or
   for unlock_fair and bump. *)
\* models crates/ondeck/src/mutex/unlock.rs hand_over
HandOverChoose(t, requested, otherwise) ==
    LET r == RecordOf(t, Here(t))
        all == Waiters(Here(t))
        waiters == IF r # None /\ Urgent(t, r) THEN all \cap RealTime ELSE all
    IN  IF r = None \/ waiters = {} \/ (requested /\ ~Requested(t, r))
        THEN /\ me' = [me EXCEPT ![t].pc = "Unguard", ![t].after = otherwise]
             /\ Store(t, IF r = None \/ (requested /\ ~Requested(t, r)) THEN <<>> ELSE WithMode(t, <<Requests(t, r, FALSE)>>))
             /\ UNCHANGED <<linked, program>>
        ELSE /\ \E u \in waiters : Dismissing(t, u, "done", r, WithMode(t, <<Requests(t, r, FALSE)>>))
             /\ program' = [CountedOut(t) EXCEPT !.passed = 0]

\* models crates/ondeck/src/mutex/unlock.rs hand_over
HandOverLock(t) ==
    /\ At(t, "HandOverLock")
    /\ CanTakeGuard(t)
    /\ mem' = Guarded(t)
    /\ HandOverChoose(t, TRUE, "ReleaseBeside")
    /\ UNCHANGED <<awake, asleep>>

\* models crates/ondeck/src/mutex/unlock.rs may_have_parked
FairLock(t) ==
    /\ May("fair")
    /\ At(t, "Section")
    /\ LET r == RecordOf(t, Here(t))
       IN  Read(t, Mode) # "skip" /\ r # None /\ Read(t, Parked(r)) # 0
    /\ CanTakeGuard(t)
    /\ mem' = Guarded(t)
    /\ HandOverChoose(t, FALSE, "Section")
    /\ UNCHANGED <<awake, asleep>>

-----------------------------------------------------------------------------
(* Threads of another kind, at an address that was a mutex's: waiters of a condition
   variable, or threads that are parked at a key. No lock counts them. *)

\* models nothing: park of another kind
ParkElsewhere(t) ==
    /\ At(t, "Call")
    /\ Call(t).do = "park" /\ Call(t).era = program.era[Here(t)]
    /\ CanTakeGuard(t)
    /\ mem' = [Guarded(t) EXCEPT !.status[t] = "parked"]
    /\ linked' = linked \cup {t}
    /\ me' = [me EXCEPT ![t].pc = "Unguard", ![t].after = "Sleep"]
    /\ UNCHANGED <<buf, awake, asleep, program>>

\* models nothing: unpark of another kind
UnparkElsewhere(t) ==
    /\ At(t, "Call")
    /\ Call(t).do = "unpark" /\ Call(t).era = program.era[Here(t)]
    /\ CanTakeGuard(t)
    /\ mem' = Guarded(t)
    /\ \E u \in linked :
        /\ Call(u).do = "park" /\ Here(u) = Here(t)
        /\ linked' = linked \ {u}
        /\ me' = [me EXCEPT ![t].pc = "Dismiss", ![t].chosen = u, ![t].tell = "unparked"]
    /\ UNCHANGED <<buf, awake, asleep, program>>

-----------------------------------------------------------------------------
(* The program around. A thread that finds that all other calls of an address' life have
   counted themselves out frees what is there as soon as its own call has returned. *)

\* models nothing: what the program does when a call has returned
Finish(t) ==
    /\ At(t, "Finish")
    /\ LET a == Here(t)
           counted == CountedOut(t)
           era == counted.era[a] + 1
           out == [counted EXCEPT !.out = @ \ {t}]
       IN  IF t \in counted.last
           THEN /\ Quiet(t) /\ mem.byte[a] = 0
                /\ program' = [out EXCEPT !.last = @ \ {t}, !.era[a] = era, !.left[a] = CallsOf(a, era)]
           ELSE program' = out
    /\ me' = [me EXCEPT ![t] = IF me[t].call = Len(Plays[t]) THEN [Idle EXCEPT !.pc = "Done", !.call = me[t].call]
                               ELSE [Idle EXCEPT !.call = me[t].call + 1]]
    /\ UNCHANGED <<mem, buf, awake, linked, asleep>>

\* models nothing: the end
Terminated ==
    /\ \A t \in Threads : At(t, "Done")
    /\ UNCHANGED vars

-----------------------------------------------------------------------------
(* Grouped by place, because TLC would otherwise try all actions one by one. *)
Locking == {"Call", "Arrive", "ArriveSee", "ArriveOf", "ArriveTake", "ArriveTry", "ArriveClaim", "Poll", "PollerReplaced", "Leave", "StoreTurn"}
Parking == {"TakeAway", "ParkLock", "ParkLeave", "Publish", "Complete", "HeavyWait"}
Waiting == {"Near", "LastLook", "LastTry", "Unguard", "Sleep"}
Competing == {"Rescued", "Land", "LandTry", "CompeteTry", "Withdraw", "WithdrawTold", "PassedLock", "RescueLock", "GiveUpLock", "GiveUpLook"}
Unlocking == {"Section", "Release", "ReadModeAfter", "ReadModeBeside", "ReadRequest", "HandOverLock", "ReleaseBeside",
              "FindLight", "LookAwakeLight", "LookOfLight"}
Looking == {"LookLate", "ReadFenceLate", "LateFence", "LookRecord", "LookAwake", "LookLeft", "LookParked", "RelaxLock", "TakeQuiet"}
Waking == {"WakeLock", "Tend", "Promote", "PromoteLeave", "PromoteMark", "Dismiss", "HandOver", "FutexWake", "Finish"}

Step(t) ==
    \/ IF me[t].pc \notin Locking THEN FALSE ELSE
          \/ TryLock(t) \/ ParkElsewhere(t) \/ UnparkElsewhere(t)
          \/ ArriveFind(t) \/ Arrive(t) \/ ArriveOf(t) \/ ArriveTake(t) \/ ArriveTry(t) \/ ArriveClaim(t)
          \/ Poll(t) \/ PollerReplaced(t) \/ Leave(t) \/ StoreTurn(t)
    \/ IF me[t].pc \notin Parking THEN FALSE ELSE
          TakeAway(t) \/ ParkLock(t) \/ ParkLeave(t) \/ Publish(t) \/ Fence(t) \/ Heavy(t) \/ HeavyWait(t)
    \/ IF me[t].pc \notin Waiting THEN FALSE ELSE
          StayNear(t) \/ LeaveNear(t) \/ LastLook(t) \/ LastTry(t) \/ Unguard(t) \/ Sleep(t) \/ LookAgain(t)
    \/ IF me[t].pc \notin Competing THEN FALSE ELSE
          \/ Rescued(t) \/ Land(t) \/ LandTry(t) \/ CompeteTry(t) \/ Withdraw(t) \/ WithdrawTold(t)
          \/ PassedLock(t) \/ GiveUpLock(t) \/ GiveUpLook(t)
    \/ IF me[t].pc \notin Unlocking THEN FALSE ELSE
          \/ ReadModeBefore(t) \/ FairLock(t) \/ Release(t) \/ ReadModeAfter(t) \/ ReadModeBeside(t) \/ ReadRequest(t)
          \/ HandOverLock(t) \/ ReleaseBeside(t) \/ FindLight(t) \/ LookAwakeLight(t) \/ LookOfLight(t)
    \/ IF me[t].pc \notin Looking THEN FALSE ELSE
          \/ LookLate(t) \/ ReadFenceLate(t) \/ LateFence(t)
          \/ LookRecord(t) \/ LookAwake(t) \/ LookLeft(t) \/ LookParked(t) \/ RelaxLock(t) \/ TakeQuiet(t)
    \/ IF me[t].pc \notin Waking THEN FALSE ELSE
          \/ WakeLock(t) \/ TendLock(t) \/ PollerKnows(t) \/ PollerRelaxLock(t) \/ Promote(t) \/ PromoteLeave(t) \/ PromoteMark(t) \/ Dismiss(t) \/ HandOver(t)
          \/ FutexWake(t) \/ Finish(t)

Next ==
    \/ \E t \in Threads : Step(t) \/ Drain(t) \/ PassedAwake(t) \/ Asleep(t) \/ Rescue(t)
    \/ Terminated

(* Threads run and buffers drain. A deadline need not pass. *)
Spec == Init /\ [][Next]_vars /\ \A t \in Threads : WF_vars(Step(t)) /\ WF_vars(Drain(t))

Symmetry == Permutations(Threads)

-----------------------------------------------------------------------------
(* What must hold. *)

(* A cell's newest value, visible to all or not yet. This is asked only of cells for which
   one thread at a time has stores that others do not see. *)
Newest(c) ==
    LET writers == {t \in Threads : buf[t] # <<>> /\ \E i \in 1..Len(buf[t]) : buf[t][i][1] = c}
    IN  IF writers = {} THEN mem[c[1]][c[2]] ELSE Read(CHOOSE t \in writers : TRUE, c)

Publishing == {"ParkLeave", "Publish", "Complete", "HeavyWait"}
Resting == {"Near", "LastLook", "LastTry", "Sleep", "PassedLock", "RescueLock", "Withdraw"}
Staying == {"Near", "LastLook", "Sleep"}

(* Where the node of t is linked, or t does not know yet that it is unlinked. *)
Waits(t) ==
    \/ me[t].pc \in Resting
    \/ me[t].pc \in Publishing /\ me[t].after # "GiveUpLook"
    \/ At(t, "Unguard") /\ me[t].after \in Staying

(* t was unlinked and told this, and does not know yet. *)
IsTold(t, status) == Waits(t) /\ t \notin linked /\ Newest(Status(t)) = status

Owning == {"Leave", "StoreTurn", "Withdraw", "WithdrawTold", "Section", "Release", "ReadModeBeside", "ReadRequest",
           "HandOverLock", "ReleaseBeside"}

Owner(t) ==
    \/ me[t].pc \in Owning
    \/ At(t, "Unguard") /\ me[t].after \in {"Section", "WithdrawTold", "ReleaseBeside"}
    \/ IsTold(t, "done")

(* (1) *)
Exclusion == \A t \in Threads : Owner(t) => \A u \in Threads \ {t} : ~(Owner(u) /\ Here(u) = Here(t))

Polling == {"Poll", "PollerReplaced", "Leave", "StoreTurn", "WithdrawTold"}

(* There is a poller, for a thread that sees the last turn that was stored. *)
Counts(r) ==
    LET left == Newest(Left(r)) IN awake[r].poller # None /\ left.tenancy = awake[r].tenancy /\ left # Turn(awake[r])
MarkedToAll(r) == Counts(r) \/ awake[r].flight

(* Which threads' marks, as poller or as in flight, a record may have. *)
MayPoll(t) ==
    \/ me[t].pc \in Polling
    \/ me[t].owes \/ me[t].back = "Poll"
    \/ At(t, "ParkLeave") \/ (At(t, "TakeAway") /\ me[t].after \in {"ParkLink", "GiveUpLook"})
    \/ IsTold(t, "poller") \/ (At(t, "Unguard") /\ me[t].after = "WithdrawTold")
    \/ \E u \in Threads : me[u].chosen = t /\ me[u].pc \in {"Promote", "PromoteLeave"}

Flies(t) ==
    \/ IsTold(t, "flight") \/ At(t, "Land")
    \/ (At(t, "WithdrawTold") \/ (At(t, "Unguard") /\ me[t].after = "WithdrawTold")) /\ mem.status[t] = "flight"
    \/ \E u \in Threads : At(u, "Dismiss") /\ me[u].chosen = t /\ me[u].tell = "flight"

(* (3) and (7): a mark is that of one thread that wants this very lock. *)
MarksAreExact ==
    /\ \A r \in Own :
        LET marks == awake[r] IN
        /\ Counts(r) =>
            /\ MayPoll(marks.poller)
            /\ Newest(Address(r)) \in {Here(marks.poller), "none"}
        /\ marks.flight => \E t \in Threads : Flies(t) /\ Newest(Address(r)) = Here(t)
    \* A thread of a real-time class is in flight beside another, and the first of them to run takes the mark away.
    \* So does a parked thread that takes the place of one that gets no CPU.
    /\ RealTime = {} /\ ~May("rescue") =>
        /\ \A t \in Threads : Flies(t) => \E r \in Own : awake[r].flight /\ Newest(Address(r)) = Here(t)
        /\ \A t \in Threads : Flies(t) => \A u \in Threads \ {t} : ~(Flies(u) /\ Here(t) = Here(u))
    /\ ~MarkedToAll(Shared)

(* (4): the linked threads are counted, in the record that unlocks of their lock look at.
   (7): that record stays the lock's. *)
CountIsOfTheLinked ==
    mem.guard[0] = None =>
        /\ \A r \in Own : mem.parked[r] = Cardinality({t \in linked : Call(t).do = "lock" /\ Here(t) = mem.address[r]})
        /\ mem.parked[Shared] = Cardinality({t \in linked : Call(t).do = "lock" /\ \A r \in Own : mem.address[r] # Here(t)})
        /\ mem.parked[Shared] # 0 => mem.address[Shared] = "shared"

(* No two records are of one lock. *)
RecordsDiffer == \A r \in Own, q \in Own : r # q /\ mem.address[r] = mem.address[q] => mem.address[r] = "none"

(* (5) *)
LinkedNodesLive == \A t \in linked : Waits(t)

Touching == {"ArriveTry", "Poll", "LastLook", "LastTry", "LandTry", "CompeteTry", "GiveUpLook", "Release", "ReleaseBeside"}

(* (6): a thread at one of these places accesses the byte next. *)
NothingFreedIsTouched ==
    \A t \in Threads :
        /\ me[t].pc \in Touching \/ (At(t, "LookLate") /\ Mutation("unlock_touches_the_mutex"))
            => Call(t).era = program.era[Here(t)]
        /\ At(t, "HandOver") => Call(me[t].chosen).era = program.era[Here(t)] /\ Call(me[t].chosen).do = "lock"

(* Nothing but an unpark tells a thread of another kind anything. *)
OthersAreLeftAlone ==
    \A t \in Threads : At(t, "Sleep") /\ Call(t).do = "park" => Newest(Status(t)) \in {"parked", "unparked"}

NothingIsLeft ==
    (\A t \in Threads : At(t, "Done")) =>
        /\ linked = {} /\ Newest(Guard) = None
        /\ \A r \in Records : Newest(Parked(r)) = 0 /\ ~MarkedToAll(r) /\ ~Newest(Fences(r))[3] /\ ~Newest(Fences(r))[4]
        /\ \A a \in Addresses : Newest(Byte(a)) = 0

(* Once all threads can know that a handoff is requested, at most one thread locks before it:
   after an owner that had looked before the request. *)
BypassIsBounded == program.passed <= 1

(* (2): while a thread is parked for a free lock, another thread is awake for it, or is about to
   look whether it is free, or to choose a thread to wake. *)
SleepsForGood(t) ==
    /\ At(t, "Sleep") /\ Call(t).do = "lock"
    /\ ~(IF t \in asleep THEN me[t].timed ELSE program.refused)

AboutToLook ==
    {"ReadModeAfter", "FindLight", "LookAwakeLight", "LookOfLight", "LookLate", "ReadFenceLate", "LateFence",
     "LookRecord", "LookAwake", "LookLeft", "LookParked", "WakeLock",
     "HandOver", "Promote", "PromoteLeave", "PromoteMark", "GiveUpLook", "LastLook", "LastTry", "ParkLeave", "Publish",
     "Complete", "HeavyWait", "Near", "CompeteTry", "LandTry"}

Looks(t) ==
    \/ me[t].pc \in AboutToLook
    \/ At(t, "Unguard") /\ me[t].after \in {"Near", "LastLook", "GiveUpLook"}
    \/ me[t].owes
    \/ At(t, "Dismiss") /\ me[t].tell = "compete"
    \/ IsTold(t, "compete")

NoThreadIsForgotten ==
    \A a \in Addresses :
        (\E t \in linked : SleepsForGood(t) /\ Here(t) = a) /\ Newest(Byte(a)) = 0
            => \/ \E r \in Own : Newest(Address(r)) = a /\ MarkedToAll(r)
               \/ \E t \in Threads : Here(t) = a /\ Looks(t)

(* A thread of a real-time class does not rely on a poller, nor on a thread in flight: while it is parked for a free
   lock with a record of its own, an unlock is about to look for it. *)
LooksForAll ==
    {"ReadModeAfter", "FindLight", "LookAwakeLight", "LookOfLight", "LookLate", "ReadFenceLate", "LateFence",
     "LookRecord", "LookAwake", "LookLeft", "LookParked", "WakeLock", "HandOver"}

RealTimeIsWoken ==
    \A t \in RealTime \cap linked :
        SleepsForGood(t) /\ Newest(Byte(Here(t))) = 0 /\ (\E r \in Own : Newest(Address(r)) = Here(t))
            => \E u \in Threads : Here(u) = Here(t) /\ me[u].pc \in LooksForAll

(* No futex wake is lost either: all threads come to their end. *)
AllComeToAnEnd == <>(\A t \in Threads : At(t, "Done"))
=============================================================================
