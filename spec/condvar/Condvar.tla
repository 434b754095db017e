------------------------------ MODULE Condvar ------------------------------
(* The condition variable of crates/ondeck as it ships: waiting, deadlines, and
   notifiers that move waiters to their mutex under the locks of two buckets; with
   condition variables and mutexes that are freed as soon as they may be.

   The mutex is the one that Mutex.tla has in full, in larger steps: who parks does
   so in one, and so does a release that chooses whom to wake. Both are sections of
   one bucket's lock, and Mutex.tla shows that what happens within them is seen as
   one step by releases. What a notifier shares with a release stays as fine as in
   the source: the byte's clearing store, the mark, the count, the two looks.

   Memory is that of x86: each thread has a buffer of stores that others do not see
   yet. A read-modify-write and a full fence empty the thread's own. Where fences
   are asymmetric a release has none, and a heavy one empties all buffers at once;
   that it does so one by one is in Mutex.tla, as is the byte of attention: here a
   release always looks.

   An action is one access that others can interfere with. What else is in it is
   guarded by a bucket's lock that is held (the list, addresses of nodes), or is a
   store that nobody can tell from one made earlier or later: `waited` and the
   status of the one who watched before, which are both read alone. A section of
   one bucket's lock with one such access is one action, which waits for the lock;
   a notifier's, with more of them, holds the locks from action to action.

   Left to chance: whether to poll, how long to watch, whether a sleeper is overdue,
   which of a mutex's sleepers a release prefers for its CPU, when a deadline passes. *)
EXTENDS Naturals, Sequences, FiniteSets, TLC

CONSTANTS
    Scenarios,  \* names of Scripts; those, on every machine of:
    Layouts,    \* which share a bucket: see BucketIn
    Watches,    \* whether a waiter watches its own node before it sleeps
    Polls,      \* whether who finds the mutex taken may go on deck
    Overdue,    \* whether a sleeper may have waited for too long
    Fences,     \* "full", "asymmetric"
    Mutant      \* the mistake put in, or "none"

VARIABLES
    setup,      \* the scenario and the machine; never changes
    mem,        \* what all see of the mutexes' bytes, the marks and the counts
    buf,        \* of each thread, its stores that only it sees: <<cell, value>>, oldest first
    held,       \* who has the lock of each bucket
    list,       \* of each bucket, the linked nodes, oldest first; a node is named by its thread
    node,       \* of each thread, what it waits for and its status
    waited,     \* the byte of each condition variable
    me,         \* each thread's place and local variables
    gone,       \* mutexes and condition variables that are freed
    fault,      \* what was touched though it was gone
    program,    \* what the mutexes guard
    ghost       \* what happened, for the properties

vars == <<setup, mem, buf, held, list, node, waited, me, gone, fault, program, ghost>>

Mutation(name) == Mutant = name

-----------------------------------------------------------------------------
(* Who does what. "c", "d" are condition variables, "a", "b" mutexes. *)

Nobody == 0
None == "none"
All == 9

(* Locks, waits until there is something, takes it, unlocks. Lists of options:
   "timed": gives up at a deadline. "at once": waits before it looks whether there
   is something. "asleep": begins asleep, linked by a wait before. *)
Waiter(c, m, options) ==
    [does |-> "wait", condvar |-> c, sections |-> <<m>>, options |-> options]

(* Puts something down in each of the mutexes and notifies, in the last section or
   after it. *)
Notifier(c, ms, most, inside) ==
    [does |-> "notify", condvar |-> c, sections |-> ms, most |-> most, inside |-> inside]

(* Locks and unlocks. *)
Other(m) == [does |-> "lock", condvar |-> None, sections |-> <<m>>]

Scripts == [
    alone |-> <<Waiter("c", "a", {}), Notifier("c", <<"a">>, 1, FALSE)>>,
    inside |-> <<Waiter("c", "a", {}), Notifier("c", <<"a">>, 1, TRUE), Other("a")>>,
    outside |-> <<Waiter("c", "a", {}), Notifier("c", <<"a">>, 1, FALSE), Other("a")>>,
    all_inside |-> <<Waiter("c", "a", {}), Waiter("c", "a", {}),
                     Notifier("c", <<"a">>, All, TRUE)>>,
    all_outside |-> <<Waiter("c", "a", {}), Waiter("c", "a", {}),
                      Notifier("c", <<"a">>, All, FALSE)>>,
    one_each |-> <<Waiter("c", "a", {}), Waiter("c", "a", {}),
                   Notifier("c", <<"a">>, 1, TRUE), Notifier("c", <<"a">>, 1, FALSE)>>,
    deadline |-> <<Waiter("c", "a", {"timed"}), Waiter("c", "a", {"timed", "at once"}),
                   Notifier("c", <<"a">>, 1, FALSE)>>,
    late |-> <<Waiter("c", "a", {"timed", "asleep"}), Waiter("c", "a", {"timed", "at once"}),
               Notifier("c", <<>>, 1, FALSE)>>,
    two_signals |-> <<Waiter("c", "a", {"timed", "at once", "asleep"}),
                      Waiter("c", "a", {"timed", "at once"}),
                      Notifier("c", <<>>, 1, FALSE), Notifier("c", <<>>, 1, FALSE)>>,
    two_mutexes |-> <<Waiter("c", "a", {}), Waiter("c", "b", {"timed"}),
                      Notifier("c", <<"a", "b">>, All, FALSE)>>,
    crossed |-> <<Waiter("c", "a", {"at once", "asleep"}), Waiter("d", "b", {"at once", "asleep"}),
                  Notifier("c", <<>>, 1, FALSE), Notifier("d", <<>>, 1, FALSE)>>]

BucketIn == [
    up |-> [c |-> 1, d |-> 1, a |-> 2, b |-> 2],
    down |-> [c |-> 2, d |-> 2, a |-> 1, b |-> 1],
    one |-> [c |-> 1, d |-> 1, a |-> 1, b |-> 1],
    apart |-> [a |-> 1, c |-> 2, d |-> 2, b |-> 3],
    crossed |-> [c |-> 1, a |-> 2, b |-> 1, d |-> 2]]

Script == Scripts[setup.scenario]
Threads == DOMAIN Script
Mutexes == {"a", "b"}
Condvars == {"c", "d"}
Buckets == 1..3
Bucket(o) == BucketIn[setup.layout][o]

Is(t, kind) == Script[t].does = kind
Option(t, option) == Is(t, "wait") /\ option \in Script[t].options
Condvar(t) == Script[t].condvar
Mutex(t) == IF Is(t, "wait") THEN Script[t].sections[1]
            ELSE Script[t].sections[me[t].section]
MutexOf(w) == Script[w].sections[1]
Most(t) == Script[t].most
Waiters(c) == {t \in Threads : Is(t, "wait") /\ Condvar(t) = c}
Notifiers(c) == {t \in Threads : Is(t, "notify") /\ Condvar(t) = c}

-----------------------------------------------------------------------------
(* Memory. *)

(* byte: 0 free, 1 owned. deck: the mutex that has an awake waiter, or None.
   parked: how many sleep for mutexes. *)
Byte(m) == <<"byte", m>>
Deck(b) == <<"deck", b>>
Parked(b) == <<"parked", b>>

RECURSIVE After(_, _)
After(cells, stores) ==
    IF stores = <<>> THEN cells
    ELSE LET cell == Head(stores)[1]
         IN  After([cells EXCEPT ![cell[1]][cell[2]] = Head(stores)[2]], Tail(stores))

(* Memory as t sees it, and as all see it once t's buffer is empty. *)
Seen(t) == After(mem, buf[t])

RECURSIVE AfterAll(_, _)
AfterAll(cells, t) == IF t = 0 THEN cells ELSE AfterAll(After(cells, buf[t]), t - 1)

Store(t, cell, value) == buf' = [buf EXCEPT ![t] = Append(@, <<cell, value>>)]

(* A read-modify-write, or several accesses with one among them and bucket's lock
   around: what memory is after it. *)
Atomically(t, cells) == mem' = cells /\ buf' = [buf EXCEPT ![t] = <<>>]

(* What t has written is known to releases, and what releases wrote before to t. *)
Announced(t) ==
    IF setup.fences = "asymmetric" THEN AfterAll(mem, Len(Script)) ELSE Seen(t)
Announcing(t, cells) ==
    /\ mem' = cells
    /\ buf' = IF setup.fences = "asymmetric" THEN [u \in Threads |-> <<>>]
              ELSE [buf EXCEPT ![t] = <<>>]

(* The hardware: the oldest of t's stores is seen by all. *)
\* models nothing: the hardware
Drain(t) ==
    /\ buf[t] # <<>>
    /\ mem' = After(mem, <<Head(buf[t])>>)
    /\ buf' = [buf EXCEPT ![t] = Tail(@)]
    /\ UNCHANGED <<setup, held, list, node, waited, me, gone, fault, program, ghost>>

Touch(o) == fault' = fault \cup (gone \cap {o})

-----------------------------------------------------------------------------
(* Places, named by what happens next; lists; the kernel. *)

At(t, place) == me[t].pc = place
Go(t, place) == me' = [me EXCEPT ![t].pc = place]

Free(b) == held[b] = Nobody

LinkedAt(b, o) == SelectSeq(list[b], LAMBDA w : node[w].address = o)
Range(s) == {s[i] : i \in 1..Len(s)}
Oldest(s) == s[1]
Newest(s) == s[Len(s)]
Without(b, w) == [list EXCEPT ![b] = SelectSeq(@, LAMBDA u : u # w)]

(* The places after a futex wake at w's address: who sleeps there looks again. *)
Woken(w, places) ==
    [places EXCEPT ![w].pc = CASE @ = "Asleep" -> "Sleep"
                               [] @ = "WaitAsleep" -> "Wait"
                               [] OTHER -> @]

(* Where t goes when it has become the owner. *)
BecomesOwner(t) == node' = [node EXCEPT ![t].live = FALSE]

-----------------------------------------------------------------------------
Setups ==
    [scenario : Scenarios, layout : Layouts, watches : Watches, polls : Polls,
     overdue : Overdue, fences : Fences]

Init ==
    /\ setup \in Setups
    /\ mem = [byte |-> [m \in Mutexes |-> 0],
              deck |-> [b \in Buckets |-> None],
              parked |-> [b \in Buckets |-> 0]]
    /\ buf = [t \in Threads |-> <<>>]
    /\ held = [b \in Buckets |-> Nobody]
    /\ list = [b \in Buckets |->
                SelectSeq([t \in Threads |-> t],
                          LAMBDA t : Option(t, "asleep") /\ Bucket(Condvar(t)) = b)]
    /\ node = [t \in Threads |->
                [address |-> Condvar(t), status |-> "parked", live |-> Option(t, "asleep")]]
    /\ waited = [c \in Condvars |->
                  IF \E t \in Waiters(c) : Option(t, "asleep") THEN 1 ELSE 0]
    /\ me = [t \in Threads |->
              [pc |-> CASE Option(t, "asleep") -> "WaitAsleep"
                        [] Script[t].sections = <<>> -> "HasWaiters"
                        [] OTHER -> "TryLock",
               section |-> 1,
               leaves |-> FALSE,                \* this is its last unlock
               frees |-> {},                    \* what is gone when that has returned
               deadline |-> Option(t, "timed"), \* it may pass
               answer |-> None,                 \* of wait: None before it has one
               target |-> None,                 \* of a notifier: the mutex of this turn
               moved |-> 0,                     \* how many it has moved
               slept |-> FALSE,                 \* one of this turn sleeps
               marked |-> FALSE,                \* the mark is for the one that it moves now
               last |-> FALSE,                  \* nobody was left
               chosen |-> Nobody]]              \* the one that it moves, or is to wake
    /\ gone = {}
    /\ fault = {}
    /\ program = [ready |-> [m \in Mutexes |-> 0],
                  users |-> [m \in Mutexes |->
                    LET Uses(t) == {i \in 1..Len(Script[t].sections) : Script[t].sections[i] = m}
                    IN  Cardinality({<<t, i>> \in Threads \X (1..3) : i \in Uses(t)})],
                  out |-> {}]
    /\ ghost = [signal |-> [t \in Threads |-> Nobody],  \* whose signal took the waiter off
                before |-> [t \in Threads |-> {}],      \* calls that were over when it was linked
                eligible |-> [t \in Threads |-> {}],    \* linked at the start of the call, and since
                taken |-> [t \in Threads |-> {}],       \* taken off by the call
                over |-> {}]                            \* notifiers whose call has returned

-----------------------------------------------------------------------------
(* The mutex, in larger steps than those of Mutex.tla. *)

\* models nothing: the mutex, which Mutex.tla has in full
TryLock(t) ==
    /\ At(t, "TryLock")
    /\ LET now == Seen(t) IN
        /\ Atomically(t, [now EXCEPT !.byte[Mutex(t)] = 1])
        /\ Go(t, CASE now.byte[Mutex(t)] = 0 -> "Owner"
                   [] setup.polls -> "Arrive"
                   [] OTHER -> "Park")
    /\ Touch(Mutex(t))
    /\ UNCHANGED <<setup, held, list, node, waited, gone, program, ghost>>

\* models nothing: the mutex, which Mutex.tla has in full
Arrive(t) ==
    /\ At(t, "Arrive")
    /\ LET now == Seen(t)
           b == Bucket(Mutex(t))
       IN  IF now.deck[b] = None
           THEN Atomically(t, [now EXCEPT !.deck[b] = Mutex(t)]) /\ Go(t, "Poll")
           ELSE Atomically(t, now) /\ Go(t, "Park")
    /\ UNCHANGED <<setup, held, list, node, waited, gone, fault, program, ghost>>

\* models nothing: the mutex, which Mutex.tla has in full
Poll(t) ==
    /\ At(t, "Poll")
    /\ LET now == Seen(t) IN
        /\ now.byte[Mutex(t)] = 0
        /\ Atomically(t, [now EXCEPT !.byte[Mutex(t)] = 1])
    /\ Go(t, "Leave")
    /\ Touch(Mutex(t))
    /\ UNCHANGED <<setup, held, list, node, waited, gone, program, ghost>>

\* models nothing: the mutex, which Mutex.tla has in full
PollEnough(t) ==
    /\ At(t, "Poll")
    /\ Go(t, "ParkOffDeck")
    /\ UNCHANGED <<setup, mem, buf, held, list, node, waited, gone, fault, program, ghost>>

\* models nothing: the mutex, which Mutex.tla has in full
Leave(t) ==
    /\ At(t, "Leave")
    /\ Store(t, Deck(Bucket(Mutex(t))), None)
    /\ Go(t, "Owner")
    /\ BecomesOwner(t)
    /\ UNCHANGED <<setup, mem, held, list, waited, gone, fault, program, ghost>>

\* models nothing: the mutex, which Mutex.tla has in full
Park(t) ==
    /\ At(t, "Park") \/ At(t, "ParkOffDeck")
    /\ LET m == Mutex(t)
           b == Bucket(m)
           now == Announced(t)
           free == now.byte[m] = 0
       IN  /\ Free(b)
           /\ Announcing(t, [now EXCEPT
                !.byte[m] = 1,
                !.deck[b] = IF At(t, "ParkOffDeck") THEN None ELSE @,
                !.parked[b] = IF free THEN @ ELSE @ + 1])
           /\ IF free
              THEN BecomesOwner(t) /\ UNCHANGED list
              ELSE /\ node' = [node EXCEPT ![t] = [address |-> m, status |-> "parked", live |-> TRUE]]
                   /\ list' = [list EXCEPT ![b] = Append(@, t)]
           /\ Go(t, IF free THEN "Owner" ELSE "Sleep")
           /\ Touch(m)
    /\ UNCHANGED <<setup, held, waited, gone, program, ghost>>

\* models nothing: the mutex, which Mutex.tla has in full
Sleep(t) ==
    /\ At(t, "Sleep")
    /\ Go(t, CASE node[t].status = "parked" -> "Asleep"
               [] node[t].status = "deck" -> "Poll"
               [] OTHER -> "Owner")
    /\ IF node[t].status = "owner" THEN BecomesOwner(t) ELSE UNCHANGED node
    /\ UNCHANGED <<setup, mem, buf, held, list, waited, gone, fault, program, ghost>>

(* Whom a thread that has the lock of the mutex's bucket may choose to wake, and
   what becomes of everything by that. *)
Choices(t, m) ==
    LET b == Bucket(m)
        now == Seen(t)
        sleepers == LinkedAt(b, m)
        nothing == [cells |-> now, list |-> list, node |-> node, chosen |-> Nobody]
        Told(w, status, cells) ==
            [cells |-> [cells EXCEPT !.parked[b] = @ - 1],
             list |-> Without(b, w),
             node |-> [node EXCEPT ![w].status = status],
             chosen |-> w]
        HandOver(w) ==
            IF Mutation("handover_takes_nothing") \/ now.byte[m] = 0
            THEN Told(w, "owner", [now EXCEPT !.byte[m] = 1])
            ELSE nothing
    IN  IF sleepers = <<>> THEN {nothing}
        ELSE (IF setup.overdue THEN {HandOver(Oldest(sleepers))} ELSE {})
             \cup (CASE now.deck[b] = m -> {nothing}
                     [] now.deck[b] = None ->
                            {Told(w, "deck", [now EXCEPT !.deck[b] = m]) : w \in Range(sleepers)}
                     [] OTHER -> {HandOver(w) : w \in Range(sleepers)})

(* The program's last section with a mutex, and what is free to be freed then: the
   mutex, if nobody else has a section left; the condition variable, if its other
   waiters are out, and each notifier's call is over, or has notified somebody. *)
Leaving(t) ==
    LET m == Mutex(t)
        c == Condvar(t)
        out == IF me[t].leaves THEN program.out \cup {t} ELSE program.out
        last == Is(t, "wait") => me[t].leaves
        users == IF last THEN program.users[m] - 1 ELSE program.users[m]
    IN  /\ program' = [program EXCEPT !.users[m] = users, !.out = out]
        /\ me' = [me EXCEPT
            ![t].pc = "LookDeck",
            ![t].frees = (IF users = 0 THEN {m} ELSE {})
                \cup (IF Is(t, "wait") /\ me[t].leaves /\ Waiters(c) \subseteq out
                         /\ \A n \in Notifiers(c) : n \in ghost.over \/ ghost.taken[n] # {}
                      THEN {c} ELSE {})]

(* Where t goes after an unlock. *)
Onwards(t) ==
    CASE Is(t, "wait") /\ ~me[t].leaves ->
            IF Mutation("linked_after_unlock") /\ ~node[t].live THEN "Link"
            ELSE IF setup.watches THEN "Watch" ELSE "Wait"
      [] Is(t, "notify") /\ me[t].section < Len(Script[t].sections) -> "NextSection"
      [] Is(t, "notify") /\ t \notin ghost.over -> "HasWaiters"
      [] OTHER -> "Done"
Then(t) == IF me[t].frees # {} THEN "Free" ELSE Onwards(t)

\* models nothing: the mutex, which Mutex.tla has in full
Unlock(t) ==
    /\ At(t, "Unlock")
    /\ Store(t, Byte(Mutex(t)), 0)
    /\ Leaving(t)
    /\ Touch(Mutex(t))
    /\ UNCHANGED <<setup, mem, held, list, node, waited, gone, ghost>>

(* A full fence, unless those who park have heavy ones; then the look. With a
   waiter on deck a release may still find out that a sleeper is overdue. *)
\* models nothing: the mutex, which Mutex.tla has in full
LookDeck(t) ==
    /\ At(t, "LookDeck")
    /\ IF setup.fences = "full" THEN Atomically(t, Seen(t)) ELSE UNCHANGED <<mem, buf>>
    /\ IF Seen(t).deck[Bucket(Mutex(t))] = Mutex(t)
       THEN Go(t, Then(t)) \/ (setup.overdue /\ Go(t, "LookParked"))
       ELSE Go(t, "LookParked")
    /\ UNCHANGED <<setup, held, list, node, waited, gone, fault, program, ghost>>

\* models nothing: the mutex, which Mutex.tla has in full
LookParked(t) ==
    /\ At(t, "LookParked")
    /\ Go(t, IF Seen(t).parked[Bucket(Mutex(t))] = 0 THEN Then(t) ELSE "Release")
    /\ UNCHANGED <<setup, mem, buf, held, list, node, waited, gone, fault, program, ghost>>

\* models nothing: the mutex, which Mutex.tla has in full
Release(t) ==
    /\ At(t, "Release")
    /\ Free(Bucket(Mutex(t)))
    /\ \E choice \in Choices(t, Mutex(t)) :
        /\ Atomically(t, choice.cells)
        /\ list' = choice.list
        /\ node' = choice.node
        /\ me' = [me EXCEPT ![t].pc = IF choice.chosen = Nobody THEN Then(t) ELSE "Wake",
                            ![t].chosen = choice.chosen]
    /\ UNCHANGED <<setup, held, waited, gone, fault, program, ghost>>

\* models nothing: the mutex, which Mutex.tla has in full
Wake(t) ==
    /\ At(t, "Wake")
    /\ me' = Woken(me[t].chosen, [me EXCEPT ![t].pc = Then(t), ![t].chosen = Nobody])
    /\ UNCHANGED <<setup, mem, buf, held, list, node, waited, gone, fault, program, ghost>>

-----------------------------------------------------------------------------
(* The program. *)

\* models nothing: what the program does in its section
Section(t) ==
    /\ At(t, "Owner")
    /\ LET m == Mutex(t) IN
       CASE Is(t, "lock") ->
              /\ Go(t, "Unlock")
              /\ UNCHANGED program
         [] Is(t, "notify") ->
              /\ program' = [program EXCEPT !.ready[m] = @ + IF Most(t) = All THEN
                                Cardinality({w \in Waiters(Condvar(t)) : MutexOf(w) = m}) ELSE 1]
              /\ Go(t, IF Script[t].inside /\ me[t].section = Len(Script[t].sections)
                       THEN "HasWaiters" ELSE "Unlock")
         [] OTHER ->
              LET first == Option(t, "at once") /\ me[t].answer = None
                  takes == program.ready[m] > 0 /\ ~first
                  leaves == takes \/ me[t].answer = "timeout"
                            \/ (Option(t, "at once") /\ me[t].answer = "notified")
              IN  /\ program' = [program EXCEPT !.ready[m] = IF takes THEN @ - 1 ELSE @]
                  /\ me' = [me EXCEPT
                       ![t].pc = IF leaves \/ Mutation("linked_after_unlock") THEN "Unlock" ELSE "Link",
                       ![t].leaves = leaves,
                       ![t].answer = None]
    /\ UNCHANGED <<setup, mem, buf, held, list, node, waited, gone, fault, ghost>>

\* models nothing: what the program does next
NextSection(t) ==
    /\ At(t, "NextSection")
    /\ me' = [me EXCEPT ![t].pc = "TryLock", ![t].section = @ + 1]
    /\ UNCHANGED <<setup, mem, buf, held, list, node, waited, gone, fault, program, ghost>>

\* models nothing: what the program does as soon as it may
FreeIt(t) ==
    /\ At(t, "Free")
    /\ gone' = gone \cup me[t].frees
    /\ me' = [me EXCEPT ![t].pc = Onwards(t), ![t].frees = {}]
    /\ UNCHANGED <<setup, mem, buf, held, list, node, waited, fault, program, ghost>>

-----------------------------------------------------------------------------
(* Waiting. *)

(* The owner of the mutex links its node; who watched before it loses the rest. *)
\* models crates/ondeck/src/condvar/raw.rs wait
Link(t) ==
    LET c == Condvar(t)
        b == Bucket(c)
        earlier == LinkedAt(b, c)
        Stopped(w) == IF setup.watches /\ w = Newest(earlier) /\ node[w].status = "watching"
                      THEN "parked" ELSE node[w].status
    IN  /\ At(t, "Link")
        /\ Free(b)
        /\ node' = [w \in Threads |->
             IF w = t THEN [address |-> c, live |-> TRUE,
                            status |-> IF setup.watches THEN "watching" ELSE "parked"]
             ELSE IF earlier = <<>> THEN node[w]
             ELSE [node[w] EXCEPT !.status = Stopped(w)]]
        /\ list' = [list EXCEPT ![b] = Append(@, t)]
        /\ waited' = [waited EXCEPT ![c] = 1]
        /\ Atomically(t, Seen(t))
        /\ me' = [me EXCEPT ![t].pc = CASE ~Mutation("linked_after_unlock") -> "Unlock"
                                        [] setup.watches -> "Watch"
                                        [] OTHER -> "Wait",
                            ![t].deadline = Option(t, "timed")]
        /\ ghost' = [ghost EXCEPT !.signal[t] = Nobody, !.before[t] = ghost.over]
        /\ Touch(c)
        /\ UNCHANGED <<setup, held, gone, program>>

(* Enough of it, or it is not watching any more because another was faster. *)
\* models crates/ondeck/src/condvar/raw.rs watch
StopWatching(t) ==
    /\ At(t, "Watch")
    /\ Atomically(t, Seen(t))
    /\ node' = [node EXCEPT ![t].status = IF @ = "watching" THEN "parked" ELSE @]
    /\ Go(t, "Wait")
    /\ UNCHANGED <<setup, held, list, waited, gone, fault, program, ghost>>

(* It looks at its status, and the kernel compares it. Who is not parked any more
   was notified, and goes on at the mutex. *)
\* models crates/ondeck/src/condvar/raw.rs wait
Wait(t) ==
    /\ At(t, "Wait")
    /\ LET status == node[t].status IN
        /\ me' = [me EXCEPT
            ![t].pc = CASE status = "parked" -> "WaitAsleep"
                        [] status = "deck" -> "Poll"
                        [] OTHER -> "Owner",
            ![t].answer = IF status # "parked" /\ @ = None THEN "notified" ELSE @]
        /\ IF status = "owner" THEN BecomesOwner(t) ELSE UNCHANGED node
    /\ UNCHANGED <<setup, mem, buf, held, list, waited, gone, fault, program, ghost>>

\* models crates/ondeck/src/condvar/raw.rs wait
TimeOut(t) ==
    /\ At(t, "WaitAsleep")
    /\ me[t].deadline
    /\ Go(t, "Withdraw")
    /\ UNCHANGED <<setup, mem, buf, held, list, node, waited, gone, fault, program, ghost>>

(* What a waiter does that was notified before it could withdraw. *)
NotifiedBefore(t) ==
    LET others == LinkedAt(Bucket(Condvar(t)), Condvar(t))
        other == Newest(others)
        passes == Mutation("signal_passed_on") /\ others # <<>>
    IN  /\ me' = [me EXCEPT
            ![t].pc = "Wait",
            ![t].deadline = FALSE,
            ![t].answer = IF Mutation("notified_reports_timeout") \/ passes THEN "timeout" ELSE @]
        /\ ghost' = IF ~passes THEN ghost
                    ELSE [ghost EXCEPT !.signal = (other :> ghost.signal[t]) @@ (t :> Nobody) @@ @]
        /\ UNCHANGED <<list, node, waited, fault>>

