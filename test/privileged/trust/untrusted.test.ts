/** S33: each thing that volctl looks at, once, in the hands of another user; every trick on it: every-trick.long.test.ts. */
import { expect } from 'vitest'
import { it } from '../../helpers/machine.ts'
import { noRoot } from '../../helpers/namespace.ts'
import { describeUnless } from '../describe-unless.ts'
import { startNode } from './node.ts'
import { SUBJECTS, type Subject, type Trial, tryAll, trySound } from './untrusted.ts'

/** Each is read by another way. */
const READ: readonly Subject[] = [
  'admin.conf, found',
  "root's ~/.kube/config, found",
  'kubeconfig, given',
  'CA file of a kubeconfig',
  'token file of a kubeconfig',
  'snapshot file',
  'unit file',
]

/** What was given, what the kubelet obeys, and what would be written to, is not passed over. */
const REFUSED: readonly Subject[] = [
  'kubeconfig, given',
  'CA file of a kubeconfig',
  'token file of a kubeconfig',
  'kubelet --config',
  'kubelet --config-dir',
  'kubelet --config of one that runs',
  'unit file',
  'journal.jsonl',
  'lock file',
  'plan file',
  'snapshot file',
]

describeUnless(noRoot, 'what others had a hand in', () => {
  it('control: without, all of it is used', async ({ directory }) => {
    await using node = await startNode(directory)
    expect(await trySound(node, READ)).toEqual([...READ, 'apply'].map(() => 0))
    expect(node.marker.read()).toBe('')
  })

  it("S33: another user's has no effect", async ({ directory }) => {
    await using node = await startNode(directory)
    const trials = Object.entries(SUBJECTS).map(([subject, [command]]): Trial => {
      return { subject: subject as Subject, trick: "another user's", command }
    })
    const found = await tryAll(node, trials)
    expect(found.filter(({ wrong }) => wrong.length > 0)).toEqual([])
    expect(found.flatMap(({ subject, status }) => (status === 0 ? [] : [[subject, status]]))).toEqual(
      REFUSED.map((subject) => [subject, 1]),
    )
  })
})
