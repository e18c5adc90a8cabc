import type { ExitStatus } from '../../src/core/messages/findings.ts'

/** What each exit status means by command, for the manual; a status that a command never ends with has no meaning there. */
export const EXIT_MEANINGS: Readonly<Record<ExitStatus, Readonly<Record<string, string>>>> = {
  0: {
    plan: 'Success. With --detailed-exitcode: the plan is complete and has no operations, not even blocked ones; nothing waits, and no problem is an error.',
    apply:
      'Everything requested was done, or there was nothing to do. What waits for others does not count, nor what is blocked only because a flag was not given (NotAsked, DeletesData).',
    explain: 'Success, whatever the verdict.',
    snapshot: 'The snapshot was written.',
    journal: 'The journal was printed, if there is one.',
    status: 'Success, whatever the verdicts.',
    check: 'Nothing is wrong.',
    doctor: 'volctl plan can work here, whatever else is wrong.',
    wait: 'The condition was reached.',
    completion: 'The script was printed.',
  },
  1: {
    plan: 'Failed: wrong flags, no API server, an unreadable node. With --detailed-exitcode also: there are no operations, but the plan is not complete or a problem is an error.',
    apply: 'Failed before the first operation, or the answer was not yes. Nothing was changed.',
    explain: 'Failed: wrong flags, no API server, an unreadable node; or WHAT was not found, or is ambiguous.',
    snapshot: 'Failed.',
    journal: 'The journal could not be read.',
    status: 'Failed: wrong flags, no API server, an unreadable node; or no pod or volume has a given name.',
    check: 'Something is wrong, and has been for long enough.',
    doctor: 'volctl plan cannot work here: the checks say why. Also for wrong flags.',
    wait: 'Failed: wrong flags, no API server, an unreadable node; a name that was not found on this node, or is ambiguous; or a credential that never shows a detach.',
    completion: 'No shell was named, or one that volctl has no script for.',
  },
  2: {
    plan: 'Only with --detailed-exitcode: there are operations, if only blocked ones.',
    check:
      'Unknown: the node or the API server could not be read, not in time, or not completely; or the command line is wrong.',
  },
  3: {
    apply: 'Some operations failed, or were blocked, refused or abandoned. The others were carried out.',
  },
  4: {
    plan: 'Refused for safety: the message says why, and what overrides the refusal. The plan is printed as well.',
    apply: 'Refused for safety: the message says why, and what overrides the refusal. Nothing was changed.',
    explain:
      'Refused for safety: the message says why, and what overrides the refusal. The answer, if there is one, is printed as well.',
    status: 'Refused for safety: the message says why. The answer is printed as well.',
    snapshot: 'Refused for safety: several kubelets, or a Node object that does not exist.',
    wait: 'Refused for safety: several kubelets, or a Node object that does not exist.',
  },
  5: {
    plan: 'Only with --detailed-exitcode: there are no operations, but something waits for the kubelet, the attach/detach controller or another party.',
    wait: 'The condition was not reached in time.',
  },
  130: {
    plan: 'Interrupted.',
    apply: 'Interrupted: no further operation was started; those in progress were waited for, or are named.',
    explain: 'Interrupted.',
    status: 'Interrupted.',
    snapshot: 'Interrupted.',
    doctor: 'Interrupted.',
    wait: 'Interrupted.',
  },
}
