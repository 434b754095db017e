--------------------------- MODULE ThreeStateFutex ---------------------------
(* The three-state futex mutex: Ulrich Drepper, "Futexes Are Tricky", mutex2,  *)
(* as in crates/ondeck-zoo/src/locks/three_state_futex.rs.                     *)
(*                                                                             *)
(* word: 0 unlocked, 1 locked and no thread sleeps, 2 locked and a thread may  *)
(* sleep.                                                                      *)
(*                                                                             *)
(* The futex: a wait compares the word and puts the thread to sleep in one     *)
(* step. A wake takes any one of the sleeping threads. Any thread may be woken *)
(* without a reason.                                                           *)
(*                                                                             *)
(* Lifetimes are as in C: each thread locks Rounds times and notes in its last *)
(* section that it does not need the lock any more. The last thread to note    *)
(* this frees the lock after its own unlock. Others may not have returned from *)
(* their unlocks by then. What they still do with the address must not read or *)
(* write: NoTouchAfterRelease.                                                 *)
(*                                                                             *)
(* Fairness: a thread that can go on does so at some time (weak fairness).     *)
(* That is enough for all threads to get the lock only because each locks      *)
(* Rounds times. Otherwise a thread that barges in may do so for ever, as      *)
(* starvation.cfg shows with Rounds = 0, "without end". A wake without a       *)
(* reason need never happen, so no property can rest on one.                   *)
(*                                                                             *)
(* Left out: try_lock, which is Attempt and nothing more; deadlines, which     *)
(* this lock does not have; weak memory: all threads see each step at once.    *)
(* Drepper's paper argues in prose and has no model.                           *)
EXTENDS Integers, FiniteSets

CONSTANTS
    N,      \* how many threads
    Rounds, \* how often each locks; 0: without end, and no thread frees
    Mutant  \* which mistake is put in; "none" for none

Threads == 1..N

(* --algorithm ThreeStateFutex
variables
    word = 0;
    asleep = {};
    users = N;
    freed = FALSE;
    touched = FALSE;

define
    Owns(t) == pc[t] \in {"Section", "Subtract", "Free"}
    WantsIt(t) == pc[t] \in {"Attempt", "Mark", "Wait", "Asleep"}

    MutualExclusion == \A a, b \in Threads : Owns(a) /\ Owns(b) => a = b

    \* No thread uses the lock's memory once it is freed.
    NoTouchAfterRelease == ~touched

    \* Why no thread is forgotten: the owner knows, or a wake is on its way, or a woken thread is awake
    \* and will leave a 2 behind.
    NoLostWakeup ==
        asleep # {} =>
            \/ word = 2
            \/ \E t \in Threads : pc[t] \in {"Free", "Wake", "Mark"}
            \/ \E t \in Threads \ asleep : pc[t] = "Asleep"

    NoDeadlock ==
        (\A t \in Threads : pc[t] = "Done" \/ t \in asleep) => asleep = {}

    \* Not true, and no harm: that it fails shows that a late wake is among the behaviours that were checked.
    NoWakeOfFreedMemory == ~(freed /\ \E t \in Threads : pc[t] = "Wake")

    EveryWaiterGetsTheLock == \A t \in Threads : WantsIt(t) ~> Owns(t)
end define;

\* A step that reads or writes the word.
macro touch() begin
    touched := touched \/ freed;
end macro;

fair process thread \in Threads
variables
    round = 0;
    last = FALSE;
begin
    \* models crates/ondeck-zoo/src/locks/three_state_futex.rs lock
    Attempt:
        touch();
        if word = 0 then
            word := 1;
            goto Section;
        end if;

    \* models crates/ondeck-zoo/src/locks/three_state_futex.rs lock_slow
    Mark:
        touch();
        if word = 0 then
            word := IF Mutant = "woken_takes_as_one" THEN 1 ELSE 2;
            goto Section;
        else
            word := 2;
        end if;

    \* models crates/ondeck-zoo/src/locks/three_state_futex.rs lock_slow
    Wait:
        touch();
        if word = 2 \/ Mutant = "sleeps_without_compare" then
            asleep := asleep \union {self};
        end if;

    \* models nothing: the thread returns from the kernel when it has been woken, or never slept
    Asleep:
        await self \notin asleep;
        if Mutant = "woken_owns" then
            goto Section;
        else
            goto Mark;
        end if;

    \* models nothing: what the caller does with the lock
    Section:
        if Rounds > 0 then
            round := round + 1;
            if round = Rounds then
                users := users - 1;
                last := users = 0;
            end if;
        end if;

    \* models crates/ondeck-zoo/src/locks/three_state_futex.rs unlock
    Subtract:
        touch();
        word := word - 1;
        if word = 0 then
            goto Return;
        elsif Mutant = "wakes_before_store" then
            goto Wake;
        end if;

    \* models crates/ondeck-zoo/src/locks/three_state_futex.rs unlock
    Free:
        touch();
        word := 0;
        if Mutant = "wakes_before_store" then
            goto Return;
        end if;

    \* models crates/ondeck-zoo/src/locks/three_state_futex.rs unlock
    Wake:
        if Mutant = "looks_before_wake" then
            touch();
        end if;
        if asleep # {} /\ Mutant # "unlock_does_not_wake" then
            with woken \in asleep do
                asleep := asleep \ {woken};
            end with;
        end if;
        if Mutant = "wakes_before_store" then
            goto Free;
        end if;

    \* models nothing: the caller frees the lock, ends, or comes again
    Return:
        if last then
            freed := TRUE;
        end if;
        if Rounds = 0 \/ round < Rounds then
            goto Attempt;
        end if;
end process;

process machine = 0
begin
    \* models nothing: a signal, or a wake meant for an earlier user of the address
    WakeForNothing:
        while TRUE do
            with woken \in asleep do
                asleep := asleep \ {woken};
            end with;
        end while;
end process;
end algorithm; *)
\* BEGIN TRANSLATION
VARIABLES word, asleep, users, freed, touched, pc

(* define statement *)
Owns(t) == pc[t] \in {"Section", "Subtract", "Free"}
WantsIt(t) == pc[t] \in {"Attempt", "Mark", "Wait", "Asleep"}

MutualExclusion == \A a, b \in Threads : Owns(a) /\ Owns(b) => a = b


NoTouchAfterRelease == ~touched



NoLostWakeup ==
    asleep # {} =>
        \/ word = 2
        \/ \E t \in Threads : pc[t] \in {"Free", "Wake", "Mark"}
        \/ \E t \in Threads \ asleep : pc[t] = "Asleep"

NoDeadlock ==
    (\A t \in Threads : pc[t] = "Done" \/ t \in asleep) => asleep = {}


NoWakeOfFreedMemory == ~(freed /\ \E t \in Threads : pc[t] = "Wake")

EveryWaiterGetsTheLock == \A t \in Threads : WantsIt(t) ~> Owns(t)

VARIABLES round, last

vars == << word, asleep, users, freed, touched, pc, round, last >>

ProcSet == (Threads) \cup {0}

Init == (* Global variables *)
        /\ word = 0
        /\ asleep = {}
        /\ users = N
        /\ freed = FALSE
        /\ touched = FALSE
        (* Process thread *)
        /\ round = [self \in Threads |-> 0]
        /\ last = [self \in Threads |-> FALSE]
        /\ pc = [self \in ProcSet |-> CASE self \in Threads -> "Attempt"
                                        [] self = 0 -> "WakeForNothing"]

Attempt(self) == /\ pc[self] = "Attempt"
                 /\ touched' = (touched \/ freed)
                 /\ IF word = 0
                       THEN /\ word' = 1
                            /\ pc' = [pc EXCEPT ![self] = "Section"]
                       ELSE /\ pc' = [pc EXCEPT ![self] = "Mark"]
                            /\ word' = word
                 /\ UNCHANGED << asleep, users, freed, round, last >>

Mark(self) == /\ pc[self] = "Mark"
              /\ touched' = (touched \/ freed)
              /\ IF word = 0
                    THEN /\ word' = (IF Mutant = "woken_takes_as_one" THEN 1 ELSE 2)
                         /\ pc' = [pc EXCEPT ![self] = "Section"]
                    ELSE /\ word' = 2
                         /\ pc' = [pc EXCEPT ![self] = "Wait"]
              /\ UNCHANGED << asleep, users, freed, round, last >>

Wait(self) == /\ pc[self] = "Wait"
              /\ touched' = (touched \/ freed)
              /\ IF word = 2 \/ Mutant = "sleeps_without_compare"
                    THEN /\ asleep' = (asleep \union {self})
                    ELSE /\ TRUE
                         /\ UNCHANGED asleep
              /\ pc' = [pc EXCEPT ![self] = "Asleep"]
              /\ UNCHANGED << word, users, freed, round, last >>

Asleep(self) == /\ pc[self] = "Asleep"
                /\ self \notin asleep
                /\ IF Mutant = "woken_owns"
                      THEN /\ pc' = [pc EXCEPT ![self] = "Section"]
                      ELSE /\ pc' = [pc EXCEPT ![self] = "Mark"]
                /\ UNCHANGED << word, asleep, users, freed, touched, round, 
                                last >>

Section(self) == /\ pc[self] = "Section"
                 /\ IF Rounds > 0
                       THEN /\ round' = [round EXCEPT ![self] = round[self] + 1]
                            /\ IF round'[self] = Rounds
                                  THEN /\ users' = users - 1
                                       /\ last' = [last EXCEPT ![self] = users' = 0]
                                  ELSE /\ TRUE
                                       /\ UNCHANGED << users, last >>
                       ELSE /\ TRUE
                            /\ UNCHANGED << users, round, last >>
                 /\ pc' = [pc EXCEPT ![self] = "Subtract"]
                 /\ UNCHANGED << word, asleep, freed, touched >>