\* models crates/ondeck/src/condvar/raw.rs withdraw
Withdraw(t) ==
    LET c == Condvar(t)
        b == Bucket(c)
        left == [k \in Buckets |-> SelectSeq(list[k], LAMBDA u : u # t)]
        others == {w \in Range(list[b]) : w # t /\ node[w].address = c}
    IN  /\ At(t, "Withdraw")
        /\ Free(b)
        /\ Atomically(t, Seen(t))
        /\ IF node[t].address # c /\ ~Mutation("withdraw_though_notified")
           THEN NotifiedBefore(t)
           ELSE /\ list' = left
                /\ node' = [node EXCEPT ![t].live = FALSE]
                /\ IF others = {}
                   THEN /\ waited' = IF Mutation("withdrawn_but_waited") THEN waited
                                     ELSE [waited EXCEPT ![c] = 0]
                        /\ Touch(c)
                   ELSE UNCHANGED <<waited, fault>>
                /\ me' = [me EXCEPT ![t].pc = "TryLock", ![t].answer = "timeout"]
                /\ ghost' = [ghost EXCEPT
                     !.eligible = [n \in Threads |-> @[n] \ {t}]]
        /\ UNCHANGED <<setup, held, gone, program>>

-----------------------------------------------------------------------------
(* Notifying. *)

(* The call is over; and the places then. *)
Returned(t, places) ==
    /\ ghost' = [ghost EXCEPT !.over = @ \cup {t}]
    /\ me' = [places EXCEPT
         ![t].pc = IF Script[t].inside THEN "Unlock" ELSE "Done",
         ![t].target = None, ![t].moved = 0, ![t].slept = FALSE,
         ![t].last = FALSE, ![t].marked = FALSE, ![t].chosen = Nobody]

\* models crates/ondeck/src/condvar/raw.rs notify_one
\* models crates/ondeck/src/condvar/raw.rs notify_all
HasWaiters(t) ==
    /\ At(t, "HasWaiters")
    /\ LET c == Condvar(t)
           linked == Range(LinkedAt(Bucket(c), c))
       IN  /\ Touch(c)
           /\ IF waited[c] = 0
              THEN /\ ghost' = [ghost EXCEPT !.over = @ \cup {t}, !.eligible[t] = linked]
                   /\ Go(t, IF Script[t].inside THEN "Unlock" ELSE "Done")
              ELSE /\ ghost' = [ghost EXCEPT !.eligible[t] = linked]
                   /\ Go(t, "LockFirst")
    /\ UNCHANGED <<setup, mem, buf, held, list, node, waited, gone, program>>

(* The buckets of the condition variable, and of the mutex of this turn. *)
From(t) == Bucket(Condvar(t))
To(t) == Bucket(me[t].target)
Linked(t) == LinkedAt(From(t), Condvar(t))

\* models crates/ondeck/src/condvar/raw.rs lock_both
LockFirst(t) ==
    /\ At(t, "LockFirst")
    /\ Free(From(t))
    /\ Atomically(t, Seen(t))
    /\ IF Linked(t) = <<>>
       THEN Returned(t, me) /\ UNCHANGED held
       ELSE LET m == MutexOf(Newest(Linked(t))) IN
            /\ held' = [held EXCEPT ![From(t)] = t]
            /\ me' = [me EXCEPT ![t].target = m, ![t].slept = FALSE,
                                ![t].pc = IF Bucket(m) = From(t) THEN "Move" ELSE "Extend"]
            /\ UNCHANGED ghost
    /\ UNCHANGED <<setup, list, node, waited, gone, fault, program>>

