------------------------------ MODULE Condvar ------------------------------
(* The condition variable of locks/ondeck as it ships: waiting near, parking, deadlines, and
   notifications that take waiters off in one step, and then tell a near one to compete, and move a parked one to its mutex
   under the lock of the mutex's bucket; waits that are cancelled, and waiters without a mutex of this crate, which
   are woken instead; with condition variables and mutexes that are freed as soon as they may be, and
   whose addresses are used again.

   The mutex is the one that Mutex.tla has in full, in larger steps: an attempt of a woken thread and
   what becomes of it are one step, and so are a heir's request and its last attempt. What a
   notification shares with an unlock stays as fine as in the source: the byte's clearing store, the
   mode, the section of the bucket's lock, the futex wake. A notification wakes the waiter that it has
   moved, unless another thread is responsible, or leaves it to the mutex's owner after a heavy fence.
   So memory is sequentially consistent here; stores that are delayed are in Mutex.tla.

   An action is one access that others can interfere with. Everything else in it is guarded by a
   bucket's lock that is held (the queues, roles, addresses of nodes), or is a store of `waited`,
   which is read alone. A section of one bucket's lock with one such access is one action, which
   waits for the lock. A notification that looks after moved waiters holds the lock from action to action. It moves one waiter
   in each section: with more, other threads would see less in between.

   Left to chance: whether a heir polls or asks, whether there is one CPU, how long a waiter is near, whether a waiter is
   overdue, when a deadline passes. *)
EXTENDS Naturals, Sequences, FiniteSets, TLC

CONSTANTS
    Scenarios,  \* names of Scripts; each runs on every machine of:
    Layouts,    \* which objects share a bucket: see BucketIn
    Asks,       \* whether a heir may ask unlocks to wake it, and sleep
    Overdue,    \* whether a waiter may have waited for too long
    Fair,       \* whether an owner may hand the mutex over
    Slices,     \* whether sleeps of waiters end without a wake
    Mutant      \* the mistake put in, or "none"

VARIABLES
    setup,      \* the scenario and the machine; never changes
    byte,       \* of each mutex: 0 free, 1 locked
    roles,      \* of mutexes, by address: the heir, the thread that was woken last; what is asked of
                \*   unlocks: "quiet", "debt", "wake"
    held,       \* the thread that has the lock of each bucket
    list,       \* of each bucket, the linked nodes, oldest first; a node is named by its thread
    node,       \* of each thread, what it waits for and its status
    waited,     \* the byte of each condition variable
    me,         \* each thread's place and local variables
    gone,       \* mutexes and condition variables that are freed
    fault,      \* what was touched though it was gone
    program,    \* what the mutexes guard
    ghost       \* what happened, for the properties

vars == <<setup, byte, roles, held, list, node, waited, me, gone, fault, program, ghost>>

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
   "asleep": begins asleep, parked. "near": begins near, and is about
   to park. "cancelled": may be cancelled in its sleep, or before;
   it is linked at first and waits once. "foreign": to the condition variable its mutex is not one.
   "later": begins once its condition variable is there, or never. *)
Waiter(c, m, options) ==
    [does |-> "wait", condvar |-> c, sections |-> <<m>>, options |-> options]

(* Puts an item into each of the mutexes and notifies, in the last section or after it. *)
Notifier(c, ms, most, inside) ==
    [does |-> "notify", condvar |-> c, sections |-> ms, most |-> most, inside |-> inside,
     options |-> {}]

(* Locks and unlocks. *)
Other(m) == [does |-> "lock", condvar |-> None, sections |-> <<m>>, options |-> {}]

(* Has unlocked a mutex that is long gone, when it was asked to wake a thread. *)
StaleUnlock(m) == [Other(m) EXCEPT !.options = {"stale"}]

(* Is about to take the waiters of a condition variable that is long gone. *)
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
    cancelled_near |-> <<Waiter("c", "a", {"asleep", "at once", "timed"}),
                         Waiter("c", "a", {"near", "at once", "cancelled"}),
                         Notifier("c", <<"a">>, 1, TRUE)>>,
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
(* Places, named by what happens next; queues; the kernel. *)

Touch(o) == fault' = fault \cup (gone \cap {o})

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
    [places EXCEPT ![w].pc = CASE @ = "Asleep" -> "AtMutex"
                               [] @ = "WaitAsleep" -> "Wait"
                               [] OTHER -> @]

-----------------------------------------------------------------------------
Setups ==
    [scenario : Scenarios, layout : Layouts, asks : Asks, overdue : Overdue, fair : Fair, slices : Slices]

Sleepers == {t \in Threads : Option(t, "asleep") \/ Option(t, "near")}
Addresses == {AddressOf[o] : o \in DOMAIN AddressOf}