Subtract(self) == /\ pc[self] = "Subtract"
                  /\ touched' = (touched \/ freed)
                  /\ word' = word - 1
                  /\ IF word' = 0
                        THEN /\ pc' = [pc EXCEPT ![self] = "Return"]
                        ELSE /\ IF Mutant = "wakes_before_store"
                                   THEN /\ pc' = [pc EXCEPT ![self] = "Wake"]
                                   ELSE /\ pc' = [pc EXCEPT ![self] = "Free"]
                  /\ UNCHANGED << asleep, users, freed, round, last >>

Free(self) == /\ pc[self] = "Free"
              /\ touched' = (touched \/ freed)
              /\ word' = 0
              /\ IF Mutant = "wakes_before_store"
                    THEN /\ pc' = [pc EXCEPT ![self] = "Return"]
                    ELSE /\ pc' = [pc EXCEPT ![self] = "Wake"]
              /\ UNCHANGED << asleep, users, freed, round, last >>

Wake(self) == /\ pc[self] = "Wake"
              /\ IF Mutant = "looks_before_wake"
                    THEN /\ touched' = (touched \/ freed)
                    ELSE /\ TRUE
                         /\ UNCHANGED touched
              /\ IF asleep # {} /\ Mutant # "unlock_does_not_wake"
                    THEN /\ \E woken \in asleep:
                              asleep' = asleep \ {woken}
                    ELSE /\ TRUE
                         /\ UNCHANGED asleep
              /\ IF Mutant = "wakes_before_store"
                    THEN /\ pc' = [pc EXCEPT ![self] = "Free"]
                    ELSE /\ pc' = [pc EXCEPT ![self] = "Return"]
              /\ UNCHANGED << word, users, freed, round, last >>

