/** File paths that an atomic writer accepts (P27). */
import { posix } from 'node:path'

const MAX_PATH_BYTES = 4096
const MAX_ELEMENT_BYTES = 255

/** The cleaned path; undefined for one that makes the kubelet reject the whole write. */
export function cleanPayloadPath(path: string): string | undefined {
  const elements = path.split('/')
  const isValid =
    path !== '' &&
    !path.startsWith('/') &&
    Buffer.byteLength(path) <= MAX_PATH_BYTES &&
    elements.every((element) => element !== '..' && Buffer.byteLength(element) <= MAX_ELEMENT_BYTES) &&
    // Such names belong to the writer itself: ..data and the timestamp directories.
    !elements[0]?.startsWith('..')
  return isValid ? posix.normalize(path).replace(/\/$/, '') : undefined
}
