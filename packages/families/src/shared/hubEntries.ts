import type { Hex, MappingEntry, ReadOptions } from '@causeway/core'

/** Entry of one id and account in the hub's generic mapping, and its time. */
export type HubEntry = {
  /** Empty when there is no entry. */
  readonly data: Hex
  /** Time of the block that wrote the entry; 0 when there is none. */
  readonly createdAtSeconds: bigint
  /** Time of the block that was read: an entry that comes later is not older. */
  readonly readAtSeconds: bigint
}

/** An account of the hub, and an id of its own. */
export type EntryPlace = { readonly user: Hex; readonly id: Hex }

/** Families' view of the hub. */
export interface HubEntries {
  /** Several at one block, in the order asked for. @throws as `read` */
  readEach(places: readonly EntryPlace[], options: ReadOptions): Promise<readonly HubEntry[]>
  /** @throws UpstreamDisagreementError, UpstreamUnavailableError */
  read(user: Hex, id: Hex, options: ReadOptions): Promise<HubEntry>
}

/** Signer of an entry: an oracle's key, or a contract that several of them sign for. */
export type EntryProof = {
  readonly oracle: Hex
  /** Ascending by signer where there are several. */
  readonly signatures: readonly Hex[]
}

/** Brings signed entries to the hub's generic mapping. It has no rights there: the signatures have. */
export interface MappingWriter {
  /**
   * Resolves once enough endpoints of the hub have the entry. Repeating it changes nothing.
   * @throws MappingTakenError where the id holds something else; UpstreamUnavailableError where it does not come in time
   */
  write(entry: MappingEntry, proof: EntryProof, signal: AbortSignal): Promise<void>
}
