/**
 * Reading /proc/PID/maps in a process of its own: the kernel may make the reader wait for as long as a process hangs
 * that has its memory locked, in a file of a dead server for example. Who started it can kill it. It takes one request on its
 * standard input, and answers on its standard output with a line for every process, in order.
 */
import { errnoOf, errorMessage } from '../errors.ts'
import { requestOfParent } from '../parent-request.ts'
import { kernelText } from '../trust/kernel.ts'
import { detachedPaths } from './detached-paths.ts'
import { type MapAnswer, type MapRequest, mapRequest } from './map-messages.ts'
import { mappedBlocks } from './mapped-blocks.ts'
import { parseMaps } from './parse-maps.ts'

/** Sets the exit status: 1 where the request is none, or not of this process's parent; nothing is read then. */
export async function readMapsForParent(): Promise<void> {
  const request = await requestOfParent(mapRequest, 'map reader')
  if (request === undefined) return
  const known = new Set(request.detached?.mounts)
  // A pipe is written to at once: what is said of one process is out before the next one is looked at.
  for (const pid of request.pids) process.stdout.write(`${JSON.stringify(answerOf(pid, request, known))}\n`)
}

function answerOf(pid: number, { devices, detached, blocks }: MapRequest, known: ReadonlySet<number>): MapAnswer {
  try {
    const maps = devices.length === 0 ? [] : parseMaps(kernelText(`/proc/${pid}/maps`))
    const mapped = maps.filter(({ dev }) => devices.includes(dev)).map(({ path }) => path)
    const paths = [
      ...mapped,
      ...(detached === undefined ? [] : detachedPaths(pid, detached.devices, known)),
      ...(blocks === undefined ? [] : mappedBlocks(pid, blocks)),
    ]
    return { pid, paths: [...new Set(paths)] }
  } catch (error) {
    return { pid, paths: [], error: errnoOf(error) ?? errorMessage(error) }
  }
}
