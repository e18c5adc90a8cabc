/**
 * S12, while somebody works against it: nothing outside of the volume changes, not even a time stamp, however often its
 * directories are swapped for links and mounts while they are being deleted, and whatever a pod has put into it.
 *
 * The control below shows that these races are won by the swapper where deletion goes by paths. By hand it was shown
 * that each guard counts: without the comparison of mount ids `traps` and `mounts` fail, without O_NOFOLLOW `links`
 * fails, and without the look at the opened directory's real path `parents` fails.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import { statesOf } from '../helpers/apply-plan.ts'
import { LiveNode } from '../helpers/live-node.ts'
import { it } from '../helpers/machine.ts'
import { noSystemCalls } from '../helpers/namespace.ts'
import { sh } from '../helpers/scenario.ts'
import { describeUnless } from './describe-unless.ts'
import { inventory } from './inventory.ts'
import { byPaths, race } from './swapping.ts'

describeUnless(noSystemCalls, 'deleting what is being swapped', () => {
  it.for([
    { kind: 'links', rounds: 10_000, stops: ['Swapped'] },
    { kind: 'traps', rounds: 5_000, stops: ['ForeignMount', 'Swapped'] },
    { kind: 'mounts', rounds: 2_000, stops: ['ForeignMount', 'Swapped'] },
    { kind: 'moves', rounds: 3_000, stops: ['Swapped'] },
  ])('$kind: $rounds times, and nothing outside has changed', async ({ kind, rounds, stops }, { directory }) => {
    const { untouched, ended, changed, outcomes, left } = await race(directory, kind, rounds)
    expect({ untouched, ended, left }).toEqual({ untouched: true, ended: 0, left: [] })
    // It was a race: the volume's own files were deleted all along, and walks that met a swap stopped and said so.
    expect(changed).toBeGreaterThan(0)
    expect(outcomes).toContain('done')
    expect(outcomes.length).toBeGreaterThan(1)
    expect(['done', ...stops]).toEqual(expect.arrayContaining([...outcomes]))
  })

  it('parents: the way to the volume itself leads elsewhere 10,000 times', async ({ directory }) => {
    const { untouched, ended, outcomes } = await race(directory, 'parents', 10_000)
    expect({ untouched, ended }).toEqual({ untouched: true, ended: 0 })
    expect(outcomes).toContain('Swapped')
  })

  it.for(['links', 'traps', 'mounts', 'parents'])(
    'control: %s send a deletion by paths to the outside',
    async (kind, { directory }) => {
      expect(await race(directory, kind, 10_000, byPaths)).toMatchObject({ untouched: false })
    },
  )
})

const POD = '00000000-0000-4000-8000-000000000001'

function names(dir: string): void {
  const bytes = (name: Buffer): Buffer => Buffer.concat([Buffer.from(`${dir}/`), name])
  for (const name of ['\u001b[2J\u001b]0;title\u0007', '\\040 \\134', '...', '*', '$(id)', 'a'.repeat(255)])
    writeFileSync(`${dir}/${name}`, 'x')
  writeFileSync(bytes(Buffer.alloc(255, 0xff)), 'x')
  mkdirSync(bytes(Buffer.from([0xc3, 0x28, 0x0a, 0x1b])))
  mkdirSync(`${dir}/${'d'.repeat(255)}`)
  writeFileSync(`${dir}/${'d'.repeat(255)}/${'f'.repeat(255)}`, 'x')
}

function links(dir: string): void {
  symlinkSync('/etc', `${dir}/etc`)
  symlinkSync('/', `${dir}/root`)
  symlinkSync('loop', `${dir}/loop`)
  symlinkSync('/proc/self/fd', `${dir}/fd`)
  mkdirSync(`${dir}/below`)
  symlinkSync('../../../../../../outside', `${dir}/below/outside`)
}

/** Longer than any path may be: each level is made from the one above it. */
function deep(dir: string): void {
  process.chdir(dir)
  for (let level = 0; level < 4_000; level++) {
    mkdirSync('directory')
    process.chdir('directory')
  }
  writeFileSync('file', 'x')
  process.chdir('/')
}

/** As soon as the first files are seen to be gone, others get names that nobody has read. */
async function renameInTheMiddle(dir: string): Promise<void> {
  const some = Array.from({ length: 1_000 }, (_, i) => `${dir}/${i}`)
  while (some.every((path) => existsSync(path))) await new Promise((resolve) => setImmediate(resolve))
  for (const path of some.filter((each) => existsSync(each)).slice(0, 10)) renameSync(path, `${path}-renamed`)
}

it('a hostile pod: links, control sequences, 255-byte names, 100,000 files, 4,000 levels: all goes, and nothing outside has changed', async ({
  directory,
}) => {
  // A copy in the place of /etc: a deletion that goes wrong must not hurt the machine.
  sh('sh', '-c', `cp -a /etc ${directory}/etc || :`)
  sh('mount', '--bind', `${directory}/etc`, '/etc')
  try {
    mkdirSync(`${directory}/outside/below`, { recursive: true })
    writeFileSync(`${directory}/outside/below/file`, 'precious')
    const node = new LiveNode(directory)
    const path = (name: string): string => `${node.root}/pods/${POD}/volumes/kubernetes.io~empty-dir/${name}`
    const volumes = ['names', 'links', 'many', 'deep'].map((name) => ({ name, emptyDir: {} }))
    node.pod(POD, 'hostile', volumes)
    expect(await node.applied()).toEqual(Array(4).fill('done'))
    names(path('names'))
    links(path('links'))
    for (let i = 0; i < 100_000; i++) writeFileSync(`${path('many')}/${i}`, '')
    deep(path('deep'))
    const look = (): string[] => [...inventory('/etc'), ...inventory(`${directory}/outside`)]
    const before = look()
    node.forget(POD)
    const asked = (await node.operations()).map(({ blocked }) => blocked?.code)
    expect(asked).toEqual(Array(4).fill('DeletesData'))
    const first = await node.apply({ orphans: true }, ({ step }) => {
      if (step?.op === 'deleteContent' && step.target === path('many')) void renameInTheMiddle(step.target)
    })
    // Files that were renamed while the others were deleted keep their directory, and the pod's, for the next run.
    expect(Object.values(statesOf(first)).toSorted()).toEqual([
      ...Array(3).fill('done'),
      'failed UnexpectedFile',
      'skipped UnexpectedFile',
    ])
    expect(await node.applied({ orphans: true })).toEqual(['done', 'done'])
    expect(look()).toEqual(before)
    expect(readdirSync(`${node.root}/pods`)).not.toContain(POD)
    expect(await node.operations({ orphans: true })).toEqual([])
  } finally {
    sh('umount', '/etc')
  }
})
