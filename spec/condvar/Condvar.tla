------------------------------ MODULE Condvar ------------------------------
(* The condition variable of crates/ondeck as it ships: waiting near, pinning the
   mutex's record, parking, deadlines, and notifications that tell a near waiter to
   compete and move a parked one to its mutex under the locks of two buckets; waits that
   are cancelled, and waiters without a mutex of this crate, which are woken instead; with
   condition variables and mutexes that are freed as soon as they may be, and whose
   addresses are used again.

   The mutex is the one that Mutex.tla has in full, in larger steps: a thread that
   parks does so in one step, and so does an unlock that chooses a thread to wake.
   No thread is near at a mutex, the poller is not replaced, and no handoff is
   requested. What a notification and a pin share with an unlock stays as fine as
   in the source: the byte's clearing store, what the record says of fences, the
   marks, the count, the looks.

   Memory is that of x86: each thread has a buffer of stores that others do not see
   yet. A read-modify-write and a full fence empty the thread's own. A heavy fence
   empties all buffers at once; that it does so one by one is in Mutex.tla. Where
   fences are asymmetric, an unlock has a full fence unless the lock's record is
   light; elsewhere always. The unlock mode is not a word of its own here: an unlock
   skips its look unless its lock has a record that is armed.

   An action is one access that others can interfere with. Everything else in it is
   guarded by a bucket's lock that is held (the queues, addresses of nodes, pins),
   or is a store of `waited`, which is read alone. A section of one bucket's lock
   with one such access is one action, which waits for the lock. A notification,
   with more of them, holds the locks from action to action.

   Left to chance: whether to poll, how long a waiter is near, whether a parked
   thread is overdue, which of a mutex's parked threads an unlock prefers, what an
   unlock relaxes, when a deadline passes. *)
EXTENDS Naturals, Sequences, FiniteSets, TLC

CONSTANTS
    Scenarios,  \* names of Scripts; each runs on every machine of:
    Layouts,    \* which objects share a bucket: see BucketIn
    Polls,      \* whether a thread that finds the mutex locked may poll
    Overdue,    \* whether a parked thread may have waited for too long
    Fences,     \* "full", "asymmetric"
    Begins,     \* what the mutexes' records say of fences at first: see Fence
    Relaxes,    \* whether an unlock may let those after it do less
    Full,       \* whether the buckets are full: no mutex has a record of its own
    Mutant      \* the mistake put in, or "none"

VARIABLES
    setup,      \* the scenario and the machine; never changes
    mem,        \* what all threads see of the mutexes' bytes and of their records
    buf,        \* of each thread, the stores that only it sees: <<cell, value>>, oldest first
    held,       \* the thread that has the lock of each bucket
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
(* Which thread does what. "c", "d" are condition variables, "a", "b" mutexes. Once "c" is
   freed, the mutex "z" or the condition variable "f" is at its address; once "b" is freed, the
   condition variable "e" is at its address. The mutexes "w" and "y" and the condition variable "x" are long gone: now "a"
   is at the addresses of "w" and "x", and "c" at that of "y". *)

Nobody == 0
None == "none"
All == 9

Mutexes == {"a", "b", "w", "y", "z"}
Condvars == {"c", "d", "e", "f", "x"}
LongGone == {"w", "x", "y"}
AddressOf == [a |-> "a", b |-> "b", c |-> "c", d |-> "d",
              e |-> "b", f |-> "c", w |-> "a", x |-> "a", y |-> "c", z |-> "c"]
Before == [z |-> "c", e |-> "b", f |-> "c"]

(* Locks, waits until there is something, takes it, unlocks. Options: "timed": gives
   up at a deadline. "at once": waits before it looks whether there is something.
   "asleep": begins asleep, parked and with a pin. "near": begins near, with a pin,
   and is about to park. "cancelled": may be cancelled in its sleep; it is asleep at
   first and waits once. "foreign": to the condition variable its mutex is not one.
   "later": begins once its condition variable is there, or never. *)
Waiter(c, m, options) ==
    [does |-> "wait", condvar |-> c, sections |-> <<m>>, options |-> options]

(* Puts an item into each of the mutexes and notifies, in the last section or after it. *)
Notifier(c, ms, most, inside) ==
    [does |-> "notify", condvar |-> c, sections |-> ms, most |-> most, inside |-> inside,
     options |-> {}]

(* Locks and unlocks. *)
Other(m) == [does |-> "lock", condvar |-> None, sections |-> <<m>>, options |-> {}]

(* Has unlocked a mutex that is long gone, and is about to choose a thread to wake. *)
StaleUnlock(m) == [Other(m) EXCEPT !.options = {"stale"}]

(* Is about to take off more waiters of a condition variable that is long gone. *)
StaleNotifier(c) == [Notifier(c, <<>>, All, FALSE) EXCEPT !.options = {"stale"}]

Scripts == [
    alone |-> <<Waiter("c", "a", {}), Notifier("c", <<"a">>, 1, FALSE)>>,
    inside |-> <<Waiter("c", "a", {}), Notifier("c", <<"a">>, 1, TRUE), Other("a")>>,
    outside |-> <<Waiter("c", "a", {}), Notifier("c", <<"a">>, 1, FALSE), Other("a")>>,
    all_inside |-> <<Waiter("c", "a", {}), Waiter("c", "a", {}),
                     Notifier("c", <<"a">>, All, TRUE)>>,
    all_outside |-> <<Waiter("c", "a", {}), Waiter("c", "a", {}),
                      Notifier("c", <<"a">>, All, FALSE)>>,
    one_each |-> <<Waiter("c", "a", {"asleep"}), Waiter("c", "a", {}),
                   Notifier("c", <<"a">>, 1, TRUE), Notifier("c", <<"a">>, 1, FALSE)>>,
    timed |-> <<Waiter("c", "a", {"timed"}), Notifier("c", <<"a">>, 1, FALSE)>>,
    deadline |-> <<Waiter("c", "a", {"timed"}), Waiter("c", "a", {"timed", "at once"}),
                   Notifier("c", <<"a">>, 1, FALSE)>>,
    late |-> <<Waiter("c", "a", {"timed", "asleep"}), Waiter("c", "a", {"timed", "at once"}),
               Notifier("c", <<>>, 1, FALSE)>>,
    two_signals |-> <<Waiter("c", "a", {"timed", "at once", "asleep"}),
                      Waiter("c", "a", {"timed", "at once"}),
                      Notifier("c", <<>>, 1, FALSE), Notifier("c", <<>>, 1, FALSE)>>,
    two_mutexes |-> <<Waiter("c", "a", {}), Waiter("c", "b", {"timed"}),
                      Notifier("c", <<"a", "b">>, All, FALSE)>>,
    two_asleep |-> <<Waiter("c", "a", {"asleep"}), Waiter("c", "b", {"timed", "asleep"}),
                     Notifier("c", <<"a", "b">>, All, FALSE)>>,
    crossed |-> <<Waiter("c", "a", {"at once", "asleep"}), Waiter("d", "b", {"at once", "asleep"}),
                  Notifier("c", <<>>, 1, FALSE), Notifier("d", <<>>, 1, FALSE)>>,
    overlooked |-> <<Waiter("c", "a", {"at once", "near"}), Waiter("c", "a", {"at once", "timed"}),
                          Notifier("c", <<>>, 1, FALSE), Notifier("c", <<>>, All, FALSE)>>,
    unlock_of_before |-> <<Waiter("c", "a", {"at once", "near"}), StaleUnlock("y"),
                           Notifier("c", <<"a">>, 1, FALSE)>>,
    unlock_of_another |-> <<Waiter("c", "a", {"at once", "asleep"}), StaleUnlock("w"),
                            Notifier("c", <<"a">>, 1, TRUE)>>,
    notify_of_before |-> <<Other("a"), Other("a"), StaleNotifier("x")>>,
    mutex_after_condvar |-> <<Waiter("c", "b", {"at once", "asleep", "timed"}),
                              Waiter("c", "a", {"at once", "near"}),
                              Notifier("c", <<>>, All, FALSE), Other("z"), Other("z")>>,
    cancelled |-> <<Waiter("c", "a", {"asleep", "at once", "timed"}),
                    Waiter("c", "a", {"asleep", "at once", "cancelled"}),
                    Notifier("c", <<>>, 1, FALSE), Other("a")>>,
    cancelled_inside |-> <<Waiter("c", "a", {"asleep", "at once", "timed"}),
                           Waiter("c", "a", {"asleep", "at once", "cancelled"}),
                           Notifier("c", <<"a">>, 1, TRUE)>>,
    cancelled_reused |-> <<Waiter("c", "a", {"asleep", "at once", "timed"}),
                           Waiter("c", "a", {"asleep", "at once", "cancelled"}),
                           Notifier("c", <<>>, 1, FALSE),
                           Waiter("f", "b", {"at once", "timed", "later"})>>,
    cancelled_twice |-> <<Waiter("c", "a", {"asleep", "at once", "cancelled"}),
                          Waiter("c", "a", {"asleep", "at once", "cancelled"}),
                          Waiter("c", "a", {"at once", "timed"}),
                          Notifier("c", <<>>, 1, FALSE)>>,
    foreign |-> <<Waiter("c", "b", {"asleep", "at once", "foreign"}),
                  Waiter("c", "a", {"asleep", "at once"}),
                  Waiter("c", "b", {"asleep", "at once", "foreign"}),
                  Notifier("c", <<>>, All, FALSE)>>,
    foreign_timed |-> <<Waiter("c", "b", {"at once", "foreign", "timed"}),
                        Notifier("c", <<"b">>, 1, FALSE)>>,
    foreign_cancelled |-> <<Waiter("c", "a", {"asleep", "at once", "timed"}),
                            Waiter("c", "b", {"asleep", "at once", "foreign", "cancelled"}),
                            Notifier("c", <<>>, 1, FALSE)>>,
    condvar_after_mutex |-> <<Other("b"), Other("b"), Waiter("e", "a", {"at once", "timed"}),
                              Notifier("e", <<>>, 1, FALSE)>>]

