---------------------------- MODULE RwLockTrace ----------------------------
(* Whether traces of the reader-writer lock are behaviours of RwLock. Words of the lock are numbers.

   A section under the bucket's lock has an event at its begin and one at its end. Each access within the section is also
   an event. Two kinds of steps have no event: decisions of a thread without an access (Silent), and stores that leave a
   store buffer. Some events have no step and change nothing: a read before a compare-exchange, a compare-exchange that
   fails, a repeated read of a status, a search for visible readers before a bias begins or before an attempt. *)
EXTENDS Following

VARIABLES
    called, \* for each thread, the operation that it has called and not begun: "read", "write" or ""
    inside, \* the event of the section that has begun and not ended, or none
    owes    \* for each thread, the threads whose status it has changed and that it must still wake

Bit(is, value) == IF is THEN value ELSE 0
Number(w) ==
    Bit(w.writer, 1) + Bit(w.draining, 2) + Bit(w.parked, 8) + Bit(w.flight, 16) + Bit(w.asleep, 32) + Bit(w.biased, 64)
        + Bit(w.reserved, 128) + 256 * w.count

BeginTrace ==
    /\ Init /\ BeginRun
    /\ called = [t \in Threads |-> ""] /\ inside = <<>> /\ owes = [t \in Threads |-> {}]

Nothing == UNCHANGED vars
IsInside(t) == inside # <<>> /\ inside[2] = t

(* What t sees of a slot. *)
Slot(t, u) == IF t = u THEN OwnSlot(t) ELSE slot[u]

(* What t does without an access. *)
Silent(t) ==
    \/ called[t] = "write" /\ Begin(t) /\ want'[t] = "write"
    \/ Drain(t) /\ ~word.draining
    \/ Own(t) /\ UNCHANGED word
    \/ BeginSleep(t) /\ UNCHANGED sleepers
    \/ EndSleep(t) /\ UNCHANGED sleepers
    \/ Unlink(t) /\ UNCHANGED word

(* Where a thread reads the word only to change it, or to see whether that is worth it. *)
Reads(t) ==
    \/ pc[t] \in {"Attempt", "Park", "GiveMark", "Beside", "Counted", "Writes", "Scan", "BeginSleep", "LookAtLast",
                  "DrainerParks"}
    \/ pc[t] = "Asleep" /\ IsInside(t)

(* It has the lock, and its turn ends in a section of its own. *)
EndsTurn(t) == HasTurn(t) /\ pc[t] \in {"PassOn", "Counted", "Drain"}

(* Where a section may begin. *)
Begins(t) ==
    \/ pc[t] \in {"Wake", "WakeFailed", "Beside", "Writes", "Asleep", "DrainerSleeps", "Scan", "BeginSleep"}
    \/ pc[t] = "Attempt" /\ (mark[t] \/ word.reserved)
    \/ EndsTurn(t)

