/**
 * In the Pod of `volctl on`: runs volctl's command, and prints its answer as frames (frames.ts), since a log has no separate
 * streams. The exit status of this process is the command's as well.
 *
 *   volctl __framed [--called-as=NAME] [--width=COLUMNS] [--until=SECONDS] [--input=BASE64]... -- COMMAND --host-root /host …
 */

import { errorMessage } from '../errors/errors.ts'
import { rfc3339 } from '../lang/rfc3339.ts'
import { calledWords } from '../trust/called-as.ts'
import { ownOptions, ownScript } from '../trust/own-program.ts'
import { runListened } from '../trust/programs.ts'
import { gunzipped } from '../trust/unpack.ts'
import { FrameWriter } from './frames.ts'
import { MAX_INPUT } from './handed-input.ts'

/** @param words what follows `__framed` */
export async function runFramed(
  words: readonly string[],
  version: string,
  write: (line: string) => void,
): Promise<number> {
  const frames = new FrameWriter(write)
  frames.send('start', Buffer.from(version))
  let status = 1
  try {
    status = await runCommand(words, frames)
  } catch (error) {
    frames.send('err', Buffer.from(`volctl: ${errorMessage(error)}\n`))
  }
  frames.send('end', Buffer.from(String(status)))
  return status
}

/** A node's clock and a client's may be so far apart. */
const CLOCKS_APART_MS = 300_000

/**
 * Until when a Pod may begin. One whose client was killed stays with the API server, and a kubelet that returns days later would
 * run it.
 *
 * @param startMs how long the client waits @returns seconds since 1970, for --until
 */
export function lastStart(startMs: number): number {
  return Math.ceil((Date.now() + startMs + CLOCKS_APART_MS) / 1000)
}

function tooLate(until: number): string {
  return `this Pod was to start before ${rfc3339(until * 1000)}, and nobody waits for it any more; nothing was done`
}

async function runCommand(words: readonly string[], frames: FrameWriter): Promise<number> {
  const end = words.indexOf('--')
  if (end < 0) throw new Error('the command of the Pod is missing')
  const valuesOf = (name: string): string[] =>
    words.slice(0, end).flatMap((word) => (word.startsWith(`--${name}=`) ? [word.slice(name.length + 3)] : []))
  const [name] = valuesOf('called-as')
  const [width] = valuesOf('width')
  const [until] = valuesOf('until')
  if (until !== undefined && Date.now() > Number(until) * 1000) throw new Error(tooLate(Number(until)))
  const input = valuesOf('input').join('')
  const script = ownScript()
  return await runListened(
    [
      ...ownOptions(),
      ...(script === undefined ? [] : [script]),
      ...calledWords(name, width === undefined ? undefined : Number(width)),
      ...words.slice(end + 1),
    ],
    {
      input: input === '' ? Buffer.alloc(0) : gunzipped(Buffer.from(input, 'base64'), MAX_INPUT),
      out: (bytes) => frames.send('out', bytes),
      err: (bytes) => frames.send('err', bytes),
    },
  )
}
