// The list of behaviours that are broken on purpose, and what is wrong with it.
import { z } from 'zod'

export const brokenBehavioursPath = 'test/brokenBehaviours.json'

/** The subject that a behaviour guards: one of all chains, or a family. */
export const areas = [
  ...['money', 'truth', 'access', 'limits', 'shutdown', 'upgrade'],
  ...['bitcoin', 'ethereum', 'hyperliquid', 'lighter', 'solana', 'tron'],
] as const

const path = z.string().regex(/^(apps|packages|test|scripts)\/\S+$/)
const behaviourSchema = z.strictObject({
  /** Says what is broken, in words joined by hyphens. */
  id: z.string().regex(/^[a-z][a-z0-9-]+$/),
  area: z.enum(areas),
  file: path,
  /** Stands once in the file. */
  text: z.string().min(1),
  replacement: z.string(),
  /** Files of which at least one test must fail. */
  tests: z.array(path.regex(/\.test\.ts$/)).min(1),
})
export type BrokenBehaviour = z.output<typeof behaviourSchema>

/** @throws ZodError for another shape */
export const parseBrokenBehaviours = (json: string): readonly BrokenBehaviour[] =>
  z.array(behaviourSchema).parse(JSON.parse(json))

/** @throws Error for an id that is not listed */
export function chooseBehaviours(
  list: readonly BrokenBehaviour[],
  ids: readonly string[],
): readonly BrokenBehaviour[] {
  const unknown = ids.find((id) => list.every((behaviour) => behaviour.id !== id))
  if (unknown !== undefined) throw new Error(`${brokenBehavioursPath} lists no ${unknown}`)
  return ids.length === 0 ? list : list.filter(({ id }) => ids.includes(id))
}

/** Behaviours whose text no longer stands once in its file, a sentence each. @param read text of a file @throws as `read` */
export function listProblems(
  behaviours: readonly BrokenBehaviour[],
  read: (path: string) => string,
): readonly string[] {
  return behaviours.flatMap(({ id, file, text }) => {
    const count = read(file).split(text).length - 1
    return count === 1 ? [] : [`${id}: its text stands ${count} times in ${file}`]
  })
}

export function breakText(before: string, { text, replacement }: BrokenBehaviour): string {
  // A function, because a replacement may hold `$`.
  return before.replace(text, () => replacement)
}