(* The second lock: waited for if it comes after the first, else only tried. *)
\* models crates/ondeck/src/parking/pair.rs extend
Extend(t) ==
    /\ At(t, "Extend")
    /\ Atomically(t, Seen(t))
    /\ \/ /\ Free(To(t))
          /\ held' = [held EXCEPT ![To(t)] = t]
          /\ Go(t, "Move")
       \/ /\ ~Free(To(t))
          /\ From(t) > To(t)
          /\ ~Mutation("buckets_locked_in_no_order")
          /\ held' = [held EXCEPT ![From(t)] = Nobody]
          /\ Go(t, "LockLower")
    /\ UNCHANGED <<setup, list, node, waited, gone, fault, program, ghost>>

\* models crates/ondeck/src/parking/pair.rs lock
LockLower(t) ==
    /\ At(t, "LockLower")
    /\ Free(To(t))
    /\ held' = [held EXCEPT ![To(t)] = t]
    /\ Go(t, "LockUpper")
    /\ UNCHANGED <<setup, mem, buf, list, node, waited, gone, fault, program, ghost>>

\* models crates/ondeck/src/parking/pair.rs lock
LockUpper(t) ==
    /\ At(t, "LockUpper")
    /\ Free(From(t))
    /\ held' = [held EXCEPT ![From(t)] = t]
    /\ Go(t, "LookAgain")
    /\ UNCHANGED <<setup, mem, buf, list, node, waited, gone, fault, program, ghost>>

