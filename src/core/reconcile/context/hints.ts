/** Next steps that several phases give. */

/** Of a file that volctl never deletes. */
export const CLEAR_AWAY = 'Look at it; move it away or delete it yourself, then plan again.'

/** S13. */
export const DELETE_WITH_POD = 'Give --orphans to delete it with the pod.'

/** Of what volctl cannot do, and a kubelet can. */
export const START_KUBELET = 'Start the kubelet: it mounts the volume.'
