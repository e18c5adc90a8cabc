/** Files that volctl is told to write to, and that somebody else has had a hand in. */
import { type ChildProcess, spawn } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  constants,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { runScenario, sh } from '../../helpers/scenario.ts'
import { type TrustNode, withNode } from './node.ts'
import { end, foreignDirectory, foreignFile, givenAway } from './strangers.ts'
import { changes, picture } from './untouched.ts'
import { codeOf, oneLine, type WatchedRun } from './watched-run.ts'

export interface Written {
  readonly status: number | undefined
  readonly ended: WatchedRun['ended']
  /** Is what it said one clear line. */
  readonly said: string
  readonly code: string | undefined
  /** What has changed of what is not to be written to. */
  readonly changed: readonly string[]
}

export type Report = Readonly<Record<'snapshot' | 'plan', Readonly<Record<string, Written>>>>

/** A file to be named, and what must stay as it is. */
interface Trap {
  readonly file: string
  readonly watched: readonly string[]
  /** What somebody was handed. */
  readonly taken?: () => readonly string[]
  release?(): Promise<void> | void
}

const PRECIOUS = 'what root has here\n'

/** All in a directory of its own, which everybody may look into. */
const TRAPS: Readonly<Record<string, (directory: string) => Trap>> = {
  "another user's link, in a directory for all": (directory) => {
    const { victim, sticky } = places(directory)
    symlinkSync(victim, `${sticky}/out`)
    return { file: givenAway(`${sticky}/out`), watched: [victim, `${sticky}/out`] }
  },
  "another user's link to nothing, in a directory for all": (directory) => {
    const { own, sticky } = places(directory)
    symlinkSync(`${own}/new`, `${sticky}/out`)
    return { file: givenAway(`${sticky}/out`), watched: [own, `${sticky}/out`] }
  },
  "another user's link, in his directory": (directory) => {
    const { victim, foreign } = places(directory)
    symlinkSync(victim, `${foreign}/out`)
    return { file: givenAway(`${foreign}/out`), watched: [victim, foreign] }
  },
  "another user's link to nothing, in his directory": (directory) => {
    const { own, foreign } = places(directory)
    symlinkSync(`${own}/new`, `${foreign}/out`)
    return { file: givenAway(`${foreign}/out`), watched: [own, foreign] }
  },
  "below another user's link to a directory, in a directory for all": (directory) => {
    const { own, sticky } = places(directory)
    symlinkSync(own, `${sticky}/link`)
    givenAway(`${sticky}/link`)
    return { file: `${sticky}/link/out`, watched: [own, `${sticky}/link`] }
  },
  "below another user's link to a directory, in his directory": (directory) => {
    const { own, foreign } = places(directory)
    symlinkSync(own, `${foreign}/link`)
    givenAway(`${foreign}/link`)
    return { file: `${foreign}/link/victim`, watched: [own, foreign] }
  },
  "another user's FIFO, which he reads": (directory) => fifo(places(directory).sticky),
  "another user's FIFO in his directory, which he reads": (directory) => fifo(places(directory).foreign),
  "another user's plain file, which he holds open": (directory) => {
    const { sticky } = places(directory)
    const file = foreignFile(`${sticky}/out`, 'his\n')
    const fd = openSync(file, 'r')
    // A new file of this name is not his.
    return {
      file,
      watched: [],
      taken: () => (readFileSync(fd, 'utf8') === 'his\n' ? [] : ['his file was written to']),
      release: () => closeSync(fd),
    }
  },
}

/** Written anew, or refused: but never the file of the other name. */
const HARD_LINKS: Readonly<Record<string, (directory: string) => Trap>> = {
  "a hard link to root's file, in another user's directory": (directory) => {
    const { victim, foreign } = places(directory)
    linkSync(victim, `${foreign}/out`)
    return { file: `${foreign}/out`, watched: [], taken: () => contentOf(victim) }
  },
  "a hard link to root's file, in a directory for all": (directory) => {
    const { victim, sticky } = places(directory)
    linkSync(victim, `${sticky}/out`)
    return { file: `${sticky}/out`, watched: [], taken: () => contentOf(victim) }
  },
}

const DEVICES: Readonly<Record<string, (directory: string) => Trap>> = {
  'a loop device': (directory) => {
    const { device, backing, release } = loop(directory)
    return { file: device, watched: [backing], release }
  },
  'a link to a loop device': (directory) => {
    const { device, backing, release } = loop(directory)
    symlinkSync(device, `${directory}/out`)
    return { file: `${directory}/out`, watched: [backing], release }
  },
  'a device node of a loop device, anywhere': (directory) => {
    const { device, backing, release } = loop(directory)
    sh('cp', '-a', device, `${directory}/out`)
    return { file: `${directory}/out`, watched: [backing], release }
  },
}

const GOOD: Readonly<Record<string, (directory: string) => string>> = {
  'a new file': (directory) => `${places(directory).own}/out`,
  'a file that is there': (directory) => {
    const { own } = places(directory)
    writeFileSync(`${own}/out`, 'old\n')
    return `${own}/out`
  },
  'a new file in a directory for all': (directory) => `${places(directory).sticky}/out`,
}

