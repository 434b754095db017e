---------------------------- MODULE MutexTrace ----------------------------
(* Whether traces of the mutex are behaviours of Mutex. PlaysTraced, of Traces, says what the threads of the runs lock.

   Steps without an event: a section, at any moment from its beginning to its end; what a thread decides without an access
   (Silent); the stores of a buffer that become visible. TLC follows them only where the next event may need them, and so a
   quarter of the states. Events without a step, which change nothing: a section that leaves the table as it was, where a
   thread has looked at a clock or at its own status only; further reads of a status or of a mode; a nap. *)
EXTENDS Following

VARIABLE
    open    \* the section of the bucket's lock that has begun and is yet to be made: its event, or none

BeginTrace == Init /\ BeginRun /\ open = <<>>

Nothing == UNCHANGED vars

(* Whether the next event is of this kind, or none is left. *)
NextIs(kinds) == IF at > Len(Trace) THEN TRUE ELSE Trace[at][1] \in kinds

(* What t does without an access, or by one that the event after shows. An heir whose deadline has passed does not sleep, and
   enters the section in which it leaves. *)
Silent(t) == Left(t) \/ TimeOut(t) \/ (AskSleep(t) /\ (mem.status[t] # "heir" \/ NextIs({"in"})))

(* The same by an access that the event before or after shows, or that takes time. *)
Beside(t) == AskHeavy(t) \/ ((ReadHand(t) \/ Look(t)) /\ Mode(t) = "quiet")

(* Whether a store that t has buffered may have to become visible before the next event: one that the event reads, or any,
   if the event waits for an empty buffer. *)
MustDrain(t) ==
    IF at > Len(Trace) THEN TRUE
    ELSE \E e \in {Trace[at]} :
        \/ e[1] = "heavy"
        \/ e[2] = t /\ e[1] \notin {"call", "clear", "mode", "status", "got", "done"}
        \/ e[2] # t /\ \E i \in 1..Len(buf[t]) :
            CASE buf[t][i][1] = "byte" -> e[1] \in {"try", "read"} /\ buf[t][i][2] = e[3]
              [] buf[t][i][1] = "mode" -> e[1] = "mode"
              [] buf[t][i][1] = "status" -> buf[t][i][2] = e[2]
              [] OTHER -> TRUE

(* The call of t returns. No thread of the runs frees a mutex. *)
Returns(t) ==
    /\ At(t, "Finish")
    /\ me' = [me EXCEPT ![t] = IF me[t].call = Len(Plays[t]) THEN [Idle EXCEPT !.pc = "Done", !.call = me[t].call]
                               ELSE [Idle EXCEPT !.call = me[t].call + 1]]
    /\ UNCHANGED <<mem, buf, table, program>>

Sections(t) ==
    \/ Enter(t) \/ Ask(t) \/ GoFirst(t) \/ Rescue(t) \/ Land(t) \/ Leave(t) \/ HandOver(t) \/ HandFair(t)
    \/ Serve(t)

(* The table after a section of t. *)
Leaves(t, queues, heirs, woken, urgent, mode, statuses) ==
    /\ table'.heir = heirs /\ table'.woken = woken /\ table'.urgent = urgent
    /\ \A a \in Addresses : SelectSeq(table'.queue, LAMBDA u : Here(u) = a) = queues[a]
    /\ \A a \in Addresses : Read(t, "mode", a)' = mode[a]
    /\ \A is \in statuses : Read(t, "status", is[1])' = is[2]

(* The section of t. *)
Made(e, t) ==
    /\ Sections(t) \/ Nothing
    /\ Leaves(t, e[3], e[4], e[5], e[6], e[7], e[8])

Matches(e, t) ==
    CASE e[1] = "call" -> At(t, "Call") /\ Nothing
      [] e[1] = "try" ->
            /\ Here(t) = e[3] /\ mem.byte[e[3]] = e[4]
            \* An unlock that is to offer the lock may find that another thread has locked it.
            /\ TryLock(t) \/ ArriveTry(t) \/ PollTry(t) \/ LandTry(t) \/ AskTry(t) \/ (At(t, "Serve") /\ e[4] = 1 /\ Nothing)
      [] e[1] = "read" -> Here(t) = e[3] /\ mem.byte[e[3]] = 1 /\ AskTry(t)
      [] e[1] = "in" -> Nothing
      [] e[1] = "out" -> open = <<>> /\ (IF mem.guard[0] = t THEN Unguard(t) ELSE Nothing)
      [] e[1] = "clear" -> Here(t) = e[3] /\ Release(t)
      [] e[1] = "mode" ->
            /\ Mode(t) = e[3][Here(t)]
            /\ ReadModeBefore(t) \/ ReadHand(t) \/ ReadModeAfter(t) \/ Look(t)
                \/ (At(t, "Look") /\ Nothing)
      [] e[1] = "status" -> Status(t) = e[3] /\ (Poll(t) \/ Told(t) \/ AskWoken(t) \/ Nothing)
      [] e[1] = "fence" -> AskFence(t)
      [] e[1] = "heavy" -> AskHeavyMade(t)
      [] e[1] = "sleep" ->
            \/ Sleep(t)
            \/ mem.status[t] = "heir" /\ (AskSleep(t) \/ (At(t, "Wait") /\ Nothing))
      [] e[1] = "wake" -> me[t].wakes = e[3] /\ FutexWake(t)
      [] e[1] = "got" -> At(t, IF e[3] THEN "Unlock" ELSE "Finish") /\ Nothing
      [] e[1] = "done" -> Returns(t)
      [] OTHER -> FALSE

(* A section of t is made when an unlock locks again in it, in order to offer the lock. *)
LocksAgain(e, t) ==
    /\ e[1] = "try" /\ e[4] = 0
    /\ At(t, "Serve") /\ Here(t) = e[3] /\ mem.byte[e[3]] = 0
    /\ open # <<>> /\ Made(open[1], t)

Allows(e) ==
    \/ Matches(e, e[2]) /\ open' = IF e[1] = "in" THEN <<e>> ELSE open
    \/ LocksAgain(e, e[2]) /\ open' = <<>>

Follow ==
    \/ Event(Allows)
    \/ /\ open # <<>> /\ NextIs({"out", "mode", "status", "sleep"})
       /\ (\E e \in {open[1]} : Made(e, e[2])) /\ open' = <<>> /\ Between
    \/ /\ \/ \E t \in Concerned : Silent(t)
          \/ \E t \in {last, Thread} : Beside(t)
          \/ \E t \in Threads : MustDrain(t) /\ Drain(t)
       /\ UNCHANGED open /\ Between

(* What holds in each state; evaluated where it may have become false. *)
Promises ==
    /\ Exclusion /\ OneHeir /\ ParkedAreLookedAfter /\ DebtsHaveDebtors /\ SleepingHeirsAreSeen /\ NothingFreedIsTouched
    /\ ModeIsOfTheLinked /\ NothingIsLeft

(* No trace is followed beyond a state that breaks a promise. *)
IsNew == (HasChanged => Promises) /\ NewUntil(\A t \in Threads : At(t, "Done"))
IsFarther == Farther(<<me, table, mem, buf>>)
=============================================================================
