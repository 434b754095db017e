------------------------------- MODULE Spinbit -------------------------------
(* Go's runtime mutex since 1.24, "spinbit": Rhys Hiltner, "runtime: improve   *)
(* scaling of lock2" (golang/go issue 68578), as in                            *)
(* crates/ondeck-zoo/src/locks/go_spinbit.rs. The head of that file says what  *)
(* each part of the word means, and how the lock differs from Go's.            *)
(*                                                                             *)
(* A waiter that may spin does so for any number of turns, including none. An  *)
(* unlock wakes the oldest waiter at any time, not every sixteenth time. So    *)
(* all such numbers are covered. A node is its thread.                         *)
(*                                                                             *)
(* Lifetimes are as in C, with Destroy: each thread locks Rounds times and     *)
(* notes in its last section that it does not need the lock any more. The last *)
(* thread to note this frees the lock after its own unlock. Then               *)
(* NoTouchAfterRelease fails in the algorithm as it ships: an unlock that saw  *)
(* SLEEPING reads the word again after the lock was free, when another thread  *)
(* may have locked, unlocked and freed it. In Go that is harmless, because no  *)
(* memory is freed while a thread still unlocks in it. touched_when_freed.cfg  *)
(* has TLC find it.                                                            *)
(*                                                                             *)
(* Fairness: a thread that can go on does so at some time (weak fairness), and *)
(* each thread locks Rounds times, so that barging ends.                       *)
(*                                                                             *)
(* What Go's own model leaves out. golang/proposal has                         *)
(* design/68578/spinbit.tla. It models the first of two drafts, in which       *)
(* threads sleep in the kernel on the word itself (change 601597). The second  *)
(* draft shipped (change 620435), with the stack, its try-lock and the wake of *)
(* the oldest, none of which are in that model. It checks the types of its     *)
(* variables, that sleeping threads are woken, and that NumAcquires sections   *)
(* happen. It does not check that there is one owner or one spinner, nor what  *)
(* lock and unlock may still touch. Its configuration has three threads. None  *)
(* of them starts again once one section has happened, there is no turn of     *)
(* spinning, and of the same sleeping threads always the same one is woken     *)
(* (NumAcquires 1, NumSpins 0, WakeAny).                                       *)
(*                                                                             *)
(* Spinbit.cfg cannot see an unlock that takes the oldest off the stack and    *)
(* has to repeat its exchange: that needs a fourth thread, which changes the   *)
(* word. four_large.cfg can, and promise_is_forgotten.cfg shows it.            *)
(*                                                                             *)
(* Left out here: try_lock, which is Attempt and nothing more; the futex under *)
(* each node, because a store to a node and the wake of its only waiter are    *)
(* equivalent to one step; weak memory: all threads see each step at once.     *)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
    Threads,
    Null,    \* no thread: the end of the stack
    Rounds,  \* how often each locks
    Destroy, \* whether the last one frees the lock
    Mutant   \* which mistake is put in; "none" for none

Free == [locked |-> FALSE, sleeping |-> FALSE, spinning |-> FALSE,
         stackLocked |-> FALSE, top |-> Null]

(* --algorithm Spinbit
variables
    word = Free;
    next = [t \in Threads |-> Null];
    woken = [t \in Threads |-> FALSE];
    spinner = [t \in Threads |-> FALSE];
    users = Cardinality(Threads);
    freed = FALSE;
    touched = FALSE;

define
    RECURSIVE StackFrom(_, _)
    StackFrom(node, newer) ==
        IF node = Null \/ node \in newer THEN newer
        ELSE StackFrom(next[node], newer \union {node})
    Stack == StackFrom(word.top, {})

    RECURSIVE Oldest(_)
    Oldest(node) == IF next[node] = Null THEN node ELSE Oldest(next[node])
end define;

\* A step that reads or writes the word.
macro touch() begin
    touched := touched \/ freed;
end macro;

fair process thread \in Threads
variables
    round = 0;
    last = FALSE;
    wasOldest = FALSE;
    seen = Free;
    tail = FALSE;
    promised = Null;
    chosen = Null;
begin
    \* models crates/ondeck-zoo/src/locks/go_spinbit.rs lock
    Attempt:
        touch();
        if ~word.locked then
            word.locked := TRUE;
            goto Section;
        end if;

    \* models crates/ondeck-zoo/src/locks/go_spinbit.rs lock_slow
    Load:
        touch();
        seen := word;
        if ~word.locked then
            goto Take;
        elsif ~spinner[self] /\ ~word.spinning then
            goto MarkSpin;
        elsif spinner[self] \/ wasOldest then
            either goto Load; or goto Push; end either;
        else
            goto Push;
        end if;

    \* models crates/ondeck-zoo/src/locks/go_spinbit.rs acquire
    Take:
        touch();
        if spinner[self] then
            if word = seen then
                word.locked := TRUE || word.spinning := FALSE ||
                    word.sleeping := seen.top # Null /\ Mutant # "spinner_forgets_waiters";
                spinner[self] := FALSE;
                goto Section;
            else
                goto Load;
            end if;
        else
            if ~word.locked \/ Mutant = "takes_what_is_taken" then
                word.locked := TRUE ||
                    word.sleeping := word.sleeping \/ Mutant # "woken_forgets_waiters";
                goto Section;
            else
                word.sleeping := TRUE;
                goto Load;
            end if;
        end if;

    \* models crates/ondeck-zoo/src/locks/go_spinbit.rs lock_slow
    MarkSpin:
        touch();
        if word = seen then
            word.spinning := TRUE;
            seen.spinning := TRUE;
            spinner[self] := TRUE;
        end if;
        if spinner[self] \/ wasOldest then
            either goto Load; or goto Push; end either;
        end if;

    \* models crates/ondeck-zoo/src/locks/go_spinbit.rs push
    Push:
        touch();
        if word = seen \/ (Mutant = "pushes_onto_any_word" /\ word.top = seen.top) then
            next[self] := seen.top;
            woken[self] := FALSE;
            word.top := self || word.sleeping := TRUE ||
                word.spinning := word.spinning /\ (~spinner[self] \/ Mutant = "spinning_stays");
            spinner[self] := FALSE;
        else
            goto Load;
        end if;

    \* models crates/ondeck-zoo/src/locks/go_spinbit.rs lock_slow
    Park:
        await woken[self];
        wasOldest := next[self] = Null;
        goto Load;

    \* models nothing: what the caller does with the lock
    Section:
        wasOldest := FALSE;
        seen := Free;
        round := round + 1;
        if round = Rounds then
            users := users - 1;
            last := users = 0;
        end if;

    \* models crates/ondeck-zoo/src/locks/go_spinbit.rs unlock
    Release:
        touch();
        if word.sleeping then
            word.locked := FALSE || word.sleeping := FALSE;
            goto Look;
        else
            word.locked := FALSE;
            goto Return;
        end if;

    \* models crates/ondeck-zoo/src/locks/go_spinbit.rs unlock_slow
    Look:
        touch();
        seen := word;
        with oldest \in BOOLEAN do
            tail := oldest;
            if (word.spinning /\ ~oldest) \/ word.top = Null \/ word.stackLocked then
                goto Return;
            end if;
        end with;

    \* models crates/ondeck-zoo/src/locks/go_spinbit.rs unlock_slow
    LockStack:
        touch();
        if word = seen then
            word.stackLocked := Mutant # "stack_is_not_locked";
            seen.stackLocked := Mutant # "stack_is_not_locked";
        elsif word.top = Null \/ word.stackLocked then
            goto Return;
        else
            seen := word;
            goto LockStack;
        end if;

    \* models crates/ondeck-zoo/src/locks/go_spinbit.rs unlock_slow
    \* models crates/ondeck-zoo/src/locks/go_spinbit.rs unlink_oldest
    \* No other thread sees what is read and changed in the nodes before the exchange.
    Pop:
        touch();
        if promised # Null then
            chosen := promised;
        elsif tail then
            chosen := Oldest(seen.top);
            if chosen # seen.top then
                promised := IF word # seen /\ Mutant = "promise_is_forgotten" THEN Null ELSE chosen;
                next := [t \in Threads |-> IF next[t] = chosen THEN Null ELSE next[t]];
            end if;
        elsif ~seen.spinning then
            chosen := seen.top;
        else
            chosen := Null;
        end if;
        if word = seen then
            word.stackLocked := FALSE ||
                word.top := IF chosen = seen.top THEN next[chosen] ELSE seen.top;
            if chosen = Null then
                goto Return;
            end if;
        else
            seen := word;
            goto Pop;
        end if;

    \* models crates/ondeck-zoo/src/locks/go_spinbit.rs wake
    Wake:
        woken[chosen] := TRUE;

    \* models nothing: the caller frees the lock, ends, or comes again
    Return:
        seen := Free;
        tail := FALSE;
        promised := Null;
        chosen := Null;
        if last /\ Destroy then
            freed := TRUE;
        end if;
        if round < Rounds then
            goto Attempt;
        end if;
end process;
end algorithm; *)
\* BEGIN TRANSLATION
VARIABLES word, next, woken, spinner, users, freed, touched, pc

(* define statement *)
RECURSIVE StackFrom(_, _)
StackFrom(node, newer) ==
    IF node = Null \/ node \in newer THEN newer
    ELSE StackFrom(next[node], newer \union {node})
Stack == StackFrom(word.top, {})

RECURSIVE Oldest(_)
Oldest(node) == IF next[node] = Null THEN node ELSE Oldest(next[node])

VARIABLES round, last, wasOldest, seen, tail, promised, chosen

vars == << word, next, woken, spinner, users, freed, touched, pc, round, last, 
           wasOldest, seen, tail, promised, chosen >>

ProcSet == (Threads)

Init == (* Global variables *)
        /\ word = Free
        /\ next = [t \in Threads |-> Null]
        /\ woken = [t \in Threads |-> FALSE]
        /\ spinner = [t \in Threads |-> FALSE]
        /\ users = Cardinality(Threads)
        /\ freed = FALSE
        /\ touched = FALSE
        (* Process thread *)
        /\ round = [self \in Threads |-> 0]
        /\ last = [self \in Threads |-> FALSE]
        /\ wasOldest = [self \in Threads |-> FALSE]
        /\ seen = [self \in Threads |-> Free]
        /\ tail = [self \in Threads |-> FALSE]
        /\ promised = [self \in Threads |-> Null]
        /\ chosen = [self \in Threads |-> Null]
        /\ pc = [self \in ProcSet |-> "Attempt"]

Attempt(self) == /\ pc[self] = "Attempt"
                 /\ touched' = (touched \/ freed)
                 /\ IF ~word.locked
                       THEN /\ word' = [word EXCEPT !.locked = TRUE]
                            /\ pc' = [pc EXCEPT ![self] = "Section"]
                       ELSE /\ pc' = [pc EXCEPT ![self] = "Load"]
                            /\ word' = word
                 /\ UNCHANGED << next, woken, spinner, users, freed, round, 
                                 last, wasOldest, seen, tail, promised, chosen >>

Load(self) == /\ pc[self] = "Load"
              /\ touched' = (touched \/ freed)
              /\ seen' = [seen EXCEPT ![self] = word]
              /\ IF ~word.locked
                    THEN /\ pc' = [pc EXCEPT ![self] = "Take"]
                    ELSE /\ IF ~spinner[self] /\ ~word.spinning
                               THEN /\ pc' = [pc EXCEPT ![self] = "MarkSpin"]
                               ELSE /\ IF spinner[self] \/ wasOldest[self]
                                          THEN /\ \/ /\ pc' = [pc EXCEPT ![self] = "Load"]
                                                  \/ /\ pc' = [pc EXCEPT ![self] = "Push"]
                                          ELSE /\ pc' = [pc EXCEPT ![self] = "Push"]
              /\ UNCHANGED << word, next, woken, spinner, users, freed, round, 
                              last, wasOldest, tail, promised, chosen >>

Take(self) == /\ pc[self] = "Take"
              /\ touched' = (touched \/ freed)
              /\ IF spinner[self]
                    THEN /\ IF word = seen[self]
                               THEN /\ word' = [word EXCEPT !.locked = TRUE,
                                                            !.spinning = FALSE,
                                                            !.sleeping = seen[self].top # Null /\ Mutant # "spinner_forgets_waiters"]
                                    /\ spinner' = [spinner EXCEPT ![self] = FALSE]
                                    /\ pc' = [pc EXCEPT ![self] = "Section"]
                               ELSE /\ pc' = [pc EXCEPT ![self] = "Load"]
                                    /\ UNCHANGED << word, spinner >>
                    ELSE /\ IF ~word.locked \/ Mutant = "takes_what_is_taken"
                               THEN /\ word' = [word EXCEPT !.locked = TRUE,
                                                            !.sleeping = word.sleeping \/ Mutant # "woken_forgets_waiters"]
                                    /\ pc' = [pc EXCEPT ![self] = "Section"]
                               ELSE /\ word' = [word EXCEPT !.sleeping = TRUE]
                                    /\ pc' = [pc EXCEPT ![self] = "Load"]
                         /\ UNCHANGED spinner
              /\ UNCHANGED << next, woken, users, freed, round, last, 
                              wasOldest, seen, tail, promised, chosen >>

MarkSpin(self) == /\ pc[self] = "MarkSpin"
                  /\ touched' = (touched \/ freed)
                  /\ IF word = seen[self]
                        THEN /\ word' = [word EXCEPT !.spinning = TRUE]
                             /\ seen' = [seen EXCEPT ![self].spinning = TRUE]
                             /\ spinner' = [spinner EXCEPT ![self] = TRUE]
                        ELSE /\ TRUE
                             /\ UNCHANGED << word, spinner, seen >>
                  /\ IF spinner'[self] \/ wasOldest[self]
                        THEN /\ \/ /\ pc' = [pc EXCEPT ![self] = "Load"]
                                \/ /\ pc' = [pc EXCEPT ![self] = "Push"]
                        ELSE /\ pc' = [pc EXCEPT ![self] = "Push"]
                  /\ UNCHANGED << next, woken, users, freed, round, last, 
                                  wasOldest, tail, promised, chosen >>

Push(self) == /\ pc[self] = "Push"
              /\ touched' = (touched \/ freed)
              /\ IF word = seen[self] \/ (Mutant = "pushes_onto_any_word" /\ word.top = seen[self].top)
                    THEN /\ next' = [next EXCEPT ![self] = seen[self].top]
                         /\ woken' = [woken EXCEPT ![self] = FALSE]
                         /\ word' = [word EXCEPT !.top = self,
                                                 !.sleeping = TRUE,
                                                 !.spinning = word.spinning /\ (~spinner[self] \/ Mutant = "spinning_stays")]
                         /\ spinner' = [spinner EXCEPT ![self] = FALSE]
                         /\ pc' = [pc EXCEPT ![self] = "Park"]
                    ELSE /\ pc' = [pc EXCEPT ![self] = "Load"]
                         /\ UNCHANGED << word, next, woken, spinner >>
              /\ UNCHANGED << users, freed, round, last, wasOldest, seen, tail, 
                              promised, chosen >>

Park(self) == /\ pc[self] = "Park"
              /\ woken[self]
              /\ wasOldest' = [wasOldest EXCEPT ![self] = next[self] = Null]
              /\ pc' = [pc EXCEPT ![self] = "Load"]
              /\ UNCHANGED << word, next, woken, spinner, users, freed, 
                              touched, round, last, seen, tail, promised, 
                              chosen >>

Section(self) == /\ pc[self] = "Section"
                 /\ wasOldest' = [wasOldest EXCEPT ![self] = FALSE]
                 /\ seen' = [seen EXCEPT ![self] = Free]
                 /\ round' = [round EXCEPT ![self] = round[self] + 1]
                 /\ IF round'[self] = Rounds
                       THEN /\ users' = users - 1
                            /\ last' = [last EXCEPT ![self] = users' = 0]
                       ELSE /\ TRUE
                            /\ UNCHANGED << users, last >>
                 /\ pc' = [pc EXCEPT ![self] = "Release"]
                 /\ UNCHANGED << word, next, woken, spinner, freed, touched, 
                                 tail, promised, chosen >>

Release(self) == /\ pc[self] = "Release"
                 /\ touched' = (touched \/ freed)
                 /\ IF word.sleeping
                       THEN /\ word' = [word EXCEPT !.locked = FALSE,
                                                    !.sleeping = FALSE]
                            /\ pc' = [pc EXCEPT ![self] = "Look"]
                       ELSE /\ word' = [word EXCEPT !.locked = FALSE]
                            /\ pc' = [pc EXCEPT ![self] = "Return"]
                 /\ UNCHANGED << next, woken, spinner, users, freed, round, 
                                 last, wasOldest, seen, tail, promised, chosen >>

Look(self) == /\ pc[self] = "Look"
              /\ touched' = (touched \/ freed)
              /\ seen' = [seen EXCEPT ![self] = word]
              /\ \E oldest \in BOOLEAN:
                   /\ tail' = [tail EXCEPT ![self] = oldest]
                   /\ IF (word.spinning /\ ~oldest) \/ word.top = Null \/ word.stackLocked
                         THEN /\ pc' = [pc EXCEPT ![self] = "Return"]
                         ELSE /\ pc' = [pc EXCEPT ![self] = "LockStack"]
              /\ UNCHANGED << word, next, woken, spinner, users, freed, round, 
                              last, wasOldest, promised, chosen >>

LockStack(self) == /\ pc[self] = "LockStack"
                   /\ touched' = (touched \/ freed)
                   /\ IF word = seen[self]
                         THEN /\ word' = [word EXCEPT !.stackLocked = Mutant # "stack_is_not_locked"]
                              /\ seen' = [seen EXCEPT ![self].stackLocked = Mutant # "stack_is_not_locked"]
                              /\ pc' = [pc EXCEPT ![self] = "Pop"]
                         ELSE /\ IF word.top = Null \/ word.stackLocked
                                    THEN /\ pc' = [pc EXCEPT ![self] = "Return"]
                                         /\ seen' = seen
                                    ELSE /\ seen' = [seen EXCEPT ![self] = word]
                                         /\ pc' = [pc EXCEPT ![self] = "LockStack"]
                              /\ word' = word
                   /\ UNCHANGED << next, woken, spinner, users, freed, round, 
                                   last, wasOldest, tail, promised, chosen >>

Pop(self) == /\ pc[self] = "Pop"
             /\ touched' = (touched \/ freed)
             /\ IF promised[self] # Null
                   THEN /\ chosen' = [chosen EXCEPT ![self] = promised[self]]
                        /\ UNCHANGED << next, promised >>
                   ELSE /\ IF tail[self]
                              THEN /\ chosen' = [chosen EXCEPT ![self] = Oldest(seen[self].top)]
                                   /\ IF chosen'[self] # seen[self].top
                                         THEN /\ promised' = [promised EXCEPT ![self] = IF word # seen[self] /\ Mutant = "promise_is_forgotten" THEN Null ELSE chosen'[self]]
                                              /\ next' = [t \in Threads |-> IF next[t] = chosen'[self] THEN Null ELSE next[t]]
                                         ELSE /\ TRUE
                                              /\ UNCHANGED << next, promised >>
                              ELSE /\ IF ~seen[self].spinning
                                         THEN /\ chosen' = [chosen EXCEPT ![self] = seen[self].top]
                                         ELSE /\ chosen' = [chosen EXCEPT ![self] = Null]
                                   /\ UNCHANGED << next, promised >>
             /\ IF word = seen[self]
                   THEN /\ word' = [word EXCEPT !.stackLocked = FALSE,
                                                !.top = IF chosen'[self] = seen[self].top THEN next'[chosen'[self]] ELSE seen[self].top]
                        /\ IF chosen'[self] = Null
                              THEN /\ pc' = [pc EXCEPT ![self] = "Return"]
                              ELSE /\ pc' = [pc EXCEPT ![self] = "Wake"]
                        /\ seen' = seen
                   ELSE /\ seen' = [seen EXCEPT ![self] = word]
                        /\ pc' = [pc EXCEPT ![self] = "Pop"]
                        /\ word' = word
             /\ UNCHANGED << woken, spinner, users, freed, round, last, 
                             wasOldest, tail >>

Wake(self) == /\ pc[self] = "Wake"
              /\ woken' = [woken EXCEPT ![chosen[self]] = TRUE]
              /\ pc' = [pc EXCEPT ![self] = "Return"]
              /\ UNCHANGED << word, next, spinner, users, freed, touched, 
                              round, last, wasOldest, seen, tail, promised, 
                              chosen >>

Return(self) == /\ pc[self] = "Return"
                /\ seen' = [seen EXCEPT ![self] = Free]
                /\ tail' = [tail EXCEPT ![self] = FALSE]
                /\ promised' = [promised EXCEPT ![self] = Null]
                /\ chosen' = [chosen EXCEPT ![self] = Null]
                /\ IF last[self] /\ Destroy
                      THEN /\ freed' = TRUE
                      ELSE /\ TRUE
                           /\ freed' = freed
                /\ IF round[self] < Rounds
                      THEN /\ pc' = [pc EXCEPT ![self] = "Attempt"]
                      ELSE /\ pc' = [pc EXCEPT ![self] = "Done"]
                /\ UNCHANGED << word, next, woken, spinner, users, touched, 
                                round, last, wasOldest >>

thread(self) == Attempt(self) \/ Load(self) \/ Take(self) \/ MarkSpin(self)
                   \/ Push(self) \/ Park(self) \/ Section(self)
                   \/ Release(self) \/ Look(self) \/ LockStack(self)
                   \/ Pop(self) \/ Wake(self) \/ Return(self)

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == (\E self \in Threads: thread(self))
           \/ Terminating

Spec == /\ Init /\ [][Next]_vars
        /\ \A self \in Threads : WF_vars(thread(self))

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

\* END TRANSLATION

Owns(t) == pc[t] \in {"Section", "Release"}
IsAwake(t) ==
    \/ pc[t] \in {"Load", "Take", "MarkSpin", "Push", "Look", "LockStack", "Pop", "Wake"}
    \/ pc[t] = "Park" /\ woken[t]

\* Threads differ in nothing; used where no fairness is.
Symmetry == Permutations(Threads)

MutualExclusion == \A a, b \in Threads : Owns(a) /\ Owns(b) => a = b

AtMostOneSpinner == \A a, b \in Threads : spinner[a] /\ spinner[b] => a = b

\* If the bit is set, there is a spinner to rely on.
SpinningMeansSpinner == word.spinning <=> \E t \in Threads : spinner[t]

\* Every node on the stack is of a sleeping thread: none is gone, or woken twice.
StackIsOfParkedThreads == \A t \in Stack : pc[t] = "Park" /\ ~woken[t]

\* Other threads can find each sleeping thread, or one of them is about to wake it.
NoThreadIsMislaid ==
    \A t \in Threads : pc[t] = "Park" /\ ~woken[t] =>
        \/ t \in Stack
        \/ \E r \in Threads : pc[r] = "Pop" /\ promised[r] = t
        \/ \E r \in Threads : pc[r] = "Wake" /\ chosen[r] = t

\* A thread with the stack's try-lock finds at least one node.
StackLockedIsNotEmpty == \A t \in Threads : pc[t] = "Pop" => seen[t].top # Null

\* The owner knows that threads sleep, or a thread is awake that will tell it or wake one.
NoLostWakeup ==
    Stack # {} => (word.locked /\ word.sleeping) \/ \E t \in Threads : IsAwake(t)

\* No thread uses the lock's memory once it is freed.
NoTouchAfterRelease == ~touched
===============================================================================