Matches(e, t) ==
    CASE e[1] = "call" -> pc[t] = "Idle" /\ Nothing
      [] e[1] = "load" ->
            /\ Number(word) = e[3]
            /\ \/ called[t] = "read" /\ Begin(t) /\ want'[t] = "read"
               \/ LookAgain(t) \/ PassOn(t) \/ Drain(t)
               \/ DrainerParks(t) /\ UNCHANGED drainer
               \/ Reads(t) /\ Nothing
      [] e[1] = "refused" -> Number(word) = e[3] /\ Reads(t) /\ Nothing
      [] e[1] = "word" ->
            /\ Number(word) = e[3]
            /\ IF IsInside(t)
               THEN \/ Park(t) \/ GiveMark(t) \/ Beside(t) \/ GiveBack(t) \/ DrainerParks(t)
                    \/ GiveUp(t) \/ LookItself(t) \/ Unlink(t) \/ DrainerGivesUp(t)
               ELSE /\ Attempt(t) \/ Bias(t) \/ ReaderLeaves(t) \/ GiveBack(t) \/ Own(t) \/ DrainerGivesUp(t)
                    /\ UNCHANGED queue
            /\ Number(word)' = e[4]
      [] e[1] = "slot" ->
            /\ Slot(t, e[3]) = e[4]
            /\ \/ pc[t] = "Publish" /\ e[3] = t /\ Nothing
               \/ pc[t] \in {"Attempt", "Counted"} /\ Nothing
               \/ e[3] \in left[t] /\ (\A u \in left[t] : e[3] <= u) /\ Scan(t)
      [] e[1] = "store" -> e[3] = t /\ (IF e[4] THEN Publish(t) ELSE Retract(t))
      [] e[1] = "asks" -> e[3] = Cardinality(sleepers) /\ LookForSleepingWriters(t)
      [] e[1] = "sleepers" ->
            /\ e[3] = Cardinality(sleepers)
            /\ BeginSleep(t) \/ EndSleep(t)
            /\ e[4] = Cardinality(sleepers')
      [] e[1] = "heavy" -> HeavyFence(t) \/ FenceBeforeSleep(t)
      [] e[1] = "in" ->
            \/ Attempt(t) /\ pc'[t] = "Park"
            \/ DrainerLooks(t)
            \/ Begins(t) /\ Nothing
      [] e[1] = "out" ->
            /\ IsInside(t)
            /\ CASE pc[t] \in {"Wake", "WakeFailed"} -> WakeDrainer(t)
                 [] EndsTurn(t) -> EndTurn(t)
                 [] OTHER -> DrainerLeaves(t) \/ Nothing
            /\ queue' = inside[3] /\ drainer' = inside[4] /\ turns' = inside[5]
      [] e[1] = "status" /\ e[3] # "parked" /\ told[t] = "" /\ pc[t] \notin {"Asleep", "DrainerSleeps"} ->
            \* It has left its sleep by the read before this one.
            Nothing
      [] e[1] = "status" ->
            CASE e[3] = "parked" -> pc[t] \in {"Asleep", "DrainerSleeps"} /\ Nothing
              [] e[3] = "chosen" -> told[t] # "" /\ Nothing
              [] e[3] = "done" -> told[t] = "has" /\ (Sleep(t) \/ DrainerSleeps(t))
              [] e[3] = "in flight" -> told[t] = "compete" /\ Sleep(t)
              [] e[3] = "compete" -> told[t] = "beside" /\ Sleep(t)
              [] OTHER -> FALSE
      [] e[1] = "sleep" -> pc[t] \in {"Asleep", "DrainerSleeps"} /\ Nothing
      [] e[1] = "wake" -> e[3] \in owes[t] /\ Nothing
      [] e[1] = "got" -> (Reading(t) \/ Writing(t)) /\ Nothing
      [] e[1] = "done" ->
            /\ called[t] = ""
            /\ (pc[t] = "Idle" /\ Nothing) \/ (GiveUp(t) /\ ~mark[t])
      [] OTHER -> FALSE

Tells == {t \in Threads : told'[t] \notin {told[t], ""}}
HasBegun(t) == IF pc[t] = "Idle" /\ pc'[t] # "Idle" THEN [called EXCEPT ![t] = ""] ELSE called

Allows(e) ==
    /\ owes[e[2]] = {} \/ e[1] \in {"out", "wake"}
    /\ Matches(e, e[2])
    /\ called' = IF e[1] = "call" THEN [called EXCEPT ![e[2]] = e[3]] ELSE HasBegun(e[2])
    /\ inside' = CASE e[1] = "in" -> e [] e[1] = "out" -> <<>> [] OTHER -> inside
    /\ owes' = [owes EXCEPT ![e[2]] = IF e[1] = "wake" THEN @ \ {e[3]} ELSE @ \cup Tells]

Follow ==
    \/ Event(Allows)
    \/ (\E t \in Concerned : Silent(t) /\ called' = HasBegun(t)) /\ UNCHANGED <<inside, owes>> /\ Between
    \/ (\E t \in Threads : Becomes(t)) /\ UNCHANGED <<called, inside, owes>> /\ Between

(* What holds in each state; evaluated where it may have become false. *)
Promises == Exclusion /\ NoThreadIsForgotten /\ ParkedIsExact /\ NothingIsLeft

(* No trace is followed beyond a state that breaks a promise. *)
IsNew == (HasChanged => Promises) /\ NewUntil(\A t \in Threads : pc[t] = "Idle" /\ rounds[t] = 0)
IsFarther == Farther(<<pc, word, slot, buffer, queue, drainer, told, mark, left, owes>>)
=============================================================================
