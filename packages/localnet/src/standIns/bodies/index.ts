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
  /** Publication of the body, or the source it was constructed from. */
  readonly source: string
  /** Rules of a reader that tests prove with it, worded alike in every body that proves one. */
  readonly proves: readonly string[]
  readonly body: Body
}