(* The first lock was let go: the newest waiter may be another's by now. *)
\* models crates/ondeck/src/condvar/raw.rs lock_both
LookAgain(t) ==
    /\ At(t, "LookAgain")
    /\ IF Linked(t) = <<>>
       THEN /\ held' = [held EXCEPT ![From(t)] = Nobody, ![To(t)] = Nobody]
            /\ Returned(t, me)
       ELSE LET m == MutexOf(Newest(Linked(t))) IN
            /\ UNCHANGED ghost
            /\ IF m = me[t].target
               THEN Go(t, "Move") /\ UNCHANGED held
               ELSE /\ held' = [held EXCEPT ![To(t)] = Nobody]
                    /\ me' = [me EXCEPT ![t].target = m,
                                        ![t].pc = IF Bucket(m) = From(t) THEN "Move" ELSE "Extend"]
    /\ UNCHANGED <<setup, mem, buf, list, node, waited, gone, fault, program>>

ClearsLater == Mutant \in {"waited_cleared_after_the_last_is_told", "waited_cleared_after_unlock"}

(* Whom to move next: the newest; or the oldest, if that has waited for too long. *)
Candidates(t) ==
    LET linked == Linked(t) IN
    IF linked = <<>> \/ (me[t].moved = Most(t) /\ ~Mutation("notify_one_moves_all")) THEN {}
    ELSE IF MutexOf(Newest(linked)) # me[t].target THEN {}
    ELSE {Newest(linked)} \cup
         (IF setup.overdue /\ MutexOf(Oldest(linked)) = me[t].target THEN {Oldest(linked)} ELSE {})