Init ==
    /\ setup \in Setups
    /\ byte = [m \in Mutexes |-> 0]
    /\ roles = [heir |-> [a \in Addresses |-> Nobody], woken |-> [a \in Addresses |-> Nobody],
                mode |-> [a \in Addresses |-> "quiet"]]
    /\ held = [b \in Buckets |-> Nobody]
    /\ list = [b \in Buckets |->
                SelectSeq([t \in Threads |-> t],
                          LAMBDA t : t \in Sleepers /\ Bucket(Condvar(t)) = b)]
    /\ node = [t \in Threads |->
                [kind |-> "condvar",
                 address |-> IF Is(t, "lock") THEN None ELSE AddressOf[Condvar(t)],
                 status |-> IF Option(t, "near") THEN "near" ELSE "parked",
                 live |-> t \in Sleepers]]
    /\ waited = [c \in Condvars |-> IF Waiters(c) \cap Sleepers # {} THEN 1 ELSE 0]
    /\ me = [t \in Threads |->
              [pc |-> CASE Option(t, "asleep") -> "WaitAsleep"
                        [] Option(t, "near") -> "LeaveNear"
                        [] Option(t, "stale") -> IF Is(t, "notify") THEN "Take" ELSE "Serve"
                        [] Script[t].sections = <<>> -> "HasWaiters"
                        [] OTHER -> "TryLock",
               section |-> 1,
               leaves |-> FALSE,                \* this is its last unlock
               frees |-> {},                    \* what is gone when that has returned
               deadline |-> Option(t, "timed"), \* its deadline may pass
               answer |-> None,                 \* what wait returns; None before that
               taken |-> <<>>,                  \* of a notifier: the waiters that it has taken and is to notify
               count |-> 0,                     \* how many it has taken
               target |-> None,                 \* the mutex to which it moves waiters
               batch |-> <<>>,                  \* those that it is to link for that mutex
               linked |-> FALSE,                \* whether it has linked others there before
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
                over |-> {}]                            \* notifiers whose call has returned

-----------------------------------------------------------------------------
(* The mutex, in larger steps than those of Mutex.tla. A section of its bucket's lock works on a state: the roles,
   the statuses of nodes, and the thread to wake. *)

\* models nothing: the mutex, which Mutex.tla has in full
TryLock(t) ==
    /\ At(t, "TryLock")
    /\ IsThere(Mutex(t))
    /\ Option(t, "later") => IsThere(Condvar(t))
    /\ byte' = [byte EXCEPT ![Mutex(t)] = 1]
    /\ Go(t, IF byte[Mutex(t)] = 0 THEN "Owner" ELSE "Enter")
    /\ Touch(Mutex(t))
    /\ UNCHANGED <<setup, roles, held, list, node, waited, gone, program, ghost>>

Begun == [roles |-> roles, node |-> node, wakes |-> Nobody]
Ended(s) == roles' = s.roles /\ node' = s.node

IsAsked(s, a) == s.roles.mode[a] # "quiet"
Unasked(s, a) == [s EXCEPT !.roles.mode[a] = "quiet"]
IsOffered(s, a) == s.roles.heir[a] # Nobody /\ s.node[s.roles.heir[a]].status = "offered"
HasAsked(s, a) == s.roles.heir[a] # Nobody /\ s.roles.mode[a] = "wake"
ForgetWoken(s, a, t) == IF s.roles.woken[a] = t THEN [s EXCEPT !.roles.woken[a] = Nobody] ELSE s

BecomeHeir(s, a, t) ==
    LET other == s.roles.heir[a]
        parked == IF other = Nobody THEN s
                  ELSE [s EXCEPT !.node[other].status = "parked"]
    IN  [Unasked(parked, a) EXCEPT !.roles.heir[a] = t, !.node[t].status = "heir"]

Wake(s, a, t) == [s EXCEPT !.roles.woken[a] = t, !.node[t].status = "woken", !.wakes = t]

(* Wakes the oldest parked thread of these, unless another thread is responsible. *)
\* models locks/ondeck/src/mutex/roles.rs look_after
LookAfter(s, a, queue) ==
    LET parked == SelectSeq(queue, LAMBDA w : s.node[w].status = "parked")
    IN  IF s.roles.heir[a] # Nobody \/ s.roles.woken[a] # Nobody \/ IsAsked(s, a) \/ parked = <<>>
        THEN s ELSE Wake(s, a, parked[1])

\* models nothing: the mutex, which Mutex.tla has in full
Enter(t) ==
    /\ At(t, "Enter")
    /\ Free(Bucket(Mutex(t)))
    /\ LET a == AddressOf[Mutex(t)]
           linked == [Begun EXCEPT !.node[t] = [kind |-> "lock", address |-> a, status |-> "parked", live |-> TRUE]]
       IN  Ended(IF roles.heir[a] = Nobody THEN BecomeHeir(linked, a, t) ELSE linked)
    /\ list' = [list EXCEPT ![Bucket(Mutex(t))] = Append(@, t)]
    /\ Go(t, "AtMutex")
    /\ UNCHANGED <<setup, byte, held, waited, gone, fault, program, ghost>>

CancelledSleepsOn == Mutation("cancelled_sleeps_though_told_to_compete")

(* A thread whose node is at the mutex goes by its status. *)
\* models nothing: the mutex, which Mutex.tla has in full
Sleep(t) ==
    /\ At(t, "AtMutex")
    /\ \/ node[t].status = "parked" /\ Go(t, "Asleep") /\ UNCHANGED node
       \/ node[t].status = "compete" /\ ~CancelledSleepsOn /\ Go(t, "TryLock") /\ node' = [node EXCEPT ![t].live = FALSE]
       \/ node[t].status = "offered" /\ Go(t, "Leave") /\ UNCHANGED node
    /\ UNCHANGED <<setup, byte, roles, held, list, waited, gone, fault, program, ghost>>

\* models nothing: the mutex, which Mutex.tla has in full
HeirTries(t) ==
    /\ At(t, "AtMutex")
    /\ node[t].status = "heir"
    /\ byte[Mutex(t)] = 0
    /\ byte' = [byte EXCEPT ![Mutex(t)] = 1]
    /\ Go(t, "Leave")
    /\ Touch(Mutex(t))
    /\ UNCHANGED <<setup, roles, held, list, node, waited, gone, program, ghost>>

\* models nothing: the mutex, which Mutex.tla has in full
HeirAsks(t) ==
    /\ setup.asks
    /\ At(t, "AtMutex")
    /\ Free(Bucket(Mutex(t)))
    /\ node[t].status = "heir"
    /\ byte[Mutex(t)] = 1
    /\ roles' = [roles EXCEPT !.mode[AddressOf[Mutex(t)]] = "wake"]
    /\ Go(t, "Asleep")
    /\ Touch(Mutex(t))
    /\ UNCHANGED <<setup, byte, held, list, node, waited, gone, program, ghost>>

(* A woken thread runs: it acquires the lock, or is the heir, unless the heir sleeps with a request, or is offered the lock. *)
\* models nothing: the mutex, which Mutex.tla has in full
Land(t) ==
    /\ At(t, "AtMutex")
    /\ node[t].status = "woken"
    /\ Free(Bucket(Mutex(t)))
    /\ byte' = [byte EXCEPT ![Mutex(t)] = 1]
    /\ LET a == AddressOf[Mutex(t)]
           s == ForgetWoken(Begun, a, t)
       IN  IF byte[Mutex(t)] = 0 THEN Go(t, "Leave") /\ UNCHANGED <<roles, node>>
           ELSE /\ UNCHANGED me
                /\ Ended(IF HasAsked(s, a) \/ IsOffered(s, a) THEN [s EXCEPT !.node[t].status = "parked"]
                         ELSE BecomeHeir(s, a, t))
    /\ Touch(Mutex(t))
    /\ UNCHANGED <<setup, held, list, waited, gone, program, ghost>>

(* The new owner unlinks itself, and leaves a debt if no thread is responsible for the parked ones. *)
\* models nothing: the mutex, which Mutex.tla has in full
Leave(t) ==
    /\ At(t, "Leave")
    /\ Free(Bucket(Mutex(t)))
    /\ LET b == Bucket(Mutex(t))
           a == AddressOf[Mutex(t)]
           unheired == IF roles.heir[a] = t THEN Unasked([Begun EXCEPT !.roles.heir[a] = Nobody], a) ELSE Begun
           s == [ForgetWoken(unheired, a, t) EXCEPT !.node[t].live = FALSE]
           others == SelectSeq(LinkedAt(b, "lock", a), LAMBDA w : w # t)
           debts == s.roles.heir[a] = Nobody /\ s.roles.woken[a] = Nobody
       IN  /\ Ended(CASE others = <<>> -> Unasked(s, a)
                      [] debts -> [s EXCEPT !.roles.mode[a] = "debt"]
                      [] OTHER -> s)
           /\ list' = Without(b, t)
           /\ Go(t, "Owner")
    /\ UNCHANGED <<setup, byte, held, waited, gone, fault, program, ghost>>

(* The program's last section with a mutex, and what may be freed then. If no other thread has a
   section left, that is the mutex. If the other waiters of the condition variable are out, or are
   cancelled and have been notified, and each notifier's call is over or has notified a waiter, it is
   the condition variable. *)
Leaving(t, place, wakes) ==
    LET m == Mutex(t)
        c == Condvar(t)
        out == IF me[t].leaves THEN program.out \cup {t} ELSE program.out
        last == Is(t, "wait") => me[t].leaves
        users == IF last THEN program.users[m] - 1 ELSE program.users[m]
    IN  /\ program' = [program EXCEPT !.users[m] = users, !.out = out]
        /\ me' = [me EXCEPT
            ![t].pc = place, ![t].chosen = wakes,
            ![t].frees = (IF users = 0 THEN {m} ELSE {})
                \cup (IF Is(t, "wait") /\ me[t].leaves
                         /\ (\A w \in Waiters(c) :
                                w \in out \/ (me[w].cancels /\ node[w].kind # "condvar"))
                         /\ \A n \in Notifiers(c) : n \in ghost.over \/ ghost.taken[n] # {}
                      THEN {c} ELSE {})]

(* Where t goes after an unlock. *)
Onwards(t) ==
    CASE Is(t, "wait") /\ ~me[t].leaves ->
            IF Mutation("linked_after_unlock") /\ ~node[t].live THEN "Link" ELSE "LeaveNear"
      [] Is(t, "notify") /\ me[t].section < Len(Script[t].sections) -> "NextSection"
      [] Is(t, "notify") /\ t \notin ghost.over -> "HasWaiters"
      [] OTHER -> "Done"
Then(t) == IF me[t].frees # {} THEN "Free" ELSE Onwards(t)

\* models nothing: the mutex, which Mutex.tla has in full
Unlock(t) ==
    /\ At(t, "Unlock")
    /\ byte' = [byte EXCEPT ![Mutex(t)] = 0]
    /\ Leaving(t, "ReadMode", Nobody)
    /\ Touch(Mutex(t))
    /\ UNCHANGED <<setup, roles, held, list, node, waited, gone, ghost>>

(* An owner offers the mutex to the thread that has waited longest, which becomes the heir. No offer expires here. *)
\* models nothing: the mutex, which Mutex.tla has in full
HandOver(t) ==
    /\ At(t, "Unlock")
    /\ setup.fair
    /\ Free(Bucket(Mutex(t)))
    /\ LET a == AddressOf[Mutex(t)]
           queue == LinkedAt(Bucket(Mutex(t)), "lock", a)
           w == Oldest(queue)
           s == ForgetWoken(BecomeHeir(Begun, a, w), a, w)
       IN  /\ queue # <<>>
           /\ Ended([s EXCEPT !.node[w].status = "offered"])
           /\ Leaving(t, "UnlockWakes", w)
    /\ UNCHANGED <<setup, byte, held, list, waited, gone, fault, ghost>>

(* After the store: whether the unlock is asked to do anything. *)
\* models nothing: the mutex, which Mutex.tla has in full
ReadMode(t) ==
    /\ At(t, "ReadMode")
    /\ Go(t, IF IsAsked(Begun, AddressOf[Mutex(t)]) THEN "Serve" ELSE Then(t))
    /\ UNCHANGED <<setup, byte, roles, held, list, node, waited, gone, fault, program, ghost>>

\* models nothing: the mutex, which Mutex.tla has in full
Serve(t) ==
    /\ At(t, "Serve")
    /\ Free(Bucket(Mutex(t)))
    /\ LET a == AddressOf[Mutex(t)]
           s == Unasked(Begun, a)
           heir == s.roles.heir[a]
           served == IF ~IsAsked(Begun, a) THEN Begun
                     ELSE IF HasAsked(Begun, a) THEN Wake([s EXCEPT !.roles.heir[a] = Nobody], a, heir)
                     ELSE LookAfter(s, a, LinkedAt(Bucket(Mutex(t)), "lock", a))
       IN  /\ Ended(served)
           /\ me' = [me EXCEPT ![t].pc = IF served.wakes = Nobody THEN Then(t) ELSE "UnlockWakes",
                               ![t].chosen = served.wakes]
    /\ UNCHANGED <<setup, byte, held, list, waited, gone, fault, program, ghost>>

\* models nothing: the mutex, which Mutex.tla has in full
MutexWakes(t) ==
    /\ At(t, "UnlockWakes")
    /\ me' = Woken(me[t].chosen, [me EXCEPT ![t].pc = Then(t), ![t].chosen = Nobody])
    /\ UNCHANGED <<setup, byte, roles, held, list, node, waited, gone, fault, program, ghost>>

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
    /\ UNCHANGED <<setup, byte, roles, held, list, node, waited, gone, fault, ghost>>

\* models nothing: what the program does next
NextSection(t) ==
    /\ At(t, "NextSection")
    /\ me' = [me EXCEPT ![t].pc = "TryLock", ![t].section = @ + 1]
    /\ UNCHANGED <<setup, byte, roles, held, list, node, waited, gone, fault, program, ghost>>

\* models nothing: what the program does as soon as it may
FreeIt(t) ==
    /\ At(t, "Free")
    /\ gone' = gone \cup me[t].frees
    /\ me' = [me EXCEPT ![t].pc = Onwards(t), ![t].frees = {}]
    /\ UNCHANGED <<setup, byte, roles, held, list, node, waited, fault, program, ghost>>

-----------------------------------------------------------------------------
(* Waiting. *)

(* A queue that begins has a number of its own. It is followed where a wait may be cancelled. *)
Series(t) ==
    LET linked == LinkedAt(Bucket(Condvar(t)), "condvar", AddressOf[Condvar(t)])
        others == {me[u].series : u \in Threads \ {t}}
    IN  IF linked # <<>> THEN me[Newest(linked)].series
        ELSE IF ~\E u \in Threads : Option(u, "cancelled") THEN 1
        ELSE CHOOSE n \in 1..(Cardinality(Threads) + 1) : n \notin others /\ \A k \in 1..(n - 1) : k \in others

(* The owner of the mutex links its node. *)
\* models locks/ondeck/src/condvar/wait.rs begin
Link(t) ==
    LET c == Condvar(t)
        b == Bucket(c)
    IN  /\ At(t, "Link")
        /\ IsThere(c)
        /\ Free(b)
        /\ node' = [node EXCEPT ![t] = [kind |-> "condvar", address |-> AddressOf[c],
                                        status |-> "near", live |-> TRUE]]
        /\ list' = [list EXCEPT ![b] = Append(@, t)]
        /\ waited' = [waited EXCEPT ![c] = 1]
        /\ UNCHANGED <<byte, roles>>
        /\ me' = [me EXCEPT ![t].pc = IF Mutation("linked_after_unlock") THEN "LeaveNear" ELSE "Unlock",
                            ![t].deadline = Option(t, "timed"), ![t].series = Series(t)]
        /\ ghost' = [ghost EXCEPT !.signal[t] = Nobody, !.before[t] = ghost.over]
        /\ Touch(c)
        /\ UNCHANGED <<setup, held, gone, program>>

