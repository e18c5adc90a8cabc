/** The SELinux label of containers' files on this host (C68), read as the kubelet's own library reads it. */
import { errnoOf, errorMessage } from '../errors/errors.ts'
import type { Selinux } from '../model/snapshot.ts'
import { readTrustedText } from '../trust/files.ts'
import { kernelTextIfAny } from '../trust/kernel.ts'

/** Read first; otherwise lxc_contexts of the policy. */
const CONTAINER_CONTEXTS = '/usr/share/containers/selinux/contexts'
const DEFAULT_POLICY = 'targeted'

/** @param root prefix of the paths, for tests */
export function readSelinux(root = ''): Selinux {
  const enforce = kernelTextIfAny(`${root}/sys/fs/selinux/enforce`)
  // Before a policy is loaded, every process has the label `kernel`.
  const own = kernelTextIfAny(`${root}/proc/self/attr/current`)?.replaceAll('\0', '')
  if (enforce === undefined || own === 'kernel') return { enabled: false }
  try {
    const text =
      readIfThere(root + CONTAINER_CONTEXTS) ??
      readIfThere(`${root}/etc/selinux/${policyType(root)}/contexts/lxc_contexts`)
    const fileLabel = lastValue(text ?? '', 'file')
    return { enabled: true, ...(fileLabel && { fileLabel }) }
  } catch (error) {
    return { enabled: true, error: errorMessage(error) }
  }
}

function policyType(root: string): string {
  return lastValue(readIfThere(`${root}/etc/selinux/config`) ?? '', 'SELINUXTYPE') || DEFAULT_POLICY
}

/** The value of `key = "value"`; the quotes are optional, and the last line with the key counts. */
function lastValue(text: string, key: string): string | undefined {
  return text
    .split('\n')
    .map((line) => /^\s*([^=#;]+?)\s*=\s*(.*?)\s*$/.exec(line))
    .findLast((match) => match?.[1] === key)?.[2]
    ?.replace(/^"(.*)"$/, '$1')
}

/** @throws the system's error if the file exists and cannot be read */
function readIfThere(path: string): string | undefined {
  try {
    return readTrustedText(path)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return undefined
    throw error
  }
}
