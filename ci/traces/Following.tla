----------------------------- MODULE Following -----------------------------
(* How TLC follows traces of the source in a module. Module Traces, which ci/traces.sh makes, extends that module. It has
   in Traces a sequence of events for each run, and in Finished whether all threads of the run came to their ends.

   An event is <<what, thread, ...>>: one access of that thread, with the value that it read, or the beginning of a section
   of the bucket's lock, with all that it leaves in the table. It allows the steps of the module that are made by such an
   access, if they read that value and leave that table. A trace is accepted if steps take it to its end. *)
EXTENDS Traces, TLC

VARIABLES
    run,    \* which trace
    at,     \* its event that comes next
    last    \* the thread of the event before

Trace == Traces[run]
Thread == IF at <= Len(Trace) THEN Trace[at][2] ELSE last

(* The threads whose steps without an event the next event may need: its own, and one that it wakes, whose deadline may have
   passed before. Those of other threads are early enough later. *)
Concerned ==
    {Thread} \cup (IF at > Len(Trace) THEN {} ELSE IF Trace[at][1] = "wake" THEN {Trace[at][3]} ELSE {})

BeginRun == run \in 1..Len(Traces) /\ at = 1 /\ last = 1

(* The next event, and what it allows. *)
Event(Allows(_)) ==
    /\ at <= Len(Trace)
    /\ \E e \in {Trace[at]} : Allows(e) /\ last' = e[2]
    /\ at' = at + 1 /\ run' = run

(* A step without an event. *)
Between == UNCHANGED <<run, at, last>>

(* Whether the last event may have changed a byte, the word, a slot, a status or the table, or has a thread that owns
   something. The promises are evaluated only then, because they take most of the time. *)
HasChanged ==
    \/ at = 1
    \/ \E e \in {Trace[at - 1]} :
        \/ e[1] \in {"out", "clear", "word", "store", "tell", "waited", "got", "done"}
        \/ e[1] = "try" /\ e[4] = 0

(* How far each trace was followed. No trace is followed beyond its first end. *)
ASSUME \A number \in 1..Len(Traces) : TLCSet(number, 0)
NewUntil(atEnd) ==
    /\ TLCGet(run) <= Len(Trace)
    /\ at > TLCGet(run) => TLCSet(run, at)
    /\ at > Len(Trace) /\ (Finished[run] => atEnd) => PrintT(<<"accepted", run>>)
Farther(state) == at > TLCGet(run) => PrintT(<<"followed", run, at, state>>)
=============================================================================
