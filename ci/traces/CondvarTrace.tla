--------------------------- MODULE CondvarTrace ---------------------------
(* Whether traces of the condition variable are behaviours of Condvar. ScriptsOfRuns, of Traces, says what the threads of
   the runs do, and SetupsOfRuns which scenario and which layout each run has.

   Of the mutex this specification has larger steps than the source, and no clock. So a section of the mutex is what the
   trace says that it is, within the promises of the specification; MutexTrace follows its steps. The same holds for which
   parked thread a notification wakes, and for whether it relies on a thread that was woken long ago.

   A section of a bucket's lock has an event at its begin, with all that it leaves there, and one at its end. Steps without
   an event: what a thread decides without an access, and what it does under a bucket's lock unless other threads read it.
   Events without a step, which change nothing: attempts that fail, repeated reads, naps. *)
EXTENDS Following

VARIABLES
    script, \* what the threads of the run do; never changes
    inside, \* of each bucket, the event of the section that has begun and not ended, or none
    seen    \* of each thread, what a notification that looks after moved waiters has seen: the mutex's byte, its fence

ScenariosTraced == DOMAIN ScriptsOfRuns
ScriptTraced == script
BatchTraced == 16

BeginTrace ==
    /\ BeginRun
    /\ setup = [scenario |-> SetupsOfRuns[run][1], layout |-> SetupsOfRuns[run][2],
                asks |-> TRUE, overdue |-> TRUE, fair |-> TRUE, slices |-> TRUE]
    /\ script = ScriptsOfRuns[setup.scenario]
    /\ Init
    /\ inside = [b \in Buckets |-> <<>>] /\ seen = [t \in Threads |-> <<>>]

Nothing == UNCHANGED vars

(* The parts of the event of a section. *)
Queues(e) == e[4]
Heirs(e) == e[5]
WokenLast(e) == e[6]
Urgent(e) == e[7]
Mode(e) == e[8]
Statuses(e) == e[9]

IsIn(t, b) == inside[b] # <<>> /\ inside[b][2] = t
Within(b) == {a \in Addresses : BucketAt(a) = b}

(* The name that the source has for a status: a waiter without a mutex that slept is "done" once it is notified. A thread
   that is offered the mutex is parked and the heir before, in one section. *)
IsStatus(w, status) ==
    \/ status = node[w].status
    \/ Foreign(w) /\ status = "done" /\ node[w].status = "compete"
    \/ status \in {"parked", "heir"} /\ \E b \in Buckets : inside[b] # <<>> /\ <<w, "offered">> \in Statuses(inside[b])

(* The bucket is as the section has left it. *)
IsLeft(e, b) ==
    /\ \A a \in Within(b) :
        /\ SelectSeq(list[b], LAMBDA w : node[w].address = a) = Queues(e)[a]
        /\ roles.heir[a] = Heirs(e)[a] /\ roles.woken[a] = WokenLast(e)[a]
    /\ Urgent(e) = {}
    /\ \A a \in Within(b) : roles.mode[a] = Mode(e)[a]
    /\ \A is \in Statuses(e) : node[is[1]].status = is[2]

(* A notification wakes the thread that the trace says, if no thread is responsible, or only one that was woken before. *)
LookAfterTraced(s, a, queue) ==
    LET parked == {w \in Range(queue) : s.node[w].status = "parked"}
        woken == WokenLast(inside[BucketAt(a)])[a]
    IN  IF s.roles.heir[a] # Nobody \/ IsAsked(s, a) \/ parked = {} THEN s
        ELSE IF woken \in parked THEN Wake(s, a, woken)
        ELSE IF s.roles.woken[a] # Nobody THEN s
        ELSE Wake(s, a, Oldest(queue))

-----------------------------------------------------------------------------
(* The mutex. *)

