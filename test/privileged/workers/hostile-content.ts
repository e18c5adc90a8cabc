/** A pod that fills its emptyDir with whatever may mislead, and its teardown by plan and apply. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { statesOf } from '../../helpers/apply-plan.ts'
import { inventory } from '../../helpers/inventory.ts'
import { LiveNode } from '../../helpers/live-node.ts'
import { runScenario, sh } from '../../helpers/scenario.ts'

const POD = '00000000-0000-4000-8000-000000000001'
const MANY = 100_000
const LEVELS = 4_000

/** A copy in the place of /etc: a deletion that goes wrong must not hurt the machine. */
function standIn(directory: string): void {
  spawnSync('cp', ['-a', '/etc', `${directory}/etc`])
  sh('mount', '--bind', `${directory}/etc`, '/etc')
}

function names(dir: string): void {
  const bytes = (name: Buffer): Buffer => Buffer.concat([Buffer.from(`${dir}/`), name])
  for (const name of [
    '\u001b[2J\u001b]0;title\u0007',
    'new\nline',
    'tab\there',
    '\\040 \\134',
    ' ',
    '...',
    '*',
    '-rf',
    '$(id)',
    'a'.repeat(255),
  ])
    writeFileSync(`${dir}/${name}`, 'x')
  writeFileSync(bytes(Buffer.alloc(255, 0xff)), 'x')
  mkdirSync(bytes(Buffer.from([0xc3, 0x28, 0x0a, 0x1b])))
  mkdirSync(`${dir}/${'d'.repeat(255)}`)
  writeFileSync(`${dir}/${'d'.repeat(255)}/${'f'.repeat(255)}`, 'x')
}

function links(dir: string): void {
  symlinkSync('/etc', `${dir}/etc`)
  symlinkSync('/etc/passwd', `${dir}/passwd`)
  symlinkSync('/', `${dir}/root`)
  symlinkSync('../../../../../..', `${dir}/up`)
  symlinkSync('loop', `${dir}/loop`)
  symlinkSync('/proc/self/fd', `${dir}/fd`)
  mkdirSync(`${dir}/below`)
  symlinkSync('../../../../../../outside', `${dir}/below/outside`)
}

function many(dir: string): void {
  for (let i = 0; i < MANY; i++) writeFileSync(`${dir}/${i}`, '')
}

/** Longer than any path may be: each level is made from the one above it. */
function deep(dir: string): void {
  process.chdir(dir)
  for (let level = 0; level < LEVELS; level++) {
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

/** As an application has them that was written before UTF-8. */
function latin1(dir: string, name: string): Buffer {
  mkdirSync(dir, { recursive: true })
  return Buffer.concat([Buffer.from(`${dir}/`), Buffer.from(name, 'latin1')])
}

await runScenario({
  async bytes(directory) {
    const node = new LiveNode(directory)
    const pods = `${node.root}/pods`
    const inPod = (number: number, path: string): string => `${pods}/${POD.slice(0, -1)}${number}/${path}`
    const data = [
      latin1(inPod(1, 'volumes/kubernetes.io~empty-dir/v/uploads'), 'caf\xe9'),
      latin1(inPod(2, 'volumes/kubernetes.io~nfs/v'), 'caf\xe9'),
      latin1(inPod(3, 'volumes/kubernetes.io~csi/v'), 'caf\xe9'),
      latin1(inPod(4, ''), 'caf\xe9'),
    ]
    for (const path of data) writeFileSync(path, 'precious')
    mkdirSync(latin1(pods, 'caf\xe9'))
    sh('find', pods, '-exec', 'touch', '-d', '2020-01-01', '{}', '+')
    const left = (): number => data.filter((path) => existsSync(path)).length
    const states = async (orphans: boolean) => Object.values(statesOf(await node.apply({ orphans }))).toSorted()
    return {
      without: { states: await states(false), left: left() },
      orphans: { states: await states(true), left: left() },
      after: (await node.plan({ orphans: true })).operations,
      kept: readdirSync(pods).length,
    }
  },

  async pod(directory) {
    standIn(directory)
    mkdirSync(`${directory}/outside/below`, { recursive: true })
    writeFileSync(`${directory}/outside/below/file`, 'precious')
    const node = new LiveNode(directory)
    const path = (name: string): string => `${node.root}/pods/${POD}/volumes/kubernetes.io~empty-dir/${name}`
    node.pod(
      POD,
      'hostile',
      ['names', 'links', 'many', 'deep'].map((name) => ({ name, emptyDir: {} })),
    )
    const made = Object.values(statesOf(await node.apply()))
    names(path('names'))
    links(path('links'))
    many(path('many'))
    deep(path('deep'))
    const before = [...inventory('/etc'), ...inventory(`${directory}/outside`)]
    node.forget(POD)
    const asked = (await node.plan()).operations.map((operation) => operation.blocked?.code)
    const first = await node.apply({ orphans: true }, ({ step }) => {
      if (step?.op === 'deleteContent' && step.target === path('many')) void renameInTheMiddle(step.target)
    })
    const second = await node.apply({ orphans: true })
    const after = [...inventory('/etc'), ...inventory(`${directory}/outside`)]
    return {
      made,
      asked,
      first: Object.values(statesOf(first)).toSorted(),
      second: Object.values(statesOf(second)),
      untouched: before.join('\n') === after.join('\n'),
      pods: readdirSync(`${node.root}/pods`),
      left: (await node.plan({ orphans: true })).operations,
    }
  },
})
