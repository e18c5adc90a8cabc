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

/** Told apart by their first digits, as real ones are: then screens shorten them. */
const UIDS = {
  web: '04b1c9e7-5d20-4c8e-9f13-7a6e2d80b5c1',
  db: '0a93f6d2-81e4-4b57-a0c9-3f52d6e71b08',
  batch: '0e57ab18-c36f-49d1-8b24-d90f1c4a7e35',
}

interface Cast {
  /** Keeps running throughout. */
  readonly web: ScenePod
  /** Deleted while the kubelet is down. */
  readonly db: ScenePod
  /** Deleted as well; only a subPath mount of its volume is left. */
  readonly batch: ScenePod
}

export function cast(withBlockVolumes: boolean): Cast {
  return {
    web: { name: 'web-0', uid: UIDS.web, volumes: [fileSystem('web'), COMMON], others: OTHERS },
    db: {
      name: 'db-0',
      uid: UIDS.db,
      volumes: [fileSystem('db'), COMMON, ARCHIVE, ...(withBlockVolumes ? [RAW] : [])],
      others: OTHERS,
    },
    batch: { name: 'batch-0', uid: UIDS.batch, volumes: [fileSystem('batch')], others: OTHERS },
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
