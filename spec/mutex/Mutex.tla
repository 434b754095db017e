------------------------------- MODULE Mutex -------------------------------
(* The one-byte mutex of locks/ondeck as it ships: bytes, one bucket of the parking table with its unlock mode and
   its queues, and threads that lock, wait as the heir or parked, give up, unlock, offer the lock, and at last free the
   mutex, whose address is then another mutex's.

   Memory is that of x86: each thread has a buffer of stores that others do not see yet (Sewell, Sarkar, Owens, Zappa
   Nardelli and Myreen, "x86-TSO: A Rigorous and Usable Programmer's Model for x86 Multiprocessors"). A
   read-modify-write, a full fence and a system call wait until the thread's own buffer is empty; the fence of an
   unlock is nothing; a heavy fence waits until every other buffer has been empty at some moment since it began, as
   membarrier(2) does. One thing is weaker, where a configuration says so: the exchange that gives the bucket's lock
   back is a store like another, as Rust's `Release` allows.

   An action is one access that others can interfere with. A section of the bucket's lock is one action too, which
   waits for the lock: what it changes of the queues, the lock guards, and its stores go to the thread's buffer in
   their order. The lock is given back behind them. A line above each action names the Rust functions that it models;
   in those a comment names the action.

   Left to chance: when to poll and when to ask, whether a heir or a woken thread has lost its CPU, when the heir
   wakes a parked thread and which, when it is overdue, when a sleep ends.
   So what holds here holds for all times and constants.

   What the world has and this has not:
   * More than three threads, two locks and two lives of an address; buckets beside this one.
   * What weaker machines reorder, but for the exchange above: that is left to the loom tests.
   * Naps: a heir that naps is one that does not poll yet. Times: a sleep that ends may end at any moment, and an offer
     expires at any moment.
   * The bucket's lock has a queue of its own in the source, and threads sleep for it; here it is fair.
   * The entries of the unlock mode: each address has a word of its own. A reader may see a request where the word is
     full, or an address has the tag of another.
   * Waiters of condition variables, which notifications link here: Condvar.tla.
   * Forks, and priorities beyond two. Signals: a sleep ends without a reason only by a late futex wake. *)
EXTENDS Naturals, Sequences, FiniteSets, TLC

CONSTANTS
    Threads,    \* a set
    None,       \* no thread
    Plays,      \* of each thread, what it locks: see Lock below
    Deadlines,  \* the threads whose waits may be given up
    Ways,       \* what may happen: see May
    Mutant      \* the mistake put in, or "none"

VARIABLES
    mem,        \* what all threads see: bytes, the unlock mode, statuses of nodes, the holder of the bucket's lock
    buf,        \* of each thread, the stores that only it sees: <<kind, index, value>>, oldest first
    table,      \* what the bucket's lock guards: see Init
    me,         \* each thread's place and local variables
    program     \* what has become of the addresses

vars == <<mem, buf, table, me, program>>

Mutation(name) == Mutant = name

(* "first"    a heir's first sleeps are short, and a heavy fence comes only after these; otherwise it comes first
   "slices"   the longer sleeps end, too: threads rescue themselves
   "lost"     a heir or a woken thread may have lost its CPU: another takes the role, with an offer, or is woken
   "due"      a thread that arrives may leave the role to the oldest, whose wake is under way
   "offer"    the heir may be overdue: it asks for the lock itself, and stays awake for a while
   "fair"     an owner may offer the lock to the oldest instead of unlocking
   "captured" a thread that arrives may be the displaced owner; a woken one or the heir may leave the lock alone
   "full"     an unlock may see a request for this lock where only another lock of the bucket has one
   "refused"  the machine makes no heavy fence
   "weak"     an exchange that only releases is a store like another *)
May(way) == way \in Ways

-----------------------------------------------------------------------------
(* What threads do. A call is a lock and an unlock [at, era]: at which address, in which of the address's lives. An
   address has its next life when the calls of the one before are over. *)

Lock(a, era) == [at |-> a, era |-> era]

Once == [t \in Threads |-> <<Lock("a", 1)>>]
Twice == [t \in Threads |-> <<Lock("a", 1), Lock("a", 1)>>]
TwoLocks == [t \in Threads |-> <<Lock("a", 1), Lock("c", 1)>>]
(* For threads that are numbers. *)
OneTwice == [t \in Threads |-> IF t = 1 THEN <<Lock("a", 1), Lock("a", 1)>> ELSE <<Lock("a", 1)>>]
Crossed == [t \in Threads |-> IF t = 1 THEN <<Lock("a", 1), Lock("c", 1)>>
                              ELSE IF t = 2 THEN <<Lock("c", 1)>> ELSE <<Lock("a", 1)>>]
(* For threads 1 to 4: see InitTwoQueues. *)
TwoQueues == [t \in Threads |-> <<Lock(IF t <= 2 THEN "a" ELSE "c", 1)>>]
(* While the unlock of the first is between its store and its look, the mutex is freed, and another is there. *)
ThenAnother == <<<<Lock("a", 1)>>, <<Lock("a", 1), Lock("a", 2)>>, <<Lock("a", 2)>>>>

(* The threads of a real-time scheduling class. A configuration may replace the set. *)
RealTime == {}
TheThird == {3}

Addresses == UNION {{Plays[t][i].at : i \in 1..Len(Plays[t])} : t \in Threads}
CallsOf(a, era) == Cardinality({<<t, i>> \in Threads \X (1..3) : i <= Len(Plays[t]) /\ Plays[t][i] = Lock(a, era)})

-----------------------------------------------------------------------------
(* Memory and places. *)

