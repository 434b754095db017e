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

BeginRun == run \in 1..Len(Traces) /\ at = 1 /\ last = 1

(* The next event, and what it allows. *)
Event(Allows(_)) ==
    /\ at <= Len(Trace)
    /\ \E e \in {Trace[at]} : Allows(e) /\ last' = e[2]
    /\ at' = at + 1 /\ run' = run

(* A step without an event. *)
Between == UNCHANGED <<run, at, last>>

(* How far each trace was followed. No trace is followed beyond its first end. *)
ASSUME \A number \in 1..Len(Traces) : TLCSet(number, 0)
NewUntil(atEnd) ==
    /\ TLCGet(run) <= Len(Trace)
    /\ at > TLCGet(run) => TLCSet(run, at)
    /\ at > Len(Trace) /\ (Finished[run] => atEnd) => PrintT(<<"accepted", run>>)
Farther(state) == at > TLCGet(run) => PrintT(<<"followed", run, at, state>>)
=============================================================================