BucketIn == [
    up |-> [c |-> 1, d |-> 1, a |-> 2, b |-> 2],
    down |-> [c |-> 2, d |-> 2, a |-> 1, b |-> 1],
    one |-> [c |-> 1, d |-> 1, a |-> 1, b |-> 1],
    apart |-> [a |-> 1, c |-> 2, d |-> 2, b |-> 3],
    crossed |-> [c |-> 1, a |-> 2, b |-> 1, d |-> 2]]

Script == Scripts[setup.scenario]
Threads == DOMAIN Script
Buckets == 1..3
BucketAt(address) == BucketIn[setup.layout][address]
Bucket(o) == BucketAt(AddressOf[o])

Is(t, kind) == Script[t].does = kind
Option(t, option) == option \in Script[t].options
Condvar(t) == Script[t].condvar
HasMutex(t) == Is(t, "wait") \/ me[t].section <= Len(Script[t].sections)
Mutex(t) == IF Is(t, "wait") THEN Script[t].sections[1]
            ELSE Script[t].sections[me[t].section]
MutexOf(w) == Script[w].sections[1]
Foreign(t) == Option(t, "foreign")
(* The mutex that a notification moves a waiter to. *)
Target(w) == IF Foreign(w) THEN None ELSE MutexOf(w)
TargetAddress(w) == IF Foreign(w) THEN None ELSE AddressOf[MutexOf(w)]
(* A cancelled waiter passes one notification on. *)
Most(t) == IF Is(t, "wait") THEN 1 ELSE Script[t].most
Waiters(c) == {t \in Threads : Is(t, "wait") /\ Condvar(t) = c}
Notifiers(c) == {t \in Threads : Is(t, "notify") /\ Condvar(t) = c}

(* An object that is to be at the address of another is there once that is freed. *)
IsThere(o) == o \in DOMAIN Before => Before[o] \in gone

-----------------------------------------------------------------------------
(* Memory. *)

(* The record of a mutex: its own, or that of all mutexes of a full bucket, which
   has no marks and no pins. *)
Records == {"a", "b", "c", "d", "s1", "s2", "s3"}
SharedOf == <<"s1", "s2", "s3">>
Record(m) == IF setup.full THEN SharedOf[Bucket(m)] ELSE AddressOf[m]

