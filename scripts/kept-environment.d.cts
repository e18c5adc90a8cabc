export const KEPT: readonly string[]
export const PATH: string
