/** Where unix sockets are bound: as the kernel shows it, by the path that was given, from wherever the process stood (unix(7)). */
import { posix } from 'node:path'
import { errnoOf, errorMessage } from '../errors/errors.ts'
import type { Location } from '../mountinfo/location.ts'
import { LOOK_MOST } from '../processes/look-bounds.ts'
import { hasEnded, processIds, type Unseen, unseenOf } from '../processes/mount-namespaces.ts'
import { linesInPieces, namespaceOf } from '../trust/kernel.ts'
import { fileAt, followLinks, placesAt, type View } from './follow-links.ts'
import { PlaceIndex } from './place-index.ts'

export interface BoundSockets {
  /** Paths, by the place of the socket that some mount namespace has there. */
  readonly located: PlaceIndex<string>
  /** By their last part: paths that are relative, or lead to no socket any more. */
  readonly loose: ReadonlyMap<string, string>
}

/** Follows links of local file systems, and opens nothing. @param paths as given to bind(2) */
export function locateSockets(paths: Iterable<string>, views: readonly View[]): BoundSockets {
  const located: (readonly [Location, string])[] = []
  const loose = new Map<string, string>()
  let left = LOOK_MOST.socketsAsked
  for (const path of paths) {
    const view = path.startsWith('/') ? views.find((each) => left-- > 0 && isSocketAt(each, path)) : undefined
    if (view === undefined) loose.set(posix.basename(path), path)
    else for (const place of placesAt(view, path)) located.push([place, path])
  }
  return { located: new PlaceIndex(located), loose }
}

function isSocketAt(view: View, path: string): boolean {
  return fileAt(view, followLinks(view, path))?.isSocket() === true
}

const TOO_MANY: Unseen = {
  text: `more than ${LOOK_MOST.sockets} unix sockets are bound`,
  hint: 'Find out which process binds them (ss -xlp) and end it if nobody needs it.',
}

/** Of every network namespace that a process is in. */
export function boundPaths(proc = '/proc'): {
  readonly paths: ReadonlySet<string>
  readonly unseen: readonly Unseen[]
} {
  const paths = new Set<string>()
  const unseen: Unseen[] = []
  const seen = new Set<string | undefined>([undefined])
  for (const pid of processIds(proc)) {
    const namespace = namespaceOf(pid, 'net', proc)
    if (seen.has(namespace)) continue
    try {
      for (const lines of linesInPieces(`${proc}/${pid}/net/unix`)) {
        for (const path of pathsIn(lines.toString())) paths.add(path)
        if (paths.size > LOOK_MOST.sockets) return { paths, unseen: [...unseen, TOO_MANY] }
      }
      seen.add(namespace)
    } catch (error) {
      // Another process of the namespace may still show it.
      if (hasEnded(error) || errnoOf(error) === 'EINVAL') continue
      unseen.push(
        unseenOf([pid], `the unix sockets of process ${pid}'s network could not be read: ${errorMessage(error)}`),
      )
      seen.add(namespace)
    }
  }
  return { paths, unseen }
}

/** address: references protocol flags type state inode path; an abstract name begins with "@". A path may have line breaks. */
const BOUND =
  /^[0-9a-f]+: [0-9A-F]+ [0-9A-F]+ [0-9A-F]+ [0-9A-F]+ [0-9A-F]+ +\d+ ([^@\n][^\n]*(?:\n(?![0-9a-f]+: )[^\n]+)*)/gm

function pathsIn(text: string): string[] {
  return [...text.matchAll(BOUND)].map(([, path = '']) => path)
}
