const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** Bytes for people: `0 B`, `1.5 KiB`, `20 MiB`. */
export function byteText(bytes: number): string {
  let [value, unit] = [bytes, 0]
  while (value >= 1024 && unit < UNITS.length - 1) [value, unit] = [value / 1024, unit + 1]
  return `${unit === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`
}