(* A notified waiter goes on at the mutex. *)
GoesOn(t) == me' = [me EXCEPT ![t].pc = "Notified", ![t].answer = IF @ = None THEN "notified" ELSE @]

(* The waiter reads its own node, and has been told something. *)
\* models locks/ondeck/src/condvar/wait.rs stay_near
Watch(t) ==
    /\ At(t, "LeaveNear")
    /\ node[t].status \notin {"near", "parked"}
    /\ GoesOn(t)
    /\ UNCHANGED <<setup, byte, roles, held, list, node, waited, gone, fault, program, ghost>>

(* Also while a notifier has the waiter, and has yet to notify it. *)
\* models locks/ondeck/src/condvar/wait.rs park
LeaveNear(t) ==
    /\ At(t, "LeaveNear")
    /\ UNCHANGED <<byte, roles>>
    /\ IF node[t].status = "near"
       THEN /\ node' = [node EXCEPT ![t].status = "parked"]
            /\ Go(t, "Wait")
       ELSE GoesOn(t) /\ UNCHANGED node
    /\ UNCHANGED <<setup, held, list, waited, gone, fault, program, ghost>>

(* The waiter looks at its status, and the kernel compares it. *)
\* models locks/ondeck/src/condvar/wait.rs look
Wait(t) ==
    /\ At(t, "Wait")
    /\ IF node[t].status = "parked" THEN Go(t, "WaitAsleep") ELSE GoesOn(t)
    /\ UNCHANGED <<setup, byte, roles, held, list, node, waited, gone, fault, program, ghost>>

