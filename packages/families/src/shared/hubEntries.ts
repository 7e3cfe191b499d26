import type { Hex, MappingEntry, ReadOptions } from '@causeway/core'

/** Entry of one account and id in the hub's generic mapping. */
export type HubEntry = {
  /** Empty when there is no entry. */
  readonly data: Hex
  /** Time of the block that wrote the entry; 0 when there is none. */
  readonly createdAtSeconds: bigint
  /** Time of the block at which it was read: without an entry, none was created before. */
  readonly readAtSeconds: bigint
}

/** Key of an entry: an account of the hub, and an id that the account has chosen. */
export type EntryPlace = { readonly user: Hex; readonly id: Hex }

/** Reader of the hub's generic mapping, for families whose facts depend on it. */
export interface HubEntries {
  /** Several at one block, in the order asked for. @throws as `read` */
  readEach(places: readonly EntryPlace[], options: ReadOptions): Promise<readonly HubEntry[]>
  /** @throws UpstreamDisagreementError, UpstreamUnavailableError */
  read(user: Hex, id: Hex, options: ReadOptions): Promise<HubEntry>
}

/** Oracles' signatures for an entry, as the hub's contracts take them. */
export type EntryProof = {
  /** The one oracle that signed, or the contract that checks the signatures of several. */
  readonly oracle: Hex
  /** Ascending by signer where there are several. */
  readonly signatures: readonly Hex[]
}

/** Writes signed entries into the hub's generic mapping. Its own key needs no rights: the hub checks the signatures. */
export interface MappingWriter {
  /**
   * Resolves once enough endpoints of the hub show the entry. Repeating it changes nothing.
   * @throws MappingTakenError if the id has another entry; UpstreamUnavailableError if the entry does not appear in
   * time
   */
  write(entry: MappingEntry, proof: EntryProof, signal: AbortSignal): Promise<void>
}
