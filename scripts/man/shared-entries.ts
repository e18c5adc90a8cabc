/**
 * ENVIRONMENT and FILES of a command: those of volctl(8) that its flags lead to, so that each stands in man/src once and a new
 * command needs no separate one.
 */
import type { Command } from '@oclif/core'

interface Entry {
  /** In the entry's term, as man/src/volctl.md has it. */
  readonly term: string
  /** One of these flags is enough; absent: every command. */
  readonly flags?: readonly string[]
}

const ENVIRONMENT: readonly Entry[] = [
  { term: 'KUBECONFIG', flags: ['kubeconfig'] },
  { term: 'CONTAINER_RUNTIME_ENDPOINT', flags: ['runtime-endpoint'] },
  { term: 'HTTPS_PROXY', flags: ['kubeconfig'] },
  { term: 'NO_COLOR' },
  { term: 'LC_ALL' },
  // Of volctl(8) alone.
]

const FILES: readonly Entry[] = [
  { term: '/var/lib/kubelet', flags: ['root-dir'] },
  { term: '/etc/kubernetes/admin.conf', flags: ['kubeconfig'] },
  { term: '/etc/crictl.yaml', flags: ['runtime-endpoint'] },
  { term: '/run/volctl/', flags: ['no-journal'] },
  { term: '/var/lib/volctl/', flags: ['journal', 'root-dir'] },
]

/**
 * @param written the sections of volctl(8), as roff
 * @throws Error for an entry there that nobody has here, or the other way round
 */
export function sharedEntries(
  written: (title: string) => string,
  command: Pick<Command.Cached, 'flags'>,
): { readonly environment: string; readonly files: string } {
  return {
    environment: chosen(written('ENVIRONMENT'), ENVIRONMENT, command),
    files: chosen(written('FILES'), FILES, command),
  }
}

function chosen(section: string, entries: readonly Entry[], { flags }: Pick<Command.Cached, 'flags'>): string {
  const definitions = section.match(/^\.TP\n[^\n]*\n[^\n]*\n/gm) ?? []
  const found = entries.map(({ term }) => definitions.find((each) => each.split('\n')[1]?.includes(`\\fB${term}\\fR`)))
  const missing = entries.filter((_, index) => found[index] === undefined).map(({ term }) => term)
  const others = definitions.filter((each) => !found.includes(each))
  if (missing.length + others.length > 0) {
    throw new Error(`scripts/man/shared-entries.ts and man/src/volctl.md differ: ${[...missing, ...others].join(', ')}`)
  }
  return entries
    .flatMap(({ flags: wanted }, index) =>
      wanted === undefined || wanted.some((flag) => Object.hasOwn(flags, flag)) ? (found[index] ?? []) : [],
    )
    .join('')
}