(* Between its sleeps the waiter finds that it was moved: from now on it sleeps at the mutex. *)
\* models locks/ondeck/src/condvar/wait.rs was_moved
WasMoved(t) ==
    /\ At(t, "WaitAsleep")
    /\ setup.slices
    /\ ~Foreign(t)
    /\ Free(Bucket(MutexOf(t)))
    /\ node[t].kind = "lock"
    /\ me' = [me EXCEPT ![t].pc = "AtMutex", ![t].answer = "notified"]
    /\ UNCHANGED <<setup, byte, roles, held, list, node, waited, gone, fault, program, ghost>>

(* The sleep ends without a wake, and the waiter looks at its status again. *)
\* models locks/ondeck/src/condvar/wait.rs step
EndSleep(t) ==
    /\ At(t, "WaitAsleep")
    /\ setup.slices
    /\ Go(t, "Wait")
    /\ UNCHANGED <<setup, byte, roles, held, list, node, waited, gone, fault, program, ghost>>

\* models locks/ondeck/src/condvar/wait.rs time_out
TimeOut(t) ==
    /\ At(t, "WaitAsleep")
    /\ me[t].deadline
    /\ Go(t, "Withdraw")
    /\ UNCHANGED <<setup, byte, roles, held, list, node, waited, gone, fault, program, ghost>>