(* byte: 0 free, 1 locked. fence: what the record says of fences; or None while the
   mutex has no record that is armed; or "unarmed" if it has one that was fenced, by
   a thread that gave up. poller: the thread that polls, or `Nobody`. flight: a thread
   is in flight. parked: how many threads are linked. pins: how many waiters rely on
   it; read under the bucket's lock only. *)
Byte(m) == <<"byte", m>>
Fence(m) == <<"fence", Record(m)>>
Parked(m) == <<"parked", Record(m)>>

RECURSIVE After(_, _)
After(cells, stores) ==
    IF stores = <<>> THEN cells
    ELSE LET cell == Head(stores)[1]
         IN  After([cells EXCEPT ![cell[1]][cell[2]] = Head(stores)[2]], Tail(stores))

(* Memory as t sees it, and as all threads see it once t's buffer is empty. *)
Seen(t) == After(mem, buf[t])

RECURSIVE AfterAll(_, _)
AfterAll(cells, t) == IF t = 0 THEN cells ELSE AfterAll(After(cells, buf[t]), t - 1)

Store(t, cell, value) == buf' = [buf EXCEPT ![t] = Append(@, <<cell, value>>)]

(* Memory after a read-modify-write, or after several accesses with one among them under a
   bucket's lock. *)
Atomically(t, cells) == mem' = cells /\ buf' = [buf EXCEPT ![t] = <<>>]

(* How a record pairs fences: it is claimed and armed. A thread publishes what it wrote
   to the record, perhaps with a step back. Then the thread owes a heavy fence, or a full one. *)
Asymmetric == setup.fences = "asymmetric"
Unseen == {None, "unarmed"}
Armed(fence) ==
    CASE fence = None -> "light"
      [] fence = "unarmed" -> IF Mutation("armed_as_fenced") THEN "fenced" ELSE "not yet"
      [] OTHER -> fence
Published(fence, stays) == IF fence = "light" /\ ~stays THEN "not yet" ELSE fence
OwesHeavy(fence) == Asymmetric /\ fence # "fenced"
HeavyMade(fence) == IF fence = "not yet" THEN "fenced" ELSE fence

(* After a heavy fence of t, or its full one. *)
Fenced(t, heavy) == IF heavy THEN AfterAll(mem, Len(Script)) ELSE Seen(t)
Fencing(t, heavy, cells) ==
    /\ mem' = cells
    /\ buf' = IF heavy THEN [u \in Threads |-> <<>>] ELSE [buf EXCEPT ![t] = <<>>]

(* The hardware: the oldest of t's stores becomes visible to all. *)
\* models nothing: the hardware
Drain(t) ==
    /\ buf[t] # <<>>
    /\ mem' = After(mem, <<Head(buf[t])>>)
    /\ buf' = [buf EXCEPT ![t] = Tail(@)]
    /\ UNCHANGED <<setup, held, list, node, waited, me, gone, fault, program, ghost>>

Touch(o) == fault' = fault \cup (gone \cap {o})

-----------------------------------------------------------------------------
(* Places, named by what happens next; queues; the kernel. *)

At(t, place) == me[t].pc = place
Go(t, place) == me' = [me EXCEPT ![t].pc = place]

Free(b) == held[b] = Nobody

LinkedAt(b, kind, address) ==
    SelectSeq(list[b], LAMBDA w : node[w].address = address
        /\ (node[w].kind = kind \/ Mutation("an_address_is_taken_for_an_identity")))
Range(s) == {s[i] : i \in 1..Len(s)}
Oldest(s) == s[1]
Newest(s) == s[Len(s)]
Without(b, w) == [list EXCEPT ![b] = SelectSeq(@, LAMBDA u : u # w)]

(* The places after a futex wake at w's address: a thread that sleeps there looks again. *)
Woken(w, places) ==
    [places EXCEPT ![w].pc = CASE @ = "Asleep" -> "Sleep"
                               [] @ = "WaitAsleep" -> "Wait"
                               [] OTHER -> @]

(* Where a thread goes that was told what to do. From then on its node may be gone. *)
Told(status) ==
    CASE status = "in flight" -> "Land" [] status = "done" -> "Owner" [] OTHER -> "TryLock"

-----------------------------------------------------------------------------
Setups ==
    {s \in [scenario : Scenarios, layout : Layouts, polls : Polls, overdue : Overdue,
            fences : Fences, begins : Begins, relaxes : Relaxes, full : Full] :
        /\ s.relaxes => s.fences = "asymmetric"
        /\ s.full => s.begins = None /\ ~s.polls}

Sleepers == {t \in Threads : Option(t, "asleep") \/ Option(t, "near")}
PinsOf(r) == {t \in Sleepers : ~setup.full /\ ~Foreign(t) /\ Record(MutexOf(t)) = r}

Init ==
    /\ setup \in Setups
    /\ mem = [byte |-> [m \in Mutexes |-> 0],
              fence |-> [r \in Records |-> CASE PinsOf(r) # {} -> "fenced"
                                             [] r \in {"a", "b"} -> setup.begins
                                             [] OTHER -> None],
              poller |-> [r \in Records |-> Nobody],
              flight |-> [r \in Records |-> FALSE],
              parked |-> [r \in Records |-> 0],
              pins |-> [r \in Records |-> Cardinality(PinsOf(r))]]
    /\ buf = [t \in Threads |-> <<>>]
    /\ held = [b \in Buckets |-> Nobody]
    /\ list = [b \in Buckets |->
                SelectSeq([t \in Threads |-> t],
                          LAMBDA t : t \in Sleepers /\ Bucket(Condvar(t)) = b)]
    /\ node = [t \in Threads |->
                [kind |-> "condvar",
                 address |-> IF Is(t, "lock") THEN None ELSE AddressOf[Condvar(t)],
                 status |-> IF Option(t, "near") THEN "near" ELSE "parked",
                 live |-> t \in Sleepers,
                 pin |-> t \in Sleepers /\ ~setup.full /\ ~Foreign(t)]]
    /\ waited = [c \in Condvars |-> IF Waiters(c) \cap Sleepers # {} THEN 1 ELSE 0]
    /\ me = [t \in Threads |->
              [pc |-> CASE Option(t, "asleep") -> "WaitAsleep"
                        [] Option(t, "near") -> "LeaveNear"
                        [] Option(t, "stale") -> IF Is(t, "notify") THEN "LockFirst" ELSE "Wake"
                        [] Script[t].sections = <<>> -> "HasWaiters"
                        [] OTHER -> "TryLock",
               section |-> 1,
               light |-> FALSE,                 \* of a mutant: it has read that the record is light
               leaves |-> FALSE,                \* this is its last unlock
               frees |-> {},                    \* what is gone when that has returned
               deadline |-> Option(t, "timed"), \* its deadline may pass
               answer |-> None,                 \* what wait returns; None before that
               target |-> None,                 \* of a notifier: the mutex of this turn
               count |-> 0,                     \* how many it has notified
               moved |-> FALSE,                 \* it has moved one in this turn
               last |-> FALSE,                  \* no waiter was left
               foreign |-> <<>>,                \* those without a mutex that it is to tell
               series |-> 1,                    \* the series in which it was linked last
               cancels |-> FALSE,               \* it was cancelled
               chosen |-> Nobody]]              \* the one that it notifies, or is to wake
    /\ gone = LongGone
    /\ fault = {}
    /\ program = [ready |-> [m \in Mutexes |-> 0],
                  users |-> [m \in Mutexes |->
                    LET Uses(t) == {i \in 1..Len(Script[t].sections) : Script[t].sections[i] = m}
                    IN  Cardinality({<<t, i>> \in Threads \X (1..3) : i \in Uses(t)})],
                  out |-> {}]
    /\ ghost = [signal |-> [t \in Threads |-> Nobody],  \* the notifier that took the waiter off
                before |-> [t \in Threads |-> {}],      \* calls that were over when it was linked
                eligible |-> [t \in Threads |-> {}],    \* linked at the start of the call, and since
                taken |-> [t \in Threads |-> {}],       \* taken off by the call
                heavy |-> FALSE,                        \* a notification made a heavy fence
                over |-> {}]                            \* notifiers whose call has returned

-----------------------------------------------------------------------------
(* The mutex, in larger steps than those of Mutex.tla. *)

\* models nothing: the mutex, which Mutex.tla has in full
TryLock(t) ==
    /\ At(t, "TryLock")
    /\ IsThere(Mutex(t))
    /\ Option(t, "later") => IsThere(Condvar(t))
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
           r == Record(Mutex(t))
       IN  IF now.poller[r] = Nobody
           THEN Atomically(t, [now EXCEPT !.poller[r] = t]) /\ Go(t, "Poll")
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
    /\ Go(t, "Park")
    /\ UNCHANGED <<setup, mem, buf, held, list, node, waited, gone, fault, program, ghost>>

WithoutMark(t, poller) == IF poller = t THEN Nobody ELSE poller

\* models nothing: the mutex, which Mutex.tla has in full
Leave(t) ==
    /\ At(t, "Leave")
    /\ Atomically(t, [Seen(t) EXCEPT !.poller[Record(Mutex(t))] = WithoutMark(t, @)])
    /\ Go(t, "Owner")
    /\ UNCHANGED <<setup, held, list, node, waited, gone, fault, program, ghost>>

\* models nothing: the mutex, which Mutex.tla has in full
Park(t) ==
    /\ At(t, "Park")
    /\ Free(Bucket(Mutex(t)))
    /\ LET m == Mutex(t)
           r == Record(m)
           fence == Armed(Seen(t).fence[r])
           heavy == OwesHeavy(fence)
           now == Fenced(t, heavy)
           free == now.byte[m] = 0
       IN  /\ \E stays \in IF now.pins[r] = 0 THEN BOOLEAN ELSE {FALSE} :
                Fencing(t, heavy, [now EXCEPT
                    !.byte[m] = 1,
                    !.fence[r] = IF heavy THEN HeavyMade(Published(fence, stays)) ELSE fence,
                    !.poller[r] = WithoutMark(t, @),
                    !.parked[r] = IF free THEN @ ELSE @ + 1])
           /\ IF free THEN UNCHANGED <<list, node>>
              ELSE /\ node' = [node EXCEPT ![t] =
                        [kind |-> "lock", address |-> AddressOf[m], status |-> "parked",
                         live |-> TRUE, pin |-> FALSE]]
                   /\ list' = [list EXCEPT ![Bucket(m)] = Append(@, t)]
           /\ Go(t, IF free THEN "Owner" ELSE "Sleep")
           /\ Touch(m)
    /\ UNCHANGED <<setup, held, waited, gone, program, ghost>>

\* models nothing: the mutex, which Mutex.tla has in full
Sleep(t) ==
    /\ At(t, "Sleep")
    /\ IF node[t].status \in {"parked", "chosen"}
       THEN Go(t, "Asleep") /\ UNCHANGED node
       ELSE Go(t, Told(node[t].status)) /\ node' = [node EXCEPT ![t].live = FALSE]
    /\ UNCHANGED <<setup, mem, buf, held, list, waited, gone, fault, program, ghost>>

(* A woken thread runs: it becomes the poller, or tries as any other thread. *)
\* models nothing: the mutex, which Mutex.tla has in full
Land(t) ==
    /\ At(t, "Land")
    /\ LET now == Seen(t)
           r == Record(Mutex(t))
           polls == setup.polls /\ now.poller[r] = Nobody
       IN  /\ Atomically(t, [now EXCEPT !.flight[r] = FALSE, !.poller[r] = IF polls THEN t ELSE @])
           /\ Go(t, IF polls THEN "Poll" ELSE "TryLock")
    /\ UNCHANGED <<setup, held, list, node, waited, gone, fault, program, ghost>>

(* Which thread may be chosen to wake under the lock of the mutex's bucket, and the state
   after that. *)
Choices(t, m) ==
    LET b == Bucket(m)
        r == Record(m)
        now == Seen(t)
        parked == LinkedAt(b, "lock", AddressOf[m])
        nothing == [cells |-> now, list |-> list, node |-> node, chosen |-> Nobody]
        Dismissed(w, status, cells) ==
            [cells |-> [cells EXCEPT !.parked[r] = IF @ = 0 THEN 0 ELSE @ - 1],
             list |-> Without(b, w),
             node |-> [node EXCEPT ![w].status = status],
             chosen |-> w]
        InFlight(w) == Dismissed(w, "in flight", [now EXCEPT !.flight[r] = TRUE])
        HandOver(w) ==
            IF Mutation("handoff_takes_nothing") \/ now.byte[MutexOf(w)] = 0
            THEN Dismissed(w, "done", [now EXCEPT !.byte[MutexOf(w)] = 1])
            ELSE nothing
    IN  CASE parked = <<>> -> {nothing}
          [] setup.full ->
                {Dismissed(Oldest(parked), "compete", now)}
                \cup (IF setup.overdue THEN {HandOver(Oldest(parked))} ELSE {})
          [] OTHER ->
                (IF setup.overdue
                 THEN {HandOver(Oldest(parked)),
                       IF now.flight[r] THEN nothing ELSE InFlight(Oldest(parked))}
                 ELSE {})
                \cup (IF now.flight[r] \/ now.poller[r] # Nobody THEN {nothing}
                      ELSE {InFlight(w) : w \in Range(parked)})

(* The program's last section with a mutex, and what may be freed then. If no other thread has a
   section left, that is the mutex. If the other waiters of the condition variable are out, or are
   cancelled and have been notified, and each notifier's call is over or has notified a waiter, it is
   the condition variable. *)
Leaving(t) ==
    LET m == Mutex(t)
        c == Condvar(t)
        out == IF me[t].leaves THEN program.out \cup {t} ELSE program.out
        last == Is(t, "wait") => me[t].leaves
        users == IF last THEN program.users[m] - 1 ELSE program.users[m]
    IN  /\ program' = [program EXCEPT !.users[m] = users, !.out = out]
        /\ me' = [me EXCEPT
            ![t].pc = "ReadFence",
            ![t].frees = (IF users = 0 THEN {m} ELSE {})
                \cup (IF Is(t, "wait") /\ me[t].leaves
                         /\ (\A w \in Waiters(c) :
                                w \in out \/ (me[w].cancels /\ node[w].kind = "lock"))
                         /\ \A n \in Notifiers(c) : n \in ghost.over \/ ghost.taken[n] # {}
                      THEN {c} ELSE {})]

(* Where t goes after an unlock. *)
Onwards(t) ==
    CASE Is(t, "wait") /\ ~me[t].leaves ->
            CASE Mutation("linked_after_unlock") /\ ~node[t].live -> "Link"
              [] Foreign(t) -> "LeaveNear"
              [] Mutant \in {"parked_without_a_pin", "pinned_after_parking", "pin_refused"} -> "LeaveNear"
              [] OTHER -> "Pin"
      [] Is(t, "notify") /\ me[t].section < Len(Script[t].sections) -> "NextSection"
      [] Is(t, "notify") /\ t \notin ghost.over -> "HasWaiters"
      [] OTHER -> "Done"
Then(t) == IF me[t].frees # {} THEN "Free" ELSE Onwards(t)

(* Not in the source: only a mutant does this. *)
\* models nothing: a mistake put in
ReadFenceBefore(t) ==
    /\ At(t, "Unlock")
    /\ Mutation("fence_read_before_the_store")
    /\ me' = [me EXCEPT ![t].pc = "UnlockAfter",
                        ![t].light = Seen(t).fence[Record(Mutex(t))] = "light"]
    /\ UNCHANGED <<setup, mem, buf, held, list, node, waited, gone, fault, program, ghost>>

\* models nothing: the mutex, which Mutex.tla has in full
Unlock(t) ==
    /\ IF Mutation("fence_read_before_the_store") THEN At(t, "UnlockAfter") ELSE At(t, "Unlock")
    /\ Store(t, Byte(Mutex(t)), 0)
    /\ Leaving(t)
    /\ Touch(Mutex(t))
    /\ UNCHANGED <<setup, mem, held, list, node, waited, gone, ghost>>

(* After the store: whether the unlock looks at all, with or without a fence of its own. *)
\* models nothing: the mutex, which Mutex.tla has in full
ReadFence(t) ==
    /\ At(t, "ReadFence")
    /\ LET fence == Seen(t).fence[Record(Mutex(t))]
           light == IF Mutation("fence_read_before_the_store") THEN me[t].light
                    ELSE fence = "light"
           unseen == fence \in Unseen
       IN  IF Asymmetric /\ (unseen \/ light)
           THEN UNCHANGED <<mem, buf>> /\ Go(t, IF unseen THEN Then(t) ELSE "LookAwake")
           ELSE Atomically(t, Seen(t)) /\ Go(t, "LookAwake")
    /\ UNCHANGED <<setup, held, list, node, waited, gone, fault, program, ghost>>

(* A thread in flight does not look after those that are overdue. *)
\* models nothing: the mutex, which Mutex.tla has in full
LookAwake(t) ==
    /\ At(t, "LookAwake")
    /\ LET now == Seen(t)
           r == Record(Mutex(t))
           marked == now.poller[r] # Nobody \/ now.flight[r]
       IN  \/ Go(t, IF now.fence[r] \in Unseen \/ marked THEN Then(t) ELSE "LookParked")
           \/ /\ setup.overdue
              /\ marked
              /\ now.poller[r] = Nobody
              /\ Go(t, "Wake")
    /\ UNCHANGED <<setup, mem, buf, held, list, node, waited, gone, fault, program, ghost>>

\* models nothing: the mutex, which Mutex.tla has in full
LookParked(t) ==
    /\ At(t, "LookParked")
    /\ IF Seen(t).parked[Record(Mutex(t))] # 0 THEN Go(t, "Wake")
       ELSE Go(t, Then(t)) \/ (setup.relaxes /\ Go(t, "Relax"))
    /\ UNCHANGED <<setup, mem, buf, held, list, node, waited, gone, fault, program, ghost>>

MayLighten(r) ==
    mem.fence[r] = "fenced" /\ (mem.pins[r] = 0 \/ Mutation("relaxed_though_pinned"))

(* Later unlocks do less: this lock's unlocks have no fence, or the lock loses its record. *)
\* models nothing: the mutex, which Mutex.tla has in full
Relax(t) ==
    /\ At(t, "Relax")
    /\ Free(Bucket(Mutex(t)))
    /\ LET r == Record(Mutex(t))
           now == Seen(t)
           quiet == now.parked[r] = 0 /\ now.poller[r] = Nobody /\ ~now.flight[r]
                    /\ (now.pins[r] = 0 \/ Mutation("record_taken_though_pinned"))
       IN  \/ MayLighten(r) /\ Atomically(t, [now EXCEPT !.fence[r] = "light"])
           \/ quiet /\ Atomically(t, [now EXCEPT !.fence[r] = None])
           \/ ~MayLighten(r) /\ ~quiet /\ UNCHANGED <<mem, buf>>
    /\ Go(t, Then(t))
    /\ UNCHANGED <<setup, held, list, node, waited, gone, fault, program, ghost>>

(* If no thread has parked for a while, the poller does so, too. *)
\* models nothing: the mutex, which Mutex.tla has in full
PollerRelaxes(t) ==
    /\ At(t, "Poll")
    /\ setup.relaxes
    /\ Free(Bucket(Mutex(t)))
    /\ MayLighten(Record(Mutex(t)))
    /\ Atomically(t, [Seen(t) EXCEPT !.fence[Record(Mutex(t))] = "light"])
    /\ UNCHANGED <<setup, held, list, node, waited, me, gone, fault, program, ghost>>

(* The poller looks after a parked thread that is overdue. *)
\* models nothing: the mutex, which Mutex.tla has in full
Tend(t) ==
    /\ At(t, "Poll")
    /\ setup.overdue
    /\ Free(Bucket(Mutex(t)))
    /\ \E choice \in Choices(t, Mutex(t)) :
        /\ choice.chosen # Nobody
        /\ Atomically(t, choice.cells)
        /\ list' = choice.list
        /\ node' = choice.node
        /\ me' = [me EXCEPT ![t].pc = "PollerWakes", ![t].chosen = choice.chosen]
    /\ UNCHANGED <<setup, held, waited, gone, fault, program, ghost>>

\* models nothing: the mutex, which Mutex.tla has in full
PollerWakes(t) ==
    /\ At(t, "PollerWakes")
    /\ me' = Woken(me[t].chosen, [me EXCEPT ![t].pc = "Poll", ![t].chosen = Nobody])
    /\ UNCHANGED <<setup, mem, buf, held, list, node, waited, gone, fault, program, ghost>>

\* models nothing: the mutex, which Mutex.tla has in full
Wake(t) ==
    /\ At(t, "Wake")
    /\ Free(Bucket(Mutex(t)))
    /\ \E choice \in Choices(t, Mutex(t)) :
        /\ Atomically(t, choice.cells)
        /\ list' = choice.list
        /\ node' = choice.node
        /\ me' = [me EXCEPT ![t].pc = IF choice.chosen = Nobody THEN Then(t) ELSE "UnlockWakes",
                            ![t].chosen = choice.chosen]
    /\ UNCHANGED <<setup, held, waited, gone, fault, program, ghost>>

\* models nothing: the mutex, which Mutex.tla has in full
UnlockWakes(t) ==
    /\ At(t, "UnlockWakes")
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
                  takes == program.ready[m] > 0 /\ ~first /\ me[t].answer # "cancelled"
                  leaves == takes \/ me[t].answer \in {"timeout", "cancelled"}
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

(* A queue that begins has a number of its own. It is followed where a wait may be cancelled. *)
Series(t) ==
    LET linked == LinkedAt(Bucket(Condvar(t)), "condvar", AddressOf[Condvar(t)])
        others == {me[u].series : u \in Threads \ {t}}
    IN  IF linked # <<>> THEN me[Newest(linked)].series
        ELSE IF ~\E u \in Threads : Option(u, "cancelled") THEN 1
        ELSE CHOOSE n \in 1..5 : n \notin others /\ \A k \in 1..(n - 1) : k \in others

(* The owner of the mutex links its node. *)
\* models crates/ondeck/src/condvar/wait.rs begin
Link(t) ==
    LET c == Condvar(t)
        b == Bucket(c)
    IN  /\ At(t, "Link")
        /\ IsThere(c)
        /\ Free(b)
        /\ node' = [node EXCEPT ![t] = [kind |-> "condvar", address |-> AddressOf[c],
                                        status |-> "near", live |-> TRUE, pin |-> FALSE]]
        /\ list' = [list EXCEPT ![b] = Append(@, t)]
        /\ waited' = [waited EXCEPT ![c] = 1]
        /\ Atomically(t, Seen(t))
        /\ me' = [me EXCEPT ![t].pc = IF Mutation("linked_after_unlock") THEN "Pin" ELSE "Unlock",
                            ![t].deadline = Option(t, "timed"), ![t].series = Series(t)]
        /\ ghost' = [ghost EXCEPT !.signal[t] = Nobody, !.before[t] = ghost.over]
        /\ Touch(c)
        /\ UNCHANGED <<setup, held, gone, program>>

(* A notified waiter takes its pin back if it has one, and goes on at the mutex. *)
GoesOn(t) == me' = [me EXCEPT ![t].pc = "Unpin", ![t].answer = IF @ = None THEN "notified" ELSE @]

(* The waiter reads its own node, and has been told something. *)
\* models crates/ondeck/src/condvar/wait.rs watch
Watch(t) ==
    /\ At(t, "Pin")
    /\ node[t].status \notin {"near", "parked"}
    /\ GoesOn(t)
    /\ UNCHANGED <<setup, mem, buf, held, list, node, waited, gone, fault, program, ghost>>

(* The waiter stops reading its node, or never reads it. From now on the mutex's record stays
   the mutex's, and fenced. *)
\* models crates/ondeck/src/condvar/wait.rs first_step
\* models crates/ondeck/src/mutex/for_condvar.rs pin
Pin(t) ==
    /\ At(t, "Pin")
    /\ Free(Bucket(Mutex(t)))
    /\ LET r == Record(Mutex(t))
           now == Seen(t)
           fence == Armed(now.fence[r])
           next == IF Mutation("pinned_without_a_fence") THEN "fenced"
                   ELSE Published(fence, Mutation("pin_leaves_the_record_light"))
       IN  IF setup.full
           THEN Atomically(t, now) /\ Go(t, "LeaveNear") /\ UNCHANGED node
           ELSE /\ Atomically(t, [now EXCEPT !.fence[r] = next, !.pins[r] = @ + 1])
                /\ node' = [node EXCEPT ![t].pin = TRUE]
                /\ Go(t, CASE OwesHeavy(next) -> "PinFence"
                           [] Mutation("pinned_after_parking") -> "Wait"
                           [] OTHER -> "LeaveNear")
    /\ UNCHANGED <<setup, held, list, waited, gone, fault, program, ghost>>

(* The stores of unlocks that took the record for a light one, or that saw none, have
   become visible. *)
\* models crates/ondeck/src/mutex/for_condvar.rs pin
PinFence(t) ==
    /\ At(t, "PinFence")
    /\ Fencing(t, TRUE, [Fenced(t, TRUE) EXCEPT !.fence[Record(Mutex(t))] = HeavyMade(@)])
    /\ Go(t, IF Mutation("pinned_after_parking") THEN "Wait" ELSE "LeaveNear")
    /\ UNCHANGED <<setup, held, list, node, waited, gone, fault, program, ghost>>

(* Under the lock of the condition variable's bucket: a notification that sees a near
   waiter there can rely on it. *)
\* models crates/ondeck/src/condvar/wait.rs park
LeaveNear(t) ==
    /\ At(t, "LeaveNear")
    /\ Free(Bucket(Condvar(t))) \/ Mutation("parked_without_the_lock")
    /\ Atomically(t, Seen(t))
    /\ IF node[t].status = "near"
       THEN /\ node' = [node EXCEPT ![t].status = "parked"]
            /\ Go(t, IF Mutation("pinned_after_parking") THEN "Pin" ELSE "Wait")
       ELSE GoesOn(t) /\ UNCHANGED node
    /\ UNCHANGED <<setup, held, list, waited, gone, fault, program, ghost>>

(* The waiter looks at its status, and the kernel compares it. *)
\* models crates/ondeck/src/condvar/wait.rs look
Wait(t) ==
    /\ At(t, "Wait")
    /\ IF node[t].status \in {"parked", "chosen"} THEN Go(t, "WaitAsleep") ELSE GoesOn(t)
    /\ UNCHANGED <<setup, mem, buf, held, list, node, waited, gone, fault, program, ghost>>

\* models crates/ondeck/src/condvar/wait.rs time_out
TimeOut(t) ==
    /\ At(t, "WaitAsleep")
    /\ me[t].deadline
    /\ Go(t, "Withdraw")
    /\ UNCHANGED <<setup, mem, buf, held, list, node, waited, gone, fault, program, ghost>>

(* The thread is cancelled in its sleep. *)
\* models crates/ondeck/src/condvar/cancel.rs cancel
Cancel(t) ==
    /\ At(t, "WaitAsleep")
    /\ Option(t, "cancelled")
    /\ me' = [me EXCEPT ![t].pc = "Withdraw", ![t].cancels = TRUE, ![t].answer = "cancelled"]
    /\ UNCHANGED <<setup, mem, buf, held, list, node, waited, gone, fault, program, ghost>>

(* No waiter has the notification of a cancelled one: the ghost forgets that one had it. *)
Dropped(t) == [ghost EXCEPT !.taken[ghost.signal[t]] = @ \ {t}, !.signal[t] = Nobody]

(* The case of a cancelled waiter that was notified before. *)
CancelledLate(t) ==
    /\ IF Mutation("cancelled_keeps_its_notification")
       THEN Go(t, "Unpin") /\ ghost' = Dropped(t)
       ELSE Go(t, "PassOn") /\ UNCHANGED ghost
    /\ UNCHANGED <<list, node, waited, fault>>

(* The case of a waiter that was notified before it could withdraw. *)
NotifiedBefore(t) ==
    LET others == LinkedAt(Bucket(Condvar(t)), "condvar", AddressOf[Condvar(t)])
        other == Newest(others)
        passes == Mutation("signal_passed_on") /\ others # <<>>
    IN  /\ me' = [me EXCEPT
            ![t].pc = "Wait",
            ![t].deadline = FALSE,
            ![t].answer = IF Mutation("notified_reports_timeout") \/ passes THEN "timeout" ELSE @]
        /\ ghost' = IF ~passes THEN ghost
                    ELSE [ghost EXCEPT !.signal = (other :> ghost.signal[t]) @@ (t :> Nobody) @@ @]
        /\ UNCHANGED <<list, node, waited, fault>>

\* models crates/ondeck/src/condvar/wait.rs withdraw
Withdraw(t) ==
    LET c == Condvar(t)
        b == Bucket(c)
        left == [k \in Buckets |-> SelectSeq(list[k], LAMBDA u : u # t)]
        others == Range(LinkedAt(b, "condvar", AddressOf[c])) \ {t}
    IN  /\ At(t, "Withdraw")
        /\ Free(b)
        /\ Atomically(t, Seen(t))
        /\ IF node[t].kind # "condvar" /\ ~Mutation("withdraw_though_notified")
           THEN IF me[t].cancels THEN CancelledLate(t) ELSE NotifiedBefore(t)
           ELSE /\ list' = left
                /\ node' = [node EXCEPT ![t].live = FALSE]
                /\ IF others = {}
                   THEN /\ waited' = IF Mutation("withdrawn_but_waited") THEN waited
                                     ELSE [waited EXCEPT ![c] = 0]
                        /\ Touch(c)
                   ELSE UNCHANGED <<waited, fault>>
                /\ me' = [me EXCEPT ![t].pc = "Unpin",
                                    ![t].answer = IF me[t].cancels THEN @ ELSE "timeout"]
                /\ ghost' = [ghost EXCEPT
                     !.eligible = [n \in Threads |-> @[n] \ {t}]]
        /\ UNCHANGED <<setup, held, gone, program>>

(* A cancelled waiter that was notified becomes a notifier: it notifies the oldest waiter of its
   own series. *)
\* models crates/ondeck/src/condvar/cancel.rs cancel
PassOn(t) ==
    /\ At(t, "PassOn")
    /\ Go(t, "LockFirst")
    /\ UNCHANGED <<setup, mem, buf, held, list, node, waited, gone, fault, program, ghost>>

(* The pin goes, unless a notification has taken it. A notified waiter does what it was
   told, and if it was cancelled, it sleeps until it is told; after its deadline a waiter wants
   the mutex as any other thread does. *)
\* models crates/ondeck/src/condvar/wait.rs notified
\* models crates/ondeck/src/mutex/for_condvar.rs unpin
Unpin(t) ==
    /\ At(t, "Unpin")
    /\ LET r == Record(Mutex(t))
           late == ~node[t].live
           forgets == IF late THEN Mutation("unpin_forgotten_at_the_deadline")
                      ELSE Mutation("unpin_forgotten_when_told_to_compete")
                           /\ node[t].status = "compete"
           sleeps == me[t].cancels /\ ~late
                     /\ ~(Foreign(t) /\ Mutation("cancelled_while_the_notifier_has_it"))
       IN  /\ node' = [node EXCEPT ![t].live = sleeps, ![t].pin = @ /\ forgets]
           /\ IF node[t].pin /\ ~forgets
              THEN /\ Free(Bucket(Mutex(t)))
                   /\ Atomically(t, [Seen(t) EXCEPT !.pins[r] = @ - 1])
              ELSE UNCHANGED <<mem, buf>>
           /\ Go(t, CASE late -> "TryLock" [] sleeps -> "Sleep" [] OTHER -> Told(node[t].status))
    /\ UNCHANGED <<setup, held, list, waited, gone, fault, program, ghost>>

-----------------------------------------------------------------------------
(* Notifying. *)

(* The call is over, and the places after that. A cancelled waiter goes on to its mutex. *)
Returned(t, places) ==
    /\ ghost' = CASE Is(t, "notify") -> [ghost EXCEPT !.over = @ \cup {t}]
                   [] me[t].count = 0 -> Dropped(t)
                   [] OTHER -> ghost
    /\ me' = [places EXCEPT
         ![t].pc = CASE Is(t, "wait") -> "Unpin" [] Script[t].inside -> "Unlock" [] OTHER -> "Done",
         ![t].target = None, ![t].count = 0, ![t].moved = FALSE,
         ![t].last = FALSE, ![t].chosen = Nobody]

\* models crates/ondeck/src/condvar/notify.rs notify_one
\* models crates/ondeck/src/condvar/notify.rs notify_all
HasWaiters(t) ==
    /\ At(t, "HasWaiters")
    /\ LET c == Condvar(t)
           waiting == {w \in Waiters(c) : node[w].live /\ node[w].kind = "condvar"
                                           /\ ghost.signal[w] = Nobody}
       IN  /\ IsThere(c)
           /\ Touch(c)
           /\ IF waited[c] = 0
              THEN /\ ghost' = [ghost EXCEPT !.over = @ \cup {t}, !.eligible[t] = waiting]
                   /\ Go(t, IF Script[t].inside THEN "Unlock" ELSE "Done")
              ELSE /\ ghost' = [ghost EXCEPT !.eligible[t] = waiting]
                   /\ Go(t, "LockNear")
    /\ UNCHANGED <<setup, mem, buf, held, list, node, waited, gone, program>>

ClearsLater == Mutant \in {"waited_cleared_after_the_last_is_told", "waited_cleared_after_unlock"}

(* The buckets of the condition variable, and of the mutex of this turn. *)
From(t) == Bucket(Condvar(t))
To(t) == IF me[t].target = None THEN From(t) ELSE Bucket(me[t].target)
Linked(t) == LinkedAt(From(t), "condvar", AddressOf[Condvar(t)])

(* Near waiters first, under one lock. *)
\* models crates/ondeck/src/condvar/notify.rs notify_near
LockNear(t) ==
    /\ At(t, "LockNear")
    /\ Free(From(t))
    /\ Atomically(t, Seen(t))
    /\ held' = [held EXCEPT ![From(t)] = t]
    /\ Go(t, "NotifyNear")
    /\ UNCHANGED <<setup, list, node, waited, gone, fault, program, ghost>>

Nears(t) ==
    LET linked == Linked(t) IN
    IF linked = <<>> \/ me[t].count = Most(t) THEN {}
    ELSE {w \in {Newest(linked)} : node[w].status = "near"}

(* The newest waiter is near, and is taken off. If no waiter is left, the condition variable's
   byte is cleared, while the condition variable certainly exists. *)
\* models crates/ondeck/src/condvar/notify.rs notify_near
NotifyNear(t) ==
    /\ At(t, "NotifyNear")
    /\ \E w \in Nears(t) :
        /\ IF Mutation("told_before_unlinked")
           THEN node' = [node EXCEPT ![w].status = "compete"] /\ UNCHANGED list
           ELSE list' = Without(From(t), w) /\ UNCHANGED node
        /\ me' = [me EXCEPT ![t].pc = "TellNear", ![t].chosen = w]
        /\ IF Linked(t) = <<w>> /\ ~ClearsLater
           THEN waited' = [waited EXCEPT ![Condvar(t)] = 0] /\ Touch(Condvar(t))
           ELSE UNCHANGED <<waited, fault>>
    /\ UNCHANGED <<setup, mem, buf, held, gone, program, ghost>>

(* The waiter is told, and may be gone by the next step. *)
\* models crates/ondeck/src/condvar/notify.rs notify_near
TellNear(t) ==
    /\ At(t, "TellNear")
    /\ Atomically(t, Seen(t))
    /\ LET w == me[t].chosen
           early == Mutation("told_before_unlinked")
       IN  /\ fault' = IF node[w].live \/ early THEN fault ELSE fault \cup {"node"}
           /\ IF node[w].status = "near" \/ early
              THEN /\ node' = [node EXCEPT ![w].kind = "lock", ![w].status = "compete",
                                           ![w].address = TargetAddress(w)]
                   /\ list' = Without(From(t), w)
                   /\ me' = [me EXCEPT ![t].pc = "NotifyNear", ![t].chosen = Nobody,
                                       ![t].count = @ + 1]
                   /\ ghost' = [ghost EXCEPT
                        !.signal[w] = t,
                        !.taken[t] = @ \cup {w},
                        !.eligible = [n \in Threads |-> @[n] \ {w}]]
                   /\ UNCHANGED <<held, waited>>
              ELSE \* Only a mutant comes here: it has parked in between.
                   /\ list' = [list EXCEPT ![From(t)] = Append(@, w)]
                   /\ waited' = [waited EXCEPT ![Condvar(t)] = 1]
                   /\ held' = [held EXCEPT ![From(t)] = Nobody]
                   /\ me' = [me EXCEPT ![t].pc = "LockFirst", ![t].chosen = Nobody]
                   /\ UNCHANGED <<node, ghost>>
    /\ UNCHANGED <<setup, gone, program>>

