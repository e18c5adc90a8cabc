export const KEPT: readonly string[]
export const PATH: string
export function isFile(name: string, value: string | undefined): boolean