(* The thread is cancelled in its sleep, before it has parked, or after it was woken. *)
\* models locks/ondeck/src/condvar/cancel.rs cancel
Cancel(t) ==
    /\ me[t].pc \in {"WaitAsleep", "LeaveNear", "Wait"}
    /\ Option(t, "cancelled") /\ ~me[t].cancels
    /\ me' = [me EXCEPT ![t].pc = "Withdraw", ![t].cancels = TRUE, ![t].answer = "cancelled"]
    /\ UNCHANGED <<setup, byte, roles, held, list, node, waited, gone, fault, program, ghost>>

(* No waiter has the notification of a cancelled one: the ghost forgets that one had it. *)
Dropped(t) == [ghost EXCEPT !.taken[ghost.signal[t]] = @ \ {t}, !.signal[t] = Nobody]

(* The case of a cancelled waiter that was notified before. *)
CancelledLate(t) ==
    /\ IF Mutation("cancelled_keeps_its_notification")
       THEN Go(t, "Notified") /\ ghost' = Dropped(t)
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

\* models locks/ondeck/src/condvar/wait.rs withdraw
Withdraw(t) ==
    LET c == Condvar(t)
        b == Bucket(c)
        left == [k \in Buckets |-> SelectSeq(list[k], LAMBDA u : u # t)]
        others == Range(LinkedAt(b, "condvar", AddressOf[c])) \ {t}
    IN  /\ At(t, "Withdraw")
        /\ Free(b)
        /\ UNCHANGED <<byte, roles>>
        /\ IF node[t].kind # "condvar" /\ ~Mutation("withdraw_though_notified")
           THEN IF me[t].cancels THEN CancelledLate(t) ELSE NotifiedBefore(t)
           ELSE /\ list' = left
                /\ node' = [node EXCEPT ![t].live = FALSE]
                /\ IF others = {}
                   THEN /\ waited' = IF Mutation("withdrawn_but_waited") THEN waited
                                     ELSE [waited EXCEPT ![c] = 0]
                        /\ Touch(c)
                   ELSE UNCHANGED <<waited, fault>>
                /\ me' = [me EXCEPT ![t].pc = "Notified",
                                    ![t].answer = IF me[t].cancels THEN @ ELSE "timeout"]
                /\ ghost' = [ghost EXCEPT
                     !.eligible = [n \in Threads |-> @[n] \ {t}]]
        /\ UNCHANGED <<setup, held, gone, program>>

(* A cancelled waiter that was notified becomes a notifier: it notifies the oldest waiter of its
   own series. *)
\* models locks/ondeck/src/condvar/cancel.rs cancel
PassOn(t) ==
    /\ At(t, "PassOn")
    /\ Go(t, "Take")
    /\ UNCHANGED <<setup, byte, roles, held, list, node, waited, gone, fault, program, ghost>>

(* A waiter that was told to compete, or whose deadline has passed, wants the mutex as any other thread does. One that
   was moved waits there. *)
