/** The few meanings that have a colour. */
export interface Palette {
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly good: (text: string) => string
  readonly warn: (text: string) => string
  readonly bad: (text: string) => string
}

const asItIs = (text: string): string => text

export const PLAIN: Palette = { bold: asItIs, dim: asItIs, good: asItIs, warn: asItIs, bad: asItIs }

/** Decided once per stream, as chalk itself ignores NO_COLOR. Without colour chalk is not even loaded. */
export async function palette(colour: boolean): Promise<Palette> {
  if (!colour) return PLAIN
  const { Chalk } = await import('chalk')
  const chalk = new Chalk({ level: 1 })
  return { bold: chalk.bold, dim: chalk.dim, good: chalk.green, warn: chalk.yellow, bad: chalk.red }
}
