/**
 * The value that a map from outside has under a key that also comes from outside: names such as `constructor` are legal
 * for volumes and labels, and every JavaScript object answers to them.
 */
export function ownValue<T>(map: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined
}