(* The newest waiter is parked, or the oldest may be overdue, or the notification is done. *)
\* models crates/ondeck/src/condvar/notify.rs notify_near
EndNear(t) ==
    /\ At(t, "NotifyNear")
    /\ Nears(t) = {} \/ setup.overdue
    /\ Atomically(t, Seen(t))
    /\ held' = [held EXCEPT ![From(t)] = Nobody]
    /\ LET last == Linked(t) = <<>>
           clears == last /\ me[t].count # 0 /\ ClearsLater
       IN  /\ CASE clears ->
                    me' = [me EXCEPT ![t].pc = "ClearLate"] /\ UNCHANGED ghost
                [] last \/ me[t].count = Most(t) -> Returned(t, me)
                [] OTHER -> Go(t, "LockFirst") /\ UNCHANGED ghost
    /\ UNCHANGED <<setup, list, node, waited, gone, fault, program>>

(* The waiter whose mutex a turn is for, if there is one. *)
First(t) ==
    LET linked == Linked(t) IN
    CASE linked = <<>> -> {}
      [] Is(t, "notify") -> {Newest(linked)}
      [] me[Newest(linked)].series = me[t].series \/ Mutation("passed_on_by_the_address_alone") ->
            {Oldest(linked)}
      [] OTHER -> {}