(* It is taken off. If nobody is left, the condition variable's byte says so, while
   that is certainly there. If the waiter watches, it may go on deck: the mark is
   set for it. *)
\* models crates/ondeck/src/condvar/raw.rs move_waiters
\* models crates/ondeck/src/condvar/raw.rs move_waiter
Move(t) ==
    /\ At(t, "Move")
    /\ \E w \in Candidates(t) :
        LET watching == node[w].status = "watching"
            now == Seen(t)
            marked == watching /\ (now.deck[To(t)] = None \/ Mutation("moved_on_deck_without_mark"))
            tells == marked /\ Mutation("told_before_unlinked")
        IN  /\ IF watching
               THEN Atomically(t, IF now.deck[To(t)] = None
                                     /\ ~Mutation("moved_on_deck_without_mark")
                                  THEN [now EXCEPT !.deck[To(t)] = me[t].target] ELSE now)
               ELSE UNCHANGED <<mem, buf>>
            /\ list' = IF tells THEN list ELSE Without(From(t), w)
            /\ node' = [node EXCEPT ![w].address = me[t].target,
                                    ![w].status = IF tells THEN "deck" ELSE @]
            /\ me' = [me EXCEPT ![t].pc = "Tell", ![t].chosen = w, ![t].marked = marked]
            /\ ghost' = [ghost EXCEPT
                 !.signal[w] = t,
                 !.taken[t] = @ \cup {w},
                 !.eligible = [n \in Threads |-> @[n] \ {w}]]
            /\ IF (Range(Linked(t)) \subseteq {w} \/ Mutation("notify_forgets_the_others"))
                  /\ ~ClearsLater
               THEN waited' = [waited EXCEPT ![Condvar(t)] = 0] /\ Touch(Condvar(t))
               ELSE UNCHANGED <<waited, fault>>
    /\ UNCHANGED <<setup, held, gone, program>>

