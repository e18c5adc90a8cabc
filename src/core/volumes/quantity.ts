/** Kubernetes resource quantities ("10Gi", "1500m", "1e3"), exactly. */

const SYNTAX = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d{1,3})?$/

/** From 10^-9 to 10^18. */
const DECIMAL_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E']

const BINARY_SUFFIXES = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

/** Enough for every suffix with nine decimals, as Kubernetes keeps them; finer parts are rounded up. */
const SCALE = 10n ** 9n

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
  const [, sign, digits, suffix = ''] = SYNTAX.exec(text ?? '') ?? []
  if (digits === undefined) return undefined
  const [whole = '', fraction = ''] = digits.split('.')
  const mantissa = BigInt(whole + fraction)
  const binary = BINARY_SUFFIXES.indexOf(suffix)
  const multiplier = SCALE * (binary < 0 ? 1n : 1024n ** BigInt(binary + 1))
  const exponent = (binary < 0 ? decimalExponent(suffix) : 0) - fraction.length
  const value =
    exponent >= 0
      ? mantissa * multiplier * 10n ** BigInt(exponent)
      : divideUp(mantissa * multiplier, 10n ** BigInt(-exponent))
  return sign === '-' ? -value : value
}

function decimalExponent(suffix: string): number {
  const index = DECIMAL_SUFFIXES.indexOf(suffix)
  return index < 0 ? Number(suffix.slice(1)) : 3 * index - 9
}

/** Rounds up values that are not negative; truncates negative ones. */
export function divideUp(value: bigint, divisor: bigint): bigint {
  return value / divisor + (value > 0n && value % divisor !== 0n ? 1n : 0n)
}