FirstTarget(t) == Target(CHOOSE w \in First(t) : TRUE)
(* One lock is enough for a waiter without a mutex. *)
NeedsSecond(t, m) == m # None /\ Bucket(m) # From(t)

\* models crates/ondeck/src/condvar/notify.rs lock_both
LockFirst(t) ==
    /\ At(t, "LockFirst")
    /\ Free(From(t))
    /\ Atomically(t, Seen(t))
    /\ IF First(t) = {}
       THEN Returned(t, me) /\ UNCHANGED held
       ELSE LET m == FirstTarget(t) IN
            /\ held' = [held EXCEPT ![From(t)] = t]
            /\ me' = [me EXCEPT ![t].target = m, ![t].moved = FALSE,
                                ![t].pc = IF NeedsSecond(t, m) THEN "Extend" ELSE "Notify"]
            /\ UNCHANGED ghost
    /\ UNCHANGED <<setup, list, node, waited, gone, fault, program>>

(* The second lock: if it comes after the first, it is waited for; otherwise it is only tried. *)
\* models crates/ondeck/src/parking/pair.rs extend
Extend(t) ==
    /\ At(t, "Extend")
    /\ Atomically(t, Seen(t))
    /\ \/ /\ Free(To(t))
          /\ held' = [held EXCEPT ![To(t)] = t]
          /\ Go(t, "Notify")
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

