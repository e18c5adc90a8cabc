/** How a command, an operation or an apply ends, and what a person gave to it: flags, names, files. */
import type { CodeEntry } from './code-entry.ts'

export const RUN_CODES = {
  Changed: {
    in: ['blocked', 'error'],
    cause: 'follows',
    means:
      'a fresh look does not plan the operation any more, or not in the same way; or the node was booted after the plan was made',
    next: 'Plan again, and look at what has changed.',
    rules: ['S26'],
  },
  FileDamaged: {
    in: ['error'],
    means:
      'a file is no snapshot or plan file, is cut off, damaged or too large, or was written by a version of volctl that this one does not read',
    next: 'Take it again; a snapshot: volctl snapshot --output FILE',
    rules: ['S34'],
  },
  Locked: {
    in: ['outcome', 'error'],
    cause: 'failed',
    means:
      'another apply is at work, or the lock that keeps two apart could not be taken or kept, or was taken over from one that died',
    next: 'Wait for the other one to end, or look at the file or the lease that the message names.',
    rules: ['S33'],
  },
  Refused: {
    in: ['blocked'],
    cause: 'machine',
    means: 'a safety rule refuses the plan as a whole',
    next: 'See what the plan says of the refusal; volctl explain prints its code and its rule.',
  },
  Predecessor: {
    in: ['blocked'],
    cause: 'follows',
    means: 'an operation that has to come first is blocked, failed, or is not part of the apply',
    next: 'See what became of the operation that has to come first, and resolve that; leave it out with no flag (--only, --skip, --pod, --volume).',
    rules: ['S26'],
  },
  AlreadyDone: {
    in: ['blocked'],
    cause: 'follows',
    means: 'the node is as the operation of a plan file would make it: somebody carried it out before',
    next: 'Nothing. volctl journal shows who did it, if it was volctl.',
    rules: ['S26'],
  },
  StillAtWork: {
    in: ['outcome'],
    cause: 'failed',
    means: 'a call was abandoned, by the deadline or at the second interruption, and may still be running',
    next: 'Wait until the call has ended, or reboot; then plan again.',
    rules: ['C119'],
  },
  TimedOut: {
    in: ['outcome', 'error'],
    cause: 'failed',
    means: 'a call, or an external attacher, did not finish within --timeout',
    next: 'Bring the storage or the driver back, and look at its log; then plan again, with a longer --timeout if it is only slow.',
    rules: ['S34', 'N59'],
  },
  Interrupted: {
    in: ['outcome', 'error'],
    cause: 'failed',
    means: 'the command was interrupted before it began this',
    next: 'Run it again; volctl journal shows what an apply has done.',
  },
  Unexpected: {
    in: ['outcome', 'error'],
    cause: 'failed',
    means: 'the command or the operation failed in a way that volctl does not know',
    next: 'Run it again with --verbose, and report what it prints as a defect of volctl.',
  },
  CommandMissing: {
    in: ['outcome', 'error'],
    cause: 'failed',
    means: 'a program that is needed is not installed on this host',
    next: 'Install the package that the message names.',
  },
  CommandFailed: {
    in: ['outcome', 'error'],
    cause: 'failed',
    means: 'a program failed, or could not be started',
    next: 'Run the program by hand, and see what it says; then plan again.',
  },
  NotRoot: {
    in: ['error'],
    means: "apply needs root, with all of root's capabilities",
    next: 'Run it with sudo, or with the capabilities that the message names.',
  },
  NotConfirmed: {
    in: ['error'],
    means: 'apply asked, and the answer was not yes: nothing was changed',
    next: 'Answer yes, or give --yes.',
    rules: ['S31'],
  },
  JournalFailed: {
    in: ['outcome', 'error'],
    cause: 'unread',
    means: 'the journal could not be written',
    next: 'Make room, or repair the directory that the message names; --no-journal does without.',
    rules: ['S14'],
  },
  Usage: {
    in: ['error'],
    means: 'a flag or an argument is not one that the command takes, or not in that form',
    next: 'See volctl COMMAND --help.',
  },
  NothingNamed: {
    in: ['problem', 'error'],
    cause: 'asked',
    means:
      'a flag gives a name (--pod, --namespace, --volume, --device; with --cluster also --node, --node-gone) that nothing on this node, or in this cluster, has',
    next: 'Give the name as the plan shows it, or --ignore-not-found.',
  },
  AmbiguousName: {
    in: ['problem', 'error'],
    cause: 'asked',
    means: 'several things on this node have the name that explain or --pod was given',
    next: 'Name one of those that the message lists: for explain with pod/, pvc/, pv/, va/, volume/, device/ or path/ before the name, for --pod as NAMESPACE/NAME or as a whole UID.',
  },
  FileUnreadable: {
    in: ['error'],
    means: 'a snapshot, plan file or journal cannot be read',
    next: 'Check the path, and run as root; or ask for less (journal: --last, --plan).',
  },
  NotWritten: {
    in: ['error'],
    means: 'a file, or the output, could not be written',
    next: 'Check the directory, the space on its file system, and what reads the output.',
  },
  NotReached: {
    in: ['error'],
    means: 'the time of wait was up before the condition was reached',
    next: 'Wait longer with --timeout; or look at one that was not reached: volctl explain NAME',
    rules: ['R472'],
  },
} as const satisfies Readonly<Record<string, CodeEntry>>
