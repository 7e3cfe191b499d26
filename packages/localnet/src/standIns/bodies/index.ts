/**
 * A body that a chain's service might answer, or the function that makes it. It says how far it can be trusted to be
 * what the service answers.
 */
export type StoredBody<Body = unknown> = {
  /**
   * `recorded`: as a service sent it. `specified`: as the service's documentation, or a schema that others
   * published, describes it. `constructed`: as we believe that it is.
   */
  readonly provenance: 'recorded' | 'specified' | 'constructed'
  /** Publication of the body, or the source it was constructed from. */
  readonly source: string
  /** Rules of a reader that tests prove with this body. Bodies that prove the same rule use the same words. */
  readonly proves: readonly string[]
  readonly body: Body
}
