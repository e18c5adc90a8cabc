export interface PodRef {
  readonly namespace?: string
  readonly name?: string
  readonly uid: string
}

export type Severity = 'error' | 'warning' | 'info'
