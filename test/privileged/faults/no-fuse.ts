import { existsSync } from 'node:fs'
import { noRoot } from '../../helpers/namespace.ts'

/** Why no FUSE file system of the tests' own can be mounted; undefined: it can. */
export const noFuse = noRoot ?? (existsSync('/dev/fuse') ? undefined : 'this machine has no FUSE')