(* The first lock was given back: by now the newest waiter may be another mutex's. *)
\* models crates/ondeck/src/condvar/notify.rs lock_both
LookAgain(t) ==
    /\ At(t, "LookAgain")
    /\ IF First(t) = {}
       THEN /\ held' = [held EXCEPT ![From(t)] = Nobody, ![To(t)] = Nobody]
            /\ Returned(t, me)
       ELSE LET m == FirstTarget(t) IN
            /\ UNCHANGED ghost
            /\ IF m = me[t].target
               THEN Go(t, "Notify") /\ UNCHANGED held
               ELSE /\ held' = [held EXCEPT ![To(t)] = Nobody]
                    /\ me' = [me EXCEPT ![t].target = m,
                                        ![t].pc = IF NeedsSecond(t, m) THEN "Extend" ELSE "Notify"]
    /\ UNCHANGED <<setup, mem, buf, list, node, waited, gone, fault, program>>

(* Which waiter to notify next: the oldest if it is overdue, otherwise the newest. *)
Candidates(t) ==
    LET linked == Linked(t) IN
    IF linked = <<>> \/ (me[t].count = Most(t) /\ ~Mutation("notify_one_moves_all")) THEN {}
    ELSE IF First(t) = {} \/ FirstTarget(t) # me[t].target THEN {}
    ELSE First(t) \cup
         (IF setup.overdue /\ Is(t, "notify") /\ Target(Oldest(linked)) = me[t].target
          THEN {Oldest(linked)} ELSE {})

