import { Chalk, type ChalkInstance } from 'chalk'

/** The few meanings that have a colour; decided once per stream (chalk itself ignores NO_COLOR). */
export interface Palette {
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly good: (text: string) => string
  readonly warn: (text: string) => string
  readonly bad: (text: string) => string
}

export function palette(colour: boolean): Palette {
  const chalk: ChalkInstance = new Chalk({ level: colour ? 1 : 0 })
  return { bold: chalk.bold, dim: chalk.dim, good: chalk.green, warn: chalk.yellow, bad: chalk.red }
}

export const PLAIN: Palette = palette(false)
