/** The capabilities that apply works with. Each is one bit of `CapEff` in /proc/self/status. */
import { kernelTextIfAny } from '../trust/kernel.ts'

interface Capability {
  readonly bit: number
  readonly name: string
  /** What for, to follow "to". */
  readonly use: string
}

/** Everything that apply needs, and nothing else (Least power): CAP_KILL and CAP_NET_ADMIN, say, are not among them. */
export const NEEDED_CAPABILITIES: readonly Capability[] = [
  { bit: 0, name: 'CAP_CHOWN', use: "give a volume's files to their group" },
  // Reading is part of it, so that CAP_DAC_READ_SEARCH is not needed besides.
  { bit: 1, name: 'CAP_DAC_OVERRIDE', use: 'reach directories and devices whatever their owner and mode' },
  { bit: 3, name: 'CAP_FOWNER', use: 'change the mode of what belongs to others, and remove it' },
  { bit: 4, name: 'CAP_FSETID', use: "keep the set-group-ID bit of a volume's directories" },
  { bit: 18, name: 'CAP_SYS_CHROOT', use: "enter the kubelet's mount namespace" },
  { bit: 19, name: 'CAP_SYS_PTRACE', use: 'see which files and mount namespaces other processes hold' },
  { bit: 21, name: 'CAP_SYS_ADMIN', use: 'mount and unmount' },
]

/**
 * Those that this process lacks, in the order of their bits. Of a status that cannot be read, or that has no such line,
 * all: an unknown capability counts as missing.
 */
export function missingCapabilities(status = kernelTextIfAny('/proc/self/status') ?? ''): readonly Capability[] {
  const effective = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`)
  return NEEDED_CAPABILITIES.filter(({ bit }) => ((effective >> BigInt(bit)) & 1n) === 0n)
}

/** What is missing, in words; of one alone also what for. */
export function missingText(missing: readonly Pick<Capability, 'name' | 'use'>[]): string {
  const [first, ...others] = missing
  return others.length === 0 ? `${first?.name}, needed to ${first?.use}` : missing.map(({ name }) => name).join(', ')
}
