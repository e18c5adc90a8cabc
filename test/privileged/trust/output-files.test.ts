/** S33: what volctl writes goes into a new file of its own, never through what somebody else has put there. */
import { spawn } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  constants,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { expect } from 'vitest'
import { it } from '../../helpers/machine.ts'
import { noRoot } from '../../helpers/namespace.ts'
import { sh } from '../../helpers/scenario.ts'
import { describeUnless } from '../describe-unless.ts'
import { nodeForAll } from './node.ts'
import { end, foreignDirectory, foreignFile, givenAway } from './strangers.ts'
import { changes, picture } from './untouched.ts'
import { codeOf, oneLine } from './watched-run.ts'

/** Root's directory with a file, one in which anybody may create files, and the stranger's. */
interface Places {
  readonly own: string
  readonly sticky: string
  readonly foreign: string
  readonly victim: string
}

function makePlaces(directory: string): Places {
  chmodSync(directory, 0o755)
  const [own, sticky] = [`${directory}/own`, `${directory}/sticky`]
  for (const path of [own, sticky]) mkdirSync(path)
  chmodSync(sticky, 0o1777)
  writeFileSync(`${own}/victim`, 'what root has here\n')
  return { own, sticky, foreign: foreignDirectory(`${directory}/foreign`), victim: `${own}/victim` }
}

function link(target: string, path: string): string {
  symlinkSync(target, path)
  return givenAway(path)
}

/** Made by the stranger. @returns the file that volctl is told to write */
const TRAPS: Readonly<Record<string, (places: Places) => string>> = {
  'a link, in a directory for all': ({ victim, sticky }) => link(victim, `${sticky}/out`),
  'a link to nothing, in his directory': ({ own, foreign }) => link(`${own}/new`, `${foreign}/out`),
  'below a link to a directory, in a directory for all': ({ own, sticky }) => `${link(own, `${sticky}/link`)}/out`,
  'below a link to a directory, in his directory': ({ own, foreign }) => `${link(own, `${foreign}/link`)}/victim`,
}

describeUnless(noRoot, 'where volctl is told to write', () => {
  const node = nodeForAll()
  const write = (command: 'snapshot' | 'plan', file: string) => {
    const args = command === 'plan' ? ['plan', '-o', 'json', '--out', file] : ['snapshot', '-o', file]
    const options = { deadlineMs: 20_000 }
    return node().volctl([...args, '--kubeconfig', node().api.kubeconfig('admin')], options)
  }

  it.for(Object.entries(TRAPS))('S33: nothing is written to %s', async ([, make], { directory }) => {
    const places = makePlaces(directory)
    const file = make(places)
    const before = picture(directory)
    const run = await write('snapshot', file)
    expect({ status: run.status, said: oneLine(run), changed: changes(before, picture(directory)) }).toEqual({
      status: 1,
      said: 'one line',
      changed: [],
    })
  })

  it("S33: a plan file as well: it is not written to another user's link", async ({ directory }) => {
    const { victim, sticky } = makePlaces(directory)
    const run = await write('plan', link(victim, `${sticky}/out`))
    expect({ status: run.status, code: codeOf(run) }).toEqual({ status: 1, code: 'NotWritten' })
    expect(readFileSync(victim, 'utf8')).toBe('what root has here\n')
  })

  it('S33: nothing is written to a FIFO of another user, which he reads', async ({ directory }) => {
    const file = `${makePlaces(directory).foreign}/out`
    sh('mkfifo', '-m', '666', file)
    givenAway(file)
    // Held open for writing here, too, so that its reader gets no end of file.
    const fd = openSync(file, constants.O_RDWR | constants.O_NONBLOCK)
    const reader = spawn('cat', { stdio: [openSync(file, constants.O_RDONLY), 'pipe', 'ignore'] })
    let bytes = 0
    reader.stdout?.on('data', (data: Buffer) => {
      bytes += data.length
    })
    const run = await write('snapshot', file)
    await end(reader)
    closeSync(fd)
    expect({ status: run.status, said: oneLine(run), bytes }).toEqual({ status: 1, said: 'one line', bytes: 0 })
  })

  it('S33: a file that another user holds open, or that has another name, is not written to: a new one is', async ({
    directory,
  }) => {
    const { victim, sticky } = makePlaces(directory)
    const fd = openSync(foreignFile(`${sticky}/his`, 'his\n'), 'r')
    linkSync(victim, `${sticky}/linked`)
    for (const name of ['his', 'linked'])
      expect([0, 1]).toContain((await write('snapshot', `${sticky}/${name}`)).status)
    expect(readFileSync(fd, 'utf8')).toBe('his\n')
    closeSync(fd)
    expect(readFileSync(victim, 'utf8')).toBe('what root has here\n')
  })

  it('control: a new file in a directory for all, and one that is there, are written for their owner alone', async ({
    directory,
  }) => {
    const { own, sticky } = makePlaces(directory)
    writeFileSync(`${own}/out`, 'old\n')
    for (const file of [`${own}/out`, `${sticky}/out`]) {
      const { status } = await write('snapshot', file)
      const { kind } = JSON.parse(readFileSync(file, 'utf8'))
      const mode = (lstatSync(file).mode & 0o777).toString(8)
      expect({ status, kind, mode }).toEqual({ status: 0, kind: 'NodeSnapshot', mode: '600' })
    }
  })
})
