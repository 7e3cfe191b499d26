/**
 * A body that a service of a chain might answer, or the function that writes it, and how far it can be trusted
 * to be what the service answers.
 */
export type StoredBody<Body = unknown> = {
  /**
   * `recorded`: as a service sent it. `specified`: as the service's documentation, or a schema that others
   * published, says. `constructed`: as we think that it is.
   */
  readonly provenance: 'recorded' | 'specified' | 'constructed'
  /** Where it was published, or what it was constructed from. */
  readonly source: string
  /** Rules of a reader that tests prove with it, worded alike in every body that proves one. */
  readonly proves: readonly string[]
  readonly body: Body
}

/** Rules that no recorded and no specified body proves, in the order of their first body. */
export function provenByConstructedAlone(bodies: readonly StoredBody[]): readonly string[] {
  const rulesOf = (own: readonly StoredBody[]) => own.flatMap(({ proves }) => proves)
  const better = new Set(rulesOf(bodies.filter(({ provenance }) => provenance !== 'constructed')))
  return [...new Set(rulesOf(bodies))].filter((rule) => !better.has(rule))
}
