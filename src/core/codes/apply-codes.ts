/** How an operation, or an apply as a whole, ends other than well. */
import type { CodeEntry } from './code-entry.ts'

export const APPLY_CODES = {
  Refused: {
    in: ['blocked'],
    means: 'a safety rule refuses the plan as a whole',
    next: 'See what the plan says of the refusal; volctl explain prints its code and its rule.',
  },
  PredecessorBlocked: {
    in: ['blocked'],
    means: 'an operation that has to come first is blocked',
    next: 'Resolve the operation that has to come first.',
    rules: ['S26'],
  },
  PredecessorMissing: {
    in: ['outcome'],
    means: 'an operation that has to come first is not part of the apply',
    next: 'Do not leave it out (--only, --skip, --pod, --volume, --max).',
    rules: ['S26'],
  },
  PredecessorFailed: {
    in: ['outcome'],
    means: 'an operation that has to come first did not end well',
    next: 'See how the other operation ended, mend that, and plan again.',
    rules: ['S26'],
  },
  AlreadyDone: {
    in: ['blocked'],
    means: 'the node is as the operation of a plan file would make it: somebody carried it out before',
    next: 'Nothing. volctl journal shows who did it, if it was volctl.',
    rules: ['S26'],
  },
  NoLongerPlanned: {
    in: ['blocked'],
    means: 'a fresh look does not plan the operation any more',
    next: 'Plan again, and look at what has changed.',
    rules: ['S26'],
  },
  Changed: {
    in: ['blocked'],
    means: 'the operation would not do the same any more as when the plan was made',
    next: 'Plan again, and look at what has changed.',
    rules: ['S26'],
  },
  StillAtWork: {
    in: ['outcome'],
    means: 'a call was abandoned and may still be running on the volume or its device',
    next: 'Wait until the call has ended, or reboot; then plan again.',
    rules: ['C119'],
  },
  TimedOut: {
    in: ['outcome', 'error'],
    means: 'a call took longer than --timeout and was abandoned',
    next: 'Bring the storage or the driver back; then plan again, with a longer --timeout if it is only slow.',
    rules: ['S34'],
  },
  Interrupted: {
    in: ['outcome', 'error'],
    means: 'the command was interrupted before it began this',
    next: 'Run it again; volctl journal shows what an apply has done.',
  },
  Abandoned: {
    in: ['outcome'],
    means: 'the operation was left unfinished at the second interruption, and may still be at work',
    next: 'Wait until it has ended; then plan again. volctl journal shows what was begun.',
  },
  Failed: {
    in: ['outcome'],
    means: 'the operation failed in a way that volctl does not know',
    next: 'Look at the message, and plan again; report it as a defect of volctl.',
  },
  Unexpected: {
    in: ['error'],
    means: 'the command failed in a way that volctl does not know',
    next: 'Run it again with --verbose, and report what it prints as a defect of volctl.',
  },
  CommandMissing: {
    in: ['outcome', 'error'],
    means: 'a program that is needed is not installed on this host',
    next: 'Install the package that the message names.',
  },
  OtherNetwork: {
    in: ['outcome'],
    means: "volctl runs in a container's network, where a mount over the network would end with the container",
    next: 'Run volctl in a Pod with hostNetwork: true, as deploy/node-pod.yaml has it, or on the node itself.',
    rules: ['S6'],
  },
  CommandFailed: {
    in: ['outcome', 'error'],
    means: 'a program failed, or could not be started',
    next: 'Run the program by hand, and see what it says; then plan again.',
  },
  ProgramNotTrusted: {
    in: ['outcome', 'error'],
    means: 'somebody other than root could have put a program in its place, so that it is not run as root',
    next: 'Let root own the program and every directory above it, and let nobody else write there.',
    rules: ['S33'],
  },
  NotRoot: {
    in: ['error'],
    means: 'apply needs root',
    next: 'Run it with sudo.',
  },
  MissingCapability: {
    in: ['error'],
    means: "apply runs as root without one of root's capabilities",
    next: 'Run it with the capabilities that the message names.',
  },
  NotConfirmed: {
    in: ['error'],
    means: 'apply asked, and the answer was not yes: nothing was changed',
    next: 'Answer yes, or give --yes.',
    rules: ['S31'],
  },
  Locked: {
    in: ['error'],
    means: 'another apply is at work on this node',
    next: 'Wait for it to end; the message names its process.',
  },
  LockFailed: {
    in: ['error'],
    means: 'the lock of an apply could not be taken',
    next: 'Check the path that the message names: its owner, mode and file system.',
    rules: ['S33'],
  },
  StaleLock: {
    in: ['outcome'],
    means: 'the apply took over the lock of another one that died',
    next: 'See in volctl journal what that one began and did not end.',
  },
  LookFailed: {
    in: ['outcome'],
    means: 'after the apply, what is left to do could not be read',
    next: 'Plan again: volctl plan',
  },
  JournalFailed: {
    in: ['outcome', 'error'],
    means: 'the journal could not be written',
    next: 'Make room, or repair the directory that the message names; --no-journal does without.',
    rules: ['S14'],
  },
  NoJournal: {
    in: ['outcome'],
    means: 'without a journal, its lines are printed instead',
    next: 'Keep the output: it has the content of removed state files.',
    rules: ['S14'],
  },
  JournalUnreadable: {
    in: ['error'],
    means: 'the journal cannot be read',
    next: 'Run as root, name its directory with --journal, or ask for less (--last, --plan, --operation).',
  },
} as const satisfies Readonly<Record<string, CodeEntry>>