\* models locks/ondeck/src/condvar/wait.rs relock
Notified(t) ==
    /\ At(t, "Notified")
    /\ LET told == Foreign(t) /\ me[t].cancels /\ Mutation("cancelled_while_the_notifier_has_it")
           runs == node[t].status = "compete" /\ ~(me[t].cancels /\ CancelledSleepsOn)
           competes == ~node[t].live \/ runs \/ told
       IN  /\ node' = [node EXCEPT ![t].live = ~competes]
           /\ Go(t, IF competes THEN "TryLock" ELSE "AtMutex")
    /\ UNCHANGED <<setup, byte, roles, held, list, waited, gone, fault, program, ghost>>

-----------------------------------------------------------------------------
(* Notifying. *)

(* The call is over, and the places after that. A cancelled waiter waits until its notifier has told or moved it. *)
Returned(t, places) ==
    /\ ghost' = CASE Is(t, "notify") -> [ghost EXCEPT !.over = @ \cup {t}]
                   [] me[t].count = 0 -> Dropped(t)
                   [] OTHER -> ghost
    /\ me' = [places EXCEPT
         ![t].pc = CASE Is(t, "notify") -> IF Script[t].inside THEN "Unlock" ELSE "Done"
                     [] Mutation("cancelled_while_the_notifier_has_it") -> "Notified"
                     [] node[t].status = "near" -> "LeaveNear"
                     [] OTHER -> "Wait",
         ![t].deadline = FALSE, ![t].count = 0, ![t].target = None, ![t].linked = FALSE, ![t].chosen = Nobody]

\* models locks/ondeck/src/condvar/notify.rs notify_one
\* models locks/ondeck/src/condvar/notify.rs notify_all
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
                   /\ Go(t, "Take")
    /\ UNCHANGED <<setup, byte, roles, held, list, node, waited, gone, program>>

ClearsLater == Mutation("waited_cleared_after_unlock")

From(t) == Bucket(Condvar(t))
Linked(t) == LinkedAt(From(t), "condvar", AddressOf[Condvar(t)])

(* What a notification may take: all, or the newest, or the oldest if that is overdue. A cancelled waiter takes the oldest of
   its series. *)
Choices(t) ==
    LET linked == Linked(t)
        series == me[Newest(linked)].series
    IN  CASE linked = <<>> -> {}
          [] Is(t, "wait") ->
                IF series = me[t].series \/ Mutation("passed_on_by_the_address_alone") THEN {<<Oldest(linked)>>} ELSE {}
          [] Most(t) = All \/ Mutation("notify_one_moves_all") -> {linked}
          [] OTHER -> {<<Newest(linked)>>} \cup (IF setup.overdue THEN {<<Oldest(linked)>>} ELSE {})

(* In one step, and with the waiters the condition variable's byte, while the condition variable certainly exists. *)
\* models locks/ondeck/src/condvar/notify.rs notify_those
Take(t) ==
    /\ At(t, "Take")
    /\ Free(From(t))
    /\ UNCHANGED <<byte, roles>>
    /\ IF Choices(t) = {}
       THEN Returned(t, me) /\ UNCHANGED <<list, node, waited, fault>>
       ELSE \E taken \in Choices(t) :
        LET them == Range(taken)
            passes == Is(t, "wait")
            by == IF passes THEN ghost.signal[t] ELSE t
        IN  /\ list' = [list EXCEPT ![From(t)] = SelectSeq(@, LAMBDA u : u \notin them)]
            /\ node' = [w \in Threads |-> IF w \in them THEN [node[w] EXCEPT !.kind = "taken"] ELSE node[w]]
            /\ me' = [me EXCEPT ![t].pc = "Deliver", ![t].taken = taken, ![t].count = Len(taken)]
            /\ ghost' = [ghost EXCEPT
                 !.signal = [u \in Threads |-> CASE u \in them -> by
                                                 [] passes /\ u = t -> Nobody
                                                 [] OTHER -> @[u]],
                 !.taken[by] = (@ \ {t}) \cup them,
                 !.eligible = [n \in Threads |-> @[n] \ them]]
            /\ IF (Range(Linked(t)) \subseteq them \/ Mutation("notify_forgets_the_others")) /\ ~ClearsLater
               THEN waited' = [waited EXCEPT ![Condvar(t)] = 0] /\ Touch(Condvar(t))
               ELSE UNCHANGED <<waited, fault>>
    /\ UNCHANGED <<setup, held, gone, program>>

(* The most waiters that are linked in one section. *)
Batch == 1

(* The bucket of the mutex to which it moves waiters, and whether it must link those before it goes on to its next waiter. *)
To(t) == Bucket(me[t].target)
Moves(t) == me[t].batch # <<>>
IsOther(t) == me[t].taken = <<>> \/ Target(Head(me[t].taken)) # me[t].target

(* A near waiter is told to compete, and may be gone by the next step. So is a parked one without a mutex, which is then woken:
   what it does next is not known here. *)
\* models locks/ondeck/src/condvar/notify.rs deliver
Tell(t) ==
    /\ At(t, "Deliver")
    /\ me[t].taken # <<>>
    /\ Moves(t) => ~IsOther(t)
    /\ LET w == Head(me[t].taken)
           runs == node[w].status = "near"
           rest == [me EXCEPT ![t].taken = Tail(@), ![t].target = Target(w)]
       IN  /\ runs \/ Foreign(w) \/ Len(me[t].batch) < Batch
           /\ fault' = IF node[w].live THEN fault ELSE fault \cup {"node"}
           /\ node' = IF runs \/ Foreign(w) THEN [node EXCEPT ![w].status = "compete"] ELSE node
           /\ me' = CASE runs -> rest
                      [] Foreign(w) -> [rest EXCEPT ![t].pc = "WakeForeign", ![t].chosen = w]
                      [] OTHER -> [rest EXCEPT ![t].batch = Append(@, w)]
    /\ UNCHANGED <<setup, byte, roles, held, list, waited, gone, program, ghost>>

