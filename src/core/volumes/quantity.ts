/** Kubernetes resource quantities ("10Gi", "1500m", "1e3"), exactly. */

const SYNTAX = /^([+-]?)(?=\.?\d)(\d*)(?:\.(\d*))?(?:([KMGTPE]i|[numkMGTPE])|[eE]([+-]?\d{1,3}))?$/

/** Of the smallest suffix, n, one: nine decimals, as Kubernetes keeps them; finer parts are rounded up. */
const SCALE = 10n ** 9n

const UNITS: Readonly<Record<string, bigint>> = Object.fromEntries([
  ...['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'].map((suffix, index) => [suffix, 1000n ** BigInt(index)]),
  ...['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].map((suffix, index) => [suffix, SCALE * 1024n ** BigInt(index + 1)]),
])

/** Whole units (bytes, cores), rounded up as Kubernetes does; undefined if the text is not a quantity. */
export function parseQuantity(text: string | undefined): bigint | undefined {
  return inUnits(text, SCALE)
}

/** Thousandths of a unit, rounded up as Kubernetes does; undefined if the text is not a quantity. */
export function parseMilliQuantity(text: string | undefined): bigint | undefined {
  return inUnits(text, SCALE / 1000n)
}

function inUnits(text: string | undefined, unit: bigint): bigint | undefined {
  const scaled = scaledQuantity(text)
  return scaled === undefined ? undefined : divideUp(scaled, unit)
}

/** Negative, zero or positive as `a` is less than, equal to or greater than `b`; undefined when either is unreadable. */
export function compareQuantities(a: string | undefined, b: string | undefined): number | undefined {
  const left = scaledQuantity(a)
  const right = scaledQuantity(b)
  if (left === undefined || right === undefined) return undefined
  return left < right ? -1 : left > right ? 1 : 0
}

function scaledQuantity(text: string | undefined): bigint | undefined {
  const [, sign, whole = '', fraction = '', suffix = '', power = '0'] = SYNTAX.exec(text ?? '') ?? []
  if (sign === undefined) return undefined
  const scaled = BigInt(whole + fraction) * (UNITS[suffix] ?? SCALE)
  const exponent = Number(power) - fraction.length
  const value = exponent >= 0 ? scaled * 10n ** BigInt(exponent) : divideUp(scaled, 10n ** BigInt(-exponent))
  return sign === '-' ? -value : value
}

/** Rounds up values that are not negative; truncates negative ones. */
export function divideUp(value: bigint, divisor: bigint): bigint {
  return value / divisor + (value > 0n && value % divisor !== 0n ? 1n : 0n)
}