(* Whoever still watches and has the mark may go; it may be gone by the next step.
   All others are linked among the sleepers of their mutex, and counted. *)
\* models crates/ondeck/src/condvar/raw.rs move_waiter
Tell(t) ==
    /\ At(t, "Tell")
    /\ LET w == me[t].chosen
           now == Seen(t)
           goes == me[t].marked
                   /\ (node[w].status = "watching" \/ Mutation("told_before_unlinked"))
           count == IF Mutation("moved_uncounted") THEN <<>>
                    ELSE <<<<Parked(To(t)), now.parked[To(t)] + 1>>>>
       IN  /\ mem' = now
           /\ fault' = IF node[w].live \/ Mutation("told_before_unlinked") THEN fault
                       ELSE fault \cup {"node"}
           /\ IF goes
              THEN /\ buf' = [buf EXCEPT ![t] = <<>>]
                   /\ node' = [node EXCEPT ![w].status = IF Mutation("told_before_unlinked")
                                                         THEN @ ELSE "deck"]
                   /\ list' = Without(From(t), w)
                   /\ me' = [me EXCEPT ![t].pc = "Move", ![t].chosen = Nobody,
                                       ![t].marked = FALSE, ![t].moved = @ + 1]
              ELSE /\ buf' = [buf EXCEPT ![t] = count]
                   /\ node' = [node EXCEPT ![w].status = "parked"]
                   /\ list' = [list EXCEPT ![To(t)] = Append(@, w)]
                   /\ me' = [me EXCEPT
                        ![t].pc = IF me[t].marked /\ ~Mutation("unmarked_after_the_look")
                                  THEN "Unmark" ELSE "Move",
                        ![t].chosen = Nobody, ![t].slept = TRUE, ![t].moved = @ + 1]
    /\ UNCHANGED <<setup, held, waited, gone, program, ghost>>