Quiet(t) == buf[t] = <<>>
Drained(cells, store) == [cells EXCEPT ![store[1]][store[2]] = store[3]]

(* What t reads: its own newest store, or what all threads see. *)
Read(t, kind, index) ==
    LET own == {i \in 1..Len(buf[t]) : buf[t][i][1] = kind /\ buf[t][i][2] = index}
    IN  IF own = {} THEN mem[kind][index] ELSE buf[t][CHOOSE i \in own : \A j \in own : j <= i][3]

Status(t) == Read(t, "status", t)

Call(t) == Plays[t][me[t].call]
Here(t) == Call(t).at

(* What the word asks of the unlocks of t's lock, for all that t can see. *)
Mode(t) == Read(t, "mode", Here(t))
Asks(t) ==
    {Mode(t)} \cup (IF May("full") /\ \E a \in Addresses \ {Here(t)} : mem.mode[a] # "quiet" THEN {"offer"} ELSE {})

(* Places are named by what happens next. *)
At(t, place) == me[t].pc = place
Go(t, place) == me' = [me EXCEPT ![t].pc = place]

Idle == [pc |-> "Call",
         call |-> 1,
         owner |-> FALSE,   \* it leaves the queue with the lock
         claims |-> FALSE,  \* it leaves the queue if the lock is still offered to it
         long |-> FALSE,    \* as a heir: its next sleep is a long one
         first |-> FALSE,   \* it has gone first, as a real-time thread
         wakes |-> None,    \* the thread that it is to wake
         then |-> "Finish", \* where it goes on after it has given the bucket's lock back, and has woken that thread
         frees |-> FALSE,   \* its call is the last of its address's life
         pending |-> {}]    \* in a heavy fence: the threads that were not quiet yet

(* The beginning, with threads in these places. *)
Begin(words, bucket, threads) ==
    /\ mem = words
    /\ buf = [t \in Threads |-> <<>>]
    /\ table = bucket
    /\ me = threads
    /\ program = [era |-> [a \in Addresses |-> 1],
                  left |-> [a \in Addresses |->        \* calls that have not counted themselves out
                      CallsOf(a, 1) - Cardinality({t \in Threads : threads[t].pc = "Unlock"
                                                                /\ Plays[t][1].at = a})],
                  passed |-> 0]     \* how many locked first although all can know that the heir is overdue

Words ==
    [byte |-> [a \in Addresses |-> 0],             \* 0 free, 1 locked
     mode |-> [a \in Addresses |-> "quiet"],       \* or "debt", "wake", "offer"
     status |-> [t \in Threads |-> "parked"],      \* or "heir", "woken", "offered"
     guard |-> [i \in {0} |-> None]]
Table ==
    [queue |-> <<>>,                               \* the linked nodes, oldest first, each named by its thread
     heir |-> [a \in Addresses |-> None],
     woken |-> [a \in Addresses |-> None],         \* the thread that was woken last, until it has run
     urgent |-> {}]                                \* nodes that say that their thread is a real-time one

Init == Begin(Words, Table, [t \in Threads |-> Idle])

(* A state that from the start needs more threads than TLC can follow quickly. 1 polls for the free lock at a, for
   which 2 is parked. 4 owns the lock at c, whose heir 3 sleeps with a request. *)
InitTwoQueues ==
    Begin([Words EXCEPT !.byte["c"] = 1, !.mode["c"] = "wake",
                        !.status = [@ EXCEPT ![1] = "heir", ![3] = "heir"]],
          [Table EXCEPT !.queue = <<1, 2, 3>>, !.heir = [a |-> 1, c |-> 3]],
          [t \in Threads |-> CASE t = 1 -> [Idle EXCEPT !.pc = "Wait"]
                               [] t = 2 -> [Idle EXCEPT !.pc = "Asleep"]
                               [] t = 3 -> [Idle EXCEPT !.pc = "AskAsleep", !.long = TRUE]
                               [] OTHER -> [Idle EXCEPT !.pc = "Unlock"]])

(* The hardware: the oldest of t's stores becomes visible to all. *)
\* models nothing: the hardware
Drain(t) ==
    /\ ~Quiet(t)
    /\ mem' = Drained(mem, Head(buf[t]))
    /\ buf' = [buf EXCEPT ![t] = Tail(@)]
    /\ me' = IF Len(buf[t]) > 1 THEN me ELSE [u \in Threads |-> [me[u] EXCEPT !.pending = @ \ {t}]]
    /\ UNCHANGED <<table, program>>

-----------------------------------------------------------------------------
(* Sections of the bucket's lock. A section works on a state: the table, what its thread reads, and its stores. *)

Begun == [queue |-> table.queue, heir |-> table.heir, woken |-> table.woken, urgent |-> table.urgent, mode |-> mem.mode,
          status |-> mem.status, stores |-> <<>>, wakes |-> None]

CanLock(t) == Quiet(t) /\ mem.guard[0] = None

(* The section of t is over but for its stores and the lock. *)
SectionOf(t, s, mine) ==
    /\ mem' = [mem EXCEPT !.guard[0] = t]
    /\ buf' = [buf EXCEPT ![t] = s.stores]
    /\ table' = [queue |-> s.queue, heir |-> s.heir, woken |-> s.woken, urgent |-> s.urgent]
    /\ me' = [me EXCEPT ![t] = [mine EXCEPT !.pc = "Unguard", !.wakes = s.wakes]]
Section(t, s, then) == SectionOf(t, s, [me[t] EXCEPT !.then = then])

SetMode(s, a, mode) ==
    IF s.mode[a] = mode THEN s ELSE [s EXCEPT !.mode[a] = mode, !.stores = Append(@, <<"mode", a, mode>>)]
SetStatus(s, t, status) ==
    IF s.status[t] = status THEN s
    ELSE [s EXCEPT !.status[t] = status, !.stores = Append(@, <<"status", t, status>>)]

QueueOf(s, a) == SelectSeq(s.queue, LAMBDA t : Here(t) = a)
Neighbour(a) == CHOOSE other \in Addresses : other # a
Withdraw(s, a) ==
    LET withdrawn == SetMode(s, a, "quiet")
    IN  IF Mutation("request_of_a_neighbour_withdrawn") THEN SetMode(withdrawn, Neighbour(a), "quiet") ELSE withdrawn
HasAsked(s, a) == s.heir[a] # None /\ s.mode[a] \in {"wake", "offer"}
ForgetWoken(s, t) == IF s.woken[Here(t)] = t THEN [s EXCEPT !.woken[Here(t)] = None] ELSE s

(* Whether a thread or an unlock other than the parked threads looks after these. `late`: a woken thread is lost. *)
\* models locks/ondeck/src/mutex/roles.rs is_responsible
IsLookedAfter(s, a, late) ==
    s.heir[a] # None \/ (s.woken[a] # None /\ ~late) \/ s.mode[a] = "debt"

(* The new heir inherits an offer. *)
\* models locks/ondeck/src/mutex/roles.rs become_heir
BecomeHeir(s, t) ==
    LET a == Here(t)
        other == s.heir[a]
        inherits == other # None /\ s.status[other] = "offered" /\ ~Mutation("offer_not_inherited")
        parks == other # None /\ ~Mutation("other_heir_not_parked")
        alone == IF parks THEN SetStatus(s, other, "parked") ELSE s
    IN  SetStatus([Withdraw(alone, a) EXCEPT !.heir[a] = t], t, IF inherits THEN "offered" ELSE "heir")

\* models locks/ondeck/src/mutex/roles.rs take_role
TakeRole(s, t, late) ==
    IF s.heir[Here(t)] = None \/ (late /\ ~HasAsked(s, Here(t))) THEN BecomeHeir(s, t) ELSE s

\* models locks/ondeck/src/mutex/roles.rs wake
Wake(s, a, t) ==
    LET woken == [s EXCEPT !.woken[a] = t, !.wakes = t]
    IN  IF Mutation("told_after_the_wake") THEN woken ELSE SetStatus(woken, t, "woken")
ParkedOf(s, a) == SelectSeq(QueueOf(s, a), LAMBDA t : s.status[t] = "parked")

(* It may pass over some of the oldest, but for a real-time thread. *)
\* models locks/ondeck/src/mutex/roles.rs wake_oldest
\* models locks/ondeck/src/mutex/roles.rs next_to
WakeOldest(s, a) ==
    LET parked == ParkedOf(s, a)
        last == IF parked # <<>> /\ Head(parked) \in s.urgent THEN 1 ELSE Len(parked)
    IN  IF parked = <<>> THEN {s} ELSE {Wake(s, a, parked[i]) : i \in 1..last}

(* Whether heirs and woken threads have lost their CPU, for one section. *)
Lates == IF May("lost") THEN BOOLEAN ELSE {FALSE}

(* The stores of the section are visible before the lock is free. *)
\* models locks/ondeck/src/parking/lock.rs release
Unguard(t) ==
    /\ At(t, "Unguard")
    /\ IF May("weak") THEN buf' = [buf EXCEPT ![t] = Append(@, <<"guard", 0, None>>)] /\ UNCHANGED mem
       ELSE Quiet(t) /\ mem' = [mem EXCEPT !.guard[0] = None] /\ UNCHANGED buf
    /\ me' = IF me[t].wakes # None THEN [me EXCEPT ![t].pc = "FutexWake"]
             ELSE [me EXCEPT ![t].pc = me[t].then, ![t].then = "Finish"]
    /\ UNCHANGED <<table, program>>

(* The wake uses an address only: the node may be gone, and its thread may sleep at another one. *)
\* models locks/ondeck/src/mutex/lock.rs leave
\* models locks/ondeck/src/mutex/lock.rs lock_slow
\* models locks/ondeck/src/mutex/unlock.rs wake
FutexWake(t) ==
    /\ At(t, "FutexWake")
    /\ Quiet(t)
    /\ LET place == CASE Mutation("no_futex_wake") -> me[me[t].wakes].pc
                      [] At(me[t].wakes, "Asleep") -> "Wait"
                      [] At(me[t].wakes, "AskAsleep") -> "AskWoken"
                      [] OTHER -> me[me[t].wakes].pc
       IN  me' = [me EXCEPT ![me[t].wakes].pc = place, ![t].pc = me[t].then, ![t].then = "Finish", ![t].wakes = None]
    /\ buf' = IF ~Mutation("told_after_the_wake") THEN buf
              ELSE [buf EXCEPT ![t] = <<<<"status", me[t].wakes, "woken">>>>]
    /\ UNCHANGED <<mem, table, program>>

-----------------------------------------------------------------------------
(* Acquiring. *)

(* A new owner, or a thread that has given up, counts itself out, and knows whether it is the last. *)
CountedOut(t, places) ==
    /\ LET passes == me[t].pc \in {"Call", "Enter"} /\ mem.mode[Here(t)] = "offer" /\ program.passed < 2
       IN  program' = [program EXCEPT !.left[Here(t)] = @ - 1, !.passed = IF passes THEN @ + 1 ELSE @]
    /\ me' = [places EXCEPT ![t].frees = program.left[Here(t)] = 1]

(* A test-and-set. *)
Try(t, owner, others) ==
    /\ Quiet(t)
    /\ mem' = [mem EXCEPT !.byte[Here(t)] = 1]
    /\ IF mem.byte[Here(t)] = 1 THEN UNCHANGED program /\ \E place \in others : Go(t, place)
       ELSE IF owner = "Unlock" THEN CountedOut(t, [me EXCEPT ![t].pc = owner])
       ELSE UNCHANGED program /\ me' = [me EXCEPT ![t].pc = owner, ![t].owner = TRUE]
    /\ UNCHANGED <<buf, table>>

\* models locks/ondeck/src/mutex/lock.rs try_lock
TryLock(t) ==
    /\ At(t, "Call")
    /\ Call(t).era = program.era[Here(t)]
    /\ Try(t, "Unlock", {"Enter"})

(* A few times before it waits. *)
\* models locks/ondeck/src/mutex/lock.rs is_free_soon
ArriveTry(t) == At(t, "Enter") /\ Try(t, "Unlock", {"Enter"})

(* The displaced owner of a captured lock also wakes the thread with the next turn, unless another is the heir or was woken. *)
\* models locks/ondeck/src/mutex/roles.rs enter
Displaced(s, t, late) ==
    LET a == Here(t)
        isKnown == s.heir[a] # None \/ (s.woken[a] # None /\ ~late)
        led == TakeRole(s, t, late)
        others == {s.queue[i] : i \in {i \in 1..Len(s.queue) : LET u == s.queue[i] IN
                                            Here(u) = a /\ u # t /\ led.status[u] = "parked"}}
    IN  IF isKnown \/ others = {} THEN {led} ELSE {Wake(led, a, u) : u \in others}

\* models locks/ondeck/src/mutex/lock.rs lock_slow
Enter(t) ==
    /\ At(t, "Enter")
    /\ CanLock(t)
    /\ LET linked == [Begun EXCEPT !.queue = Append(@, t)] IN
       \E late \in Lates :
       \E s \in {TakeRole(linked, t, late)} \cup (IF May("captured") THEN Displaced(linked, t, late) ELSE {})
                   \cup (IF May("due") /\ IsLookedAfter(linked, Here(t), late) THEN {linked} ELSE {}) :
        Section(t, s, "Wait")
    /\ UNCHANGED program

(* The heir looks whether it is still the heir, and tries, or wakes a parked thread. One that has left the lock
   to its owner for a turn asks without an attempt. *)
\* models locks/ondeck/src/mutex/heir.rs poll
Poll(t) ==
    /\ At(t, "Wait") /\ Status(t) = "heir"
    /\ \E place \in {"PollTry"} \cup (IF May("captured") THEN {"Ask"} ELSE {}) : Go(t, place)
    /\ UNCHANGED <<mem, buf, table, program>>

Heavy == IF Mutation("no_heavy_fence") THEN "AskHeavyMade" ELSE "Heavy"
GivesUp(t) == IF t \in Deadlines THEN {"Leave"} ELSE {}

\* models locks/ondeck/src/mutex/heir.rs poll
\* models locks/ondeck/src/mutex/heir.rs sit_out_turn
PollTry(t) ==
    /\ At(t, "PollTry")
    /\ Try(t, "Leave", {"Wait", IF Mutation("fence_before_the_request") THEN "Heavy" ELSE "Ask"}
                          \cup GivesUp(t))

(* It cannot ask if it is no longer the heir. *)
\* models locks/ondeck/src/mutex/heir.rs ask
\* models locks/ondeck/src/mutex/roles.rs ask
Ask(t) ==
    /\ At(t, "Ask")
    /\ CanLock(t)
    /\ IF mem.status[t] = "heir" \/ Mutation("asks_though_replaced")
       THEN \E request \in {"wake"} \cup (IF May("offer") THEN {"offer"} ELSE {}) :
                /\ Section(t, SetMode(Begun, Here(t), request),
                           IF Mutation("fence_before_the_request") THEN "AskTry" ELSE "AskFence")
                /\ program' = [program EXCEPT !.passed = 0]
       ELSE /\ Section(t, Begun, "Wait")
            /\ UNCHANGED program

(* One that asks for the lock itself may stay awake before its attempt, or after it. *)
\* models locks/ondeck/src/mutex/heir.rs sleep_until_asked
AskFence(t) ==
    /\ At(t, "AskFence")
    /\ Quiet(t)
    /\ \E place \in {IF May("first") THEN "AskTry" ELSE Heavy} \cup (IF May("offer") THEN {"AskWoken"} ELSE {}) : Go(t, place)
    /\ UNCHANGED <<mem, buf, table, program>>

NoHeir(t) == me' = [me EXCEPT ![t].pc = "Wait", ![t].long = FALSE]

\* models locks/ondeck/src/mutex/heir.rs sleep_until_asked
AskTry(t) ==
    At(t, "AskTry") /\ Try(t, "Leave", {"AskSleep"} \cup (IF May("offer") THEN {"AskWoken"} ELSE {}))

\* models locks/ondeck/src/mutex/heir.rs as_heir
AskSleep(t) ==
    /\ At(t, "AskSleep")
    /\ Quiet(t)
    /\ IF mem.status[t] = "heir" THEN Go(t, "AskAsleep") ELSE NoHeir(t)
    /\ UNCHANGED <<mem, buf, table, program>>

(* A sleep has ended: by a wake, or as its time is over. *)
\* models locks/ondeck/src/mutex/heir.rs sleep_until_asked
AskWoken(t) ==
    /\ \/ At(t, "AskWoken")
       \/ At(t, "AskAsleep") /\ (IF me[t].long THEN May("slices") ELSE May("first"))
    /\ IF Status(t) # "heir" THEN NoHeir(t)
       ELSE \E place \in {"AskTry"} \cup (IF At(t, "AskWoken") \/ me[t].long THEN {} ELSE {Heavy}) : Go(t, place)
    /\ UNCHANGED <<mem, buf, table, program>>

(* The next sleep is a long one. A machine without heavy fences goes on as if it had made one. *)
\* models locks/ondeck/src/mutex/heir.rs next
AskHeavy(t) ==
    /\ At(t, "Heavy")
    /\ Quiet(t)
    /\ me' = [me EXCEPT ![t].pc = "AskHeavyMade",
                        ![t].pending = IF May("refused") THEN {} ELSE {u \in Threads : ~Quiet(u)}]
    /\ UNCHANGED <<mem, buf, table, program>>

\* models nothing: the system call of AskHeavy is over
AskHeavyMade(t) ==
    /\ At(t, "AskHeavyMade")
    /\ me[t].pending = {}
    /\ me' = [me EXCEPT ![t].long = TRUE,
                        ![t].pc = CASE Mutation("fence_before_the_request") -> "Ask"
                                    [] Mutation("no_last_attempt") -> "AskSleep"
                                    [] OTHER -> "AskTry"]
    /\ UNCHANGED <<mem, buf, table, program>>

(* A parked thread sleeps while the kernel finds it parked. *)
\* models locks/ondeck/src/mutex/lock.rs sleep
Sleep(t) ==
    /\ At(t, "Wait") /\ Status(t) = "parked"
    /\ t \in RealTime => me[t].first
    /\ Quiet(t)
    /\ Go(t, "Asleep")
    /\ UNCHANGED <<mem, buf, table, program>>

(* Before its first sleep, a real-time thread goes before all others. *)
\* models locks/ondeck/src/mutex/roles.rs go_first
GoFirst(t) ==
    /\ At(t, "Wait") /\ Status(t) = "parked"
    /\ t \in RealTime /\ ~me[t].first
    /\ CanLock(t)
    /\ LET others == SelectSeq(table.queue, LAMBDA u : u # t)
           is(u) == u \in table.urgent
           s == [Begun EXCEPT !.urgent = @ \cup {t},
                              !.queue = SelectSeq(others, is) \o <<t>> \o SelectSeq(others, LAMBDA u : ~is(u))]
           led == IF s.heir[Here(t)] \in s.urgent THEN s ELSE BecomeHeir(s, t)
       IN  SectionOf(t, IF mem.status[t] = "parked" THEN led ELSE [Begun EXCEPT !.urgent = @ \cup {t}],
                     [me[t] EXCEPT !.then = "Wait", !.first = TRUE])
    /\ UNCHANGED program

(* The end of a slice: the heir, or the thread that was woken, may get no CPU. *)
\* models locks/ondeck/src/mutex/lock.rs sleep
Rescue(t) ==
    /\ May("slices") /\ At(t, "Asleep")
    /\ CanLock(t)
    /\ \E late \in Lates : Section(t, IF mem.status[t] = "parked" THEN TakeRole(Begun, t, late) ELSE Begun, "Wait")
    /\ UNCHANGED program

(* The deadline of a sleeping thread passes. *)
\* models locks/ondeck/src/mutex/lock.rs sleep
\* models locks/ondeck/src/mutex/heir.rs sleep_until_asked
TimeOut(t) ==
    /\ t \in Deadlines
    /\ me[t].pc \in {"Asleep", "AskAsleep"}
    /\ IF At(t, "AskAsleep") /\ Status(t) # "heir" THEN NoHeir(t) ELSE Go(t, "Leave")
    /\ UNCHANGED <<mem, buf, table, program>>

(* It was woken to compete, or is offered the lock. One that was woken leaves a captured lock alone. *)
\* models locks/ondeck/src/mutex/lock.rs wait
Told(t) ==
    /\ At(t, "Wait")
    /\ CASE Status(t) = "woken" -> \E place \in {"LandTry"} \cup (IF May("captured") THEN {"Land"} ELSE {}) : Go(t, place)
         [] Status(t) = "offered" -> me' = [me EXCEPT ![t].pc = "Leave", ![t].claims = TRUE]
         [] OTHER -> FALSE
    /\ UNCHANGED <<mem, buf, table, program>>

\* models locks/ondeck/src/mutex/lock.rs land
LandTry(t) == At(t, "LandTry") /\ Try(t, "Leave", {"Land"})

(* The lock is taken: the woken thread is the heir, unless the heir sleeps with a request, is offered the
   lock, or is a real-time thread. *)
\* models locks/ondeck/src/mutex/roles.rs land
Land(t) ==
    /\ At(t, "Land")
    /\ CanLock(t)
    /\ LET s == IF Mutation("landed_and_still_woken") THEN Begun ELSE ForgetWoken(Begun, t)
           a == Here(t)
           other == s.heir[a]
           isUrgent(u) == u \in s.urgent
           stays(late) ==
               /\ other # None
               /\ \/ isUrgent(other) /\ ~isUrgent(t)
                  \/ isUrgent(other) = isUrgent(t) /\ HasAsked(s, a)
                  \/ s.status[other] = "offered"
               /\ ~late \/ HasAsked(s, a)
       IN  \E late \in Lates : SectionOf(t, CASE mem.status[t] # "woken" -> Begun
                          [] stays(late) \/ Mutation("landed_without_a_role") -> SetStatus(s, t, "parked")
                          [] OTHER -> BecomeHeir(s, t),
                     [me[t] EXCEPT !.then = "Wait", !.first = FALSE])
    /\ UNCHANGED program

(* The thread unlinks itself: it owns the lock, or gives up. If parked threads remain without a thread that looks
   after them, an owner leaves a debt to its own unlock; others wake the oldest. If the lock is no longer offered to it, its
   wait goes on. *)
\* models locks/ondeck/src/mutex/roles.rs leave
Leave(t) ==
    /\ At(t, "Leave")
    /\ CanLock(t)
    /\ LET a == Here(t)
           isOffered == mem.status[t] = "offered"
           claims == me[t].claims /\ Mutation("offer_claimed_though_revoked")
           owner == me[t].owner \/ claims \/ (isOffered /\ ~(Mutation("offered_at_the_deadline") /\ ~me[t].claims))
           isHeir == table.heir[a] = t
           unheired == IF isHeir THEN [Begun EXCEPT !.heir[a] = None] ELSE Begun
           withdrawn == IF isHeir /\ ~Mutation("request_left_behind") THEN Withdraw(unheired, a) ELSE unheired
           forgotten == IF Mutation("left_and_still_woken") THEN withdrawn ELSE ForgetWoken(withdrawn, t)
           gone == IF Mutation("left_though_linked") THEN None ELSE t
           s == [forgotten EXCEPT !.queue = SelectSeq(@, LAMBDA u : u # gone), !.urgent = @ \ {t}]
           Ends(ends) == \E end \in ends : Section(t, end, IF owner THEN "Owner" ELSE "GaveUp")
       IN  IF me[t].claims /\ ~isOffered /\ ~claims
           THEN SectionOf(t, Begun, [me[t] EXCEPT !.then = "Wait", !.claims = FALSE])
           ELSE IF QueueOf(s, a) = <<>>
           THEN Ends({IF Mutation("debt_to_no_one") THEN s ELSE Withdraw(s, a)})
           ELSE \E late \in Lates :
                Ends(CASE IsLookedAfter(s, a, late) -> {s}
                       [] owner /\ Mutation("left_without_a_debt") -> {s}
                       [] owner -> {SetMode(s, a, "debt")}
                       [] Mutation("given_up_without_a_wake") -> {s}
                       [] OTHER -> WakeOldest(s, a))
    /\ UNCHANGED program

(* The call goes on with the lock, or without; its next node is another one. *)
\* models nothing: the wait is over
Left(t) ==
    /\ me[t].pc \in {"Owner", "GaveUp"}
    /\ mem' = [mem EXCEPT !.status[t] = "parked"]
    /\ CountedOut(t, [me EXCEPT ![t] = [Idle EXCEPT !.call = me[t].call,
                                                    !.pc = IF At(t, "Owner") THEN "Unlock" ELSE "Finish"]])
    /\ UNCHANGED <<buf, table>>

-----------------------------------------------------------------------------
(* Unlocking. *)

\* models locks/ondeck/src/mutex/unlock.rs unlock
ReadModeBefore(t) ==
    /\ At(t, "Unlock")
    /\ \E asks \in Asks(t) :
        Go(t, CASE asks # "quiet" -> "ReadHand"
                [] Mutation("mode_read_before_only") -> "ReleaseLast"
                [] OTHER -> "Release")
    /\ UNCHANGED <<mem, buf, table, program>>

(* A request may be there that concerns this unlock before its store. *)
\* models locks/ondeck/src/mutex/unlock.rs unlock_slow
ReadHand(t) ==
    /\ At(t, "ReadHand")
    /\ \E asks \in Asks(t) :
        me' = [me EXCEPT ![t].pc = IF asks = "offer" THEN "HandOver" ELSE "ReleaseAsked",
                         ![t].wakes = IF Mutation("offered_though_left") THEN table.heir[Here(t)] ELSE None]
    /\ UNCHANGED <<mem, buf, table, program>>

(* The lock is kept for u, which becomes the heir. *)
Offered(s, u) ==
    LET told == SetStatus(ForgetWoken(BecomeHeir(s, u), u), u, "offered")
    IN  [told EXCEPT !.wakes = u]
OfferTo(t, nodes, otherwise) ==
    IF nodes = {} THEN Section(t, Begun, otherwise)
    ELSE Section(t, Offered(Begun, CHOOSE u \in nodes : TRUE),
                 IF Mutation("offered_and_released") THEN "ReleaseAsked" ELSE "Finish")

\* models locks/ondeck/src/mutex/unlock.rs offer
\* models locks/ondeck/src/mutex/roles.rs offer
HandOver(t) ==
    /\ At(t, "HandOver")
    /\ CanLock(t)
    /\ LET a == Here(t)
       IN  OfferTo(t, CASE me[t].wakes # None -> {me[t].wakes}
                        [] mem.mode[a] = "offer" /\ table.heir[a] # None -> {table.heir[a]}
                        [] OTHER -> {}, "ReleaseAsked")
    /\ UNCHANGED program

(* Of an owner that offers the lock to the thread that has waited longest, asked or not. *)
\* models locks/ondeck/src/mutex/unlock.rs unlock_fair
\* models locks/ondeck/src/mutex/unlock.rs bump
HandFair(t) ==
    /\ May("fair") /\ At(t, "Unlock")
    /\ QueueOf(table, Here(t)) # <<>>
    /\ CanLock(t)
    /\ OfferTo(t, {Head(QueueOf(table, Here(t)))}, "Unlock")
    /\ UNCHANGED program

\* models locks/ondeck/src/mutex/unlock.rs unlock
\* models locks/ondeck/src/mutex/unlock.rs unlock_slow
Release(t) ==
    /\ me[t].pc \in {"Release", "ReleaseAsked", "ReleaseLast"}
    /\ buf' = [buf EXCEPT ![t] = Append(@, <<"byte", Here(t), 0>>)]
    /\ Go(t, CASE At(t, "Release") -> "ReadModeAfter" [] At(t, "ReleaseAsked") -> "Look" [] OTHER -> "Finish")
    /\ UNCHANGED <<mem, table, program>>

\* models locks/ondeck/src/mutex/unlock.rs unlock
ReadModeAfter(t) ==
    /\ At(t, "ReadModeAfter")
    /\ \E asks \in Asks(t) : Go(t, IF asks = "quiet" THEN "Finish" ELSE "Look")
    /\ UNCHANGED <<mem, buf, table, program>>

\* models locks/ondeck/src/mutex/unlock.rs look
Look(t) ==
    /\ At(t, "Look")
    /\ LET remembers == Mutation("woken_though_left") /\ HasAsked(Begun, Here(t))
           places(asks) == CASE asks = "quiet" -> {"Finish"}
                             [] asks = "debt" /\ Mutation("debt_left_to_a_later_unlock") -> {"Serve", "Finish"}
                             [] OTHER -> {"Serve"}
       IN  \E asks \in Asks(t) : \E place \in places(asks) :
            me' = [me EXCEPT ![t].pc = place, ![t].wakes = IF remembers THEN table.heir[Here(t)] ELSE None]
    /\ UNCHANGED <<mem, buf, table, program>>

(* The unlock wakes the heir if that has asked for it. If the heir asks for the lock, the unlock acquires it again and offers
   it. Otherwise it wakes a parked thread, unless another thread looks after those. *)
\* models locks/ondeck/src/mutex/unlock.rs look
\* models locks/ondeck/src/mutex/roles.rs serve
Serve(t) ==
    /\ At(t, "Serve")
    /\ CanLock(t)
    /\ LET a == Here(t)
           heir == table.heir[a]
           s == IF Mutation("request_not_withdrawn") THEN Begun ELSE Withdraw(Begun, a)
       IN  CASE me[t].wakes # None -> Section(t, Wake(s, a, me[t].wakes), "Finish")
             [] mem.mode[a] = "quiet" -> Section(t, Begun, "Finish")
             [] heir # None /\ mem.mode[a] = "wake" -> Section(t, Wake([s EXCEPT !.heir[a] = None], a, heir), "Finish")
             [] heir # None /\ mem.mode[a] = "offer" /\ (mem.byte[a] = 0 \/ Mutation("offered_without_the_lock")) ->
                LET end == Offered(Begun, heir) IN
                    /\ mem' = [mem EXCEPT !.guard[0] = t, !.byte[a] = 1]
                    /\ buf' = [buf EXCEPT ![t] = end.stores]
                    /\ table' = [queue |-> end.queue, heir |-> end.heir, woken |-> end.woken, urgent |-> end.urgent]
                    /\ me' = [me EXCEPT ![t] = [@ EXCEPT !.pc = "Unguard", !.wakes = end.wakes, !.then = "Finish"]]
             [] heir # None /\ mem.mode[a] = "offer" -> Section(t, Begun, "Finish")
             [] OTHER ->
                \E late \in Lates :
                \E end \in IF IsLookedAfter(s, a, late) \/ Mutation("debt_cleared_in_vain") THEN {s} ELSE WakeOldest(s, a) :
                    Section(t, end, "Finish")
    /\ UNCHANGED program

-----------------------------------------------------------------------------
(* The program around. A thread that finds that all other calls of an address's life have counted themselves out
   frees what is there as soon as its own call has returned. *)

\* models nothing: what the program does when a call has returned
Finish(t) ==
    /\ At(t, "Finish")
    /\ LET a == Here(t)
           era == program.era[a] + 1
       IN  IF me[t].frees
           THEN Quiet(t) /\ mem.byte[a] = 0 /\ program' = [program EXCEPT !.era[a] = era, !.left[a] = CallsOf(a, era)]
           ELSE UNCHANGED program
    /\ me' = [me EXCEPT ![t] = IF me[t].call = Len(Plays[t]) THEN [Idle EXCEPT !.pc = "Done", !.call = me[t].call]
                               ELSE [Idle EXCEPT !.call = me[t].call + 1]]
    /\ UNCHANGED <<mem, buf, table>>

\* models nothing: the end
Terminated ==
    /\ \A t \in Threads : At(t, "Done")
    /\ UNCHANGED vars

(* Grouped by place, because TLC would otherwise try all actions one by one. *)
Locking == {"Call", "Enter", "Wait", "PollTry", "LandTry", "Land", "Leave", "Owner", "GaveUp"}
Asking == {"Ask", "AskFence", "AskTry", "AskSleep", "AskAsleep", "AskWoken", "Heavy", "AskHeavyMade"}
Unlocking ==
    {"Unlock", "ReadHand", "HandOver", "Release", "ReleaseAsked", "ReleaseLast", "ReadModeAfter", "Look",
     "Serve"}
Waiting == ((Locking \cup Asking) \ {"Call", "Enter", "Owner", "GaveUp"}) \cup {"Asleep", "Unguard", "FutexWake"}
Step(t) ==
    IF me[t].pc \in Locking
    THEN \/ TryLock(t) \/ ArriveTry(t) \/ Enter(t) \/ Poll(t) \/ PollTry(t) \/ Sleep(t) \/ GoFirst(t)
         \/ Told(t) \/ LandTry(t) \/ Land(t) \/ Leave(t) \/ Left(t)
    ELSE IF me[t].pc \in Asking
    THEN Ask(t) \/ AskFence(t) \/ AskTry(t) \/ AskSleep(t) \/ AskWoken(t) \/ AskHeavy(t) \/ AskHeavyMade(t)
    ELSE IF me[t].pc \in Unlocking
    THEN \/ ReadModeBefore(t) \/ ReadHand(t) \/ HandOver(t) \/ HandFair(t) \/ Release(t) \/ ReadModeAfter(t)
         \/ Look(t) \/ Serve(t)
    ELSE Rescue(t) \/ Unguard(t) \/ FutexWake(t) \/ Finish(t)

Next == (\E t \in Threads : Step(t) \/ Drain(t) \/ TimeOut(t)) \/ Terminated

(* Threads run, sleeps that may end do, and buffers drain. A deadline need not pass. *)
Spec == Init /\ [][Next]_vars /\ \A t \in Threads : WF_vars(Step(t) \/ Drain(t))

Symmetry == Permutations(Threads)

-----------------------------------------------------------------------------
(* What must hold. *)

Linked(t) == \E i \in 1..Len(table.queue) : table.queue[i] = t
Guarded == mem.guard[0] # None

Owning == {"Owner", "Unlock", "ReadHand", "HandOver", "Release", "ReleaseAsked", "ReleaseLast"}
Owns(t) ==
    \/ me[t].pc \in Owning
    \/ me[t].owner
    \/ me[t].pc \in {"Unguard", "FutexWake"} /\ me[t].then \in Owning
    \/ Linked(t) /\ mem.status[t] = "offered"

(* (1) *)
Exclusion == \A t \in Threads : Owns(t) => \A u \in Threads \ {t} : ~(Owns(u) /\ Here(u) = Here(t))

(* The threads that the table names as heirs are linked, and know it; and there is no other. *)
OneHeir ==
    ~Guarded =>
        /\ \A t \in Threads : Linked(t) /\ mem.status[t] \in {"heir", "offered"} <=> table.heir[Here(t)] = t
        /\ \A a \in Addresses : \A t \in {table.heir[a], table.woken[a]} \ {None} : Linked(t) /\ Here(t) = a

(* (2): a parked thread is looked after. *)
ParkedAreLookedAfter ==
    ~Guarded => \A t \in Threads : Linked(t) /\ mem.status[t] = "parked" =>
        \/ table.heir[Here(t)] # None
        \/ table.woken[Here(t)] # None /\ mem.status[table.woken[Here(t)]] = "woken"
        \/ mem.mode[Here(t)] = "debt"

(* The unlock of t will see what the mode asks by now. *)
WillLook(t) == me[t].pc \in {"ReadModeAfter", "Look", "Serve"}

(* (2): a debt is that of an owner, or of an unlock that is about to look. *)
DebtsHaveDebtors ==
    ~Guarded => \A a \in Addresses : mem.mode[a] = "debt" =>
        \E t \in Threads : Here(t) = a /\ (Owns(t) \/ WillLook(t))

(* (3): a heir sleeps for long only while the lock is taken, for all that any thread has stored, or an unlock is
   about to see the request. *)
SleepingHeirsAreSeen ==
    \A t \in Threads : At(t, "AskAsleep") /\ me[t].long /\ ~May("refused") /\ ~Guarded /\ mem.status[t] = "heir" =>
        \/ /\ mem.byte[Here(t)] = 1
           /\ \A u \in Threads : \A i \in 1..Len(buf[u]) : buf[u][i] # <<"byte", Here(t), 0>>
        \/ \E u \in Threads : Here(u) = Here(t) /\ WillLook(u)

(* (4), (5): a thread at one of these places accesses the byte next; a linked node's thread waits, and only linked
   nodes are told anything. *)
Touching == {"Enter", "PollTry", "AskTry", "LandTry", "Release", "ReleaseAsked", "ReleaseLast"}
NothingFreedIsTouched ==
    \A t \in Threads :
        /\ me[t].pc \in Touching \/ (Mutation("unlock_touches_the_mutex") /\ At(t, "Look"))
              => Call(t).era = program.era[Here(t)]
        /\ Linked(t) => Call(t).era = program.era[Here(t)] /\ me[t].pc \in Waiting
        /\ \A i \in 1..Len(buf[t]) : buf[t][i][1] = "status" => Linked(buf[t][i][2])

(* (6), and only of heirs that wait. *)
ModeIsOfTheLinked ==
    ~Guarded => \A a \in Addresses :
        /\ mem.mode[a] # "quiet" => \E t \in Threads : Linked(t) /\ Here(t) = a
        /\ mem.mode[a] \in {"wake", "offer"} => table.heir[a] # None /\ mem.status[table.heir[a]] = "heir"

(* Once all threads can know that the heir is overdue, at most one thread locks before it: after an owner that had
   looked before the request. *)
BypassIsBounded == program.passed <= 1

NothingIsLeft ==
    (\A t \in Threads : At(t, "Done") /\ Quiet(t)) =>
        /\ table.queue = <<>> /\ ~Guarded
        /\ \A a \in Addresses : mem.byte[a] = 0 /\ mem.mode[a] = "quiet" /\ table.heir[a] = None /\ table.woken[a] = None

AllReturn == <>(\A t \in Threads : At(t, "Done"))
=============================================================================
