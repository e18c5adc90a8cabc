/** The pods and volumes of the scene. */
import type { OtherVolume, ScenePod, SceneVolume } from './api-objects.ts'

const fileSystem = (name: string): SceneVolume => ({ name, kind: 'filesystem' })

const OTHERS: readonly OtherVolume[] = ['settings', 'password', 'scratch', 'memory', 'logs']
/** One volume, two pods: one keeps running, one is deleted. */
const COMMON = fileSystem('common')
const ARCHIVE: SceneVolume = { name: 'archive', kind: 'local' }
/** Raw block volumes need loop devices. */
const RAW: SceneVolume = { name: 'raw', kind: 'block' }
/** Staged, although no pod directory refers to it. */
export const FORGOTTEN = fileSystem('old')
/** Only attached. */
export const IDLE = fileSystem('idle')

export interface Cast {
  /** Keeps running throughout. */
  readonly web: ScenePod
  /** Deleted while the kubelet is down. */
  readonly db: ScenePod
  /** Deleted as well; only a subPath mount of its volume is left. */
  readonly batch: ScenePod
}

export function cast(withBlockVolumes: boolean): Cast {
  return {
    web: { name: 'web-0', uid: uid(1), volumes: [fileSystem('web'), COMMON], others: OTHERS },
    db: {
      name: 'db-0',
      uid: uid(2),
      volumes: [fileSystem('db'), COMMON, ARCHIVE, ...(withBlockVolumes ? [RAW] : [])],
      others: OTHERS,
    },
    batch: { name: 'batch-0', uid: uid(3), volumes: [fileSystem('batch')], others: OTHERS },
  }
}

/** The smallest cast that still has every kind of operation, for tests that repeat it many times. */
export function smallCast(): Cast {
  const { web, db, batch } = cast(false)
  return {
    web: { ...web, volumes: [COMMON], others: ['password'] },
    db: { ...db, volumes: [COMMON, ARCHIVE], others: ['password', 'scratch'] },
    batch: { ...batch, others: ['settings', 'logs'] },
  }
}

function uid(n: number): string {
  return `11111111-2222-4333-8444-${String(n).padStart(12, '0')}`
}
