/** Checks that the files are still those that the operation was planned for (S26). */

import { OperationRefused } from '../../errors/operation-error.ts'
import type { FoundFile, Host } from '../../host/host.ts'
import { defined } from '../../lang/defined.ts'
import { fileText } from '../../plan/differences.ts'
import type { FileIdentity, Operation } from '../../plan/plan.ts'

/**
 * A file that is gone already is fine: removing is idempotent. Another file under its name is refused. To be called once the
 * mounts are known to be the expected ones, so that no path below a foreign mount is touched.
 *
 * @throws OperationRefused Changed
 */
export function requireSameFiles({ basis }: Operation, host: Host): void {
  for (const file of basis?.files ?? []) {
    const found = host.lstat(file.path)
    const now = found && identityOf(found, file)
    if (now === undefined || fileText(now) === fileText(file)) continue
    throw new OperationRefused('Changed', `${file.path} was ${fileText(file)}, now ${fileText(now)}`, {
      hint: 'Plan again, and look at what has changed.',
    })
  }
}

/** As far as the plan knew it. */
function identityOf({ id, size }: FoundFile, file: FileIdentity): Omit<FileIdentity, 'path'> | undefined {
  if (id === undefined) return undefined
  const { dev, ino, mtime } = id
  return {
    dev,
    ino,
    ...defined({
      size: file.size === undefined ? undefined : size,
      mtime: file.mtime === undefined ? undefined : mtime,
    }),
  }
}