(* It went to sleep meanwhile: counted first, then the mark is taken away. *)
\* models crates/ondeck/src/condvar/raw.rs move_waiter
Unmark(t) ==
    /\ At(t, "Unmark")
    /\ Store(t, Deck(To(t)), None)
    /\ me' = [me EXCEPT ![t].pc = "Move", ![t].marked = FALSE]
    /\ UNCHANGED <<setup, mem, held, list, node, waited, gone, fault, program, ghost>>

(* Enough for this turn. *)
\* models crates/ondeck/src/condvar/raw.rs move_waiters
EndMoving(t) ==
    /\ At(t, "Move")
    /\ Candidates(t) = {}
    /\ LET c == Condvar(t)
           last == Linked(t) = <<>> \/ (Mutation("notify_forgets_the_others") /\ me[t].moved # 0)
           looks == me[t].slept \/ Mutation("notify_touches_a_freed_mutex")
       IN  /\ IF last /\ Mutation("waited_cleared_after_the_last_is_told")
              THEN waited' = [waited EXCEPT ![c] = 0] /\ Touch(c)
              ELSE UNCHANGED <<waited, fault>>
           /\ me' = [me EXCEPT
                ![t].last = last,
                ![t].pc = CASE ~looks \/ Mutation("notify_wakes_nobody") -> "Drop"
                            [] Mutation("moved_without_announcing") -> "LookAtMutex"
                            [] OTHER -> "Announce"]
    /\ UNCHANGED <<setup, mem, buf, held, list, node, gone, program, ghost>>

\* models crates/ondeck/src/condvar/raw.rs wake_if_free
Announce(t) ==
    /\ At(t, "Announce")
    /\ Announcing(t, Announced(t))
    /\ Go(t, "LookAtMutex")
    /\ UNCHANGED <<setup, held, list, node, waited, gone, fault, program, ghost>>

\* models crates/ondeck/src/condvar/raw.rs wake_if_free
LookAtMutex(t) ==
    /\ At(t, "LookAtMutex")
    /\ Touch(me[t].target)
    /\ IF me[t].marked THEN Store(t, Deck(To(t)), None) ELSE UNCHANGED buf
    /\ me' = [me EXCEPT ![t].marked = FALSE,
                        ![t].pc = IF Seen(t).byte[me[t].target] = 0 THEN "Choose" ELSE "Drop"]
    /\ UNCHANGED <<setup, mem, held, list, node, waited, gone, program, ghost>>

\* models crates/ondeck/src/condvar/raw.rs wake_if_free
Choose(t) ==
    /\ At(t, "Choose")
    /\ \E choice \in Choices(t, me[t].target) :
        /\ Atomically(t, choice.cells)
        /\ list' = choice.list
        /\ node' = choice.node
        /\ me' = [me EXCEPT ![t].pc = "Drop", ![t].chosen = choice.chosen]
    /\ UNCHANGED <<setup, held, waited, gone, fault, program, ghost>>

(* What follows a turn: another for the next mutex, or the end. *)
EndTurn(t, places) ==
    CASE me[t].last /\ Mutation("waited_cleared_after_unlock") ->
            me' = [places EXCEPT ![t].pc = "ClearLate", ![t].chosen = Nobody] /\ UNCHANGED ghost
      [] me[t].last \/ me[t].moved = Most(t) -> Returned(t, places)
      [] OTHER ->
            me' = [places EXCEPT ![t].pc = "LockFirst", ![t].chosen = Nobody] /\ UNCHANGED ghost

\* models crates/ondeck/src/condvar/raw.rs move_waiters
Drop(t) ==
    /\ At(t, "Drop")
    /\ Atomically(t, Seen(t))
    /\ held' = [held EXCEPT ![From(t)] = Nobody, ![To(t)] = Nobody]
    /\ IF me[t].chosen = Nobody THEN EndTurn(t, me) ELSE Go(t, "WakeChosen") /\ UNCHANGED ghost
    /\ UNCHANGED <<setup, list, node, waited, gone, fault, program>>