function places(directory: string) {
  const [own, sticky, foreign] = ['own', 'sticky', 'foreign'].map((name) => `${directory}/${name}`) as [
    string,
    string,
    string,
  ]
  mkdirSync(own)
  mkdirSync(sticky)
  chmodSync(sticky, 0o1777)
  foreignDirectory(foreign)
  const victim = `${own}/victim`
  writeFileSync(victim, PRECIOUS)
  return { own, sticky, foreign, victim }
}

function contentOf(victim: string): readonly string[] {
  return readFileSync(victim, 'utf8') === PRECIOUS ? [] : ["root's file was written to"]
}

/** Held open for writing here, too, so that its reader gets no end of file. */
function fifo(directory: string): Trap {
  const file = `${directory}/out`
  sh('mkfifo', '-m', '666', file)
  givenAway(file)
  const fd = openSync(file, constants.O_RDWR | constants.O_NONBLOCK)
  const reader: ChildProcess = spawn('cat', { stdio: [openSync(file, constants.O_RDONLY), 'pipe', 'ignore'] })
  let bytes = 0
  reader.stdout?.on('data', (data: Buffer) => {
    bytes += data.length
  })
  return {
    file,
    watched: [file],
    taken: () => (bytes === 0 ? [] : [`${bytes} bytes went to its reader`]),
    release: async () => {
      await end(reader)
      closeSync(fd)
    },
  }
}

function loop(directory: string) {
  const backing = `${directory}/disk`
  writeFileSync(backing, '')
  truncateSync(backing, 1 << 20)
  const device = sh('losetup', '-f', '--show', backing)
  return { device, backing, release: () => void sh('losetup', '-d', device) }
}

/** A shell's pipe: what Node gives a child is a socket, which nobody can open by a path. */
const INTO_PIPE = '{ "$@"; echo $? > status; } | cat; exit "$(cat status)"'

const COMMANDS = {
  snapshot: (file: string) => ['snapshot', '-o', file],
  plan: (file: string) => ['plan', '-o', 'json', '--out', file],
} as const

async function tryAll(node: TrustNode, traps: Readonly<Record<string, (directory: string) => Trap>>): Promise<Report> {
  const report: Record<string, Record<string, Written>> = { snapshot: {}, plan: {} }
  for (const [name, make] of Object.entries(traps)) {
    for (const [command, args] of Object.entries(COMMANDS)) {
      const directory = `${node.directory}/trap`
      mkdirSync(directory)
      const { file, watched, taken, release } = make(directory)
      const before = watched.map(picture).join('')
      const run = await node.volctl([...args(file), '--kubeconfig', node.api.kubeconfig('admin')], {
        deadlineMs: 20_000,
      })
      // What a device was given reaches its file by this.
      if (file.startsWith('/dev/loop') || lstatSync(file, { throwIfNoEntry: false })?.isBlockDevice()) sh('sync')
      const changed = [...changes(before, watched.map(picture).join('')), ...(taken?.() ?? [])]
      await release?.()
      rmSync(directory, { recursive: true })
      const said = oneLine(run)
      const entry = { status: run.status, ended: run.ended, said, code: codeOf(run), changed }
      Object.assign(report[command] ?? {}, { [name]: entry })
    }
  }
  return report as unknown as Report
}

await runScenario({
  traps: (directory) => withNode(directory, {}, (node) => tryAll(node, TRAPS)),
  hardLinks: (directory) => withNode(directory, {}, (node) => tryAll(node, HARD_LINKS)),
  devices: (directory) => withNode(directory, {}, (node) => tryAll(node, DEVICES)),

  /** Where nobody else had a hand in it. */
  good: (directory) =>
    withNode(directory, {}, async (node) => {
      const found: Record<string, unknown> = {}
      for (const [name, make] of Object.entries(GOOD)) {
        for (const [command, args] of Object.entries(COMMANDS)) {
          const place = `${directory}/good`
          mkdirSync(place)
          const file = make(place)
          const { status, stderr } = await node.volctl([...args(file), '--kubeconfig', node.api.kubeconfig('admin')])
          const { kind } = JSON.parse(readFileSync(file, 'utf8')) as { kind: string }
          const mode = (lstatSync(file).mode & 0o777).toString(8)
          rmSync(place, { recursive: true })
          found[`${command}: ${name}`] = { status, kind, mode, wrote: stderr.startsWith('wrote ') }
        }
      }
      for (const file of ['-', '/dev/stdout', '/dev/null']) {
        const args = ['snapshot', '-o', file, '--kubeconfig', node.api.kubeconfig('admin')]
        const run = await node.volctl(args, { script: INTO_PIPE })
        const kind = run.stdout === '' ? '' : (JSON.parse(run.stdout) as { kind: string }).kind
        found[file] = { status: run.status, kind, stderr: run.stderr }
      }
      return found
    }),
})
