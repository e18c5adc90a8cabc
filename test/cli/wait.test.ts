/** What `volctl wait` refuses: its command line before anything is read, what it would never see after the first look. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { CAPTURES, HEALTHY } from '../helpers/captures.ts'
import { volctl } from '../helpers/run-main.ts'
import { startWarmNode } from '../helpers/warm-node.ts'

it.each([
  { args: [], says: 'missing flag: --for' },
  { args: ['--for=gone', 'web-0'], says: 'Expected --for=gone to be one of: mounted, unmounted, detached, in-sync' },
  { args: ['--for=mounted', 'web-0', '--timeout', '10'], says: '--timeout: "10" is not a duration.' },
  { args: ['--for=mounted', 'web-0', '--orphans'], says: 'unknown flag: --orphans' },
])('1: $args', async ({ args, says }) => {
  const { status, stdout, stderr } = await volctl(['wait', ...args])
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  expect(stderr).toContain(says)
  expect(stderr).toMatch(/^volctl: .+\n {8}.+\n$/)
})

it("--for=detached with the node's own credential says at once that the detach would not be seen, and with what it is", async () => {
  await using node = await startWarmNode(HEALTHY)
  const wait = (user: string, ...args: readonly string[]) => {
    const given = ['--for=detached', 'pg/p-csi-fs', '--kubeconfig', node.api.kubeconfig(user)]
    return volctl(['wait', ...given, ...args], { env: node.env })
  }
  const { status, stdout, stderr } = await wait('kubelet')
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  expect(stderr).toBe(
    'volctl: this credential may not list VolumeAttachments, so that it never shows pod/pg/p-csi-fs as detached\n' +
      '        Give one that may with --kubeconfig: deploy/clusterrole-plan.yaml has the rights.\n',
  )
  // What holds at this moment it does show.
  expect(await wait('kubelet', '--timeout=0')).toMatchObject({ status: 5, stdout: expect.stringContaining('attached') })
  expect(await wait('plan', '--timeout=100ms')).toMatchObject({
    status: 5,
    stderr: expect.stringContaining('timed out'),
  })
})

it('when the time is up it tells why, of what was waited for alone, and what to type', async () => {
  await using node = await startWarmNode(join(CAPTURES, 'recreate', 'before.json'))
  const { status, stdout, stderr } = await volctl(['wait', '--for=mounted', 'pg/sc-n4', '--timeout=0'], {
    env: node.env,
  })
  expect(status).toBe(5)
  expect(stdout).toMatch(/\n\nNeeds you\n/)
  expect(stdout).toContain('PersistentVolumeClaim pg/pvc-n4 does not exist')
  expect(stdout).not.toContain('sc-n2')
  expect(stdout).toMatch(/volctl apply --pod \S+/)
  expect(stderr).toMatch(/^volctl: timed out after \S+: pod\/pg\/sc-n4 is not mounted \(.+\)\n/)
})
