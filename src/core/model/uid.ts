/** UIDs as the API server makes them: UUIDs in small letters. */

/** For patterns in which a UID is a part. */
export const UID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'

const WHOLE = new RegExp(`^${UID}$`)

/** Does the text look like a UID, and like nothing else? */
export function isUid(text: string): boolean {
  return WHOLE.test(text)
}
