/**
 * --host-root: volctl in a container that has the node's root file system mounted. The kubelet's directory is hidden from the container
 * itself, and the files that it names are its own. In the image: test/package/image.long.test.ts.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect } from 'vitest'
import type { Plan } from '../../src/core/plan/plan.ts'
import { noMounts } from '../helpers/namespace.ts'
import { NAMESPACE } from '../helpers/scene/api-objects.ts'
import type { Scene } from '../helpers/scene/scene.ts'
import { answerOf, type Run, runUnjudged, runVolctl } from '../helpers/scene/volctl.ts'
import { VOLCTL } from '../helpers/volctl-program.ts'
import { it, leftOf } from './story.ts'

/**
 * Its root is the node's but for what is mounted over it; its own files are in a tmpfs, where it stands. What is unmounted
 * on the node goes there as well (mountPropagation HostToContainer): else it would hold all of it.
 */
const CONTAINER = `
own=$1 hidden=$2; shift 2
mkdir -p "$own/host" && mount --rbind / "$own/host" && mount -t tmpfs hidden "$hidden" &&
mkdir -p "$own/files" && mount -t tmpfs files "$own/files" && cd "$own/files" && exec "$@"`

const OWN_PIDS = ['unshare', '-p', '-f', '--mount-proc']

/** @param script of a shell; $0 is volctl, $1 the node's root file system */
function inContainer(
  scene: Scene,
  script: string,
  propagation: 'slave' | 'private' = 'slave',
  pids: string[] = [],
): Promise<Run> {
  const own = join(scene.directory, 'container')
  mkdirSync(own, { recursive: true })
  const enter = ['-m', '--propagation', propagation, 'sh', '-c', CONTAINER, 'sh', own, scene.rootDir, ...pids]
  const args = [...enter, 'sh', '-c', script, VOLCTL, join(own, 'host')]
  return runUnjudged({ env: scene.env, cwd: own, program: 'unshare' }, args)
}

/**
 * Without what differs from one look to the next. The container holds what it has mounted, too; what is to be typed in it has the
 * flag, and what is not, the node.
 */
function timeless(text: string): unknown {
  return JSON.parse(text.replaceAll(/ --host-root [^\s"]+/g, ''), (key, value) => {
    if (key === 'next') return (value as { node?: string }[]).map(({ node: _, ...step }) => step)
    return /^(capturedAt|createdAt|holders)$/.test(key) ? undefined : value
  })
}

function operationsOf(run: Run): string[] {
  return answerOf<Plan>(run).operations.map(({ id, blocked }) => `${id} ${blocked?.code ?? 'ready'}`)
}

beforeAll(() => {
  // As systemd makes it.
  if (noMounts === undefined) execFileSync('mount', ['--make-rshared', '/'])
})

it('plan and explain say what they say on the node itself; without the flag, that the directories are not there', async ({
  broken,
}) => {
  for (const command of ['plan --orphans -o json', `explain ${NAMESPACE}/${broken.pods.web.name} -o json`]) {
    const there = await inContainer(broken, `"$0" ${command} --host-root "$1"`)
    expect(there).toMatchObject({ status: 0, stderr: '' })
    const here = await runVolctl(broken, command.split(' '))
    expect(timeless(there.stdout)).toEqual(timeless(here.stdout))
    expect(here.stdout).not.toContain('NodeUnreadable')
  }
  expect((await inContainer(broken, '"$0" plan -o json')).stdout).toContain('NodeUnreadable')
})

it("plans where the container's mounts do not follow the node's, changes nothing, and says what to use instead", async ({
  broken,
}) => {
  // The container itself is not taken for who holds the volumes.
  const there = await inContainer(broken, '"$0" plan --orphans -o json --host-root "$1"', 'private')
  const operations = operationsOf(await runVolctl(broken, ['plan', '--orphans', '-o', 'json']))
  expect(operationsOf(there)).toEqual(operations)
  const held = await inContainer(broken, '"$0" apply --orphans --yes --host-root "$1"', 'private')
  expect(held).toMatchObject({ status: 4, stdout: '' })
  expect(held.stderr).toMatch(
    /^volctl: refused: the mounts of this container do not follow the node's, .+: \/\S+mount$/m,
  )
  expect(held.stderr).toContain('mountPropagation: HostToContainer')
  expect(await leftOf(broken)).toBe(operations.length)
})

it.for([
  { where: 'in a container with processes of its own', root: '"$1"', pids: OWN_PIDS, says: 'hostPID' },
  { where: 'where the node cannot be seen', root: './files', pids: [], says: "the host's / there" },
])('is one clear line $where', async ({ root, pids, says }, { broken }) => {
  const { status, stdout, stderr } = await inContainer(broken, `"$0" plan --host-root ${root}`, 'slave', pids)
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  expect(stderr).toMatch(/^volctl: --host-root \S+: .+\n {8}.+\n$/)
  expect(stderr).toContain(says)
})

it("saves a plan to the container's own file, gives the status of the run in the node, and applies it from there", async ({
  broken,
}) => {
  const save =
    '"$0" plan --orphans --detailed-exitcode --out ./saved.plan --host-root "$1" >/dev/null; test $? = 2 && test -s saved.plan'
  const repair = await inContainer(broken, `${save} && "$0" apply ./saved.plan --yes -o ndjson --host-root "$1"`)
  expect(repair).toMatchObject({ status: 0, stderr: expect.stringMatching(/^wrote \.\/saved\.plan: /) })
  expect(await leftOf(broken)).toBe(0)
})
