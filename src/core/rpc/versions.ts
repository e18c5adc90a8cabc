/** A plugin's version: at least two numbers, most significant first. */
type Version = readonly number[]

/** The CSI major version that the kubelet speaks (C1). */
const SUPPORTED_MAJOR = 1

/**
 * The highest CSI 1.x version that a driver announces, as announced; undefined if it announces none. Texts that are not a
 * version are skipped (C1, TestValidatePlugin).
 *
 * @see Kubernetes `csiPlugin.validateVersions`, pkg/volume/csi/csi_plugin.go
 */
export function highestSupportedVersion(announced: readonly string[]): string | undefined {
  let highest: string | undefined
  for (const text of announced) {
    if (parseVersion(text)?.[0] !== SUPPORTED_MAJOR) continue
    if (highest === undefined || compareVersions(text, highest) > 0) highest = text
  }
  return highest
}

/** Negative, zero or positive as `a` is lower than, equal to or higher than `b`; missing numbers count as zero. */
export function compareVersions(a: string, b: string): number {
  const left = parseVersion(a) ?? []
  const right = parseVersion(b) ?? []
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/** Numbers joined by dots, after an optional "v" and before anything else; no leading zeros in the first three. */
function parseVersion(text: string): Version | undefined {
  const components = /^\s*v?(\d+(?:\.\d+)+)/.exec(text)?.[1]?.split('.')
  if (components === undefined) return undefined
  if (components.slice(0, 3).some((component) => component.length > 1 && component.startsWith('0'))) return undefined
  return components.map(Number)
}