Return(self) == /\ pc[self] = "Return"
                /\ IF last[self]
                      THEN /\ freed' = TRUE
                      ELSE /\ TRUE
                           /\ freed' = freed
                /\ IF Rounds = 0 \/ round[self] < Rounds
                      THEN /\ pc' = [pc EXCEPT ![self] = "Attempt"]
                      ELSE /\ pc' = [pc EXCEPT ![self] = "Done"]
                /\ UNCHANGED << word, asleep, users, touched, round, last >>

thread(self) == Attempt(self) \/ Mark(self) \/ Wait(self) \/ Asleep(self)
                   \/ Section(self) \/ Subtract(self) \/ Free(self)
                   \/ Wake(self) \/ Return(self)

WakeForNothing == /\ pc[0] = "WakeForNothing"
                  /\ \E woken \in asleep:
                       asleep' = asleep \ {woken}
                  /\ pc' = [pc EXCEPT ![0] = "WakeForNothing"]
                  /\ UNCHANGED << word, users, freed, touched, round, last >>

machine == WakeForNothing

Next == machine
           \/ (\E self \in Threads: thread(self))

Spec == /\ Init /\ [][Next]_vars
        /\ \A self \in Threads : WF_vars(thread(self))

\* END TRANSLATION
===============================================================================