(* The waiter is taken off. If no waiter is left, the condition variable's byte is cleared, while
   the condition variable certainly exists. *)
\* models crates/ondeck/src/condvar/notify.rs notify_some
Notify(t) ==
    /\ At(t, "Notify")
    /\ \E w \in Candidates(t) :
        LET tells == Mutation("told_before_unlinked") /\ node[w].status = "near"
            passes == Is(t, "wait")
            by == IF passes THEN ghost.signal[t] ELSE t
        IN  /\ list' = IF tells THEN list ELSE Without(From(t), w)
            /\ node' = [node EXCEPT ![w].kind = "lock", ![w].address = TargetAddress(w),
                                    ![w].status = IF tells THEN "compete" ELSE @]
            /\ me' = [me EXCEPT ![t].pc = "Tell", ![t].chosen = w]
            /\ ghost' = [ghost EXCEPT
                 !.signal = [u \in Threads |-> CASE u = w -> by
                                                 [] passes /\ u = t -> Nobody
                                                 [] OTHER -> @[u]],
                 !.taken[by] = (@ \ {t}) \cup {w},
                 !.eligible = [n \in Threads |-> @[n] \ {w}]]
            /\ IF (Range(Linked(t)) \subseteq {w} \/ Mutation("notify_forgets_the_others"))
                  /\ ~ClearsLater
               THEN waited' = [waited EXCEPT ![Condvar(t)] = 0] /\ Touch(Condvar(t))
               ELSE UNCHANGED <<waited, fault>>
    /\ UNCHANGED <<setup, mem, buf, held, gone, program>>

(* A near waiter is told to compete, and may be gone by the next step. A parked waiter is
   linked among the parked threads of its mutex, and counted; its pin goes. One without a mutex is
   told and woken once the locks are released. *)
\* models crates/ondeck/src/condvar/notify.rs notify_some
\* models crates/ondeck/src/condvar/notify.rs move_parked
Tell(t) ==
    /\ At(t, "Tell")
    /\ LET w == me[t].chosen
           m == me[t].target
           now == Seen(t)
           early == Mutation("told_before_unlinked") /\ node[w].status = "compete"
           arms == IF now.fence[Record(m)] \notin Unseen THEN <<>>
                   ELSE <<<<Fence(m), Armed(now.fence[Record(m)])>>>>
           counts == IF Mutation("moved_uncounted") THEN <<>>
                     ELSE <<<<Parked(m), now.parked[Record(m)] + 1>>>>
           unpins == node[w].pin
       IN  /\ fault' = IF node[w].live \/ early THEN fault ELSE fault \cup {"node"}
           /\ IF node[w].status = "near" \/ early
              THEN /\ Atomically(t, now)
                   /\ node' = [node EXCEPT ![w].status = "compete"]
                   /\ list' = Without(From(t), w)
              ELSE IF Foreign(w)
              THEN /\ Atomically(t, now)
                   /\ node' = [node EXCEPT ![w].status = "chosen"]
                   /\ UNCHANGED list
              ELSE /\ mem' = [now EXCEPT !.pins[Record(m)] = IF unpins THEN @ - 1 ELSE @]
                   /\ buf' = [buf EXCEPT ![t] = arms \o counts]
                   /\ node' = [node EXCEPT ![w].pin = FALSE]
                   /\ list' = [list EXCEPT ![To(t)] = Append(@, w)]
           /\ me' = [me EXCEPT ![t].pc = "Notify", ![t].chosen = Nobody, ![t].count = @ + 1,
                               ![t].moved = @ \/ ~(node[w].status = "near" \/ early \/ Foreign(w)),
                               ![t].foreign = IF Foreign(w) /\ node[w].status # "near"
                                              THEN Append(@, w) ELSE @]
    /\ UNCHANGED <<setup, held, waited, gone, program, ghost>>

(* The turn is done. *)
\* models crates/ondeck/src/condvar/notify.rs notify_some
EndMoving(t) ==
    /\ At(t, "Notify")
    /\ Candidates(t) = {}
    /\ LET c == Condvar(t)
           last == Linked(t) = <<>> \/ (Mutation("notify_forgets_the_others") /\ me[t].count # 0)
           looks == me[t].moved \/ Mutation("notify_touches_a_freed_mutex")
       IN  /\ IF last /\ Mutation("waited_cleared_after_the_last_is_told")
              THEN waited' = [waited EXCEPT ![c] = 0] /\ Touch(c)
              ELSE UNCHANGED <<waited, fault>>
           /\ me' = [me EXCEPT
                ![t].last = last,
                ![t].pc = CASE ~looks \/ Mutation("notify_wakes_no_thread") -> "Drop"
                            [] Mutation("moved_without_publishing") -> "LookAtMutex"
                            [] OTHER -> "Publish"]
    /\ UNCHANGED <<setup, mem, buf, held, list, node, gone, program, ghost>>

FullFenceOnly == Mutant \in {"parked_without_a_pin", "moved_without_heavy_fence"}

\* models crates/ondeck/src/condvar/notify.rs wake_if_free
Publish(t) ==
    /\ At(t, "Publish")
    /\ LET r == Record(me[t].target)
           fence == Armed(Seen(t).fence[r])
           heavy == OwesHeavy(fence) /\ ~FullFenceOnly
       IN  /\ \E stays \in IF mem.pins[r] = 0 THEN BOOLEAN ELSE {FALSE} :
                Fencing(t, heavy, [Fenced(t, heavy) EXCEPT
                    !.fence[r] = IF heavy THEN HeavyMade(Published(fence, stays)) ELSE fence])
           /\ ghost' = [ghost EXCEPT !.heavy = @ \/ heavy]
    /\ Go(t, "LookAtMutex")
    /\ UNCHANGED <<setup, held, list, node, waited, gone, fault, program>>

\* models crates/ondeck/src/condvar/notify.rs wake_if_free
LookAtMutex(t) ==
    /\ At(t, "LookAtMutex")
    /\ Touch(me[t].target)
    /\ Go(t, IF Seen(t).byte[me[t].target] = 0 THEN "Choose" ELSE "Drop")
    /\ UNCHANGED <<setup, mem, buf, held, list, node, waited, gone, program, ghost>>

