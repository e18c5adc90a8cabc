import type { ExitStatus } from '../errors/exit-status.ts'

/** What each exit status means, for the manual; a status that a command never ends with has no meaning there. */
export const EXIT_MEANINGS: Readonly<
  Record<
    ExitStatus,
    {
      readonly plan?: string
      readonly explain?: string
      readonly apply?: string
      readonly snapshot?: string
      readonly journal?: string
    }
  >
> = {
  0: {
    plan: 'Done. With --detailed-exitcode: there is no operation, blocked ones included, nothing waits, the plan is complete, and no problem is an error.',
    apply:
      'All that was asked for was done, or there was nothing to do. What waits for others, and what is blocked only for a flag that was not given (NotAsked, DeletesData), does not count.',
    explain: 'Done, whatever the verdict.',
    snapshot: 'The snapshot was written.',
    journal: 'The journal was printed; where there is none, it says so.',
  },
  1: {
    plan: 'It could not do its work: bad flags, no API server, an unreadable node. With --detailed-exitcode also: the plan is not complete, or a problem is an error, and there is no operation.',
    apply: 'It could not do its work, or the question was not answered with yes. Nothing was changed.',
    explain:
      'It could not do its work: bad flags, no API server, an unreadable node; or WHAT is nothing here, or several things.',
    snapshot: 'It could not do its work.',
    journal: 'The journal could not be read.',
  },
  2: { plan: 'With --detailed-exitcode only: there are operations, blocked ones included.' },
  3: { apply: 'Some operations failed, were blocked, refused or given up. The rest is done.' },
  4: {
    plan: 'Refused for safety: the message says why, and what would lift it. The plan is printed all the same.',
    apply: 'Refused for safety: the message says why, and what would lift it. Nothing was changed.',
    explain:
      'Refused for safety: the message says why, and what would lift it. The answer is printed all the same, where there is one.',
    snapshot: 'Refused for safety: several kubelets, or a Node object that does not exist.',
  },
  5: {
    plan: 'With --detailed-exitcode only: there is no operation, and something waits for the kubelet, the controller or another party.',
  },
  130: {
    plan: 'Interrupted.',
    apply: 'Interrupted: no new operation was started, those in flight were waited for or named.',
    explain: 'Interrupted.',
    snapshot: 'Interrupted.',
  },
}