(* By address: the node may be gone. *)
\* models crates/ondeck/src/condvar/raw.rs move_waiters
WakeChosen(t) ==
    /\ At(t, "WakeChosen")
    /\ EndTurn(t, Woken(me[t].chosen, me))
    /\ UNCHANGED <<setup, mem, buf, held, list, node, waited, gone, fault, program>>

(* Not in the source: the mutant's. *)
\* models nothing: a mistake put in
ClearLate(t) ==
    /\ At(t, "ClearLate")
    /\ waited' = [waited EXCEPT ![Condvar(t)] = 0]
    /\ Touch(Condvar(t))
    /\ Returned(t, me)
    /\ UNCHANGED <<setup, mem, buf, held, list, node, gone, program>>

-----------------------------------------------------------------------------
Step(t) ==
    \/ TryLock(t) \/ Arrive(t) \/ Poll(t) \/ PollEnough(t) \/ Leave(t) \/ Park(t) \/ Sleep(t)
    \/ Unlock(t) \/ LookDeck(t) \/ LookParked(t) \/ Release(t) \/ Wake(t)
    \/ Section(t) \/ NextSection(t) \/ FreeIt(t)
    \/ Link(t) \/ StopWatching(t) \/ Wait(t) \/ TimeOut(t) \/ Withdraw(t)
    \/ HasWaiters(t) \/ LockFirst(t) \/ Extend(t) \/ LockLower(t) \/ LockUpper(t) \/ LookAgain(t)
    \/ Move(t) \/ Tell(t) \/ Unmark(t) \/ EndMoving(t)
    \/ Announce(t) \/ LookAtMutex(t) \/ Choose(t) \/ Drop(t) \/ WakeChosen(t) \/ ClearLate(t)

AllDone == \A t \in Threads : At(t, "Done")
\* models nothing: the end
Terminated == AllDone /\ UNCHANGED vars

Next == (\E t \in Threads : Step(t) \/ Drain(t)) \/ Terminated

(* Threads run, buffers drain, deadlines pass. *)
Spec == Init /\ [][Next]_vars
        /\ \A t \in 1..4 : WF_vars(t \in Threads /\ Step(t)) /\ WF_vars(t \in Threads /\ Drain(t))

-----------------------------------------------------------------------------
(* What must hold. *)

Inside(t) == Is(t, "notify") /\ Script[t].inside /\ t \notin ghost.over

Owns(t, m) ==
    /\ Is(t, "notify") => me[t].section <= Len(Script[t].sections)
    /\ Mutex(t) = m
    /\ \/ me[t].pc \in {"Leave", "Owner", "Unlock"}
       \/ At(t, "Link") /\ ~Mutation("linked_after_unlock")
       \/ node[t].live /\ node[t].status = "owner"
       \/ Inside(t) /\ me[t].pc \in {"HasWaiters", "LockFirst", "Extend", "LockLower", "LockUpper",
            "LookAgain", "Move", "Tell", "Unmark", "Announce", "LookAtMutex", "Choose", "Drop",
            "WakeChosen", "ClearLate"}

(* From when it has the mark, or is told so, until it owns the mutex or sleeps. *)
Awake(t, m) ==
    /\ Is(t, "notify") => me[t].section <= Len(Script[t].sections)
    /\ Mutex(t) = m
    /\ \/ me[t].pc \in {"Poll", "ParkOffDeck"}
       \/ node[t].live /\ node[t].status = "deck" /\ ~At(t, "Leave")

Exclusion == \A m \in Mutexes : Cardinality({t \in Threads : Owns(t, m)}) <= 1

AtMostOneAwake == \A m \in Mutexes : Cardinality({t \in Threads : Awake(t, m)}) <= 1

NothingFreedIsTouched == fault = {}

(* A node is linked once, and only while its thread waits. *)
LinkedNodesAreLive ==
    \A b \in Buckets :
        /\ Cardinality(Range(list[b])) = Len(list[b])
        /\ \A w \in Range(list[b]) : node[w].live /\ Bucket(node[w].address) = b

(* A wait says that it was notified if and only if a signal took it off. *)
AnswersAreTrue ==
    \A t \in Threads : At(t, "Owner") /\ Is(t, "wait") =>
        /\ me[t].answer = "notified" => ghost.signal[t] # Nobody
        /\ me[t].answer = "timeout" => ghost.signal[t] = Nobody

(* A call that has returned took somebody off, unless everybody who was linked when
   it began had gone by other signals or deadlines; if it is for all, it left none. *)
NoSignalIsLost ==
    \A n \in ghost.over : ghost.eligible[n] = {} \/ (Most(n) = 1 /\ ghost.taken[n] # {})

(* Who was linked after a call had returned does not have its signal. *)
NoSignalIsStolen == \A t \in Threads : ghost.signal[t] \notin ghost.before[t]

(* Nobody is notified beyond what was asked for. *)
NoSignalIsDoubled ==
    \A n \in Threads : Is(n, "notify") => Cardinality(ghost.taken[n]) <= Most(n)

AtRest ==
    AllDone /\ (\A t \in Threads : buf[t] = <<>>) =>
        /\ \A b \in Buckets : list[b] = <<>> /\ Free(b) /\ mem.deck[b] = None /\ mem.parked[b] = 0
        /\ \A m \in Mutexes : mem.byte[m] = 0
        /\ \A c \in Condvars : waited[c] = 0

EveryoneReturns == <>AllDone

(* Whoever a signal took off returns, and says that it was notified. *)
SignalsArrive ==
    \A t \in 1..4 :
        (t \in Threads /\ node[t].live /\ ghost.signal[t] # Nobody)
            ~> (t \in Threads /\ At(t, "Owner") /\ me[t].answer = "notified")
=============================================================================