\* models crates/ondeck/src/condvar/notify.rs wake_if_free
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
      [] me[t].last \/ me[t].count = Most(t) -> Returned(t, places)
      [] OTHER ->
            me' = [places EXCEPT ![t].pc = "LockFirst", ![t].chosen = Nobody] /\ UNCHANGED ghost

\* models crates/ondeck/src/condvar/notify.rs notify_some
Drop(t) ==
    /\ At(t, "Drop")
    /\ Atomically(t, Seen(t))
    /\ held' = [held EXCEPT ![From(t)] = Nobody, ![To(t)] = Nobody]
    /\ CASE me[t].foreign # <<>> -> Go(t, "TellChosen") /\ UNCHANGED ghost
         [] me[t].chosen = Nobody -> EndTurn(t, me)
         [] OTHER -> Go(t, "FutexWake") /\ UNCHANGED ghost
    /\ UNCHANGED <<setup, list, node, waited, gone, fault, program>>

(* The wake uses an address only: the node may be gone. *)
\* models crates/ondeck/src/condvar/notify.rs notify_some
FutexWake(t) ==
    /\ At(t, "FutexWake")
    /\ EndTurn(t, Woken(me[t].chosen, me))
    /\ UNCHANGED <<setup, mem, buf, held, list, node, waited, gone, fault, program>>

(* A waiter without a mutex is told: what it does next is not known here. It may be gone by the
   next step. *)
\* models crates/ondeck/src/parking/park.rs wake
TellChosen(t) ==
    /\ At(t, "TellChosen")
    /\ LET w == Head(me[t].foreign) IN
        /\ fault' = IF node[w].live THEN fault ELSE fault \cup {"node"}
        /\ node' = [node EXCEPT ![w].status = "compete"]
    /\ Go(t, "WakeChosen")
    /\ UNCHANGED <<setup, mem, buf, held, list, waited, gone, program, ghost>>

\* models crates/ondeck/src/parking/park.rs wake
WakeChosen(t) ==
    /\ At(t, "WakeChosen")
    /\ LET others == Tail(me[t].foreign)
           places == [Woken(Head(me[t].foreign), me) EXCEPT ![t].foreign = others]
       IN  IF others = <<>> THEN EndTurn(t, places)
           ELSE me' = [places EXCEPT ![t].pc = "TellChosen"] /\ UNCHANGED ghost
    /\ UNCHANGED <<setup, mem, buf, held, list, node, waited, gone, fault, program>>

(* Not in the source: only a mutant does this. *)
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
    \/ Land(t) \/ ReadFenceBefore(t) \/ Unlock(t) \/ ReadFence(t) \/ LookAwake(t) \/ LookParked(t)
    \/ Relax(t) \/ Wake(t) \/ UnlockWakes(t) \/ PollerRelaxes(t) \/ Tend(t) \/ PollerWakes(t)
    \/ Section(t) \/ NextSection(t) \/ FreeIt(t)
    \/ Link(t) \/ Watch(t) \/ Pin(t) \/ PinFence(t) \/ LeaveNear(t) \/ Wait(t)
    \/ TimeOut(t) \/ Cancel(t) \/ Withdraw(t) \/ PassOn(t) \/ Unpin(t)
    \/ HasWaiters(t) \/ LockNear(t) \/ NotifyNear(t) \/ TellNear(t) \/ EndNear(t)
    \/ LockFirst(t) \/ Extend(t) \/ LockLower(t) \/ LockUpper(t) \/ LookAgain(t)
    \/ Notify(t) \/ Tell(t) \/ EndMoving(t)
    \/ Publish(t) \/ LookAtMutex(t) \/ Choose(t) \/ Drop(t) \/ FutexWake(t)
    \/ TellChosen(t) \/ WakeChosen(t) \/ ClearLate(t)

NeverBegins(t) == Option(t, "later") /\ At(t, "TryLock") /\ ~IsThere(Condvar(t))
AllDone == \A t \in Threads : At(t, "Done") \/ NeverBegins(t)
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
    /\ HasMutex(t)
    /\ Mutex(t) = m
    /\ \/ me[t].pc \in {"Leave", "Owner", "Unlock", "UnlockAfter"}
       \/ At(t, "Link") /\ ~Mutation("linked_after_unlock")
       \/ node[t].live /\ node[t].status = "done"
       \/ Inside(t) /\ me[t].pc \in {"HasWaiters", "LockNear", "NotifyNear", "TellNear", "LockFirst", "Extend", "LockLower", "LockUpper",
            "LookAgain", "Notify", "Tell", "Publish", "LookAtMutex", "Choose", "Drop",
            "FutexWake", "ClearLate"}

Exclusion == \A m \in Mutexes : Cardinality({t \in Threads : Owns(t, m)}) <= 1

Wants(t, m) == HasMutex(t) /\ Mutex(t) = m

(* At most one thread polls, at most one is in flight, and those have their marks. *)
MarksAreTrue ==
    \A m \in Mutexes :
        LET r == Record(m)
            polling == {t \in Threads : Wants(t, m) /\ me[t].pc \in {"Poll", "PollerWakes"}}
            flying == {t \in Threads : Wants(t, m)
                        /\ (At(t, "Land") \/ (node[t].live /\ node[t].status = "in flight"))}
        IN  /\ \A t \in polling : mem.poller[r] = t
            /\ Cardinality(flying) <= 1
            /\ flying # {} => mem.flight[r]

NothingFreedIsTouched == fault = {}

(* A node is linked once, and only while its thread waits. *)
LinkedNodesAreLive ==
    \A b \in Buckets :
        /\ Cardinality(Range(list[b])) = Len(list[b])
        /\ \A w \in Range(list[b]) : node[w].live /\ BucketAt(node[w].address) = b

(* A wait says that it was notified if and only if a signal took it off. *)
AnswersAreTrue ==
    \A t \in Threads : At(t, "Owner") /\ Is(t, "wait") =>
        /\ me[t].answer = "notified" => ghost.signal[t] # Nobody
        /\ me[t].answer = "timeout" => ghost.signal[t] = Nobody

(* A call that has returned took a waiter off, unless all waiters that were linked when it
   began had gone by other signals or deadlines. A call for all left none of them. *)
NoSignalIsLost ==
    LET beingTold == {me[n].chosen : n \in {n \in Threads : At(n, "TellNear")}}
    IN  \A n \in ghost.over :
            ghost.eligible[n] \subseteq beingTold \/ (Most(n) = 1 /\ ghost.taken[n] # {})

(* The same, for the end alone. *)
NoSignalIsLostAtLast ==
    (\A n \in Threads : Is(n, "notify") => n \in ghost.over) => NoSignalIsLost

(* A waiter that was linked after a call had returned does not have its signal. *)
NoSignalIsStolen == \A t \in Threads : ghost.signal[t] \notin ghost.before[t]

(* No more waiters are notified than the call asked for. *)
NoSignalIsDoubled ==
    \A n \in Threads : Is(n, "notify") => Cardinality(ghost.taken[n]) <= Most(n)

(* Each pin is one of a waiter. *)
PinsBalance ==
    \A r \in Records :
        mem.pins[r] = Cardinality({t \in Threads : node[t].pin /\ Record(MutexOf(t)) = r})

(* While a waiter is parked at a condition variable, its mutex's record, if it is the
   mutex's own, is there and fenced. *)
PinnedRecordsAreFenced ==
    \A t \in Threads :
        node[t].live /\ node[t].kind = "condvar" /\ node[t].status = "parked" /\ ~setup.full
          /\ ~Foreign(t) =>
            /\ node[t].pin
            /\ IF Asymmetric THEN mem.fence[Record(MutexOf(t))] = "fenced"
               ELSE mem.fence[Record(MutexOf(t))] \notin Unseen

(* No notification makes a heavy fence, unless the bucket is full. *)
NotificationsAreCheap == ghost.heavy => setup.full

(* Nothing is left behind. *)
AtRest ==
    AllDone /\ (\A t \in Threads : buf[t] = <<>>) =>
        /\ \A b \in Buckets : list[b] = <<>> /\ Free(b)
        /\ \A r \in Records : mem.poller[r] = Nobody /\ ~mem.flight[r] /\ mem.parked[r] = 0
                              /\ mem.pins[r] = 0
        /\ \A m \in Mutexes : mem.byte[m] = 0
        /\ \A c \in Condvars : waited[c] = 0

EveryoneReturns == <>AllDone

(* A waiter that a signal took off returns, and says that it was notified. *)
SignalsArrive ==
    \A t \in 1..4 :
        (t \in Threads /\ node[t].live /\ ghost.signal[t] # Nobody)
            ~> (t \in Threads /\ At(t, "Owner") /\ me[t].answer = "notified")
=============================================================================
