/**
 * What the executable runs first: what bin/volctl and launch.cjs do for the npm package. There a shell keeps everything from
 * Node.js that is not volctl's; here Node.js has started already.
 */
import { existsSync, readlinkSync, statSync, writeSync } from 'node:fs'
import { getRawAsset } from 'node:sea'
import { asksForVersion, versionLine } from '../../src/core/cli/version-line.ts'
import { errnoOf } from '../../src/core/messages/findings.ts'
import { checkTrusted, NotTrusted } from '../../src/core/trust/files.ts'
import { LIBRARY_FILES, ownLibraries, SELF } from '../../src/core/trust/own-program.ts'
import { whoElseWrites } from '../../src/core/trust/walk.ts'
import { isFile, KEPT, PATH } from '../kept-environment.cjs'
import { bundleFor, loadBundle } from '../load-bundle.cjs'
import { READ_EARLY } from './read-early.ts'

const LIBRARIES = 'LD_LIBRARY_PATH'

/** A child, or a re-entry, of a volctl that has looked at all this already. */
const isOwn = process.argv[2]?.startsWith('--internal-') === true

if (!isOwn) startCleanly()
keepEnvironment()
if (!isOwn && process.geteuid?.() === 0) requireOurs()
if (asksForVersion(process.argv.slice(2))) sayVersion()
const name = bundleFor(process.argv.slice(2))
loadBundle(asset(name).toString('latin1'), name === 'volctl.cjs' ? asset('code-cache') : undefined, name)

/** Needs nothing of the bundle. What cannot be written at once, the bundle knows how to treat. */
function sayVersion(): void {
  try {
    writeSync(1, versionLine())
  } catch {
    return
  }
  process.exit()
}

function asset(name: string): Buffer {
  return Buffer.from(getRawAsset(name))
}

/** What Node.js has read too early is undone by starting again without it (S34). Its options it takes from nowhere. */
function startCleanly(): void {
  const early = Object.keys(process.env).find((name) => READ_EARLY.test(name))
  if (early === undefined) return
  const kept = Object.entries(process.env).filter(([name]) => KEPT.includes(name))
  try {
    process.execve?.(SELF, [process.argv0, ...process.argv.slice(2)], Object.fromEntries(kept))
  } catch (error) {
    requireProc()
    end(
      `cannot start again without ${early}: ${errnoOf(error)}. Take it out of the environment: env -u ${early} volctl …`,
    )
  }
}

/** Without it this process cannot find its own file, nor anything about others. A root directory for repairs may lack it. */
function requireProc(): void {
  if (!existsSync(SELF)) end('/proc is not mounted here. Mount it: mount -t proc proc /proc')
}

function keepEnvironment(): void {
  // A volctl that has entered another mount namespace learns here where its own libraries are.
  const kept = isOwn ? [...KEPT, LIBRARIES] : KEPT
  for (const [name, value] of Object.entries(process.env))
    if (!kept.includes(name) || isFile(name, value)) delete process.env[name]
  process.env.PATH = PATH
}

/** Root must not run what somebody else can change (S33): the file, its libraries, every directory above and link on the way. */
function requireOurs(): void {
  requireProc()
  const who = whoElseWrites(statSync(SELF))
  if (who !== undefined) refuse(`this executable ${who}`)
  for (const path of [readlinkSync(SELF), ...LIBRARY_FILES.map((file) => `${ownLibraries()}/${file}`)]) {
    try {
      checkTrusted(path)
    } catch (error) {
      if (error instanceof NotTrusted) refuse(error.message)
      // The system's libraries are used where there are none beside it; and the file has no name while it is replaced.
      if (errnoOf(error) !== 'ENOENT') end(`not run as root: cannot tell who may write to ${path}: ${errnoOf(error)}`)
    }
  }
}

function refuse(why: string): never {
  end(`not run as root: ${why}. Install volctl where only root may write, such as /opt.`)
}

function end(why: string): never {
  process.stderr.write(`volctl: ${why}\n`)
  if (process.argv[2] !== 'check') process.exit(1)
  // Monitors read it: 1 would say that something is wrong with the node.
  process.stdout.write('unknown: volctl cannot start\n')
  process.exit(2)
}