(* An attempt of a thread that waits for the mutex, or of one that has unlocked it and is to offer it. *)
Tries(t) ==
    /\ me[t].pc \in {"Enter", "AtMutex", "Serve"}
    /\ IF byte[Mutex(t)] = 1 THEN Nothing
       ELSE /\ byte' = [byte EXCEPT ![Mutex(t)] = 1]
            /\ Go(t, CASE At(t, "Enter") -> "Owner" [] At(t, "AtMutex") -> "Leave" [] OTHER -> "Serve")
            /\ UNCHANGED <<setup, roles, held, list, node, waited, gone, fault, program, ghost>>

(* The threads that a section of t has woken, or offered the mutex. A thread that becomes the heir inherits an offer. *)
WokenBy(e, t) ==
    {w \in Threads \ {t} : \E status \in {"woken", "offered"} : <<w, status>> \in Statuses(e) /\ node[w].status # status}

(* The section of t, of the bucket of its mutex. *)
MutexSection(t) ==
    LET m == Mutex(t)
        b == Bucket(m)
        e == inside[b]
        wakes == WokenBy(e, t)
        chosen == IF wakes = {} THEN Nobody ELSE CHOOSE w \in wakes : TRUE
        linked == IF At(t, "Enter") THEN Append(list[b], t)
                  ELSE IF At(t, "Leave") THEN SelectSeq(list[b], LAMBDA w : w # t) ELSE list[b]
        is(w) == (CHOOSE status \in Statuses(e) : status[1] = w)[2]
        new == [w \in Threads |->
                 IF w = t /\ At(t, "Enter") THEN [kind |-> "lock", address |-> AddressOf[m], status |-> is(t), live |-> TRUE]
                 ELSE IF w = t /\ At(t, "Leave") THEN [node[t] EXCEPT !.live = FALSE]
                 ELSE IF w \in Range(list[b]) /\ node[w].kind = "lock" THEN [node[w] EXCEPT !.status = is(w)]
                 ELSE node[w]]
    IN  /\ HasMutex(t) /\ IsIn(t, b) /\ Cardinality(wakes) <= 1
        /\ {status[1] : status \in Statuses(e)} = Range(linked)
        /\ list' = [list EXCEPT ![b] = linked]
        /\ node' = new
        /\ roles' = [heir |-> [a \in Within(b) |-> Heirs(e)[a]] @@ roles.heir,
                     woken |-> [a \in Within(b) |-> WokenLast(e)[a]] @@ roles.woken,
                     mode |-> [a \in Within(b) |-> Mode(e)[a]] @@ roles.mode]
        /\ CASE At(t, "Enter") -> Go(t, "AtMutex") /\ wakes = {} /\ UNCHANGED program
             [] At(t, "AtMutex") -> me' = [me EXCEPT ![t].chosen = chosen] /\ UNCHANGED program
             [] At(t, "Leave") -> Go(t, "Owner") /\ wakes = {} /\ UNCHANGED program
             [] At(t, "Serve") ->
                    /\ me' = [me EXCEPT ![t].pc = IF wakes = {} THEN Then(t) ELSE "UnlockWakes", ![t].chosen = chosen]
                    /\ UNCHANGED program
             [] At(t, "Unlock") -> wakes # {} /\ Leaving(t, "UnlockWakes", chosen)
             [] OTHER -> FALSE
        /\ UNCHANGED <<setup, byte, held, waited, gone, fault, ghost>>

(* After the store of an unlock. A second read may show that another unlock has served the request. *)
ReadsMode(t) ==
    \/ ReadMode(t)
    \/ me[t].pc \in {"Unlock", "Serve"} /\ Nothing
    \/ /\ At(t, "Serve") /\ ~IsAsked(Begun, AddressOf[Mutex(t)]) /\ Go(t, Then(t))
       /\ UNCHANGED <<setup, byte, roles, held, list, node, waited, gone, fault, program, ghost>>

-----------------------------------------------------------------------------

(* A single moved waiter is looked after by the first byte that is read, one that may be left to the owner by the byte that
   is read after the fence. *)
Fence == 2
Looks(t) == EndMovingAs(t, seen[t] = <<1>>) /\ (Len(me[t].batch) = 1 => seen[t] # <<>>)
Lends(t) == Len(seen[t]) = 2 /\ LendAs(t, seen[t] = <<Fence, 1>>)

(* What t does without an access, or under a bucket's lock. *)
Silent(t) ==
    \/ MutexSection(t)
    \/ node[t].status \in {"offered", "compete"} /\ Sleep(t)
    \/ NextSection(t) \/ FreeIt(t)
    \/ Watch(t) \/ LeaveNear(t) \/ Wait(t) \/ EndSleep(t) \/ TimeOut(t) \/ PassOn(t) \/ Notified(t)
    \/ ~Is(t, "lock") /\ IsIn(t, From(t)) /\ (Withdraw(t) \/ Take(t)) /\ UNCHANGED waited
    \/ Is(t, "wait") /\ IsIn(t, Bucket(MutexOf(t))) /\ WasMoved(t)
    \/ Return(t)
    \/ (Looks(t) \/ Lends(t)) /\ UNCHANGED node

(* Where a notification changes a status. *)
Tells == {"Deliver", "EndMoving", "Lend"}

Told(t, w, status) ==
    CASE At(t, "Deliver") ->
            /\ me[t].taken # <<>> /\ Head(me[t].taken) = w
            /\ CASE status = "compete" -> node[w].status = "near" /\ Tell(t)
                 [] status = "refused" -> node[w].status # "near" /\ IF Foreign(w) THEN Nothing ELSE Tell(t)
                 [] status = "done" -> Foreign(w) /\ node[w].status # "near" /\ Tell(t)
                 [] OTHER -> FALSE
      [] me[t].pc \in {"EndMoving", "Lend"} -> status = "woken" /\ (Looks(t) \/ Lends(t)) /\ node'[w].status = "woken" /\ node' # node
      [] OTHER -> me[t].pc \notin Tells /\ status \in {"woken", "heir", "offered", "parked"} /\ Nothing

Matches(e, t) ==
    CASE e[1] = "try" -> Mutex(t) = e[3] /\ byte[e[3]] = e[4] /\ (TryLock(t) \/ Tries(t))
      [] e[1] = "read" ->
            /\ byte[e[3]] = e[4] /\ e[3] \notin gone /\ Nothing
            /\ CASE At(t, "EndMoving") -> me[t].target = e[3]
                 [] At(t, "Lend") -> me[t].target = e[3]
                 [] OTHER -> me[t].pc \in {"Enter", "AtMutex"} /\ Mutex(t) = e[3]
      [] e[1] = "clear" -> Mutex(t) = e[3] /\ Unlock(t)
      [] e[1] = "mode" -> (\A a \in Within(e[3]) : roles.mode[a] = e[4][a]) /\ ReadsMode(t)
      [] e[1] = "waiters" -> Condvar(t) = e[3] /\ waited[e[3]] = e[4] /\ HasWaiters(t)
      [] e[1] = "waited" ->
            /\ Condvar(t) = e[3]
            /\ IF e[4] = 1 THEN IsIn(t, From(t)) /\ Link(t)
               ELSE /\ IsIn(t, From(t)) /\ (Take(t) \/ Withdraw(t))
                    /\ waited[e[3]] = 1 /\ waited'[e[3]] = 0
      [] e[1] = "in" ->
            CASE At(t, "Take") -> e[3] = From(t) /\ Nothing
              [] At(t, "Deliver") -> e[3] = To(t) /\ Move(t) /\ At(t, "EndMoving")'
              [] OTHER -> Nothing
      [] e[1] = "out" ->
            me[t].pc \notin {"Take", "EndMoving", "Lend"} /\ Nothing
      [] e[1] = "status" -> IsStatus(t, e[3]) /\ Nothing
      [] e[1] = "tell" -> Told(t, e[3], e[4])
      [] e[1] \in {"fence", "heavy"} -> Nothing
      [] e[1] = "sleep" ->
            \/ Wait(t) /\ At(t, "WaitAsleep")'
            \/ me[t].pc \in {"WaitAsleep", "AtMutex"} /\ node[t].status \in {"parked", "heir"} /\ Nothing
      [] e[1] = "wake" ->
            CASE At(t, "FutexWake") -> me[t].chosen = e[3] /\ FutexWake(t)
              [] At(t, "WakeForeign") -> me[t].chosen = e[3] /\ WakeForeign(t)
              [] At(t, "UnlockWakes") -> me[t].chosen = e[3] /\ MutexWakes(t)
              [] At(t, "AtMutex") ->
                    /\ me[t].chosen = e[3]
                    /\ me' = Woken(e[3], [me EXCEPT ![t].chosen = Nobody])
                    /\ UNCHANGED <<setup, byte, roles, held, list, node, waited, gone, fault, program, ghost>>
              [] OTHER -> FALSE
      [] e[1] = "got" -> me[t].answer = e[3] /\ Section(t)
      [] e[1] = "notified" ->
            /\ t \in ghost.over /\ Nothing
            /\ \/ Cardinality(ghost.taken[t]) = e[3]
               \/ Cardinality(ghost.taken[t]) < e[3] /\ \E w \in Waiters(Condvar(t)) : me[w].cancels
      [] e[1] = "cancel" -> Cancel(t)
      [] e[1] = "done" -> At(t, "Done") /\ Nothing
      [] OTHER -> FALSE

(* What a notification has seen after this event. *)
Sees(e, t) ==
    CASE e[1] = "read" /\ At(t, "EndMoving") -> <<e[4]>>
      [] e[1] = "heavy" /\ At(t, "Lend") -> <<Fence>>
      [] e[1] = "read" /\ At(t, "Lend") /\ seen[t] = <<Fence>> -> <<Fence, e[4]>>
      [] e[1] = "in" -> <<>>
      [] OTHER -> seen[t]

Allows(e) ==
    /\ At(e[2], "AtMutex") /\ me[e[2]].chosen # Nobody => e[1] \in {"tell", "out", "wake"}
    /\ e[1] = "out" => IsIn(e[2], e[3]) /\ IsLeft(inside[e[3]], e[3])
    /\ Matches(e, e[2])
    /\ script' = script
    /\ inside' = CASE e[1] = "in" -> [inside EXCEPT ![e[3]] = e] [] e[1] = "out" -> [inside EXCEPT ![e[3]] = <<>>] [] OTHER -> inside
    /\ seen' = [seen EXCEPT ![e[2]] = Sees(e, e[2])]

(* The threads whose sections the next event may see from outside, and those that may have parked before it: the one whose
   status it changes, and those that the end of a section finds parked. *)
Seen ==
    IF at > Len(Trace) THEN {}
    ELSE IF Trace[at][1] = "tell" THEN {Trace[at][3]}
    ELSE IF Trace[at][1] = "out" THEN {w \in Threads : node[w].status = "near" /\ inside[Trace[at][3]] # <<>>
                                                         /\ <<w, "parked">> \in Statuses(inside[Trace[at][3]])}
    ELSE IF Trace[at][1] \in {"mode", "status"} THEN {inside[b][2] : b \in {b \in Buckets : inside[b] # <<>>}} ELSE {}

(* What holds in each state; evaluated where it may have become false. *)
Promises ==
    /\ Exclusion /\ OneHeir /\ ParkedAreLookedAfter /\ NothingFreedIsTouched /\ LinkedNodesAreLive /\ AnswersAreTrue
    /\ NoSignalIsLost /\ NoSignalIsStolen /\ NoSignalIsDoubled /\ AtRest

Follow ==
    \/ Event(Allows)
    \/ (\E t \in Concerned \cup Seen : Silent(t)) /\ UNCHANGED <<script, inside, seen>> /\ Between

(* No trace is followed beyond a state that breaks a promise. *)
IsNew == (HasChanged => Promises) /\ NewUntil(AllDone)
IsFarther == Farther(<<me, roles, list, node, waited, held, byte, inside, seen>>)
=============================================================================