\* models locks/ondeck/src/condvar/notify.rs deliver
WakeForeign(t) ==
    /\ At(t, "WakeForeign")
    /\ me' = Woken(me[t].chosen, [me EXCEPT ![t].pc = "Deliver", ![t].chosen = Nobody])
    /\ UNCHANGED <<setup, byte, roles, held, list, node, waited, gone, fault, program, ghost>>

(* Parked waiters are linked among the threads of their mutex. If others of that mutex follow, they are looked after with
   those. *)
\* models locks/ondeck/src/condvar/notify.rs link
Move(t) ==
    /\ At(t, "Deliver")
    /\ Moves(t)
    /\ Free(To(t))
    /\ LET others == ~IsOther(t) IN
        /\ others => Len(me[t].batch) = Batch /\ node[Head(me[t].taken)].status = "parked"
        /\ list' = [list EXCEPT ![To(t)] = @ \o me[t].batch]
        /\ node' = [w \in Threads |-> IF w \in Range(me[t].batch)
                                      THEN [node[w] EXCEPT !.kind = "lock", !.address = AddressOf[me[t].target]] ELSE node[w]]
        /\ fault' = IF \A w \in Range(me[t].batch) : node[w].live THEN fault ELSE fault \cup {"node"}
        /\ IF others
           THEN me' = [me EXCEPT ![t].batch = <<>>, ![t].linked = TRUE] /\ UNCHANGED held
           ELSE Go(t, "EndMoving") /\ held' = [held EXCEPT ![To(t)] = t]
    /\ UNCHANGED <<setup, byte, roles, waited, gone, program, ghost>>

(* The moved waiters are looked after. A single one is woken if the mutex was seen free. *)
EndMovingAs(t, isLocked) ==
    /\ At(t, "EndMoving")
    /\ LET a == AddressOf[me[t].target]
           moved == me[t].batch
           ends == [me EXCEPT ![t].batch = <<>>, ![t].linked = FALSE, ![t].target = None]
           looks == /\ ~Mutation("notify_wakes_no_thread")
                    /\ ~(Mutation("moved_waiter_is_left_to_the_owner") /\ isLocked)
           s == CASE ~looks -> Begun
                  [] Len(moved) = 1 /\ ~me[t].linked /\ ~isLocked -> Wake(Begun, a, moved[1])
                  [] OTHER -> LookAfter(Begun, a, LinkedAt(To(t), "lock", a))
       IN  \/ /\ Ended(s)
              /\ held' = [held EXCEPT ![To(t)] = Nobody]
              /\ me' = [ends EXCEPT ![t].chosen = s.wakes, ![t].pc = IF s.wakes = Nobody THEN "Deliver" ELSE "FutexWake"]
           \/ /\ looks /\ s.wakes # Nobody
              /\ roles' = [roles EXCEPT !.mode[a] = "debt"]
              /\ Go(t, "Lend")
              /\ UNCHANGED <<node, held>>
    /\ UNCHANGED <<setup, byte, list, waited, gone, fault, program, ghost>>
\* models locks/ondeck/src/condvar/notify.rs end
\* models locks/ondeck/src/mutex/roles.rs look_after_moved
EndMoving(t) == EndMovingAs(t, byte[me[t].target] = 1)

(* On one CPU: the debt is stored, and the heavy fence is made. If the mutex is locked, its owner will read the debt.
   The first look at the mutex is left out: what is done by it alone is done here whatever it shows. *)
LendAs(t, isLocked) ==
    /\ At(t, "Lend")
    /\ LET a == AddressOf[me[t].target]
           left == isLocked \/ Mutation("moved_waiter_left_to_no_owner")
           s == IF left THEN Begun ELSE LookAfter(Unasked(Begun, a), a, LinkedAt(To(t), "lock", a))
       IN  /\ Ended(s)
           /\ held' = [held EXCEPT ![To(t)] = Nobody]
           /\ me' = [me EXCEPT ![t].batch = <<>>, ![t].linked = FALSE, ![t].target = None,
                               ![t].chosen = s.wakes, ![t].pc = IF s.wakes = Nobody THEN "Deliver" ELSE "FutexWake"]
    /\ UNCHANGED <<setup, byte, list, waited, gone, fault, program, ghost>>
\* models locks/ondeck/src/mutex/roles.rs leave_to_owner
Lend(t) == LendAs(t, byte[me[t].target] = 1)

(* The wake uses an address only: the node may be gone. *)
\* models locks/ondeck/src/condvar/notify.rs end
FutexWake(t) ==
    /\ At(t, "FutexWake")
    /\ me' = Woken(me[t].chosen, [me EXCEPT ![t].pc = "Deliver", ![t].chosen = Nobody])
    /\ IF Mutation("notify_touches_a_freed_mutex") THEN Touch(MutexOf(me[t].chosen)) ELSE UNCHANGED fault
    /\ UNCHANGED <<setup, byte, roles, held, list, node, waited, gone, program, ghost>>

\* models nothing: the call returns
Return(t) ==
    /\ At(t, "Deliver")
    /\ me[t].taken = <<>> /\ ~Moves(t)
    /\ CASE ClearsLater -> Go(t, "ClearLate") /\ UNCHANGED ghost
         [] OTHER -> Returned(t, me)
    /\ UNCHANGED <<setup, byte, roles, held, list, node, waited, gone, fault, program>>

(* Not in the source: only a mutant does this. *)
\* models nothing: a mistake put in
ClearLate(t) ==
    /\ At(t, "ClearLate")
    /\ waited' = [waited EXCEPT ![Condvar(t)] = 0]
    /\ Touch(Condvar(t))
    /\ Returned(t, me)
    /\ UNCHANGED <<setup, byte, roles, held, list, node, gone, program>>

-----------------------------------------------------------------------------
Step(t) ==
    \/ TryLock(t) \/ Enter(t) \/ Sleep(t) \/ HeirTries(t) \/ HeirAsks(t) \/ Land(t) \/ Leave(t)
    \/ Unlock(t) \/ HandOver(t) \/ ReadMode(t) \/ Serve(t) \/ MutexWakes(t)
    \/ Section(t) \/ NextSection(t) \/ FreeIt(t)
    \/ Link(t) \/ Watch(t) \/ LeaveNear(t) \/ Wait(t) \/ WasMoved(t) \/ EndSleep(t)
    \/ TimeOut(t) \/ Cancel(t) \/ Withdraw(t) \/ PassOn(t) \/ Notified(t)
    \/ HasWaiters(t) \/ Take(t) \/ Tell(t) \/ WakeForeign(t) \/ Move(t) \/ EndMoving(t) \/ Lend(t) \/ FutexWake(t)
    \/ Return(t) \/ ClearLate(t)

NeverBegins(t) == Option(t, "later") /\ At(t, "TryLock") /\ ~IsThere(Condvar(t))
AllDone == \A t \in Threads : At(t, "Done") \/ NeverBegins(t)
\* models nothing: the end
Terminated == AllDone /\ UNCHANGED vars

Next == (\E t \in Threads : Step(t)) \/ Terminated

(* Threads run, deadlines pass. *)
Spec == Init /\ [][Next]_vars
        /\ \A t \in 1..4 : WF_vars(t \in Threads /\ Step(t))

-----------------------------------------------------------------------------
(* What must hold. *)

Inside(t) == Is(t, "notify") /\ Script[t].inside /\ t \notin ghost.over

Owns(t, m) ==
    /\ HasMutex(t)
    /\ Mutex(t) = m
    /\ \/ me[t].pc \in {"Leave", "Owner", "Unlock"}
       \/ At(t, "Link") /\ ~Mutation("linked_after_unlock")
       \/ node[t].live /\ node[t].status = "offered"
       \/ Inside(t) /\ me[t].pc \in {"HasWaiters", "Take", "Deliver", "WakeForeign", "EndMoving", "Lend", "FutexWake", "ClearLate"}

Exclusion == \A m \in Mutexes : Cardinality({t \in Threads : Owns(t, m)}) <= 1

(* At most one thread is the heir of a mutex, which the table names. *)
OneHeir ==
    \A w \in Threads : node[w].live /\ node[w].kind = "lock" /\ node[w].status \in {"heir", "offered"} <=>
        node[w].kind = "lock" /\ node[w].address \in Addresses /\ roles.heir[node[w].address] = w

(* A thread that is parked for a mutex is looked after: also one that a notification has moved there. *)
ParkedAreLookedAfter ==
    \A b \in Buckets : Free(b) => \A w \in Range(list[b]) :
        node[w].kind = "lock" /\ node[w].status = "parked" =>
            \/ roles.heir[node[w].address] # Nobody
            \/ roles.woken[node[w].address] # Nobody
            \/ roles.mode[node[w].address] = "debt"
            \/ \E n \in Threads : me[n].linked /\ AddressOf[me[n].target] = node[w].address

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
    \A n \in ghost.over : ghost.eligible[n] = {} \/ (Most(n) = 1 /\ ghost.taken[n] # {})

(* The same, for the end alone. *)
NoSignalIsLostAtLast ==
    (\A n \in Threads : Is(n, "notify") => n \in ghost.over) => NoSignalIsLost

(* A waiter that was linked after a call had returned does not have its signal. *)
NoSignalIsStolen == \A t \in Threads : ghost.signal[t] \notin ghost.before[t]

(* No more waiters are notified than the call asked for. *)
NoSignalIsDoubled ==
    \A n \in Threads : Is(n, "notify") => Cardinality(ghost.taken[n]) <= Most(n)

(* Nothing is left behind. *)
AtRest ==
    AllDone =>
        /\ \A b \in Buckets : list[b] = <<>> /\ Free(b)
        /\ \A a \in Addresses : roles.heir[a] = Nobody /\ roles.woken[a] = Nobody /\ roles.mode[a] = "quiet"
        /\ \A m \in Mutexes : byte[m] = 0
        /\ \A c \in Condvars : waited[c] = 0

EveryoneReturns == <>AllDone

(* A waiter that a signal took off returns, and says that it was notified. *)
SignalsArrive ==
    \A t \in 1..4 :
        (t \in Threads /\ node[t].live /\ ghost.signal[t] # Nobody)
            ~> (t \in Threads /\ At(t, "Owner") /\ me[t].answer = "notified")
=============================================================================
